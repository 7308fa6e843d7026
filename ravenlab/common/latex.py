"""Tables rendered as LaTeX, with the rules of booktabs."""

import re

from ravenlab.common.cells import ANCHOR, BEST, NONE, TIED, Cell, Entry, Estimate, Number, Values
from ravenlab.common.documents import Table
from ravenlab.common.text import format_number

PACKAGES = r"% \usepackage[T1]{fontenc}, \usepackage{textcomp} and \usepackage{booktabs}"
SPECIAL = {letter: rf"\{letter}" for letter in "{}$&%#_"} | {
    "\\": r"\textbackslash{}",
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

GREEK_NAMES = "alpha beta gamma epsilon zeta kappa lambda mu xi rho tau"
GREEK = {letter: rf"\{name}" for letter, name in zip("αβγεζκλμξρτ", GREEK_NAMES.split(), strict=True)}
SYMBOL = re.compile(rf"[{''.join(GREEK)}]₀?|[ab]₀")
"""Symbols of parameters, which are set in math mode, because most fonts lack them."""


def to_latex(table: Table) -> str:
    """Write a table as a tabular.

    >>> print(to_latex(Table(["", "T"], [["a_b", Number("5")]])))
    \\begin{tabular}{lr}
    \\toprule
     & $T$ \\\\
    \\midrule
    a\\_b & $5$ \\\\
    \\bottomrule
    \\end{tabular}
    """
    lines = [
        rf"\begin{{tabular}}{{{''.join('r' if numeric else 'l' for numeric in table.numeric)}}}",
        r"\toprule",
        " & ".join(map(_format_title, table.columns)) + r" \\",
        r"\midrule",
        *(" & ".join(map(format_cell, row)) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def format_cell(cell: Cell) -> str:
    """Format a cell: numbers in math mode, the best one bold, and a dagger at those that are tied with it.

    >>> format_cell(Number("12,346", BEST)), format_cell(Values({"α₀": 1.5, "variance": "welford"}))
    ('$\\\\mathbf{12{,}346}$', '$\\\\alpha_0$ = $1.5$, variance = welford')
    """
    match cell:
        case Number():
            return f"${_mark(math(cell.text), cell.mark)}$"
        case Entry():
            return escape(f"{cell.name} (oracle)" if cell.mark == ANCHOR else cell.name)
        case Estimate():
            mean, low, high = (math(cell.format_value(value)) for value in cell.interval)
            ends = ", ".join(end.removesuffix(r"\,\%") for end in (low, high))
            return f"${_mark(mean, cell.mark)}$ $[{ends}]${cell.unit}"
        case Values():
            return ", ".join(f"{write_symbols(name)} = {_value(value)}" for name, value in cell.values.items())
    return "" if cell == NONE else write_symbols(cell)


def math(text: str) -> str:
    """Adapt formatted numbers to math mode: no space after thousands separators, ASCII minus sign."""
    for before, after in ((",", "{,}"), ("−", "-"), (" %", r"\,\%"), ("×", r"\times")):
        text = text.replace(before, after)
    return text


def write_symbols(text: str) -> str:
    """Escape text; the symbols of parameters in it are set in math mode."""
    parts = []
    end = 0
    for found in SYMBOL.finditer(text):
        letter = found[0][0]
        index = found[0][1:].replace("₀", "_0")
        parts += [escape(text[end : found.start()]), f"${GREEK.get(letter, letter)}{index}$"]
        end = found.end()
    return "".join([*parts, escape(text[end:])])


def escape(text: str) -> str:
    """Escape text; letters that most fonts lack, such as emoji, become their code point.

    >>> escape("50% of a_b 🦅")
    '50\\\\% of a\\\\_b \\\\texttt{U+1F985}'
    """
    return "".join(SPECIAL.get(letter) or _escape_letter(letter) for letter in text)


def _format_title(title: str) -> str:
    """Format a title: percentages with a thin space, and single letters and signs in math mode."""
    text = escape(title).replace(r" \%", r"\,\%").replace(escape("×"), r"$\times$")
    return re.sub(r"^([A-Za-z])(?= \(|$)", r"$\1$", text)


def _mark(number: str, mark: str) -> str:
    if mark == BEST:
        return rf"\mathbf{{{number}}}"
    return rf"{number}^{{\dagger}}" if mark == TIED else number


def _value(value: float | str) -> str:
    return escape(value) if isinstance(value, str) else f"${math(format_number(value))}$"


def _escape_letter(letter: str) -> str:
    if letter in "\n\r\t":
        return " "
    return letter if letter.isprintable() and ord(letter) < 0x180 else rf"\texttt{{U+{ord(letter):04X}}}"
