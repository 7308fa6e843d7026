"""Tables of Table 3: scores, paired tests, reductions, tuned parameters and variance estimators."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ravenlab.environments.world import Floats
from ravenlab.policies import find_policy
from ravenlab.policies.raven_ucb import ESTIMATORS
from ravenlab.studies.paper.claims import Measurement
from ravenlab.studies.statistics.intervals import mean_interval, paired_interval, relative_interval, relative_shares
from ravenlab.studies.statistics.paired import paired_tests
from ravenlab.studies.tables import DataFrame, make_table
from ravenlab.tuning.reproduction.context import PieceData, RunContext
from ravenlab.tuning.reproduction.logistics import (
    ARMS,
    HORIZON,
    RAVEN,
    UCB,
    list_comparisons,
    list_measures,
    pieces_by_policy,
    printed_by_policy,
    samples_by_policy,
)
from ravenlab.tuning.reproduction.measurements import interval_columns
from ravenlab.tuning.reproduction.table3.run import RECURSION, SIZES, VARIANTS, variant_samples

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


def measure_reduction(samples: Samples, seed: int) -> tuple[Measurement, float]:
    """Regret reduction of RAVEN-UCB compared with UCB in percent, and its standard deviation over worlds."""
    raven = samples[RAVEN]
    ucb = samples[UCB]
    share, low, high = relative_interval(raven, ucb, seed)
    spread = float(relative_shares(raven, ucb).std(ddof=1))
    return Measurement(-100.0 * share, -100.0 * high, -100.0 * low), 100.0 * spread


def _score_rows(samples: ComparisonSamples, seed: int) -> list[dict[str, Any]]:
    """Mean, standard error and interval by policy and measure, with the paper's number."""
    return [
        {
            "comparison": comparison,
            "measure": measure,
            "policy": name,
            "paper": printed_by_policy(measure).get(name) if comparison == "published" else None,
            **_mean_columns(values, seed),
        }
        for comparison, by_measure in samples.items()
        for measure, by_policy in by_measure.items()
        for name, values in by_policy.items()
    ]


def _mean_columns(values: Floats, seed: int) -> dict[str, Any]:
    error = float(values.std(ddof=1)) / values.size**0.5
    return {**interval_columns("mean", mean_interval(values, seed)), "error": error, "worlds": values.size}


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
                        **_mean_columns(samples[measure], context.seed),
                        **interval_columns("more", difference),
                    }
                )
    return out
