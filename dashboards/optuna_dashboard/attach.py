"""Notes, figures and value names attached to studies for the Optuna dashboard."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ravenlab.common.compat.optuna import METRIC_NAMES, storage_of, study_id
from ravenlab.common.compat.optuna_dashboard import stored_figure
from ravenlab.common.documents import Document
from ravenlab.common.errors import InputError
from ravenlab.dashboards import figures as plots
from ravenlab.dashboards.figures.card import plot_card
from ravenlab.dashboards.figures.style import Figure
from ravenlab.dashboards.pages.report.data import find_recommendation, play_recommendation
from ravenlab.environments.catalog import SCENARIO_PLUGINS as SCENARIOS
from ravenlab.studies.kinds import COMPARISON, GRID, ROBUST, TUNE, StudyKindName, find_kind
from ravenlab.studies.results.alternatives import is_evidence
from ravenlab.studies.results.documents import recommendation_document
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.spec.objective import parse_objective
from ravenlab.studies.spec.source import ScenarioSource
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.library import find_better_policies, is_internal, list_comparison_specs

if TYPE_CHECKING:
    import optuna


PREFIX = "ravenlab-"  # of our figure ids; other figures are left unchanged
DIGITS = 5
HEIGHT = 450  # pixels of a figure in the dashboard

FIGURES = (
    *("card", "heat-map", "standings", "prices", "curves", "ranks", "lines"),
    "world",
)
"""Names of all figures in the order of the page. The dashboard itself has no fixed order."""


def shrink_figure(figure: Figure) -> Figure:
    """Round the numbers of a figure and fit it into the dashboard.

    >>> import plotly.graph_objects as go
    >>> shrink_figure(go.Figure(go.Scatter(y=[1 / 3, 2.0]))).data[0].y
    (0.33333, 2.0)
    """
    import plotly.graph_objects as go

    plain = _shorten(figure.to_plotly_json())
    layout = plain["layout"]
    layout.pop("width", None)
    out = go.Figure(data=plain["data"], layout={**layout, "height": HEIGHT, "autosize": True})
    out.layout.template = None  # larger than most figures, and added by default
    return out


def _shorten(value: Any) -> Any:
    """Round all numbers of a nested structure."""
    if isinstance(value, dict):
        return {key: _shorten(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shorten(item) for item in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def save_value_names(study: optuna.Study, names: list[str]) -> bool:
    """Name the values of trials; return whether anything changed.

    `Study.set_metric_names` stores the same attribute, but warns that it is experimental, and warnings cannot be
    ignored in one of several threads.
    """
    if storage_of(study).get_study_system_attrs(study_id(study)).get(METRIC_NAMES) == names:
        return False
    storage_of(study).set_study_system_attr(study_id(study), METRIC_NAMES, names)
    return True


def save_study_note(study: optuna.Study, note: str) -> bool:
    """Save the note unless it is up to date or was edited by a user; return whether anything changed."""
    from optuna_dashboard import get_note, save_note

    current = get_note(study)
    system = storage_of(study).get_study_system_attrs(study_id(study))
    if current == note or (current.strip() and digest(current) != system.get(keys.NOTE)):
        return False
    storage_of(study).set_study_system_attr(study_id(study), keys.NOTE, digest(note))
    save_note(study, note)
    return True


def save_figure(study: optuna.Study, name: str, figure: Figure) -> bool:
    """Save a figure unless it is up to date; return whether anything changed."""
    from optuna_dashboard import save_plotly_graph_object

    small = shrink_figure(figure)
    if load_figure(study, name) == json.loads(small.to_json()):
        return False
    save_plotly_graph_object(study, small, graph_object_id=name)
    return True


def load_figure(study: optuna.Study, name: str) -> Any:
    """Load a figure from the storage; None if it is missing or truncated."""
    attributes = storage_of(study).get_study_system_attrs(study_id(study))
    try:
        return json.loads(stored_figure(attributes, name))
    except ValueError:
        return None


def digest(text: str) -> str:
    """Return a short hash of a text.

    >>> digest("a"), digest("a") == digest("b")
    ('ca978112ca1bbdca', False)
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def compute_stamp(study: optuna.Study) -> str | None:
    """Hash everything that the note and figures of a finished study depend on; None if it is unfinished."""
    kind = find_kind(study)
    if kind is None or not kind.is_complete(study):
        return None
    attributes = study.user_attrs
    inputs = [keys.project_version(), attributes[kind.key], attributes[kind.result_key]]
    if kind is TUNE:
        inputs.append(_list_evidence(study))
    elif kind is GRID:
        spec = GRID.read_spec(study)
        recommendation = None if spec is None else find_recommendation(spec, list_recommendations(study))
        inputs.append(None if recommendation is None else recommendation.as_object())
    return digest(json.dumps(inputs, sort_keys=True))


def _list_evidence(study: optuna.Study) -> list[Any]:
    """List the comparisons that may show a policy to be better than the recommended one, with their state."""
    recommendation = keys.read_recommendation(study)
    return [
        [other.study_name, spec.model_dump(mode="json"), COMPARISON.is_complete(other)]
        for other, spec in list_comparison_specs(storage_of(study).get_all_studies())
        if recommendation is not None and is_evidence(spec, recommendation)
    ]


def has_stamp(study: optuna.Study, stamp: str | None) -> bool:
    """Whether the attached note and figures have this stamp."""
    system = storage_of(study).get_study_system_attrs(study_id(study))
    return stamp is not None and system.get(keys.ATTACHED) == stamp


