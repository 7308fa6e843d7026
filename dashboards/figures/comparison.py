"""Figures of a comparison: ranking, standings, curves, relative regret and mean ranks."""

import math
from collections.abc import Sequence
from typing import Any

from ravenlab.common.errors import InputError
from ravenlab.common.interval import Interval
from ravenlab.common.text import describe_p_value, format_interval, format_number, format_p_value, format_percent
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.marks import spread_apart
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.environments.view import change_steps
from ravenlab.studies.results.comparison import ComparisonResult, Leaderboard, Standing
from ravenlab.studies.results.describe_comparison import mark_standing, order_by_relative_regret, relative_regret
from ravenlab.studies.spec.comparison import SettingKind
from ravenlab.studies.spec.source import ScenarioSource
from ravenlab.studies.symbols import format_params

ROW_HEIGHT = 30  # pixels per policy

SYMBOLS = {"tuned": "circle", "defaults": "circle-open"}
OFFSET = 0.14  # vertical distance of two marks of a policy from the middle of its row


LINEAR_SHARE = 0.1  # excess regret up to which the axis of a ranking is about linear; beyond, it is logarithmic
SHARE_TICKS = (-1.0, -0.2, 0.0, 0.2, 1.0, 5.0, 20.0, 100.0)  # about equally far apart on that axis


def plot_ranking(result: ComparisonResult, *, order: Sequence[str] = ()) -> Figure:
    """Plot the excess regret of every policy over the best one, with the interval and the p-value of the same test.

    Intervals are simultaneous for all pairs: one contains 0 exactly if the corrected test does not reject.

    Args:
        result: A comparison.
        order: Policies in the order of the colors; by default that of this figure alone.
    """
    order = order or order_by_relative_regret([result])
    spec = result.comparison.spec
    standings = result.main.standings
    relative = all(each.behind is None or each.behind.share is not None for each in standings)
    nothing = Interval(0.0, 0.0, 0.0)
    excess = [_excess(each, relative) or nothing for each in standings]
    wide = relative and max(each.high for each in excess) > 1.0
    dots = []
    for row, (each, shown) in enumerate(zip(standings, excess, strict=True)):
        color = style.get_color(order.index(each.policy))
        text = f"<b>{style.escape_text(each.policy)}</b><br>{_describe_excess(each, relative)}<br>"
        text += f"mean regret {format_interval(each.regret)}<br>"
        text += style.escape_text(format_params(each.entry.shown_params()), 120)
        ends = Interval(*map(_stretch, shown)) if wide else shown
        bars = {} if each.behind is None else {"error_x": style.make_error_bars([ends], color)}
        marker = {"color": color, "size": 10}
        dots.append(style.make_markers([ends.mean], [row], None, marker, [text], showlegend=False, **bars))
    low, high = (pick([end for each in excess for end in each]) for pick in (min, max))
    ticks = style.choose_ticks(low, high, 5) or [0.0]
    axis = style.make_axis("excess regret", ticks=ticks, zeroline=True, zerolinecolor=style.CHANGE_COLOR)
    if relative:
        near = [tick for tick in SHARE_TICKS if 1.2 * low <= tick <= 1.2 * high]
        ticks = near if wide or not ticks[1:] else ticks
        places = map(_stretch, ticks) if wide else ticks
        axis |= {
            "tickvals": style.round_numbers(places),
            "ticktext": [format_percent(tick).replace(".0", "") for tick in ticks],
        }
    tests = [{"text": "p (Holm)", "y": -1.0}]
    tests += [{"text": _show_test(each), "y": row} for row, each in enumerate(standings)]
    beside = {"xref": "paper", "x": 1.01, "xanchor": "left", "showarrow": False}
    tied = ", ".join(each.policy for each in standings[1:] if each.among_the_best) or "none"
    return style.make_figure(
        dots,
        style.format_title(
            "Ranking: regret above the best policy",
            style.escape_text(spec.scenario),
            result.main.description,
            *style.format_sizes(spec.horizon, spec.arms, result.comparison.worlds, spec.replications_name),
        ),
        f"Regret above {result.main.best.policy}, the best of {len(result.main.ranked)} policies in {spec.scenario},"
        f" {result.main.description}, with simultaneous 95 % intervals. Indistinguishable from it: {tied}."
        f" {'; '.join(f'{each.policy}: {_describe_excess(each, relative)}' for each in standings[1:])}.",
        height=150 + ROW_HEIGHT * len(standings),
        margin={"r": 78, "b": 60, "l": 60},
        annotations=[{**beside, **test} for test in tests],
        xaxis=axis,
        yaxis=style.make_row_axis(
            [f"{style.escape_text(each.policy, 30)} {mark_standing(each)}".strip() for each in standings],
            range=[len(standings) - 0.4, -1.3],
        ),
    )


