"""The page of the Optuna dashboard, with a style sheet and a script of our own, and its CSV files.

The script adds what each study recommends to the list of studies (`list.js`).
The dashboard shows attached figures below its own, in the order of a Python set, at half the width of the window. The
style sheet puts them first, in a fixed order. On a read-only dashboard it also hides everything that offers to write.
`data-testid` and `Mui…` are names of Material UI, which do not change with each build of the dashboard.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ravenlab.common.compat.optuna import study_id
from ravenlab.common.text import capitalize_first, format_interval
from ravenlab.dashboards.figures.card import BACKGROUND
from ravenlab.dashboards.optuna_dashboard.access import Application, Environ, Start
from ravenlab.dashboards.optuna_dashboard.attach import FIGURES, PREFIX
from ravenlab.studies.kinds import find_kind
from ravenlab.studies.results.describe_recommendation import describe_price, word_verdict
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.library import list_studies
from ravenlab.studies.tables import to_csv_cell

if TYPE_CHECKING:
    from ravenlab.common.compat.optuna import RDBStorage

FIGURE = "user-defined-plot:" + PREFIX  # the start of the id of an attached figure
STUDY = f'div:has(> .MuiGrid-container > * [id^="{FIGURE}"])'  # the column that contains all parts of a study's page
BEST_TRIAL = f'.MuiGrid-container:has([id="{FIGURE}history"]) > .MuiGrid-item:nth-last-child(2)'

SCRIPT_FILE = Path(__file__).with_name("list.js")
SCRIPT = "/ravenlab/list.js"
SUMMARY = "/ravenlab/studies"
"""Addresses of the script, which the dashboard's content security policy requires, and of the lines that it reads."""

WRITING_ICONS = (
    *("AddBoxIcon", "DriveFileRenameOutlineIcon", "DeleteIcon", "EditIcon", "StopCircleIcon", "SaveIcon"),
    *("UploadFileIcon", "UndoIcon", "RestoreFromTrashIcon", "ThumbUpAltIcon"),
)
"""Icons of the buttons that create, rename, edit, stop or delete something."""

LAYOUT = f"""
{STUDY} {{ flex-flow: row wrap !important; align-items: stretch; padding: 0 16px 16px 0; }}
{STUDY} > .MuiGrid-container {{ display: contents; }}
{STUDY} > fieldset, {STUDY} > .MuiCard-root {{ flex: 1 1 100%; box-sizing: border-box; }}
{STUDY} > .MuiCard-root {{ margin: 16px 0 0 16px; }}
{STUDY} .MuiGrid-root:has([id^="{FIGURE}"]) {{ padding: 16px 0 0 16px; box-sizing: border-box; }}
[id^="{FIGURE}"]:not([id$="card"]) :is([class$="title"], [class$="tick"] text, .legendtext) {{
    fill: currentColor !important;
}}
.MuiCard-root:has([id="{FIGURE}card"]) {{ height: 100%; background: {BACKGROUND}; }}
.MuiCardContent-root:has(> [id="{FIGURE}card"]) {{ padding: 12px 0 !important; }}
{BEST_TRIAL} .MuiTypography-root {{ font-size: 1.25rem; color: inherit; }}
{BEST_TRIAL} .MuiCardContent-root::after {{
    display: block; margin-top: 16px;
    content: "Search estimate, optimistically biased (selection bias). The recommendation is at the top of the page.";
}}
.ravenlab-result > * {{ display: block; overflow-wrap: anywhere; }}
.ravenlab-result > span {{ opacity: 0.75; }}
.MuiTypography-subtitle1:has(+ .ravenlab-result) {{ display: none; }}
main {{ min-width: 0; }}
@media (max-width: 900px) {{
    {STUDY} > .MuiGrid-container > .MuiGrid-root {{ flex-basis: 100%; max-width: 100%; }}
}}
"""


