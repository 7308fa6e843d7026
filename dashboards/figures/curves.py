"""Cumulative regret and reward of simulations over time."""

from collections.abc import Sequence

import numpy as np

from ravenlab.common.text import format_number, plural
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.simulation import Simulation
from ravenlab.studies.symbols import format_params

MAX_POINTS = 160  # of all lines of a panel together


def plot_curves(
    results: Sequence[Simulation],
    changes: Sequence[int] = (),
    names: Sequence[str] = (),
    *,
    costs: bool = False,
    bands: bool = True,
) -> Figure:
    """Plot mean cumulative regret and reward of simulations with 95 % bands.

    Rewards of good policies are nearly equal. If several simulations use the same worlds, the lower panel therefore
    shows the paired difference in reward from the first simulation.

    Args:
        results: Simulations with curves (`checkpoints`).
        changes: Steps to mark.
        names: Names of the simulations; policy and parameters by default.
        costs: Show rewards as costs, with the opposite sign.
        bands: Draw 95 % intervals; they would be too narrow for the overlapping windows of a trace.

    >>> from ravenlab.policies.engine.simulation import simulate
    >>> result = simulate("ucb1", "blips", horizon=100, arms=3, replications=4, checkpoints=10)
    >>> figure = plot_curves([result], changes=[50])
    >>> figure.layout.xaxis.title.text
    'step t'
    """
    drawn = [
        (name, each, each.curve)
        for name, each in zip(_complete_names(results, names), results, strict=True)
        if each.curve is not None
    ]
    if not drawn:
        title = style.format_title("Regret and reward over time", *_context(results))
        return style.make_empty_figure(title, "The simulations have no curves.")
    unit = "cost" if costs else "reward"
    sign = -1.0 if costs else 1.0
    beside, first, base = drawn[0]
    paired = len(drawn) > 1 and all(_same_worlds(first, each) for _, each, _ in drawn)
    below = f"{unit} difference from {style.escape_text(beside, 44)}" if paired else unit
    panels: tuple[list[PlotlyTrace], list[PlotlyTrace]] = ([], [])
    parts = []
    points = max(24, MAX_POINTS // len(drawn))
    for place, (name, each, curve) in enumerate(drawn):
        steps = curve.steps
        kept = np.unique(np.linspace(0, steps.size - 1, min(points, steps.size)).round().astype(int))
        paid = sign * (curve.reward - base.reward if paired else curve.reward)
        for traces, what, values in zip(panels, ("regret", below), (curve.regret, paid), strict=True):
            traces += _line(each, name, what, values[:, kept], steps[kept], place, bands)
        final = sign * float(curve.reward[:, -1].mean())
        parts.append(f"{name}: regret {format_number(float(each.regret.mean()))}, {unit} {format_number(final)}")
    entry, shapes = style.make_change_lines(changes)
    title = f"Regret and {unit} over time"
    against = ""
    measured = f"cumulative {unit}"
    if paired:
        title = f"Regret and difference in {unit} over time"
        against = f" (difference from {beside})"
        measured = f"{unit} difference"
    marked = f" {plural(len(changes), 'change is', 'changes are')} marked." if changes else ""
    axes = style.make_axis("cumulative regret", rangemode="tozero"), style.make_axis(measured, rangemode="tozero")
    return style.make_stacked_figure(
        list(zip(panels, axes, strict=True)),
        style.make_step_axis(max(each.horizon for _, each, _ in drawn)),
        style.format_title(title, *_context([each for _, each, _ in drawn])),
        f"Mean cumulative regret and {unit}{against} over {first.horizon:,} steps in {first.scenario},"
        f" K = {first.arms}, R = {first.replications:,}{', with 95 % bands' if bands else ''}. At the end:"
        f" {'; '.join(parts)}.{marked}",
        entries=entry,
        link={"kind": "curves"},
        height=600,
        shapes=shapes,
    )


def _complete_names(results: Sequence[Simulation], names: Sequence[str]) -> list[str]:
    """Name further simulations by their parameters, with the policy if there are several policies."""
    several = len({each.policy for each in results if each.curve is not None}) > 1
    complete = list(names)
    for each in results[len(names) :]:
        params = format_params({key: value for key, value in each.params.items() if not isinstance(value, str)})
        complete.append(f"{each.policy} ({params})" if several else params)
    return complete


def _same_worlds(one: Simulation, other: Simulation) -> bool:
    """Whether two simulations use the same worlds and checkpoints."""
    keys = ("scenario", "settings", "horizon", "arms", "replications", "seed")
    return (
        all(getattr(one, key) == getattr(other, key) for key in keys)
        and one.curve is not None
        and other.curve is not None
        and np.array_equal(one.curve.steps, other.curve.steps)
    )


def _context(results: Sequence[Simulation]) -> list[str]:
    policies = list(dict.fromkeys(style.escape_text(each.policy) for each in results))
    return (
        []
        if not results
        else [
            ", ".join(policies) if len(policies) < 3 else f"{len(policies)} policies",
            style.escape_text(results[0].scenario),
            *style.format_sizes(results[0].horizon, results[0].arms, results[0].replications),
        ]
    )


def _line(
    each: Simulation,
    name: str,
    what: str,
    values: Floats,
    steps: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    place: int,
    bands: bool,
) -> list[PlotlyTrace]:
    """Make a line with its band; a single world has no interval."""
    mean = values.mean(axis=0)
    count = values.shape[0]
    stderr = values.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.zeros_like(mean)
    around, line = style.make_line_with_band(
        steps.tolist(),
        mean.tolist(),
        stderr.tolist(),
        place,
        least=0.0 if what == "regret" and values.min() >= 0.0 else -np.inf,
        mode="lines" if steps.size > 1 else "markers",
        name=style.escape_text(name, 44),
        meta={
            "params": {
                style.escape_text(key): value for key, value in each.params.items() if not isinstance(value, str)
            }
        },
        hovertext=f"<b>{style.escape_text(name, 100)}</b><br>"
        f"{style.escape_text(each.policy)}: {style.escape_text(format_params(each.params), 120)}",
        hovertemplate=(
            f"%{{hovertext}}<br>t = %{{x}}, R = {count:,} worlds<br>"
            f"mean {what} %{{y}} ± %{{customdata}} (standard error)<extra></extra>"
        ),
    )
    return [around, line] if bands and stderr.any() and steps.size > 1 else [line]
