"""Figures that follow the theme of a notebook: JupyterLab, Notebook 7, VS Code, and pages that nbconvert makes of them.

Python does not know the theme. The figure is drawn for an unknown background; where it is displayed, a style sheet
replaces the colors of its text and marks by those for the background.
"""

import plotly.graph_objects as go

from ravenlab.dashboards.figures.style import DARK_COLORS, THEMES

DARK = ':is([data-jp-theme-light="false"], .vscode-dark, .vscode-high-contrast, html[theme="dark"])'
"""What contains the outputs of a notebook with a dark theme."""
TEXT = "var(--jp-ui-font-color1, var(--vscode-editor-foreground, currentColor))"


class NotebookFigure(go.Figure):  # type: ignore[misc]  # Plotly has no types
    """A Plotly figure that is displayed with the style sheet."""

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display({"text/html": make_style(), "text/plain": ""}, raw=True)  # type: ignore[no-untyped-call]
        super()._ipython_display_()


def make_style() -> str:
    """Return the style sheet.

    >>> make_style().count('[style*="stroke: rgb(0, 114, 178)"]')
    1
    """
    rules = [_replace("", "fill", THEMES["either"]["font.color"], TEXT)]
    rules += [_replace(DARK, name, *pair) for pair in DARK_COLORS.items() for name in ("fill", "stroke")]
    return f"<style>{''.join(rules)}</style>"


def _replace(where: str, name: str, before: str, after: str) -> str:
    """Return the rule that replaces a color, as Plotly writes it into the elements of a figure."""
    color = ", ".join(str(int(before[i : i + 2], 16)) for i in (1, 3, 5))
    return f'{where} .js-plotly-plot [style*="{name}: rgb({color})"]{{{name}:{after} !important}}\n'.lstrip()
