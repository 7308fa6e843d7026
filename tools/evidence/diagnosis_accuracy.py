"""Accuracy of `diagnose` on simulated scenarios: python -m tools.evidence.diagnosis_accuracy writes its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from ravenlab.studies.diagnosis import diagnose
from ravenlab.studies.diagnosis.model_selection import KINDS
from ravenlab.studies.diagnosis.random_walk import RANDOM_WALK
from tests.project import DOCS
from tests.studies.diagnosis.traces import keep_one_arm_per_row, simulate_trace
from tools.docs.marks import filled
from tools.evidence.harness import make_parser

PAGE = DOCS / "evidence" / "diagnosis.md"
WORLDS = ("stationary", *KINDS, RANDOM_WALK)
OTHER = "several or another"

MATRIX: list[tuple[str, str, dict[str, Any]]] = [
    *((name, "", {}) for name in WORLDS),
    *(
        (name, f", {times} times", {"times": times})
        for name in ("localized-jump", "blips")
        for times in ("geometric", "jittered")
    ),
]
"""Rows of the confusion matrices: scenario, label and settings."""

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
    *((name, "log of one arm per step", {"log": True}) for name in WORLDS),
    ("random-walk", "deviation 0.1", {"deviation": 0.1}),
    ("random-walk", "deviation 0.5", {"deviation": 0.5}),
    ("random-walk", "20 segments", {"segments": 20}),
    ("localized-jump", "every 5 %, geometric times", {"every": "5%", "times": "geometric"}),
    ("blips", "every 5 %, lasting 1 %, geometric times", {"every": "5%", "lasting": "1%", "times": "geometric"}),
    ("periodic+blips", "both", {}),
    ("incremental-drift+periodic", "both", {}),
    ("localized-jump+arm-churn", "both", {}),
]


def count_verdicts(name: str, tries: int, log: bool = False, **settings: Any) -> Counter[str]:
    """Count the diagnoses; the order of kinds does not matter."""
    out: Counter[str] = Counter()
    for number in range(tries):
        table = simulate_trace(name, number, **settings)
        out[in_order(diagnose(keep_one_arm_per_row(table, number) if log else table).verdict)] += 1
    return out


def in_order(verdict: str) -> str:
    """Sort the kinds of a diagnosis alphabetically."""
    return "+".join(sorted(verdict.split("+")))


def matrix(tries: int, independent: bool = False) -> list[str]:
    """The confusion matrix: rows are scenarios, columns are diagnoses."""
    lines = [f"| scenario | {' | '.join(WORLDS)} | {OTHER} |", "| --- |" + " ---: |" * (len(WORLDS) + 1)]
    for name, label, settings in MATRIX:
        counted = count_verdicts(name, tries, independent=independent, **settings)
        known = [counted[kind] for kind in WORLDS]
        cells = [str(number or "–") for number in (*known, tries - sum(known))]
        lines.append(f"| {name}{label} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def elsewhere(tries: int) -> list[str]:
    """Accuracy for other settings: weaker or shorter changes, fewer arms, other noise, logs, combinations."""
    lines = ["| scenario | setting | correct | other diagnoses |", "| --- | --- | ---: | --- |"]
    for name, words, settings in ELSEWHERE:
        counted = count_verdicts(name, tries, **settings)
        right = counted.pop(in_order(name), 0)
        rest = ", ".join(f"{kind} {n}" for kind, n in counted.most_common(3))
        lines.append(f"| {name} | {words} | {100 * right / tries:.0f} % | {rest or '–'} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Recompute the tables of the page."""
    parser = make_parser(__doc__)
    parser.add_argument("--tries", type=int, default=100, help="worlds per row of the matrix (0: skip)")
    parser.add_argument("--independent", type=int, default=100, help="the same with independent noise (0: skip)")
    parser.add_argument("--elsewhere", type=int, default=20, help="worlds per other setting (0: skip)")
    options = parser.parse_args()
    tables: list[tuple[str, int, Callable[[int], list[str]]]] = [
        ("matrix", options.tries, matrix),
        ("independent", options.independent, lambda tries: matrix(tries, independent=True)),
        ("elsewhere", options.elsewhere, elsewhere),
    ]
    for name, tries, compute in tables:
        if tries:
            lines = [f"{tries} worlds each.", "", *compute(tries)]
            PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), name, lines), encoding="utf-8")


if __name__ == "__main__":
    main()
