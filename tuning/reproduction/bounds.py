"""The regret bounds of the paper's theory, compared with the regret of stationary problems up to T = 10⁶.

A bound on the expected regret applies to one problem, so the arms are the same in every replication and only the noise
differs. The authors ran no such experiment; as published and as defined differ only in the parameters.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import log, sqrt
from typing import Any

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.common.text import format_approximate, format_number
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.environments.effects.fixed_levels import FixedLevels
from ravenlab.environments.scenario import Scenario
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.paper.claims import ClaimResult
from ravenlab.studies.paper.criteria import find_tail, is_still_falling
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.statistics.intervals import level_interval, relative_interval
from ravenlab.studies.tables import DataFrame, make_table, select, select_row, to_records, unique
from ravenlab.tuning.reproduction import PROTOCOLS
from ravenlab.tuning.reproduction.context import Experiment, PieceData, RunContext, RunPiece
from ravenlab.tuning.reproduction.figures import make_guide_line, make_interval_line, make_line, make_note
from ravenlab.tuning.reproduction.measurements import interval_columns, measure_share, read_measurement, subtract
from ravenlab.tuning.reproduction.texts import Words, judge, read_claims

HORIZON = 1_000_000
DECADES = tuple(10**power for power in range(1, 7))  # steps between which the regret per step is measured
MAX_EXTRAPOLATION = 1e15  # largest T at which the crossing of a tail and a bound is reported
CHECKPOINTS = tuple(sorted({round(10 ** (quarter / 4)) for quarter in range(4, 25)}))  # four steps per decade
RAVEN_REPLICATIONS = 160
"""Replications of RAVEN-UCB at the default precision: few have a linear tail, and their share is estimated."""

CONTROL_REPLICATIONS = 60  # replications of the other policies, whose regret varies little


@dataclass(frozen=True)
class FixedProblem:
    """Arms that never change."""

    name: str
    title: str
    means: tuple[float, ...]
    variances: tuple[float, ...]
    noise: str = "normal"

    @property
    def arms(self) -> int:
        """K."""
        return len(self.means)

    @property
    def gaps(self) -> list[float]:
        """Δ_k of every arm; 0 for the best arm."""
        return [max(self.means) - mean for mean in self.means]

    @property
    def smallest_gap(self) -> float:
        """Δ: the smallest loss of a step that does not pull the best arm."""
        return min(gap for gap in self.gaps if gap > 0.0)

    def scenario(self) -> Scenario:
        """The scenario that is played."""
        return Scenario(self.name, self.title, (FixedLevels(self.means, self.variances),), noise=self.noise)


def _spaced(low: float, high: float, count: int) -> tuple[float, ...]:
    return tuple(float(f"{value:.12g}") for value in np.linspace(low, high, count))


_THETA = _spaced(0.8, 0.95, 10)

PROBLEMS = {
    problem.name: problem
    for problem in (
        FixedProblem("gaussian", "ten Gaussian arms", _spaced(0.3, 0.8, 10), _spaced(0.01, 0.09, 10)),
        FixedProblem("bernoulli", "ten Bernoulli arms", _THETA, tuple(p * (1.0 - p) for p in _THETA), "bernoulli"),
        FixedProblem("two-arms", "two Gaussian arms", (0.5, 0.6), (0.09, 0.09)),
    )
}


@dataclass(frozen=True)
class PolicySetting:
    """A policy with its parameters."""

    name: str
    title: str
    policy: str
    params: Mapping[str, Value]
    replications: int
    protocols: tuple[str, ...]
    """The protocols under which it is played."""


SETTINGS = {
    setting.name: setting
    for setting in (
        PolicySetting(
            "raven-published",
            "RAVEN-UCB, α₀ 0.5, β₀ 1, ε 10⁻⁶",
            "raven-ucb",
            {"alpha0": 0.5, "beta0": 1.0, "epsilon": 1e-6},
            RAVEN_REPLICATIONS,
            ("published",),
        ),
        PolicySetting(
            "raven-defined",
            "RAVEN-UCB, α₀ 1, β₀ 1, ε 0.1",
            "raven-ucb",
            {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1},
            RAVEN_REPLICATIONS,
            ("defined",),
        ),
        PolicySetting("ucb1", "UCB1", "ucb1", {}, CONTROL_REPLICATIONS, PROTOCOLS),
        PolicySetting("ucb-v", "UCB-V", "ucb-v", {}, CONTROL_REPLICATIONS, PROTOCOLS),
    )
}
"""RAVEN-UCB with the parameters of the paper's comparison and with our defaults, both with the unbiased variance that
the proof assumes; UCB1 and UCB-V are controls."""


def gap_dependent(problem: FixedProblem, horizon: float) -> float:
    """The bound of the paper's appendix: the sum of 16·σ²·ln T / Δ over the suboptimal arms."""
    pairs = zip(problem.variances, problem.gaps, strict=True)
    return sum(16.0 * variance * log(horizon) / gap for variance, gap in pairs if gap > 0.0)


