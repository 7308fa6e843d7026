"""Made-up games of the logistics case, for what is computed and drawn from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from environments.streams import generator
from policies import find_policy
from studies.spec.study import StudySpec
from tuning.reproduction.context import PieceData, RunContext
from tuning.reproduction.logistics import ARMS, CHECKPOINTS, HORIZON, POLICIES, list_comparisons, list_measures
from tuning.reproduction.table3.run import RECURSION, VARIANTS, run_recursions
from tuning.workers.local import LocalWorkers

PLACES = {name: 1000.0 * (place + 1) for place, name in enumerate(("raven-ucb", "ccb", *POLICIES[1:7], "ucb-imp"))}
"""Regrets that bear the paper's claims out: RAVEN-UCB first, CCB next."""


def context(protocols: tuple[str, ...] = ("published", "defined"), worlds: int = 20, url: str = "") -> RunContext:
    return RunContext(1, worlds, protocols, LocalWorkers(1), url)


def made(where: RunContext, means: dict[str, float] | None = None, spread: float = 100.0) -> dict[str, PieceData]:
    """Pieces as they would be found if regrets had these means and this spread in every comparison."""
    rng = np.random.default_rng(3)
    worlds, steps = where.count(50), np.array(CHECKPOINTS)
    found: dict[str, Any] = {}
    for kind in list_comparisons(where):
        for name in POLICIES:
            regret = (PLACES | (means or {}))[name] + spread * rng.normal(size=worlds)
            numbers = {"regret_constant": regret + 200.0, "regret": regret, "reward": 39_000.0 - regret}
            numbers["suboptimal_pulls"] = 40_000.0 + regret / 10
            curves = {
                measure: {
                    "mean": (values.mean() * steps / HORIZON).tolist(),
                    "error": (values.std(ddof=1) / worlds**0.5 * steps / HORIZON).tolist(),
                }
                for measure, values in numbers.items()
                if measure != "suboptimal_pulls"
            }
            if kind != "published":
                curves.pop("regret_constant")
            kept = {measure: numbers[measure].tolist() for measure in list_measures(kind)}
            found[f"logistics/{kind}/{name}"] = {"worlds": kept, "curves": curves, "steps": steps.tolist()}
            found[f"logistics/search/{name}"] = _searched(name)
    found[RECURSION] = run_recursions(where)
    for protocol in where.protocols:
        for place, variant in enumerate(VARIANTS):
            regret = 1000.0 + 100.0 * place + 10.0 * generator(1, 0, place, "made").normal(size=worlds)
            numbers = {"regret": regret, "reward": 39_000.0 - regret}
            if protocol == "published":
                numbers["regret_constant"] = regret + 200.0
            found[f"table3/{protocol}/variance-{variant}"] = {
                "worlds": {measure: values.tolist() for measure, values in numbers.items()}
            }
    return found


def _searched(name: str) -> PieceData:
    space = StudySpec(policy=name, scenario="logistics").resolved().space
    values = find_policy(name).resolve({}, ARMS, HORIZON)
    return {
        "params": {param: values[param] for param in space},
        "space": {param: list(each.bounds()) for param, each in space.items()},
    }
