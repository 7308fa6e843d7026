"""Table 3: nine policies in the logistics case, and three recursions for the variance.

Each recursion is run on samples of N(0, 1), and RAVEN-UCB is played with each of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.common.text import join_words
from ravenlab.environments.streams import Stream, generator
from ravenlab.environments.world import Floats
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Value
from ravenlab.policies.published.published_raven_ucb import NUMBERS
from ravenlab.policies.raven_ucb import ESTIMATORS, next_variance
from ravenlab.studies.paper.claims import Claim, ClaimResult
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.statistics.intervals import mean_interval, paired_interval, relative_interval, relative_shares
from ravenlab.studies.statistics.paired import paired_tests
from ravenlab.studies.tables import DataFrame, make_table
from ravenlab.tuning.reproduction import logistics
from ravenlab.tuning.reproduction.context import Experiment, PieceData, RunContext, RunPiece
from ravenlab.tuning.reproduction.logistics import (
    ARMS,
    CCB,
    COMPARISON_TITLES,
    COMPARISONS,
    HORIZON,
    MEASURE_TITLES,
    NAMES,
    PAPER_WORLDS,
    PRINTED_COLUMNS,
    RAVEN,
    UCB,
    describe_size,
    estimate_mean,
    list_comparisons,
    list_measures,
    pieces_by_policy,
    play,
    printed_by_policy,
    samples_by_policy,
    search_budget,
)
from ravenlab.tuning.reproduction.measurements import interval_columns
from ravenlab.tuning.reproduction.table3_figures import ESTIMATOR_TITLES, plot_figures
from ravenlab.tuning.reproduction.texts import judge, read_claims, read_texts

SIZES = (2, 5, 10, 20, 50, 100, 200, 500, 1000)  # numbers of rewards at which a recursion is evaluated
SAMPLES, WORLDS = 100, 200  # samples and worlds per recursion at the default precision
TOLERANCE = 1e-9  # relative difference up to which a recursion equals the sample variance
NO_VARIANCE = "none"  # RAVEN-UCB without its variance bonus: β₀ = 0, all else unchanged
VARIANTS = (*ESTIMATORS, NO_VARIANCE)

RECURSION = "table3/recursion"


def make_pieces(context: RunContext) -> list[RunPiece]:
    """The comparisons of the logistics case, the recursions on samples, and RAVEN-UCB with each recursion."""
    variants = [
        RunPiece(_piece_key(protocol, variant), 0.8, partial(_play_variant, protocol, variant))
        for protocol in context.protocols
        for variant in VARIANTS
    ]
    return [*logistics.make_pieces(context), RunPiece(RECURSION, 0.5, run_recursions), *variants]


def variant_samples(pieces: Mapping[str, PieceData], protocol: str, variant: str) -> dict[str, Floats]:
    """The numbers of every world [R] of RAVEN-UCB with one estimator, by measure."""
    return {measure: np.array(values) for measure, values in pieces[_piece_key(protocol, variant)]["worlds"].items()}


def compute_variance(rewards: Floats, estimator: str) -> Floats:
    """Compute S² after each reward of samples [R, n] with one of the recursions."""
    kind = float(ESTIMATORS.index(estimator))
    rule = getattr(next_variance, "py_func", next_variance)
    mean = np.zeros(rewards.shape[0])
    variance = np.zeros(rewards.shape[0])
    out = np.empty_like(rewards)
    for i, reward in enumerate(rewards.T):
        before = reward - mean
        mean = mean + before / (i + 1)
        variance = rule(variance, before * (reward - mean), i + 1.0, kind) * np.ones_like(reward)
        out[:, i] = variance
    return out


def run_recursions(context: RunContext) -> PieceData:
    """Run each recursion on samples of N(0, 1): S² by size, and the share of samples where it is wrong."""
    count = context.count(SAMPLES)
    draws = [generator(context.seed, Stream.SIMULATE, r, "recursion").normal(size=SIZES[-1]) for r in range(count)]
    rewards = np.array(draws)
    out: dict[str, Any] = {}
    for estimator in ESTIMATORS:
        variance = compute_variance(rewards, estimator)
        is_right = [
            np.isclose(variance[:, n - 1], rewards[:, :n].var(axis=1, ddof=1), rtol=TOLERANCE, atol=0.0) for n in SIZES
        ]
        out[estimator] = {
            "variances": {str(n): variance[:, n - 1].tolist() for n in SIZES},
            "broken": float(1.0 - np.all(is_right, axis=0).mean()),
        }
    return out


def _play_variant(protocol: str, variant: str, context: RunContext) -> PieceData:
    """Play RAVEN-UCB with the parameters of a protocol and one estimator."""
    params: dict[str, Value] = dict(NUMBERS) if protocol == "published" else {}
    if variant == NO_VARIANCE:
        params["beta0"] = 0.0
    else:
        params["variance"] = variant
    return play(context, COMPARISONS[protocol][0], RAVEN, params, worlds=WORLDS)


def _piece_key(protocol: str, variant: str) -> str:
    return f"table3/{protocol}/variance-{variant}"


Samples = Mapping[str, Floats]  # one number per world, by policy

ComparisonSamples = Mapping[str, Mapping[str, Samples]]  # samples by comparison and measure


def collect_samples(context: RunContext, pieces: Mapping[str, PieceData]) -> ComparisonSamples:
    """Collect the samples of all comparisons."""
    return {
        comparison: {measure: samples_by_policy(pieces, comparison, measure) for measure in list_measures(comparison)}
        for comparison in list_comparisons(context)
    }


def make_tables(
    context: RunContext, samples: ComparisonSamples, pieces: Mapping[str, PieceData]
) -> dict[str, DataFrame]:
    """Make all tables; tuned parameters only if they were searched."""
    tables = {
        "scores": make_table(_score_rows(samples, context.seed)),
        "tests": make_table(_test_rows(samples)),
        "reductions": make_table(_reduction_rows(samples, context.seed)),
        "variances": make_table(_variance_rows(pieces[RECURSION], context.seed)),
        "estimators": make_table(_estimator_rows(pieces, context)),
    }
    if "defined" in context.protocols:
        tables["parameters"] = make_table(_parameter_rows(pieces_by_policy(pieces, "search")))
    return tables


def measure_reduction(samples: Samples, seed: int) -> tuple[Interval, float]:
    """Regret reduction of RAVEN-UCB compared with UCB in percent, and its standard deviation over worlds."""
    raven = samples[RAVEN]
    ucb = samples[UCB]
    share, low, high = relative_interval(raven, ucb, seed)
    spread = float(relative_shares(raven, ucb).std(ddof=1))
    return Interval(-100.0 * share, -100.0 * high, -100.0 * low), 100.0 * spread


def _score_rows(samples: ComparisonSamples, seed: int) -> list[dict[str, Any]]:
    """Mean, standard error and interval by policy and measure, with the paper's number."""
    return [
        {
            "comparison": comparison,
            "measure": measure,
            "policy": name,
            "paper": printed_by_policy(measure).get(name) if comparison == "published" else None,
            **_mean_columns(values, seed, measure),
        }
        for comparison, by_measure in samples.items()
        for measure, by_policy in by_measure.items()
        for name, values in by_policy.items()
    ]