def gap_independent(problem: FixedProblem, horizon: float) -> float:
    """The paper's gap-independent bound with the constant of its appendix: sqrt(4·σ²max·K·T·ln T).

    >>> round(gap_independent(PROBLEMS["two-arms"], 1_000_000))
    3154
    """
    return sqrt(4.0 * max(problem.variances) * problem.arms * horizon * log(horizon))


def ucb1_bound(problem: FixedProblem, horizon: float) -> float:
    """Theorem 1 of Auer, Cesa-Bianchi and Fischer (2002): 8·Σ ln T / Δ + (1 + π²/3)·Σ Δ.

    It is proven for rewards in [0, 1], and by the same inequality for Gaussian rewards with σ² up to 1/4.

    >>> round(ucb1_bound(PROBLEMS["two-arms"], 1_000_000), 1)
    1105.7
    """
    gaps = [gap for gap in problem.gaps if gap > 0.0]
    return sum(8.0 * log(horizon) / gap for gap in gaps) + (1.0 + np.pi**2 / 3.0) * sum(gaps)


BOUNDS: dict[str, Callable[[FixedProblem, float], float]] = {
    "gap-dependent": gap_dependent,
    "gap-independent": gap_independent,
    "ucb1": ucb1_bound,
}


def find_crossing(bound: Callable[[float], float], regret: float, rate: float) -> float | None:
    """Find the T beyond the horizon at which a linear tail crosses a bound; None if it does not up to 10¹⁵."""
    low = float(HORIZON)
    high = MAX_EXTRAPOLATION
    if regret + rate * (high - HORIZON) < bound(high):
        return None
    for _ in range(200):
        middle = sqrt(low * high)
        if regret + rate * (middle - HORIZON) < bound(middle):
            low = middle
        else:
            high = middle
    return high


def assumption_sides(t: float, params: Mapping[str, Value], sigma: float) -> dict[str, float]:
    """The proof's assumption: α·sqrt(ln t) + β₀·σ (with α₀ as written, α_t as played) equals 2·σ·sqrt(ln t).

    >>> sides = assumption_sides(1e6, {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1}, 0.3)
    >>> [round(value, 3) for value in sides.values()]
    [4.017, 0.569, 2.23]
    """
    alpha0, beta0, epsilon = (float(params[name]) for name in ("alpha0", "beta0", "epsilon"))
    root = sqrt(log(t))
    return {
        "written": alpha0 * root + beta0 * sigma,
        "played": alpha0 * sqrt(log(t + 1.0)) / log(t + epsilon) + beta0 * sigma,
        "required": 2.0 * sigma * root,
    }


def make_pieces(context: RunContext) -> list[RunPiece]:
    """One piece per problem and policy."""
    return [
        RunPiece(
            f"bounds/{problem.name}/{setting.name}",
            0.04 * setting.replications,
            partial(_run, problem=problem, setting=setting),
        )
        for problem in PROBLEMS.values()
        for setting in list_settings(context)
    ]


def list_settings(context: RunContext) -> list[PolicySetting]:
    """The policies of the requested protocols."""
    return [setting for setting in SETTINGS.values() if set(setting.protocols) & set(context.protocols)]


