"""Parameters, numbers, counts and lists as people write them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

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


def symbol(name: str) -> str:
    """How people write a parameter.

    >>> symbol("alpha0")
    'α₀'
    """
    return SYMBOLS.get(name, name)


NEXT_TO_ONE = 1e-9
"""What lies nearer to 1 is 1 but for rounding."""


def short(value: float | str) -> str:
    """A number with four digits that count, or as many as tell a rate from 1; words as they are.

    >>> short(0.000123456), short(0.99998)
    ('0.0001235', '0.99998')
    """
    if isinstance(value, str):
        return value
    text = f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    if text == "1" and 1.0 - value > NEXT_TO_ONE:
        text = f"{value:.{-math.floor(math.log10(1.0 - value))}f}".rstrip("0")
    return text


def about(value: float) -> str:
    """A large number with two digits that count; powers of ten from a million on.

    >>> about(1778), about(1_000_000), about(3.21e9)
    ('1800', '10⁶', '3.2·10⁹')
    """
    if value < 1e6:
        return f"{float(f'{value:.2g}'):g}"
    digits, power = f"{value:.1e}".split("e")
    raised = f"10{str(int(power)).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
    return raised if float(digits) == 1.0 else f"{float(digits):g}·{raised}"


def hundredths(share: float) -> str:
    """A share in percent without the sign for it: one digit behind the point, none from ten on.

    >>> hundredths(0.0512), hundredths(0.05), hundredths(1.234), hundredths(-0.001)
    ('5.1', '5.0', '123', '−0.1')
    """
    value = 100.0 * share
    text = f"{value:.1f}" if abs(value) < 9.95 else f"{value:.0f}"
    return "0.0" if text == "-0.0" else text.replace("-", "−")


def p_value(p: float) -> str:
    """A p-value as people read it.

    >>> p_value(0.034), p_value(1e-30), p_value(1.0)
    ('0.034', '< 0.0001', '1')
    """
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def params_in_words(params: Mapping[str, float | str]) -> str:
    """Parameters on one line.

    >>> params_in_words({"alpha0": 1.5, "epsilon": 0.1})
    'α₀ 1.5, ε 0.1'
    """
    return ", ".join(f"{symbol(name)} {short(value)}" for name, value in params.items()) or "no parameters"


def counted(number: int, one: str, many: str | None = None) -> str:
    """So many of something.

    >>> counted(1, "worker"), counted(2, "worker"), counted(0, "study", "studies")
    ('1 worker', '2 workers', '0 studies')
    """
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def listed(words: Sequence[str], last: str = "or") -> str:
    """Words with commas between them, and one before the last.

    >>> listed(["tpe", "gp", "grid"]), listed(["CCB"], "and")
    ('tpe, gp or grid', 'CCB')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
