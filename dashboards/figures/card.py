"""Cards: the answer of a study in large type, with its parameters and an interval plot of what it is compared with.

A card has its own dark background, so that it looks the same on light and dark pages. Positions are in pixels, because
Plotly does not wrap text: lines are short enough for a phone.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ravenlab.common.interval import Interval
from ravenlab.common.text import (
    capitalize_first,
    format_interval,
    format_number,
    format_percent,
    join_words,
)
from ravenlab.dashboards.figures.intervals import IntervalRow
from ravenlab.dashboards.figures.style import (
    SKY,
    PlotlyTrace,
    escape_text,
    make_axis,
    make_error_bars,
    make_figure,
    round_number,
    round_numbers,
)
from ravenlab.studies.results.alternatives import BetterPolicy
from ravenlab.studies.results.baselines import UNDECIDED, BaselineComparison, format_difference
from ravenlab.studies.results.comparison import ComparisonResult, Standing
from ravenlab.studies.results.describe import warn_of_fixed_arm, word_verdict
from ravenlab.studies.results.describe_comparison import describe_failed_tuning
from ravenlab.studies.results.naming import format_unit, list_contenders, name_edges
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import EvaluatedSetting, RobustRecommendation
from ravenlab.studies.results.verdict import Verdict
from ravenlab.studies.symbols import format_params, format_symbol

if TYPE_CHECKING:
    import plotly.graph_objects as go

NO_BREAK = "\N{NO-BREAK SPACE}"
UNBREAKABLE = re.compile(r" (?=%|=)|(?<==) ")  # spaces in "2 %" and "T = 100"

HEIGHT = 450  # pixels
MARGINS = {"t": 20, "r": 16, "b": 44, "l": 16}
INNER = HEIGHT - MARGINS["t"] - MARGINS["b"]
BACKGROUND = "#12344d"
TEXT = "#ffffff"
MUTED = "#b9cbd9"
GRID = "rgba(255,255,255,0.16)"
GOOD = "#7fd1ae"
UNSURE = "#ffc44d"
OTHER = SKY
"""Colors of a clear answer, of an inconclusive one, and of what the answer is compared with."""

HEADLINE_LETTERS, TEXT_LETTERS = 20, 42  # letters per line that fit into 290 pixels
MAX_TILES = 4  # more parameters are written as lines
MAX_ROWS = 4  # rows of the interval plot
MIN_ROW, MAX_ROW = 34, 54  # height of a row of the interval plot, in pixels
LINE = 17  # height of a line of text, in pixels
HEADLINE = 32  # height of a line of the headline
SPACE = 5  # below a text
TILES = 56  # height of the parameters


@dataclass(frozen=True)
class CardContent:
    """Content of a card, as plain text."""

    context: str
    """What the study is about."""
    headline: str
    explanation: str
    params: Mapping[str, float | str]
    rows: Sequence[IntervalRow]
    """The answer first."""
    axis: str
    """What the rows show."""
    sure: bool = True
    hint: str = ""
    """A line that the reader must not miss, such as a better policy."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """A word about a parameter, such as "default"."""


def plot_recommendation_card(recommendation: Recommendation, better: BetterPolicy | None = None) -> go.Figure:
    """Show the verdict of a study, the parameters, and the regret compared with the paper's advice and the defaults."""
    text = word_verdict(recommendation)
    regret = recommendation.regret
    verdict = recommendation.verdict
    rows = [_row(f"recommended: {format_interval(regret, name='')}", regret)]
    rows += [
        _baseline_row(comparison, regret.mean)
        for comparison in recommendation.comparisons
        if comparison.relation != "same"
    ]
    hints = _warn_of_edges(recommendation)
    if better is not None:
        less = "less" if better.reduction is None else f"{format_percent(better.reduction)} less"
        hints.append(f"Another policy is better: tuned {better.policy} has {less} regret.")
    hints += warn_of_fixed_arm(recommendation)
    return plot_card(
        CardContent(
            context=_context(recommendation.policy, recommendation.scenario, recommendation),
            headline=text.short,
            explanation=text.explanation,
            params=recommendation.params,
            rows=rows,
            axis=f"held-out regret{recommendation.regret_unit}, 95 % CI"
            if recommendation.recorded
            else "mean regret on held-out worlds, 95 % CI",
            sure=verdict.decision != "inconclusive",
            hint=" ".join(hints),
            tags=_tag_defaults(verdict, recommendation.params),
        )
    )


