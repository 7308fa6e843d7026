"""Figure 2: regret reduction of RAVEN-UCB compared with UCB1 against the horizon, on ten Bernoulli arms.

Reduction = 1 − mean regret of RAVEN-UCB / mean regret of UCB1, in percent, on the same worlds.

As published, the authors' procedure is repeated many times, because a single run is random. As defined, one search per
horizon yields a winner that is evaluated on held-out worlds; UCB1 with its own constant tuned is treated the same way.

UCB1 does not depend on the horizon, and a world up to T does not depend on what follows. One run over the longest
horizon with checkpoints therefore gives the regret of UCB1 at all horizons.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from math import inf, log10
from typing import Any, NamedTuple

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.environments import find_scenario
from ravenlab.environments.streams import Stream, generator
from ravenlab.environments.world import Floats
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.paper.claims import ClaimResult
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.spec.files import find_study_file, load_study_file
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.intervals import mean_interval, relative_shares
from ravenlab.studies.tables import DataFrame, make_table, select, to_records
from ravenlab.tuning.reproduction.context import Experiment, PieceData, RunContext, RunPiece
from ravenlab.tuning.reproduction.figures import make_guide_line, make_interval_line, make_note
from ravenlab.tuning.reproduction.measurements import format_measurement, interval_columns, read_measurement
from ravenlab.tuning.reproduction.texts import Words, judge, read_claims
from ravenlab.tuning.workers.problem import Evaluator, Problem

RAVEN = "raven-ucb"
UCB1 = "ucb1"
BASELINE = "published-ucb1"
"""The tuned policies, and the baseline: UCB1 with bonus sqrt(2·ln t / (N+1))."""

LONGER_HORIZONS = (20_000, 50_000, 100_000, 200_000)  # horizons beyond those of the paper
REPEATS = 20  # repetitions of the authors' procedure, which they ran once
HELD_OUT = {50_000: 1600, 200_000: 400}
"""Held-out worlds up to each of these horizons: enough for about ± 1 percentage point."""

FINALISTS = 3
SELECTION = 100
REPORT = 20
"""Finalists and their selection worlds (50 gave a visibly worse choice). The study's own report is small because
winners are evaluated on many more worlds here."""

MIN_REPLICATIONS = 5  # worlds per trial far below the default precision
SCRIPT_PARAMS: dict[str, Value] = {"epsilon": 1e-6, "variance": "printed", "logarithm": "t"}
"""Parameters of the authors' script; it ignored the ε that Optuna suggested."""


def make_pieces(context: RunContext) -> list[RunPiece]:
    """One piece per horizon, and the baseline on the same worlds."""
    out = []
    if "published" in context.protocols:
        out.append(RunPiece("figure2/published/ucb1", 1.5, run_published_baseline))
        out += [
            RunPiece(f"figure2/published/T{horizon}", 0.2 + 1.2e-4 * horizon, partial(run_published, horizon=horizon))
            for horizon in load_studies()
        ]
    if "defined" in context.protocols:
        for horizons in group_horizons():
            key = f"figure2/defined/ucb1-to-T{horizons[-1]}"
            out.append(RunPiece(key, 2.5, partial(run_defined_baseline, horizons=horizons)))
            out += [
                RunPiece(f"figure2/defined/T{horizon}", 0.4 + 1.6e-4 * horizon, partial(run_defined, horizon=horizon))
                for horizon in horizons
            ]
    return out


@lru_cache(maxsize=1)
def load_studies() -> dict[int, StudySpec]:
    """Load the search at each horizon of the paper from the study file shipped with ravenlab."""
    return {spec.horizon: spec for spec in load_study_file(find_study_file("figure2"))}


def first_study() -> StudySpec:
    """The search at the shortest horizon; those at other horizons differ only in the horizon."""
    return next(iter(load_studies().values()))


def make_spec(context: RunContext, horizon: int) -> StudySpec:
    """The search at any horizon: 50 worlds per trial, or fewer below the default precision."""
    spec = first_study()
    counts = {"replications": spec.replications, "selection": SELECTION, "report": REPORT}
    budget = {name: min(count, context.count(count, MIN_REPLICATIONS)) for name, count in counts.items()}
    return spec.model_copy(update={"horizon": horizon, "candidates": FINALISTS, **budget})


