"""Claims about Figure 2 and their verdicts.

Reduction = 1 − mean regret of RAVEN-UCB / mean regret of UCB1, in percent, on the same worlds.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ravenlab.environments.world import Floats
from ravenlab.studies.paper.claims import ClaimResult, Measurement
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.statistics.intervals import mean_interval, relative_shares
from ravenlab.studies.tables import DataFrame, make_table
from ravenlab.tuning.reproduction.context import PieceData, RunContext
from ravenlab.tuning.reproduction.figure2 import run
from ravenlab.tuning.reproduction.measurements import interval_columns
from ravenlab.tuning.reproduction.texts import judge, read_claims

CLAIMS = read_claims("figure2")

Samples = dict[int, Floats]
"""By horizon, values whose mean is a reduction in percent: one per run as published, one per world as defined."""

CLAIM_HORIZON = 5000  # the horizon of the claim about T ≈ 5,000
GROUPS = 400  # samples of at least twice this size are averaged in groups before bootstrapping
PAPER_SIZES = {"published": 1, "defined": 50}
"""Values per point of the paper's figure: one run, or 50 worlds."""

RUN_QUANTILES = (0.05, 0.95)  # spread of single runs: the central 90 %
POINTS = "percentage points"


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """Reductions by line and horizon, the winners and the verdicts."""
    spec = run.first_study()
    printed = list(run.load_studies())
    facts: dict[str, Any] = {
        "arms": spec.arms,
        "trials": spec.trials,
        "replications": spec.replications,
        "longest": max(printed),
    }
    tables: dict[str, DataFrame] = {}
    verdicts: list[ClaimResult] = []
    rows: list[dict[str, Any]] = []
    if "published" in context.protocols:
        selection, held_out = (_published_samples(pieces, worlds) for worlds in ("selection", "held_out"))
        facts["repeats"] = run.count_repeats(context)
        rows += _line_rows("published", selection, context, single_runs=True)
        rows += _line_rows("published-held-out", held_out, context, single_runs=True)
        tables["selection_bias"] = make_table(_selection_bias(selection, held_out, context))
        verdicts += judge_samples("published", selection, printed, context.seed)
    if "defined" in context.protocols:
        raven = _defined_samples(pieces, run.RAVEN)
        tuned = _defined_samples(pieces, run.UCB1)
        search = run.make_spec(context, facts["longest"])
        facts |= {"search": search.replications, "finalists": search.candidates, "selection": search.selection}
        rows += _line_rows("defined", raven, context) + _line_rows("tuned-ucb1", tuned, context)
        tables["against_tuned"] = make_table(
            {"horizon": horizon, **_columns("difference", raven[horizon] - tuned[horizon], context)}
            for horizon in raven
        )
        tables["winners"] = make_table(_winner(horizon, pieces) for horizon in raven)
        verdicts += judge_samples("defined", raven, printed, context.seed)
    return ExperimentResult({"reduction": make_table(rows), **tables}, facts, verdicts)


def _published_samples(pieces: Mapping[str, PieceData], worlds: str) -> Samples:
    """The reduction of each run, on the worlds that selected its winner or on held-out worlds."""
    baseline = np.array(pieces["figure2/published/ucb1"][worlds])
    return {
        horizon: 100.0 * (1.0 - np.array(pieces[f"figure2/published/T{horizon}"][worlds]) / ucb1)
        for horizon, ucb1 in zip(run.load_studies(), baseline, strict=True)
    }


def _defined_samples(pieces: Mapping[str, PieceData], policy: str) -> Samples:
    """The contribution of each held-out world to the reduction of a winner."""
    out = {}
    for horizons in run.group_horizons():
        baseline = np.array(pieces[f"figure2/defined/ucb1-to-T{horizons[-1]}"]["regrets"])
        for horizon, ucb1 in zip(horizons, baseline, strict=True):
            regrets = np.array(pieces[f"figure2/defined/T{horizon}"][policy]["regrets"])
            out[horizon] = -100.0 * relative_shares(regrets, ucb1)
    return out


def _line_rows(line: str, samples: Samples, context: RunContext, single_runs: bool = False) -> list[dict[str, Any]]:
    """The points of a line; for single runs with their spread."""
    out = []
    for horizon, sample in samples.items():
        low, high = np.quantile(sample, RUN_QUANTILES) if single_runs else (None, None)
        spread = sample.std(ddof=1) if single_runs else None
        point = {"line": line, "horizon": horizon, **_columns("reduction", sample, context)}
        out.append({**point, "run_low": low, "run_high": high, "run_spread": spread, "count": sample.size})
    return out


