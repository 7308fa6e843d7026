"""Private parts of Dask's distributed: the TLS context of a cluster, and the connections of a client.

This module imports Dask, so it is imported on first use.
"""

import ssl
from typing import Any

from distributed import Client
from distributed.security import Security

PRIVATE = ("distributed.security.Security._get_tls_context",)
"""Names of modules and classes."""

NO_CHECK_TIME = 0x200000  # X509_V_FLAG_NO_CHECK_TIME of OpenSSL, which Python does not name


class LocalSecurity(Security):
    """A certificate that is valid while the cluster runs, also if the system clock is set back.

    If Dask makes the context in another way, the certificate is only valid while the clock is right.
    """

    def _get_tls_context(self, tls: Any, purpose: ssl.Purpose) -> ssl.SSLContext:
        context: ssl.SSLContext = super()._get_tls_context(tls, purpose)  # type: ignore[no-untyped-call]
        context.verify_flags |= NO_CHECK_TIME
        return context


async def abort(client: Client) -> None:
    """Close all connections of a client as if they were lost, so that nothing waits for them any longer."""
    if client.scheduler_comm is not None:
        client.scheduler_comm.comm.abort()
    await client.rpc.close()