def draw_candidates(seed: int, repeat: int, horizon: int) -> list[dict[str, Value]]:
    """Draw the ten candidates of one published search: α₀ and β₀ log-uniform.

    The authors used Optuna's TPE with ten trials. The first ten trials of TPE are random, so the search is random.
    """
    spec = load_studies()[horizon]
    rng = generator(seed, Stream.SEARCH, repeat, f"figure2/T{horizon}")
    ranges = [np.log(spec.space[name].bounds()) for name in ("alpha0", "beta0")]
    values = np.exp([[rng.uniform(low, high) for low, high in ranges] for _ in range(spec.trials)])
    return [
        dict(find_policy(RAVEN).resolve({"alpha0": float(a), "beta0": float(b), **SCRIPT_PARAMS}, _arms(), horizon))
        for a, b in values
    ]


def count_repeats(context: RunContext) -> int:
    """Number of repetitions of the authors' procedure."""
    return context.count(REPEATS)


def count_held_out(context: RunContext, horizon: int) -> int:
    """Number of held-out worlds at a horizon."""
    return context.count(HELD_OUT[_group(horizon)], least=20)


def group_horizons() -> list[list[int]]:
    """Group all horizons by their number of held-out worlds."""
    horizons = (*load_studies(), *LONGER_HORIZONS)
    return [[horizon for horizon in horizons if _group(horizon) == longest] for longest in HELD_OUT]


def _group(horizon: int) -> int:
    return min(longest for longest in HELD_OUT if horizon <= longest)


def run_published(context: RunContext, horizon: int) -> PieceData:
    """Repeat the authors' search: mean regrets of the winners on the worlds that selected them and on others."""
    worlds = first_study().replications
    evaluator = _make_evaluator(context, RAVEN, horizon)
    winners: list[dict[str, Value]] = []
    on_selection = []
    on_held_out = []
    for repeat in range(count_repeats(context)):
        candidates = draw_candidates(context.seed, repeat, horizon)
        regret = evaluator.play(candidates, Stream.SIMULATE, repeat * worlds, worlds).regret.mean(axis=1)
        best = int(np.argmin(regret))
        held_out = evaluator.play([candidates[best]], Stream.REPORT, repeat * worlds, worlds).regret
        winners.append({name: candidates[best][name] for name in ("alpha0", "beta0")})
        on_selection.append(float(regret[best]))
        on_held_out.append(float(held_out.mean()))
    return {"winners": winners, "selection": on_selection, "held_out": on_held_out}


def run_published_baseline(context: RunContext) -> PieceData:
    """Mean regret of UCB1 [horizon, repeat] on the worlds of each search and on the held-out ones."""
    horizons = list(load_studies())
    repeats = count_repeats(context)
    worlds = first_study().replications

    def mean_by_repeat(stream: Stream) -> list[list[float]]:
        regret = _run_baseline(context, horizons, stream, repeats * worlds)
        means: list[list[float]] = regret.reshape(repeats, worlds, len(horizons)).mean(axis=1).T.tolist()
        return means

    return {"selection": mean_by_repeat(Stream.SIMULATE), "held_out": mean_by_repeat(Stream.REPORT)}


def run_defined(context: RunContext, horizon: int) -> PieceData:
    """Tune RAVEN-UCB and UCB1 with the same budget; return the winners and their regrets on held-out worlds."""
    raven = make_spec(context, horizon)
    ucb1 = raven.changed(policy=UCB1, space={})  # the only parameter searched is the constant c
    out = {}
    for spec in (raven, ucb1):
        winner = context.search(f"figure2/{spec.policy}/T{horizon}", spec)
        params = {name: float(value) for name, value in winner.params.items()}
        played = _make_evaluator(context, spec.policy, horizon).play(
            [spec.resolve_params(params)], Stream.REPORT, 0, count_held_out(context, horizon)
        )
        out[spec.policy] = {"params": params, "regrets": played.regret[0].tolist()}
    return out


def run_defined_baseline(context: RunContext, horizons: Sequence[int]) -> PieceData:
    """Regrets of UCB1 [horizon, world] on the held-out worlds."""
    worlds = count_held_out(context, horizons[-1])
    return {"regrets": _run_baseline(context, horizons, Stream.REPORT, worlds).T.tolist()}


def _run_baseline(context: RunContext, horizons: Sequence[int], stream: Stream, count: int) -> Floats:
    options = {"horizon": max(horizons), "arms": _arms(), "replications": count, "checkpoints": list(horizons)}
    return context.simulate_regret(BASELINE, "bernoulli", stream=stream, **options)


