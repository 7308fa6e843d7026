"""The search as it went: every trial, the best so far, and what was validated."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dashboards.figures.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    VERMILION,
    PlotlyTrace,
    choose_log_ticks,
    escape_text,
    fade,
    format_title,
    make_axis,
    make_band,
    make_empty_figure,
    make_figure,
    round_number,
    round_numbers,
    spans_decades,
)
from environments.text import format_interval, format_number, plural
from studies.results.recommendation import Recommendation
from studies.spec.objective import parse_objective
from studies.spec.study import StudySpec
from studies.symbols import format_params, format_symbol

if TYPE_CHECKING:
    import plotly.graph_objects as go


MOST_POINTS = 200
"""Ordinary trials that are drawn; improvements and validated ones are drawn besides."""


class HistoryPoint(NamedTuple):
    """One trial: state is Optuna's word, such as COMPLETE or PRUNED; params under their own names."""

    number: int
    value: float | None
    stderr: float | None
    state: str
    params: Mapping[str, float | str]


def plot_search_history(
    rows: Sequence[HistoryPoint],
    recommendation: Recommendation | None = None,
    spec: StudySpec | None = None,
    states: Mapping[str, int] | None = None,
) -> go.Figure:
    """The objective of every trial, the best so far, and the validated candidates with the regret on fresh worlds.

    Args:
        rows: The trials.
        recommendation: What the study ended in, if it did.
        spec: What was searched; gives T, K and R where there is no recommendation yet, and the objective.
        states: How many trials there are of each state, where `rows` are only some of them.

    >>> points = [HistoryPoint(i, 50.0 - i, 0.5, "COMPLETE", {"alpha0": 1.0 + i}) for i in range(3)]
    >>> [trace.name for trace in plot_search_history(points).data]
    ['trial', 'best so far']
    """
    objective = (
        spec.objective if spec is not None else recommendation.objective if recommendation is not None else "mean"
    )
    maximize = parse_objective(objective).maximize
    what = parse_objective(objective).label()
    total = len(rows) if states is None else sum(states.values())
    title = format_title("Search history", *_context(total, recommendation, spec))
    done = sorted(
        (row for row in rows if row.value is not None and math.isfinite(row.value)), key=lambda row: row.number
    )
    if not done:
        found = sorted(Counter(row.state for row in rows).items())
        said = ", ".join(f"{count} {state.lower()}" for state, count in found)
        why = f"No trial has a value yet ({said})." if rows else "No trials yet."
        return make_empty_figure(title, why, f"Nothing to draw: {why}")
    complete = [row for row in done if row.state == "COMPLETE"]
    played = len(complete) if states is None else states["COMPLETE"]
    stopped = len(done) - len(complete) if states is None else total - played
    validated = [row for row in complete if _among(row, recommendation.indistinguishable if recommendation else [])]
    chosen = [row for row in complete if recommendation is not None and _among(row, [recommendation.params])]
    better = _improvements(complete, maximize)
    traces: list[PlotlyTrace] = []
    whole = spec.replications if spec is not None else None
    for name, some, of, symbol, colour in (
        ("trial", complete, played, "circle", BLUE),
        ("stopped early", [row for row in done if row.state != "COMPLETE"], stopped, "x-thin-open", GREY),
    ):
        if some:
            kept = _thinned(some)
            label = name if len(kept) == of else f"{name} ({len(kept)} of {of} drawn)"
            traces.append(_points(kept, label, symbol, fade(colour, 0.7), 6, whole))
    if better:
        last = done[-1].number
        values = [float(row.value) for row in better if row.value is not None]
        traces.append(
            {
                "type": "scatter",
                "x": [*(row.number for row in better), last],
                "y": round_numbers([*values, values[-1]]),
                "mode": "lines",
                "line": {"color": ORANGE, "width": 2, "shape": "hv"},
                "name": "best so far",
                "hovertemplate": f"best so far after trial %{{x}}: {what} %{{y}}<extra></extra>",
            }
        )
    if validated:
        traces.append(_points(validated[:40], "validated, not told apart", "diamond", GREEN, 9, whole))
    if chosen:
        traces.append(_points(chosen[:1], "recommended", "star", VERMILION, 14, whole))
    if recommendation is not None and objective == "mean":
        traces = [*_fresh(recommendation, done[0].number, done[-1].number), *traces]
    shown = [value for trace in traces for value in trace["y"]]
    log = spans_decades(shown, 4.0)
    return make_figure(
        traces,
        title,
        f"Points of {played} complete trials and {stopped} that stopped early." + _alt(better, recommendation, what),
        height=520,
        xaxis=make_axis("trial", dtick=1 if done[-1].number - done[0].number < 5 else None),
        yaxis=make_axis(f"{what} (reward units)", "log" if log else "linear", choose_log_ticks(shown) if log else None),
    )


