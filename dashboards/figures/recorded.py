"""Traces and logs over time, with the segments for search, selection and report."""

from typing import Any

import numpy as np

from ravenlab.common.text import format_number, plural
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.style import Figure
from ravenlab.dashboards.figures.world import MOST_ARMS, arm_line, arms_to_draw
from ravenlab.environments.blocks import RecordedScenario
from ravenlab.environments.recorded.log_world import LogScenario
from ravenlab.environments.recorded.recording import SEGMENT_SHARES
from ravenlab.environments.recorded.trace_world import TraceScenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats

LABELS = {Stream.SEARCH: "search", Stream.SELECTION: "selection", Stream.REPORT: "report"}
SHADES = {Stream.SEARCH: 0.0, Stream.SELECTION: 0.1, Stream.REPORT: 0.2}


def _mark_segments(scenario: RecordedScenario) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Make the shadings and labels of the segments."""
    shadings = []
    labels = []
    for stream in SEGMENT_SHARES:
        segment = scenario.segment(stream)
        shadings.append(
            style.make_shading(segment.first + 0.5, segment.last + 0.5, style.fade(style.GREY, SHADES[stream]))
        )
        labels.append(_annotate((segment.first + segment.last) / 2, 1.0, LABELS[stream], "top"))
    return shadings, labels


def _annotate(x: float, y: float, text: str, anchor: str) -> dict[str, Any]:
    return {
        "x": style.round_number(x),
        "y": y,
        "xref": "x",
        "yref": "paper",
        "yanchor": anchor,
        "showarrow": False,
        "text": text,
        "font": {"size": 11},
    }


def _describe_segments(scenario: RecordedScenario, what: str = "rows") -> str:
    """Describe the segments in a sentence."""
    parts = []
    for stream in SEGMENT_SHARES:
        segment = scenario.segment(stream)
        parts.append(f"{LABELS[stream]} {what} {segment.first + 1:,} to {segment.last:,}")
    return f"{', '.join(parts)}.".capitalize()


MAX_POINTS = 240


def plot_trace(scenario: TraceScenario, window: int, name: str | None = None) -> Figure:
    """Plot means over neighbouring rows of the arms of a trace with its segments; the currently best arm is bold.

    `name` replaces the name of the trace in titles.

    >>> from ravenlab.environments.recorded.trace_file import Trace
    >>> table = np.random.default_rng(1).normal(size=(400, 3))
    >>> figure = plot_trace(TraceScenario(Trace.from_values(["a", "b", "c"], table), "trace:mine"), 50)
    >>> figure.data[-1].name
    'currently best arm'
    """
    sign = -1.0 if scenario.minimize else 1.0
    means = scenario.means
    best_arm = scenario.draw_run(0).best_arm
    rows, table = _average_parts(sign * means)
    _, best = _average_parts(sign * means[np.arange(len(means)), best_arm][:, None])
    times_best = np.bincount(best_arm, minlength=scenario.arms)
    shown = arms_to_draw(times_best, means)
    traces = [arm_line(rows, table[:, k], scenario.trace.names[k], place) for place, k in enumerate(shown)]
    look = {"line": {"color": style.VERMILION, "width": 3.5}, "opacity": 0.85}
    traces.append(arm_line(rows, best[:, 0], "currently best arm", 0) | look)
    bottom, top = _axis_range(np.concatenate([table[:, shown].ravel(), best[:, 0]]))
    unit = "cost" if scenario.minimize else "reward"
    missing = sum(scenario.trace.missing)
    number = int(np.count_nonzero(times_best))
    reach = scenario.nearby.reach
    context = [
        style.escape_text(name or scenario.name),
        f"{scenario.trace.rows:,} rows",
        f"K = {scenario.arms} arms",
        f"{'window' if window <= scenario.shortest_segment else 'horizon'} {window}",
    ]
    if len(shown) < scenario.arms:
        context.append(f"{len(shown)} of {scenario.arms} arms drawn")
    shadings, labels = _mark_segments(scenario)
    return style.make_figure(
        traces,
        style.format_title(f"Trace: means over {reach:,} rows before and after", *context),
        f"Means over neighbouring rows of {scenario.arms} arms at {scenario.trace.rows:,} rows of"
        f" {name or scenario.name}, from {format_number(float(np.nanmin(table)))} to"
        f" {format_number(float(np.nanmax(table)))};"
        f" {number} {'arm is' if number == 1 else 'arms are'} best at some row;"
        f" {plural(missing, 'cell is', 'cells are')} missing. {_describe_segments(scenario)}",
        height=520,
        xaxis=style.make_axis("row", range=[0, scenario.trace.rows + 1]),
        yaxis=style.make_axis(f"mean {unit} of neighbouring rows", range=[bottom, top]),
        shapes=[*shadings, _ruler(window)],
        annotations=[*labels, {**_annotate(1, 0.035, "one window", "bottom"), "xanchor": "left"}],
    )


def _average_parts(table: Floats) -> tuple[Floats, Floats]:
    """Return the middles and means of equal parts of the rows; NaN where a part has no value."""
    rows = table.shape[0]
    cuts = np.unique(np.linspace(0, rows, min(MAX_POINTS, rows) + 1).astype(np.int64))
    known = ~np.isnan(table)
    sums = np.add.reduceat(np.where(known, table, 0.0), cuts[:-1], axis=0)
    counts = np.add.reduceat(known.astype(np.float64), cuts[:-1], axis=0)
    means = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return np.asarray(np.round((cuts[:-1] + 1 + cuts[1:]) / 2)), means


def _axis_range(values: Floats) -> tuple[float, float]:
    """Choose an axis range that excludes single spikes."""
    low, high = (float(end) for end in np.nanquantile(values, [0.01, 0.99]))
    room = 0.08 * (high - low) or 0.5
    return low - room, high + 3 * room


def _ruler(window: int) -> dict[str, Any]:
    ends = {"x0": 1, "x1": window, "y0": 0.03, "y1": 0.03}
    return {"type": "line", "xref": "x", "yref": "paper", **ends, "line": {"color": style.GREY, "width": 3}}


MAX_PARTS = 20


def plot_log(scenario: LogScenario, name: str | None = None) -> Figure:
    """Plot the mean reward of each arm and of the logging policy in equal parts of a log, with its segments.

    `name` replaces the name of the log in titles.

    >>> from ravenlab.environments.recorded.examples import example_log
    >>> plot_log(LogScenario(example_log(), "log:mine")).data[-1].name
    'logging policy'
    """
    log = scenario.log
    parts = max(1, min(MAX_PARTS, log.events // (20 * log.arms)))
    cuts = np.linspace(0, log.events, parts + 1).astype(np.int64)
    middles = np.asarray(np.round((cuts[:-1] + 1 + cuts[1:]) / 2))
    part = np.searchsorted(cuts, np.arange(log.events), side="right") - 1
    table = _means_by_group(part * log.arms + log.arm, log.reward, parts * log.arms).reshape(parts, log.arms)
    whole = _means_by_group(part, log.reward, parts)
    shown = sorted(int(k) for k in np.argsort([-count for count in log.counts], kind="stable")[:MOST_ARMS])
    traces = [arm_line(middles, table[:, k], log.names[k], place, "events around") for place, k in enumerate(shown)]
    look = {"line": {"color": style.GREY, "width": 3.5}}
    traces.append(arm_line(middles, whole, "logging policy", 0, "events around") | look)
    bottom, top = _axis_range(np.concatenate([table[:, shown].ravel(), whole]))
    unit = "cost" if scenario.minimize else "reward"
    context = [style.escape_text(name or scenario.name), f"{log.events:,} events", f"K = {log.arms} arms"]
    if len(shown) < log.arms:
        context.append(f"the {len(shown)} most frequent of {log.arms} arms drawn")
    shadings, labels = _mark_segments(scenario)
    return style.make_figure(
        traces,
        style.format_title(f"Log: mean {unit} in {parts} parts", *context),
        f"Mean {unit} of {log.arms} arms in {parts} parts of the {log.events:,} events of {name or scenario.name}, from"
        f" {format_number(float(np.nanmin(table)))} to {format_number(float(np.nanmax(table)))}; of the logging policy"
        f" {format_number(float(log.reward.mean()))}. {_describe_segments(scenario, 'events')}",
        height=520,
        xaxis=style.make_axis("event", range=[0, log.events + 1]),
        yaxis=style.make_axis(f"mean {unit}", range=[bottom, top]),
        shapes=shadings,
        annotations=labels,
    )


def _means_by_group(where: Any, values: Floats, count: int) -> Floats:
    """Average values by group; NaN for empty groups."""
    sums = np.bincount(where, values, count)
    sizes = np.bincount(where, minlength=count)
    means = np.full(count, np.nan)
    np.divide(sums, sizes, out=means, where=sizes > 0)
    return means
