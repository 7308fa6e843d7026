"""What is to be said of Table 3's claims, given every world's numbers of the nine policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from environments.text import join_words
from environments.world import Floats
from policies.raven_ucb import ESTIMATORS
from studies.reproduction.claims import LOGISTICS, claims
from studies.reproduction.rules import (
    Measured,
    Verdict,
    judge_best,
    judge_definition,
    judge_growth,
    judge_number,
)
from tuning.paired import paired_tests
from tuning.reproduction._estimators import NO_VARIANCE, SIZES, regrets
from tuning.reproduction._intervals import measured_mean
from tuning.reproduction._logistics import CCB, PAPER_WORLDS, RAVEN, UCB
from tuning.reproduction.context import Found
from tuning.statistics import relative_interval, relative_shares

PRINTED = {"reward": "reward", "regret_constant": "regret", "suboptimal_pulls": "pulls"}
"""Our numbers that the paper's table prints, and what the claim's key calls them."""

RAN = {"published": "accumulated", "defined": "welford"}
"""The recursion for the variance that RAVEN-UCB ran with."""

NAMES = {ours: theirs for theirs, ours in LOGISTICS.items()}

Worlds = Mapping[str, Floats]
"""One number of every world, by policy."""


def number_verdicts(scores: Mapping[str, Worlds], seed: int) -> list[Verdict]:
    """Every printed number of the table against ours, as published."""
    return [
        _number(f"table3-{name}-{called}", scores[measure][name], seed)
        for name in NAMES
        for measure, called in PRINTED.items()
    ]


def _number(key: str, sample: Floats, seed: int) -> Verdict:
    claim = claims()[key]
    assert claim.printed is not None
    ours = measured_mean(sample, seed)
    spread = float(sample.std(ddof=1))
    error = spread / sample.size**0.5
    apart = ours.value - claim.printed
    reason = (
        f"Ours is {ours.value:.1f} ± {error:.1f} (standard error) in {sample.size} worlds, "
        f"{abs(apart):.1f} {'above' if apart >= 0 else 'below'} the printed {claim.printed:g}."
    )
    word = judge_number(claim.printed, ours, error, spread / PAPER_WORLDS**0.5)
    return Verdict(key, "published", ours, word, "number", reason)


@dataclass(frozen=True)
class Standing:
    """One policy against the others on one number, less being better."""

    first: str
    others: tuple[str, ...]
    beats: tuple[bool, ...]
    beaten: tuple[bool, ...]
    best: bool
    """Whether its mean is the lowest."""
    next: str
    """The best of the others by mean."""
    lead: Measured
    """By how much the next one is worse."""

    def in_words(self) -> str:
        """Whom it beats and who beats it."""
        beats = sum(self.beats)
        losing = [NAMES[name] for name, lost in zip(self.others, self.beaten, strict=True) if lost]
        words = f"beats {beats} of {len(self.others)} after Holm's correction"
        return f"{words} and is beaten by {join_words(losing, 'and')}" if losing else words


def standing(first: str, samples: Worlds, seed: int) -> Standing:
    """Hold one policy against all others in the same worlds.

    >>> noise = np.random.default_rng(0).normal(size=(2, 30))
    >>> found = standing("raven-ucb", {"raven-ucb": noise[0], "ccb": noise[0] + 5, "ucb1": noise[1] + 9}, seed=0)
    >>> found.next, found.beats
    ('ccb', (True, True))
    """
    others = {name: values for name, values in samples.items() if name != first}
    tests = paired_tests(samples[first], others, seed)
    ahead = min(tests, key=lambda test: test.difference)
    return Standing(
        first,
        tuple(others),
        tuple(test.told_apart and test.difference > 0.0 for test in tests),
        tuple(test.told_apart and test.difference < 0.0 for test in tests),
        all(test.difference >= 0.0 for test in tests),
        ahead.name,
        Measured(ahead.difference, ahead.low, ahead.high),
    )


def best_verdict(key: str, protocol: str, mine: Standing, what: str, beside: str = "") -> Verdict:
    """Whether RAVEN-UCB is the best in a comparison; `beside` tells of another comparison."""
    word = judge_best(mine.best, mine.beats, mine.beaten)
    lead = mine.lead
    direction = "worse" if lead.value >= 0.0 else "better"
    reason = (
        f"{what}, the best of the others, {NAMES[mine.next]}, is {abs(lead.value):.0f} {direction} than RAVEN-UCB, "
        f"which {mine.in_words()}{f'; {beside}' if beside else ''}."
    )
    return Verdict(key, protocol, lead, word, "best", reason)


def next_verdict(protocol: str, samples: Worlds, seed: int, what: str) -> Verdict:
    """Whether CCB is second: RAVEN-UCB beats it, and it beats all the rest."""
    mine = standing(CCB, samples, seed)
    rest = [i for i, name in enumerate(mine.others) if name != RAVEN]
    raven = mine.others.index(RAVEN)
    beats = [mine.beaten[raven], *(mine.beats[i] for i in rest)]
    beaten = [mine.beats[raven], *(mine.beaten[i] for i in rest)]
    means = {name: float(values.mean()) for name, values in samples.items()}
    order = sorted(means, key=lambda name: means[name])
    word = judge_best(order[:2] == [RAVEN, CCB], beats, beaten)
    rival = min((name for name in means if name not in (RAVEN, CCB)), key=lambda name: means[name])
    test = paired_tests(samples[CCB], {rival: samples[rival]}, seed)[0]
    ahead = [NAMES[mine.others[i]] for i in rest if mine.beaten[i]]
    reason = (
        f"{what}, CCB is number {order.index(CCB) + 1} of {len(order)} by mean regret "
        f"({means[CCB]:.0f}; {NAMES[rival]}, the best of the rest, {means[rival]:.0f}) and "
        f"is beaten by {join_words(ahead, 'and') if ahead else 'none of the rest'} after Holm's correction."
    )
    return Verdict("table3-next", protocol, Measured(test.difference, test.low, test.high), word, "best", reason)


def reduction(samples: Worlds, seed: int) -> tuple[Measured, float]:
    """By how many percent RAVEN-UCB's regret is below UCB's, with the spread of one world's share in it."""
    raven, ucb = samples[RAVEN], samples[UCB]
    share, low, high = relative_interval(raven, ucb, seed)
    spread = float(relative_shares(raven, ucb).std(ddof=1))
    return Measured(-100.0 * share, -100.0 * high, -100.0 * low), 100.0 * spread


