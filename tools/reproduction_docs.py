"""Write docs/evidence/reproduction.md and its picture: python -m tools.reproduction_docs FOLDER."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ravenlab.common.text import format_number
from ravenlab.dashboards.pages.reproduction import SIGNS
from ravenlab.studies.paper.claims import ClaimVerdict
from tests.dashboards.browser import find_browser, launch_browser
from tools.screenshots import IMAGES

PAGE = IMAGES.parent / "evidence" / "reproduction.md"


def make_page(document: Mapping[str, Any]) -> str:
    """Return the verdicts of a reproduction as a Markdown page."""
    counts = Counter(verdict["verdict"] for verdict in document["verdicts"])
    lines = [
        "# Reproduction of the paper: all verdicts",
        "",
        f"From `ravenlab reproduce all --replications {document['replications']} --seed {document['seed']}`,",
        "written by `python -m tools.reproduction_docs reproduction`. "
        + ", ".join(f"{SIGNS[verdict]} {verdict} {counts[verdict]}" for verdict in ClaimVerdict)
        + ".",
        "*As published* follows the authors' scripts; *as defined* follows the paper's text and Table 1. The column"
        " *measured* contains the",
        "quantity that the rule of the claim tests, with its 95 % interval. The page that the command writes contains"
        " all figures, methods and reasons.",
        "",
        "| claim | place | paper | protocol | measured (95 % CI) | verdict |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in document["verdicts"]:
        unit = " %" if row["unit"] == "%" else ""
        printed = "" if row["printed"] is None else f"{format_number(row['printed'])}{unit}"
        ours = "" if row["measurement"] is None else _format_measurement(row["measurement"], unit)
        verdict = f"{SIGNS[ClaimVerdict(row['verdict'])]} {row['verdict']}"
        lines.append(f"| {row['text']} | {row['place']} | {printed} | as {row['protocol']} | {ours} | {verdict} |")
    lines += ["", "## Rules", ""]
    used = {row["rule"] for row in document["verdicts"]}
    lines += [f"- **{name}**: {text}" for name, text in document["rules"].items() if name in used]
    return "\n".join(lines) + "\n"


def _format_measurement(measurement: Mapping[str, float], unit: str) -> str:
    value = f"{format_number(measurement['value'])}{unit}"
    if measurement["low"] == measurement["high"]:
        return value
    return f"{value} ({format_number(measurement['low'])} to {format_number(measurement['high'])})"


def main() -> None:
    """Write the page and take a screenshot of the verdicts on Figure 2."""
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
        row = "tr[data-claim='figure2-above-80']"
        page.evaluate(f"() => document.querySelector(\"{row}\").scrollIntoView({{behavior: 'instant'}})")
        page.evaluate("() => scrollBy(0, -60)")
        page.wait_for_timeout(500)
        page.screenshot(path=IMAGES / "reproduction.png")


if __name__ == "__main__":
    main()