def _stretch(share: float) -> float:
    return math.asinh(share / LINEAR_SHARE)


def _excess(each: Standing, relative: bool) -> Interval | None:
    """Return the difference of a policy from the best, as a share if possible; None for the best itself."""
    if each.behind is None:
        return None
    return each.behind.share if relative else each.behind.difference


def _describe_excess(each: Standing, relative: bool) -> str:
    excess = _excess(each, relative)
    if each.behind is None or excess is None:
        return "the best"
    format_value = format_percent if relative else format_number
    return f"{format_interval(excess, format_value=format_value)} above the best, {describe_p_value(each.behind.holm)}"


def _show_test(each: Standing) -> str:
    return "best" if each.behind is None else format_p_value(each.behind.holm)


def plot_standings(result: ComparisonResult, *, order: Sequence[str] = ()) -> Figure:
    """Plot the mean regret of every policy with its 95 % interval, tuned and at its defaults, best policy first.

    Args:
        result: A comparison.
        order: Policies in the order of the colors; by default that of this figure alone.
    """
    order = order or order_by_relative_regret([result])
    spec = result.comparison.spec
    rows = [standing.policy for standing in result.main.standings]
    labels = [f"{style.escape_text(each.policy, 30)} {mark_standing(each)}".strip() for each in result.main.standings]
    values = [value for board in result.boards for each in board.standings for value in each.regret]
    dots = [
        _dot(board.find(policy), board.setting, row + shift, order.index(policy))
        for board, shift in zip(result.boards, (-OFFSET, OFFSET) if len(result.boards) > 1 else (0.0,), strict=True)
        for row, policy in enumerate(rows)
    ]
    entries = [
        style.make_legend_entry(
            board.setting, mode="markers", marker=_mark(board.setting, style.CHANGE_COLOR), legendgroup=board.setting
        )
        for board in result.boards
    ]
    values_text = ", ".join(f"{each.policy} {format_number(each.regret.mean)}" for each in result.main.standings)
    return style.make_figure(
        [*dots, *entries],
        style.format_title(
            "Regret of each policy",
            style.escape_text(spec.scenario),
            *style.format_sizes(spec.horizon, spec.arms, result.comparison.worlds, spec.replications_name),
        ),
        f"Mean regret with 95 % intervals in {spec.scenario}, T = {spec.horizon:,}, K = {spec.arms},"
        f" R = {result.comparison.worlds:,}. {result.main.setting.capitalize()}, from the lowest: {values_text}.",
        height=150 + ROW_HEIGHT * len(rows),
        margin={"r": 16, "b": 84, "l": 60},
        xaxis=style.make_value_axis("mean regret (lower is better)", values),
        yaxis=style.make_category_axis(labels, range=[len(rows) - 0.4, -0.6]),
    )


def _dot(each: Standing, setting: SettingKind, y: float, index: int) -> PlotlyTrace:
    color = style.get_color(index)
    place = "not ranked" if each.anchor else f"place {each.place}"
    text = (
        f"<b>{style.escape_text(each.policy)}</b>, {setting}: {place}<br>mean regret {format_interval(each.regret)}<br>"
        f"{style.escape_text(format_params(each.entry.shown_params()), 120)}"
    )
    bars = style.make_error_bars([each.regret], color)
    shared = {"error_x": bars, "legendgroup": setting, "showlegend": False}
    return style.make_markers([each.regret.mean], [y], None, _mark(setting, color), [text], **shared)


