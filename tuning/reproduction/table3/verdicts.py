"""Claims about Table 3 and their verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ravenlab.common.text import join_words
from ravenlab.environments.world import Floats
from ravenlab.policies.raven_ucb import ESTIMATORS
from ravenlab.studies.paper.claims import Claim, ClaimResult, Measurement, index_claims
from ravenlab.studies.paper.criteria import judge_best, judge_definition, judge_growth, judge_number
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.statistics.paired import paired_tests
from ravenlab.tuning.reproduction.context import PieceData, RunContext
from ravenlab.tuning.reproduction.logistics import (
    CCB,
    NAMES,
    PAPER_WORLDS,
    PRINTED_COLUMNS,
    RAVEN,
    describe_size,
    printed_by_policy,
    search_budget,
)
from ravenlab.tuning.reproduction.measurements import measure_mean
from ravenlab.tuning.reproduction.table3.run import NO_VARIANCE, RECURSION, SIZES, variant_samples
from ravenlab.tuning.reproduction.table3.tables import Samples, collect_samples, make_tables, measure_reduction

NUMBERS_GROUP = "The numbers of Table 3"

SHORT_NAMES = {"regret_constant": "regret", "reward": "reward", "suboptimal_pulls": "pulls"}
"""Names of the printed measures in the keys of claims."""

ESTIMATOR_OF = {"published": "accumulated", "defined": "welford"}
"""The recursion for the variance that RAVEN-UCB uses under each protocol."""

TUNED = "With all policies tuned on the same budget"
CONSTANT = "With regret relative to the constant 0.8"


def _number_claims() -> list[Claim]:
    """One claim per number of the table."""
    printed = {measure: printed_by_policy(measure) for measure in SHORT_NAMES}
    out = []
    for name, title in NAMES.items():
        for measure, short in SHORT_NAMES.items():
            value, words = printed[measure][name], PRINTED_COLUMNS[measure].replace("_", " ")
            text = f"{title}: {words} {value:,.1f}."
            out.append(Claim(f"table3-{name}-{short}", "Section 4.3, Table 3", text, value, short, NUMBERS_GROUP))
    return out


CLAIMS = index_claims(
    [
        Claim(
            "table3-best-regret",
            "Section 4.3, Table 3",
            "RAVEN-UCB has the lowest cumulative regret of the nine policies.",
            unit="lead in regret over the best other policy",
        ),
        Claim(
            "table3-best-reward",
            "Section 4.3, Table 3",
            "RAVEN-UCB has the highest cumulative reward of the nine policies.",
            unit="lead in reward over the best other policy",
        ),
        Claim(
            "table3-next",
            "Section 4.3, Table 3",
            "CCB is the second best policy after RAVEN-UCB.",
            unit="lead in regret over the best of the rest",
        ),
        Claim("table3-68", "Section 1", "RAVEN-UCB's regret is 68 % lower than that of UCB.", 68.0, "%"),
        Claim(
            "table3-variance",
            "Proposition 1, Algorithm 1",
            "The variance that the algorithm computes recursively is the sample variance.",
            unit="S² where the true variance is 1",
        ),
        Claim(
            "table3-because-variance",
            "Section 4.3",
            "RAVEN-UCB performs well in the logistics case because of its variance-driven exploration.",
            unit="additional regret without the variance bonus",
        ),
        *_number_claims(),
    ]
)


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """Scores, paired tests, tuned parameters, variance estimators and the verdicts."""
    samples = collect_samples(context, pieces)
    facts = describe_size(context)
    verdicts: list[ClaimResult] = []
    if "published" in context.protocols:
        verdicts += _judge_published(samples["published"], context.seed)
    if "defined" in context.protocols:
        facts["search"] = search_budget(context)
        verdicts += _judge_defined(samples["tuned"], samples["defaults"], context.seed)
    for protocol in context.protocols:
        verdicts.append(_judge_recursion(protocol, pieces[RECURSION], context.seed))
        verdicts.append(_judge_variance_bonus(protocol, pieces, context.seed))
    return ExperimentResult(make_tables(context, samples, pieces), facts, verdicts)


def _judge_published(samples: Mapping[str, Samples], seed: int) -> list[ClaimResult]:
    """Judge regret relative to the constant 0.8, as the paper measured it; mention the best arm at each step."""
    constant, regret = samples["regret_constant"], samples["regret"]
    negative_reward = {name: -values for name, values in samples["reward"].items()}
    alternative = (
        f"relative to the best arm at each step it {rank(RAVEN, regret, seed).describe()} (the two regrets of a world "
        "differ by the same amount for all policies)"
    )
    reduction, _ = measure_reduction(regret, seed)
    return [
        _judge_best("table3-best-regret", "published", rank(RAVEN, constant, seed), CONSTANT, alternative),
        _judge_best("table3-best-reward", "published", rank(RAVEN, negative_reward, seed), "In reward"),
        _judge_second("published", constant, seed, CONSTANT),
        _judge_reduction(
            "published",
            constant,
            seed,
            CONSTANT,
            f"relative to the best arm at each step it is {format_reduction(reduction)}",
        ),
        *_judge_numbers(samples, seed),
    ]


def _judge_defined(tuned: Mapping[str, Samples], defaults: Mapping[str, Samples], seed: int) -> list[ClaimResult]:
    """Judge all policies tuned on the same budget; mention the defaults."""
    out = []
    for key, measure, sign in (("table3-best-regret", "regret", 1.0), ("table3-best-reward", "reward", -1.0)):
        tuned_ranking, default_ranking = (
            rank(RAVEN, {name: sign * values for name, values in samples[measure].items()}, seed)
            for samples in (tuned, defaults)
        )
        alternative = f"with all policies at their defaults it {default_ranking.describe()}"
        out.append(_judge_best(key, "defined", tuned_ranking, TUNED, alternative))
    reduction, _ = measure_reduction(defaults["regret"], seed)
    alternative = f"with both policies at their defaults it is {format_reduction(reduction)}"
    out.append(_judge_second("defined", tuned["regret"], seed, TUNED))
    out.append(_judge_reduction("defined", tuned["regret"], seed, TUNED, alternative))
    return out


@dataclass(frozen=True)
class Ranking:
    """One policy compared with the others on one measure, where lower is better."""

    others: tuple[str, ...]
    beats: tuple[bool, ...]
    beaten: tuple[bool, ...]
    has_lowest_mean: bool
    best_other: str
    lead: Measurement
    """Mean of the best other policy minus that of this policy."""

    def describe(self) -> str:
        """Which policies it beats and which beat it."""
        beaten_by = [NAMES[name] for name, lost in zip(self.others, self.beaten, strict=True) if lost]
        text = f"beats {sum(self.beats)} of {len(self.others)} policies after Holm's correction"
        return f"{text} and is beaten by {join_words(beaten_by, 'and')}" if beaten_by else text


def rank(policy: str, samples: Samples, seed: int) -> Ranking:
    """Compare one policy with all others on the same worlds.

    >>> noise = np.random.default_rng(0).normal(size=(2, 30))
    >>> ranking = rank("raven-ucb", {"raven-ucb": noise[0], "ccb": noise[0] + 5, "ucb1": noise[1] + 9}, seed=0)
    >>> ranking.best_other, ranking.beats
    ('ccb', (True, True))
    """
    others = {name: values for name, values in samples.items() if name != policy}
    tests = paired_tests(samples[policy], others, seed)
    closest = min(tests, key=lambda test: test.difference.mean)
    return Ranking(
        tuple(others),
        tuple(test.significant and test.difference.mean > 0.0 for test in tests),
        tuple(test.significant and test.difference.mean < 0.0 for test in tests),
        all(test.difference.mean >= 0.0 for test in tests),
        closest.name,
        Measurement(*closest.difference),
    )


def _judge_best(key: str, protocol: str, ranking: Ranking, setting: str, alternative: str = "") -> ClaimResult:
    """Judge whether RAVEN-UCB is the best; `alternative` describes another comparison."""
    verdict = judge_best(ranking.has_lowest_mean, ranking.beats, ranking.beaten)
    lead = ranking.lead
    direction = "worse" if lead.value >= 0.0 else "better"
    reason = (
        f"{setting}, the best other policy, {NAMES[ranking.best_other]}, is {abs(lead.value):,.0f} {direction} than "
        f"RAVEN-UCB, which {ranking.describe()}{f'; {alternative}' if alternative else ''}."
    )
    return ClaimResult(CLAIMS[key], protocol, lead, verdict, "best", reason)


def _judge_second(protocol: str, samples: Samples, seed: int, setting: str) -> ClaimResult:
    """Judge whether CCB is second: RAVEN-UCB beats it, and it beats all others."""
    ranking = rank(CCB, samples, seed)
    rest = [i for i, name in enumerate(ranking.others) if name != RAVEN]
    raven = ranking.others.index(RAVEN)
    beats = [ranking.beaten[raven], *(ranking.beats[i] for i in rest)]
    beaten = [ranking.beats[raven], *(ranking.beaten[i] for i in rest)]
    means = {name: float(values.mean()) for name, values in samples.items()}
    order = sorted(means, key=lambda name: means[name])
    verdict = judge_best(order[:2] == [RAVEN, CCB], beats, beaten)
    runner_up = min((name for name in means if name not in (RAVEN, CCB)), key=lambda name: means[name])
    test = paired_tests(samples[CCB], {runner_up: samples[runner_up]}, seed)[0]
    better = [NAMES[ranking.others[i]] for i in rest if ranking.beaten[i]]
    reason = (
        f"{setting}, CCB ranks {order.index(CCB) + 1} of {len(order)} by mean regret ({means[CCB]:,.0f}; "
        f"{NAMES[runner_up]}, the best of the rest, {means[runner_up]:,.0f}) and is beaten by "
        f"{join_words(better, 'and') if better else 'none of the rest'} after Holm's correction."
    )
    lead = Measurement(*test.difference)
    return ClaimResult(CLAIMS["table3-next"], protocol, lead, verdict, "best", reason)


def _judge_reduction(protocol: str, samples: Samples, seed: int, setting: str, alternative: str) -> ClaimResult:
    """Judge the reduction of regret compared with UCB."""
    claim = CLAIMS["table3-68"]
    ours, spread = measure_reduction(samples, seed)
    count = samples[RAVEN].size
    verdict = judge_number(claim.printed_number, ours, spread / count**0.5, spread / PAPER_WORLDS**0.5)
    reason = f"{setting}, RAVEN-UCB's regret is {format_reduction(ours)} than UCB's; {alternative}."
    return ClaimResult(claim, protocol, ours, verdict, "number", reason)


def format_reduction(reduction: Measurement) -> str:
    """Describe a reduction of either sign.

    >>> format_reduction(Measurement(-5.0, -8.0, -2.0))
    '5.0 % higher (95 %: 2.0 to 8.0)'
    """
    if reduction.value >= 0.0:
        return f"{reduction.value:.1f} % lower (95 %: {reduction.low:.1f} to {reduction.high:.1f})"
    return f"{-reduction.value:.1f} % higher (95 %: {-reduction.high:.1f} to {-reduction.low:.1f})"


def _judge_numbers(samples: Mapping[str, Samples], seed: int) -> list[ClaimResult]:
    """Judge every printed number of the table."""
    return [
        _judge_number(CLAIMS[f"table3-{name}-{short}"], samples[measure][name], seed)
        for name in NAMES
        for measure, short in SHORT_NAMES.items()
    ]


def _judge_number(claim: Claim, sample: Floats, seed: int) -> ClaimResult:
    ours = measure_mean(sample, seed)
    spread = float(sample.std(ddof=1))
    error = spread / sample.size**0.5
    difference = ours.value - claim.printed_number
    reason = (
        f"Our mean is {ours.value:,.1f} ± {error:,.1f} (standard error) over {sample.size} worlds, "
        f"{abs(difference):,.1f} {'above' if difference >= 0 else 'below'} the printed {claim.printed_number:,.1f}."
    )
    verdict = judge_number(claim.printed_number, ours, error, spread / PAPER_WORLDS**0.5)
    return ClaimResult(claim, "published", ours, verdict, "number", reason)


def _judge_recursion(protocol: str, recursion: PieceData, seed: int) -> ClaimResult:
    """Judge whether the recursion used under a protocol gives the sample variance."""
    estimator, size = ESTIMATOR_OF[protocol], str(SIZES[-1])
    variances = {name: np.array(recursion[name]["variances"][size]) for name in ESTIMATORS}
    ours = measure_mean(variances[estimator], seed)
    if protocol == "published":
        values = (
            f"the script's recursion gives {variances['accumulated'].mean():.2f} and Algorithm 1 as printed "
            f"{variances['printed'].mean():.4f}; the sample variance is {variances['welford'].mean():.2f}"
        )
        name = "The script's recursion"
    else:
        values = f"the recursion of Proposition 1 gives {variances['welford'].mean():.2f}"
        name = "The recursion"
    wrong = recursion[estimator]["broken"]
    reason = (
        f"After {SIZES[-1]:,} rewards from N(0, 1), averaged over {variances[estimator].size} samples, {values}. "
        f"{name} differs from the sample variance within the first nine digits in {100 * wrong:.0f} % of the samples."
    )
    return ClaimResult(CLAIMS["table3-variance"], protocol, ours, judge_definition(wrong), "definition", reason)


def _judge_variance_bonus(protocol: str, pieces: Mapping[str, PieceData], seed: int) -> ClaimResult:
    """Judge whether the variance bonus reduces the regret, by removing it."""
    measure = "regret_constant" if protocol == "published" else "regret"
    with_bonus = variant_samples(pieces, protocol, ESTIMATOR_OF[protocol])[measure]
    without = variant_samples(pieces, protocol, NO_VARIANCE)[measure]
    change = measure_mean(without - with_bonus, seed)
    reason = (
        f"Without the variance bonus (β₀ = 0, all else unchanged) RAVEN-UCB's regret is {without.mean():,.0f} instead "
        f"of {with_bonus.mean():,.0f} on the same {with_bonus.size} worlds, a change of {change.value:,.0f} "
        f"(95 %: {change.low:,.0f} to {change.high:,.0f})."
    )
    claim = CLAIMS["table3-because-variance"]
    return ClaimResult(claim, protocol, change, judge_growth(change), "growth", reason)
