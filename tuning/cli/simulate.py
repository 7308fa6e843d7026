"""`ravenlab simulate`: play a policy in a scenario and see its regret."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from studies.registry import StudyDefaults
from tuning.cli import completion, options

if TYPE_CHECKING:
    from policies.engine.simulation import Simulation


def simulate(
    scenario: options.ScenarioArgument,
    policy: Annotated[
        str,
        typer.Option(
            help="Who plays: a name, or ./yours.py:Name.",
            autocompletion=completion.policies,
            rich_help_panel="Who plays",
        ),
    ] = StudyDefaults.policy,
    param: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="A parameter of the policy; may be given again.", rich_help_panel="Who plays"
        ),
    ] = None,
    horizon: Annotated[
        str | None, typer.Option(metavar="T", help="Steps. [default: the scenario's]", rich_help_panel=options.PROBLEM)
    ] = None,
    arms: options.ArmsOption = None,
    noise: options.NoiseOption = None,
    setting: options.SettingOption = None,
    replications: Annotated[
        str, typer.Option(metavar="R", help="How many worlds.", rich_help_panel=options.PROBLEM)
    ] = "100",
    seed: options.SeedOption = None,
    jobs: options.JobsOption = None,
    pulls: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write which arm was pulled when to a CSV file.", rich_help_panel=options.OUTPUT
        ),
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Play a policy in fresh worlds and measure its regret.

    The same seed gives every policy the same worlds.

    Examples:
        # RAVEN-UCB at its defaults
        ravenlab simulate blips
        # with another parameter, in a world that changes faster
        ravenlab simulate variance-drift --horizon 10000 --param alpha0=2 --set growth=0.5
    """
    from environments.catalog import load_scenario_plugin
    from policies.engine.plugins import load_policy_plugin
    from policies.engine.simulation import simulate as play
    from tuning.cli.arguments import settings_of
    from tuning.cli.options import parse_assignments, whole_number, workers
    from tuning.cli.output import print_json
    from tuning.files import check_file_writable

    if pulls is not None:
        check_file_writable(pulls)
    result = play(
        load_policy_plugin(policy),
        load_scenario_plugin(scenario),
        horizon=None if horizon is None else whole_number("--horizon", horizon),
        arms=None if arms is None else whole_number("--arms", arms),
        replications=whole_number("--replications", replications),
        seed=StudyDefaults.seed if seed is None else whole_number("--seed", seed),
        params=parse_assignments("--param", param or []),
        settings=settings_of(setting, noise),
        pulls=pulls is not None,
        jobs=workers(jobs),
    )
    if pulls is not None:
        _write_pulls(result, pulls)
    if as_json:
        print_json(as_object(result))
    else:
        _print_table(result)


def as_object(result: Simulation) -> dict[str, Any]:
    """The JSON object of a simulation."""
    return {
        "policy": result.policy,
        "scenario": result.scenario,
        "horizon": result.horizon,
        "arms": result.arms,
        "replications": result.replications,
        "seed": result.seed,
        "params": result.params,
        "settings": result.settings,
        **result.summary(),
    }


def _write_pulls(result: Simulation, path: Path) -> None:
    """CSV: replication (from 0), step (from 1), arm (from 0)."""
    from tuning.files import atomic_write

    assert result.pulls is not None
    with atomic_write(path) as file:
        file.write("replication,step,arm\n")
        for replication, row in enumerate(result.pulls):
            file.writelines(f"{replication},{step},{arm}\n" for step, arm in enumerate(row.tolist(), start=1))


def _print_table(result: Simulation) -> None:
    from environments.text import format_value
    from tuning.cli.output import print_table, say

    names = {
        "regret": "regret",
        "regret_constant": "regret against the constant",
        "reward": "reward",
        "suboptimal_pulls": "suboptimal pulls",
    }
    summary = result.summary()
    rows = []
    for name, label in names.items():
        if name in summary:
            mean, error = summary[name]["mean"], summary[name]["stderr"]
            rows.append([label, f"{mean:.2f}", "–" if error is None else f"{error:.2f}"])
    columns = ["", "mean", "± standard error"]
    print_table(f"{result.policy} in {result.scenario}", columns, rows, numbers=columns[1:])
    say(f"T = {result.horizon:,}, K = {result.arms}, {result.replications:,} replications, seed {result.seed}")
    say(", ".join(f"{name} {format_value(value)}" for name, value in result.params.items()))
