"""A recommendation in sentences: what to use, and why one may trust it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from studies.log_words import log_in_words, score_in_words
from studies.ranges import parameters_of
from studies.recommendation import Edge, Recommendation
from studies.trace_words import NOT_DECIDABLE, regret_in_words, trace_in_words
from studies.words import params_in_words, short, symbol


def edges_in_words(policy: str, edges: Sequence[Edge]) -> list[str]:
    """Values on the edge of their range, each with a wider range to search.

    An edge holds 1 − x where that is what was searched, and so where 1 − x lies in it. The suggested range is
    one of x itself.

    >>> edges_in_words("d-raven", [Edge(param="gamma", value=0.75, low=0.00001, high=0.75)])
    ['γ 0.75 lies on the edge of its search range; search a wider one: gamma=0.25:0.99999.']
    """
    rates = {param.name for param in parameters_of(policy) if param.scale == "one-minus"}
    lines = []
    for edge in edges:
        turned = edge.param in rates and edge.low <= 1.0 - edge.value <= edge.high
        low, high = (1.0 - edge.high, 1.0 - edge.low) if turned else (edge.low, edge.high)
        lines.append(
            f"{symbol(edge.param)} {short(edge.value)} lies on the edge of its search range;"
            f" search a wider one: {edge.param}={low:.10g}:{high:.10g}."
        )
    return lines


def equals_in_words(equals: Sequence[object], box: Mapping[str, tuple[float, float]]) -> list[str]:
    """How many candidates can't be told from the best, and the box around them; nothing where it stands alone."""
    if not box or len(equals) < 2:
        return []
    ends = ", ".join(f"{symbol(name)} {short(low)} to {short(high)}" for name, (low, high) in box.items())
    return [f"{len(equals)} candidates can't be told from the best: {ends}."]


def in_words(each: Recommendation) -> list[str]:
    """What is recommended and why one may trust it, a sentence or two an item."""
    regret = each.regret
    lines = [f"Use {params_in_words(each.params)}."]
    if each.trace is not None:
        lines += regret_in_words(each, each.trace)
    elif each.log is not None:
        lines += score_in_words(each, each.log)
    else:
        flattered = each.objective == "mean" and each.search_estimate < regret.low
        lines.append(
            f"Mean regret {short(regret.mean)} (95 %: {short(regret.low)} to {short(regret.high)}) in"
            f" {regret.replications} fresh worlds that chose nothing; the search, which chose by it, saw"
            f" {short(each.search_estimate)} ({each.objective}){', too good to be true' if flattered else ''}."
        )
    lines += equals_in_words(each.indistinguishable, each.box)
    names = {"paper": "The paper's advice", "defaults": "The policy's defaults"}
    for rival in each.versus:
        if rival.params == each.params and rival.difference == 0.0:
            lines.append(f"{names[rival.name]} {'is' if rival.name == 'paper' else 'are'} just that.")
            continue
        more = "more" if rival.difference >= 0 else "less"
        unclear = "it could be nothing" if each.recorded is None else NOT_DECIDABLE
        verdict = "" if rival.told else f"; {unclear}"
        lines.append(
            f"{names[rival.name]} ({params_in_words(rival.params)}) would cost {short(abs(rival.difference))} {more}"
            f" (95 % of the difference: {short(rival.low)} to {short(rival.high)}{verdict})."
        )
    if each.importance:
        ordered = sorted(each.importance.items(), key=lambda item: -item[1])
        lines.append("Importance: " + ", ".join(f"{symbol(name)} {100 * part:.0f} %" for name, part in ordered) + ".")
    lines += edges_in_words(each.policy, each.edge)
    lines += [] if each.trace is None else trace_in_words(each, each.trace)
    lines += [] if each.log is None else log_in_words(each.log)
    lines.append(
        f"Tuned on {'costs' if each.recorded is not None and each.recorded.minimize else 'rewards'} of mean"
        f" {short(each.scale.mean)} and spread {short(each.scale.spread)}"
        f" ({each.trials} trials, seed {each.seed}, version {each.version})."
    )
    return lines
