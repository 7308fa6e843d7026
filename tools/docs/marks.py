"""Generated parts of a Markdown page between two comments."""

import re
from collections.abc import Iterable, Sequence


def filled(page: str, name: str, lines: Sequence[str]) -> str:
    """Return the page with new lines between `<!-- name -->` and `<!-- end of name -->`.

    >>> filled("a <!-- x -->old<!-- end of x --> b", "x", ["new"])
    'a <!-- x -->\\nnew\\n<!-- end of x --> b'
    """
    begin = f"<!-- {name} -->"
    end = f"<!-- end of {name} -->"
    if begin not in page:
        raise ValueError(f"the page has no {begin}")
    text = "\n".join([begin, *lines, end])
    return re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: text, page, flags=re.DOTALL)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table; vertical bars in cells are escaped.

    >>> table(["a"], [["b|c"]])
    ['| a |', '| --- |', '| b\\\\|c |']
    """
    lines = [list(columns), ["---"] * len(columns), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return [f"| {' | '.join(cells)} |" for cells in lines]
