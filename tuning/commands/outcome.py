"""What `ravenlab tune` ends with: the table of recommendations, and what to type next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from studies.recommendation import Recommendation, Rival
    from tuning.running import Ran


def print_outcome(ran: list[Ran], as_json: bool) -> None:
    """The recommendations on stdout; what was left undone, and what to type next, on stderr."""
    found = [one.recommendation for one in ran if one.recommendation is not None]
    if as_json:
        from studies.export import export
        from tuning.commands.tables import put

        put(export(found, "json"))
    elif found:
        _print_table(found)
    for one in ran:
        if not one.fresh:
            typer.echo(f"{one.study}: already complete.", err=True)
        elif not one.finished:
            typer.echo(
                f"{one.study}: time limit reached after {one.trials:,} trials; rerun the same command to resume.",
                err=True,
            )


def say_next(ran: list[Ran], storage: str | None) -> None:
    """What can be done with what was found, on stderr: a line a command, to be copied whole.

    Words that a shell would cut stand in quotes.
    """
    from shlex import quote

    from studies.urls import shown
    from tuning.commands.calling import called

    command = called()
    where = "" if storage is None else f" --storage {quote(shown(storage))}"
    names = [quote(one.study) for one in ran if one.recommendation is not None]
    which = f" {names[0]}" if len(names) == 1 else ""
    typer.echo("Next, to use it in a program:", err=True)
    typer.echo(f"  {command} export{which}{where} -o recommended.json", err=True)
    typer.echo("or to look at it:", err=True)
    typer.echo(f"  {command} report{where}", err=True)
    typer.echo(f"  {command} dashboard{where}", err=True)


def _print_table(found: list[Recommendation]) -> None:
    """Print parameters and regret per study, and the extra regret of the paper's advice and of the defaults."""
    from environments.text import format_interval
    from studies.symbols import format_params
    from tuning.commands.tables import print_table

    rows = []
    for one in found:
        versus = {rival.name: _cost(rival, one.recorded is not None) for rival in one.versus}
        regret = format_interval(one.regret.mean, one.regret.low, one.regret.high, level=None)
        use = format_params(one.params)
        rows.append([one.study, use, regret, versus.get("paper", "–"), versus.get("defaults", "–")])
    columns = ["study", "use", "regret (95 %)", "paper's advice", "defaults"]
    print_table(
        f"Recommended parameters, evaluated on {_evaluated_on(found)}; baselines: extra regret",
        columns,
        rows,
        numbers=columns[2:],
        stacked=True,
    )
    for one in found:
        for line in _describe_data(one):
            typer.echo(line)


def _evaluated_on(found: list[Recommendation]) -> str:
    """Name the held-out part: new worlds, or the last part of a recorded file."""
    kinds = {"held-out worlds" if one.recorded is None else "held-out data" for one in found}
    return " or ".join(sorted(kinds, reverse=True))


def _describe_data(one: Recommendation) -> list[str]:
    """Describe the regret on a trace or log: its definition and its reliability."""
    from studies.describe import describe_regret

    return [] if one.recorded is None else describe_regret(one)


def _cost(rival: Rival, on_a_file: bool) -> str:
    """Format the extra regret of a baseline with its interval, or say that it is not significant."""
    from environments.text import format_number
    from studies.describe import INCONCLUSIVE, WITHIN_NOISE

    more = f"{'+' if rival.difference >= 0 else ''}{format_number(rival.difference)}"
    if on_a_file and rival.same:
        return "identical"
    if not rival.told:
        return f"{more} ({INCONCLUSIVE if on_a_file else WITHIN_NOISE})"
    return f"{more} ({format_number(rival.low)} to {format_number(rival.high)})"
