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
            typer.echo(f"{one.study}: complete already, nothing to do.", err=True)
        elif not one.finished:
            typer.echo(f"{one.study}: time is up after {one.trials} trials; run the same command to go on.", err=True)


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
    """What to use where, with the interval, and what the paper's advice and the defaults cost more."""
    from studies.words import params_in_words
    from tuning.commands.tables import print_table

    rows = []
    for one in found:
        versus = {rival.name: _cost(rival, one.recorded is not None) for rival in one.versus}
        regret = f"{_short(one.regret.mean)} ({_short(one.regret.low)} to {_short(one.regret.high)})"
        use = params_in_words(one.params)
        rows.append([one.study, use, regret, versus.get("paper", "–"), versus.get("defaults", "–")])
    columns = ["study", "use", "regret (95 %)", "the paper's advice costs", "the defaults cost"]
    print_table(f"Recommended, measured on {_measured_on(found)}", columns, rows, numbers=columns[2:], stacked=True)
    for one in found:
        for line in _of_data(one):
            typer.echo(line)


def _measured_on(found: list[Recommendation]) -> str:
    """Worlds that were drawn anew, or the part of a user's own data that nothing had seen."""
    kinds = {"fresh worlds" if one.recorded is None else "data that were held out" for one in found}
    return " or ".join(sorted(kinds, reverse=True))


def _of_data(one: Recommendation) -> list[str]:
    """What has to be known of a regret on a user's own data: what it is of, and how much it is worth."""
    if one.log is not None:
        from studies.log_words import score_in_words

        return score_in_words(one, one.log)
    if one.trace is not None:
        from studies.trace_words import regret_in_words

        return regret_in_words(one, one.trace)
    return []


def _cost(rival: Rival, on_a_file: bool) -> str:
    """What others cost more, and whether that can be told from nothing."""
    more = f"{'+' if rival.difference >= 0 else ''}{_short(rival.difference)}"
    if on_a_file and rival.same:
        return "the same"
    if not rival.told:
        return f"{more} ({'not decidable' if on_a_file else 'within noise'})"
    return f"{more} ({_short(rival.low)} to {_short(rival.high)})"


def _short(value: float) -> str:
    """One decimal, and of what is small, as on a trace of small rewards, two digits that count.

    >>> _short(123.45), _short(0.01234)
    ('123.5', '0.012')
    """
    return f"{value:.1f}" if abs(value) >= 1.0 or value == 0.0 else f"{value:.2g}"
