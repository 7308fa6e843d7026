"""The advice of Section 5, line by line: what it costs against the validated recommendation where it is meant to help.

"Long" and "short" are the two horizons of Section 4.2. The recommendation comes of a search on worlds of its own; it,
the advice and the defaults are then played in fresh worlds that chose nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from environments.streams import Stream
from environments.text import format_number
from policies.playing import REGRET
from studies.advice import CONTEXTS, EPSILON, SHORT, printed_rows
from studies.reproduction.document import Outcome
from studies.reproduction.grid_rules import judge_costs
from studies.reproduction.optima import optima, world_of
from studies.reproduction.rules import Measured, Verdict, judge_cost
from studies.reproduction.tables import Table
from studies.spec import StudySpec
from studies.symbols import format_params
from tuning.fanout import Evaluator
from tuning.reproduction._intervals import in_columns, percent
from tuning.reproduction.context import Context, Found, Piece
from tuning.statistics import mean_interval, relative_interval

TRIALS, REPLICATIONS, CANDIDATES = 64, 200, 8

FEWEST_TRIALS = 32
"""A search of two or three batches that are all chance would leave the advice unbeaten for want of a rival."""

SELECTION = {"long": 2000, "short": 6000}
FRESH = {"long": 8000, "short": 20000}
"""Worlds to choose on, and to compare on: at short horizons they cost little."""


@dataclass(frozen=True)
class Line:
    """A line of the advice in one scenario it is meant for, under one protocol."""

    number: str
    context: str
    term: str
    horizon: int
    alpha0: float
    beta0: float
    protocol: str
    scenario: str

    @property
    def claim(self) -> str:
        """The key of its claim."""
        return f"advice-{self.number}-{self.term}"

    @property
    def world(self) -> str:
        """What is played."""
        return world_of(self.protocol, self.scenario)

    @property
    def key(self) -> str:
        """The key of its piece."""
        return f"advice/{self.number}-{self.term}/{self.world}-T{self.horizon}"


def lines(protocols: Sequence[str]) -> list[Line]:
    """All of them; as published only scenarios that the authors ran.

    >>> [line.scenario for line in lines(["defined"]) if line.claim == "advice-2-short"]
    ['incremental-drift', 'gradual-drift']
    """
    ran = {each.scenario for each in optima()}
    horizons = {"short" if each.horizon < SHORT else "long": each.horizon for each in optima()}
    return [
        Line(
            row["advice"],
            row["context"],
            row["horizon"],
            horizons[row["horizon"]],
            float(row["alpha0"]),
            float(row["beta0"]),
            protocol,
            scenario,
        )
        for protocol in protocols
        for row in printed_rows("recommended_parameters.csv")
        for scenario in CONTEXTS[row["context"]]
        if protocol == "defined" or scenario in ran
    ]


def pieces(context: Context) -> list[Piece]:
    """A search and a comparison each."""
    return [
        Piece(line.key, 6.5 if line.term == "long" else 4.0, partial(_compare, line=line))
        for line in lines(context.protocols)
    ]


def assemble(context: Context, found: Mapping[str, Found]) -> Outcome:
    """What every line costs, and whether that is dear."""
    return Outcome(
        tables={"costs": Table.of(_row(line, found[line.key]) for line in lines(context.protocols))},
        facts={
            "trials": context.count(TRIALS, least=FEWEST_TRIALS),
            "replications": context.count(REPLICATIONS, least=4),
            "selection": {term: context.count(worlds, least=20) for term, worlds in SELECTION.items()},
            "fresh": {term: context.count(worlds, least=40) for term, worlds in FRESH.items()},
        },
        verdicts=list(_verdicts(lines(context.protocols), found)),
    )


def _compare(context: Context, line: Line) -> dict[str, Any]:
    """Search, then play what was found, what is advised and the defaults in the same fresh worlds."""
    fresh = context.count(FRESH[line.term], least=40)
    spec = StudySpec(
        scenario=line.world,
        horizon=line.horizon,
        trials=context.count(TRIALS, least=FEWEST_TRIALS),
        replications=context.count(REPLICATIONS, least=4),
        candidates=CANDIDATES,
        selection=context.count(SELECTION[line.term], least=20),
        report=context.count(200, least=20),
        seed=context.seed,
    )
    recommended = context.search(line.key, spec).recommendation
    assert recommended is not None
    params: list[dict[str, float]] = [
        {name: float(value) for name, value in recommended.params.items()},
        {"alpha0": line.alpha0, "beta0": line.beta0, "epsilon": EPSILON},
        {},
    ]
    evaluator = Evaluator(spec, context.crew)
    played = evaluator.play([spec.values(each) for each in params], Stream.REPORT, 0, fresh)[..., REGRET]
    names = ("recommended", "advice", "defaults")
    return {
        "params": params[0],
        "edge": [edge.param for edge in recommended.edge],
        "fresh": fresh,
        **{name: list(mean_interval(sample, context.seed)) for name, sample in zip(names, played, strict=True)},
        "cost": list(relative_interval(played[1], played[0], context.seed)),
        "defaults_cost": list(relative_interval(played[2], played[0], context.seed)),
    }


def _row(line: Line, found: Found) -> dict[str, Any]:
    return {
        "advice": line.number,
        "context": line.context,
        "term": line.term,
        "protocol": line.protocol,
        "scenario": line.scenario,
        "world": line.world,
        "horizon": line.horizon,
        "worlds": found["fresh"],
        "advised_alpha0": line.alpha0,
        "advised_beta0": line.beta0,
        "advised_epsilon": EPSILON,
        **found["params"],
        **in_columns("recommended_regret", found["recommended"]),
        **in_columns("advised_regret", found["advice"]),
        **in_columns("defaults_regret", found["defaults"]),
        **in_columns("cost", found["cost"]),
        **in_columns("defaults_cost", found["defaults_cost"]),
        "verdict": judge_cost(Measured(*found["cost"])),
    }


def _verdicts(asked: Sequence[Line], found: Mapping[str, Found]) -> Iterator[Verdict]:
    """One a line and protocol; what is shown is the scenario where the advice costs most."""
    for claim, protocol in dict.fromkeys((line.claim, line.protocol) for line in asked):
        mine = [line for line in asked if (line.claim, line.protocol) == (claim, protocol)]
        costs = [percent(*found[line.key]["cost"]) for line in mine]
        word = judge_costs([Measured(*found[line.key]["cost"]) for line in mine])
        parts = [_in_words(line, found[line.key], cost) for line, cost in zip(mine, costs, strict=True)]
        reason = "; ".join(parts)
        dearest = max(costs, key=lambda cost: cost.value)
        yield Verdict(claim, protocol, dearest, word, "cost", f"{reason[0].upper()}{reason[1:]}.")


def _in_words(line: Line, found: Found, cost: Measured) -> str:
    where, params = f"in {line.world}, T = {line.horizon}", format_params(found["params"])
    if cost.value == cost.low == cost.high == 0.0:
        return f"{where}, the search recommends the very same parameters"
    return (
        f"{where}, it costs {cost.value:.1f} % ({cost.low:.1f} to {cost.high:.1f}) more regret than {params}: "
        f"{format_number(found['advice'][0])} against {format_number(found['recommended'][0])}"
    )
