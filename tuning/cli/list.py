"""`ravenlab list`: scenarios, policies and bundled study files."""

from typing import Any

import typer

from ravenlab.common.documents import Table
from ravenlab.common.terminal import print_line, print_table
from ravenlab.tuning.cli.help import CONTEXT_SETTINGS, Command
from ravenlab.tuning.cli.options import JsonOption
from ravenlab.tuning.cli.output import print_json

app = typer.Typer(help="List scenarios, policies and bundled study files.")

COMMON_SETTINGS = ("mean_low", "mean_high", "variance_low", "variance_high")
"""Parameters that all scenarios have."""


@app.command("scenarios", cls=Command, context_settings=CONTEXT_SETTINGS)
def list_scenarios(as_json: JsonOption = False) -> None:
    """List scenarios: name, category, parameters and meaning.

    Examples:
        # as a table
        ravenlab list scenarios
        # as JSON
        ravenlab list scenarios --json
    """
    from ravenlab.environments import scenarios

    rows: list[dict[str, Any]] = [
        {
            "name": scenario.name,
            "category": scenario.category,
            "arms": scenario.arms,
            "horizon": scenario.horizon,
            "parameters": scenario.parameters(),
            "meaning": scenario.meaning,
        }
        for scenario in scenarios().values()
    ]
    if _print_rows("Scenarios", rows, as_json, hidden=COMMON_SETTINGS):
        print_line("DPC: distribution parameters change; PC: periodic change; TF: temporary fluctuation.")
        print_line(f"All scenarios also have {', '.join(COMMON_SETTINGS)} and noise. Join effects with '+'.")


@app.command("policies", cls=Command, context_settings=CONTEXT_SETTINGS)
def list_policies(as_json: JsonOption = False) -> None:
    """List policies: name, family, parameters and meaning.

    Examples:
        # as a table
        ravenlab list policies
        # as JSON, with references
        ravenlab list policies --json
    """
    from ravenlab.policies import find_policy, policy_names

    rows: list[dict[str, Any]] = []
    for name in policy_names():
        policy = find_policy(name)
        rows.append(
            {
                "name": name,
                "category": policy.family,
                "parameters": {param.name: param.describe() for param in policy.parameters},
                "meaning": " ".join((policy.__doc__ or "").split("\n\n")[0].split()),
                "reference": policy.reference,
            }
        )
    if _print_rows("Policies", rows, as_json, separator="; "):
        print_line("Parameters: default value and search range; T is the horizon.")


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


def _print_rows(
    title: str, rows: list[dict[str, Any]], as_json: bool, separator: str = ", ", hidden: tuple[str, ...] = ()
) -> bool:
    """Print rows as JSON or as a table of name, category, parameters and meaning; return whether it was a table."""
    if as_json:
        print_json(rows)
        return False
    cells = []
    for row in rows:
        params = separator.join(f"{key} {value}" for key, value in row["parameters"].items() if key not in hidden)
        cells.append([row["name"], row["category"], params or "–", row["meaning"]])
    columns = ["name", "category", "parameters", "meaning"]
    print_table(Table(columns, cells, title, text=columns, ruled=True))
    return True
