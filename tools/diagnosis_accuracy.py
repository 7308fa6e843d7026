"""python -m tools.diagnosis_accuracy: how often `diagnose` names our own scenarios, as tables for the docs."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from studies.diagnosis import diagnose
from studies.diagnosis.model_selection import KINDS
from tests.project import DOCS
from tests.studies.diagnosis.traces_of_ours import full_trace, seen_one_at_a_time
from tools.docs.marks import filled

PAGE = DOCS / "diagnosis.md"
WORLDS = ("stationary", *KINDS)
OTHER = "several or another"

ELSEWHERE: list[tuple[str, str, dict[str, Any]]] = [
    ("localized-jump", "every 5 %", {"every": "5%"}),
    ("localized-jump", "every 33 %, a tenth of the arms", {"every": "33%", "fraction": 0.1}),
    ("blips", "every 5 %, lasting 1 %", {"every": "5%", "lasting": "1%"}),
    ("blips", "every 15 %, lasting 7 %", {"every": "15%", "lasting": "7%"}),
    ("periodic", "period 10 %", {"period": "10%"}),
    ("periodic", "period 45 %, amplitude 0.1", {"period": "45%", "amplitude": 0.1}),
    ("incremental-drift", "drift 0.125", {"drift": 0.125}),
    ("incremental-drift", "drift 0.03", {"drift": 0.03}),
    ("variance-drift", "growth 0.1", {"growth": 0.1}),
    ("gradual-drift", "from 1 % to 99 %", {"start": "1%", "end": "99%"}),
    ("gradual-drift", "from 40 % to 55 %", {"start": "40%", "end": "55%"}),
    *((name, "K 5", {"arms": 5}) for name in WORLDS),
    *((name, "student-t noise", {"noise": "student-t"}) for name in WORLDS),
    *((name, "T 1000", {"horizon": 1000}) for name in WORLDS),
    *((name, "log of one arm a step", {"log": True}) for name in WORLDS),
    ("periodic+blips", "both", {}),
    ("incremental-drift+periodic", "both", {}),
    ("localized-jump+arm-churn", "both", {}),
]


def answers(name: str, tries: int, log: bool = False, **settings: Any) -> Counter[str]:
    """How often each answer was given; the order of kinds does not count."""
    out: Counter[str] = Counter()
    for number in range(tries):
        table = full_trace(name, number, **settings)
        out[in_order(diagnose(seen_one_at_a_time(table, number) if log else table).verdict)] += 1
    return out


def in_order(verdict: str) -> str:
    """Kinds in the order of the alphabet."""
    return "+".join(sorted(verdict.split("+")))


def matrix(tries: int) -> list[str]:
    """The rows are what a world was, the columns what was said."""
    lines = [f"| world | {' | '.join(WORLDS)} | {OTHER} |", "| --- |" + " ---: |" * (len(WORLDS) + 1)]
    for name in WORLDS:
        counted = answers(name, tries)
        told = [counted[kind] for kind in WORLDS]
        cells = [str(number or "–") for number in (*told, tries - sum(told))]
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def elsewhere(tries: int) -> list[str]:
    """Other settings than the defaults: weaker, shorter, fewer arms, other noise, a log, several kinds at once."""
    lines = ["| world | setting | right | else |", "| --- | --- | ---: | --- |"]
    for name, words, settings in ELSEWHERE:
        counted = answers(name, tries, **settings)
        right = counted.pop(in_order(name), 0)
        rest = ", ".join(f"{kind} {n}" for kind, n in counted.most_common(3))
        lines.append(f"| {name} | {words} | {100 * right / tries:.0f} % | {rest or '–'} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Remake the tables of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=200, help="worlds of each row of the matrix; 0 leaves it")
    parser.add_argument("--elsewhere", type=int, default=20, help="worlds of each other setting; 0 leaves that table")
    given = parser.parse_args()
    for name, tries, made in (("matrix", given.tries, matrix), ("elsewhere", given.elsewhere, elsewhere)):
        if tries:
            lines = [f"{tries} worlds each.", "", *made(tries)]
            PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), name, lines), encoding="utf-8")


if __name__ == "__main__":
    main()
