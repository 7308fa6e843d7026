"""What fixed weights and narrow ranges cost in a comparison of policies.

    python -m tools.evidence.comparison_fairness --output tables.md

prints a Markdown table. T is 10,000 and K is 10. Each policy is tuned twice with the same budget, in the restricted
search space of a case and in its own. Regret is the mean on held-out worlds with its 95 % confidence interval.
"""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import optuna

import ravenlab
from ravenlab.common.text import format_interval
from tools.docs.marks import table
from tools.evidence.harness import make_parser

HORIZON = 10_000
ARMS = 10
REPLICATIONS = 50
SELECTION = 200
"""Worlds per trial, and worlds on which the finalists are compared."""


@dataclass(frozen=True)
class Case:
    """A policy, a scenario and the restricted search space, described in words."""

    policy: str
    scenario: str
    restriction: str
    fixed: dict[str, Any] = field(default_factory=dict)
    space: dict[str, Any] = field(default_factory=dict)


SPACES = (
    Case("m-ucb", "localized-jump", "ξ = 2, b = 46.28", fixed={"xi": 2.0, "b": 46.28}),
    Case("cusum-ucb", "localized-jump", "ξ = 1, M = 100", fixed={"xi": 1.0, "m": 100.0}),
    Case(
        "glr-klucb",
        "variance-drift",
        "one s² for all arms (searched), ξ = 1, δ = 0.001",
        fixed={"xi": 1.0, "delta": 0.001},
        space={"s2": {"low": 1e-4, "high": 1.0}},
    ),
    Case("raven-ucb", "variance-drift", "none"),
    Case(
        "f-dsw-ts",
        "stationary",
        "1 − γ ≥ 0.0001, n ≤ 1,000",
        space={"gamma": {"low": 1e-4, "high": 0.3, "scale": "one-minus"}, "n": {"low": 10.0, "high": 1000.0}},
    ),
)

POLICIES = (
    *("sw-raven", "raven-ucb", "kl-ucb", "ucb1", "ucb-v", "ars-ucb", "sw-ucb", "d-ucb"),
    *("m-ucb", "cusum-ucb", "glr-klucb", "softmax", "thompson"),
)


def tune(case: Case, trials: int, report: int, jobs: int, restricted: bool) -> str:
    """Return the regret of the recommendation with its interval."""
    fields: dict[str, Any] = {"fixed": case.fixed, "space": case.space} if restricted else {}
    with tempfile.TemporaryDirectory() as folder:
        result = ravenlab.tune(
            case.scenario, HORIZON, policy=case.policy, arms=ARMS, trials=trials, replications=REPLICATIONS,
            selection=SELECTION, report=report, jobs=jobs, storage=f"sqlite:///{folder}/studies.sqlite3", **fields,
        )  # fmt: skip
    return format_interval(result.regret, name="")


def compare_spaces(trials: int, report: int, jobs: int) -> list[str]:
    """Tune each case in both search spaces."""
    rows = []
    for case in SPACES:
        own = tune(case, trials, report, jobs, restricted=False)
        restricted = tune(case, trials, report, jobs, restricted=True) if case.fixed or case.space else "–"
        print(f"{case.policy} on {case.scenario}: {restricted} with {case.restriction}, {own} otherwise", flush=True)
        rows.append([f"`{case.policy}`", f"`{case.scenario}`", case.restriction, restricted, own])
    return table(["policy", "scenario", "restriction", "regret, restricted", "regret, own search space"], rows)


def main() -> None:
    """Entry point of `python -m tools.evidence.comparison_fairness`."""
    parser = make_parser(__doc__, jobs=True)
    parser.add_argument("--trials", type=int, default=80)
    parser.add_argument("--report", type=int, default=500, help="held-out worlds")
    parser.add_argument("--output", type=Path, help="file for the tables")
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    text = "\n".join(compare_spaces(options.trials, options.report, options.jobs)) + "\n"
    print(text)
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
