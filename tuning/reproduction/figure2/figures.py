"""Figures of the regret reduction and of the selection bias."""

from collections.abc import Mapping
from math import log10
from typing import Any, NamedTuple

from ravenlab.common.interval import Interval
from ravenlab.dashboards.figures.style import (
    BLUE,
    CHANGE_COLOR,
    GREEN,
    GREY,
    ORANGE,
    VERMILION,
    Figure,
    PlotlyTrace,
    fade,
    make_axis,
    make_error_bars,
    make_figure,
    make_shading,
)
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.tables import DataFrame, select, to_records
from ravenlab.tuning.reproduction.figure2.verdicts import CLAIMS, POINTS
from ravenlab.tuning.reproduction.figures import (
    HOVER_TEXT,
    make_guide_line,
    make_interval_line,
    make_markers,
    make_note,
)
from ravenlab.tuning.reproduction.measurements import format_measurement, read_measurement
from ravenlab.tuning.reproduction.texts import Words

TICKS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)


class LineStyle(NamedTuple):
    """Name and appearance of a line; its order selects dash and marker."""

    name: str
    color: str
    order: int
    band: tuple[str, str]
    """The columns of its band."""


LINES = {
    "published": LineStyle("as published (band: 90 % of runs)", ORANGE, 1, ("run_low", "run_high")),
    "defined": LineStyle("as defined (band: 95 %)", BLUE, 0, ("reduction_low", "reduction_high")),
    "tuned-ucb1": LineStyle("UCB1, c tuned (band: 95 %)", GREEN, 2, ("reduction_low", "reduction_high")),
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
    for key, style in LINES.items():
        rows = select(reduction, line=key)
        if len(rows):
            traces += _plot_line(rows, style)
    horizons = reduction["horizon"].tolist()
    above = CLAIMS["figure2-above-80"].printed_number
    limit = CLAIMS["figure2-84"].printed_number
    ends = [0.9 * min(horizons), 1.1 * max(horizons)]
    traces += [
        make_guide_line(ends, [limit] * 2, f"paper: converges to {limit:g} %", "longdash", VERMILION),
        make_guide_line(ends, [above] * 2, f"paper: all above {above:g} %", "dashdot", VERMILION),
    ]
    has_longer = max(horizons) > facts["longest"]
    return make_figure(
        traces,
        *words("reduction", lines=LINES),
        height=520,
        shapes=[make_shading(facts["longest"], ends[1], fade(GREY, 0.12))] if has_longer else [],
        annotations=[make_note("beyond the paper's<br>horizons", 0.985, 0.04, "right")] if has_longer else [],
        xaxis=_horizon_axis(ends),
        yaxis=make_axis("regret reduction (%)", ticks=[0, 20, 40, 60, 80, 100], range=[0, 100]),
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
    intervals = make_error_bars(list(map(Interval, differences, bias["difference_low"], bias["difference_high"])))
    marker = {"symbol": "square", "size": 6, "color": ORANGE}
    return make_figure(
        [make_markers(horizons, differences, "difference with 95 % interval", marker, text, error_y=intervals)],
        *words("winners"),
        height=340,
        xaxis=_horizon_axis([0.9 * min(horizons), 1.1 * max(horizons)]),
        yaxis=make_axis(
            "selection − held-out<br>(percentage points)", rangemode="tozero", zeroline=True, zerolinecolor=CHANGE_COLOR
        ),
    )


def _plot_line(rows: DataFrame, style: LineStyle) -> list[PlotlyTrace]:
    text = [
        f"<b>{style.name.partition(' (')[0]}</b><br>T = {row['horizon']:,}: "
        f"{format_measurement(read_measurement(row, 'reduction'))}"
        for row in to_records(rows)
    ]
    x, y, low, high = (rows[name].tolist() for name in ("horizon", "reduction", *style.band))
    return make_interval_line(
        x, y, low, high, style.name, style.color, style.order, text=text, hovertemplate=HOVER_TEXT
    )


def _horizon_axis(ends: list[float]) -> dict[str, Any]:
    ticks = [tick for tick in TICKS if tick <= ends[1]]
    return make_axis("horizon T (steps)", "log", ticks, range=[log10(end) for end in ends])
