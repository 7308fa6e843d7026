"""Put our note and figures into a study, so that any Optuna dashboard on its storage shows them.

A figure is kept in rows of 2 kB, each with a commit of its own, and every page of the dashboard reads all of them:
so figures are made small first, and what is there already is compared and not written again.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from dashboards.notes import grid_note, study_note, worlds_note
from dashboards.slim import slim, thinned
from environments import find_scenario
from environments.errors import InputError
from studies import keys
from studies.grid_storage import read_grid
from studies.objective import parse_objective
from studies.recommendation import Recommendation
from studies.robust_recommendation import Front
from studies.spec import StudySpec

if TYPE_CHECKING:
    import optuna
    import plotly.graph_objects as go

    from dashboards.figures import HistoryPoint
    from studies.grid import Grid, GridSpec

PREFIX = "ravenlab-"
"""Our figures' ids begin with it; others in a study are left alone."""

Draw = Callable[[], "go.Figure"]


def attach_to_study(study: optuna.Study) -> int:
    """Give a tuned study its note, figures and the name of its value; tells how many of them were new.

    >>> import optuna
    >>> attach_to_study(optuna.create_study(study_name="not ours"))
    0
    """
    spec = keys.read_spec(study)
    if spec is None:
        return 0
    found = keys.read_recommendation(study)
    trials = study.get_trials(deepcopy=False)
    figures: dict[str, Draw] = dict(_study_figures(spec, found, thinned(_points(trials, spec))))
    note = study_note(spec, found, len(trials))
    return _attach(study, [value_name(spec.objective)], note, figures)


def attach_to_grid(study: optuna.Study) -> int:
    """The same for a finished grid; one that is not finished gets nothing yet."""
    grid = read_grid(study)
    if grid is None:
        return 0
    figures: dict[str, Draw] = dict(_grid_figures(grid, recommended_for(study, grid.spec)))
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


def attach(study: optuna.Study, *, missing: bool = False) -> int:
    """To whichever of the three a study is; with `missing` only where what is there was made from something else.

    That needs no trials, which take half a second a thousand to load.
    """
    stamp = _stamp(study)
    if missing and _has_stamp(study, stamp):
        return 0
    if keys.ROBUST in study.user_attrs:
        new = attach_to_worlds(study)
    else:
        new = attach_to_grid(study) if keys.GRID in study.user_attrs else attach_to_study(study)
    if stamp is not None and not _has_stamp(study, stamp):
        study._storage.set_study_system_attr(study._study_id, keys.ATTACHED, stamp)
    return new


def is_attached(study: optuna.Study) -> bool:
    """Whether a finished study has its note and figures, made from what it says now.

    >>> import optuna
    >>> is_attached(optuna.create_study(study_name="not ours"))
    False
    """
    return _has_stamp(study, _stamp(study))


def _has_stamp(study: optuna.Study, stamp: str | None) -> bool:
    system = study._storage.get_study_system_attrs(study._study_id)
    return stamp is not None and system.get(keys.ATTACHED) == stamp


def _stamp(study: optuna.Study) -> str | None:
    """What note and figures of a finished study are made from, as a short hash; None while it is not finished."""
    attributes = study.user_attrs
    made_from = [keys.project_version(), *(attributes.get(key) for key in (keys.SPEC, keys.GRID))]
    several = attributes.get(keys.ROBUST_RECOMMENDATION) or attributes.get(keys.FRONT)
    if several is not None:
        made_from.append(several)
    elif attributes.get(keys.RECOMMENDATION) is not None:
        made_from.append(attributes[keys.RECOMMENDATION])
    elif attributes.get(keys.INDISTINGUISHABLE) is not None:
        spec = keys.read_grid_spec(study)
        found = None if spec is None else recommended_for(study, spec)
        made_from += [attributes[keys.INDISTINGUISHABLE], None if found is None else found.as_object()]
    else:
        return None
    return _digest(json.dumps(made_from, sort_keys=True))


