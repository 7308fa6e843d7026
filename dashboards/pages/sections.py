"""What a scenario is, in words: taken from the effects themselves, which say it once."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dashboards.pages.html import PageTable, Panel
from environments import Scenario
from environments.base import Effect
from environments.checks import parse_steps
from environments.errors import InputError
from environments.text import (
    format_count,
    format_number,
    format_percent,
    format_settings,
    format_signed,
    format_value,
    plural,
)
from studies.results.describe import INCONCLUSIVE, WITHIN_NOISE, warn_few_events
from studies.results.recommendation import Baseline, Estimate, Recommendation
from studies.symbols import format_symbol


@dataclass(frozen=True)
class Definition:
    """A scenario for people."""

    meaning: str
    plain: list[str]
    """A sentence an effect."""
    formulas: list[str]
    parameters: list[tuple[str, str]]
    category: str


CATEGORIES = {"DPC": "distribution parameters change", "PC": "periodic change", "TF": "temporary fluctuation"}


def define(scenario: Scenario, horizon: int) -> Definition:
    """Meaning, formula and parameters; times that are shares of the horizon are also given in steps.

    >>> from environments import find_scenario
    >>> define(find_scenario("blips"), 1000).parameters[0]
    ('every', '10% (100 steps at T = 1,000)')
    """
    base = scenario.base
    shown = [(key, _value(key, value, horizon)) for key, value in scenario.parameters().items()]
    formulas = [_formula(effect) for effect in scenario.effects]
    formulas.append(
        f"At the start μ ~ U({base.mean_low:g}, {base.mean_high:g}) and σ² ~ U({base.variance_low:g},"
        f" {base.variance_high:g}), independently for each arm; the noise is {scenario.noise}."
    )
    kinds = [CATEGORIES.get(word, "") for word in scenario.category.split("+")]
    return Definition(
        meaning=scenario.meaning,
        plain=[" ".join((type(effect).__doc__ or "").split("\n\n")[0].split()) for effect in scenario.effects],
        formulas=formulas,
        parameters=[*shown, ("noise", scenario.noise)],
        category=", ".join(kind for kind in kinds if kind),
    )


def _formula(effect: Effect) -> str:
    """The first words of an effect's own file; where one file has several effects, of its class."""
    name = type(effect).__module__
    own = name.startswith("environments.effects.")
    text = (sys.modules[name].__doc__ if own else type(effect).__doc__) or ""
    return " ".join(text.split())


def _value(key: str, value: int | float | str, horizon: int) -> str:
    if isinstance(value, str) and value.endswith("%") and not key.endswith("fraction"):
        try:
            return f"{value} ({parse_steps(key, value, horizon)} steps at T = {horizon:,})"
        except InputError:
            return value
    return format_value(value)


Verdict = Literal["same", "worse", "better", "unclear"]
"""A baseline relative to the recommendation: identical, significantly worse or better, or not significant."""

BASELINES = {"paper": "the paper's advice", "defaults": "the policy's defaults"}

SMALLEST_SHARE = 0.001
"""Smaller differences are not written with digits."""


@dataclass(frozen=True)
class Piece:
    """Text, or a formatted number with its full value and the field of the recommendation it comes from."""

    text: str
    value: float | str | None = None
    field: str = ""


@dataclass(frozen=True)
class Sentence:
    """Consecutive pieces.

    >>> str(Sentence((Piece("regret "), Piece("41", 41.2))))
    'regret 41'
    """

    pieces: tuple[Piece, ...]

    def __str__(self) -> str:
        return "".join(piece.text for piece in self.pieces)


def judge_baseline(found: Recommendation, rival: Baseline) -> Verdict:
    """Compare a baseline with the recommendation on the same held-out worlds."""
    if all(found.params.get(name) == value for name, value in rival.params.items()) and rival.difference == 0.0:
        return "same"
    if not rival.significant:
        return "unclear"
    return "worse" if rival.low > 0.0 else "better"


def relative_difference(found: Recommendation, difference: float) -> float | None:
    """Return a difference of regrets as a share of the recommended regret; None where the share has no meaning."""
    if found.log is not None or found.regret.mean <= 0.0:
        return None
    return difference / found.regret.mean


