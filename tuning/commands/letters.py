"""Terminals without Unicode: what is printed there is spelled out, and nothing fails for a Greek letter."""

from __future__ import annotations

import codecs
import io
import sys
import unicodedata

SPELLED = {
    **{"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "μ": "mu", "ξ": "xi", "σ": "sigma"},
    **{"×": "x", "±": "+/-", "≈": "~", "★": "*", "≤": "<=", "≥": ">=", "−": "-", "–": "-", "—": "-", "·": "."},
    **{"…": "...", "√": "sqrt", "∞": "inf", "→": "->", "’": "'", "“": '"', "”": '"', "✓": "yes", "✗": "no"},
}
"""What stands for a letter that a terminal does not have; for others what they are made of, or a question mark."""

NAME = "ravenlab-spelled"


def spelled(text: str) -> str:
    """Text in plain ASCII.

    >>> spelled("α₀ 0.5 ± 0.1 ★")
    'alpha0 0.5 +/- 0.1 *'
    """
    return "".join(each if each.isascii() else SPELLED.get(each) or _parts(each) for each in text)


def spelled_for(text: str, encoding: str) -> str:
    """Text as it is where the encoding has its letters, spelled out where not.

    >>> spelled_for("α₀", "utf-8"), spelled_for("α₀", "latin-1")
    ('α₀', 'alpha0')
    """
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return spelled(text)
    return text


def _parts(letter: str) -> str:
    plain = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode("ascii")
    return plain or "?"


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return spelled(error.object[error.start : error.end]), error.end


def spell_for_terminals() -> None:
    """Have stdout and stderr spell out what their encoding lacks."""
    codecs.register_error(NAME, _spell)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=NAME)