def plot_robust_card(result: RobustRecommendation) -> go.Figure:
    """Show the setting for several scenarios, and its price compared with those of the other settings."""
    text = word_verdict(result)
    return plot_card(
        CardContent(
            _context(result.policy, join_words(result.scenarios), result),
            text.short,
            text.explanation or "One setting, if the scenario is not known.",
            result.params,
            [_price_row(setting) for setting in list_contenders(result)],
            "excess over the tuned settings (%), 95 % CI",
            sure=result.verdict.decision != "inconclusive",
            hint=" ".join(_warn_of_edges(result)),
            tags=_tag_defaults(result.verdict, result.params),
        )
    )


def _warn_of_edges(recommendation: Recommendation | RobustRecommendation) -> list[str]:
    return [f"{capitalize_first(edges)}." for edges in name_edges(recommendation)]


def _tag_defaults(verdict: Verdict, params: Mapping[str, float | str]) -> dict[str, str]:
    """Mark the parameters that keep their defaults, if the verdict says so."""
    kept = verdict.decision in ("set one parameter", "keep the defaults")
    return {name: "default" for name in params if kept and name not in verdict.set}


def plot_comparison_card(result: ComparisonResult) -> go.Figure:
    """Show the policy with the lowest regret, and the regrets of the others."""
    board = result.main
    spec = result.comparison.spec
    tied = [each.policy for each in board.standings[1:] if each.among_the_best]
    best = board.best
    untuned = result.board("defaults")
    if tied:
        are = "is" if len(tied) == 1 else "are"
        explanation = (
            f"{best.policy} has the lowest regret; {join_words(tied, 'and')} {are} as good within sampling noise."
        )
    else:
        explanation = "All other policies are significantly worse." if len(board.ranked) > 1 else ""
    return plot_card(
        CardContent(
            context=_context(f"{len(spec.policies)} policies ({board.setting})", spec.scenario, spec),
            headline="No single best policy" if tied else f"{best.policy} is best",
            explanation=explanation,
            params={} if tied else best.entry.shown_params(),
            rows=[_standing_row(each) for each in board.standings],
            axis=f"mean regret on {result.comparison.worlds:,} held-out {spec.replications_name}, 95 % CI",
            sure=not tied,
            hint="" if untuned is None else " ".join(describe_failed_tuning(board, untuned)),
        )
    )


def plot_card(card: CardContent) -> go.Figure:
    """Draw a card."""
    color = GOOD if card.sure else UNSURE
    rows = card.rows[:MAX_ROWS]
    tiles = TILES if 0 < len(card.params) <= MAX_TILES else 0
    texts, y = _write_lines(card, color, INNER - tiles - MIN_ROW * len(rows))
    if len(card.params) <= MAX_TILES:
        for i, (name, value) in enumerate(card.params.items()):
            x = i / max(3, len(card.params))
            tag = card.tags.get(name)
            label = format_symbol(name) if tag is None else f"{format_symbol(name)} · {tag}"
            shown = value if isinstance(value, str) else format_number(value)
            texts.append(_text(escape_text(label, 16), 12, MUTED, x, y))
            texts.append(_text(f"<b>{escape_text(shown, 10)}</b>", 22, TEXT, x, y + 17))
        y += tiles
    height = min(MAX_ROW, max(MIN_ROW, (INNER - y) / max(1, len(rows))))
    ink = {"size": 11, "color": MUTED}
    lines: dict[str, Any] = {"gridcolor": GRID, "linecolor": GRID, "tickcolor": GRID}
    return make_figure(
        [_interval(row, i, color if i == 0 else OTHER) for i, row in enumerate(rows)],
        "",
        _describe(card),
        height=HEIGHT,
        margin=MARGINS,
        paper_bgcolor=BACKGROUND,
        annotations=[*texts, *(_row_label(row, i, color if i == 0 else TEXT) for i, row in enumerate(rows))],
        xaxis=make_axis(card.axis, title_font=ink, tickfont=ink, nticks=5, fixedrange=True, **lines),
        yaxis={
            "visible": False,
            "range": [len(rows) - 0.6, -0.6],
            "domain": [0.0, round_number(min(1.0, height * len(rows) / INNER), 4)],
            "fixedrange": True,
        },
        showlegend=False,
    )


