"""LaTeX: a table for a paper, with booktabs' rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from environments.text import format_number
from studies.results.recommendation import Recommendation
from studies.results.robust import RobustRecommendation, flatten_recommendations
from studies.symbols import SYMBOLS

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "-": r"{-}",
    "[": "{[}",
    "]": "{]}",
}
"""A hyphen in braces does not become a dash with its neighbour; a bracket in braces is no option."""


def write(recommendations: Sequence[Recommendation | RobustRecommendation]) -> str:
    """A tabular, one row a recommendation."""
    lines = [
        r"% \usepackage[T1]{fontenc}, \usepackage{textcomp} and \usepackage{booktabs}",
        r"\begin{tabular}{lllrrlr}",
        r"\toprule",
        r"Study & Policy & Scenario & $T$ & $K$ & Parameters & Regret (95\,\%) \\",
        r"\midrule",
        *(_row(each) for each in flatten_recommendations(recommendations)),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _row(each: Recommendation) -> str:
    regret = f"${number(each.regret.mean)}$ $[{number(each.regret.low)}, {number(each.regret.high)}]$"
    cells = [
        escape(each.study),
        escape(each.policy),
        escape(each.scenario),
        f"${number(each.horizon)}$",
        str(each.arms),
    ]
    return " & ".join([*cells, parameters(each.params), regret]) + r" \\"


def parameters(params: Mapping[str, float | str]) -> str:
    """Parameters in one cell.

    >>> parameters({"alpha0": 1.5, "variance": "welford"})
    '$\\\\alpha_0$ = $1.5$, variance = welford'
    """
    return ", ".join(f"{_symbol(name)} = {_value(value)}" for name, value in params.items())


def number(value: float) -> str:
    """Format a number for LaTeX math mode.

    >>> number(12345.6)
    '12{,}346'
    """
    return math(format_number(value))


def math(text: str) -> str:
    """Make formatted numbers fit for math mode: no space after a thousands separator, an ASCII minus sign."""
    return text.replace(",", "{,}").replace("−", "-")


def _symbol(name: str) -> str:
    return f"${SYMBOLS[name].latex}$" if name in SYMBOLS else escape(name)


def _value(value: float | str) -> str:
    return escape(value) if isinstance(value, str) else f"${number(value)}$"


def escape(text: str) -> str:
    """Text that is set as it is; what most fonts lack, such as emoji, as its code.

    >>> escape("50% of a_b 🦅")
    '50\\\\% of a\\\\_b \\\\texttt{U+1F985}'
    """
    return "".join(SPECIAL.get(each) or _letter(each) for each in text)


def _letter(each: str) -> str:
    if each in "\n\r\t":
        return " "
    return each if each.isprintable() and ord(each) < 0x180 else rf"\texttt{{U+{ord(each):04X}}}"