def _columns(name: str, sample: Floats, context: RunContext) -> dict[str, float]:
    return interval_columns(name, measure_groups(sample, context.seed))


def _selection_bias(selection: Samples, held_out: Samples, context: RunContext) -> Iterator[dict[str, Any]]:
    """The optimistic bias of winners on the worlds that selected them."""
    for horizon, sample in selection.items():
        means = {"selection": sample.mean(), "held_out": held_out[horizon].mean()}
        yield {"horizon": horizon, **means, **_columns("difference", sample - held_out[horizon], context)}


def _winner(horizon: int, pieces: Mapping[str, PieceData]) -> dict[str, Any]:
    data = pieces[f"figure2/defined/T{horizon}"]
    return {"horizon": horizon, **data[run.RAVEN]["params"], **data[run.UCB1]["params"]}


def judge_samples(protocol: str, samples: Samples, printed: Sequence[int], seed: int) -> list[ClaimResult]:
    """Judge all claims from reductions at the paper's horizons and, as defined, beyond: growth has no upper limit.

    As published, the standard deviation of single runs is the paper's sampling noise. It explains no difference at
    horizons that the paper did not run.
    """
    first = printed[0]
    last = printed[-1]
    longest = max(samples)
    is_longer = longest > last
    average = np.mean([samples[horizon] for horizon in printed], axis=0)
    horizons = f"the paper's {len(printed)} horizons" if is_longer else f"{len(printed)} horizons"
    where_limit = f"at T = {longest:,}" if is_longer else f"at T = {last:,}, the longest horizon of the paper,"
    early = measure_groups(_change(samples, first, last), seed)
    late = measure_groups(_change(samples, last, longest), seed) if is_longer else None
    growth = partial(judge, CLAIMS["figure2-growth"], protocol, first=first, last=last, longest=longest)
    return [
        _judge_above(protocol, {horizon: samples[horizon] for horizon in printed}, seed),
        _judge_about("figure2-84", protocol, samples[CLAIM_HORIZON], f"at T = {CLAIM_HORIZON:,}", seed),
        _judge_about("figure2-average-84", protocol, average, f"averaged over {horizons}", seed),
        _judge_about("figure2-limit-84", protocol, samples[longest], where_limit, seed, in_paper=not is_longer),
        growth(early, rule="growth", early=early, late=None)
        if late is None
        else growth(min(early, late, key=lambda change: change.low), 0.0, [early, late], early=early, late=late),
    ]


def _judge_above(protocol: str, samples: Samples, seed: int) -> ClaimResult:
    claim = CLAIMS["figure2-above-80"]
    threshold = claim.printed_number
    ours = {horizon: measure_groups(sample, seed) for horizon, sample in samples.items()}
    worst = min(ours, key=lambda horizon: ours[horizon].high)
    return judge(
        claim,
        protocol,
        ours[worst],
        threshold,
        list(ours.values()),
        worst=worst,
        count=len(ours),
        above=sum(reduction.low > threshold for reduction in ours.values()),
        below=sum(reduction.high < threshold for reduction in ours.values()),
    )


def _judge_about(key: str, protocol: str, sample: Floats, where: str, seed: int, in_paper: bool = True) -> ClaimResult:
    """Judge "about x" at one horizon, or averaged over some."""
    claim = CLAIMS[key]
    ours = measure_groups(sample, seed)
    spread = float(sample.std(ddof=1))
    error = spread / sample.size**0.5
    paper_error = spread / PAPER_SIZES[protocol] ** 0.5 if in_paper else None
    evidence = claim.printed_number, ours, error, paper_error
    return judge(claim, protocol, ours, *evidence, where=where, paper_error=paper_error)


def _change(samples: Samples, before: int, after: int) -> Floats:
    """Paired change by world; a sample with several times as many worlds is averaged in blocks of equal size.

    >>> _change({1: np.array([1.0, 2.0, 3.0, 4.0]), 2: np.array([5.0, 6.0])}, 1, 2)
    array([3., 3.])
    """
    early = samples[before]
    late = samples[after]
    blocks = early.size // late.size
    return np.asarray(late - early[: blocks * late.size].reshape(blocks, late.size).mean(axis=0))


def measure_groups(sample: Floats, seed: int) -> Measurement:
    """Estimate a mean with its interval; large samples are averaged in equal groups first, which is faster.

    >>> measure_groups(np.arange(2000.0), seed=0).value
    999.5
    """
    size = max(1, sample.size // GROUPS)
    groups = sample[: sample.size // size * size].reshape(-1, size).mean(axis=1)
    mean, low, high = mean_interval(groups, seed)
    shift = float(sample.mean()) - mean
    return Measurement(mean + shift, low + shift, high + shift)
