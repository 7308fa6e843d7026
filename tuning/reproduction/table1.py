"""Table 1: the seven scenarios, drawn as worlds, and whether the experiments ran what the table defines.

As defined, every scenario of the table is drawn with our numbers. As published, the three that the paper's sensitivity
study runs are drawn as its script made them. Each is held to the table's own definition in many worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from environments import find_scenario
from environments.any_world import blocks
from environments.draw import draw_worlds
from environments.moments import moments_of_change
from environments.view import thinned, view_of
from environments.world import Floats, tables
from studies.advice import PUBLISHED, printed_rows
from studies.reproduction.document import Outcome
from studies.reproduction.rules import Verdict, judge_definition
from studies.reproduction.tables import Table
from tuning.reproduction._intervals import measured_share, percent
from tuning.reproduction.context import Context, Found, Piece

HORIZON = 10_000
ARMS = 5
"""Arms of the worlds that are drawn: few enough to follow each of them."""

ARMS_HELD = 10
"""Arms of the worlds that are held to the definition: as many as the paper's."""

WORLDS = 100
STRAIGHT = 1e-9
"""How far a mean may lie off a straight line by rounding alone."""


def off_the_line(means: Floats, variances: Floats) -> bool:
    """Whether a mean leaves the straight line μ(0) + δ·t through its first and its last step.

    >>> steady = np.linspace(0.3, 0.5, 9)[:, None]
    >>> off_the_line(steady, steady), off_the_line(np.round(steady, 1), steady)
    (False, True)
    """
    steps = np.linspace(0.0, 1.0, len(means))[:, None]
    return bool((np.abs(means[0] + (means[-1] - means[0]) * steps - means) > STRAIGHT).any())


def below_the_first(means: Floats, variances: Floats) -> bool:
    """Whether a variance ever lies below its first: g(t) < 0.

    >>> grown = np.array([[0.1], [0.2], [0.1]])
    >>> below_the_first(grown, grown), below_the_first(grown, grown - grown**2 * [[0], [0], [1]])
    (False, True)
    """
    return bool((variances < variances[0]).any())


def never_back(means: Floats, variances: Floats) -> bool:
    """Whether arms that deviate from their first law never come back to it.

    >>> blip, jump = np.array([[1.0], [2.0], [1.0]]), np.array([[1.0], [2.0], [2.0]])
    >>> never_back(blip, blip), never_back(jump, jump)
    (False, True)
    """
    usual = ((means == means[0]) & (variances == variances[0])).all(axis=1)
    return not usual.all() and not usual[int(np.argmin(usual)) :].any()


BROKEN: dict[str, Callable[[Floats, Floats], bool]] = {
    "incremental-drift": off_the_line,
    "variance-drift": below_the_first,
    "blips": never_back,
}
"""How a world can break its definition."""

WORDS = {
    "incremental-drift": "a mean leaves the straight line",
    "variance-drift": "a variance is below its first value at some time",
    "blips": "the arms deviate and never come back",
}


def pieces(context: Context) -> list[Piece]:
    """One for each protocol."""
    return [Piece(f"table1/{protocol}", 1.0, partial(_run, protocol=protocol)) for protocol in context.protocols]


def _run(context: Context, protocol: str) -> Found:
    listed = [row["name"] for row in printed_rows("scenarios_table.csv")]
    drawn = listed if protocol == "defined" else [name for name in listed if name in BROKEN]
    worlds, moments = [], []
    for name in drawn:
        scenario = find_scenario(_played(name, protocol))
        seen = thinned(view_of(draw_worlds(scenario, HORIZON, ARMS, context.seed)))
        for step, means, variances in zip(seen.steps, seen.means, seen.variances, strict=True):
            for k, (mean, variance) in enumerate(zip(means, variances, strict=True), start=1):
                law = {"mean": _six(mean), "variance": _six(variance)}
                worlds.append({"scenario": name, "step": int(step), "arm": k, **law})
        moments += [{"scenario": name, "step": step} for step in moments_of_change(scenario, HORIZON)]
    return {"worlds": worlds, "moments": moments, "held": [_hold(context, name, protocol) for name in BROKEN]}


def _played(name: str, protocol: str) -> str:
    return PUBLISHED + name if protocol == "published" else name


def _six(value: float) -> float | None:
    """Six digits; None where an arm is not open."""
    return None if np.isnan(value) else float(f"{value:.6g}")


def _hold(context: Context, name: str, protocol: str) -> dict[str, Any]:
    """How many worlds break the definition, and at how many steps anything changes."""
    scenario, count = find_scenario(_played(name, protocol)), context.count(WORLDS, least=10)
    broken, changing = 0, 0
    for first, size in blocks(scenario, HORIZON, ARMS_HELD, count):
        worlds = draw_worlds(scenario, HORIZON, ARMS_HELD, context.seed, first, size)
        for r in range(size):
            means, variances = tables(worlds, r)
            broken += BROKEN[name](means, variances)
            changing += int(((np.diff(means, axis=0) != 0) | (np.diff(variances, axis=0) != 0)).any(axis=1).sum())
    share = measured_share(broken, count)
    return {
        "scenario": name,
        "broken_when": WORDS[name],
        "worlds": count,
        "broken": broken,
        "share": share.value,
        "low": share.low,
        "high": share.high,
        "changing_steps": changing / count,
    }


def assemble(context: Context, found: Mapping[str, Found]) -> Outcome:
    """The table, the worlds that are drawn, and the shares of worlds that break their definition."""
    told = {protocol: found[f"table1/{protocol}"] for protocol in context.protocols}
    made = {
        name: Table.of([{"protocol": protocol, **row} for protocol, each in told.items() for row in each[name]])
        for name in ("worlds", "moments", "held")
    }
    listed = []
    for row in printed_rows("scenarios_table.csv"):
        (effect,) = find_scenario(row["name"]).effects
        ours = ", ".join(f"{key} {value}" for key, value in vars(effect).items())
        listed.append({**row, "meaning": effect.meaning, "parameters": ours})
    facts = {"horizon": HORIZON, "arms": ARMS, "arms_held": ARMS_HELD, "seed": context.seed}
    verdicts = [_verdict(row) for row in made["held"]]
    return Outcome({"scenarios": Table.of(listed), **made}, facts, verdicts)


def _verdict(row: dict[str, Any]) -> Verdict:
    share = percent(row["share"], row["low"], row["high"])
    reason = (
        f"In {row['broken']} of {row['worlds']} worlds of {HORIZON} steps {row['broken_when']};"
        f" the steps of a world at which something changes are {row['changing_steps']:.4g} on average."
    )
    word = judge_definition(row["share"])
    return Verdict(f"table1-{row['scenario']}", row["protocol"], share, word, "definition", reason)
