"""`ravenlab list`: what there is to choose from."""

from __future__ import annotations

from typing import Any

import typer

from tuning.cli.help import NAMES, Command
from tuning.cli.options import JsonOption

app = typer.Typer(help="List scenarios, policies and study files.")


@app.command("scenarios", cls=Command, context_settings=NAMES)
def list_scenarios(as_json: JsonOption = False) -> None:
    """How the world can change: name, category, parameters and meaning.

    Examples:
        # for people
        ravenlab list scenarios
        # for programs
        ravenlab list scenarios --json
    """
    from environments import scenarios
    from tuning.cli.output import print_json, print_table, say

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
    if as_json:
        print_json(rows)
        return
    common = {"mean_low", "mean_high", "variance_low", "variance_high"}
    print_table(
        "Scenarios",
        ["name", "category", "parameters", "meaning"],
        [
            [
                row["name"],
                row["category"],
                ", ".join(f"{key} {value}" for key, value in row["parameters"].items() if key not in common),
                row["meaning"],
            ]
            for row in rows
        ],
        whole=["name"],
        apart=True,
    )
    say("DPC: distribution parameters change; PC: periodic change; TF: temporary fluctuation.")
    say("All also take mean_low, mean_high, variance_low, variance_high and noise. Join effects with '+'.")


@app.command("policies", cls=Command, context_settings=NAMES)
def list_policies(as_json: JsonOption = False) -> None:
    """Who can play: name, family, parameters and meaning.

    Examples:
        # for people
        ravenlab list policies
        # for programs, with references
        ravenlab list policies --json
    """
    from policies import find_policy, policy_names
    from tuning.cli.output import print_json, print_table, say

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
    if as_json:
        print_json(rows)
        return
    print_table(
        "Policies",
        ["name", "category", "parameters", "meaning"],
        [
            [
                row["name"],
                row["category"],
                "; ".join(f"{key} {text}" for key, text in row["parameters"].items()) or "–",
                row["meaning"],
            ]
            for row in rows
        ],
        whole=["name"],
        apart=True,
    )
    say("Parameters: default, and the range that a study searches; T is the horizon.")


@app.command("studies", cls=Command, context_settings=NAMES)
def list_studies(as_json: JsonOption = False) -> None:
    """Study files that come along, how much each runs, and what for.

    What you have stored yourself is listed by ravenlab studies.

    Examples:
        # which there are
        ravenlab list studies
        # what one of them would run
        ravenlab tune --study quick --dry-run
    """
    from studies.spec.files import find_study_file, load_study_file, shipped_studies
    from tuning.cli.output import print_json, print_table, say

    rows: list[dict[str, Any]] = []
    for name, meaning in shipped_studies().items():
        specs = load_study_file(find_study_file(name))
        steps = sum(spec.simulated_steps() for spec in specs)
        rows.append({"name": name, "studies": len(specs), "steps": steps, "meaning": meaning})
    if as_json:
        print_json(rows)
        return
    print_table(
        "Studies",
        ["name", "studies", "steps", "meaning"],
        [[row["name"], str(row["studies"]), f"{row['steps']:,}", row["meaning"]] for row in rows],
        numbers=["studies", "steps"],
        whole=["name"],
        apart=True,
    )
    say("Run one with ravenlab tune --study NAME; write your own with ravenlab init.")