def _run(context: RunContext, problem: FixedProblem, setting: PolicySetting) -> PieceData:
    regret = context.simulate_regret(
        setting.policy,
        problem.scenario(),
        horizon=HORIZON,
        arms=problem.arms,
        replications=context.count(setting.replications, least=2),
        params=setting.params,
        checkpoints=CHECKPOINTS,
    )
    at_decades = regret[:, [CHECKPOINTS.index(step) for step in DECADES]]
    return {
        "regret": [list(level_interval(sample, context.seed)) for sample in regret.T],
        **_measure_rates(at_decades, problem, context.seed),
        "replications": len(regret),
    }


def _measure_rates(regret: Floats, problem: FixedProblem, seed: int) -> dict[str, Any]:
    """Regret per step in each decade, its ratio to the preceding decade, and the runs that lost the best arm.

    A run that never pulls the best arm in the last decade loses at least the smallest gap per step.
    """
    per_step = (np.diff(regret, axis=1) / np.diff(DECADES)).T
    ratios: list[list[float] | None] = [None]
    for before, now in pairwise(per_step):
        if before.mean() > 0.0:
            value, low, high = relative_interval(now, before, seed)
            ratios.append([1.0 + value, max(0.0, 1.0 + low), 1.0 + high])
        else:
            ratios.append(None)
    return {
        "rates": [list(level_interval(sample, seed)) for sample in per_step],
        "ratios": ratios,
        "lost": int((per_step[-1] > problem.smallest_gap * (1.0 - 1e-9)).sum()),
    }


CLAIMS = read_claims("bounds")

SIGMAS = (0.1, 0.2, 0.3)  # standard deviations for which the proof's assumption is evaluated

Tables = Mapping[str, DataFrame]


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """Regret by T, the bounds, the rate of each decade, linear tails, and the proof's assumption."""
    regrets = []
    rates = []
    tails = []
    for problem in PROBLEMS.values():
        for setting in list_settings(context):
            data = pieces[f"bounds/{problem.name}/{setting.name}"]
            key = {"problem": problem.name, "setting": setting.name, "title": setting.title}
            for step, regret in zip(CHECKPOINTS, data["regret"], strict=True):
                regrets.append(
                    {**key, "T": step, "replications": data["replications"], **interval_columns("regret", regret)}
                )
            for (start, end), rate, ratio in zip(pairwise(DECADES), data["rates"], data["ratios"], strict=True):
                intervals = interval_columns("rate", rate) | interval_columns("ratio", ratio or [None] * 3)
                rates.append({**key, "from": start, "to": end, **intervals})
            tails.append({**key, **_tail_columns(problem, data)})
    tables = {
        "arms": make_table(row for problem in PROBLEMS.values() for row in _arm_rows(problem)),
        "regret": make_table(regrets),
        "bounds": make_table(
            {"problem": problem.name, "bound": name, "T": step, "value": bound(problem, step)}
            for problem in PROBLEMS.values()
            for name, bound in BOUNDS.items()
            for step in CHECKPOINTS
        ),
        "rates": make_table(rates),
        "tails": make_table(tails),
        "assumption": make_table(
            {"setting": setting.name, "title": setting.title, "sigma": sigma, "t": step}
            | assumption_sides(step, setting.params, sigma)
            for setting in list_settings(context)
            if setting.policy == "raven-ucb"
            for sigma in SIGMAS
            for step in CHECKPOINTS
        ),
    }
    verdicts = [
        verdict
        for protocol in context.protocols
        for verdict in (
            _judge_assumption(tables, protocol),
            _judge_order(tables, protocol, "gap-dependent", with_constant=True),
            _judge_order(tables, protocol, "gap-independent", with_constant=False),
            _judge_tighter(tables, protocol),
        )
    ]
    return ExperimentResult(tables, {"horizon": HORIZON}, verdicts)


def _arm_rows(problem: FixedProblem) -> list[dict[str, Any]]:
    values = zip(problem.means, problem.variances, problem.gaps, strict=True)
    key = {"problem": problem.name, "problem_title": problem.title}
    return [
        {**key, "arm": arm, "mean": mean, "variance": variance, "gap": gap}
        for arm, (mean, variance, gap) in enumerate(values, start=1)
    ]