def in_percent(less: Measured) -> str:
    """A reduction in words, whichever way it goes.

    >>> in_percent(Measured(-5.0, -8.0, -2.0))
    '5.0 % higher (95 %: 2.0 to 8.0)'
    """
    if less.value >= 0.0:
        return f"{less.value:.1f} % lower (95 %: {less.low:.1f} to {less.high:.1f})"
    return f"{-less.value:.1f} % higher (95 %: {-less.high:.1f} to {-less.low:.1f})"


def reduction_verdict(protocol: str, samples: Worlds, seed: int, what: str, beside: str) -> Verdict:
    """Whether RAVEN-UCB's regret is as far below UCB's as the paper says."""
    claim = claims()["table3-68"]
    assert claim.printed is not None
    ours, spread = reduction(samples, seed)
    count = samples[RAVEN].size
    word = judge_number(claim.printed, ours, spread / count**0.5, spread / PAPER_WORLDS**0.5)
    reason = f"{what}, RAVEN-UCB's regret lies {in_percent(ours)} than UCB's; {beside}."
    return Verdict(claim.key, protocol, ours, word, "number", reason)


def recursion_verdict(protocol: str, recursion: Found, seed: int) -> Verdict:
    """Whether the recursion that a protocol ran with gives the sample variance."""
    mine = RAN[protocol]
    size = str(SIZES[-1])
    at_last = {name: float(np.mean(recursion[name]["variances"][size])) for name in ESTIMATORS}
    ours = measured_mean(np.array(recursion[mine]["variances"][size]), seed)
    count = len(recursion[mine]["variances"][size])
    if protocol == "published":
        told = (
            f"the script's recursion gives {at_last['accumulated']:.2f} and Algorithm 1 as printed "
            f"{at_last['printed']:.4f}, where the sample variance is {at_last['welford']:.2f}"
        )
    else:
        told = f"the recursion of Proposition 1 gives {at_last['welford']:.2f}"
    broken = recursion[mine]["broken"]
    reason = (
        f"After {size} rewards from N(0, 1), over {count} samples, {told}; it differs from the sample variance within "
        f"the first nine digits in {100 * broken:.0f} % of them."
    )
    return Verdict("table3-variance", protocol, ours, judge_definition(broken), "definition", reason)


def exploration_verdict(protocol: str, found: Mapping[str, Found], measure: str, seed: int) -> Verdict:
    """Whether RAVEN-UCB owes its regret to the variance bonus: what it costs to take the bonus away."""
    with_it = regrets(found, protocol, RAN[protocol])[measure]
    without = regrets(found, protocol, NO_VARIANCE)[measure]
    change = measured_mean(without - with_it, seed)
    reason = (
        f"Without its variance bonus (β₀ = 0, all else the same) RAVEN-UCB's regret is {without.mean():.0f} instead "
        f"of {with_it.mean():.0f} in the same {with_it.size} worlds, a change of {change.value:.0f} "
        f"(95 %: {change.low:.0f} to {change.high:.0f})."
    )
    return Verdict("table3-because-variance", protocol, change, judge_growth(change), "growth", reason)