def save_stamp(study: optuna.Study, stamp: str | None) -> None:
    """Save the stamp of a finished study."""
    if stamp is not None and not has_stamp(study, stamp):
        storage_of(study).set_study_system_attr(study_id(study), keys.ATTACHED, stamp)


def is_attached(study: optuna.Study) -> bool:
    """Whether a finished study has an up-to-date note and figures.

    >>> import optuna
    >>> is_attached(optuna.create_study(study_name="not ours"))
    False
    """
    return has_stamp(study, compute_stamp(study))


def list_recommendations(study: optuna.Study) -> Iterator[Recommendation]:
    """Iterate over all recommendations in the storage of a study that this version can read, except internal ones."""
    for other in storage_of(study).get_all_studies():
        if is_internal(other):
            continue
        try:
            recommendation = keys.read_recommendation(other)
        except InputError:
            continue
        if recommendation is not None:
            yield recommendation


def attach(study: optuna.Study, *, missing: bool = False, figures: bool = True) -> int:
    """Attach the note, figures and value names to a study, grid, robust search or comparison.

    Returns the number of changed items. With `missing`, a study that is up to date is skipped. Without `figures`,
    nothing is drawn, and the study is not yet up to date.

    >>> import optuna
    >>> attach(optuna.create_study(study_name="not ours"))
    0
    """
    stamp = compute_stamp(study)
    if missing and has_stamp(study, stamp):
        return 0
    if keys.is_front(study):  # keeps the note that an earlier version attached
        return 0
    kind = find_kind(study)
    content = None if kind is None else DESCRIBE[kind.name](study)
    changed = 0
    if content is not None:
        changed += save_value_names(study, [content.value]) + save_study_note(study, content.document.to_markdown())
    if figures:
        if content is not None:
            card = content.document.card
            drawn = content.draw() | ({} if card is None else {"card": plot_card(card)})
            changed += sum(save_figure(study, f"{PREFIX}{name}", figure) for name, figure in drawn.items())
        save_stamp(study, stamp)
    return changed


class _Content(NamedTuple):
    """What is attached to a study."""

    value: str
    """Name of the values of trials."""
    document: Document
    draw: Callable[[], dict[str, Figure]]
    """Draws the figures besides the card, by name."""


def _describe_study(study: optuna.Study) -> _Content | None:
    """Describe the recommendation of a tuned study, or the progress of an unfinished one."""
    spec = TUNE.read_spec(study)
    if spec is None:
        return None
    recommendation = keys.read_recommendation(study)
    if recommendation is not None:
        better = find_better_policies(storage_of(study), [recommendation]).get(recommendation.study)
        document = recommendation_document(recommendation, better)
    else:
        problem = f"{spec.policy} in {spec.scenario}, T = {spec.horizon:,}, K = {spec.arms}"
        progress = f"{len(study.get_trials(deepcopy=False)):,} of {spec.trials:,} trials are finished."
        document = Document("No recommendation yet", "", [progress], problem=problem)

    def draw() -> dict[str, Figure]:
        drawn = {} if recommendation is None else _draw_map(recommendation)
        if isinstance(spec.source, ScenarioSource) and not SCENARIOS.is_missing(spec.scenario):
            drawn["world"] = plots.plot_world(spec.source.open(), spec.horizon, spec.arms, seed=spec.seed)
        return drawn

    return _Content(parse_objective(spec.objective).label(), document, draw)


def _draw_map(recommendation: Recommendation) -> dict[str, Figure]:
    """Draw the sensitivity map of a study; that of one parameter is a line."""
    grid = recommendation.sensitivity
    if grid is None:
        return {}
    lines = {"lines": plots.plot_sensitivity_lines(grid, recommendation)}
    return lines if grid.mean.ndim < 2 else {"heat-map": plots.plot_heat_map(grid, recommendation), **lines}


def _describe_grid(study: optuna.Study) -> _Content | None:
    grid = GRID.read_result(storage_of(study), study)
    if grid is None:
        return None

    def draw() -> dict[str, Figure]:
        recommendation = find_recommendation(grid.spec, list_recommendations(study))
        played = play_recommendation(grid, recommendation)
        heat_map = plots.plot_heat_map(grid, recommendation, played)
        return {"heat-map": heat_map, "lines": plots.plot_sensitivity_lines(grid)}

    return _Content("mean regret", grid.to_document(), draw)


def _describe_robust(study: optuna.Study) -> _Content | None:
    result = keys.read_robust(study)
    if result is None:
        return None
    value = f"relative regret ({result.measure})"
    return _Content(value, result.to_document(), lambda: {"prices": plots.plot_prices(result)})


def _describe_comparison(study: optuna.Study) -> _Content | None:
    result = COMPARISON.read_result(storage_of(study), study)
    if result is None:
        return None

    def draw() -> dict[str, Figure]:
        board = result.main
        order = [standing.policy for standing in board.standings]
        drawn = {"standings": plots.plot_standings(result, order=order)}
        if board.best.entry.curve.steps:
            drawn["curves"] = plots.plot_comparison_curves(result, order=order)
        if board.ranks is not None:
            drawn["ranks"] = plots.plot_critical_difference(result, order=order)
        return drawn

    return _Content("mean regret", result.to_document(), draw)


DESCRIBE: dict[StudyKindName, Callable[[optuna.Study], _Content | None]] = {
    TUNE.name: _describe_study,
    ROBUST.name: _describe_robust,
    GRID.name: _describe_grid,
    COMPARISON.name: _describe_comparison,
}
