"""Accuracy of `diagnose` on simulated scenarios: python -m tools.evidence.diagnosis_accuracy writes its tables."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from ravenlab.studies.diagnosis import diagnose
from ravenlab.studies.diagnosis.model_selection import KINDS
from ravenlab.studies.diagnosis.random_walk import RANDOM_WALK
from tests.project import DOCS
from tests.studies.diagnosis.traces import keep_one_arm_per_row, simulate_trace
from tools.docs.marks import filled, table
from tools.evidence.harness import make_parser

PAGE = DOCS / "evidence" / "diagnosis.md"
WORLDS = ("stationary", *KINDS, RANDOM_WALK)

DEFAULTS: list[tuple[str, str, dict[str, Any]]] = [
    *((name, "", {}) for name in WORLDS),
    *(
        (name, f", {times} times", {"times": times})
        for name in ("localized-jump", "blips")
        for times in ("geometric", "jittered")
    ),
]
"""Rows of the table of default settings: scenario, label and settings."""

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


def count_correct(name: str, tries: int, **settings: Any) -> int:
    """Count the worlds whose diagnosis names this kind and no other."""
    return count_verdicts(name, tries, **settings)[in_order(name)]


def tabulate_defaults(tries: int) -> list[str]:
    """Return the table of default settings: correct diagnoses if arms share their noise, and if they do not."""
    rows = []
    for name, label, settings in DEFAULTS:
        counts = [count_correct(name, tries, independent=independent, **settings) for independent in (False, True)]
        rows.append([f"{name}{label}", *map(str, counts)])
        print(*rows[-1], flush=True)
    return table(["scenario", "noise shared by all arms", "independent noise"], rows)


def tabulate_elsewhere(tries: int) -> list[str]:
    """Return the table of other settings: weaker or shorter changes, fewer arms, other noise, logs, combinations."""
    always: dict[str, list[str]] = {}
    sometimes: dict[str, list[str]] = {}
    for name, label, settings in ELSEWHERE:
        counted = count_verdicts(name, tries, **settings)
        correct = counted.pop(in_order(name), 0)
        others = ", ".join(f"{kind} {count}" for kind, count in counted.most_common(3))
        always.setdefault(label, [])
        sometimes.setdefault(label, [])
        if correct == tries:
            always[label].append(name)
        else:
            sometimes[label].append(f"{name} {100 * correct / tries:.0f} % ({others})")
        print(name, label, correct, others, flush=True)
    rows = [[label, _join(always[label]), _join(sometimes[label])] for label in always]
    return table(["setting", "correct in all worlds", "correct in some worlds (other diagnoses)"], rows)


def _join(names: list[str]) -> str:
    return f"all {len(names)} scenarios" if len(names) == len(WORLDS) else ", ".join(names) or "–"


def main() -> None:
    """Recompute the tables of the page."""
    parser = make_parser(__doc__)
    parser.add_argument("--tries", type=int, default=100, help="worlds per row of the default settings (0: skip)")
    parser.add_argument("--elsewhere", type=int, default=20, help="worlds per other setting (0: skip)")
    options = parser.parse_args()
    tables: list[tuple[str, int, Callable[[int], list[str]]]] = [
        ("defaults", options.tries, tabulate_defaults),
        ("elsewhere", options.elsewhere, tabulate_elsewhere),
    ]
    for name, tries, compute in tables:
        if tries:
            lines = [f"{tries} worlds each.", "", *compute(tries)]
            PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), name, lines), encoding="utf-8")


if __name__ == "__main__":
    main()
