"""What tells one specification from another: a short hash behind a name, and differences in words."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def short_hash(text: str, letters: int = 4) -> str:
    """What stands behind the name of a study that is not the usual one of that name.

    >>> short_hash("{}")
    '~4413'
    """
    return f"~{hashlib.sha256(text.encode()).hexdigest()[:letters]}"


def hash_unless_usual(mine: Mapping[str, Any], usual: Mapping[str, Any], letters: int = 4) -> str:
    """Nothing where all fields are as usual.

    >>> hash_unless_usual({"seed": 0}, {"seed": 0})
    ''
    """
    return "" if mine == usual else short_hash(json.dumps(mine, sort_keys=True, default=list), letters)


def differences_in_words(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """Where what is asked for now is not what was stored, field by field.

    >>> differences_in_words({"seed": 1, "arms": 3}, {"seed": 0, "arms": 3})
    ['seed was 0, now 1']
    """
    return [f"{key} was {theirs.get(key)}, now {mine[key]}" for key in mine if mine[key] != theirs.get(key)]
