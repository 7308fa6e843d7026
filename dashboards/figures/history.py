"""Search history: every trial, the best value so far, and the validated candidates."""

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
    escape_text,
    fade,
    format_title,
    make_axis,
    make_band,
    make_empty_figure,
    make_figure,
    make_value_axis,
    round_number,
    round_numbers,
)
from environments.text import format_interval, format_number, plural
from studies.results.recommendation import Recommendation
from studies.spec.objective import parse_objective
from studies.spec.study import StudySpec
from studies.symbols import format_params, format_symbol

if TYPE_CHECKING:
    import plotly.graph_objects as go


MAX_POINTS = 200  # trials drawn besides improvements and validated ones


class HistoryPoint(NamedTuple):
    """A trial: its state in Optuna's terms, such as COMPLETE or PRUNED, and the parameters of the policy."""

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
    """Plot the objective of every trial, the best so far, and the validated candidates with their held-out regret.

    Args:
        rows: The trials.
        recommendation: The recommendation of a finished study.
        spec: The specification, which gives the objective and the sizes in the title.
        states: Numbers of trials by state, if `rows` are a subset of them.

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
        by_state = sorted(Counter(row.state for row in rows).items())
        counts = ", ".join(f"{count:,} {state.lower()}" for state, count in by_state)
        reason = f"No trial has a value yet ({counts})." if rows else "No trials yet."
        return make_empty_figure(title, reason)
    complete = [row for row in done if row.state == "COMPLETE"]
    played = len(complete) if states is None else states["COMPLETE"]
    stopped = len(done) - len(complete) if states is None else total - played
    validated = [row for row in complete if _among(row, recommendation.indistinguishable if recommendation else [])]
    chosen = [row for row in complete if recommendation is not None and _among(row, [recommendation.params])]
    better = _improvements(complete, maximize)
    traces: list[PlotlyTrace] = []
    whole = spec.replications if spec is not None else None
    for name, some, of, symbol, color in (
        ("trial", complete, played, "circle", BLUE),
        ("pruned", [row for row in done if row.state != "COMPLETE"], stopped, "x-thin-open", GREY),
    ):
        if some:
            kept = _thinned(some)
            label = name if len(kept) == of else f"{name} ({len(kept)} of {of} drawn)"
            traces.append(_points(kept, label, symbol, fade(color, 0.7), 6, whole))
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
        traces.append(_points(validated[:40], "indistinguishable from the best", "diamond", GREEN, 9, whole))
    if chosen:
        traces.append(_points(chosen[:1], "recommended", "star", VERMILION, 14, whole))
    if recommendation is not None and objective == "mean":
        traces = [*_held_out_band(recommendation, done[0].number, done[-1].number), *traces]
    shown = [value for trace in traces for value in trace["y"]]
    return make_figure(
        traces,
        title,
        f"{played:,} complete and {stopped:,} pruned trials." + _alt(better, recommendation, what),
        link={"kind": "history"},
        height=520,
        xaxis=make_axis("trial", dtick=1 if done[-1].number - done[0].number < 5 else None),
        yaxis=make_value_axis(f"{what} (reward units)", shown, 4.0),
    )


def _context(total: int, recommendation: Recommendation | None, spec: StudySpec | None) -> list[str]:
    """Format policy, scenario, sizes and the number of trials."""
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
    """Whether the shared parameters have the same values."""
    shared = set(mine) & set(theirs)
    return bool(shared) and all(
        mine[name] == theirs[name]
        if isinstance(mine[name], str) or isinstance(theirs[name], str)
        else math.isclose(float(mine[name]), float(theirs[name]), rel_tol=1e-9)
        for name in shared
    )


def _improvements(complete: Sequence[HistoryPoint], maximize: bool) -> list[HistoryPoint]:
    better: list[HistoryPoint] = []
    best = -math.inf if maximize else math.inf
    for row in complete:
        if row.value is not None and (row.value > best if maximize else row.value < best):
            best = row.value
            better.append(row)
    return better


def _thinned(rows: Sequence[HistoryPoint]) -> list[HistoryPoint]:
    if len(rows) <= MAX_POINTS:
        return list(rows)
    return [rows[i] for i in np.unique(np.linspace(0, len(rows) - 1, MAX_POINTS).round().astype(int))]


def _points(
    rows: Sequence[HistoryPoint], name: str, symbol: str, color: str, size: int, replications: int | None
) -> PlotlyTrace:
    worlds = f"<br>R = {replications:,} worlds" if replications is not None and symbol != "x-thin-open" else ""
    names = list(dict.fromkeys(name for row in rows for name in row.params))
    params = ", ".join(f"{escape_text(format_symbol(each))} %{{customdata[{i + 1}]}}" for i, each in enumerate(names))
    return {
        "type": "scatter",
        "x": [row.number for row in rows],
        "y": [round_number(row.value) for row in rows if row.value is not None],
        "mode": "markers",
        "marker": {"symbol": symbol, "size": size, "color": color, "line": {"color": color, "width": 1}},
        "name": name,
        "meta": {"names": [escape_text(each) for each in names]},
        "customdata": [[_brief(row.stderr), *(_brief(row.params.get(each)) for each in names)] for row in rows],
        "hovertemplate": (
            f"trial %{{x}}, {name.split(' (')[0]}<br>%{{y}} ± %{{customdata[0]}} (standard error)<br>{params}"
            f"{worlds}<extra></extra>"
        ),
    }


def _brief(value: float | str | None) -> float | str:
    """Round a value for the hover text; "?" if it is unknown."""
    if isinstance(value, str):
        return escape_text(value)
    short = None if value is None else round_number(value, 4)
    return "?" if short is None else short


def _held_out_band(recommendation: Recommendation, first: int, last: int) -> list[PlotlyTrace]:
    """Make the band of the held-out regret, which shows the bias of the search."""
    regret = recommendation.regret
    last = max(last, first + 1)
    return [
        make_band([first, last], [regret.low] * 2, [regret.high] * 2, VERMILION, legendgroup="held-out"),
        {
            "type": "scatter",
            "x": [first, last],
            "y": round_numbers([regret.mean, regret.mean]),
            "mode": "lines",
            "line": {"color": VERMILION, "dash": "dash", "width": 1.5},
            "name": "held-out regret of the recommendation (95 % CI)",
            "legendgroup": "held-out",
            "hovertemplate": (
                f"recommended: mean regret {format_interval(regret.mean, regret.low, regret.high)}<br>"
                f"on {regret.replications:,} held-out worlds<extra></extra>"
            ),
        },
    ]


def _alt(better: Sequence[HistoryPoint], recommendation: Recommendation | None, what: str) -> str:
    alt = ""
    if better and better[-1].value is not None:
        alt += f" Best {what} of the search: {format_number(better[-1].value)} at trial {better[-1].number}"
        alt += f" with {format_params(better[-1].params)}."
    if recommendation is not None:
        regret = recommendation.regret
        alt += f" Recommendation: {format_interval(regret.mean, regret.low, regret.high)} on held-out worlds."
    return alt
