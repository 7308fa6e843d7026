"""Claims about Table 3 and their verdicts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ravenlab.common.text import join_words
from ravenlab.environments.world import Floats
from ravenlab.policies.raven_ucb import ESTIMATORS
from ravenlab.studies.paper.claims import Claim, ClaimResult, Measurement
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
from ravenlab.tuning.reproduction.texts import judge, read_claims, read_texts

NUMBERS_GROUP = "The numbers of Table 3"

SHORT_NAMES = {"regret_constant": "regret", "reward": "reward", "suboptimal_pulls": "pulls"}
"""Names of the printed measures in the keys of claims."""

ESTIMATOR_OF = {"published": "accumulated", "defined": "welford"}
"""The recursion for the variance that RAVEN-UCB uses under each protocol."""

SETTINGS = {
    "published": "With regret relative to the constant 0.8",
    "defined": "With all policies tuned on the same budget",
}
"""What is compared under each protocol."""


def _number_claims() -> Iterator[Claim]:
    """One claim per number of the table."""
    reason = read_texts("table3")["reasons"]["number"]
    printed = {measure: printed_by_policy(measure) for measure in SHORT_NAMES}
    for name, title in NAMES.items():
        for measure, short in SHORT_NAMES.items():
            value = printed[measure][name]
            words = PRINTED_COLUMNS[measure].replace("_", " ")
            yield Claim(
                f"table3-{name}-{short}",
                "Section 4.3, Table 3",
                f"{title}: {words} {value:,.1f}.",
                printed=value,
                unit=short,
                group=NUMBERS_GROUP,
                rule="number",
                reason=reason,
            )


CLAIMS = read_claims("table3") | {claim.key: claim for claim in _number_claims()}


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """Scores, paired tests, tuned parameters, variance estimators and the verdicts."""
    samples = collect_samples(context, pieces)
    facts = describe_size(context)
    verdicts: list[ClaimResult] = []
    if "published" in context.protocols:
        played = samples["published"]
        constant = {**played, "regret": played["regret_constant"]}
        verdicts += _judge_comparison("published", constant, played, context.seed)
        verdicts += [
            _judge_number(CLAIMS[f"table3-{name}-{short}"], played[measure][name], context.seed)
            for name in NAMES
            for measure, short in SHORT_NAMES.items()
        ]
    if "defined" in context.protocols:
        facts["search"] = search_budget(context)
        verdicts += _judge_comparison("defined", samples["tuned"], samples["defaults"], context.seed)
    for protocol in context.protocols:
        verdicts.append(_judge_recursion(protocol, pieces[RECURSION], context.seed))
        verdicts.append(_judge_variance_bonus(protocol, pieces, context.seed))
    return ExperimentResult(make_tables(context, samples, pieces), facts, verdicts)


def _judge_comparison(
    protocol: str, samples: Mapping[str, Samples], others: Mapping[str, Samples], seed: int
) -> list[ClaimResult]:
    """Judge the order of the policies from samples by measure; `others` are only mentioned.

    They are relative to the best arm at each step, as published, and at the defaults, as defined.
    """
    setting = SETTINGS[protocol]
    regret = samples["regret"]
    ranking, other = (rank(RAVEN, measures["regret"]) for measures in (samples, others))
    reward, other_reward = (
        rank(RAVEN, {name: -values for name, values in measures["reward"].items()}) for measures in (samples, others)
    )
    reduction, spread = measure_reduction(regret, seed)
    other_reduction, _ = measure_reduction(others["regret"], seed)
    claim = CLAIMS["table3-68"]
    errors = spread / regret[RAVEN].size ** 0.5, spread / PAPER_WORLDS**0.5
    is_published = protocol == "published"
    return [
        _judge_best("table3-best-regret", protocol, ranking, setting, other),
        _judge_best(
            "table3-best-reward",
            protocol,
            reward,
            "In reward" if is_published else setting,
            None if is_published else other_reward,
        ),
        _judge_second(protocol, regret),
        judge(
            claim,
            protocol,
            reduction,
            claim.printed_number,
            reduction,
            *errors,
            setting=setting,
            other=other_reduction,
        ),
    ]


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


def rank(policy: str, samples: Samples) -> Ranking:
    """Compare one policy with all others on the same worlds.

    >>> noise = np.random.default_rng(0).normal(size=(2, 30))
    >>> ranking = rank("raven-ucb", {"raven-ucb": noise[0], "ccb": noise[0] + 5, "ucb1": noise[1] + 9})
    >>> ranking.best_other, ranking.beats
    ('ccb', (True, True))
    """
    others = {name: values for name, values in samples.items() if name != policy}
    tests = paired_tests(samples[policy], others)
    closest = min(tests, key=lambda test: test.difference.mean)
    return Ranking(
        tuple(others),
        tuple(test.significant and test.difference.mean > 0.0 for test in tests),
        tuple(test.significant and test.difference.mean < 0.0 for test in tests),
        all(test.difference.mean >= 0.0 for test in tests),
        closest.name,
        Measurement(*closest.difference),
    )


def _judge_best(key: str, protocol: str, ranking: Ranking, setting: str, other: Ranking | None) -> ClaimResult:
    """Judge whether RAVEN-UCB is the best; `other` is its ranking in another comparison."""
    evidence = ranking.has_lowest_mean, ranking.beats, ranking.beaten
    values: dict[str, Any] = {"setting": setting, "ranking": ranking, "other": other, "names": NAMES}
    return judge(CLAIMS[key], protocol, ranking.lead, *evidence, **values)


def _judge_second(protocol: str, samples: Samples) -> ClaimResult:
    """Judge whether CCB is second: RAVEN-UCB beats it, and it beats all others."""
    ranking = rank(CCB, samples)
    rest = [i for i, name in enumerate(ranking.others) if name != RAVEN]
    raven = ranking.others.index(RAVEN)
    means = {name: float(values.mean()) for name, values in samples.items()}
    order = sorted(means, key=lambda name: means[name])
    runner_up = next(name for name in order if name not in (RAVEN, CCB))
    test = paired_tests(samples[CCB], {runner_up: samples[runner_up]})[0]
    return judge(
        CLAIMS["table3-next"],
        protocol,
        Measurement(*test.difference),
        order[:2] == [RAVEN, CCB],
        [ranking.beaten[raven], *(ranking.beats[i] for i in rest)],
        [ranking.beats[raven], *(ranking.beaten[i] for i in rest)],
        setting=SETTINGS[protocol],
        order=order,
        means=means,
        names=NAMES,
        next=runner_up,
        better=[NAMES[ranking.others[i]] for i in rest if ranking.beaten[i]],
    )


def _judge_number(claim: Claim, sample: Floats, seed: int) -> ClaimResult:
    """Judge a printed number of the table."""
    ours = measure_mean(sample, seed)
    spread = float(sample.std(ddof=1))
    error = spread / sample.size**0.5
    evidence = claim.printed_number, ours, error, spread / PAPER_WORLDS**0.5
    return judge(claim, "published", ours, *evidence, error=error, worlds=sample.size)


def _judge_recursion(protocol: str, recursion: PieceData, seed: int) -> ClaimResult:
    """Judge whether the recursion used under a protocol gives the sample variance."""
    estimator = ESTIMATOR_OF[protocol]
    size = SIZES[-1]
    variances = {name: np.array(recursion[name]["variances"][str(size)]) for name in ESTIMATORS}
    wrong = recursion[estimator]["broken"]
    return judge(
        CLAIMS["table3-variance"],
        protocol,
        measure_mean(variances[estimator], seed),
        wrong,
        size=size,
        samples=variances[estimator].size,
        means={name: values.mean() for name, values in variances.items()},
        wrong=wrong,
    )


def _judge_variance_bonus(protocol: str, pieces: Mapping[str, PieceData], seed: int) -> ClaimResult:
    """Judge whether the variance bonus reduces the regret, by removing it."""
    measure = "regret_constant" if protocol == "published" else "regret"
    with_bonus = variant_samples(pieces, protocol, ESTIMATOR_OF[protocol])[measure]
    without = variant_samples(pieces, protocol, NO_VARIANCE)[measure]
    change = measure_mean(without - with_bonus, seed)
    means = {"with_bonus": with_bonus.mean(), "without": without.mean(), "worlds": with_bonus.size}
    return judge(CLAIMS["table3-because-variance"], protocol, change, **means)
