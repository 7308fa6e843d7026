"""A log as it was recorded: what each arm paid over its events, and which events search, choose and report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures._arms import MOST_ARMS, arm_line
from dashboards.figures._recorded import reach
from dashboards.figures._scales import axis, numbers
from dashboards.figures._stretches import in_words, labels, stretches
from dashboards.figures._style import GREY, Trace, make
from dashboards.figures._titles import heading, safe
from environments.log_world import LogScenario
from environments.text import format_number
from environments.world import Floats

if TYPE_CHECKING:
    import plotly.graph_objects as go

PARTS = 20


def logged(scenario: LogScenario) -> go.Figure:
    """Mean reward of each arm in even parts of the log, and the logging policy's own, the three stretches shaded.

    >>> from environments.example_log import example_log
    >>> logged(LogScenario(example_log(), "log:mine")).data[-1].name
    'the logging policy'
    """
    log = scenario.log
    parts = max(1, min(PARTS, log.events // (20 * log.arms)))
    cuts = np.linspace(0, log.events, parts + 1).astype(np.int64)
    middles = np.asarray(np.round((cuts[:-1] + 1 + cuts[1:]) / 2))
    part = np.searchsorted(cuts, np.arange(log.events), side="right") - 1
    table = _means(part * log.arms + log.arm, log.reward, parts * log.arms).reshape(parts, log.arms)
    whole = _means(part, log.reward, parts)
    shown = sorted(int(k) for k in np.argsort([-count for count in log.counts], kind="stable")[:MOST_ARMS])
    traces: list[Trace] = [
        arm_line(middles, table[:, k], log.names[k], place, "events around") for place, k in enumerate(shown)
    ]
    traces.append(
        {
            "type": "scatter",
            "x": numbers(middles),
            "y": numbers(whole),
            "mode": "lines",
            "line": {"color": GREY, "width": 3.5},
            "name": "the logging policy",
            "hovertemplate": "the logging policy<br>events around %{x}<br>%{y}<extra></extra>",
        }
    )
    bottom, top = reach(np.concatenate([table[:, shown].ravel(), whole]))
    unit = "cost" if scenario.minimize else "reward"
    context = [safe(scenario.name), f"{log.events:,} events", f"K = {log.arms} arms"]
    if len(shown) < log.arms:
        context.append(f"the {len(shown)} most frequent of {log.arms} arms drawn")
    return make(
        traces,
        heading(f"The log: mean {unit} in {parts} parts of it", *context),
        f"Mean {unit} of {log.arms} arms in {parts} parts of the {log.events:,} events of {scenario.name}, from"
        f" {format_number(float(np.nanmin(table)))} to {format_number(float(np.nanmax(table)))}; of the logging policy"
        f" {format_number(float(log.reward.mean()))}. {in_words(scenario, 'events')}",
        height=520,
        xaxis=axis("event", range=[0, log.events + 1]),
        yaxis=axis(f"mean {unit}", range=[bottom, top]),
        shapes=stretches(scenario),
        annotations=labels(scenario),
    )


def _means(where: Any, values: Floats, count: int) -> Floats:
    """Means of values by their place; NaN where there are none."""
    sums, sizes = np.bincount(where, values, count), np.bincount(where, minlength=count)
    means = np.full(count, np.nan)
    np.divide(sums, sizes, out=means, where=sizes > 0)
    return means