def summarize(found: Recommendation, usual_arms: int | None = None) -> Sentence:
    """Summarize a recommendation; K is omitted if it is the usual number of arms."""
    pieces = [*_describe_problem(found, usual_arms), Piece(": ")]
    if not found.params:
        pieces.append(Piece("no parameters to set"))
    for place, (name, value) in enumerate(found.params.items()):
        pieces.append(Piece(f"{', ' if place else 'use '}{format_symbol(name)} = "))
        pieces.append(Piece(format_number(value), value, f"params.{name}"))
    if found.log is None:
        pieces += [Piece("; regret "), *_estimate(found.regret, "regret")]
    else:
        pieces += [Piece("; replay score "), *_estimate(found.log.score, "log.score")]
        pieces.append(Piece(f" from {format_count(found.log.matched)} matched events; mean of the logging policy "))
        pieces += _estimate(found.log.logged, "log.logged")
    for rival in found.versus:
        pieces += [Piece("; "), *_compare(found, rival)]
    pieces.append(Piece("."))
    if found.log is not None and not found.log.enough:
        pieces.append(Piece(f" {warn_few_events(found.log)}"))
    if found.objective != "mean":
        pieces.append(Piece(f" Selected by the objective {found.objective}, not by mean regret."))
    for edge in found.edge:
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
            judge_baseline(found, rival) for found in recommendations for rival in found.versus if rival.name == name
        ]
        if verdicts:
            lines.append(_count_verdicts(name, verdicts))
    edges = sum(bool(found.edge) for found in recommendations)
    if edges:
        total = plural(len(recommendations), "recommendation")
        lines.append(
            f"{edges} of {total} {'is' if edges == 1 else 'are'} at the edge of the search range; search a wider range"
            " before using them."
        )
    return lines


def _describe_problem(found: Recommendation, usual_arms: int | None) -> list[Piece]:
    """Name the scenario, horizon, arms, settings and policy."""
    pieces = [
        Piece(f"{found.scenario}, T = "),
        Piece(format_count(found.horizon), found.horizon, "horizon"),
    ]
    if found.arms != usual_arms:
        pieces += [Piece(", K = "), Piece(format_count(found.arms), found.arms, "arms")]
    if found.settings:
        pieces.append(Piece(f" ({format_settings(found.settings)})"))
    if found.policy != "raven-ucb":
        pieces.append(Piece(f", {found.policy}"))
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


def _compare(found: Recommendation, rival: Baseline) -> list[Piece]:
    """Compare one baseline with the recommendation."""
    name, verdict = BASELINES[rival.name], judge_baseline(found, rival)
    verb = "has" if rival.name == "paper" else "have"
    if verdict == "same":
        return [Piece(f"identical to {name}")]
    if verdict == "unclear":
        reason = WITHIN_NOISE if found.recorded is None else INCONCLUSIVE
        ends = [_interval_end(found, rival.low), Piece(" to "), _interval_end(found, rival.high)]
        return [Piece(f"difference from {name} {reason} ("), *ends, Piece(")")]
    direction = "higher" if verdict == "worse" else "lower"
    pieces = [Piece(f"{name} {verb} "), _amount(found, rival), Piece(f" {direction} regret")]
    if verdict == "better":
        pieces.append(Piece(f" on held-out worlds, so use {'it' if rival.name == 'paper' else 'them'} instead"))
    return pieces


def _amount(found: Recommendation, rival: Baseline) -> Piece:
    """Format the absolute difference: relative where that has a meaning."""
    share = relative_difference(found, rival.difference)
    if share is None:
        return Piece(format_number(abs(rival.difference)), rival.difference, f"versus.{rival.name}.difference")
    small = abs(share) < SMALLEST_SHARE
    text = f"less than {format_percent(SMALLEST_SHARE)}" if small else format_percent(abs(share))
    return Piece(text, 100.0 * share, f"versus.{rival.name}.percent")


def _interval_end(found: Recommendation, value: float) -> Piece:
    """Format one end of the interval of a difference with its sign: relative where that has a meaning."""
    share = relative_difference(found, value)
    if share is None:
        return Piece(format_signed(value), value)
    return Piece(format_percent(share, signed=True), 100.0 * share)


def _count_verdicts(name: str, verdicts: Sequence[Verdict]) -> str:
    labels: dict[Verdict, str] = {
        "worse": "lower regret in",
        "unclear": "a difference within sampling noise in",
        "better": "higher regret in",
        "same": "identical parameters in",
    }
    parts = [f"{label} {verdicts.count(verdict)}" for verdict, label in labels.items() if verdict in verdicts]
    studies = plural(len(verdicts), "study", "studies")
    return f"Compared with {BASELINES[name]} in {studies}, the recommendation has {', '.join(parts)}."


@dataclass(frozen=True)
class SaidOf:
    """A sentence and the study it is about."""

    study: str
    sentence: Sentence


@dataclass(frozen=True)
class SummaryGroup:
    """The sentences on one scenario."""

    title: str
    link: str
    sentences: list[SaidOf]


@dataclass(frozen=True)
class ScenarioSection:
    """What a scenario is, its world, and what its studies found over time and over horizons."""

    id: str
    title: str
    key: str
    definition: Definition | None
    panels: list[Panel]
    notes: list[str]
    table: PageTable | None = None


@dataclass(frozen=True)
class GridSection:
    """One grid."""

    id: str
    title: str
    short: str
    lines: list[str]
    panels: list[Panel]
    table: PageTable | None


@dataclass(frozen=True)
class SearchSection:
    """How one search went."""

    id: str
    title: str
    short: str
    lines: list[str]
    panels: list[Panel]
