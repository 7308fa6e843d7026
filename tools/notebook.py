"""Run docs/examples/notebook.ipynb and store its outputs: python -m tools.notebook.

Figures are stored as data, which notebooks draw, and as pictures for viewers that do not.
"""

import base64
import os
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from tests.project import DOCS, ROOT

NOTEBOOK = DOCS / "examples" / "notebook.ipynb"
FIGURE = "application/vnd.plotly.v1+json"
PICTURE = "image/png"
WIDTH = 900  # pixels of a picture
DRAW = """figure => {
    const place = document.getElementById("figure");
    Plotly.purge(place);
    place.style.height = `${figure.layout.height}px`;
    return Plotly.newPlot(place, figure.data, figure.layout);
}"""
TIMEOUT = 600  # seconds per cell


def run_notebook(path: Path = NOTEBOOK) -> Any:
    """Run a notebook in an empty folder and return it with its outputs."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    search_path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": search_path, "PLOTLY_RENDERER": "plotly_mimetype"}
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, timeout=TIMEOUT, coalesce_streams=True, resources=resources)
        client.execute(env=environment)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times
    return notebook


def stored_outputs(notebook: Any) -> list[list[dict[str, Any]]]:
    """Return the outputs of every code cell: of figures, the numbers without the style and the pictures."""
    return [
        [
            {
                "kind": output.output_type,
                "text": output.get("text"),
                "data": {
                    kind: _figure_numbers(value) if kind == FIGURE else value
                    for kind, value in output.get("data", {}).items()
                    if kind != PICTURE
                },
            }
            for output in cell.outputs
        ]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def _figure_numbers(figure: Any) -> list[dict[str, Any]]:
    """Return type, name and coordinates of the traces of a figure."""
    return [{key: trace.get(key) for key in ("type", "name", "x", "y", "z")} for trace in figure["data"]]


def add_pictures(notebook: Any) -> None:
    """Add a picture to every figure."""
    from plotly.offline import get_plotlyjs

    from tests.dashboards.browser import launch_browser, require_browser

    with launch_browser(require_browser()) as browser:
        page = browser.new_page(viewport={"width": WIDTH, "height": 700})
        page.set_content('<body style="margin:0;background:#fff"><div id="figure"></div></body>')
        page.add_script_tag(content=get_plotlyjs())
        for cell in notebook.cells:
            for output in cell.get("outputs", []):
                figure = output.get("data", {}).get(FIGURE)
                if figure is not None:
                    page.evaluate(DRAW, figure)
                    picture = page.locator("#figure").screenshot()
                    output["data"][PICTURE] = base64.b64encode(picture).decode()


def main() -> None:
    """Run the notebook and write it."""
    notebook = run_notebook()
    add_pictures(notebook)
    nbformat.write(notebook, NOTEBOOK)  # type: ignore[no-untyped-call]
    print(NOTEBOOK)


if __name__ == "__main__":
    main()