def _tail_columns(problem: FixedProblem, data: PieceData) -> dict[str, Any]:
    """The start of a linear tail, the share of runs that lost the best arm, and the crossings with the bounds."""
    tail = find_tail([None if ratio is None else Interval(*ratio) for ratio in data["ratios"]])
    out: dict[str, Any] = {
        "tail_from": None if tail is None else DECADES[tail],
        "last_rate": data["rates"][-1][0],
        **interval_columns("lost", measure_share(data["lost"], data["replications"])),
    }
    for name, bound in BOUNDS.items():
        where, how = _find_crossing(partial(bound, problem), data, tail is not None)
        column = f"crosses_{name.replace('-', '_')}"
        out |= {column: where, f"{column}_how": how}
    return out


def _find_crossing(bound: Callable[[float], float], data: PieceData, has_tail: bool) -> tuple[float | None, str]:
    """The T from which the mean regret is above a bound: measured, or extrapolated from a linear tail."""
    above = [mean > bound(step) for step, (mean, _, _) in zip(CHECKPOINTS, data["regret"], strict=True)]
    if above[-1]:
        first = max((i for i, is_above in enumerate(above) if not is_above), default=-1) + 1
        return float(CHECKPOINTS[first]), "measured"
    if not has_tail:
        return None, "not crossed"
    where = find_crossing(bound, data["regret"][-1][0], data["rates"][-1][0])
    return where, "not crossed" if where is None else "extrapolated"


def _judge_assumption(tables: Tables, protocol: str) -> ClaimResult:
    rows = [
        {**row, "ratio": row["played"] / row["required"]}
        for row in to_records(select(tables["assumption"], setting=f"raven-{protocol}"))
    ]
    low, high = (choose(rows, key=lambda row: row["ratio"]) for choose in (min, max))
    return judge(
        CLAIMS["bounds-assumption"],
        protocol,
        Interval(low["ratio"], low["ratio"], low["ratio"]),
        [row["ratio"] for row in rows],
        low=low,
        high=high,
        written=[row["written"] / row["required"] for row in rows],
    )


def _judge_order(tables: Tables, protocol: str, bound: str, with_constant: bool) -> ClaimResult:
    """Judge a bound in all problems; `with_constant` if its constant is claimed too, not only its order."""
    setting = f"raven-{protocol}"
    column = f"crosses_{bound.replace('-', '_')}"
    tails = to_records(select(tables["tails"], setting=setting))
    falling = []
    above = []
    ends = {}
    for name in PROBLEMS:
        rates = to_records(select(tables["rates"], problem=name, setting=setting))
        ratios = [None if row["ratio"] is None else read_measurement(row, "ratio") for row in rates]
        falling.append(is_still_falling(ratios))
        regrets = [
            read_measurement(row, "regret")
            for row in to_records(select(tables["regret"], problem=name, setting=setting))
        ]
        values = select(tables["bounds"], problem=name, bound=bound)["value"].tolist()
        is_above = any(regret.low > value for regret, value in zip(regrets, values, strict=True))
        above.append(with_constant and is_above)
        ends[name] = Interval(*(limit / values[-1] for limit in regrets[-1]))
    worst = max(ends, key=lambda name: ends[name].mean)
    tail = next(row for row in tails if row["problem"] == worst)
    has_tail = [row["tail_from"] is not None for row in tails]
    return judge(
        CLAIMS[f"bounds-{bound}"],
        protocol,
        ends[worst],
        has_tail,
        falling,
        above,
        tails=sum(has_tail),
        problems=len(tails),
        title=PROBLEMS[worst].title,
        tail=tail,
        horizon=HORIZON,
        crossing=tail[column],
        how=tail[f"{column}_how"],
    )


def _judge_tighter(tables: Tables, protocol: str) -> ClaimResult:
    """A policy that loses more per step in the long run cannot have a tighter bound."""
    last = select(tables["rates"], to=HORIZON)
    raven, ucb1 = (
        {row["problem"]: row for row in to_records(select(last, setting=setting))}
        for setting in (f"raven-{protocol}", "ucb1")
    )
    saved = {
        name: subtract(read_measurement(ucb1[name], "rate"), read_measurement(raven[name], "rate")) for name in raven
    }
    worst = min(saved, key=lambda name: saved[name].mean)
    bounds = select(tables["bounds"], problem=worst, T=HORIZON)
    return judge(
        CLAIMS["bounds-tighter"],
        protocol,
        saved[worst],
        0.0,
        list(saved.values()),
        title=PROBLEMS[worst].title,
        raven=raven[worst],
        ucb1=ucb1[worst],
        claimed=select_row(bounds, bound="gap-dependent")["value"],
        proven=select_row(bounds, bound="ucb1")["value"],
        regret=select_row(tables["regret"], problem=worst, setting=f"raven-{protocol}", T=HORIZON)["regret"],
    )


