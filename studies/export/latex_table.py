"""LaTeX: a booktabs table for a paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ravenlab.common.text import format_number
from ravenlab.studies.export.markdown_table import format_arms, name_problem
from ravenlab.studies.results.describe import format_failures, format_verdict
from ravenlab.studies.results.recommendation import Estimate, Recommendation
from ravenlab.studies.results.robust import RobustRecommendation, flatten_recommendations
from ravenlab.studies.symbols import SYMBOLS

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
"""Braces keep hyphens from forming a dash and brackets from being read as an option."""


PACKAGES = r"% \usepackage[T1]{fontenc}, \usepackage{textcomp} and \usepackage{booktabs}"
TITLES = ("Study", "Policy", "Scenario", "$T$", "$K$", "Verdict", "Parameters", r"Regret (95\,\%)", "Failures")


def write(recommendations: Sequence[Recommendation | RobustRecommendation]) -> str:
    """Write a tabular with one row per recommendation."""
    rows = [_format_cells(recommendation) for recommendation in flatten_recommendations(recommendations)]
    return f"{PACKAGES}\n{format_tabular('lllrrllrr', TITLES, rows)}\n"


def format_tabular(alignment: str, titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format escaped cells as a tabular with the rules of booktabs."""
    lines = [
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        " & ".join(titles) + r" \\",
        r"\midrule",
        *(" & ".join(cells) + r" \\" for cells in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def _format_cells(recommendation: Recommendation) -> list[str]:
    return [
        escape(recommendation.study),
        escape(recommendation.policy),
        escape(name_problem(recommendation)),
        f"${number(recommendation.horizon)}$",
        f"${format_arms(recommendation)}$",
        _write_symbols(escape(format_verdict(recommendation))),
        parameters(recommendation.params),
        f"{_format_estimate(recommendation.regret)}{recommendation.regret_unit}",
        escape(format_failures(recommendation.failures)) if recommendation.failures else "",
    ]


def _write_symbols(text: str) -> str:
    """Write the symbols of parameters in an escaped text in math mode; most fonts lack them."""
    for symbol in SYMBOLS.values():
        text = text.replace(escape(symbol.unicode), f"${symbol.latex}$")
    return text


def _format_estimate(estimate: Estimate) -> str:
    """Format a mean with its interval."""
    return f"${number(estimate.mean)}$ $[{number(estimate.low)}, {number(estimate.high)}]$"


def parameters(params: Mapping[str, float | str]) -> str:
    """Format parameters for one cell.

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
    """Adapt a formatted number to math mode: no space after thousands separators, ASCII minus sign."""
    return text.replace(",", "{,}").replace("−", "-")


def _symbol(name: str) -> str:
    return f"${SYMBOLS[name].latex}$" if name in SYMBOLS else escape(name)


def _value(value: float | str) -> str:
    return escape(value) if isinstance(value, str) else f"${number(value)}$"


def escape(text: str) -> str:
    """Escape text; letters that most fonts lack, such as emoji, become their code point.

    >>> escape("50% of a_b 🦅")
    '50\\\\% of a\\\\_b \\\\texttt{U+1F985}'
    """
    return "".join(SPECIAL.get(letter) or _escape_letter(letter) for letter in text)


def _escape_letter(letter: str) -> str:
    if letter in "\n\r\t":
        return " "
    return letter if letter.isprintable() and ord(letter) < 0x180 else rf"\texttt{{U+{ord(letter):04X}}}"