def _write_lines(card: CardContent, color: str, room: int) -> tuple[list[dict[str, Any]], int]:
    """Write everything above the tiles; return it with the position below it, in pixels.

    The explanation gets the lines that the other texts leave of the room, because it is the text that can be cut.
    """
    params = format_params(card.params) if len(card.params) > MAX_TILES else ""
    context = _wrap(card.context, 2)
    headline = _wrap(card.headline, 2, HEADLINE_LETTERS)
    hint = _wrap(card.hint, 4)
    values = _wrap(params, 2)
    others = len(context) + len(hint) + len(values)
    left = room - others * LINE - len(headline) * HEADLINE - 5 * SPACE
    blocks = (
        (context, 12, MUTED, LINE),
        (headline, 25, color, HEADLINE),
        (_wrap(card.explanation, max(0, left // LINE)), 12, TEXT, LINE),
        (hint, 12, UNSURE, LINE),
        (values, 12, TEXT, LINE),
    )
    texts = []
    y = 0
    for lines, size, ink, height in blocks:
        for line in lines:
            shown = escape_text(line, TEXT_LETTERS + 1)
            texts.append(_text(f"<b>{shown}</b>" if size > 20 else shown, size, ink, 0.0, y))
            y += height
        y += SPACE if lines else 0
    return texts, y


def _wrap(text: str, most: int, letters: int = TEXT_LETTERS) -> list[str]:
    """Break a text into at most so many lines; a text that is cut ends with an ellipsis."""
    if most == 0:
        return []
    return textwrap.wrap(UNBREAKABLE.sub(NO_BREAK, text), letters, max_lines=most, placeholder="…")


def _text(text: str, size: int, color: str, x: float, y: float) -> dict[str, Any]:
    """Make a line of text whose top is y pixels below the top of the card."""
    return {
        "text": text,
        "font": {"size": size, "color": color},
        "showarrow": False,
        "align": "left",
        "xref": "paper",
        "yref": "paper",
        "x": round_number(x, 3),
        "y": round_number(1.0 - y / INNER, 4),
        "xanchor": "left",
        "yanchor": "top",
        "borderpad": 0,
    }


def _row_label(row: IntervalRow, place: int, color: str) -> dict[str, Any]:
    return {
        **_text(escape_text(row.label, TEXT_LETTERS), 12, color, 0.0, 0.0),
        "yref": "y",
        "y": place - 0.12,
        "yanchor": "bottom",
    }


def _interval(row: IntervalRow, place: int, color: str) -> PlotlyTrace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": round_numbers([row.interval.mean]),
        "y": [place],
        "error_x": make_error_bars([row.interval], color, thickness=3, width=0),
        "marker": {"color": color, "size": 11},
        "hovertext": escape_text(row.hover),
        "hovertemplate": "%{hovertext}<extra></extra>",
        "showlegend": False,
        "cliponaxis": False,
    }


def _context(policy: str, scenario: str, sizes: Any) -> str:
    scale = format_unit(sizes) if isinstance(sizes, Recommendation | RobustRecommendation) else ""
    return ", ".join(filter(None, [f"{policy} in {scenario}", f"T = {sizes.horizon:,}", f"K = {sizes.arms}", scale]))


def _row(label: str, interval: Interval) -> IntervalRow:
    return IntervalRow(label, interval, hover=f"{label}: {format_interval(interval)}")


def _baseline_row(comparison: BaselineComparison, recommended: float) -> IntervalRow:
    """Compare a baseline with the recommended regret; the interval is that of the difference."""
    shifted = comparison.difference.shifted(recommended)
    label = format_difference(comparison, interval=comparison.relation not in UNDECIDED)
    difference = format_interval(comparison.difference)
    hover = f"{comparison.short_title}: {format_number(shifted.mean)}, difference {difference}"
    return IntervalRow(f"{comparison.short_title}: {label}", shifted, hover)


def _price_row(setting: EvaluatedSetting) -> IntervalRow:
    price = setting.price
    label = f"{setting.name if setting.tuned_for is None else f'tuned for {setting.tuned_for}'}"
    return _row(f"{label}: {format_percent(price.mean)}", price.scaled(100.0))


def _standing_row(standing: Standing) -> IntervalRow:
    if standing.behind is None:
        value = format_interval(standing.regret, name="")
    elif standing.behind.share is None:
        value = f"{format_number(standing.behind.difference.mean)} more"
    else:
        value = format_percent(standing.behind.share.mean, signed=True)
    return _row(f"{standing.policy}: {value}", standing.regret)


def _describe(card: CardContent) -> str:
    rows = "; ".join(row.hover for row in card.rows)
    params = f" {format_params(card.params)}." if card.params else ""
    sentences = [f"{card.context}: {card.headline}.", card.explanation, card.hint]
    return f"{' '.join(sentence for sentence in sentences if sentence)}{params} {card.axis}: {rows}."
