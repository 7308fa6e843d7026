"""Figures of results, as Plotly figures: the public module `ravenlab.figures`.

Functions of results also take names of stored studies, and the keyword argument `storage`: the URL of their database,
by default RAVENLAB_STORAGE or sqlite:///studies.sqlite3. `plot` draws the main figure of any result. Figures are
readable on light and dark backgrounds; `apply_theme` adapts one to a known background, and `get_alt_text` describes it
in words.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ravenlab.common.documents import IntervalRow, Result
from ravenlab.common.errors import InputError
from ravenlab.common.text import format_interval
from ravenlab.dashboards import figures
from ravenlab.dashboards.figures.grid_marks import PlayedPoint
from ravenlab.dashboards.figures.style import escape_text, format_sizes
from ravenlab.dashboards.pages.report.data import play_recommendation, simulate_recommendation
from ravenlab.dashboards.pages.report.maps import group_alike
from ravenlab.environments import Scenario, find_scenario
from ravenlab.environments.recorded.log_file import Log
from ravenlab.environments.recorded.log_world import LogScenario, open_log
from ravenlab.environments.recorded.trace_file import Trace
from ravenlab.environments.recorded.trace_world import TraceScenario, open_trace
from ravenlab.policies.engine.simulation import Simulation
from ravenlab.studies.diagnosis.result import Diagnosis
from ravenlab.studies.laws.recommendation import RecommendedParameters
from ravenlab.studies.results.comparison import ComparisonResult
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import RobustRecommendation
from ravenlab.studies.spec.parse import parse_study_spec
from ravenlab.studies.symbols import format_params
from ravenlab.tuning.queries import as_list, load_result
from ravenlab.tuning.validation.replay import Replay

if TYPE_CHECKING:
    import plotly.graph_objects as go

T = TypeVar("T")

__all__ = [
    "apply_theme",
    "get_alt_text",
    "plot",
    "plot_card",
    "plot_comparison_curves",
    "plot_critical_difference",
    "plot_curves",
    "plot_diagnosis",
    "plot_distributions",
    "plot_heat_map",
    "plot_log",
    "plot_params_by_horizon",
    "plot_prices",
    "plot_ranking",
    "plot_recommendations",
    "plot_relative_regret",
    "plot_replays",
    "plot_sensitivity_lines",
    "plot_sensitivity_panels",
    "plot_standings",
    "plot_trace",
    "plot_world",
]


STORAGE = (
    "Results may be names of stored studies; `storage` is the URL of their database, by default RAVENLAB_STORAGE or"
    " sqlite:///studies.sqlite3."
)


def loading(**kinds: type | list[type]) -> Callable[[Callable[..., go.Figure]], Callable[..., go.Figure]]:
    """Make a figure take names of stored studies for some arguments, and the keyword argument `storage`.

    Args:
        kinds: The kind of result of each of these arguments; [kind] for one or several results, which the figure gets
            as a list.
    """

    def decorate(draw: Callable[..., go.Figure]) -> Callable[..., go.Figure]:
        signature = inspect.signature(draw)

        @wraps(draw)
        def plot(*args: Any, storage: str | None = None, **options: Any) -> go.Figure:
            bound = signature.bind(*args, **options)
            for name, kind in kinds.items():
                given = bound.arguments.get(name)
                if isinstance(kind, list):
                    bound.arguments[name] = [_load(item, kind[0], storage) for item in as_list(given)]
                    if not bound.arguments[name]:
                        raise InputError("there is nothing to plot: the list of results is empty.")
                elif given is not None:
                    bound.arguments[name] = _load(given, kind, storage)
            return draw(*bound.args, **bound.kwargs)

        location = inspect.Parameter("storage", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="str | None")
        parameters = [*signature.parameters.values(), location]
        plot.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        plot.__doc__ = f"{inspect.getdoc(draw)}\n\n{STORAGE}"
        return plot

    return decorate


def _load(result: Any, kind: type[T], storage: str | None) -> T:
    """Return a result of the expected kind; a name is loaded."""
    return _check_kind(load_result(result, storage=storage) if isinstance(result, str) else result, kind)


def _check_kind(result: Any, kind: type[T]) -> T:
    if not isinstance(result, kind):
        raise InputError(f"the figure needs a result of kind {kind.__name__} but got {type(result).__name__}.")
    return result


plot_recommendations = loading(recommendations=[Recommendation])(figures.plot_recommendations)
plot_params_by_horizon = loading(recommendations=[Recommendation])(figures.plot_params_by_horizon)
plot_ranking = loading(result=ComparisonResult)(figures.plot_ranking)
plot_standings = loading(result=ComparisonResult)(figures.plot_standings)
plot_comparison_curves = loading(result=ComparisonResult)(figures.plot_comparison_curves)
plot_critical_difference = loading(result=ComparisonResult)(figures.plot_critical_difference)
plot_relative_regret = loading(results=[ComparisonResult])(figures.plot_relative_regret)
plot_prices = loading(result=RobustRecommendation)(figures.plot_prices)
plot_diagnosis = figures.plot_diagnosis
apply_theme = figures.apply_theme
get_alt_text = figures.get_alt_text


@loading(result=[object])
def plot(result: list[Any]) -> go.Figure:
    """Plot the main figure of a result, of a list of results of the same kind, or of a stored study.

    Args:
        result: Anything that `tune`, `grid`, `compare`, `simulate`, `replay`, `diagnose`, `recommend` or `tune_robust`
            returns, a scenario, or the name of a stored study.

    Returns:
        A Plotly figure: regret of the recommended parameters and the baselines, heat map of a grid, ranking of
        policies, regret over time or its distribution, prices, fitted changes, or the arms of one world.

    Raises:
        InputError: There is no figure for the object, or no study of this name.

    Example:

    >>> from ravenlab.policies.engine.simulation import simulate
    >>> plot(simulate("ucb1", "blips", horizon=100, arms=3, replications=4, checkpoints=10)).layout.xaxis.title.text
    'step t'
    """
    items: list[Any] = result
    first: Any = items[0]
    kind = type(first)
    if any(type(item) is not kind for item in items):
        raise InputError("results of different kinds can't be drawn in one figure; plot them one by one.")
    if issubclass(kind, Recommendation):
        return plot_recommendations(items)
    if issubclass(kind, Simulation):
        return plot_curves(items) if first.curve is not None else plot_distributions(items)
    if issubclass(kind, Replay):
        return plot_replays(items)
    if issubclass(kind, ComparisonResult) and len(items) > 1:
        return plot_relative_regret(items)
    if len(items) > 1:
        raise InputError(f"there is no figure of several results of this kind ({kind.__name__}); plot them one by one.")
    if issubclass(kind, RecommendedParameters):
        return _plot_parameters(first)
    single: dict[type, Any] = {
        ComparisonResult: plot_standings,
        Diagnosis: plot_diagnosis,
        Grid: plot_heat_map,
        RobustRecommendation: plot_prices,
        Scenario: plot_world,
    }
    for known, draw in single.items():
        if issubclass(kind, known):
            figure: go.Figure = draw(first)
            return figure
    raise InputError(f"there is no figure of {kind.__name__!r}.")


def _plot_parameters(result: RecommendedParameters) -> go.Figure:
    """Plot the regret of parameters for a problem: measured by a study with its baselines, or expected."""
    if result.study is not None:
        source = "a short search" if result.kind == "searched" else "a stored study"
        return figures.plot_recommendations([result.study], source)
    context = [escape_text(result.policy), escape_text(result.scenario), *format_sizes(result.horizon, result.arms)]
    if result.simulated is not None:
        row = IntervalRow.of("no parameters", result.simulated)
        title = "Mean regret in simulated worlds; there is nothing to set"
        return figures.plot_scores([row], title, "mean regret, 95 % CI", *context)
    params = format_params(result.params)
    row = IntervalRow(params, result.regret, f"{params}<br>expected mean regret {format_interval(result.regret)}")
    title = "Expected regret of the parameters of the law"
    return figures.plot_scores([row], title, "mean regret, 95 % interval", *context, f"{result.kind}, not measured")


@loading(result=object)
def plot_card(result: Any) -> go.Figure:
    """Plot the card of the dashboard: the answer in large type with its parameters and an interval plot.

    Args:
        result: A recommendation, a robust recommendation or a comparison.
    """
    card = result.to_document().card if isinstance(result, Result) else None
    if card is None:
        raise InputError(f"there is no card of {type(result).__name__!r}.")
    return figures.plot_card(card)


@loading(grid=object, recommendation=Recommendation)
def plot_heat_map(grid: Grid | Recommendation, recommendation: Recommendation | None = None) -> go.Figure:
    """Plot by how much the regret of every cell exceeds the lowest, and outline the cells that are as good.

    Args:
        grid: A grid, or the recommendation of a study, whose sensitivity map is drawn.
        recommendation: The recommendation for the same problem as a grid, or its name; it is played in the worlds of
            the grid and marked.
    """
    return figures.plot_heat_map(*_find_map(grid, recommendation))


@loading(grid=object, recommendation=Recommendation)
def plot_sensitivity_lines(grid: Grid | Recommendation, recommendation: Recommendation | None = None) -> go.Figure:
    """Plot the regret against the first parameter of a grid or sensitivity map, one line per value of the second.

    Args:
        grid: A grid, or the recommendation of a study, whose sensitivity map is drawn.
        recommendation: The recommendation for the same problem as a grid, or its name; it is played in the worlds of
            the grid and marked.
    """
    return figures.plot_sensitivity_lines(*_find_map(grid, recommendation))


def _find_map(
    grid: Any, recommendation: Recommendation | None
) -> tuple[Grid, Recommendation | None, PlayedPoint | None]:
    """Return the grid, or the map of a study, with what is marked in it."""
    if isinstance(grid, Recommendation):
        if grid.sensitivity is None:
            raise InputError(f"{grid.study!r} has no sensitivity map; compute a grid of the same problem.")
        return grid.sensitivity, grid, None
    found = _check_kind(grid, Grid)
    return found, recommendation, play_recommendation(found, recommendation)


@loading(recommendations=[Recommendation])
def plot_sensitivity_panels(recommendations: list[Recommendation]) -> go.Figure:
    """Plot the sensitivity maps of several studies as in the paper's Figure 3: a panel per scenario and horizon.

    Args:
        recommendations: At least two recommendations with sensitivity maps that differ only in scenario and horizon.
    """
    groups = group_alike(recommendations)
    if len(groups) != 1 or len(groups[0]) != len(recommendations):
        raise InputError("panels need several sensitivity maps of studies that differ only in scenario and horizon.")
    return figures.plot_sensitivity_panels(recommendations)


@loading(results=[object])
def plot_curves(results: list[Any]) -> go.Figure:
    """Plot mean cumulative regret and reward over time with 95 % bands.

    Args:
        results: One or several simulations with checkpoints; or a recommendation : its
            parameters and the baselines are simulated on up to 100 worlds.
    """
    first = results[0]
    if isinstance(first, Simulation):
        return figures.plot_curves(results)
    recommendation = _check_kind(first, Recommendation)
    if recommendation.recorded is not None:
        raise InputError("regret over time of a recorded trace or log is shown in the report only.")
    spec = parse_study_spec({"scenario": recommendation.scenario, "policy": recommendation.policy})
    curves = simulate_recommendation(recommendation, 1, spec)
    if curves is None:
        raise InputError(f"simulating {recommendation.study!r} over time would take too long.")
    return figures.plot_curves(list(curves.simulations.values()), curves.changes, list(curves.simulations))


@loading(results=[Simulation])
def plot_distributions(results: list[Simulation], *, measure: str = "regret") -> go.Figure:
    """Plot the distribution over worlds: quartiles, whiskers from 5 % to 95 %, and the mean with its 95 % interval.

    Args:
        results: One or several results of the same scenario and horizon.
        measure: "regret", "reward" or "suboptimal_pulls".
    """
    problems = {(each.scenario, each.horizon, each.arms) for each in results}
    if len(problems) != 1:
        raise InputError("distributions can be compared only for one scenario, horizon and number of arms.")
    ((scenario, horizon, arms),) = problems
    if any(measure not in each.measures() for each in results):
        raise InputError(f"measure must be {', '.join(results[0].measures())} but got {measure!r}.")
    policies = [each.policy for each in results]
    samples = {}
    for number, each in enumerate(results, start=1):
        name = each.policy if policies.count(each.policy) == 1 else f"{each.policy} ({number})"
        samples[name] = each.measures()[measure]
    policy = policies[0] if len(policies) == 1 else f"{len(policies)} policies"
    title = measure.replace("_", " ")
    return figures.plot_distributions(
        samples, scenario=scenario, horizon=horizon, arms=arms, policy=policy, measure=title
    )


@loading(results=[Replay])
def plot_replays(results: list[Replay]) -> go.Figure:
    """Plot the estimated mean reward of policies with 95 % intervals, next to that of the logging policy.

    Args:
        results: One or several results of the same log; inconclusive ones are left out.
    """
    rows = []
    for each in results:
        if each.inconclusive is None:
            hover = f"{each.policy}<br>{format_params(each.params)}<br>{format_interval(each.score)}"
            rows.append(IntervalRow(each.policy, each.score, hover))
    logged = results[0].logged
    rows.append(IntervalRow("logging policy", logged, f"logging policy<br>{format_interval(logged)}"))
    return figures.plot_scores(rows, "Mean reward per step if deployed", "mean reward per step")


def plot_world(
    scenario: Scenario | str,
    horizon: int | None = None,
    arms: int | None = None,
    *,
    seed: int = 0,
    replication: int = 0,
) -> go.Figure:
    """Plot means and variances of the arms of one world over time.

    Args:
        scenario: A scenario, or its name; effects may be joined by "+".
        horizon: Number of steps T; by default that of the scenario.
        arms: Number of arms K; by default that of the scenario.
        seed: Random seed.
        replication: Number of the world.

    Example:

    >>> "blips" in get_alt_text(plot_world("blips", 500, 3))
    True
    """
    source = find_scenario(scenario) if isinstance(scenario, str) else scenario
    steps = source.horizon if horizon is None else horizon
    count = source.arms if arms is None else arms
    source.check(steps, count)
    return figures.plot_world(source, steps, count, seed, replication)


def plot_trace(trace: str | Path | Trace, window: int, *, minimize: bool = False) -> go.Figure:
    """Plot the arms of a trace, averaged over neighbouring rows, with its segments.

    Args:
        trace: A file or a `Trace`.
        window: Number of rows of a window, the horizon of a study on the trace.
        minimize: Whether the values are costs.
    """
    scenario = (
        TraceScenario(trace, "trace:table", minimize) if isinstance(trace, Trace) else open_trace(trace, minimize)
    )
    return figures.plot_trace(scenario, window)


def plot_log(log: str | Path | Log, *, minimize: bool = False) -> go.Figure:
    """Plot the rewards of a log over time, with its segments.

    Args:
        log: A file or a `Log`.
        minimize: Whether rewards are costs.
    """
    scenario = LogScenario(log, "log:table", minimize) if isinstance(log, Log) else open_log(log, minimize)
    return figures.plot_log(scenario)
