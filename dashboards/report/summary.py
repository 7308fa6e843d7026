"""What the studies found, in sentences. Every number keeps its full value beside the digits that are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from environments.text import format_number, format_settings
from studies.describe import INCONCLUSIVE, warn_few_events
from studies.recommendation import Estimate, Recommendation, Rival
from studies.symbols import format_symbol

Verdict = Literal["same", "worse", "better", "unclear"]
"""Of a rival against what is recommended: the very same parameters, clearly worse, clearly better, or noise."""

RIVALS = {"paper": "the paper's advice", "defaults": "the policy's defaults"}


@dataclass(frozen=True)
class Piece:
    """Words, or a number with the value that it shows."""

    text: str
    value: float | str | None = None
    field: str = ""


@dataclass(frozen=True)
class Sentence:
    """Pieces that follow each other.

    >>> str(Sentence((Piece("regret "), Piece("41", 41.2))))
    'regret 41'
    """

    pieces: tuple[Piece, ...]

    def __str__(self) -> str:
        return "".join(piece.text for piece in self.pieces)


def judge(each: Recommendation, rival: Rival) -> Verdict:
    """How a rival did in the same fresh worlds; what the interval does not settle is unclear."""
    if all(each.params.get(name) == value for name, value in rival.params.items()) and rival.difference == 0.0:
        return "same"
    if not rival.told:
        return "unclear"
    return "worse" if rival.low > 0.0 else "better"


def percent(each: Recommendation, extra: float) -> float | None:
    """Extra regret in percent of the recommended one's; None where that has no meaning."""
    if each.log is not None or each.regret.mean <= 0.0:
        return None
    return 100.0 * extra / each.regret.mean


def sentence(each: Recommendation, usual_arms: int | None = None) -> Sentence:
    """One recommendation in one sentence; K is left out where it is the usual number of arms."""
    where = [Piece(f"In {each.scenario} at T = "), Piece(str(each.horizon), each.horizon, "horizon")]
    if each.arms != usual_arms:
        where += [Piece(", K = "), Piece(str(each.arms), each.arms, "arms")]
    if each.settings:
        where.append(Piece(f" ({format_settings(each.settings)})"))
    if each.policy != "raven-ucb":
        where.append(Piece(f", {each.policy}"))
    pieces = [*where, Piece(" use " if each.params else " has nothing to set")]
    for place, (name, value) in enumerate(each.params.items()):
        pieces += [
            Piece(f"{', ' if place else ''}{format_symbol(name)} = "),
            Piece(format_number(value), value, f"params.{name}"),
        ]
    if each.log is None:
        pieces += [Piece(": regret "), *_estimate(each.regret, "regret")]
    else:
        pieces += [Piece(": replay score "), *_estimate(each.log.score, "log.score")]
        pieces += [Piece(f", from {each.log.matched} matched events; the logging policy's own mean is ")]
        pieces += _estimate(each.log.logged, "log.logged")
    for rival in each.versus:
        pieces += [Piece("; "), *_rival(each, rival)]
    pieces.append(Piece("."))
    if each.log is not None and not each.log.enough:
        pieces.append(Piece(f" {warn_few_events(each.log)}"))
    if each.objective != "mean":
        pieces.append(Piece(f" It was chosen by {each.objective}, not by mean regret."))
    for edge in each.edge:
        pieces.append(
            Piece(
                f" {format_symbol(edge.param)} lies on the edge of what was searched: a wider range may do better"
                " still."
            )
        )
    return Sentence(tuple(pieces))


def _estimate(found: Estimate, field: str) -> list[Piece]:
    """A mean with its interval."""
    return [
        Piece(format_number(found.mean), found.mean, f"{field}.mean"),
        Piece(" ("),
        Piece(format_number(found.low), found.low, f"{field}.low"),
        Piece(" to "),
        Piece(format_number(found.high), found.high, f"{field}.high"),
        Piece(")"),
    ]


def _rival(each: Recommendation, rival: Rival) -> list[Piece]:
    """The half sentence on one rival."""
    name, verdict, share = RIVALS[rival.name], judge(each, rival), percent(each, rival.difference)
    one = rival.name == "paper"
    if verdict == "same":
        return [Piece(f"that is {name} itself" if one else "these are the policy's own defaults")]
    if share is None:
        amount = Piece(format_number(abs(rival.difference)), rival.difference, f"versus.{rival.name}.difference")
    else:
        amount = Piece(_share(abs(share)), share, f"versus.{rival.name}.percent")
    if verdict == "unclear":
        ends = [_end(each, rival.low), Piece(" to "), _end(each, rival.high)]
        if each.recorded is not None:
            costs = "it costs" if one else "they cost"
            return [Piece(f"against {name} it is {INCONCLUSIVE} ({costs} "), *ends, Piece(" more)")]
        return [Piece(f"{name} can't be told from it ("), *ends, Piece(" more)")]
    pieces = [Piece(f"{name} {'costs' if one else 'cost'} "), amount, Piece(" more" if verdict == "worse" else " less")]
    if verdict == "better":
        pieces.append(Piece(f" on the fresh worlds, so prefer {'it' if one else 'them'} here"))
    return pieces


def _end(each: Recommendation, value: float) -> Piece:
    """An end of an interval around nothing: in percent of the recommended regret where that has a meaning."""
    share = percent(each, value)
    if share is None:
        return Piece(f"{value:+z.2g}".replace("-", "−"), value)
    return Piece(f"{share:+z.2g} %".replace("-", "−"), share)


def _share(value: float) -> str:
    """A percentage with as many digits as help.

    >>> _share(23.4), _share(1.24), _share(0.04), _share(1600.0)
    ('23 %', '1.2 %', 'under 0.1 %', '1600 %')
    """
    if value < 0.1:
        return "under 0.1 %"
    return f"{value:.1f} %" if value < 10.0 else f"{value:.0f} %"


def overview(found: Sequence[Recommendation]) -> list[str]:
    """What holds over all recommendations: how often tuning paid, and what to be careful about.

    >>> overview([])
    []
    """
    if not found:
        return []
    lines = []
    for name in ("paper", "defaults"):
        verdicts = [judge(each, rival) for each in found for rival in each.versus if rival.name == name]
        if verdicts:
            lines.append(_compared(name, verdicts))
    edges = sum(bool(each.edge) for each in found)
    if edges:
        lines.append(
            f"{_of(edges, len(found))} on the edge of what was searched: search a wider range before relying on it."
        )
    return lines


def _compared(name: str, verdicts: Sequence[Verdict]) -> str:
    counts = {verdict: verdicts.count(verdict) for verdict in ("worse", "unclear", "better", "same")}
    words = {
        "worse": "clearly better in {}",
        "unclear": "not to be told apart in {}",
        "better": "clearly worse in {}",
        "same": "the very same in {}",
    }
    parts = [words[verdict].format(count) for verdict, count in counts.items() if count]
    studies = "1 study" if len(verdicts) == 1 else f"{len(verdicts)} studies"
    return f"Against {RIVALS[name]}, compared in {studies}, what is recommended is {', '.join(parts)}."


def _of(count: int, total: int) -> str:
    lies = "lies" if count == 1 else "lie"
    return f"{count} of {total} recommendations {lies}" if total > 1 else "The recommendation lies"
