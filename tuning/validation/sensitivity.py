"""The sensitivity map of a study: the regret around the recommended parameters, all cells in the same worlds.

The map has its own held-out worlds, those of sensitivity grids. Single cells are too noisy for `TIE_MARGIN`: a cell is
tied if the surface of the search, which pools many candidates, or the cell's own interval says so, unless this interval
shows that the excess is larger.
"""

from itertools import product

import numpy as np

from ravenlab.common.interval import TIE_MARGIN
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies import find_policy
from ravenlab.policies.engine.plugins import PlainPolicy
from ravenlab.studies.results.grid import Grid, make_map_spec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.paired import SkewedEstimate
from ravenlab.studies.statistics.surface import exceeds
from ravenlab.tuning.validation.candidates import (
    DEFAULTS,
    MAX_DIGITS,
    PAPER,
    find_bounds,
    from_point,
    round_values,
    to_point,
)
from ravenlab.tuning.validation.choice import order_by_importance
from ravenlab.tuning.validation.held_out import Selection
from ravenlab.tuning.workers.problem import Evaluator

CELLS = (9, 7)  # values of the first and the second axis
RAVEN_AXES = ("alpha0", "beta0")
REACH = 0.2  # of the search range on each side of the recommended value, at least
BEYOND_TIED = 0.1  # of the search range beyond each end of the tied range
MIN_WORLDS = 300
MAX_WORLDS = 2000
SHARE = 0.5  # steps of the map relative to those of the study; its worlds are drawn once for all cells and not cached,
# so they take less than a quarter of the time
SMALL_STEPS = 2e8  # steps that take about a second; so many are always simulated, unless the policy is plain Python
DIGITS = 6  # of stored means and errors


def measure_sensitivity(selection: Selection, evaluator: Evaluator) -> Grid | None:
    """Play the map; None if the study is so small that fewer than `MIN_WORLDS` worlds are affordable."""
    spec = selection.spec
    chosen = selection.choice.values
    names = choose_names(selection)
    axes = {name: choose_values(selection, name, CELLS[place]) for place, name in enumerate(names)}
    cells = [{**chosen, **dict(zip(axes, values, strict=True))} for values in product(*axes.values())]
    worlds = count_worlds(spec, len(cells))
    if worlds is None:
        return None
    on_steps = evaluator.on_steps
    evaluator.on_steps = None  # the steps of the map are not part of the validation
    regret = np.ascontiguousarray(evaluator.play(cells, Stream.GRID, 0, worlds).regret)
    evaluator.on_steps = on_steps
    recommended = tuple(values.index(float(chosen[name])) for name, values in axes.items())
    shape = tuple(map(len, axes.values()))
    reference = regret[int(np.ravel_multi_index(recommended, shape))]
    intervals = [SkewedEstimate.of(sample, reference).interval() for sample in regret]
    low, high = (np.array([getattr(interval, end) for interval in intervals]) for end in ("low", "high"))
    margin = TIE_MARGIN * max(0.0, float(reference.mean()))
    tied = high <= margin
    if selection.surface is not None and spec.objective == "mean":
        points = np.stack([to_point(spec, cell) for cell in cells])
        tied |= ~exceeds(selection.surface, points, to_point(spec, chosen), TIE_MARGIN)
    shown = selection.best.shown
    return Grid(
        spec=make_map_spec(
            policy=spec.policy,
            scenario=spec.scenario,
            settings=dict(spec.settings),
            horizon=spec.horizon,
            arms=spec.arms,
            seed=spec.seed,
            unit=spec.reward_factor(),
            axes=axes,
            fixed={name: value for name, value in shown.items() if name not in axes},
            replications=worlds,
        ),
        study=selection.study,
        mean=_round(regret.mean(axis=1)).reshape(shape),
        stderr=_round(regret.std(axis=1, ddof=1) / worlds**0.5).reshape(shape),
        indistinguishable=(tied & (low <= margin)).reshape(shape),
        recommended=recommended,
        low=_round(low).reshape(shape),
        high=_round(high).reshape(shape),
    )


