"""What Figure 2's numbers say of the paper's claims about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from environments.world import Floats
from studies.reproduction.claims import claims
from studies.reproduction.rules import (
    ABOUT,
    Measured,
    Verdict,
    Word,
    judge_about,
    judge_all_above,
    judge_growth,
)
from tuning.statistics import mean_interval

AT = 5000
"""The horizon of the claim about T ≈ 5000."""

GROUPS = 400
"""A sample of at least twice as many is grouped before its interval is taken."""

PAPER_WORLDS = 50
"""Worlds behind each point of the paper's figure."""


def published_verdicts(runs: Mapping[int, Floats], seed: int) -> list[Verdict]:
    """From the reductions that single runs [horizon][run] would print. Their spread is the paper's own noise."""
    times = list(runs)
    first, last = times[0], times[-1]
    average = np.mean([runs[horizon] for horizon in times], axis=0)

    def about(claim: str, sample: Floats, what: str) -> Verdict:
        return _about(claim, "published", sample, float(sample.std(ddof=1)), what, seed)

    return [
        _above("published", runs, seed),
        about("figure2-84", runs[AT], f"at T = {AT}"),
        about("figure2-average-84", average, f"on average over {len(times)} horizons"),
        about("figure2-limit-84", runs[last], f"at T = {last}, the longest of the paper's horizons,"),
        _growth("published", runs[last] - runs[first], first, last, seed),
    ]


def defined_verdicts(worlds: Mapping[int, Floats], printed_times: Sequence[int], seed: int) -> list[Verdict]:
    """From what fresh worlds [horizon][world] say of the winners, at the paper's horizons and beyond them."""
    first, last, longest = printed_times[0], printed_times[-1], max(worlds)
    average = np.mean([worlds[horizon] for horizon in printed_times], axis=0)

    def noise(sample: Floats) -> float:
        return float(sample.std(ddof=1) / PAPER_WORLDS**0.5)

    return [
        _above("defined", {horizon: worlds[horizon] for horizon in printed_times}, seed),
        _about("figure2-84", "defined", worlds[AT], noise(worlds[AT]), f"at T = {AT}", seed),
        _about(
            "figure2-average-84",
            "defined",
            average,
            noise(average),
            f"on average over the paper's {len(printed_times)} horizons",
            seed,
        ),
        _about("figure2-limit-84", "defined", worlds[longest], None, f"at T = {longest}", seed),
        _growth_beyond(worlds, first, last, longest, seed),
    ]


def _above(protocol: str, samples: Mapping[int, Floats], seed: int) -> Verdict:
    threshold = _printed("figure2-above-80")
    ours = {horizon: measured(sample, seed) for horizon, sample in samples.items()}
    worst = min(ours, key=lambda horizon: ours[horizon].high)
    below = sum(each.high < threshold for each in ours.values())
    above = sum(each.low > threshold for each in ours.values())
    reason = (
        f"At T = {worst} the reduction is {_words(ours[worst])}; of {len(ours)} horizons {above} lie above "
        f"{threshold:g} %, {below} below it, and {len(ours) - above - below} can't be told from it."
    )
    word = judge_all_above(threshold, list(ours.values()))
    return Verdict("figure2-above-80", protocol, ours[worst], word, "all above", reason)


def _about(claim: str, protocol: str, sample: Floats, paper_error: float | None, what: str, seed: int) -> Verdict:
    printed, ours = _printed(claim), measured(sample, seed)
    error = float(sample.std(ddof=1)) / sample.size**0.5
    word = judge_about(printed, ours, error, paper_error)
    reason = f"The reduction {what} is {_words(ours)}, {_place(printed, ours)}"
    if paper_error is not None:
        reason += f"; one run as large as the paper's has a standard error of {paper_error:.1f} points"
    return Verdict(claim, protocol, ours, word, "about", f"{reason}.")


def _place(printed: float, ours: Measured) -> str:
    """Where an interval lies, in the words of the rule."""
    room = f"the room of “about {printed:g} %” ({printed - ABOUT:g} to {printed + ABOUT:g})"
    if ours.low <= printed <= ours.high:
        return f"which has {printed:g} % in it"
    if ours.high < printed - ABOUT:
        return f"below {room}"
    if ours.low > printed + ABOUT:
        return f"above {room}"
    inside = printed - ABOUT <= ours.low and ours.high <= printed + ABOUT
    return f"wholly inside {room}" if inside else f"which only touches {room}"


def _growth(protocol: str, change: Floats, first: int, last: int, seed: int) -> Verdict:
    ours = measured(change, seed)
    reason = f"From T = {first} to T = {last} the reduction changes by {_words(ours, 'points')}."
    return Verdict("figure2-growth", protocol, ours, judge_growth(ours), "growth", reason)


def _growth_beyond(worlds: Mapping[int, Floats], first: int, last: int, longest: int, seed: int) -> Verdict:
    """Over the paper's horizons and from there to the longest: the claim knows no end."""
    early = measured(_change(worlds, first, last), seed)
    late = measured(_change(worlds, last, longest), seed)
    word: Word = judge_all_above(0.0, [early, late])
    reason = (
        f"From T = {first} to T = {last} the reduction changes by {_words(early, 'points')}, and from there to "
        f"T = {longest} by {_words(late, 'points')}."
    )
    return Verdict("figure2-growth", "defined", min(early, late, key=lambda each: each.low), word, "all above", reason)


def _change(worlds: Mapping[int, Floats], before: int, after: int) -> Floats:
    """World by world; a sample of several times as many worlds is folded, so that all of it counts.

    >>> _change({1: np.array([1.0, 2.0, 3.0, 4.0]), 2: np.array([5.0, 6.0])}, 1, 2)
    array([3., 3.])
    """
    early, late = worlds[before], worlds[after]
    folds = early.size // late.size
    return np.asarray(late - early[: folds * late.size].reshape(folds, late.size).mean(axis=0))


def measured(sample: Floats, seed: int) -> Measured:
    """A mean with its interval; of many worlds, means of equal groups are resampled, which is as good and faster.

    >>> measured(np.arange(2000.0), seed=0).value
    999.5
    """
    size = max(1, sample.size // GROUPS)
    groups = sample[: sample.size // size * size].reshape(-1, size).mean(axis=1)
    mean, low, high = mean_interval(groups, seed)
    off = float(sample.mean()) - mean
    return Measured(mean + off, low + off, high + off)


def _printed(claim: str) -> float:
    printed = claims()[claim].printed
    assert printed is not None
    return printed


def _words(ours: Measured, unit: str = "%") -> str:
    return f"{ours.value:.1f} {unit} (95 %: {ours.low:.1f} to {ours.high:.1f})"
