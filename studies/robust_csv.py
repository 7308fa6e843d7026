"""Settings in every scenario as CSV: one row a setting and scenario, of recommendations and of Pareto fronts."""

from __future__ import annotations

from collections.abc import Iterable

from studies.robust_recommendation import Front, Member, RobustRecommendation
from studies.tables import Cell, make_table, to_csv

BEFORE = ("study", "policy", "horizon", "arms", "setting", "tuned_for", "front")
AFTER = ("scenario", "regret", "low", "high", "price", "price_low", "price_high", "replications")


def write(found: Iterable[RobustRecommendation | Front]) -> str:
    """A header, then the rows; numbers with every digit, so the same result gives the same bytes.

    `front` says whether nothing beats the setting on fresh worlds; it is empty where no front was asked for.

    >>> write([]).startswith("study,policy,horizon,arms,setting,tuned_for,front,scenario")
    True
    """
    found = list(found)
    settings = [(one, each) for one in found for each in (one.members if isinstance(one, Front) else one.contenders)]
    params = list(dict.fromkeys(name for _, each in settings for name in each.params))
    columns = (*BEFORE, *params, *AFTER)
    rows: list[dict[str, Cell]] = []
    for one, each in settings:
        front = str(each.kept).lower() if isinstance(each, Member) else ""
        place: list[Cell] = [one.study, one.policy, one.horizon, one.arms, each.name, each.tuned_for or "", front]
        values = [each.params.get(name, "") for name in params]
        for world in each.worlds:
            regret, price = world.regret, world.price
            numbers = [regret.mean, regret.low, regret.high, price.mean, price.low, price.high]
            cells = [*place, *values, world.scenario, *numbers, regret.replications]
            rows.append(dict(zip(columns, cells, strict=True)))
    return to_csv(make_table(rows, columns))