def value_name(objective: str) -> str:
    """What a trial's value is, in words.

    >>> value_name("mean"), value_name("cvar:0.9")
    ('mean regret', 'mean of the worst 10 % of regrets')
    """
    parsed = parse_objective(objective)
    names = {
        "mean": "mean regret",
        "reward": "mean reward",
        "quantile": f"{100 * parsed.level:g} % quantile of regret",
        "cvar": f"mean of the worst {100 * (1 - parsed.level):.4g} % of regrets",
        "after": f"mean regret after {parsed.time}",
    }
    return names[parsed.kind]


def recommended_for(study: optuna.Study, grid: GridSpec) -> Recommendation | None:
    """What a search in the same world recommends, to be marked in the heat map; the first by name if several do."""
    spec = grid.resolved()
    wanted = ("raven-ucb", spec.scenario, dict(spec.settings), spec.horizon, spec.arms, "mean")
    found = []
    for other in study._storage.get_all_studies():
        try:
            each = keys.read_recommendation(other)
        except InputError:
            continue
        if each is not None:
            world = (each.policy, each.scenario, dict(each.settings), each.horizon, each.arms, each.objective)
            if world == wanted:
                found.append(each)
    return min(found, key=lambda each: each.study, default=None)


def _study_figures(
    spec: StudySpec, found: Recommendation | None, points: list[HistoryPoint]
) -> Iterator[tuple[str, Draw]]:
    from dashboards import figures

    here = spec.resolved()
    assert here.horizon is not None
    assert here.arms is not None
    horizon, arms = here.horizon, here.arms
    if points:
        yield "history", lambda: figures.history(points, found)
    if found is not None and found.importance:
        yield "importances", lambda: figures.importances(found)
    if here.file is None:
        yield "world", lambda: figures.world(find_scenario(here.scenario, here.settings), horizon, arms, seed=here.seed)


def _grid_figures(grid: Grid, found: Recommendation | None) -> Iterator[tuple[str, Draw]]:
    from dashboards import figures

    yield "heat-map", lambda: figures.heat_map(grid, found)
    yield "lines", lambda: figures.sensitivity_lines(grid)
    yield "surface", lambda: figures.surface(grid)


def _points(trials: list[optuna.trial.FrozenTrial], spec: StudySpec) -> list[HistoryPoint]:
    from dashboards.figures import HistoryPoint
    from studies.space import to_params, trial_name

    wanted = {trial_name(name, range_) for name, range_ in spec.resolved().space.items()}
    return [
        HistoryPoint(
            number=trial.number,
            value=trial.values[0],
            stderr=trial.user_attrs.get(keys.STDERR),
            state=trial.state.name,
            params=to_params(spec, trial.params),
        )
        for trial in trials
        if trial.values and wanted <= trial.params.keys()
    ]


def _attach(study: optuna.Study, values: list[str], note: str, figures: dict[str, Draw]) -> int:
    return (
        int(_attach_value_names(study, values))
        + int(_attach_note(study, note))
        + sum(_attach_figure(study, f"{PREFIX}{name}", slim(draw())) for name, draw in figures.items())
    )


def _attach_value_names(study: optuna.Study, names: list[str]) -> bool:
    import optuna

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        if study.metric_names == names:
            return False
        study.set_metric_names(names)
    return True


def _attach_note(study: optuna.Study, note: str) -> bool:
    """Write the note, unless it is there or someone has written one of their own."""
    from optuna_dashboard import get_note, save_note

    there = get_note(study)
    system = study._storage.get_study_system_attrs(study._study_id)
    if there == note or (there.strip() and _digest(there) != system.get(keys.NOTE)):
        return False
    study._storage.set_study_system_attr(study._study_id, keys.NOTE, _digest(note))
    save_note(study, note)
    return True


def _attach_figure(study: optuna.Study, name: str, figure: go.Figure) -> bool:
    from optuna_dashboard import save_plotly_graph_object

    if _stored(study, name) == json.loads(figure.to_json()):
        return False
    save_plotly_graph_object(study, figure, graph_object_id=name)
    return True


def _stored(study: optuna.Study, name: str) -> Any:
    """A figure as the storage has it; None where there is none, or one that was cut off."""
    prefix = f"dashboard:plot_data:{name}:"
    rows = study._storage.get_study_system_attrs(study._study_id)
    parts = [rows[key] for key in (f"{prefix}{i}" for i in range(len(rows))) if key in rows]
    try:
        return json.loads("".join(parts))
    except ValueError:
        return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