def _mark(setting: SettingKind, color: str) -> dict[str, Any]:
    return {"color": color, "symbol": SYMBOLS[setting], "size": 9, "line": {"width": 2, "color": color}}


MAX_LEVEL_LABELS = 4  # labels of more columns are turned
MAX_TEXT_COLUMNS = 16  # with more columns, cells only contain marks

LEAST_SHARE, MAX_SHARE = 0.2, 10.0  # excess regret of the darkest color; larger ones have the same color


def plot_relative_regret(results: Sequence[ComparisonResult]) -> Figure:
    """Plot the regret of every policy above the best one, by scenario and horizon.

    ★ marks the best of a column, ≈ policies that are statistically indistinguishable from it.

    Args:
        results: Comparisons of the same policies.
    """
    policies = order_by_relative_regret(results)
    shares = [[relative_regret(result, policy) for result in results] for policy in policies]
    marks = [[mark_standing(result.main.find(policy)) for result in results] for policy in policies]
    written = len(results) <= MAX_TEXT_COLUMNS
    largest = max((share for row in shares for share in row if share is not None), default=0.0)
    most = min(max(largest, LEAST_SHARE), MAX_SHARE)
    ticks = [share for share in (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0) if share <= most]
    ticks = ticks if len(ticks) < 5 else [ticks[0], *ticks[3:]]
    few = len(results) <= MAX_LEVEL_LABELS
    labels = [style.escape_text(result.label) for result in results]
    bottom = 70 if few else 150
    cells = style.make_heat_map(
        [[_depth(share) for share in row] for row in shares],
        [
            [_describe_cell(result, policy, share) for result, share in zip(results, row, strict=True)]
            for policy, row in zip(policies, shares, strict=True)
        ],
        text=[
            [_written(share, sign, written) for share, sign in zip(row, signs, strict=True)]
            for row, signs in zip(shares, marks, strict=True)
        ],
        texttemplate="%{text}",
        zmin=0,
        zmax=_depth(most),
        xgap=2,
        ygap=2,
        colorbar={
            "title": {"text": "excess over the best (in cells: percent)", "side": "top"},
            "tickvals": style.round_numbers(map(_depth, ticks)),
            "ticktext": [f"{100 * share:,.0f} %" for share in ticks],
            "orientation": "h",
            "thickness": 12,
            "len": 1,
            "y": 1.0,
            "yanchor": "bottom",
        },
    )
    best = "; ".join(f"{result.label}: {result.main.best.policy}" for result in results)
    how = results[0].main.description
    return style.make_figure(
        [cells],
        style.format_title("Regret relative to the best policy", how, f"{len(results)} cases"),
        f"Regret of {len(policies)} policies relative to the best in each of {len(results)} cases,"
        f" {how}. Best policies: {best}.",
        height=220 + bottom + ROW_HEIGHT * len(policies),
        margin={"t": 130, "r": 16, "b": bottom, "l": 60},
        xaxis=style.make_category_axis(
            [label.replace("-", "-<br>", 1).replace(", ", ",<br>") for label in labels] if few else labels,
            tickangle=0 if few else -90,
            showgrid=False,
        ),
        yaxis=style.make_row_axis([style.escape_text(policy, 30) for policy in policies]),
    )


def _depth(share: float | None) -> float:
    return math.nan if share is None else math.log10(1.0 + min(max(share, 0.0), MAX_SHARE))


def _written(share: float | None, sign: str, written: bool) -> str:
    if not written or share is None:
        return sign
    return sign if share == 0.0 else f"{format_percent(share, unit='')} {sign}".strip()


def _describe_cell(result: ComparisonResult, policy: str, share: float | None) -> str:
    each = result.main.find(policy)
    side = f"{format_percent(abs(share or 0.0))} {'below' if share is not None and share < 0 else 'above'} the best"
    behind = "the best" if each.behind is None else "" if share is None else side
    close = ", statistically indistinguishable" if each.behind is not None and each.among_the_best else ""
    title = f"<b>{style.escape_text(policy)}</b><br>{style.escape_text(result.label)}"
    return f"{title}<br>mean regret {format_number(each.regret.mean)}<br>{behind}{close}"


