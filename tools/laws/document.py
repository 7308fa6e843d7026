"""The data file of the laws: fitted coefficients, their accuracy, and the atlas without its trials."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.environments import find_scenario
from ravenlab.environments.world import Floats
from ravenlab.studies.laws.axes import features
from ravenlab.studies.laws.law import COORDINATES, uniform_regret
from ravenlab.studies.statistics.intervals import mean_interval
from tools.laws.fit import (
    SCALE,
    FittedLaws,
    FittedRegret,
    Point,
    RegretSample,
    choose_shrinkage,
    fit_laws,
    fit_regret,
    make_points,
)

DIGITS = 5  # significant digits of coefficients
Records = Sequence[Mapping[str, Any]]


def make_document(records: Records, survey: Records, regrets: Records, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Fit the laws of all policies, and return the data file."""
    laws = []
    for policy in COORDINATES:
        points = make_points([*records, *survey], policy)
        shrinkage, excess = choose_shrinkage(points)
        fitted = fit_laws(points, shrinkage)
        print(
            f"{policy}: shrinkage {shrinkage:g}; predicted excess in cross-validation: median"
            f" {np.median(np.expm1(excess)):.1%}, 90 % {np.quantile(np.expm1(excess), 0.9):.1%}",
            flush=True,
        )
        regret = _fit_policy_regret([*records, *survey, *regrets], [*points], fitted, policy)
        print(f"    standard deviation of the log regret {regret.typical_deviation():.3f}", flush=True)
        laws += [_law_entry(scenario, policy, fitted, regret) for scenario in regret.coefficients]
    return {
        "provenance": dict(provenance),
        "check": {},
        "laws": laws,
        "atlas": [_atlas_entry(record) for record in records],
    }


def summarize_check(check: Records) -> dict[str, Any]:
    """Return quantiles of the excess over the references, and how often the interval of the regret covers it."""
    if not check:
        return {}
    excess: dict[str, Any] = {}
    for name in ("law", "paper", "defaults"):
        values = np.array([record[f"excess.{name}"][0] for record in check if f"excess.{name}" in record])
        quantiles = [*np.quantile(values, [0.5, 0.9, 0.95]), values.max()] if values.size else []
        excess[name] = {"settings": int(values.size), "quantiles": [round(float(value), 4) for value in quantiles]}
    expected = np.array([[*record["expected"]] for record in check])
    regrets = np.array([record["regret.law"] for record in check])
    return {
        "excess": excess,
        "error": round(float(np.median([record["excess.law"][1] for record in check])), 4),
        "covered": int(np.sum((expected[:, 1] <= regrets) & (regrets <= expected[:, 2]))),
        "settings": len(check),
        "half_width": round(float(np.median((expected[:, 2] - expected[:, 1]) / 2.0 / expected[:, 0])), 4),
    }


def compared_names(records: Records) -> list[str]:
    """Return the names of the parameters that records compare with the reference.

    >>> compared_names([{"excess.law": [0.1, 0.01], "excess.reference": [0.0, 0.0], "worlds": 100}])
    ['law']
    """
    names = [name.removeprefix("excess.") for name in (records[0] if records else {}) if name.startswith("excess.")]
    return [name for name in names if name != "reference"]


def summarize_start(records: Records) -> list[dict[str, Any]]:
    """Return the excess over the longest search without the law, for searches with and without it.

    The 95 % interval of the mean over settings is that of the studentized bootstrap.
    """
    rows = []
    for name in compared_names(records):
        excess = np.array([record[f"excess.{name}"][0] for record in records])
        numbers = {"median": np.median(excess), **mean_interval(excess, seed=0).as_object()}
        start = name.rstrip("0123456789")
        rounded = {key: round(float(number), 4) for key, number in numbers.items()}
        rows.append({"start": start, "trials": int(name[len(start) :] or 0), "settings": len(records), **rounded})
    return rows


def _fit_policy_regret(records: Records, points: Sequence[Point], laws: FittedLaws, policy: str) -> FittedRegret:
    """Fit the regret to that of the best parameters in the atlas, and to that of the laws' parameters elsewhere.

    In the survey it is predicted by the surface, which averages over all candidates.
    """
    predicted = np.array([point.surface.lowest for point in points]) + laws.excess(points)
    samples = []
    for i, record in enumerate(records):
        entry = record["policies"][policy]
        if "regret" in entry:
            regret = Interval(*entry["regret"])
            number = np.log(regret.mean)
            error = regret.standard_error / regret.mean
        else:
            mean = float(np.mean(entry["trials"]["regret"]))
            number = np.log(mean)
            error = entry["stderr"] / mean
            if i < len(points):
                number = predicted[i]
                error = entry["stderr"] / entry["trials"]["regret"][0]
        scenario = find_scenario(record["scenario"], record["settings"])
        unit = SCALE * uniform_regret(record["horizon"], record["arms"])
        places = np.array(features(scenario, record["horizon"], record["arms"]))
        samples.append(RegretSample(record["scenario"], places, float(number - np.log(unit)), float(error)))
    return fit_regret(samples)


def _law_entry(scenario: str, policy: str, laws: FittedLaws, regret: FittedRegret) -> dict[str, Any]:
    matrix = laws.coefficients[scenario]
    return {
        "scenario": scenario,
        "policy": policy,
        "params": {coordinate.name: _shorten(row) for coordinate, row in zip(COORDINATES[policy], matrix, strict=True)},
        "regret": _shorten(regret.coefficients[scenario]),
        "deviation": float(f"{regret.deviation(scenario):.3g}"),
    }


def add_check(document: dict[str, Any], check: Mapping[str, Records]) -> None:
    """Add the summaries of the checks of each policy to the document, and to each law its excess in the scenario."""
    document["check"] = {policy: summarize_check(records) for policy, records in check.items()}
    for law in document["laws"]:
        records = [record for record in check[law["policy"]] if record["scenario"] == law["scenario"]]
        if records:
            median, high = np.quantile([record["excess.law"][0] for record in records], [0.5, 0.9])
            law["excess"] = {
                "median": max(0.0, round(float(median), 4)),
                "high": max(0.0, round(float(high), 4)),
                "settings": len(records),
                "trials": records[0]["trials"],
            }


def _atlas_entry(record: Mapping[str, Any]) -> dict[str, Any]:
    policies = {
        policy: {name: entry[name] for name in ("params", "ranges", "regret", "worlds")}
        for policy, entry in record["policies"].items()
    }
    best = min(policies, key=lambda policy: float(policies[policy]["regret"][0]))
    names = ("scenario", "index", "horizon", "arms", "settings", "seed")
    return {**{name: record[name] for name in names}, "best": best, "policies": policies}


def _shorten(values: Floats) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values]
