"""Where a path leads."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def resolved(path: Path) -> Path:
    """The path without links; OSError or RuntimeError where it leads nowhere, as a link to itself does.

    Python's own says so up to 3.12 only.

    >>> resolved(Path("/.."))
    PosixPath('/')
    """
    whole = path.resolve()
    if os.path.islink(whole):  # False, not an error, where one may not look
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return whole
