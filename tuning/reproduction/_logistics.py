"""The logistics case behind Table 3 and Figures 4 and 5: nine policies, 100 arms, 50 000 steps, a piece a policy.

Three comparisons, the policies of each in the same worlds:

- published: what the authors' script ran, in its own worlds;
- defaults: the policies as their own papers define them, in the worlds that Table 1 defines;
- tuned: the same after a search on the same budget for everyone, in worlds that neither search nor selection saw.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from environments.streams import Stream
from environments.world import Floats
from policies.base import Value
from policies.simulation import Simulation
from studies.advice import printed_rows
from studies.reproduction.claims import LOGISTICS
from studies.spec import StudySpec
from tuning.reproduction.context import Context, Found, Piece

POLICIES = tuple(LOGISTICS.values())
"""In the order of the paper's table; RAVEN-UCB first."""

RAVEN, UCB, CCB = "raven-ucb", "ucb1", "ccb"

KINDS = {"published": ("published",), "defined": ("defaults", "tuned")}
"""The comparisons of each protocol."""

WORLDS = {
    "published": ("published-logistics", Stream.SIMULATE),
    "defaults": ("logistics", Stream.REPORT),
    "tuned": ("logistics", Stream.REPORT),
}
"""Scenario and stream of each comparison: defaults and tuned ones meet in the same worlds."""

HORIZON, ARMS, PAPER_WORLDS = 50_000, 100, 50
MARKS = range(500, HORIZON + 1, 500)
"""Steps at which curves are kept."""

TRIALS, SEARCHED, CANDIDATES, SELECTED, BATCH = 20, 10, 4, 20, 5
"""A policy's search at the usual precision: trials, worlds of a trial, finalists, their worlds, trials at a time."""

SECONDS = {"thompson": 0.25, "f-dsw-ts": 0.29, "wls-optimistic-ts": 0.15}
"""About how long one world takes on one core; the others take less than `QUICK`."""

QUICK = 0.02


COLUMNS = {
    "regret_constant": "cumulative_regret",
    "reward": "cumulative_reward",
    "suboptimal_pulls": "suboptimal_pulls",
}
"""Our numbers, and the columns of the paper's table that print them."""


def kinds(context: Context) -> list[str]:
    """The comparisons that were asked for.

    >>> from tuning.crew import ALONE
    >>> kinds(Context(0, 50, ("defined",), ALONE, ""))
    ['defaults', 'tuned']
    """
    return [kind for protocol in context.protocols for kind in KINDS[protocol]]


def facts(context: Context) -> dict[str, Any]:
    """What the page says of all three comparisons.

    >>> from tuning.crew import ALONE
    >>> facts(Context(0, 50, ("defined",), ALONE, ""))
    {'horizon': 50000, 'arms': 100, 'worlds': 50}
    """
    return {"horizon": HORIZON, "arms": ARMS, "worlds": context.count(PAPER_WORLDS)}


def logistics_pieces(context: Context) -> list[Piece]:
    """Each comparison policy by policy; a search is a piece of its own, before what it found is played."""
    out = []
    for kind in kinds(context):
        if kind == "tuned":
            games = TRIALS * SEARCHED + (CANDIDATES + 1) * SELECTED
            out += [Piece(_key("search", name), _seconds(name, games), partial(_search, name)) for name in POLICIES]
        out += [Piece(_key(kind, name), _seconds(name, PAPER_WORLDS), partial(_play, kind, name)) for name in POLICIES]
    return out


def played(found: Mapping[str, Found], kind: str) -> dict[str, Found]:
    """What the pieces of a comparison found, by policy."""
    return {name: found[_key(kind, name)] for name in POLICIES}


def searched(found: Mapping[str, Found]) -> dict[str, Found]:
    """What the searches found, by policy."""
    return {name: found[_key("search", name)] for name in POLICIES}


def worlds_of(found: Mapping[str, Found], kind: str, measure: str) -> dict[str, Floats]:
    """One number of every world [R], by policy."""
    return {name: np.array(each["worlds"][measure]) for name, each in played(found, kind).items()}


def measures(kind: str) -> list[str]:
    """The numbers of a comparison; only the script measured regret against a constant."""
    constant = ["regret_constant"] if kind == "published" else []
    return [*constant, "regret", "reward", "suboptimal_pulls"]


def printed(measure: str) -> dict[str, float]:
    """What the paper prints of each policy; nothing for what it does not print."""
    column = COLUMNS.get(measure)
    rows = printed_rows("logistics_table.csv") if column else []
    return {LOGISTICS[row["policy"]]: float(row[column]) for row in rows if column}


def _play(kind: str, name: str, context: Context) -> Found:
    if kind == "published":
        return kept(simulated(context, kind, f"published-{name}", {}, MARKS))
    params = _search(name, context)["params"] if kind == "tuned" else {}
    return kept(simulated(context, kind, name, params, MARKS))


def simulated(
    context: Context,
    kind: str,
    policy: str,
    params: Mapping[str, Value],
    marks: range | None = None,
    usual: int = PAPER_WORLDS,
) -> Simulation:
    """Play a policy in the worlds of a comparison."""
    scenario, stream = WORLDS[kind]
    return context.crew.simulate(
        policy,
        scenario,
        replications=context.count(usual),
        seed=context.seed,
        params=params,
        checkpoints=marks,
        stream=stream,
    )


def kept(result: Simulation) -> Found:
    """What a piece keeps: every world's numbers, and the curves' mean and standard error."""
    out: dict[str, Any] = {
        "params": dict(result.params),
        "worlds": {measure: values.tolist() for measure, values in result.measures().items()},
    }
    if result.curve is not None:
        drawn = {measure: getattr(result.curve, measure) for measure in ("regret_constant", "regret", "reward")}
        out["steps"] = result.curve.steps.tolist()
        out["curves"] = {
            measure: {
                "mean": values.mean(axis=0).tolist(),
                "error": (values.std(axis=0, ddof=1) / values.shape[0] ** 0.5).tolist(),
            }
            for measure, values in drawn.items()
            if values is not None
        }
    return out


def budget(context: Context) -> dict[str, int]:
    """What everyone's search may cost. Beyond the usual precision worlds grow in number, trials do not."""
    trials = min(TRIALS, context.count(TRIALS))
    return {
        "trials": trials,
        "replications": context.count(SEARCHED),
        "candidates": min(CANDIDATES, trials),
        "selection": context.count(SELECTED),
    }


def _search(name: str, context: Context) -> Found:
    """Tune one policy; its second call finds the study complete.

    The study's own report is as small as it may be: the comparison itself is played in those worlds, by all.
    """
    scenario, _ = WORLDS["tuned"]
    spec = StudySpec(policy=name, scenario=scenario, batch=BATCH, report=2, **budget(context))  # type: ignore[arg-type]
    ran = context.search(_key("search", name), spec)
    assert ran.recommendation is not None
    return {
        "params": dict(ran.recommendation.params),
        "space": {k: list(v.ends()) for k, v in spec.resolved().space.items()},
    }


def _key(kind: str, name: str) -> str:
    return f"logistics/{kind}/{name}"


def _seconds(name: str, worlds: int) -> float:
    return worlds * SECONDS.get(name, QUICK) / 2
