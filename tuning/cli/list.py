"""`ravenlab list`: scenarios, policies and bundled study files."""

from inspect import getdoc, getmodule
from typing import Annotated, Any

import typer

from ravenlab.common.documents import Table
from ravenlab.common.terminal import print_line, print_list, print_table
from ravenlab.common.text import join_words, plural
from ravenlab.tuning.cli import completion
from ravenlab.tuning.cli.help import CONTEXT_SETTINGS, Command
from ravenlab.tuning.cli.options import JsonOption, argument
from ravenlab.tuning.cli.output import command_name, print_json

app = typer.Typer(help="List scenarios, policies and bundled study files.")

COMMON_SETTINGS = ("mean_low", "mean_high", "variance_low", "variance_high")
"""Parameters that all scenarios have."""

CATEGORIES = {
    "DPC": "distribution parameters change",
    "PC": "periodic change",
    "TF": "temporary fluctuation",
}
SHOWN = "Describe these, with their parameters. [default: list all]"


@app.command("scenarios", cls=Command, context_settings=CONTEXT_SETTINGS)
def list_scenarios(
    names: Annotated[list[str] | None, argument("NAME", SHOWN, complete=completion.scenarios)] = None,
    as_json: JsonOption = False,
) -> None:
    """List scenarios, or describe some with their parameters.

    Examples:
        # all, one line each
        ravenlab list scenarios
        # the parameters of two effects together
        ravenlab list scenarios periodic+blips
        # as JSON
        ravenlab list scenarios --json
    """
    from ravenlab.environments import find_scenario, scenarios

    chosen = list(map(find_scenario, names or scenarios()))
    if as_json:
        print_json(
            [
                {
                    "name": scenario.name,
                    "category": scenario.category,
                    "arms": scenario.arms,
                    "horizon": scenario.horizon,
                    "parameters": scenario.parameters(),
                    "meaning": scenario.meaning,
                }
                for scenario in chosen
            ]
        )
        return
    if not names:
        _print_names([(scenario.name, scenario.meaning) for scenario in chosen], "scenarios")
        print_line("Join effects with '+', such as periodic+blips.", "dim")
    for scenario in chosen if names else ():
        kinds = [f"{key} ({CATEGORIES[key]})" for key in scenario.category.split("+") if key in CATEGORIES]
        size = f"{plural(scenario.arms, 'arm')} and {scenario.horizon:,} steps unless set otherwise."
        notes = [f"Category in the paper: {join_words(kinds, 'and')}." if kinds else "", size]
        notes += [note for effect in scenario.effects for note in _paragraphs(getmodule(effect))]
        parameters = [(key, f"default {value}") for key, value in scenario.parameters().items()]
        own = [pair for pair in parameters if pair[0] not in COMMON_SETTINGS]
        _print_entry(scenario.name, scenario.meaning, notes, own)
        print_line(f"All scenarios also have {', '.join(COMMON_SETTINGS)} and noise. Set them with --set NAME=VALUE.")


@app.command("policies", cls=Command, context_settings=CONTEXT_SETTINGS)
def list_policies(
    names: Annotated[list[str] | None, argument("NAME", SHOWN, complete=completion.policies)] = None,
    as_json: JsonOption = False,
) -> None:
    """List policies, or describe some with their parameters.

    Examples:
        # all, one line each
        ravenlab list policies
        # parameters, search ranges and reference of one
        ravenlab list policies raven-ucb
        # as JSON, with references
        ravenlab list policies --json
    """
    from ravenlab.policies import find_policy, policy_names

    chosen = {name: find_policy(name) for name in names or policy_names()}
    meanings = {name: " ".join(_paragraphs(policy)[:1]) for name, policy in chosen.items()}
    if as_json:
        print_json(
            [
                {
                    "name": name,
                    "category": policy.family,
                    "parameters": {param.name: param.describe() for param in policy.parameters},
                    "meaning": meanings[name],
                    "reference": policy.reference,
                }
                for name, policy in chosen.items()
            ]
        )
        return
    if not names:
        _print_names(list(meanings.items()), "policies")
    for name, policy in chosen.items() if names else ():
        notes = [note for note in _paragraphs(policy)[1:] if "$" not in note]  # formulas are for the documentation
        parameters = [(param.name, f"{param.meaning}; default {param.describe()}") for param in policy.parameters]
        _print_entry(name, meanings[name], [*notes, f"Reference: {policy.reference}."], parameters)
        print_line("K is the number of arms and T the horizon.", "dim")


def _paragraphs(described: object) -> list[str]:
    """Return the paragraphs of a docstring, each on one line."""
    return [" ".join(paragraph.replace("`", "").split()) for paragraph in (getdoc(described) or "").split("\n\n")]


def _print_names(pairs: list[tuple[str, str]], what: str) -> None:
    """Print names with their meanings, and how to see more."""
    print_list(pairs)
    print_line("")
    print_line(f"Description and parameters: {command_name()} list {what} NAME", "dim")


def _print_entry(name: str, meaning: str, notes: list[str], parameters: list[tuple[str, str]]) -> None:
    """Print the description and the parameters of a scenario or policy."""
    print_line(f"{name}: {meaning}", bold=name)
    for note in filter(None, notes):
        print_line(note, "dim")
    print_line("")
    print_line("Parameters:" if parameters else "No parameters of its own.")
    print_list(parameters, indent=2)
    print_line("")


@app.command("studies", cls=Command, context_settings=CONTEXT_SETTINGS)
def list_studies(as_json: JsonOption = False) -> None:
    """List bundled study files: name, size and purpose.

    For stored studies, see ravenlab studies.

    Examples:
        # as a table
        ravenlab list studies
        # the plan of one of them
        ravenlab tune --study quick --dry-run
    """
    from ravenlab.studies.spec.files import find_study_file, load_study_file, shipped_studies

    rows: list[dict[str, Any]] = []
    for name, meaning in shipped_studies().items():
        specs = load_study_file(find_study_file(name))
        steps = sum(spec.simulated_steps() for spec in specs)
        rows.append({"name": name, "studies": len(specs), "steps": steps, "meaning": meaning})
    if as_json:
        print_json(rows)
        return
    columns = ["name", "studies", "steps", "meaning"]
    cells = [[row["name"], f"{row['studies']:,}", f"{row['steps']:,}", row["meaning"]] for row in rows]
    print_table(Table(columns, cells, "Study files", text=("name", "meaning"), ruled=True))
    print_line("Run one with ravenlab tune --study NAME; create your own with ravenlab init.")
