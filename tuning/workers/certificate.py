"""Certificates of clusters on this machine. This module imports Dask, so it is imported on first use."""

from __future__ import annotations

import ssl
from typing import Any

from distributed.security import Security

NO_CHECK_TIME = 0x200000  # X509_V_FLAG_NO_CHECK_TIME of OpenSSL, which Python does not name


class LocalSecurity(Security):
    """A certificate that is valid while the cluster runs, also if the system clock is set back."""

    def _get_tls_context(self, tls: Any, purpose: ssl.Purpose) -> ssl.SSLContext:
        context: ssl.SSLContext = super()._get_tls_context(tls, purpose)  # type: ignore[no-untyped-call]
        context.verify_flags |= NO_CHECK_TIME
        return context
