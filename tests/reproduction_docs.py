"""python -m tests.reproduction_docs FOLDER: docs/reproduction.md and its picture, from a finished reproduction."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dashboards.reproduction.verdict_table import SIGNS
from environments.text import format_number
from tests.dashboards.browser import find_browser, launched
from tests.screenshots import IMAGES

PAGE = IMAGES.parent / "reproduction.md"


def page(document: Mapping[str, Any]) -> str:
    """The verdicts as Markdown."""
    counts = Counter(verdict["verdict"] for verdict in document["verdicts"])
    lines = [
        "# The paper, run again: all verdicts",
        "",
        f"From `ravenlab reproduce all --replications {document['replications']} --seed {document['seed']}`,",
        "written by `python -m tests.reproduction_docs reproduction`. "
        + ", ".join(f"{SIGNS[word]} {word} {counts[word]}" for word in SIGNS)
        + ".",
        "*As published* is what the authors' scripts did, *as defined* what the paper's text and Table 1 define. The",
        "page that the command writes has every figure, the rules in full and what was done.",
        "",
        "| claim | where | paper | run | ours (95 %) | verdict |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for each in document["verdicts"]:
        unit = " %" if each["unit"] == "%" else ""
        printed = "" if each["printed"] is None else f"{format_number(each['printed'])}{unit}"
        ours = "" if each["ours"] is None else _ours(each["ours"], unit)
        run = f"as {each['protocol']}"
        word = f"{SIGNS[each['verdict']]} {each['verdict']}"
        lines.append(f"| {each['text']} | {each['place']} | {printed} | {run} | {ours} | {word} |")
    lines += ["", "## The rules", ""]
    used = {each["rule"] for each in document["verdicts"]}
    lines += [f"- **{name}**: {text}" for name, text in document["rules"].items() if name in used]
    return "\n".join(lines) + "\n"


def _ours(measured: Mapping[str, float], unit: str) -> str:
    value = f"{format_number(measured['value'])}{unit}"
    if measured["low"] == measured["high"]:
        return value
    return f"{value} ({format_number(measured['low'])} to {format_number(measured['high'])})"


def main() -> None:
    """Write the page, and take a picture of the verdicts on Figure 2."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="what ravenlab reproduce wrote")
    folder = parser.parse_args().folder
    PAGE.write_text(page(json.loads((folder / "reproduction.json").read_text(encoding="utf-8"))), encoding="utf-8")
    browser_path = find_browser()
    if browser_path is None:
        sys.exit("a Chromium is needed for the picture (apt-get install chromium)")
    with launched(browser_path) as browser:
        opened = browser.new_page(viewport={"width": 1400, "height": 900})
        opened.goto((folder / "reproduction.html").resolve().as_uri())
        row = "tr[data-claim='figure2-above-80']"
        opened.evaluate(f"() => document.querySelector(\"{row}\").scrollIntoView({{behavior: 'instant'}})")
        opened.evaluate("() => scrollBy(0, -60)")
        opened.wait_for_timeout(500)
        opened.screenshot(path=IMAGES / "reproduction.png")


if __name__ == "__main__":
    main()