def _mean_columns(values: Floats, seed: int, measure: str) -> dict[str, Any]:
    error = float(values.std(ddof=1)) / values.size**0.5
    return {**interval_columns("mean", estimate_mean(values, measure, seed)), "error": error, "worlds": values.size}


def _test_rows(samples: ComparisonSamples) -> list[dict[str, Any]]:
    """Paired tests of each other policy against RAVEN-UCB, with Holm's correction over the eight."""
    out = []
    for comparison, by_measure in samples.items():
        for measure, by_policy in by_measure.items():
            others = {name: values for name, values in by_policy.items() if name != RAVEN}
            out += [
                {
                    "comparison": comparison,
                    "measure": measure,
                    "policy": test.name,
                    **interval_columns("difference", test.difference),
                    "p": test.p,
                    "holm": test.holm,
                    "significant": test.significant,
                }
                for test in paired_tests(by_policy[RAVEN], others)
            ]
    return out


def _reduction_rows(samples: ComparisonSamples, seed: int) -> list[dict[str, Any]]:
    """Regret reduction of RAVEN-UCB compared with UCB in percent."""
    out = []
    for comparison, by_measure in samples.items():
        for measure in by_measure:
            if measure.startswith("regret"):
                ours, _ = measure_reduction(by_measure[measure], seed)
                interval = interval_columns("percent", ours)
                out.append({"comparison": comparison, "measure": measure, **interval})
    return out


def _parameter_rows(searches: Mapping[str, PieceData]) -> list[dict[str, Any]]:
    """Default, range and selected value of each searched parameter."""
    out = []
    for name, search in searches.items():
        defaults = find_policy(name).resolve({}, ARMS, HORIZON)
        for param, (low, high) in search["space"].items():
            values = {"default": defaults[param], "from": min(low, high), "to": max(low, high)}
            out.append({"policy": name, "parameter": param, **values, "tuned": search["params"][param]})
    return out


def _variance_rows(recursion: PieceData, seed: int) -> list[dict[str, Any]]:
    """S² of each recursion by the number of rewards; the true variance is 1."""
    out = []
    for name in ESTIMATORS:
        for n in SIZES:
            interval = mean_interval(np.array(recursion[name]["variances"][str(n)]), seed)
            out.append({"estimator": name, "n": n, **interval_columns("mean", interval)})
    return out


def _estimator_rows(pieces: Mapping[str, PieceData], context: RunContext) -> list[dict[str, Any]]:
    """Regret of RAVEN-UCB with each estimator, and its difference from the sample variance on the same worlds."""
    out = []
    for protocol in context.protocols:
        reference = variant_samples(pieces, protocol, "welford")
        for variant in VARIANTS:
            samples = variant_samples(pieces, protocol, variant)
            for measure in (name for name in samples if name.startswith("regret")):
                difference = paired_interval(samples[measure], reference[measure], context.seed)
                out.append(
                    {
                        "protocol": protocol,
                        "estimator": variant,
                        "measure": measure,
                        **_mean_columns(samples[measure], context.seed, measure),
                        **interval_columns("more", difference),
                    }
                )
    return out


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
            _judge_number(CLAIMS[f"table3-{name}-{short}"], played[measure][name], measure, context.seed)
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
    lead: Interval
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
        closest.difference,
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
        test.difference,
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


def _judge_number(claim: Claim, sample: Floats, measure: str, seed: int) -> ClaimResult:
    """Judge a printed number of the table."""
    ours = estimate_mean(sample, measure, seed)
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
        mean_interval(variances[estimator], seed),
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
    change = mean_interval(without - with_bonus, seed)
    means = {"with_bonus": with_bonus.mean(), "without": without.mean(), "worlds": with_bonus.size}
    return judge(CLAIMS["table3-because-variance"], protocol, change, **means)


CONSTANTS = {
    "names": NAMES,
    "comparisons": COMPARISON_TITLES,
    "measures": MEASURE_TITLES,
    "estimator_titles": ESTIMATOR_TITLES,
}

EXPERIMENT = Experiment("table3", make_pieces, evaluate, plot_figures, CONSTANTS, claims=CLAIMS)
