"""Hooks of MkDocs for the documentation site: pages outside docs/, the API reference, the notebook, and formulas.

`make docs` builds the site. mkdocs.yml has the navigation.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ravenlab
from tools.docs.play_example import write_example

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

ROOT_PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages of the project folder, and their names on the site."""

CONTENTS = "contents.md"
"""Name of docs/README.md on the site, whose start page is docs/index.md."""

NOTEBOOK = "examples/notebook.ipynb"

PLAY_EXAMPLE = "guides/play-example.html"
"""The page that `ravenlab play` writes, linked from its guide."""

PLAY_MARK = "<!-- play example -->"

LICENSE_PAGE = "https://opensource.org/license/mit"

REFERENCE = {
    "studies": (
        "Studies",
        "Functions that run studies, and functions that use their results.",
        "tune tune_robust grid compare load_result recommend export report reproduce"
        " load_study_file StudySpec GridSpec",
    ),
    "results": (
        "Results",
        "All results have a short text, an HTML card in notebooks, and `to_frame`, which returns a pandas table.",
        "Recommendation Grid ComparisonResult RobustRecommendation Simulation Replay Diagnosis",
    ),
    "figures": (
        "Figures",
        "`ravenlab.plot` draws the main figure of any result, and `ravenlab.figures` has all figures. Every function"
        " returns a Plotly figure. Results may be names of stored studies; `storage` is the URL of their database.",
        "plot",
    ),
    "simulation": (
        "Simulation and data",
        "Functions that play policies on scenarios and recorded data.",
        "simulate play replay diagnose propose_study find_scenario scenarios combine Scenario InputError",
    ),
    "policies": (
        "Policies in use",
        "A policy is created with its parameters (`ravenlab.RavenUCB(arms=5, alpha0=2.0)`) or from an exported file.",
        "Policy find_policy policy_names",
    ),
    "custom": (
        "Custom policies and scenarios",
        "Building blocks of plugins.",
        "Param Sizes Limit inlined Effect Draft Change BaseDraw",
    ),
}
"""Pages of the API reference: title, introduction, and public names of ravenlab."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    from mkdocs.structure.files import File

    readme = files.get_file_from_path("README.md")
    if readme is not None:
        files.remove(readme)
    pages = {CONTENTS: (DOCS / "README.md").read_text(encoding="utf-8")}
    pages |= {site: (ROOT / source).read_text(encoding="utf-8") for source, site in ROOT_PAGES.items()}
    pages |= {f"api/{name}.md": write_reference(name) for name in REFERENCE}
    pages[NOTEBOOK.replace(".ipynb", ".md")] = "\n\n".join(write_notebook(DOCS / NOTEBOOK))
    pages[PLAY_EXAMPLE] = write_play_example()
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def write_play_example() -> str:
    """Return the page of the recording in the guide of `ravenlab play`."""
    with tempfile.TemporaryDirectory() as folder:
        return write_example(Path(folder) / "play.html").read_text(encoding="utf-8")


def on_page_markdown(markdown: str, page: Any, config: MkDocsConfig, files: Files) -> str:
    """Let links between pages point to their places on the site."""
    sources = {name: path for path, name in _moved_pages().items()}
    name = page.file.src_uri
    source = sources.get(name, DOCS / name)
    markdown = markdown.replace(PLAY_MARK, f"[Play it]({Path(PLAY_EXAMPLE).name}).")
    return re.sub(
        r"\]\(([^)#\s]+)(#[^)\s]*)?\)",
        lambda match: f"]({_link_on_site(match[1], source, name)}{match[2] or ''})",
        markdown,
    )


def _moved_pages() -> dict[Path, str]:
    """Return the pages that have another place on the site than in docs/."""
    moved = {ROOT / source: name for source, name in ROOT_PAGES.items()}
    return moved | {DOCS / "README.md": CONTENTS, DOCS / NOTEBOOK: NOTEBOOK.replace(".ipynb", ".md")}


def _link_on_site(link: str, source: Path, name: str) -> str:
    """Return a link of the page `name` of the site, whose text is that of the file `source`."""
    if ":" in link or name.startswith("api/"):
        return link
    target = (source.parent / link).resolve()
    if target == ROOT / "LICENSE":
        return LICENSE_PAGE
    if target == ROOT / "README.md":
        target = DOCS / "index.md"
    place = _moved_pages().get(target) or target.relative_to(DOCS).as_posix()
    return os.path.relpath(place, Path(name).parent)


def on_page_content(html: str, page: Any, config: MkDocsConfig, files: Files) -> str:
    """Convert formulas to MathML, which browsers show without a script."""
    return re.sub(r'<(span|div) class="arithmatex">(.*?)</\1>', _to_mathml, html, flags=re.DOTALL)


def on_post_page(output: str, page: Any, config: MkDocsConfig) -> str:
    """Use the copy of the script that searches without a server, so that the site needs no network."""
    from mkdocs.utils import get_relative_url

    return output.replace("https://unpkg.com/iframe-worker/shim", get_relative_url("site/iframe-worker.js", page.url))


def _to_mathml(match: re.Match[str]) -> str:
    from html import unescape

    from latex2mathml.converter import convert

    kind = match[1]
    text = unescape(match[2]).strip()
    formula = text.removeprefix(r"\(").removesuffix(r"\)").removeprefix(r"\[").removesuffix(r"\]")
    mathml: str = convert(formula.strip(), display="block" if kind == "div" else "inline")
    return f'<div class="formula">{mathml}</div>' if kind == "div" else mathml


def write_reference(name: str) -> str:
    """Write a page of the API reference: one directive of mkdocstrings per public name."""
    title, introduction, names = REFERENCE[name]
    parts = [f"# {title}", introduction]
    parts += [part for public in names.split() for part in _write_object(public)]
    if name == "figures":
        for public in ravenlab.figures.__all__:
            figure = getattr(ravenlab.figures, public)
            if public != "plot":
                parts.append(_write_directive(f"{figure.__module__}.{public}", f"figures.{public}"))
    return "\n\n".join(parts) + "\n"


def _write_object(public: str) -> Iterator[str]:
    """Write a function or class; for a model, its fields with their descriptions, and then its methods."""
    thing = getattr(ravenlab, public)
    path = f"{inspect.getmodule(thing).__name__}.{thing.__name__}"  # type: ignore[union-attr]
    directive = _write_directive(path, public)
    fields = getattr(thing, "model_fields", None)
    if not fields:
        yield directive
        return
    yield f"{directive}\n      members: false"
    rows = [
        f"| `{name}` | `{_format_type(field.annotation)}` | {(field.description or '').replace('|', '/')} |"
        for name, field in fields.items()
    ]
    yield "\n".join(["| field | type | meaning |", "| --- | --- | --- |", *rows])
    if not public.endswith("Spec"):
        methods = [name for name, member in vars(thing).items() if inspect.isfunction(member) and name[0] != "_"]
        yield from (f"{_write_directive(f'{path}.{name}', name)}\n      heading_level: 3" for name in methods)


def _write_directive(path: str, label: str) -> str:
    is_method = path.split(".")[-2][0].isupper()
    heading = label if is_method else f"ravenlab.{label}"
    return f"::: {path}\n    options:\n      heading: {heading}\n      toc_label: {label}"


def _format_type(annotation: Any) -> str:
    """Format the type of a field without module names and constraints."""
    text = annotation.__name__ if isinstance(annotation, type) and "[" not in str(annotation) else str(annotation)
    text = re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])", "", text)
    return re.sub(r"Annotated\[([^,\]]+),.*\]", r"\1", text).replace("|", "or").replace("NoneType", "None")


def write_notebook(path: Path) -> Iterator[str]:
    """Convert a notebook with its outputs to Markdown, cell by cell."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
            continue
        yield f"```python\n{source}\n```"
        for output in cell["outputs"]:
            yield from _write_output(output)


def _write_output(output: dict[str, Any]) -> Iterator[str]:
    data = output.get("data", {})
    text = "".join(output.get("text", data.get("text/plain", "")))
    if "image/png" in data:
        alt = data["application/vnd.plotly.v1+json"]["layout"]["meta"]["alt"].replace('"', "'")
        yield f'<img class="figure" alt="{alt}" src="data:image/png;base64,{data["image/png"].strip()}">'
    elif "text/html" in data:
        lines = "".join(data["text/html"]).splitlines()
        yield f'<div class="output">{"&#10;".join(lines)}</div>'  # a blank line would end the HTML block
    elif text:
        yield f"```text\n{text.rstrip()}\n```"
