"""What the measured regrets say of the four claims of the paper's theory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from environments.text import format_approximate
from studies.reproduction.rules import (
    Measured,
    Verdict,
    judge_all_above,
    judge_equation,
    judge_order,
    still_falls,
)
from studies.reproduction.tables import Table
from tuning.reproduction._bounds_problems import HORIZON, PROBLEMS
from tuning.reproduction._intervals import difference
from tuning.reproduction.context import Context

Tables = Mapping[str, Table]


def verdicts(context: Context, tables: Tables) -> list[Verdict]:
    """Four for each protocol: a claim about all problems falls with one of them."""
    out = []
    for protocol in context.protocols:
        out += [
            _assumption(tables, protocol),
            _order(tables, protocol, "gap-dependent", held=True),
            _order(tables, protocol, "gap-independent", held=False),
            _tighter(tables, protocol),
        ]
    return out


def _player(protocol: str) -> str:
    return f"raven-{protocol}"


def _of(row: Mapping[str, Any], name: str) -> Measured | None:
    if row[name] is None:
        return None
    return Measured(row[name], row[f"{name}_low"], row[f"{name}_high"])


def _assumption(tables: Tables, protocol: str) -> Verdict:
    rows = list(tables["assumption"].where(player=_player(protocol)))
    ratios = {(row["sigma"], row["t"]): row["played"] / row["needed"] for row in rows}
    low, high = min(ratios, key=lambda at: ratios[at]), max(ratios, key=lambda at: ratios[at])
    written = [row["written"] / row["needed"] for row in rows]
    reason = (
        f"What is played is {ratios[high]:.3g} times what the proof needs at t = {high[1]} (σ = {high[0]:g}) and falls"
        f" to {ratios[low]:.3g} times at t = {format_approximate(low[1])} (σ = {low[0]:g}), since α_t·sqrt(ln t)"
        " tends to 0; with α₀"
        f" in place of α_t, as the proof writes it, the ratio goes from {min(written):.3g} to {max(written):.3g}."
    )
    least = ratios[low]
    ours = Measured(least, least, least)
    return Verdict("bounds-assumption", protocol, ours, judge_equation(list(ratios.values())), "equation", reason)


def _order(tables: Tables, protocol: str, bound: str, held: bool) -> Verdict:
    """A bound in every problem; `held` says whether its constant is claimed too, or its order alone."""
    player, column = _player(protocol), f"meets_{bound.replace('-', '_')}"
    tails, falling, above, ends = [], [], [], {}
    for name in PROBLEMS:
        rates = list(tables["rates"].where(problem=name, player=player))
        tails.append(tables["tails"].one(problem=name, player=player)["tail_from"] is not None)
        falling.append(still_falls([_of(row, "ratio") for row in rates]))
        regrets = tables["regret"].where(problem=name, player=player)
        values = tables["bounds"].where(problem=name, bound=bound).column("value")
        above.append(held and any(low > value for low, value in zip(regrets.column("regret_low"), values, strict=True)))
        end = _of(regrets.one(T=HORIZON), "regret")
        assert end is not None
        ends[name] = Measured(end.value / values[-1], end.low / values[-1], end.high / values[-1])
    worst = max(ends, key=lambda name: ends[name].value)
    tail = tables["tails"].one(problem=worst, player=player)
    where = (
        ""
        if tail[column] is None
        else f", which it passes at T ≈ {format_approximate(tail[column])} ({tail[f'{column}_how']})"
    )
    begins = "" if tail["tail_from"] is None else f" from T = {format_approximate(tail['tail_from'])} on"
    reason = (
        f"The regret has a linear tail in {sum(tails)} of {len(tails)} problems; worst with"
        f" {PROBLEMS[worst].title}{begins}, where {tail['lost']:.0%} of the runs have lost the best arm for good and"
        f" the regret at T = {format_approximate(HORIZON)} is {ends[worst].value:.3g} times the bound{where}."
    )
    return Verdict(f"bounds-{bound}", protocol, ends[worst], judge_order(tails, falling, above), "order", reason)


def _tighter(tables: Tables, protocol: str) -> Verdict:
    """No bound of a policy that loses more a step in the long run can be tighter."""
    player, last = _player(protocol), max(tables["rates"].column("to"))
    saved, rates = {}, {}
    for name in PROBLEMS:
        both = [_of(tables["rates"].one(problem=name, player=who, to=last), "rate") for who in ("ucb1", player)]
        ucb1, raven = both
        assert ucb1 is not None
        assert raven is not None
        saved[name], rates[name] = difference(ucb1, raven), (ucb1.value, raven.value)
    worst = min(saved, key=lambda name: saved[name].value)
    claimed, proven = (
        tables["bounds"].one(problem=worst, bound=bound, T=HORIZON)["value"] for bound in ("gap-dependent", "ucb1")
    )
    end = tables["regret"].one(problem=worst, player=player, T=HORIZON)["regret"]
    word = judge_all_above(0.0, list(saved.values()))
    reason = (
        f"With {PROBLEMS[worst].title}, RAVEN-UCB loses {rates[worst][1]:.2g} a step in the last decade and UCB1"
        f" {rates[worst][0]:.2g}; the claimed bound is smaller ({claimed:.0f} against UCB1's {proven:.0f} at"
        f" T = {format_approximate(HORIZON)}), but RAVEN-UCB's regret there is {end:.0f}."
    )
    return Verdict("bounds-tighter", protocol, saved[worst], word, "all above", reason)