def plot_critical_difference(
    result: ComparisonResult, setting: SettingKind | None = None, *, order: Sequence[str] = ()
) -> Figure:
    """Plot mean ranks of the policies, best first, with bars for groups that do not differ significantly.

    Policies whose error bars overlap are not significantly different (Nemenyi's critical difference, Demšar 2006).

    Args:
        result: A comparison.
        setting: "tuned" or "defaults"; by default the main one.
        order: Policies in the order of the colors; by default that of this figure alone.
    """
    board = _find_board(result, setting)
    order = order or order_by_relative_regret([result])
    spec = result.comparison.spec
    ranks = board.ranks
    title = style.format_title(
        "Mean rank over worlds", style.escape_text(spec.scenario), board.description, f"T = {spec.horizon:,}"
    )
    if ranks is None:
        return style.make_empty_figure(title, "Ranks require at least two policies.")
    ordered = sorted(board.ranked, key=lambda each: (each.mean_rank, each.place))
    places = {each.policy: i for i, each in enumerate(ordered)}
    half = ranks.critical / 2.0
    highest = ordered[-1].mean_rank + half
    step = 0.035 * max(1.0, highest)
    dots = [_rank_dot(each, row, half, style.get_color(order.index(each.policy))) for row, each in enumerate(ordered)]
    what = style.make_legend_entry(
        "mean rank ± half the critical difference",
        mode="markers",
        marker={"color": style.CHANGE_COLOR, "size": 9},
        legendgroup="ranks",
    )
    bars = [
        style.make_scatter(
            [highest + step * (i + 1)] * 2,
            [places[group[0]] - 0.25, places[group[-1]] + 0.25],
            "lines",
            "not significantly different",
            line={"color": style.CHANGE_COLOR, "width": 5},
            hovertext=f"Not significantly different:<br>{'<br>'.join(style.escape_text(name) for name in group)}",
            hoverinfo="text",
        )
        for i, group in enumerate(ranks.groups)
    ]
    end = highest + step * (len(ranks.groups) + 1.5)
    joined = "; ".join(", ".join(group) for group in ranks.groups) or "none"
    values_text = ", ".join(f"{each.policy} {each.mean_rank:.2f}" for each in ordered)
    friedman = "" if ranks.friedman is None else f" Friedman's test: {describe_p_value(ranks.friedman)}."
    return style.make_figure(
        [*dots, what, *style.show_names_once(bars)],
        title,
        f"Mean ranks over {result.comparison.worlds:,} worlds in {spec.scenario}, T = {spec.horizon:,}, with"
        f" {board.description}; rank 1 is the best possible. From the best: {values_text}."
        f" Critical difference {format_number(ranks.critical)}.{friedman}"
        f" Groups without significant differences: {joined}.",
        height=150 + ROW_HEIGHT * len(ordered),
        margin={"r": 16, "b": 84, "l": 60},
        xaxis=style.make_axis("mean rank (1 is best)", range=[min(0.9, ordered[0].mean_rank - half - 0.1), end]),
        yaxis=style.make_category_axis(
            [style.escape_text(each.policy, 30) for each in ordered], range=[len(ordered) - 0.4, -0.6]
        ),
    )


def _rank_dot(each: Standing, row: int, half: float, color: str) -> PlotlyTrace:
    text = f"<b>{style.escape_text(each.policy)}</b><br>mean rank {each.mean_rank:.2f}"
    bars = {"type": "constant", "value": half, "color": color, "thickness": 1.5, "width": 4}
    shared = {"error_x": bars, "legendgroup": "ranks", "showlegend": False}
    return style.make_markers([each.mean_rank], [row], None, {"color": color, "size": 9}, [text], **shared)


MAX_VISIBLE_CURVES = 7  # further curves are shown by a click in the legend; up to so many are labelled instead
LABEL_GAP = 0.055  # distance of labels at the ends of lines, as a share of the axis


