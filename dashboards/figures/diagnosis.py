"""Block means and variances of a trace with the fitted model and the detected changes."""

from typing import Any

import numpy as np

from ravenlab.common.errors import InputError
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.environments.world import Floats
from ravenlab.studies.diagnosis.result import Diagnosis, PlotData

MAX_ARMS = 12
BANDS = {"blips": (style.ORANGE, "blip"), "gradual-drift": (style.BLUE, "gradual drift")}


def plot_diagnosis(diagnosis: Diagnosis, source: str = "") -> Figure:
    """Plot means and variances of the arms in blocks of rows: thin lines are measured, bold lines are the fitted model.

    Args:
        diagnosis: A diagnosis.
        source: Name of the data for the title.

    >>> from ravenlab.studies.diagnosis import diagnose
    >>> figure = plot_diagnosis(diagnose(np.random.default_rng(0).normal(size=(400, 2))))
    >>> len(figure.data)
    8
    """
    plot_data = diagnosis.plot_data
    if plot_data is None:
        raise InputError("the diagnosis is inconclusive and has no figure.")
    x = (plot_data.starts[1:] + plot_data.starts[:-1] + 1) / 2.0
    shown = _shown(plot_data.means)
    panels = []
    for measured, fitted, axis in (
        (plot_data.means, plot_data.fitted, style.make_axis("block mean", domain=[0.45, 1])),
        (
            plot_data.variances,
            plot_data.fitted_variances,
            style.make_axis("block variance", domain=[0, 0.36], rangemode="tozero"),
        ),
    ):
        traces = []
        for place, k in enumerate(shown):
            name = style.escape_text(diagnosis.names[k])
            traces += [
                _line(x, measured[:, k], place, name, model=False),
                _line(x, fitted[:, k], place, name, model=True),
            ]
        panels.append((traces, axis | _without_spikes(measured)))
    entries, shapes = _marks(plot_data)
    context = [style.escape_text(source)] if source else []
    context += [
        diagnosis.verdict,
        *style.format_sizes(diagnosis.rows, diagnosis.arms),
        f"blocks of {diagnosis.rows / x.size:.0f} steps",
    ]
    if len(shown) < diagnosis.arms:
        context.append(f"the {len(shown)} arms that change most")
    return style.make_stacked_figure(
        panels,
        style.make_step_axis(diagnosis.rows),
        style.format_title("Measured blocks (thin) and fitted model (bold)", *context),
        _alt(diagnosis, plot_data, shown),
        entries=entries,
        height=620,
        shapes=shapes,
    )


def _shown(means: Floats) -> list[int]:
    """Choose the arms to draw: all of a few; of many, those whose means change most."""
    if means.shape[1] <= MAX_ARMS:
        return list(range(means.shape[1]))
    moving = np.nanstd(means, axis=0)
    return sorted(int(k) for k in np.argsort(-moving)[:MAX_ARMS])


def _without_spikes(table: Floats) -> dict[str, Any]:
    """Limit an axis to all but a few spikes; zooming out shows them."""
    known = table[~np.isnan(table)]
    low, high = np.quantile(known, [0.005, 0.995])
    if known.max() - known.min() <= 3.0 * (high - low) or low == high:
        return {}
    room = 0.15 * float(high - low)
    return {"range": [float(low) - room, float(high) + room]}


def _line(x: Floats, values: Floats, place: int, name: str, *, model: bool) -> PlotlyTrace:
    color = style.get_color(place)
    dash = style.DASHES[place // len(style.COLORS) % len(style.DASHES)]
    return style.make_scatter(
        x,
        values,
        "lines",
        name,
        line={"color": color, "width": 2.4, "dash": dash} if model else {"color": color, "width": 0.8},
        opacity=1.0 if model else 0.45,
        legendgroup=f"arm {place}",
        showlegend=model,
        hovertemplate=f"{name}, {'model' if model else 'measured'}<br>t = %{{x}}<br>%{{y}}<extra></extra>",
    )


def _marks(plot_data: PlotData) -> tuple[list[PlotlyTrace], list[dict[str, Any]]]:
    """Make lines for permanent changes and bands for temporary ones, with their legend entries."""
    jumps = [mark.at for mark in plot_data.marks if mark.kind == "localized-jump"]
    entries, shapes = style.make_change_lines(jumps)
    for kind, (color, word) in BANDS.items():
        spans = [mark for mark in plot_data.marks if mark.kind == kind]
        shapes += [
            style.make_shading(mark.at, mark.until, style.fade(color, 0.18)) for mark in spans if mark.until is not None
        ]
        if spans:
            marker = {"symbol": "square", "size": 12, "color": style.fade(color, 0.35)}
            entries.append(style.make_legend_entry(word, mode="markers", marker=marker))
    churn = [mark for mark in plot_data.marks if mark.kind == "arm-churn"]
    moments = [t for mark in churn for t in (mark.at, mark.until) if t is not None]
    entry, lines = style.make_change_lines(moments, "arm opens or closes", dash="longdash")
    return [*entries, *entry], [*shapes, *lines]


def _alt(result: Diagnosis, plot_data: PlotData, shown: list[int]) -> str:
    kinds = "; ".join(f"{each.kind}: {each.strength}" for each in result.findings if each.found)
    drawn = "" if len(shown) == result.arms else f", of which {len(shown)} are drawn"
    return (
        f"Means and variances of {plot_data.means.shape[0]} blocks of {result.rows:,} steps, {result.arms} arms{drawn}:"
        f" {result.verdict}. {kinds or 'No significant change'}."
    )
