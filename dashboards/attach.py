"""Put our note and figures into a study, so that any Optuna dashboard on its storage shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dashboards.attached import put_figure, put_note, put_value_names
from dashboards.grid_marks import recommended_in
from dashboards.notes import grid_note, study_note, worlds_note
from dashboards.points import point_of
from dashboards.stamps import has_stamp, put_stamp, recommended_beside, stamp_of
from environments.own_scenarios import BROUGHT as SCENARIOS
from studies import keys
from studies.grid_storage import read_grid
from studies.objective import parse_objective
from studies.recommendation import Recommendation
from studies.robust_recommendation import Front
from studies.source import ScenarioSource
from studies.spec import ResolvedStudy

if TYPE_CHECKING:
    import optuna
    import plotly.graph_objects as go

    from dashboards.figures import HistoryPoint
    from studies.grid import Grid

PREFIX = "ravenlab-"
"""Our figures' ids begin with it; others in a study are left alone."""

Draw = Callable[[], "go.Figure"]


def attach(study: optuna.Study, *, missing: bool = False) -> int:
    """To whichever of the three a study is; with `missing` only where what is there was made from something else.

    Tells how many of note, figures and names of values were new.

    >>> import optuna
    >>> attach(optuna.create_study(study_name="not ours"))
    0
    """
    stamp = stamp_of(study)
    if missing and has_stamp(study, stamp):
        return 0
    if keys.ROBUST in study.user_attrs:
        new = attach_to_worlds(study)
    else:
        new = attach_to_grid(study) if keys.GRID in study.user_attrs else attach_to_study(study)
    put_stamp(study, stamp)
    return new


def attach_to_study(study: optuna.Study) -> int:
    """Give a tuned study its note, figures and the name of its value."""
    spec = keys.read_spec(study)
    if spec is None:
        return 0
    found = keys.read_recommendation(study)
    trials = study.get_trials(deepcopy=False)
    note = study_note(spec, found, len(trials))
    points = [
        point_of(spec, each.number, each.values[0], each.state.name, each.user_attrs.get(keys.STDERR), each.params)
        for each in trials
        if each.values
    ]
    figures = dict(_study_figures(spec, found, points))
    return _attach(study, [parse_objective(spec.objective).label()], note, figures)


def attach_to_grid(study: optuna.Study) -> int:
    """The same for a finished grid; one that is not finished gets nothing yet."""
    grid = read_grid(study)
    if grid is None:
        return 0
    figures = dict(_grid_figures(grid, recommended_in(grid.spec, recommended_beside(study))))
    return _attach(study, ["mean regret"], grid_note(grid), figures)


def attach_to_worlds(study: optuna.Study) -> int:
    """The same for a finished search over several scenarios; a front has a value a scenario."""
    from dashboards import figures

    found = keys.read_robust(study)
    if found is None:
        return 0
    if isinstance(found, Front):
        names = [f"mean regret in {name}" for name in found.scenarios]
        return _attach(study, names, worlds_note(found), {"front": lambda: figures.front(found)})
    names = [f"relative regret ({found.measure})"]
    return _attach(study, names, worlds_note(found), {"prices": lambda: figures.prices(found)})


def _attach(study: optuna.Study, values: list[str], note: str, figures: dict[str, Draw]) -> int:
    return (
        int(put_value_names(study, values))
        + int(put_note(study, note))
        + sum(put_figure(study, f"{PREFIX}{name}", draw()) for name, draw in figures.items())
    )


def _study_figures(
    here: ResolvedStudy, found: Recommendation | None, points: list[HistoryPoint]
) -> Iterator[tuple[str, Draw]]:
    from dashboards import figures

    if points:
        yield "history", lambda: figures.history(points, found, here)
    if found is not None and found.importance:
        yield "importances", lambda: figures.importances(found)
    source = here.source
    if isinstance(source, ScenarioSource) and not SCENARIOS.absent(here.scenario):
        yield "world", lambda: figures.world(source.open(), here.horizon, here.arms, seed=here.seed)


def _grid_figures(grid: Grid, found: Recommendation | None) -> Iterator[tuple[str, Draw]]:
    from dashboards import figures

    yield "heat-map", lambda: figures.heat_map(grid, found)
    yield "lines", lambda: figures.sensitivity_lines(grid)
    yield "surface", lambda: figures.surface(grid)