def _make_evaluator(context: RunContext, policy: str, horizon: int) -> Evaluator:
    problem = Problem(policy, find_scenario("bernoulli"), horizon, _arms(), context.seed, burn_in=0)
    return Evaluator(problem, context.workers)


def _arms() -> int:
    return first_study().arms


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
    spec = first_study()
    printed = list(load_studies())
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
        facts["repeats"] = count_repeats(context)
        rows += _line_rows("published", selection, context, single_runs=True)
        rows += _line_rows("published-held-out", held_out, context, single_runs=True)
        tables["selection_bias"] = make_table(_selection_bias(selection, held_out, context))
        verdicts += judge_samples("published", selection, printed, context.seed)
    if "defined" in context.protocols:
        raven = _defined_samples(pieces, RAVEN)
        tuned = _defined_samples(pieces, UCB1)
        search = make_spec(context, facts["longest"])
        facts |= {"search": search.replications, "finalists": search.candidates, "selection": search.selection}
        rows += _line_rows("defined", raven, context) + _line_rows("tuned-ucb1", tuned, context)
        against = {horizon: measure_groups(raven[horizon] - tuned[horizon], context.seed) for horizon in raven}
        tables["against_tuned"] = make_table(
            {"horizon": horizon, **interval_columns("difference", difference)}
            for horizon, difference in against.items()
        )
        tables["winners"] = make_table(_winner(horizon, pieces) for horizon in raven)
        verdicts += judge_samples("defined", raven, printed, context.seed)
    return ExperimentResult({"reduction": make_table(rows), **tables}, facts, verdicts)


def _published_samples(pieces: Mapping[str, PieceData], worlds: str) -> Samples:
    """The reduction of each run, on the worlds that selected its winner or on held-out worlds."""
    baseline = np.array(pieces["figure2/published/ucb1"][worlds])
    return {
        horizon: 100.0 * (1.0 - np.array(pieces[f"figure2/published/T{horizon}"][worlds]) / ucb1)
        for horizon, ucb1 in zip(load_studies(), baseline, strict=True)
    }


def _defined_samples(pieces: Mapping[str, PieceData], policy: str) -> Samples:
    """The contribution of each held-out world to the reduction of a winner."""
    out = {}
    for horizons in group_horizons():
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
        reduction = measure_groups(sample, context.seed, most=100.0)
        point = {"line": line, "horizon": horizon, **interval_columns("reduction", reduction)}
        out.append({**point, "run_low": low, "run_high": high, "run_spread": spread, "count": sample.size})
    return out


def _selection_bias(selection: Samples, held_out: Samples, context: RunContext) -> Iterator[dict[str, Any]]:
    """The optimistic bias of winners on the worlds that selected them."""
    for horizon, sample in selection.items():
        means = {"selection": sample.mean(), "held_out": held_out[horizon].mean()}
        bias = sample - held_out[horizon]
        yield {"horizon": horizon, **means, **interval_columns("difference", measure_groups(bias, context.seed))}


def _winner(horizon: int, pieces: Mapping[str, PieceData]) -> dict[str, Any]:
    data = pieces[f"figure2/defined/T{horizon}"]
    return {"horizon": horizon, **data[RAVEN]["params"], **data[UCB1]["params"]}


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
    ours = {horizon: measure_groups(sample, seed, most=100.0) for horizon, sample in samples.items()}
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
    ours = measure_groups(sample, seed, most=100.0)
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


