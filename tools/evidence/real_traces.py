"""Tuned policies on real traces, evaluated on held-out rows: the tables of docs/evidence/real-traces.md.

`python -m tools.evidence.real_traces FOLDER` reads seattle-rtt.csv and ad-exchange-cpc.csv in FOLDER, which are not
part of the project, and writes the page. Finished studies are kept; run it again to resume. The last section of the
page, about tuning that does not help, is kept as it is.
"""

from dataclasses import dataclass
from pathlib import Path

from ravenlab.common.interval import ERROR_RATE
from ravenlab.common.text import describe_p_value, format_ends, format_interval, format_number
from ravenlab.environments.streams import Stream
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.bootstrap import estimate_sum, row_autocorrelation
from ravenlab.studies.statistics.paired import StudentEstimate, holm_adjust, simultaneous_levels
from ravenlab.tuning.study_run import run_study
from ravenlab.tuning.validation.trace import TracePlay, play_fixed_arm, play_on_trace
from ravenlab.tuning.workers.local import LocalWorkers
from ravenlab.tuning.workers.problem import Evaluator
from tests.project import DOCS
from tools.evidence.harness import make_parser

TRACES = {
    "seattle-rtt.csv": "Negative round-trip time in seconds from one node to 20 others (NetLatency-Data, MIT)",
    "ad-exchange-cpc.csv": "Negative cost per click of three exchanges, hourly (Numenta Anomaly Benchmark, MIT)",
}
POLICIES = (
    *("raven-ucb", "sw-raven", "d-raven", "ucb1", "ucb-v", "ucb-tuned", "kl-ucb", "epsilon-greedy", "softmax"),
    *("thompson", "sw-ucb", "d-ucb", "sw-ts", "glr-klucb", "exp3-s"),
)
REFERENCE = "raven-ucb"
PAGE = DOCS / "evidence" / "real-traces.md"
KEPT_SECTION = "## When tuning does not help"
TRIALS = 64
REPLICATIONS = 200
SELECTION = 1000
REPORT = 2000
METHOD = (
    "Fifteen tuned policies on two real [traces](traces.md). With a few hundred held-out rows most differences are"
    " inconclusive.",
    "",
    f"Each policy was searched with {TRIALS} trials × {REPLICATIONS} windows of the first half of the rows."
    f" {SELECTION:,} windows of the next fifth select the parameters, and"
    f" {REPORT:,} windows of the last three tenths estimate the regret relative to the benchmark arm, summed over a"
    " window. p-values are corrected by Holm's method for the 14 differences of a table, and their intervals are"
    " simultaneous. A difference is *inconclusive*"
    " if p is at least 0.05, or if the effective sample size of the difference or of either regret is below 15.",
    "",
    "```sh",
    "python -m tools.evidence.real_traces FOLDER   # the folder with the two files",
    "```",
)


@dataclass(frozen=True)
class Tuned:
    """A tuned policy with its regret on the report segment."""

    policy: str
    params: dict[str, Value]
    regret: str
    evaluator: Evaluator
    placed: TracePlay


def tuned(path: Path, policy: str, storage: Path) -> tuple[StudySpec, Tuned, float, bool]:
    """Tune one policy and play the recommended parameters on the report segment."""
    budget = {"trials": TRIALS, "replications": REPLICATIONS, "selection": SELECTION, "report": REPORT}
    spec = StudySpec.model_validate({"trace": str(path), "policy": policy, **budget})
    found = run_study(spec, f"sqlite:///{storage}", workers=LocalWorkers(2)).result
    assert found is not None
    assert found.trace is not None
    evaluator = Evaluator(spec, LocalWorkers(2))
    chosen = {name: value for name, value in found.params.items() if name in spec.space}
    (placed,) = play_on_trace(evaluator, [spec.resolve_params(chosen)], Stream.REPORT, REPORT)
    regret = format_interval(found.regret, name="")
    one = Tuned(policy, {**chosen}, regret, evaluator, placed)
    return spec, one, found.trace.effective, found.trace.enough


@dataclass(frozen=True)
class Difference:
    """The paired difference in regret from the reference policy."""

    estimate: StudentEstimate
    enough: bool

    def describe(self, level: float, holm: float) -> str:
        """Describe the difference; it is decided only with enough effective rows and a small corrected p-value."""
        interval = self.estimate.interval(level)
        word = "" if self.enough and holm < ERROR_RATE else ", inconclusive"
        return f"{interval.mean:+.3g} ({format_ends(interval, '{:.3g}'.format)}), {describe_p_value(holm)}{word}"


def against(one: Tuned, reference: Tuned, seed: int, enough: bool) -> Difference:
    """Compare a policy with the reference; `enough` says whether the regrets of both have enough effective rows."""
    difference = one.placed.regret - reference.placed.regret
    series = difference.parts
    known = row_autocorrelation(series.size, one.evaluator.problem.horizon, series, Stream.REPORT)
    return Difference(estimate_sum(float(difference.windows.mean()), series, known, seed), enough and known.enough)


def section(path: Path, storage: Path) -> list[str]:
    """The Markdown section of one trace."""
    found = {policy: tuned(path, policy, storage) for policy in POLICIES}
    spec, reference, *_ = found[REFERENCE]
    fixed = play_fixed_arm(reference.evaluator.problem, Stream.REPORT, REPORT)
    ordered = sorted(found.values(), key=lambda each: float(each[1].placed.regret.windows.mean()))
    lines = [
        f"## {path.name}",
        "",
        f"{TRACES[path.name]}; {spec.arms} arms, windows of {spec.horizon} rows. The best "
        f"fixed arm of each window has a regret of "
        f"{format_number(float((reference.placed.regret.windows + reference.placed.reward + fixed.windows).mean()))}.",
        "",
        f"| tuned policy | regret (95 % CI) | difference from {REFERENCE} (95 % CI, p after Holm) "
        "| effective sample size |",
        "| --- | --- | --- | --- |",
    ]
    others = [each for each in ordered if each[1].policy != REFERENCE]
    differences = [against(each[1], reference, spec.seed, each[3] and found[REFERENCE][3]) for each in others]
    p = [difference.estimate.p_value for difference in differences]
    texts = {
        each[1].policy: difference.describe(level, holm)
        for each, difference, level, holm in zip(
            others, differences, simultaneous_levels(p), holm_adjust(p), strict=True
        )
    }
    for _, one, effective, enough in ordered:
        more = texts.get(one.policy, "–")
        rows = f"{effective:.0f}{'' if enough else ', too few'}"
        lines.append(f"| {one.policy} | {one.regret} | {more} | {rows} |")
    return [*lines, ""]


def main() -> None:
    """Write the page."""
    parser = make_parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=PAGE)
    parser.add_argument("--storage", type=Path, default=Path("real-traces.sqlite3"), help="database of the studies")
    asked = parser.parse_args()
    text = ["# Evidence: two real traces", "", *METHOD, ""]
    for name in TRACES:
        text += section(asked.folder / name, asked.storage)
    _, heading, kept = PAGE.read_text(encoding="utf-8").partition(KEPT_SECTION)
    asked.output.write_text("\n".join(text) + f"\n{heading}{kept}", encoding="utf-8")


if __name__ == "__main__":
    main()
