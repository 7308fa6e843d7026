"""Symbols of parameters: Greek letters for people, ASCII for terminals without Unicode."""

import codecs
import io
import sys
import unicodedata
from collections.abc import Mapping

from ravenlab.common.cells import Values

SYMBOLS = {
    "alpha0": "α₀",
    "beta0": "β₀",
    "epsilon": "ε",
    "kappa0": "κ₀",
    "mu0": "μ₀",
    "a0": "a₀",
    "b0": "b₀",
    "gamma": "γ",
    "lam": "λ",
    "tau": "τ",
    "xi": "ξ",
    "zeta": "ζ",
    "rho": "ρ",
}
"""Parameters that have a symbol; all others are shown by name."""

ASCII = {
    **{"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "μ": "mu", "ξ": "xi", "σ": "sigma"},
    **{"×": "x", "±": "+/-", "≈": "~", "★": "*", "≤": "<=", "≥": ">=", "−": "-", "–": "-", "—": "-", "·": "."},
    **{"…": "...", "√": "sqrt", "∞": "inf", "→": "->", "’": "'", "“": '"', "”": '"', "✓": "yes", "✗": "no"},
    **{"░": ".", "▒": ":", "▓": "%", "█": "#"},
}
"""ASCII spellings; other characters are decomposed, or replaced by a question mark."""

ERROR_HANDLER = "ravenlab-ascii"


def format_symbol(name: str) -> str:
    """Return the symbol of a parameter, or its name if it has none.

    >>> format_symbol("alpha0"), format_symbol("window")
    ('α₀', 'window')
    """
    return SYMBOLS.get(name, name)


def format_params(params: Mapping[str, float | str]) -> str:
    """Format parameters on one line.

    >>> format_params({"alpha0": 1.5, "epsilon": 0.1})
    'α₀ 1.5, ε 0.1'
    """
    return str(list_values(params))


def list_values(params: Mapping[str, float | str]) -> Values:
    """Make the cell of a table that holds parameters."""
    return Values({format_symbol(name): value for name, value in params.items()})


def to_ascii(text: str) -> str:
    """Spell text in plain ASCII.

    >>> to_ascii("α₀ 0.5 ± 0.1 ★")
    'alpha0 0.5 +/- 0.1 *'
    """

    def spell(letter: str) -> str:
        decomposed = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode("ascii")
        return ASCII.get(letter) or decomposed or "?"

    return "".join(letter if letter.isascii() else spell(letter) for letter in text)


def to_encoding(text: str, encoding: str) -> str:
    """Return the text unchanged if the encoding can represent it, otherwise in ASCII.

    >>> to_encoding("α₀", "utf-8"), to_encoding("α₀", "latin-1")
    ('α₀', 'alpha0')
    """
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return to_ascii(text)
    return text


def use_ascii_where_needed() -> None:
    """Make stdout and stderr spell in ASCII what their encoding cannot represent."""
    codecs.register_error(ERROR_HANDLER, _replace_by_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ERROR_HANDLER)


def _replace_by_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return to_ascii(error.object[error.start : error.end]), error.end