SETTING_NAMES = {
    "raven-published": "RAVEN-UCB, as published",
    "raven-defined": "RAVEN-UCB, as defined",
    "ucb1": "UCB1",
    "ucb-v": "UCB-V",
}

COLORS = {"raven-published": style.VERMILION, "raven-defined": style.BLUE, "ucb1": style.GREEN, "ucb-v": style.PINK}
INDICES = {name: index for index, name in enumerate(COLORS)}

BOUND_LINES = {
    "gap-dependent": ("claimed: Σ 16·σ²·ln T / Δ", "solid"),
    "gap-independent": ("claimed: sqrt(4·σ²max·K·T·ln T)", "dash"),
    "ucb1": ("proven for UCB1", "dot"),
}

SIGMA = 0.3  # standard deviation for which both sides of the assumption are plotted; their ratio is plotted for all
MARGIN = {"t": 60, "r": 16, "b": 130, "l": 60}  # margins with space for a legend of several lines


def plot_figures(result: ExperimentResult, protocols: tuple[str, ...], words: Words) -> list[tuple[str, Figure]]:
    """Regret with its bounds in three problems, the rates, and both sides of the assumption."""
    tables = result.tables
    return [
        *((f"bounds-{problem}", _plot_regret(tables, problem, words)) for problem in PROBLEMS),
        ("bounds-rates", _plot_rates(tables, words)),
        ("bounds-assumption", _plot_assumption(tables["assumption"], words)),
    ]


def _plot_regret(tables: Mapping[str, DataFrame], problem: str, words: Words) -> Figure:
    """Measured regret against T with the bounds."""
    regret, bounds = (select(tables[name], problem=problem) for name in ("regret", "bounds"))
    traces: list[PlotlyTrace] = []
    for name, (label, dash) in BOUND_LINES.items():
        rows = select(bounds, bound=name)
        traces.append(make_guide_line(rows["T"].tolist(), rows["value"].tolist(), label, dash))
    for setting in unique(regret, "setting"):
        rows = select(regret, setting=setting)
        x, y, low, high = (rows[name].tolist() for name in ("T", "regret", "regret_low", "regret_high"))
        positive = [max(value, 0.02 * middle) for value, middle in zip(low, y, strict=True)]  # a log axis has no zero
        name = rows["title"].iloc[0]
        traces += make_interval_line(x, y, positive, high, name, COLORS[setting], INDICES[setting])
    return style.make_figure(
        traces,
        *words("regret", problem=PROBLEMS[problem]),
        height=540,
        xaxis=_step_axis("horizon T (log scale)", regret["T"].tolist()),
        yaxis=style.make_axis("mean regret", "log", style.choose_log_ticks([*regret["regret"], *bounds["value"]])),
        margin=MARGIN,
    )


def _step_axis(title: str, values: list[int]) -> dict[str, Any]:
    """A log axis over steps with powers of ten."""
    ticks = style.choose_log_ticks(values) or []
    return style.make_axis(title, "log", ticks) | {"ticktext": [format_approximate(tick) for tick in ticks]}