def count_worlds(spec: StudySpec, cells: int) -> int | None:
    """Return the number of worlds of a map; None if too few are affordable.

    >>> count_worlds(StudySpec(scenario="blips", horizon=100_000), 63)
    650
    >>> count_worlds(StudySpec(scenario="blips", horizon=100_000, trials=1, selection=20, report=20), 63) is None
    True
    """
    steps_per_world = cells * spec.horizon
    worlds = int(SHARE * spec.simulated_steps() / steps_per_world)
    plain = issubclass(find_policy(spec.policy), PlainPolicy)
    if worlds < MIN_WORLDS and (plain or MIN_WORLDS * steps_per_world > SMALL_STEPS):
        return None
    return min(max(worlds, MIN_WORLDS), MAX_WORLDS)


def choose_names(selection: Selection) -> list[str]:
    """Choose the axes: α₀ and β₀ if both were searched, otherwise the two most important parameters."""
    space = selection.spec.space
    if all(name in space for name in RAVEN_AXES):
        return list(RAVEN_AXES)
    return order_by_importance(selection.spec, selection.importance)[: len(CELLS)]


def choose_values(selection: Selection, name: str, size: int) -> tuple[float, ...]:
    """Choose the values of an axis: evenly spaced on the search scale below and above the recommended value.

    They cover the tied range, the paper's advice and the defaults; the last two replace the nearest value.
    """
    spec = selection.spec
    chosen = selection.choice.values
    place = list(spec.space).index(name)
    lowest, highest = (float(ends[place]) for ends in find_bounds(spec))

    def locate(value: object) -> float:
        return float(to_point(spec, {**chosen, name: value})[place])

    center = locate(chosen[name])
    baselines = [selection.baselines[each] for each in (PAPER, DEFAULTS) if each in selection.baselines]
    marked = [float(baseline.values[name]) for baseline in baselines]
    inside = [value for value in marked if lowest <= locate(value) <= highest]
    width = highest - lowest
    reach = [center - REACH * width, center + REACH * width, *map(locate, inside)]
    tied = None if selection.ranges is None else selection.ranges[name]
    if tied is not None:
        low, *_, high = sorted(map(locate, tied))
        reach += [low - BEYOND_TIED * width, high + BEYOND_TIED * width]
    start = min(center, max(lowest, min(reach)))
    end = max(center, min(highest, max(reach)))
    below = _count_below(start, center, end, size)
    coordinates = np.concatenate([np.linspace(start, center, below + 1), np.linspace(center, end, size - below)[1:]])
    values = [_value_at(selection, place, name, float(coordinate)) for coordinate in coordinates]
    values[below] = float(chosen[name])
    for value in inside:
        nearest = int(np.argmin(np.abs(coordinates - locate(value))))
        if nearest != below:
            values[nearest] = value
    return tuple(sorted(set(values)))


def _count_below(start: float, center: float, end: float, size: int) -> int:
    """Return how many of the values lie below the center: in proportion to the range, at least one if there is any.

    >>> _count_below(0.0, 1.0, 4.0, 9), _count_below(0.0, 0.0, 4.0, 9), _count_below(0.0, 3.9, 4.0, 9)
    (2, 0, 7)
    """
    if start == end:
        return size - 1
    share = round((center - start) / (end - start) * (size - 1))
    return min(max(share, int(center > start)), size - 1 - int(center < end))


def _value_at(selection: Selection, place: int, name: str, coordinate: float) -> float:
    """Return the value at a coordinate of the search scale with few digits."""
    spec = selection.spec
    point = to_point(spec, selection.choice.values)
    point[place] = coordinate
    return float(round_values(spec, from_point(spec, point), [name], MAX_DIGITS)[name])


def _round(values: Floats) -> Floats:
    """Round to the digits that are stored, so that a map that is read back equals the computed one."""
    return np.array([float(f"{value:.{DIGITS}g}") for value in values.tolist()])
