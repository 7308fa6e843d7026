"""Write docs/evidence/reproduction.md and its picture: python -m tools.reproduction_docs FOLDER."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ravenlab.common.interval import Interval
from ravenlab.common.text import format_ends, format_mean, format_number
from ravenlab.studies.paper.claims import ClaimVerdict
from tests.dashboards.browser import find_browser, launch_browser
from tools.docs.marks import table
from tools.screenshots import IMAGES

PROTOCOLS = ("published", "defined")
PAGE = IMAGES.parent / "evidence" / "reproduction.md"


def make_page(document: Mapping[str, Any]) -> str:
    """Return the verdicts of a reproduction as a Markdown page."""
    counts = Counter(verdict["verdict"] for verdict in document["verdicts"])
    claims: dict[str, dict[str, Mapping[str, Any]]] = {}
    for verdict in document["verdicts"]:
        claims.setdefault(verdict["text"], {})[verdict["protocol"]] = verdict
    lines = [
        "# Evidence: the paper's claims",
        "",
        f"{len(claims)} claims of the paper, tested by {len(document['verdicts'])} verdicts: "
        + ", ".join(f"{verdict.sign} {verdict} {counts[verdict]}" for verdict in ClaimVerdict)
        + ".",
        "*As published* follows the authors' scripts; *as defined* follows the paper's text and Table 1. A cell has the"
        " quantity that the rule of the claim tests, with its 95 % interval. The page that the command writes has all"
        " figures, methods, rules and reasons; `RULES` in `studies/paper/criteria.py` states the rules.",
        "",
        "```sh",
        f"ravenlab reproduce all --replications {document['replications']} --seed {document['seed']}",
        "python -m tools.reproduction_docs reproduction   # writes this page",
        "```",
        "",
        "![The page of a reproduction: a tile per claim and protocol, confirmed, within sampling noise, refuted or"
        " inconclusive](../images/reproduction.png)",
        "",
        *table(["claim", "place", "paper", *(f"as {protocol}" for protocol in PROTOCOLS)], map(_row, claims.values())),
    ]
    return "\n".join(lines) + "\n"


def _row(verdicts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the row of a claim, with one cell per protocol."""
    claim = next(iter(verdicts.values()))
    unit = " %" if claim["unit"] == "%" else ""
    printed = "" if claim["printed"] is None else f"{format_number(claim['printed'])}{unit}"
    cells = [_cell(verdicts[protocol], unit) if protocol in verdicts else "–" for protocol in PROTOCOLS]
    return [claim["text"], claim["place"], printed, *cells]


def _cell(verdict: Mapping[str, Any], unit: str) -> str:
    sign = ClaimVerdict(verdict["verdict"]).sign
    return sign if verdict["measurement"] is None else f"{sign} {_format_measurement(verdict['measurement'], unit)}"


def _format_measurement(measurement: Mapping[str, float], unit: str) -> str:
    interval = Interval(measurement["value"], measurement["low"], measurement["high"])
    if interval.low == interval.high:
        return f"{format_number(interval.mean)}{unit}"
    return f"{format_mean(interval)}{unit} ({format_ends(interval)})"


def main() -> None:
    """Write the page and take a screenshot of the scoreboard."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="output folder of ravenlab reproduce")
    folder = parser.parse_args().folder
    PAGE.write_text(make_page(json.loads((folder / "reproduction.json").read_text(encoding="utf-8"))), encoding="utf-8")
    browser_path = find_browser()
    if browser_path is None:
        sys.exit("Chromium is required (apt-get install chromium)")
    with launch_browser(browser_path) as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto((folder / "reproduction.html").resolve().as_uri())
        page.wait_for_timeout(500)
        page.screenshot(path=IMAGES / "reproduction.png")


if __name__ == "__main__":
    main()