def _plot_rates(tables: Mapping[str, DataFrame], words: Words) -> Figure:
    """Regret per step by decade, one panel per problem."""
    panels = []
    parts = []
    notes = []
    for (problem, fixed), domain in zip(PROBLEMS.items(), style.stack_panels(len(PROBLEMS), gap=0.08), strict=True):
        shown = select(tables["rates"], problem=problem)
        traces: list[PlotlyTrace] = []
        for setting in unique(shown, "setting"):
            rows = [row for row in to_records(select(shown, setting=setting)) if row["rate"] > 0.0]
            if not rows:
                continue
            x = [sqrt(row["from"] * row["to"]) for row in rows]
            y = [row["rate"] for row in rows]
            low = [max(row["rate_low"], 0.05 * row["rate"]) for row in rows]
            high = [row["rate_high"] for row in rows]
            traces += make_interval_line(x, y, low, high, rows[0]["title"], COLORS[setting], INDICES[setting])
            parts.append(f"{fixed.title}, {rows[0]['title']}: {format_number(y[-1])}")
        values = [value for value in shown["rate"] if value > 0.0]
        axis = style.make_axis("regret per step", "log", style.choose_log_ticks(values, 5))
        panels.append(([*traces, _plot_logarithmic(shown)], axis))
        notes.append(_panel_title(fixed.title, domain[1]))
    return style.make_stacked_figure(
        panels,
        _step_axis("step t (middle of the decade)", [10, 1_000_000]),
        *words("rates", parts=parts),
        gap=0.08,
        height=780,
        annotations=notes,
        margin=MARGIN,
    )


def _panel_title(text: str, y: float) -> dict[str, Any]:
    """The name of a panel, above its upper right corner."""
    return make_note(f"<b>{style.escape_text(text)}</b>", 1, y, "right")


def _plot_logarithmic(rates: DataFrame) -> PlotlyTrace:
    """The slope of growth like ln T, through the last rate of UCB1."""
    rows = to_records(select(rates, setting="ucb1"))
    x = [sqrt(row["from"] * row["to"]) for row in rows][-2:]
    y = [rows[-1]["rate"] * x[-1] / step for step in x]
    return make_guide_line(x, y, "growth like ln T: tenfold per decade")


def _plot_assumption(assumption: DataFrame, words: Words) -> Figure:
    """Both sides of the proof's assumption (above) and their ratio (below)."""
    settings, sigmas, steps = (unique(assumption, name) for name in ("setting", "sigma", "t"))
    required = select(assumption, setting=settings[0], sigma=SIGMA)["required"].tolist()
    traces: list[PlotlyTrace] = [make_guide_line(steps, required, f"required: 2·σ·sqrt(ln t), σ = {SIGMA:g}", "solid")]
    for setting in settings:
        rows = select(assumption, setting=setting, sigma=SIGMA)
        title = rows["title"].iloc[0]
        color = COLORS[setting]
        played = rows["played"].tolist()
        written = rows["written"].tolist()
        traces.append(make_line(steps, played, f"played, {title}", color, 0))
        traces.append(make_line(steps, written, f"written in the proof, {title}", color, 2, opacity=0.6))
        for index, sigma in enumerate(sigmas):
            sides = select(assumption, setting=setting, sigma=sigma)
            ratio = (sides["played"] / sides["required"]).tolist()
            name = f"played / required, σ = {sigma:g}, {title}"
            traces.append(make_line(steps, ratio, name, color, index, yaxis="y2", mode="lines", showlegend=False))
    traces.append(
        make_guide_line([steps[0], steps[-1]], [1.0, 1.0], "as assumed", "dash", yaxis="y2", showlegend=False)
    )
    for index, sigma in enumerate(sigmas):
        traces.append(
            make_guide_line([], [], f"below: σ = {sigma:g}", style.DASHES[index]) | {"x": [None], "y": [None]}
        )
    notes = [_panel_title(f"both sides, σ = {SIGMA:g}", 1.0), _panel_title("played / required (assumed to be 1)", 0.43)]
    return style.make_figure(
        traces,
        *words("assumption"),
        height=640,
        annotations=notes,
        xaxis=_step_axis("step t", steps) | {"anchor": "y2"},
        yaxis=style.make_axis("value", domain=[0.54, 1], rangemode="tozero"),
        yaxis2=style.make_axis("played / required", domain=[0, 0.43], rangemode="tozero"),
        margin={**MARGIN, "b": 150},
    )


CONSTANTS = {
    "names": SETTING_NAMES,
    "problems": list(PROBLEMS.values()),
    "titles": {name: problem.title for name, problem in PROBLEMS.items()},
}

EXPERIMENT = Experiment("bounds", make_pieces, evaluate, plot_figures, CONSTANTS, claims=CLAIMS)
