"""Figures small enough to be kept in a database, and of the size that Optuna's dashboard gives them."""

from __future__ import annotations

import base64
import hashlib
import json
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.optuna_dashboard.notes import grid_note, study_note, worlds_note
from dashboards.pages.report.data import point_of, recommended_in
from environments.catalog import SCENARIO_PLUGINS as SCENARIOS
from environments.errors import InputError
from studies.results.recommendation import Recommendation
from studies.results.robust import Front
from studies.spec.objective import parse_objective
from studies.spec.source import ScenarioSource
from studies.spec.study import ResolvedStudy
from studies.storage import keys
from studies.storage.trials import read_grid

if TYPE_CHECKING:
    import optuna
    import plotly.graph_objects as go

    from dashboards.figures import HistoryPoint
    from studies.results.grid import Grid


DIGITS = 5
HEIGHT = 450
"""Pixels that the dashboard gives a figure."""


def slim(figure: go.Figure) -> go.Figure:
    """The same picture in fewer bytes: numbers as short lists, which older dashboards read too.

    >>> import numpy as np, plotly.graph_objects as go
    >>> slim(go.Figure(go.Scatter(y=np.array([1 / 3, 2.0])))).data[0].y
    (0.33333, 2.0)
    """
    import plotly.graph_objects as go

    plain = _shorter(figure.to_plotly_json())
    layout = plain["layout"]
    layout.pop("width", None)
    out = go.Figure(data=plain["data"], layout={**layout, "height": HEIGHT, "autosize": True})
    out.layout.template = None  # Plotly's own, larger than most figures, and added whatever a layout says
    return out


def _shorter(value: Any) -> Any:
    if isinstance(value, dict):
        if "bdata" in value:
            return _shorter(_decoded(value))
        return {key: _shorter(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shorter(each) for each in value]
    if isinstance(value, np.ndarray):
        return _shorter(value.tolist())
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.{DIGITS}g}")
    return value


def _decoded(packed: dict[str, Any]) -> Any:
    """An array as Plotly packs it."""
    flat = np.frombuffer(base64.b64decode(packed["bdata"]), dtype=packed["dtype"])
    shape = packed.get("shape")
    return (flat if shape is None else flat.reshape([int(n) for n in str(shape).split(",")])).tolist()


def put_value_names(study: optuna.Study, names: list[str]) -> bool:
    """Name the values of trials; tells whether that was new, as the others here do."""
    import optuna

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        if study.metric_names == names:
            return False
        study.set_metric_names(names)
    return True


def put_note(study: optuna.Study, note: str) -> bool:
    """Write the note, unless it is there or someone has written one of their own."""
    from optuna_dashboard import get_note, save_note

    there = get_note(study)
    system = study._storage.get_study_system_attrs(study._study_id)
    if there == note or (there.strip() and digest(there) != system.get(keys.NOTE)):
        return False
    study._storage.set_study_system_attr(study._study_id, keys.NOTE, digest(note))
    save_note(study, note)
    return True


def put_figure(study: optuna.Study, name: str, figure: go.Figure) -> bool:
    """Write a figure, made small, unless just that is there."""
    from optuna_dashboard import save_plotly_graph_object

    small = slim(figure)
    if stored_figure(study, name) == json.loads(small.to_json()):
        return False
    save_plotly_graph_object(study, small, graph_object_id=name)
    return True


def stored_figure(study: optuna.Study, name: str) -> Any:
    """A figure as the storage has it; None where there is none, or one that was cut off."""
    prefix = f"dashboard:plot_data:{name}:"
    rows = study._storage.get_study_system_attrs(study._study_id)
    parts = [rows[key] for key in (f"{prefix}{i}" for i in range(len(rows))) if key in rows]
    try:
        return json.loads("".join(parts))
    except ValueError:
        return None


def digest(text: str) -> str:
    """Sixteen letters that stand for a text.

    >>> digest("a"), digest("a") == digest("b")
    ('ca978112ca1bbdca', False)
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def stamp_of(study: optuna.Study) -> str | None:
    """What note and figures of a finished study are to be made from; None while it is not finished."""
    attributes = study.user_attrs
    made_from = [keys.project_version(), *(attributes.get(key) for key in (keys.SPEC, keys.GRID))]
    several = attributes.get(keys.ROBUST_RECOMMENDATION) or attributes.get(keys.FRONT)
    if several is not None:
        made_from.append(several)
    elif attributes.get(keys.RECOMMENDATION) is not None:
        made_from.append(attributes[keys.RECOMMENDATION])
    elif attributes.get(keys.INDISTINGUISHABLE) is not None:
        spec = keys.read_grid_spec(study)
        found = None if spec is None else recommended_in(spec, recommended_beside(study))
        made_from += [attributes[keys.INDISTINGUISHABLE], None if found is None else found.as_object()]
    else:
        return None
    return digest(json.dumps(made_from, sort_keys=True))


def has_stamp(study: optuna.Study, stamp: str | None) -> bool:
    """Whether what is attached was made from just that."""
    system = study._storage.get_study_system_attrs(study._study_id)
    return stamp is not None and system.get(keys.ATTACHED) == stamp


def put_stamp(study: optuna.Study, stamp: str | None) -> None:
    """Say what was attached; an unfinished study gets no stamp."""
    if stamp is not None and not has_stamp(study, stamp):
        study._storage.set_study_system_attr(study._study_id, keys.ATTACHED, stamp)


def is_attached(study: optuna.Study) -> bool:
    """Whether a finished study has its note and figures, made from what it says now.

    >>> import optuna
    >>> is_attached(optuna.create_study(study_name="not ours"))
    False
    """
    return has_stamp(study, stamp_of(study))


def recommended_beside(study: optuna.Study) -> Iterator[Recommendation]:
    """All recommendations in the storage of a study, but for those that this version can't read."""
    for other in study._storage.get_all_studies():
        try:
            found = keys.read_recommendation(other)
        except InputError:
            continue
        if found is not None:
            yield found


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
        return _attach(study, names, worlds_note(found), {"front": lambda: figures.plot_pareto_front(found)})
    names = [f"relative regret ({found.measure})"]
    return _attach(study, names, worlds_note(found), {"prices": lambda: figures.plot_prices(found)})


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
        yield "history", lambda: figures.plot_search_history(points, found, here)
    if found is not None and found.importance:
        yield "importances", lambda: figures.plot_param_importances(found)
    source = here.source
    if isinstance(source, ScenarioSource) and not SCENARIOS.is_missing(here.scenario):
        yield "world", lambda: figures.plot_world(source.open(), here.horizon, here.arms, seed=here.seed)


def _grid_figures(grid: Grid, found: Recommendation | None) -> Iterator[tuple[str, Draw]]:
    from dashboards import figures

    yield "heat-map", lambda: figures.plot_heat_map(grid, found)
    yield "lines", lambda: figures.plot_sensitivity_lines(grid)
    yield "surface", lambda: figures.plot_surface(grid)
