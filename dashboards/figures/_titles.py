"""What figures say: titles, and names that someone gave, made safe and short."""

from __future__ import annotations

import html

LONGEST_NAME = 56


def heading(main: str, *context: str) -> str:
    """A title: what it is in bold, then a line or two of where and how much, short enough for a telephone.

    >>> heading("Regret", "blips", "T = 100", "K = 5", "R = 20")
    '<b>Regret</b><br><span style="font-size:12px">blips · T = 100 · K = 5 · R = 20</span>'
    """
    lines: list[list[str]] = [[]]
    for part in context:
        if lines[-1] and sum(len(html.unescape(each)) + 3 for each in lines[-1]) + len(html.unescape(part)) > 50:
            lines.append([])
        lines[-1].append(part)
    small = [f'<span style="font-size:12px">{" · ".join(line)}</span>' for line in lines if line]
    return "<br>".join([f"<b>{main}</b>", *small])


def counts(horizon: int, arms: int, replications: int | None = None) -> list[str]:
    """T, K and R as titles say them.

    >>> counts(1000, 10, 200)
    ['T = 1,000 steps', 'K = 10 arms', 'R = 200 worlds']
    """
    out = [f"T = {horizon:,} steps", f"K = {arms} arms"]
    return out if replications is None else [*out, f"R = {replications:,} worlds"]


def safe(name: object, longest: int = LONGEST_NAME) -> str:
    """A name that someone gave, as Plotly may render it: no tags, no templates, no control codes, not too long.

    >>> safe("<script>%{x}")
    '&lt;script&gt;%&#123;x}'
    """
    text = "".join(letter if letter.isprintable() else " " for letter in str(name))
    if len(text) > longest:
        text = text[: longest - 1].rstrip() + "…"
    return html.escape(text, quote=False).replace("%{", "%&#123;")


def folded(name: object, longest: int = 24) -> str:
    """A name as the label of a tick: broken after a plus, and after the first hyphen of a long one.

    >>> folded("localized-jump+blips")
    'localized-<br>jump+<br>blips'
    """
    text = safe(name, longest)
    return (text.replace("-", "-<br>", 1) if len(text) > 10 else text).replace("+", "+<br>")
