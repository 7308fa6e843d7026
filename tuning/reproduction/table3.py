"""Table 3: nine policies in the logistics case, as published, at their defaults, and tuned on the same budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from environments.world import Floats
from policies import find_policy
from policies.raven_ucb import ESTIMATORS
from studies.reproduction.document import Outcome
from studies.reproduction.rules import Verdict
from studies.reproduction.tables import Table
from tuning.paired import paired_tests
from tuning.reproduction import _table3_verdicts as say
from tuning.reproduction._estimators import RECURSION, SIZES, VARIANTS, estimator_pieces, regrets
from tuning.reproduction._intervals import in_columns
from tuning.reproduction._logistics import (
    ARMS,
    HORIZON,
    POLICIES,
    RAVEN,
    budget,
    facts,
    kinds,
    logistics_pieces,
    measures,
    printed,
    searched,
    worlds_of,
)
from tuning.reproduction.context import Context, Found, Piece
from tuning.statistics import mean_interval, paired_interval


def pieces(context: Context) -> list[Piece]:
    """The three comparisons, and RAVEN-UCB with each variance estimator."""
    return [*logistics_pieces(context), *estimator_pieces(context)]


def assemble(context: Context, found: Mapping[str, Found]) -> Outcome:
    """Scores, paired tests, what the searches found, the estimators, and the verdicts."""
    samples = {
        kind: {measure: worlds_of(found, kind, measure) for measure in measures(kind)} for kind in kinds(context)
    }
    tables = {
        "scores": Table.of(_scores(samples, context.seed)),
        "tests": Table.of(_tests(samples, context.seed)),
        "reductions": Table.of(_reductions(samples, context.seed)),
        "variances": Table.of(_variances(found[RECURSION], context.seed)),
        "estimators": Table.of(_estimators(found, context)),
    }
    told = facts(context)
    if "defined" in context.protocols:
        tables["parameters"] = Table.of(_parameters(searched(found)))
        told["search"] = budget(context)
    return Outcome(tables, told, _verdicts(context, samples, found))


def _scores(samples: Mapping[str, Mapping[str, say.Worlds]], seed: int) -> list[dict[str, Any]]:
    """Mean, standard error and interval of every policy and number; what the paper prints beside the published one."""
    return [
        {
            "comparison": kind,
            "measure": measure,
            "policy": name,
            "paper": printed(measure).get(name) if kind == "published" else None,
            **_estimate(values, seed),
        }
        for kind, by_measure in samples.items()
        for measure, by_policy in by_measure.items()
        for name, values in by_policy.items()
    ]


def _estimate(values: Floats, seed: int) -> dict[str, Any]:
    mean, low, high = mean_interval(values, seed)
    error = float(values.std(ddof=1)) / values.size**0.5
    return {"mean": mean, "error": error, "low": low, "high": high, "worlds": values.size}


def _tests(samples: Mapping[str, Mapping[str, say.Worlds]], seed: int) -> list[dict[str, Any]]:
    """Each other policy against RAVEN-UCB in the same worlds, with Holm's correction over the eight."""
    out = []
    for kind, by_measure in samples.items():
        for measure, by_policy in by_measure.items():
            others = {name: values for name, values in by_policy.items() if name != RAVEN}
            out += [
                {
                    "comparison": kind,
                    "measure": measure,
                    "policy": test.name,
                    "difference": test.difference,
                    "low": test.low,
                    "high": test.high,
                    "p": test.p,
                    "holm": test.holm,
                    "told_apart": test.told_apart,
                }
                for test in paired_tests(by_policy[RAVEN], others, seed)
            ]
    return out


def _reductions(samples: Mapping[str, Mapping[str, say.Worlds]], seed: int) -> list[dict[str, Any]]:
    """By how many percent RAVEN-UCB's regret lies below UCB's."""
    out = []
    for kind, by_measure in samples.items():
        for measure in by_measure:
            if measure.startswith("regret"):
                ours, _ = say.reduction(by_measure[measure], seed)
                row = {"comparison": kind, "measure": measure, "percent": ours.value}
                out.append(row | {"low": ours.low, "high": ours.high})
    return out