def plot_comparison_curves(
    result: ComparisonResult, setting: SettingKind | None = None, *, order: Sequence[str] = ()
) -> Figure:
    """Plot the mean cumulative regret of every policy over time with 95 % bands, best policies first.

    Args:
        result: A comparison.
        setting: "tuned" or "defaults"; by default the main one.
        order: Policies in the order of colors and dashes; by default that of this figure alone.
    """
    board = _find_board(result, setting)
    order = order or order_by_relative_regret([result])
    spec = result.comparison.spec
    source = spec.source
    entry, shapes = style.make_change_lines(
        change_steps(source.open(), spec.horizon) if isinstance(source, ScenarioSource) else []
    )
    traces = [trace for each in board.standings for trace in _policy_curve(each, order.index(each.policy))]
    axis = style.make_axis("cumulative regret", rangemode="tozero")
    labelled = len(board.standings) <= MAX_VISIBLE_CURVES
    room = 16
    if labelled:
        ends = [end for trace in traces for end in trace["y"]]
        low = min(0.0, *ends)
        axis["range"] = [low, max(ends) + 0.03 * (max(ends) - low)]
        traces = [*(trace | {"showlegend": False} for trace in traces), _label_ends(board, order, axis["range"])]
        room = 30 + 7 * min(16, max(len(each.policy) for each in board.standings))
    hidden = max(0, len(board.standings) - MAX_VISIBLE_CURVES)
    more = f" {hidden} more are shown by a click in the legend." if hidden else ""
    values_text = ", ".join(f"{each.policy} {format_number(each.regret.mean)}" for each in board.standings)
    rows = 0 if labelled else -(-len(board.standings) // 3)
    return style.make_figure(
        [*traces, *entry],
        style.format_title(
            "Regret over time",
            style.escape_text(spec.scenario),
            board.description,
            *style.format_sizes(spec.horizon, spec.arms, result.comparison.worlds, spec.replications_name),
        ),
        f"Mean cumulative regret over {spec.horizon:,} steps in {spec.scenario}, {board.description}, with 95 %"
        " bands."
        f" At the end: {values_text}.{more}",
        height=420 + 20 * rows,
        margin={"r": room, "b": 64 + 20 * rows, "l": 60},
        shapes=shapes,
        xaxis=style.make_step_axis(spec.horizon),
        yaxis=axis,
    )


def _label_ends(board: Leaderboard, order: Sequence[str], limits: Sequence[float]) -> PlotlyTrace:
    """Write the names of the policies at the ends of their lines, so far apart that they can be read."""
    low, high = limits
    gap = LABEL_GAP * (high - low)
    ends = [each.entry.curve.mean[-1] for each in board.standings]
    colors = [style.get_color(order.index(each.policy)) for each in board.standings]
    texts = [
        f' <span style="color:{color}">━</span> {style.escape_text(each.policy, 16)}'
        for color, each in zip(colors, board.standings, strict=True)
    ]
    look: dict[str, Any] = {"textposition": "middle right", "cliponaxis": False, "hoverinfo": "skip"}
    places = spread_apart(ends, gap, low + gap / 2, high - gap / 2)
    last = [each.entry.curve.steps[-1] for each in board.standings]
    return style.make_scatter(last, places, "text", text=texts, showlegend=False, **look)


def _policy_curve(each: Standing, look: int) -> list[PlotlyTrace]:
    curve = each.entry.curve
    return style.make_line_with_band(
        curve.steps,
        curve.mean,
        curve.stderr,
        look,
        least=0.0 if min(curve.mean) >= 0.0 else -math.inf,
        both={"visible": True if each.place <= MAX_VISIBLE_CURVES else "legendonly"},
        name=style.escape_text(each.policy, 30),
        hovertemplate=(
            f"<b>{style.escape_text(each.policy)}</b><br>t = %{{x}}<br>mean regret %{{y}} ± %{{customdata}}"
            " (standard error)<extra></extra>"
        ),
    )


def _find_board(result: ComparisonResult, setting: SettingKind | None) -> Leaderboard:
    board = result.main if setting is None else result.board(setting)
    if board is None:
        raise InputError(f"setting must be {' or '.join(result.comparison.settings)} but got {setting!r}.")
    return board
