"""Figure 3 and the six optima of Section 4.2: 4 × 4 grids over α₀ and β₀, all cells on the same worlds.

As published, no change happens before t = 5,000, so at T = 1,000 all three scenarios are the same stationary problem.
As defined, drift, variance growth and blips happen within the horizon.

The authors ran ten separate replications per cell. Cells are therefore resampled independently, ten worlds each; the
cell with the smallest of the sixteen means is selected, and its mean is what would be printed.
"""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.common.text import format_number, format_p_value, format_range
from ravenlab.dashboards.figures import plot_sensitivity_lines, style
from ravenlab.dashboards.figures.distributions import MEAN_MARKER
from ravenlab.dashboards.figures.grid import outline_cells
from ravenlab.dashboards.figures.marks import MARKS
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.environments.streams import Stream, generator
from ravenlab.environments.world import Floats
from ravenlab.studies.paper.claims import Claim, ClaimResult
from ravenlab.studies.paper.criteria import Cell, combine_probabilities, two_sided
from ravenlab.studies.paper.numbers import Optimum, claimed_alpha0, claimed_beta0, played_scenario, read_optima
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.registry import PAPER_VALUES
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.statistics.intervals import indistinguishable, level_interval, relative_interval
from ravenlab.studies.tables import make_table, select, to_records
from ravenlab.tuning.grid_run import grid_problem, play_cells
from ravenlab.tuning.reproduction.context import Experiment, PieceData, RunContext, RunPiece
from ravenlab.tuning.reproduction.figures import DotSeries, combine_panels, format_worlds, plot_dots
from ravenlab.tuning.reproduction.measurements import interval_columns, read_measurement
from ravenlab.tuning.reproduction.texts import Row, Words, judge, read_claims, read_texts, where
from ravenlab.tuning.workers.problem import Evaluator

PAPER_REPLICATIONS = 10  # replications per cell in the paper
RESAMPLES = 10_000
CELLS = [(alpha0, beta0) for alpha0 in PAPER_VALUES for beta0 in PAPER_VALUES]  # in the order of `GridSpec.cells`

CENTRAL_95 = (0.025, 0.5, 0.975)
CENTRAL_997 = (0.00135, 0.99865)  # three standard errors on either side, if the distribution were normal
BOX = (0.05, 0.25, 0.5, 0.75, 0.95)


def make_pieces(context: RunContext) -> list[RunPiece]:
    """One piece per grid."""
    return [
        RunPiece(
            piece_key(protocol, optimum),
            1.8 if optimum.horizon <= 1000 else 4.2,
            partial(play_grid, protocol=protocol, optimum=optimum),
        )
        for protocol in context.protocols
        for optimum in read_optima()
    ]


def piece_key(protocol: str, optimum: Optimum) -> str:
    """Key of the piece of one grid."""
    return f"figure3/{protocol}/{optimum.scenario}-T{optimum.horizon}"


def count_worlds(context: RunContext, horizon: int) -> int:
    """Worlds of a grid: enough to distinguish its cells; long horizons cost more."""
    return context.count(4000 if horizon <= 1000 else 2000, least=40)


def make_spec(protocol: str, optimum: Optimum, worlds: int, seed: int = 0) -> GridSpec:
    """The grid in which the paper found an optimum."""
    return GridSpec(
        scenario=played_scenario(protocol, optimum.scenario),
        horizon=optimum.horizon,
        replications=worlds,
        seed=seed,
        alpha0=PAPER_VALUES,
        beta0=PAPER_VALUES,
    )


def play_grid(context: RunContext, protocol: str, optimum: Optimum) -> PieceData:
    """Everything that tables and verdicts need of one grid, cells in the order of `GridSpec.cells`."""
    worlds = count_worlds(context, optimum.horizon)
    spec = make_spec(protocol, optimum, worlds, context.seed)
    regrets = play_cells(spec, Evaluator(grid_problem(spec), context.workers))
    printed = CELLS.index(optimum.cell)
    lowest = regrets.mean(axis=1).argmin()
    return {
        "worlds": worlds,
        "mean": regrets.mean(axis=1).tolist(),
        "stderr": (regrets.std(axis=1, ddof=1) / worlds**0.5).tolist(),
        "among_best": indistinguishable(regrets, context.seed).tolist(),
        "boxes": np.quantile(regrets, BOX, axis=1).T.tolist(),
        "printed_cell": list(level_interval(regrets[printed], context.seed)),
        "printed_cost": list(relative_interval(regrets[printed], regrets[lowest], context.seed)),
        "sensitivity": _measure_sensitivity(regrets, spec, context.seed),
        **resample(regrets, optimum.regret, context.seed),
        "regret_hash": hashlib.sha256(regrets.tobytes()).hexdigest(),
    }