def _context(total: int, recommendation: Recommendation | None, spec: StudySpec | None) -> list[str]:
    """Policy, scenario, T, K and R, from whatever knows them, and how many trials there are."""
    here: StudySpec | Recommendation | None = recommendation if spec is None else spec.resolved()
    trials = plural(total, "trial")
    if here is None:
        return [trials]
    worlds = (
        f"R = {here.replications:,} worlds per trial"
        if isinstance(here, StudySpec)
        else f"R = {here.regret.replications:,} held-out worlds"
    )
    return [
        escape_text(here.policy),
        escape_text(here.scenario),
        f"T = {here.horizon:,} steps",
        f"K = {here.arms} arms",
        worlds,
        trials,
    ]


def _among(row: HistoryPoint, candidates: Sequence[Mapping[str, float | str]]) -> bool:
    return any(_same(row.params, candidate) for candidate in candidates)


def _same(mine: Mapping[str, float | str], theirs: Mapping[str, float | str]) -> bool:
    """Whether the parameters that both name are the same."""
    shared = set(mine) & set(theirs)
    return bool(shared) and all(
        mine[name] == theirs[name]
        if isinstance(mine[name], str) or isinstance(theirs[name], str)
        else math.isclose(float(mine[name]), float(theirs[name]), rel_tol=1e-9)
        for name in shared
    )


def _improvements(complete: Sequence[HistoryPoint], maximize: bool) -> list[HistoryPoint]:
    better: list[HistoryPoint] = []
    for row in complete:
        assert row.value is not None
        before = better[-1].value if better else None
        if before is None or (row.value > before if maximize else row.value < before):
            better.append(row)
    return better


def _thinned(rows: Sequence[HistoryPoint]) -> list[HistoryPoint]:
    if len(rows) <= MOST_POINTS:
        return list(rows)
    return [rows[i] for i in np.unique(np.linspace(0, len(rows) - 1, MOST_POINTS).round().astype(int))]


def _points(
    rows: Sequence[HistoryPoint], name: str, symbol: str, colour: str, size: int, replications: int | None
) -> PlotlyTrace:
    several = f"<br>R = {replications:,} worlds" if replications is not None and symbol != "x-thin-open" else ""
    names = list(dict.fromkeys(name for row in rows for name in row.params))
    told = ", ".join(f"{escape_text(format_symbol(each))} %{{customdata[{i + 1}]}}" for i, each in enumerate(names))
    return {
        "type": "scatter",
        "x": [row.number for row in rows],
        "y": [round_number(row.value) for row in rows if row.value is not None],
        "mode": "markers",
        "marker": {"symbol": symbol, "size": size, "color": colour, "line": {"color": colour, "width": 1}},
        "name": name,
        "customdata": [[_brief(row.stderr), *(_brief(row.params.get(each)) for each in names)] for row in rows],
        "hovertemplate": (
            f"trial %{{x}}, {name.split(' (')[0]}<br>%{{y}} ± %{{customdata[0]}} (standard error)<br>{told}"
            f"{several}<extra></extra>"
        ),
    }


def _brief(value: float | str | None) -> float | str:
    """Short enough for what hovering shows. A question mark where nothing is known."""
    if isinstance(value, str):
        return escape_text(value)
    short = None if value is None else round_number(value, 4)
    return "?" if short is None else short


def _fresh(recommendation: Recommendation, first: int, last: int) -> list[PlotlyTrace]:
    """The regret that was reported, as a band: how much too good the search looked."""
    regret = recommendation.regret
    last = max(last, first + 1)
    return [
        make_band([first, last], [regret.low] * 2, [regret.high] * 2, VERMILION, legendgroup="fresh"),
        {
            "type": "scatter",
            "x": [first, last],
            "y": round_numbers([regret.mean, regret.mean]),
            "mode": "lines",
            "line": {"color": VERMILION, "dash": "dash", "width": 1.5},
            "name": "its regret in fresh worlds (95 %)",
            "legendgroup": "fresh",
            "hovertemplate": (
                f"recommended: mean regret {format_interval(regret.mean, regret.low, regret.high)}<br>"
                f"in R = {regret.replications:,} fresh worlds<extra></extra>"
            ),
        },
    ]


def _alt(better: Sequence[HistoryPoint], recommendation: Recommendation | None, what: str) -> str:
    alt = ""
    if better and better[-1].value is not None:
        alt += f" Best {what} in the search {format_number(better[-1].value)} at trial {better[-1].number}"
        alt += f" with {format_params(better[-1].params)}."
    if recommendation is not None:
        regret = recommendation.regret
        alt += (
            f" Recommended: {format_number(regret.mean)} in fresh worlds (95 %: {format_number(regret.low)} to"
            f" {format_number(regret.high)})."
        )
    return alt
