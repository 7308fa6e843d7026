"""Distribution of the regret over worlds: box plots of a few candidates."""

import re
import textwrap
from collections.abc import Mapping

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.common.text import format_number
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.environments.world import Floats

MAX_BOXES = 12

MEAN_MARKER = {"symbol": "diamond", "size": 9, **style.WHITE_MARKER}


def plot_distributions(
    samples: Mapping[str, Floats],
    *,
    scenario: str,
    horizon: int,
    arms: int,
    policy: str = "raven-ucb",
    measure: str = "regret",
) -> Figure:
    """Plot one box per candidate: quartiles, whiskers from 5 % to 95 %, and the mean with its 95 % interval.

    Quantiles are computed in advance, so the size of the figure does not depend on the number of worlds.

    >>> import numpy as np
    >>> figure = plot_distributions({"α₀ 1, β₀ 5": np.arange(100.0)}, scenario="blips", horizon=100, arms=5)
    >>> figure.data[0].median
    (49.5,)
    """
    kept = [(name, np.asarray(values, dtype=float)) for name, values in samples.items()]
    kept = [(name, values[np.isfinite(values)]) for name, values in kept]
    kept = [(name, values) for name, values in kept if values.size][:MAX_BOXES]
    most = max((values.size for _, values in kept), default=0)
    title = style.format_title(
        f"Distribution of {style.escape_text(measure)} over worlds",
        style.escape_text(policy),
        style.escape_text(scenario),
        *style.format_sizes(horizon, arms, most),
    )
    if not kept:
        return style.make_empty_figure(title, "There are no samples.")
    traces: list[PlotlyTrace] = []
    intervals = []
    text = []
    parts = []
    for place, (name, values) in enumerate(kept):
        low, q1, median, q3, high = np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95))
        mean = float(values.mean())
        stderr = float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else 0.0
        traces.append(style.make_box(place, (low, q1, median, q3, high), style.get_color(place)))
        intervals.append(Interval.from_error(mean, stderr))
        text.append(
            f"<b>{style.escape_text(name, 100)}</b><br>"
            f"mean {style.escape_text(measure)} {format_number(mean)} ± {format_number(stderr)} (standard error)<br>"
            f"median {format_number(float(median))}, quartiles {format_number(float(q1))} to"
            f" {format_number(float(q3))}<br>"
            f"5 % to 95 % quantile: {format_number(float(low))} to {format_number(float(high))}<br>"
            f"R = {values.size:,} worlds"
        )
        parts.append(
            f"{name}: mean {format_number(mean)}, median {format_number(float(median))}, 95 % quantile"
            f" {format_number(float(high))}"
        )
    bars = style.make_error_bars(intervals, style.GREY, thickness=2, width=6)
    means = [interval.mean for interval in intervals]
    marks = style.make_markers(means, range(len(kept)), "mean with 95 % interval", MEAN_MARKER, text, error_x=bars)
    return style.make_figure(
        [*traces, marks],
        title,
        f"Box plots of the {measure} per world, {policy} in {scenario}, T = {horizon:,}, K = {arms}, R = {most:,}. "
        + "; ".join(parts[:4])
        + ".",
        height=190 + 62 * len(kept),
        xaxis=style.make_axis(f"{style.escape_text(measure)} per world (reward units)", nticks=6),
        yaxis=style.make_row_axis([_wrap_label(name) for name, _ in kept]),
    )


def _wrap_label(name: str) -> str:
    """Wrap a label into at most three short lines, so that boxes remain wide on a phone."""
    joined = re.sub(r" (?=[-.\d])", "\N{NO-BREAK SPACE}", " ".join(str(name).split()))
    lines = textwrap.wrap(joined, 17, max_lines=3, placeholder=" …")
    return "<br>".join(style.escape_text(line) for line in lines)
