"""Tables and text rendered as Markdown for files such as a README or an issue. Notes are written by `Document`."""

import re
from collections.abc import Iterable, Sequence

from ravenlab.common.documents import Table


def to_markdown(table: Table) -> str:
    """Write a table below its caption.

    >>> print(to_markdown(Table(["", "T"], [["a|b", "5"]], "Steps")))
    **Steps**
    <BLANKLINE>
    |  | T |
    | --- | ---: |
    | a\\|b | 5 |
    """
    alignment = ["---:" if numeric else "---" for numeric in table.numeric]
    rows = [[escape(str(cell)) for cell in row] for row in [table.columns, *table.rows]]
    lines = format_rows([rows[0], alignment, *rows[1:]])
    return f"**{escape(table.caption)}**\n\n{lines}" if table.caption else lines


def format_rows(rows: Iterable[Sequence[str]]) -> str:
    """Join cells to the lines of a table.

    >>> format_rows([("Policy", "T"), ("---", "---:"), ("ucb1", "100")])
    '| Policy | T |\\n| --- | ---: |\\n| ucb1 | 100 |'
    """
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def escape(text: str) -> str:
    """Escape text, so that it contains no markup, no HTML, and starts no cell or row.

    >>> escape("a|b <i> *c*")
    'a\\\\|b &lt;i&gt; \\\\*c\\\\*'
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_{}\[\]|~$@])", r"\\\1", text)
    return "".join(letter if letter.isprintable() else f"&#{ord(letter)};" for letter in text)
