"""Marks of grids and sensitivity maps: the recommended parameters, the baselines and the lowest cell."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ravenlab.common.errors import InputError
from ravenlab.common.interval import Interval
from ravenlab.common.text import format_ends, format_interval, format_mean, format_number, format_signed
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.marks import MARKS
from ravenlab.dashboards.figures.style import PlotlyTrace
from ravenlab.studies.paper.advice import paper_advice
from ravenlab.studies.results.baselines import TITLES, format_difference, shorten_title
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.symbols import format_params

OUTSIDE = "outside the grid"
LOWEST = "lowest"
NEAR = 1 / 15  # of an axis, below which marks touch each other on a phone

Values = Mapping[str, float | str]


class PlayedPoint(NamedTuple):
    """Regret of the recommended parameters in the worlds of a grid."""

    mean: float
    stderr: float
    difference: Interval
    """From the lowest cell, in paired worlds."""


@dataclass(frozen=True)
class GridMark:
    """A marked point of a grid. `kind` is a key of `MARKS`, `place` its position in cells."""

    kind: str
    name: str
    params: Values
    place: tuple[float, ...]
    hover: str
    regret: float | None = None
    """Its regret in the worlds of the grid, if it was played there."""


def list_marks(
    grid: Grid, recommended: Recommendation | None = None, played: PlayedPoint | None = None
) -> list[GridMark]:
    """List the recommended parameters, the paper's advice, the defaults and the lowest cell.

    Marks that coincide, or would touch each other, are one mark, which names both. The lowest cell is a ring around it.
    """
    marks: list[GridMark] = []
    for mark in _list_points(grid, recommended, played):
        near = next((i for i, other in enumerate(marks) if _are_near(grid, mark, other)), None)
        if near is None:
            marks.append(mark)
        else:
            marks[near] = _merge(marks[near], mark)
    lowest = _make_mark(grid, LOWEST, "lowest cell", grid.params(grid.best))
    for i, mark in enumerate(marks):
        if _are_near(grid, mark, lowest, most=0.5):
            marks[i] = replace(mark, place=lowest.place)
    return [*marks, lowest]


def _list_points(grid: Grid, recommended: Recommendation | None, played: PlayedPoint | None) -> Iterator[GridMark]:
    """List the marks besides the lowest cell as far as they are known; a map knows its recommended cell itself."""
    if recommended is not None and _has_place(grid, recommended.params):
        lines = [] if played is None else _describe_played(played)
        lines.append(f"mean regret {format_interval(recommended.regret)}")
        lines.append(f"on {recommended.regret.replications:,} held-out worlds")
        regret = None if played is None else played.mean
        yield _make_mark(grid, "recommended", "recommended", recommended.params, lines, regret)
    elif grid.recommended is not None:
        yield _make_mark(grid, "recommended", "recommended", grid.params(grid.recommended))
    if recommended is not None:
        for comparison in recommended.comparisons:
            if comparison.name in MARKS and comparison.params is not None and _has_place(grid, comparison.params):
                lines = [f"{format_difference(comparison)} from the recommended parameters on held-out worlds"]
                yield _make_mark(grid, comparison.name, comparison.short_title, comparison.params, lines)
        return
    spec = grid.spec
    if spec.unit != 1.0:  # values of baselines depend on the scale of the rewards, which the study states
        return
    advice = paper_advice(spec.scenario, spec.horizon, spec.policy)
    if advice is not None:
        yield _make_mark(grid, "paper", shorten_title(TITLES["paper"]), advice)
    with suppress(InputError):  # the policy or the scenario is a plugin that is not loaded
        yield _make_mark(grid, "defaults", shorten_title(TITLES["defaults"]), spec.resolve_params({}))


def _has_place(grid: Grid, params: Values) -> bool:
    return all(isinstance(params.get(name), int | float) for name in grid.spec.axes)


def _make_mark(
    grid: Grid, kind: str, name: str, params: Values, lines: Sequence[str] = (), regret: float | None = None
) -> GridMark:
    axes = grid.spec.axes
    place = tuple(locate(values, float(params[axis])) for axis, values in axes.items())
    outside = any(at in (-0.5, len(values) - 0.5) for at, values in zip(place, axes.values(), strict=True))
    shown = {key: value for key, value in params.items() if key in axes or key in grid.spec.fixed}
    hover = [f"<b>{style.escape_text(name[0].upper() + name[1:])}</b>", style.escape_text(format_params(shown), 120)]
    cell = find_cell(grid, params)
    if cell is not None:
        hover.append(f"in this cell: mean regret {format_regret(grid, cell)}")
        regret = float(grid.mean[cell]) if regret is None else regret
    return GridMark(
        kind,
        f"{name}{_describe_fixed(grid, params)}{f' ({OUTSIDE})' if outside else ''}",
        shown,
        place,
        "<br>".join([*hover, *lines]),
        regret,
    )


def find_cell(grid: Grid, params: Values) -> tuple[int, ...] | None:
    """Return the indices of the cell with these values; None if there is none."""
    found = [find_value(values, float(params[name])) for name, values in grid.spec.axes.items()]
    cell = tuple(place for place in found if place is not None)
    return cell if len(cell) == len(found) else None


def find_value(values: Sequence[float], value: float) -> int | None:
    """Return the index of a value; None if it is not one of the values."""
    return next((i for i, candidate in enumerate(values) if math.isclose(candidate, value, rel_tol=1e-9)), None)


def locate(values: Sequence[float], value: float) -> float:
    """Return the position of a value on an axis of equal cells: its index, or between those of its neighbors.

    Values outside the cells are moved to the edge.

    >>> [locate([1.0, 10.0, 100.0], value) for value in (10.0, 31.6227766, 1000.0)]
    [1.0, 1.5, 2.5]
    """
    exact = find_value(values, value)
    if exact is not None:
        return float(exact)
    log = style.choose_axis_type(values) == "log" and value > 0.0
    points = np.log(values) if log else np.asarray(values, dtype=float)
    point = math.log(value) if log else value
    if point < points[0] or point > points[-1]:
        return -0.5 if point < points[0] else len(values) - 0.5
    return round(float(np.interp(point, points, np.arange(len(values)))), 4)


def _are_near(grid: Grid, one: GridMark, other: GridMark, most: float = math.inf) -> bool:
    """Whether two marks have the same place, or would touch each other; not if they are `most` cells apart."""
    return all(
        abs(a - b) < min(NEAR * size, most) for a, b, size in zip(one.place, other.place, grid.mean.shape, strict=True)
    )


def _merge(first: GridMark, second: GridMark) -> GridMark:
    """Make one mark of two; at the place of a cell, if one of them is a cell."""
    same = first.place == second.place and OUTSIDE not in first.name
    place = first.place if all(at.is_integer() for at in first.place) else second.place
    name = f"{first.name} {'=' if same else '≈'} {second.name}"
    return replace(first, name=name, place=place, hover=f"{first.hover}<br>{second.hover}")


def format_regret(grid: Grid, cell: tuple[int, ...]) -> str:
    """Format the mean regret of a cell with its 95 % interval."""
    return format_interval(Interval.from_error(float(grid.mean[cell]), float(grid.stderr[cell])))


def _describe_fixed(grid: Grid, params: Values) -> str:
    """State which other values differ from those of the cells; empty if none."""
    fixed = grid.spec.fixed
    others = {name: params[name] for name, value in fixed.items() if params.get(name, value) != value}
    if not others:
        return ""
    cells = {name: fixed[name] for name in others}
    return f" ({style.escape_text(format_params(others))}; cells: {style.escape_text(format_params(cells))})"


def _describe_played(played: PlayedPoint) -> list[str]:
    return [
        f"in the worlds of the grid: mean regret {format_number(played.mean)} ± {format_number(played.stderr)}",
        f"difference from the lowest cell: {format_mean(played.difference, format_signed)} (95 % CI"
        f" {format_ends(played.difference)})",
    ]


def draw_marks(
    marks: Sequence[GridMark], x: Sequence[float], y: Sequence[float], cased: bool = False
) -> list[PlotlyTrace]:
    """Draw marks at the given positions; `cased` marks have a white edge, which is visible on every color."""
    traces: list[PlotlyTrace] = []
    for mark, across, up in zip(marks, x, y, strict=True):
        look = MARKS[mark.kind]
        inner = look | {"color": "#000000"} if mark.kind == LOWEST else look
        wider = {"line": {"width": 6}} if mark.kind == LOWEST else {"line": {"width": 0}, "size": look["size"] + 6}
        meta = {"params": {key: value for key, value in mark.params.items() if not isinstance(value, str)}}
        shared: dict[str, Any] = {"cliponaxis": False, "legendgroup": mark.kind, "showlegend": False}
        if cased:
            casing = look | {"color": "#ffffff"} | wider
            traces.append(style.make_scatter([across], [up], "markers", marker=casing, hoverinfo="skip", **shared))
        traces.append(style.make_markers([across], [up], mark.name, inner if cased else look, [mark.hover], meta=meta))
        traces[-1] |= shared
        entry = {"legendgroup": mark.kind, "legendrank": 1001 + list(MARKS).index(mark.kind)}
        traces.append(style.make_legend_entry(mark.name, mode="markers", marker=look, **entry))
    return traces
