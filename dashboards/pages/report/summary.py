"""Summary of the report: one sentence per recommendation, and counts over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from environments.text import (
    format_count,
    format_number,
    format_percent,
    format_settings,
    format_signed,
    plural,
)
from studies.results.describe import INCONCLUSIVE, WITHIN_NOISE, warn_inconclusive
from studies.results.recommendation import Baseline, Estimate, Recommendation
from studies.symbols import format_symbol

BaselineVerdict = Literal["same", "worse", "better", "unclear"]

BASELINES = {"paper": "the paper's advice", "defaults": "the policy's defaults"}

SMALLEST_SHARE = 0.001  # smaller differences are written as "less than"


@dataclass(frozen=True)
class Piece:
    """Text, or a formatted number with its full value and the field of the recommendation it comes from."""

    text: str
    value: float | str | None = None
    field: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Sentence:
    """Consecutive pieces.

    >>> str(Sentence((Piece("regret "), Piece("41", 41.2))))
    'regret 41'
    """

    pieces: tuple[Piece, ...]

    def __str__(self) -> str:
        return "".join(piece.text for piece in self.pieces)


def judge_baseline(recommendation: Recommendation, baseline: Baseline) -> BaselineVerdict:
    """Compare a baseline with the recommendation on the same held-out worlds."""
    if (
        all(recommendation.params.get(name) == value for name, value in baseline.params.items())
        and baseline.difference == 0.0
    ):
        return "same"
    if not baseline.significant:
        return "unclear"
    return "worse" if baseline.low > 0.0 else "better"


def relative_difference(recommendation: Recommendation, difference: float) -> float | None:
    """Return a difference of regrets as a share of the recommended regret; None where the share has no meaning."""
    if recommendation.log is not None or recommendation.regret.mean <= 0.0:
        return None
    return difference / recommendation.regret.mean


def summarize(recommendation: Recommendation, usual_arms: int | None = None) -> Sentence:
    """Summarize a recommendation; K is omitted if it is the usual number of arms."""
    pieces = [*_describe_problem(recommendation, usual_arms), Piece(": ")]
    if not recommendation.params:
        pieces.append(Piece("no parameters to set"))
    for place, (name, value) in enumerate(recommendation.params.items()):
        pieces.append(Piece(f"{', ' if place else 'use '}{format_symbol(name)} = "))
        pieces.append(Piece(format_number(value), value, f"params.{name}"))
    if recommendation.log is None:
        pieces += [Piece("; regret "), *_estimate(recommendation.regret, "regret")]
    else:
        pieces += [Piece("; replay score "), *_estimate(recommendation.log.score, "log.score")]
        effective = format_count(round(recommendation.log.effective))
        pieces.append(Piece(f" from {effective} effective events; mean of the logging policy "))
        pieces += _estimate(recommendation.log.logged, "log.logged")
    for baseline in recommendation.versus:
        pieces += [Piece("; "), *_compare(recommendation, baseline)]
    pieces.append(Piece("."))
    if recommendation.log is not None:
        pieces += [Piece(f" {warning}") for warning in warn_inconclusive(recommendation.log)]
    if recommendation.objective != "mean":
        pieces.append(Piece(f" Selected by the objective {recommendation.objective}, not by mean regret."))
    for edge in recommendation.edge:
        symbol = format_symbol(edge.param)
        pieces.append(Piece(f" {symbol} is at the edge of the search range; a wider range may give lower regret."))
    return Sentence(tuple(pieces))


def summarize_all(recommendations: Sequence[Recommendation]) -> list[str]:
    """Count over all recommendations how often tuning reduced regret, and how many are at the edge of their range.

    >>> summarize_all([])
    []
    """
    lines = []
    for name in BASELINES:
        verdicts = [
            judge_baseline(recommendation, baseline)
            for recommendation in recommendations
            for baseline in recommendation.versus
            if baseline.name == name
        ]
        if verdicts:
            lines.append(_count_verdicts(name, verdicts))
    edges = sum(bool(recommendation.edge) for recommendation in recommendations)
    if edges:
        total = plural(len(recommendations), "recommendation")
        lines.append(
            f"{edges} of {total} {'is' if edges == 1 else 'are'} at the edge of the search range; search a wider range"
            " before using them."
        )
    return lines


def _describe_problem(recommendation: Recommendation, usual_arms: int | None) -> list[Piece]:
    """Name the scenario, horizon, arms, settings and policy."""
    pieces = [
        Piece(f"{recommendation.scenario}, T = "),
        Piece(format_count(recommendation.horizon), recommendation.horizon, "horizon"),
    ]
    if recommendation.arms != usual_arms:
        pieces += [Piece(", K = "), Piece(format_count(recommendation.arms), recommendation.arms, "arms")]
    if recommendation.settings:
        pieces.append(Piece(f" ({format_settings(recommendation.settings)})"))
    if recommendation.policy != "raven-ucb":
        pieces.append(Piece(f", {recommendation.policy}"))
    return pieces


def _estimate(estimate: Estimate, field: str) -> list[Piece]:
    """Format a mean with its interval."""
    return [
        Piece(format_number(estimate.mean), estimate.mean, f"{field}.mean"),
        Piece(" ("),
        Piece(format_number(estimate.low), estimate.low, f"{field}.low"),
        Piece(" to "),
        Piece(format_number(estimate.high), estimate.high, f"{field}.high"),
        Piece(")"),
    ]


def _compare(recommendation: Recommendation, baseline: Baseline) -> list[Piece]:
    """Compare one baseline with the recommendation."""
    name, verdict = BASELINES[baseline.name], judge_baseline(recommendation, baseline)
    verb = "has" if baseline.name == "paper" else "have"
    if verdict == "same":
        return [Piece(f"the parameters are identical to {name}")]
    if verdict == "unclear":
        reason = WITHIN_NOISE if recommendation.recorded is None else INCONCLUSIVE
        ends = [
            _interval_end(recommendation, baseline.low),
            Piece(" to "),
            _interval_end(recommendation, baseline.high),
        ]
        return [Piece(f"the difference from {name} is {reason} ("), *ends, Piece(")")]
    direction = "higher" if verdict == "worse" else "lower"
    pieces = [Piece(f"{name} {verb} "), _amount(recommendation, baseline), Piece(f" {direction} regret")]
    if verdict == "better":
        pieces.append(Piece(f" on held-out worlds, so use {'it' if baseline.name == 'paper' else 'them'} instead"))
    return pieces


def _amount(recommendation: Recommendation, baseline: Baseline) -> Piece:
    """Format the absolute difference: relative where that has a meaning."""
    share = relative_difference(recommendation, baseline.difference)
    if share is None:
        return Piece(format_number(abs(baseline.difference)), baseline.difference, f"versus.{baseline.name}.difference")
    small = abs(share) < SMALLEST_SHARE
    text = f"less than {format_percent(SMALLEST_SHARE)}" if small else format_percent(abs(share))
    return Piece(text, 100.0 * share, f"versus.{baseline.name}.percent")


def _interval_end(recommendation: Recommendation, value: float) -> Piece:
    """Format one end of the interval of a difference with its sign: relative where that has a meaning."""
    share = relative_difference(recommendation, value)
    if share is None:
        return Piece(format_signed(value), value)
    return Piece(format_percent(share, signed=True), 100.0 * share)


def _count_verdicts(name: str, verdicts: Sequence[BaselineVerdict]) -> str:
    labels: dict[BaselineVerdict, str] = {
        "worse": "lower regret in",
        "unclear": "difference within sampling noise in",
        "better": "higher regret in",
        "same": "identical parameters in",
    }
    parts = [f"{label} {verdicts.count(verdict)}" for verdict, label in labels.items() if verdict in verdicts]
    studies = plural(len(verdicts), "study", "studies")
    return f"Recommended parameters compared with {BASELINES[name]} in {studies}: {', '.join(parts)}."
