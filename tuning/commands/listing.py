"""`ravenlab list`: what there is to choose from."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

app = typer.Typer(help="List scenarios, policies and studies.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print a JSON list.")]


@app.command("scenarios")
def list_scenarios(as_json: AsJson = False) -> None:
    """How the world can change: name, category, parameters and meaning.

    Example: `ravenlab list scenarios`
    """
    from environments import scenarios

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
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return
    common = {"mean_low", "mean_high", "variance_low", "variance_high"}
    _print(
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
        "DPC: distribution parameters change; PC: periodic change; TF: temporary fluctuation.\n"
        "All also take mean_low, mean_high, variance_low, variance_high and noise. Join effects with '+'.",
    )


@app.command("policies")
def list_policies(as_json: AsJson = False) -> None:
    """Who can play: name, family, parameters and meaning.

    Example: `ravenlab list policies --json`
    """
    from policies import find_policy, policy_names

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
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return
    _print(
        "Policies",
        ["name", "category", "parameters", "meaning"],
        [
            [
                row["name"],
                row["category"],
                "\n".join(f"{key} {text}" for key, text in row["parameters"].items()) or "–",
                row["meaning"],
            ]
            for row in rows
        ],
        "Parameters: default, and the range that a study searches; T is the horizon.",
    )


@app.command("studies")
def list_studies(as_json: AsJson = False) -> None:
    """Study files that come along: name, how many studies and simulated steps, and what they are for.

    Example: `ravenlab list studies`
    """
    from studies.files import load_study_file
    from studies.shipped import find_study_file, shipped_studies

    rows: list[dict[str, Any]] = []
    for name, meaning in shipped_studies().items():
        specs = load_study_file(find_study_file(name))
        steps = sum(spec.simulated_steps() for spec in specs)
        rows.append({"name": name, "studies": len(specs), "steps": steps, "meaning": meaning})
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return
    _print(
        "Studies",
        ["name", "studies", "steps", "meaning"],
        [[row["name"], str(row["studies"]), f"{row['steps']:,}", row["meaning"]] for row in rows],
        "Run one with ravenlab tune --study NAME; write your own with ravenlab init.",
    )


def _print(title: str, columns: list[str], rows: list[list[str]], caption: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, caption=caption, caption_justify="left", show_lines=True)
    for column in columns:
        table.add_column(column, no_wrap=column == "name", overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console().print(table)