def measure_groups(sample: Floats, seed: int, most: float = inf) -> Interval:
    """Estimate a mean with its interval; large samples are averaged in equal groups first, which is faster.

    >>> measure_groups(np.arange(2000.0), seed=0).mean
    999.5
    """
    size = max(1, sample.size // GROUPS)
    groups = sample[: sample.size // size * size].reshape(-1, size).mean(axis=1)
    mean, low, high = mean_interval(groups, seed)
    shift = float(sample.mean()) - mean
    return Interval(mean + shift, low + shift, high + shift).limited(most=most)


class LineStyle(NamedTuple):
    """Name and appearance of a line; its order selects dash and marker."""

    name: str
    color: str
    order: int
    band: tuple[str, str]
    """The columns of its band."""


LINES = {
    "published": LineStyle("as published (band: 90 % of runs)", style.ORANGE, 1, ("run_low", "run_high")),
    "defined": LineStyle("as defined (band: 95 %)", style.BLUE, 0, ("reduction_low", "reduction_high")),
    "tuned-ucb1": LineStyle("UCB1, c tuned (band: 95 %)", style.GREEN, 2, ("reduction_low", "reduction_high")),
}


def plot_figures(result: ExperimentResult, protocols: tuple[str, ...], words: Words) -> list[tuple[str, Figure]]:
    """Reductions against the horizon and, as published, the selection bias of the winners."""
    figures = [("reduction", _plot_reduction(result.tables["reduction"], result.facts, words))]
    if "published" in protocols:
        figures.append(("winners", _plot_selection_bias(result.tables["selection_bias"], words)))
    return figures


def _plot_reduction(reduction: DataFrame, facts: Mapping[str, Any], words: Words) -> Figure:
    """All lines against T, with the two numbers that the paper prints."""
    traces: list[PlotlyTrace] = []
    for key, look in LINES.items():
        rows = select(reduction, line=key)
        if len(rows):
            traces += _plot_line(rows, look)
    horizons = reduction["horizon"].tolist()
    above = CLAIMS["figure2-above-80"].printed_number
    limit = CLAIMS["figure2-84"].printed_number
    ends = [0.9 * min(horizons), 1.1 * max(horizons)]
    traces += [
        make_guide_line(ends, [limit] * 2, f"paper: converges to {limit:g} %", "longdash", style.VERMILION),
        make_guide_line(ends, [above] * 2, f"paper: all above {above:g} %", "dashdot", style.VERMILION),
    ]
    has_longer = max(horizons) > facts["longest"]
    return style.make_figure(
        traces,
        *words("reduction", lines=LINES),
        height=520,
        shapes=[style.make_shading(facts["longest"], ends[1], style.fade(style.GREY, 0.12))] if has_longer else [],
        annotations=[make_note("beyond the paper's<br>horizons", 0.985, 0.04, "right")] if has_longer else [],
        xaxis=_horizon_axis(ends),
        yaxis=style.make_axis("regret reduction (%)", ticks=[0, 20, 40, 60, 80, 100], range=[0, 100]),
        margin={"b": 130},
    )


def _plot_selection_bias(bias: DataFrame, words: Words) -> Figure:
    """Reduction of winners on the worlds that selected them, minus that on held-out worlds."""
    horizons = bias["horizon"].tolist()
    differences = bias["difference"].tolist()
    text = [
        f"T = {row['horizon']:,}<br>{row['selection']:.1f} % on the selection worlds, {row['held_out']:.1f} % on "
        f"held-out worlds<br>difference {format_measurement(read_measurement(row, 'difference'), POINTS)}"
        for row in to_records(bias)
    ]
    intervals = style.make_error_bars(list(map(Interval, differences, bias["difference_low"], bias["difference_high"])))
    marker = {"symbol": "square", "size": 6, "color": style.ORANGE}
    return style.make_figure(
        [style.make_markers(horizons, differences, "difference with 95 % interval", marker, text, error_y=intervals)],
        *words("winners"),
        height=340,
        xaxis=_horizon_axis([0.9 * min(horizons), 1.1 * max(horizons)]),
        yaxis=style.make_axis(
            "selection − held-out<br>(percentage points)",
            rangemode="tozero",
            zeroline=True,
            zerolinecolor=style.CHANGE_COLOR,
        ),
    )


def _plot_line(rows: DataFrame, look: LineStyle) -> list[PlotlyTrace]:
    text = [
        f"<b>{look.name.partition(' (')[0]}</b><br>T = {row['horizon']:,}: "
        f"{format_measurement(read_measurement(row, 'reduction'))}"
        for row in to_records(rows)
    ]
    x, y, low, high = (rows[name].tolist() for name in ("horizon", "reduction", *look.band))
    return make_interval_line(
        x, y, low, high, look.name, look.color, look.order, text=text, hovertemplate=style.HOVER_TEXT
    )


def _horizon_axis(ends: list[float]) -> dict[str, Any]:
    ticks = style.choose_log_ticks(ends)
    return style.make_axis("horizon T (steps)", "log", ticks, range=[log10(end) for end in ends])


CONSTANTS = {"claim_horizon": CLAIM_HORIZON}

EXPERIMENT = Experiment("figure2", make_pieces, evaluate, plot_figures, CONSTANTS, claims=CLAIMS)