def _parameters(found: Mapping[str, Found]) -> list[dict[str, Any]]:
    """Each searched parameter: default, range, and what the search chose."""
    out = []
    for name in POLICIES:
        defaults = find_policy(name).resolve({}, ARMS, HORIZON)
        for param, (low, high) in found[name]["space"].items():
            ends = {"from": min(low, high), "to": max(low, high)}
            chosen = {"default": defaults[param], **ends, "tuned": found[name]["params"][param]}
            out.append({"policy": name, "parameter": param, **chosen})
    return out


def _variances(recursion: Found, seed: int) -> list[dict[str, Any]]:
    """S² of each recursion against the number of rewards; their true variance is 1."""
    out = []
    for name in ESTIMATORS:
        for n in SIZES:
            mean, low, high = mean_interval(np.array(recursion[name]["variances"][str(n)]), seed)
            out.append({"estimator": name, "n": n, "mean": mean, "low": low, "high": high})
    return out


def _estimators(found: Mapping[str, Found], context: Context) -> list[dict[str, Any]]:
    """RAVEN-UCB's regret with each estimator, and how it differs from the right one's in the same worlds."""
    out = []
    for protocol in context.protocols:
        right = regrets(found, protocol, "welford")
        for variant in VARIANTS:
            mine = regrets(found, protocol, variant)
            for measure in (name for name in mine if name.startswith("regret")):
                beside = in_columns("more", paired_interval(mine[measure], right[measure], context.seed))
                row = {"protocol": protocol, "estimator": variant, "measure": measure}
                out.append(row | _estimate(mine[measure], context.seed) | beside)
    return out


def _verdicts(
    context: Context, samples: Mapping[str, Mapping[str, say.Worlds]], found: Mapping[str, Found]
) -> list[Verdict]:
    out: list[Verdict] = []
    if "published" in context.protocols:
        out += _published(samples["published"], context.seed)
    if "defined" in context.protocols:
        out += _defined(samples["tuned"], samples["defaults"], context.seed)
    for protocol in context.protocols:
        measure = "regret_constant" if protocol == "published" else "regret"
        out.append(say.recursion_verdict(protocol, found[RECURSION], context.seed))
        out.append(say.exploration_verdict(protocol, found, measure, context.seed))
    return out


def _published(samples: Mapping[str, say.Worlds], seed: int) -> list[Verdict]:
    """Against the constant 0.8, as the paper measured; what the best arm of the moment says stands beside it."""
    constant, moment = samples["regret_constant"], samples["regret"]
    lost = {name: -values for name, values in samples["reward"].items()}
    beside = (
        "against the best arm of the moment it "
        f"{say.standing(RAVEN, moment, seed).in_words()}, since that shifts all policies of a world alike"
    )
    share, _ = say.reduction(moment, seed)
    also = f"against the best arm of the moment, {say.in_percent(share)}"
    regret, reward = say.standing(RAVEN, constant, seed), say.standing(RAVEN, lost, seed)
    return [
        say.best_verdict("table3-best-regret", "published", regret, "Against the constant 0.8", beside),
        say.best_verdict("table3-best-reward", "published", reward, "In reward"),
        say.next_verdict("published", constant, seed, "Against the constant 0.8"),
        say.reduction_verdict("published", constant, seed, "Against the constant 0.8", also),
        *say.number_verdicts(samples, seed),
    ]


def _defined(tuned: Mapping[str, say.Worlds], defaults: Mapping[str, say.Worlds], seed: int) -> list[Verdict]:
    """Every policy tuned on the same budget; what the defaults say stands beside it."""
    what = "With everyone tuned on the same budget"
    out = []
    for key, measure, sign in (("table3-best-regret", "regret", 1.0), ("table3-best-reward", "reward", -1.0)):
        mine, plain = (
            say.standing(RAVEN, {name: sign * values for name, values in each[measure].items()}, seed)
            for each in (tuned, defaults)
        )
        at_defaults = f"with everyone at its defaults it {plain.in_words()}"
        out.append(say.best_verdict(key, "defined", mine, what, at_defaults))
    share, _ = say.reduction(defaults["regret"], seed)
    also = f"with both at their defaults, {say.in_percent(share)}"
    out.append(say.next_verdict("defined", tuned["regret"], seed, what))
    out.append(say.reduction_verdict("defined", tuned["regret"], seed, what, also))
    return out