def resample(regrets: Floats, printed: float, seed: int) -> dict[str, Any]:
    """Simulate the paper's design by resampling regrets [cells, R].

    `selected`: how often each cell has the smallest mean; `cell_mean`: distribution of each cell's mean; `smallest`
    and `smallest_997`: distribution of the smallest mean; `below` and `above`: how often it is at most or at least the
    printed regret.
    """
    rng = generator(seed, Stream.GRID, 0, "few replications")
    shape = (RESAMPLES, PAPER_REPLICATIONS)
    means = np.stack([cell[rng.integers(0, cell.size, shape)].mean(axis=1) for cell in regrets])
    smallest = means.min(axis=0)
    return {
        "selected": (np.bincount(means.argmin(axis=0), minlength=len(regrets)) / RESAMPLES).tolist(),
        "cell_mean": np.quantile(means, CENTRAL_95, axis=1).T.tolist(),
        "smallest": np.quantile(smallest, CENTRAL_95).tolist(),
        "smallest_997": np.quantile(smallest, CENTRAL_997).tolist(),
        "below": float(np.mean(smallest <= printed)),
        "above": float(np.mean(smallest >= printed)),
    }


def _measure_sensitivity(regrets: Floats, spec: GridSpec, seed: int) -> list[dict[str, Any]]:
    """Excess regret of the worst over the best value of α₀ and of β₀, with the other parameter at its best value.

    Values are selected on one half of the worlds and compared on the other half, to avoid selection bias.
    """
    cells = np.arange(len(regrets)).reshape(len(spec.alpha0), len(spec.beta0))
    selection, held_out = np.array_split(regrets, [regrets.shape[1] // 2], axis=1)
    means = selection.mean(axis=1)
    alpha, beta = divmod(int(means.argmin()), len(spec.beta0))
    out = []
    for param, line, other in (
        ("alpha0", cells[:, beta], spec.beta0[beta]),
        ("beta0", cells[alpha, :], spec.alpha0[alpha]),
    ):
        best = int(line[means[line].argmin()])
        worst = int(line[means[line].argmax()])
        values = {"best": spec.cells()[best][param], "worst": spec.cells()[worst][param]}
        cost = relative_interval(held_out[worst], held_out[best], seed)
        out.append({"param": param, "other": other, **values, "cost": list(cost)})
    return out


OPTIMA_GROUP = "The six optima of Figure 3"
QUANTILE_COLUMNS = ("q05", "q25", "q50", "q75", "q95")
CELL_MEAN_COLUMNS = ("cell_mean_low", "cell_mean", "cell_mean_high")
SMALLEST_COLUMNS = ("smallest_low", "smallest", "smallest_high")


def format_cell(row: Row) -> str:
    """Format the parameters of a cell.

    >>> format_cell({"alpha0": 0.5, "beta0": 10.0})
    'α₀ = 0.5, β₀ = 10'
    """
    return f"α₀ = {row['alpha0']:g}, β₀ = {row['beta0']:g}"


def _optimum_claims() -> Iterator[Claim]:
    """Two claims per optimum: the cell and its regret."""
    reasons = read_texts("figure3")["reasons"]
    place = "Section 4.2, Figure 3"
    for optimum in read_optima():
        where = f"{optimum.name}, T = {optimum.horizon:,}"
        prefix = optimum.claim_prefix
        cell = f"{where}: the best cell is {format_cell(vars(optimum))}."
        regret = f"{where}: the regret of the best cell is {optimum.regret:g}."
        yield Claim(f"{prefix}-cell", place, cell, None, "%", OPTIMA_GROUP, "cell", reasons["cell"])
        yield Claim(
            f"{prefix}-regret", place, regret, optimum.regret, "regret", OPTIMA_GROUP, "smallest", reasons["regret"]
        )


CLAIMS = read_claims("figure3") | {claim.key: claim for claim in _optimum_claims()}


def format_share(value: float) -> str:
    """Format a share between 0 and 1 in percent; a small share is not rounded to zero.

    >>> format_share(0.2193), format_share(0.004), format_share(0.0)
    ('22 %', 'less than 1 %', '0 %')
    """
    return "less than 1 %" if 0.0 < value < 0.01 else f"{100.0 * value:.0f} %"


CONSTANTS: dict[str, Any] = {
    "replications": PAPER_REPLICATIONS,
    "cell": format_cell,
    "share": format_share,
    "probability": format_p_value,
}


@dataclass(frozen=True)
class PlayedGrid:
    """The cells of one grid, as rows of the table, and the optimum that the paper prints for it."""

    protocol: str
    optimum: Optimum
    cells: list[Row]

    @property
    def printed(self) -> Row:
        """The printed cell."""
        return next(cell for cell in self.cells if cell["printed"])

    @property
    def lowest(self) -> Row:
        """The cell with the lowest mean."""
        return min(self.cells, key=lambda cell: float(cell["regret"]))

    @cached_property
    def among_best(self) -> set[Cell]:
        """Cells that are statistically indistinguishable from the lowest."""
        return {(cell["alpha0"], cell["beta0"]) for cell in self.cells if cell["among_best"]}

    def best_values(self, param: str) -> list[float]:
        """Values of α₀ or β₀ among the best, in ascending order."""
        return sorted({cell[param] for cell in self.cells if cell["among_best"]})

    @property
    def title(self) -> str:
        """Scenario and horizon."""
        return f"{self.optimum.scenario}, T = {self.optimum.horizon:,}"


def list_grids(cells: Sequence[Row], protocol: str) -> list[PlayedGrid]:
    """List the grids of a protocol in the order of the paper, from the table of cells."""
    return [
        PlayedGrid(
            protocol, optimum, where(cells, protocol=protocol, scenario=optimum.scenario, horizon=optimum.horizon)
        )
        for optimum in read_optima()
    ]


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """Cells, optima and sensitivities of all grids, and the verdicts."""
    played = [
        (protocol, optimum, pieces[piece_key(protocol, optimum)])
        for protocol in context.protocols
        for optimum in read_optima()
    ]
    cells = make_table(row for grid in played for row in _cell_rows(*grid))
    sensitivity = make_table(row for grid in played for row in _sensitivity_rows(*grid))
    optima = []
    verdicts = []
    joint = {}
    one_problem = {}
    for protocol in context.protocols:
        grids = list_grids(to_records(cells), protocol)
        rows = [_optimum_row(*grid) for grid in played if grid[0] == protocol]
        results = [[_judge_cell(grid, row), _judge_regret(grid, row)] for grid, row in zip(grids, rows, strict=True)]
        optima += [
            {**row, "cell_verdict": cell.verdict, "regret_verdict": regret.verdict}
            for row, (cell, regret) in zip(rows, results, strict=True)
        ]
        horizons = sorted({grid.optimum.horizon for grid in grids})
        short = [grid for grid in grids if grid.optimum.horizon == horizons[0]]
        hashes = [pieces[piece_key(protocol, grid.optimum)]["regret_hash"] for grid in short]
        joint[protocol] = combine_probabilities([row["probability"] for row in rows])
        one_problem[protocol] = len(set(hashes)) == 1
        verdicts += [
            *(result for pair in results for result in pair),
            _judge_alpha(protocol, grids, horizons[0], horizons[-1]),
            _judge_beta(protocol, grids),
            _judge_problems(protocol, short, hashes),
            _judge_sensitivity(protocol, where(to_records(sensitivity), protocol=protocol)),
            _judge_jointly(protocol, rows, joint[protocol]),
        ]
    return ExperimentResult(
        tables={"cells": cells, "optima": make_table(optima), "sensitivity": sensitivity},
        facts={
            "replications": PAPER_REPLICATIONS,
            "resamples": RESAMPLES,
            "joint_probability": joint,
            "one_problem": one_problem,
        },
        verdicts=verdicts,
    )


def _grid_columns(protocol: str, optimum: Optimum, data: PieceData) -> dict[str, Any]:
    """The first columns of every table."""
    return {
        "protocol": protocol,
        "scenario": optimum.scenario,
        "world": played_scenario(protocol, optimum.scenario),
        "horizon": optimum.horizon,
        "worlds": data["worlds"],
    }


def _cell_rows(protocol: str, optimum: Optimum, data: PieceData) -> Iterator[dict[str, Any]]:
    for index, (alpha0, beta0) in enumerate(CELLS):
        yield {
            **_grid_columns(protocol, optimum, data),
            "alpha0": alpha0,
            "beta0": beta0,
            "regret": data["mean"][index],
            "stderr": data["stderr"][index],
            "among_best": data["among_best"][index],
            "selected": data["selected"][index],
            "printed": (alpha0, beta0) == optimum.cell,
            **dict(zip(QUANTILE_COLUMNS, data["boxes"][index], strict=True)),
            **dict(zip(CELL_MEAN_COLUMNS, data["cell_mean"][index], strict=True)),
        }


def _optimum_row(protocol: str, optimum: Optimum, data: PieceData) -> dict[str, Any]:
    printed = CELLS.index(optimum.cell)
    lowest = data["mean"].index(min(data["mean"]))
    best_alpha0, best_beta0 = CELLS[lowest]
    return {
        **_grid_columns(protocol, optimum, data),
        "alpha0": optimum.alpha0,
        "beta0": optimum.beta0,
        "printed_regret": optimum.regret,
        **interval_columns("regret", data["printed_cell"]),
        "stderr": data["stderr"][printed],
        **dict(zip(CELL_MEAN_COLUMNS, data["cell_mean"][printed], strict=True)),
        **dict(zip(SMALLEST_COLUMNS, data["smallest"], strict=True)),
        **dict(zip(("smallest_least", "smallest_most"), data["smallest_997"], strict=True)),
        "smallest_below_printed": data["below"],
        "probability": two_sided(data["below"], data["above"], RESAMPLES),
        "selected": data["selected"][printed],
        "among_best": data["among_best"][printed],
        "best_alpha0": best_alpha0,
        "best_beta0": best_beta0,
        "best_regret": data["mean"][lowest],
        **interval_columns("cost", data["printed_cost"]),
    }


def _sensitivity_rows(protocol: str, optimum: Optimum, data: PieceData) -> Iterator[dict[str, Any]]:
    for line in data["sensitivity"]:
        yield {**_grid_columns(protocol, optimum, data), **line, **interval_columns("cost", line["cost"])}


def _judge_cell(grid: PlayedGrid, row: Row) -> ClaimResult:
    return judge(
        CLAIMS[f"{grid.optimum.claim_prefix}-cell"],
        grid.protocol,
        read_measurement(row, "cost").scaled(100.0),
        row["among_best"],
        row["selected"],
        printed=grid.printed,
        lowest=grid.lowest,
        **CONSTANTS,
    )


def _judge_regret(grid: PlayedGrid, row: Row) -> ClaimResult:
    claim = CLAIMS[f"{grid.optimum.claim_prefix}-regret"]
    ours = read_measurement(row, "regret")
    evidence = row["printed_regret"], ours, row["smallest_least"], row["smallest_most"]
    return judge(claim, grid.protocol, ours, *evidence, row=row, **CONSTANTS)


def _judge_jointly(protocol: str, rows: Sequence[Row], joint: float) -> ClaimResult:
    least = min(rows, key=lambda row: float(row["probability"]))
    ours = Interval(joint, joint, joint)
    return judge(CLAIMS["figure3-optima-joint"], protocol, ours, joint, count=len(rows), least=least, **CONSTANTS)


def _judge_alpha(protocol: str, grids: Sequence[PlayedGrid], shorter: int, longer: int) -> ClaimResult:
    best = {(grid.optimum.scenario, grid.optimum.horizon): grid.best_values("alpha0") for grid in grids}
    scenarios = list(dict.fromkeys(scenario for scenario, _ in best))
    claimed, _ = claimed_alpha0()
    return judge(
        CLAIMS["figure3-alpha-grows"],
        protocol,
        None,
        [(best[name, shorter], best[name, longer]) for name in scenarios],
        shorter=shorter,
        longer=longer,
        changes=[(name, best[name, shorter], best[name, longer]) for name in scenarios],
        claimed=claimed,
        never=not any(claimed in best[name, shorter] for name in scenarios),
    )


def _judge_beta(protocol: str, grids: Sequence[PlayedGrid]) -> ClaimResult:
    claimed = claimed_beta0()
    covered = [grid for grid in grids if grid.optimum.scenario in claimed]
    best = [grid.best_values("beta0") for grid in covered]
    ranges = [claimed[grid.optimum.scenario] for grid in covered]
    return judge(
        CLAIMS["figure3-beta-volatility"],
        protocol,
        None,
        best,
        ranges,
        best=[(grid.title, values, *limits) for grid, values, limits in zip(covered, best, ranges, strict=True)],
    )


def _judge_problems(protocol: str, grids: Sequence[PlayedGrid], regret_hashes: list[str]) -> ClaimResult:
    """Judge whether the scenarios differ: they do not if all regrets are identical."""
    is_one = len(set(regret_hashes)) == 1
    best = [grid.among_best for grid in grids]
    return judge(
        CLAIMS["figure3-three-problems"],
        protocol,
        None,
        regret_hashes if is_one else best,
        rule="same" if is_one else "different",
        one_problem=is_one,
        horizon=grids[0].optimum.horizon,
        cells=len(CELLS),
        worlds=grids[0].cells[0]["worlds"],
        names=[grid.optimum.scenario for grid in grids],
        best=best,
        common=set.intersection(*best),
    )


def _judge_sensitivity(protocol: str, rows: Sequence[Row]) -> ClaimResult:
    """Judge both parameters; the number shown is that of β₀, which the paper plots."""
    beta, alpha = (max(where(rows, param=param), key=lambda row: float(row["cost"])) for param in ("beta0", "alpha0"))
    costs = [read_measurement(row, "cost") for row in rows]
    ours = read_measurement(beta, "cost").scaled(100.0)
    return judge(CLAIMS["figure3-insensitive"], protocol, ours, costs, alpha=alpha, beta=beta)


ARMS = 10
MAX_TICKS = 5
PRINTED_MARK = {"symbol": "star", "size": 15, "color": style.VERMILION, "line": {"color": "#000000", "width": 1}}
MARK_OFFSET = 0.2  # marks are above the center of a cell, numbers below it


def plot_figures(result: ExperimentResult, protocols: tuple[str, ...], words: Words) -> list[tuple[str, Figure]]:
    """The grids, and for the first protocol the printed optima and their sampling distribution."""
    cells = result.tables["cells"]
    optima = result.tables["optima"]
    figures = []
    for index, protocol in enumerate(protocols):
        grids = list_grids(to_records(cells), protocol)
        rows = to_records(select(optima, protocol=protocol))
        plots = {"lines": plot_lines(grids, rows), "heat-maps": plot_heat_maps(grids)}
        if index == 0:
            plots |= {"printed": plot_printed(rows), "selection": plot_selection(grids), "spread": plot_boxes(grids)}
        figures += [(f"figure3-{name}-{protocol}", figure) for name, figure in plots.items()]
    return figures


def plot_heat_maps(grids: Sequence[PlayedGrid]) -> Figure:
    """Mean regret of every cell of the six grids; each grid has its own log color scale."""
    panels = [(_panel_title(grid), _plot_cells(grid, "regret", "{:.3g}".format, math.log)) for grid in grids]
    lowest = "; ".join(
        f"{grid.title}: lowest {format_number(grid.lowest['regret'])} at {format_cell(grid.lowest)}" for grid in grids
    )
    return combine_panels(
        panels,
        _make_title("Mean regret over α₀ and β₀ (darker is higher)", grids),
        f"Six heat maps of the mean regret over α₀ and β₀, as {grids[0].protocol}, with the printed cell marked. "
        f"{lowest}.",
    )


def plot_lines(grids: Sequence[PlayedGrid], optima: Sequence[Row]) -> Figure:
    """The paper's Figure 3: regret against α₀ with one line per β₀, and the printed optimum."""
    panels = []
    parts = []
    for played, row in zip(grids, optima, strict=True):
        grid = _make_grid(played)
        figure = plot_sensitivity_lines(grid)
        printed = f"{row['printed_regret']:g}"
        ours = format_number(row["regret"])
        text = f"<b>The paper's optimum</b><br>{format_cell(row)}<br>printed regret {printed}, here {ours}"
        point = [row["alpha0"]], [row["printed_regret"]]
        figure.add_trace(style.make_markers(*point, "printed optimum", PRINTED_MARK, [text]))
        low = min(float(grid.mean.min()), row["printed_regret"])
        ticks = style.choose_log_ticks([0.9 * low, float(grid.mean.max())], MAX_TICKS)
        figure.update_layout(xaxis_title_text="α₀", yaxis=style.make_axis("mean regret", "log", ticks))
        panels.append((_panel_title(played), figure))
        parts.append(f"{played.title}: printed {printed}, here {ours}")
    return combine_panels(
        panels,
        _make_title("Mean regret against α₀, one line per β₀", grids),
        f"Six panels, as {grids[0].protocol}: regret against α₀ for each β₀, with the printed optimum. "
        f"{'; '.join(parts)}.",
    )


def plot_selection(grids: Sequence[PlayedGrid]) -> Figure:
    """The share of resamples, with the paper's replications per cell, that select each cell as the best."""
    panels = [(_panel_title(grid), _plot_cells(grid, "selected", _format_percent)) for grid in grids]
    parts = [f"{grid.title}: the printed cell {_format_percent(grid.printed['selected'])} %" for grid in grids]
    return combine_panels(
        panels,
        _make_title(f"How often {PAPER_REPLICATIONS} replications select each cell (%)", grids),
        f"Six heat maps of how often {PAPER_REPLICATIONS} replications per cell would select each cell as the best, as "
        f"{grids[0].protocol}. {'; '.join(parts)}.",
    )


def plot_printed(rows: Sequence[Row]) -> Figure:
    """The printed regret beside the mean of its cell and the distribution of the smallest of sixteen means."""
    tick = {"symbol": "line-ns-open", "size": 12, "color": style.GREY}
    diamond = {"symbol": "diamond", "size": 7, "color": style.ORANGE}
    circle = {"symbol": "circle", "color": style.BLUE}
    smallest = f"smallest of 16 means of {PAPER_REPLICATIONS}: median and 95 %"
    cell_mean = f"mean of {PAPER_REPLICATIONS} in the printed cell: median and 95 %"
    series = [
        DotSeries.from_rows("printed in the paper", rows, "printed_regret", PRINTED_MARK),
        DotSeries.from_rows(smallest, rows, "smallest", tick),
        DotSeries.from_rows(cell_mean, rows, "cell_mean", diamond),
        DotSeries.from_rows("mean of the printed cell, 95 %", rows, "regret", circle),
    ]
    limits = [value for dots in series for value in (*dots.low, *dots.high)]
    labels = [f"{row['scenario']}<br>T = {row['horizon']:,}" for row in rows]
    x_axis = style.make_axis("regret (reward units)", "log", style.choose_log_ticks(limits))
    title = "Printed regret and its sampling distribution"
    margin = {"t": 70, "r": 16, "b": 118, "l": 60}
    return plot_dots(labels, series, title, _describe_setting(rows), x_axis, margin=margin)


def plot_boxes(grids: Sequence[PlayedGrid]) -> Figure:
    """Regret of single worlds in the lowest and in the printed cell of each grid."""
    traces: list[PlotlyTrace] = []
    parts: list[str] = []
    for place, grid in enumerate(grids):
        for row, name, color, shift in (
            (grid.lowest, "lowest cell", style.BLUE, -0.18),
            (grid.printed, "printed cell", style.VERMILION, 0.18),
        ):
            legend = {"name": name, "legendgroup": name, "showlegend": place == 0}
            quantiles = [row[column] for column in QUANTILE_COLUMNS]
            traces.append(style.make_box(place + shift, quantiles, color, width=0.3, **legend))
            mean = format_number(row["regret"])
            median = format_number(row["q50"])
            text = (
                f"<b>{name}</b>: {format_cell(row)}<br>mean {mean}, median {median}<br>quartiles "
                f"{format_range(quantiles[1:4:2])}, 5 % to 95 %: {format_range(quantiles[::4])}"
            )
            look = {"legendgroup": name, "showlegend": False}
            traces.append(style.make_markers([row["regret"]], [place + shift], name, MEAN_MARKER, [text], **look))
            parts.append(f"{grid.title}, {name}: median {median}, mean {mean}")
    whiskers = [cell[name] for grid in grids for cell in grid.cells for name in ("q05", "q95")]
    return style.make_figure(
        traces,
        _make_title("Regret of single worlds", grids),
        f"Box plots, as {grids[0].protocol}, of the regret of single worlds: quartiles, whiskers from 5 % to 95 %. "
        f"{'; '.join(parts)}.",
        height=190 + 62 * len(grids),
        xaxis=style.make_axis("regret of one world (reward units)", "log", style.choose_log_ticks(whiskers)),
        yaxis=style.make_category_axis(
            [_panel_title(grid) for grid in grids], range=[len(grids) - 0.5, -0.5], showgrid=False
        ),
    )


def _make_grid(played: PlayedGrid) -> Grid:
    """The grid that was played, for the figures that grids share."""
    spec = make_spec(played.protocol, played.optimum, played.cells[0]["worlds"])
    mean, stderr, among_best = (
        np.array([cell[name] for cell in played.cells]).reshape(len(spec.alpha0), len(spec.beta0))
        for name in ("regret", "stderr", "among_best")
    )
    return Grid(spec, spec.study_name(), mean, stderr, among_best)


def _plot_cells(
    grid: PlayedGrid, column: str, text: Callable[[float], str], shade: Callable[[float], float] = float
) -> Figure:
    """A heat map of one column over α₀ and β₀, with the best cells outlined and the printed one marked."""
    shape = len(PAPER_VALUES), len(PAPER_VALUES)
    shades = np.array([shade(cell[column]) for cell in grid.cells])
    places = list(np.ndindex(*shape))
    heat_map: PlotlyTrace = {
        "type": "heatmap",
        "x": list(range(shape[0])),
        "y": list(range(shape[1])),
        "z": [style.round_numbers(row) for row in shades.reshape(shape).T],
        "text": np.array([_describe_cell(cell) for cell in grid.cells]).reshape(shape).T.tolist(),
        "colorscale": style.COLOR_SCALE,
        "reversescale": True,
        "showscale": False,
        "hovertemplate": style.HOVER_TEXT,
    }
    labels: PlotlyTrace = {
        "type": "scatter",
        "mode": "text",
        "x": [i for i, _ in places],
        "y": [j - MARK_OFFSET for _, j in places],
        "text": [text(cell[column]) for cell in grid.cells],
        "textfont": {"size": 11, "color": style.choose_text_colors(shades.tolist())},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    among_best = np.array([cell["among_best"] for cell in grid.cells]).reshape(shape)

    def mark(cell: Row, look: dict[str, Any], label: str) -> PlotlyTrace:
        i, j = places[grid.cells.index(cell)]
        return style.make_markers([i], [j + MARK_OFFSET], label, look, [f"{label}: {format_cell(cell)}"])

    axis = {"showgrid": False, "range": [-0.5, len(PAPER_VALUES) - 0.5]}
    ticks = [f"{value:g}" for value in PAPER_VALUES]
    return style.make_figure(
        [
            heat_map,
            *outline_cells(among_best, name="indistinguishable from the lowest cell"),
            labels,
            mark(grid.printed, MARKS["paper"], "best cell printed in the paper"),
            mark(grid.lowest, MARKS["lowest"] | {"color": "#000000"}, "lowest cell"),
        ],
        "",
        "",
        xaxis=style.make_category_axis(ticks, "α₀", **axis),
        yaxis=style.make_category_axis(ticks, "β₀", **axis),
    )


def _describe_cell(cell: Row) -> str:
    return (
        f"{format_cell(cell)}<br>"
        f"mean regret {format_number(cell['regret'])} ± {format_number(cell['stderr'])} (standard error)<br>"
        f"selected by {PAPER_REPLICATIONS} replications: {format_share(cell['selected'])}<br>"
        f"significantly worse than the lowest: {'no' if cell['among_best'] else 'yes'}"
    )


def _format_percent(share: float) -> str:
    return "<1" if 0 < share < 0.01 else f"{100 * share:.0f}"


def _panel_title(grid: PlayedGrid) -> str:
    return grid.title.replace(", ", "<br>")


def _make_title(main: str, grids: Sequence[PlayedGrid]) -> str:
    return style.format_title(main, *_describe_setting([grid.cells[0] for grid in grids]))


def _describe_setting(rows: Sequence[Row]) -> list[str]:
    return [f"raven-ucb, as {rows[0]['protocol']}", "ε = 0.1", f"K = {ARMS} arms", format_worlds(rows)]


EXPERIMENT = Experiment("figure3", make_pieces, evaluate, plot_figures, CONSTANTS, claims=CLAIMS)
