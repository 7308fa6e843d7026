"""The figures of Figure 2: reductions against the horizon, and winners where they won against fresh worlds."""

from __future__ import annotations

from collections.abc import Mapping
from math import log10
from typing import TYPE_CHECKING, Any, NamedTuple

from dashboards.figures._parts import faded, shaded, whiskers
from dashboards.figures._scales import axis, numbers
from dashboards.figures._style import BLUE, CHANGE, GREEN, GREY, ORANGE, VERMILION, Trace, make
from dashboards.figures._titles import heading
from dashboards.reproduction._lines import line, with_band
from studies.reproduction.claims import claims
from studies.reproduction.tables import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

TICKS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)


class Look(NamedTuple):
    """How a line is drawn and called; its place settles dash and marker."""

    name: str
    colour: str
    place: int
    ends: tuple[str, str]
    """The columns of its band."""


LOOKS = {
    "published": Look("as published (band: 90 % of runs)", ORANGE, 1, ("run_low", "run_high")),
    "defined": Look("as defined (band: 95 %)", BLUE, 0, ("low", "high")),
    "tuned-ucb1": Look("UCB1, c tuned (band: 95 %)", GREEN, 2, ("low", "high")),
}


def reduction_figure(reduction: Table, facts: Mapping[str, Any]) -> go.Figure:
    """All lines over T, beside the two numbers that the paper prints."""
    traces: list[Trace] = []
    said = []
    for which, look in LOOKS.items():
        rows = reduction.where(line=which)
        if len(rows):
            traces += _line(rows, look)
            first, *_, last = rows
            said.append(
                f"{look.name}: {first['reduction']:.1f} % at T = {first['horizon']}, "
                f"{last['reduction']:.1f} % at T = {last['horizon']}"
            )
    times = reduction.column("horizon")
    above, limit = claims()["figure2-above-80"].printed, claims()["figure2-84"].printed
    assert above is not None
    assert limit is not None
    ends = [0.9 * min(times), 1.1 * max(times)]
    traces += [
        _level(ends, limit, f"paper: tends to {limit:g} %", "longdash"),
        _level(ends, above, f"paper: all above {above:g} %", "dashdot"),
    ]
    shapes, notes = _beyond(facts["longest"], max(times))
    return make(
        traces,
        heading("Regret saved against UCB1", f"T = {min(times)} to {max(times)} steps", *_counts(facts, reduction)),
        f"Regret reduction against UCB1 in per cent over the horizon, on a log axis. {'; '.join(said)}. Lines mark the "
        f"paper's {above:g} % and {limit:g} %.",
        height=520,
        shapes=shapes,
        annotations=notes,
        xaxis=axis("horizon T (steps)", "log", [tick for tick in TICKS if tick <= ends[1]], range=_logs(ends)),
        yaxis=axis("regret reduction (%)", ticks=[0, 20, 40, 60, 80, 100], range=[0, 100]),
        margin={"b": 130},
    )


def curse_figure(curse: Table, facts: Mapping[str, Any]) -> go.Figure:
    """How much better winners look where they won than in fresh worlds."""
    times, gaps = curse.column("horizon"), curse.column("difference")
    text = [
        f"T = {row['horizon']}<br>{row['own']:.1f} % where it won, {row['fresh']:.1f} % in fresh worlds<br>difference "
        f"{row['difference']:.1f} points (95 %: {row['low']:.1f} to {row['high']:.1f})"
        for row in curse
    ]
    bars = whiskers(gaps, curse.column("low"), curse.column("high"))
    marks = line(times, gaps, "difference with 95 % interval", ORANGE, 1, mode="markers", error_y=bars, **_told(text))
    ends = [0.9 * min(times), 1.1 * max(times)]
    return make(
        [marks],
        heading(
            "Winners where they won, minus elsewhere",
            f"T = {min(times)} to {max(times)} steps",
            f"K = {facts['arms']} arms",
            f"R = {facts['replications']} worlds a run",
            f"{facts['repeats']} runs",
        ),
        "Regret reduction of the winners as published in the worlds that chose them, minus that in fresh worlds, over "
        f"the horizon. On average the two differ by {sum(gaps) / len(gaps):.1f} points.",
        height=340,
        xaxis=axis("horizon T (steps)", "log", [tick for tick in TICKS if tick <= ends[1]], range=_logs(ends)),
        yaxis=axis("where they won −<br>elsewhere (points)", rangemode="tozero", zeroline=True, zerolinecolor=CHANGE),
    )


def _line(rows: Table, look: Look) -> list[Trace]:
    times, values = rows.column("horizon"), rows.column("reduction")
    text = [
        f"<b>{look.name.partition(' (')[0]}</b><br>T = {row['horizon']}: {row['reduction']:.1f} % "
        f"(95 %: {row['low']:.1f} to {row['high']:.1f})"
        for row in rows
    ]
    low, high = (rows.column(end) for end in look.ends)
    return with_band(times, values, low, high, look.name, look.colour, look.place, **_told(text))


def _told(text: list[str]) -> dict[str, Any]:
    return {"text": text, "hovertemplate": "%{text}<extra></extra>"}


def _level(x: list[float], y: float, name: str, dash: str) -> Trace:
    return {
        "type": "scatter",
        "x": numbers(x),
        "y": [y, y],
        "mode": "lines",
        "line": {"color": VERMILION, "width": 1.5, "dash": dash},
        "hovertemplate": f"{name}<extra></extra>",
        "name": name,
    }


def _beyond(longest: int, last: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The region of horizons that the paper leaves out, if any was run."""
    if last <= longest:
        return [], []
    note = {
        "text": "where the paper<br>does not look",
        "xref": "paper",
        "yref": "paper",
        "x": 0.985,
        "y": 0.04,
        "xanchor": "right",
        "yanchor": "bottom",
        "align": "right",
        "showarrow": False,
        "font": {"size": 11},
    }
    return [shaded(longest, 1.1 * last, faded(GREY, 0.12))], [note]


def _counts(facts: Mapping[str, Any], reduction: Table) -> list[str]:
    """K, and on how much each line rests."""
    out = [f"K = {facts['arms']} arms"]
    if "repeats" in facts:
        out.append(f"{facts['repeats']} runs of R = {facts['replications']} worlds as published")
    worlds = reduction.where(line="defined").column("count") if "search" in facts else []
    if worlds:
        out.append(f"R = {min(worlds)} to {max(worlds)} fresh worlds as defined")
    return out


def _logs(ends: list[float]) -> list[float]:
    return [log10(end) for end in ends]
