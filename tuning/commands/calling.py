"""What a person has to type to call this command again."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from shlex import quote

NAME = "ravenlab"


def called() -> str:
    """Its name, or the path by which it was called where a shell would not find the name.

    >>> called()
    'ravenlab'
    """
    by = sys.argv[0]
    return quote(by) if Path(by).name == NAME and shutil.which(NAME) is None else NAME
