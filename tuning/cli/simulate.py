"""`ravenlab simulate`: run a policy in a scenario and measure its regret."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ravenlab.common.terminal import print_document
from ravenlab.studies.registry import StudyDefaults
from ravenlab.tuning.cli import completion, options
from ravenlab.tuning.cli.fields import SETTINGS_FIELDS, assignments, takes_fields
from ravenlab.tuning.cli.options import option
from ravenlab.tuning.cli.output import print_json, print_warning
from ravenlab.tuning.workers.local import worker_count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ravenlab.policies.engine.simulation import Simulation

POLICY = "Policy"


@takes_fields(SETTINGS_FIELDS)
def simulate(
    scenario: options.ScenarioArgument,
    policy: Annotated[
        str, option("--policy", "Policy to run, or ./file.py:Name.", POLICY, complete=completion.policies)
    ] = StudyDefaults.policy,
    param: Annotated[
        list[options.Assignment] | None,
        option(
            "--param",
            "Parameter of the policy; can be repeated.",
            POLICY,
            metavar="NAME=VALUE",
            parser=options.parse_assignment,
        ),
    ] = None,
    horizon: options.HorizonOption = None,
    replications: Annotated[
        int, options.integer_option("--replications", "R", "Number of worlds.", options.PROBLEM)
    ] = 100,
    seed: options.SeedOption = None,
    jobs: options.JobsOption = None,
    pulls: Annotated[
        Path | None,
        option("--pulls", "Write the arm pulled at each step to a CSV file.", options.OUTPUT, metavar="FILE"),
    ] = None,
    as_json: options.JsonOption = False,
    **fields: Any,
) -> None:
    """Run a policy in simulated worlds and measure its regret.

    The same seed gives all policies the same worlds.

    Examples:
        # RAVEN-UCB at its defaults
        ravenlab simulate blips
        # with another parameter, in a scenario that changes more slowly
        ravenlab simulate variance-drift --horizon 10000 --param alpha0=2 --set growth=0.5
    """
    from ravenlab.environments.catalog import find_scenario, load_scenario_plugin
    from ravenlab.policies.engine.plugins import load_policy_plugin
    from ravenlab.policies.engine.simulation import simulate as run
    from ravenlab.tuning.files import check_file_writable

    if pulls is not None:
        check_file_writable(pulls)
    result = run(
        load_policy_plugin(policy),
        load_scenario_plugin(scenario),
        horizon=horizon,
        replications=replications,
        seed=StudyDefaults.seed if seed is None else seed,
        params=assignments("--param", param),
        pulls=pulls is not None,
        jobs=worker_count(jobs),
        **fields,
    )
    for warning in find_scenario(result.scenario, result.settings).warnings(result.horizon, result.arms):
        print_warning(warning)
    if pulls is not None and result.pulls is not None:
        _write_pulls(result.pulls, pulls)
    if as_json:
        print_json(_simulation_object(result))
    else:
        print_document(result.to_document())


def _simulation_object(result: Simulation) -> dict[str, Any]:
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


def _write_pulls(pulls: NDArray[np.integer[Any]], path: Path) -> None:
    """Write a CSV file: replication (from 0), step (from 1), arm (from 0)."""
    from ravenlab.tuning.files import atomic_write

    with atomic_write(path) as file:
        file.write("replication,step,arm\n")
        for replication, row in enumerate(pulls):
            file.writelines(f"{replication},{step},{arm}\n" for step, arm in enumerate(row.tolist(), start=1))
