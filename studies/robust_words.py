"""A setting for an unknown world in sentences: what to use, and what not knowing, guessing and not tuning cost."""

from __future__ import annotations

from studies.measure import parse_measure
from studies.recommendation_words import edges_in_words, equals_in_words
from studies.robust_recommendation import Contender, Front, Price, RobustRecommendation, World
from studies.words import hundredths, listed, params_in_words


def percent(share: float) -> str:
    """A share in percent.

    >>> percent(0.1234), percent(-0.004), percent(3.0)
    ('12 %', '−0.4 %', '300 %')
    """
    return f"{hundredths(share)} %"


def price_in_words(price: Price) -> str:
    """A price with its interval.

    >>> price_in_words(Price(mean=0.1, low=0.05, high=0.15))
    '10 % (95 %: 5.0 % to 15 %)'
    """
    return f"{percent(price.mean)} (95 %: {percent(price.low)} to {percent(price.high)})"


def headline(found: RobustRecommendation) -> str:
    """The price of not knowing the world, in one sentence."""
    worlds = len(found.scenarios)
    count = parse_measure(found.measure).counted(worlds)
    how = "at most" if count == 1 else "on average" if count == worlds else f"on average of the worst {count}"
    return f"Not knowing which of these {worlds} worlds it is costs {how} {price_in_words(found.price)}."


def dearest_guess(found: RobustRecommendation) -> tuple[Contender, World] | None:
    """The wrong guess that costs most: a setting tuned for one world, played in another."""
    pairs = [
        (each, world)
        for each in found.contenders
        for world in each.worlds
        if each.tuned_for is not None and world.scenario != each.tuned_for
    ]
    return max(pairs, key=lambda pair: pair[1].price.mean, default=None)


def robust_in_words(found: RobustRecommendation) -> list[str]:
    """What is recommended and why one may trust it, a sentence or two an item."""
    fresh = found.contenders[0].worlds[0].regret.replications
    lines = [
        f"Use {params_in_words(found.params)}, whether it is {listed(found.scenarios)}.",
        f"{headline(found)} That is regret above that of the setting tuned for the world, in {fresh} fresh worlds of"
        f" each; the search, where the tuned settings too look better than they are, saw"
        f" {percent(found.search_estimate - 1.0)}.",
    ]
    guess = dearest_guess(found)
    if guess is not None:
        each, world = guess
        lines.append(
            f"A wrong guess costs up to {percent(world.price.mean)}: the setting tuned for {each.tuned_for}, played in"
            f" {world.scenario} (95 % of that pair alone: {percent(world.price.low)} to {percent(world.price.high)})."
        )
    defaults = found.contenders[-1]
    lines.append(
        f"The policy's defaults ({params_in_words(defaults.params)}) cost {price_in_words(defaults.price)} by the same"
        f" measure, {found.measure}."
    )
    lines += equals_in_words(found.indistinguishable, found.box)
    lines += edges_in_words(found.policy, found.edge)
    lines.append(f"{found.trials} trials, seed {found.seed}, version {found.version}.")
    return lines


def front_in_words(found: Front) -> list[str]:
    """How many settings stayed on the front, and what the most even of them costs."""
    kept = found.kept()
    searched = sum(member.trial is not None for member in found.members)
    stayed = sum(member.trial is not None for member in kept)
    even = min(kept, key=lambda member: member.price.mean)
    return [
        f"{stayed} of the {searched} settings that the search's front had are on that of fresh worlds too; with tuned"
        f" settings and defaults there are {len(kept)}.",
        f"The most even one, {params_in_words(even.params)}, costs at most {price_in_words(even.price)} more than the"
        " setting tuned for the world.",
    ]
