"""`ravenlab tune --robust`: one setting for an unknown world, or a Pareto front over several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from studies.robust import RobustSpec
    from studies.robust_recommendation import Contender, Front, RobustRecommendation
    from tuning.crew import Crew
    from tuning.robust.running import RanRobust

LISTED = 20
"""Members of a front that are printed."""


def run_and_print(
    specs: Sequence[RobustSpec],
    url: str,
    crew: Crew,
    timeout: float | None,
    quiet: bool,
    as_json: bool,
    csv: Path | None,
) -> bool:
    """Run what was asked for, say what came of it, and give whether anything did; notes and figures are attached."""
    from studies.robust_csv import write
    from tuning.commands.attaching import attach_to
    from tuning.commands.keeping import saying_what_is_kept
    from tuning.files import check_place, replacing
    from tuning.progress import Reporter
    from tuning.robust.running import run_robust

    if csv is not None:
        check_place(csv)
    ran = []
    with Reporter(quiet) as reporter, saying_what_is_kept(reporter, url):
        for spec in specs:
            ran.append(run_robust(spec, url, crew, timeout, reporter.listener))
            attach_to(url, [one.study for one in ran[-1].own if one.recommendation is not None])
            if ran[-1].found is not None:
                attach_to(url, [ran[-1].study])
    found = [one.found for one in ran if one.found is not None]
    if csv is not None and found:
        with replacing(csv) as file:
            file.write(write(found))
    _print(ran, found, as_json)
    return bool(found)


def _print(ran: Sequence[RanRobust], found: Sequence[RobustRecommendation | Front], as_json: bool) -> None:
    from studies.export import export
    from studies.robust_recommendation import Front, RobustRecommendation
    from tuning.commands.tables import print_json, put

    if as_json:
        fronts = [one for one in found if isinstance(one, Front)]
        if fronts:
            document = {"fronts": [front.as_object() for front in fronts]}
            print_json(document)
        else:
            put(export([one for one in found if isinstance(one, RobustRecommendation)], "json"))
    else:
        for one in found:
            print_found(one)
    for each in ran:
        if not each.fresh:
            typer.echo(f"{each.study}: already complete.", err=True)
        elif each.found is None:
            typer.echo(f"{each.study}: time limit reached; rerun the same command to resume.", err=True)


def print_found(found: RobustRecommendation | Front) -> None:
    """The settings in every world, and what follows from them in words."""
    from studies.describe import describe_front, describe_robust
    from studies.robust_recommendation import Front
    from tuning.commands.tables import say

    if isinstance(found, Front):
        kept = found.kept()
        more = f"; the first {LISTED} of {len(kept)}" if len(kept) > LISTED else ""
        _print_worlds(f"{found.study}: Pareto front on held-out worlds{more}", found.scenarios, kept[:LISTED])
        lines = describe_front(found)
    else:
        title = f"{found.study}: regret, and its excess over the setting tuned for the scenario"
        _print_worlds(title, found.scenarios, found.contenders)
        lines = describe_robust(found)
    for line in lines:
        say(line)


def _print_worlds(title: str, scenarios: Sequence[str], contenders: Sequence[Contender]) -> None:
    from environments.text import format_number, format_percent
    from studies.symbols import format_params
    from tuning.commands.tables import print_table

    columns = ["setting", "parameters", *scenarios, "price (95 %)"]
    rows = []
    for each in contenders:
        cells = [f"{format_number(world.regret.mean)} ({format_percent(world.price.mean)})" for world in each.worlds]
        price = (
            f"{format_percent(each.price.mean)} ({format_percent(each.price.low)} to {format_percent(each.price.high)})"
        )
        rows.append([each.name, format_params(each.params), *cells, price])
    print_table(title, columns, rows, numbers=columns[2:], stacked=True)