def make_style(writable: bool) -> str:
    """Return the style sheet of the page."""
    order = "\n".join(
        f'{STUDY} .MuiGrid-root:has([id="{FIGURE}{name}"]) {{ order: {place - len(FIGURES)}; }}'
        for place, name in enumerate(FIGURES)
    )
    icons = ", ".join(f'[data-testid="{icon}"]' for icon in WRITING_ICONS)
    hidden = "" if writable else f"button:has({icons}) {{ display: none !important; }}\n"
    return f"{LAYOUT}{order}\n{hidden}"


def summarize_studies(storage: RDBStorage) -> dict[str, tuple[str, str]]:
    """Return two lines about each study of ravenlab by its id: what it recommends or its state, and the regret."""
    rows = {row.name: row for row in list_studies(storage, internal=True)}
    lines = {}
    for study in storage.get_all_studies():
        row = rows.get(study.study_name)
        kind = find_kind(study)
        if row is None or kind is None or row.kind in ("external", "front"):
            continue
        result = None if row.decision is None else keys.read_recommendation(study) or keys.read_robust(study)
        if result is None:
            state = row.state if row.kind == "study" else f"{row.kind}, {row.state}"
            line = (capitalize_first(state), f"{row.finished:,} of {row.planned:,} {kind.unit}")
        elif isinstance(result, Recommendation):
            name, estimate = result.stated
            line = (word_verdict(result).headline, capitalize_first(f"{name} {format_interval(estimate)}"))
        else:
            line = (word_verdict(result).headline, describe_price(result))
        lines[str(study_id(study))] = line
    return lines


def change_pages(
    inner: Application, style: str, summarize: Callable[[], Mapping[str, tuple[str, str]]] = dict
) -> Application:
    """Wrap the dashboard so that its page has a style sheet and a script, and its CSV files contain no formulas.

    The page is never answered with "not modified", because the style sheet depends on how the server was started. The
    script gets what `summarize` returns from `SUMMARY`.
    """
    addition = f'<style id=ravenlab>{style}</style><script src="{SCRIPT}"></script></head>'.encode()

    def answer(environ: Environ, start: Start) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if environ["REQUEST_METHOD"] == "GET" and path in (SUMMARY, SCRIPT):
            script = path == SCRIPT
            content = SCRIPT_FILE.read_bytes() if script else json.dumps(summarize()).encode()
            kind = ("Content-Type", "text/javascript" if script else "application/json")
            start("200 OK", [kind, ("Content-Length", str(len(content))), ("Cache-Control", "no-cache")])
            return [content]
        if environ["REQUEST_METHOD"] != "GET" or not path.startswith(("/dashboard", "/csv/")):
            return inner(environ, start)
        started: list[Any] = []

        def remember(status: str, headers: list[tuple[str, str]], *rest: Any) -> None:
            started[:] = [status, headers, *rest]

        conditions = ("HTTP_IF_MODIFIED_SINCE", "HTTP_IF_NONE_MATCH", "HTTP_RANGE")
        body = inner({key: value for key, value in environ.items() if key not in conditions}, remember)
        try:
            page = b"".join(body)
        finally:
            if hasattr(body, "close"):
                body.close()
        status, headers, *rest = started
        if path.startswith("/dashboard"):
            page = page.replace(b"</head>", addition, 1)
        elif status.startswith("200"):
            page = _remove_formulas(page)
        dropped = ("content-length", "last-modified", "etag", "accept-ranges", "cache-control")
        kept = [(name, value) for name, value in headers if name.lower() not in dropped]
        start(status, [*kept, ("Content-Length", str(len(page))), ("Cache-Control", "no-cache")], *rest)
        return [page]

    return answer


def _remove_formulas(table: bytes) -> bytes:
    """Return a CSV file with all cells as in our own exports."""
    csv.field_size_limit(max(csv.field_size_limit(), len(table)))
    changed = io.StringIO()
    rows = csv.reader(io.StringIO(table.decode(), newline=""))
    csv.writer(changed).writerows([to_csv_cell(cell) for cell in row] for row in rows)
    return changed.getvalue().encode()
