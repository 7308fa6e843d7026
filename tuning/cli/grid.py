"""`ravenlab grid`: evaluate RAVEN-UCB on a grid of α₀ and β₀."""

from pathlib import Path
from typing import Annotated, Any

from ravenlab.common.errors import InputError
from ravenlab.common.terminal import print_document
from ravenlab.studies.registry import PAPER_VALUES, GridDefaults, StudyDefaults
from ravenlab.studies.spec.descriptions import GRID
from ravenlab.tuning.cli import arguments, options
from ravenlab.tuning.cli.fields import GRID_FIELDS, drop_unset, takes_fields
from ravenlab.tuning.cli.options import option
from ravenlab.tuning.cli.output import print_json
from ravenlab.tuning.workers.local import DEFAULT_BACKEND


@takes_fields(GRID_FIELDS, GRID, GridDefaults)
def grid(
    scenarios: options.ScenariosArgument = None,
    horizon: options.HorizonsOption = None,
    paper: Annotated[bool, option("--paper", "Use the paper's 4 × 4 cells, 0.5 to 10.", options.CELLS)] = False,
    fine: Annotated[
        bool, option("--fine", "Use 25 × 25 cells over the default search range, 0.01 to 10.", options.CELLS)
    ] = False,
    jobs: options.JobsOption = None,
    backend: options.BackendOption = DEFAULT_BACKEND,
    cluster: options.ClusterOption = None,
    csv: Annotated[
        Path | None, option("--csv", "Write all cells to a CSV file.", options.OUTPUT, metavar="FILE")
    ] = None,
    name: options.NameOption = None,
    storage: options.StorageOption = None,
    quiet: options.QuietOption = False,
    as_json: options.JsonOption = False,
    **fields: Any,
) -> None:
    """Evaluate RAVEN-UCB on a grid of α₀ and β₀.

    All cells play the same worlds, and each cell is tested against the best one. Completed cells are saved: rerun the
    same command to resume.

    Examples:
        # 63 cells
        ravenlab grid blips
        # the paper's 16 cells
        ravenlab grid blips --paper
        # two horizons, and all cells in a file
        ravenlab grid published-variance-drift --horizon 1000,10000 --csv grid.csv
        # 625 cells
        ravenlab grid blips --fine --replications 200
    """
    from ravenlab.policies.engine.ahead import compile_ahead

    if scenarios and cluster is None:
        compile_ahead([StudyDefaults.policy])  # before numba is imported: compilation takes longest
    from ravenlab.studies.export.csv_table import write_grids
    from ravenlab.studies.spec.grid import FINE_VALUES
    from ravenlab.studies.spec.parse import parse_grid_spec
    from ravenlab.tuning.files import check_file_writable, write_text
    from ravenlab.tuning.plan import combine

    if not scenarios:
        raise arguments.missing_scenario()
    axes = [f"--{axis}" for axis in ("alpha0", "beta0") if axis in fields]
    chosen = drop_unset({"--paper": paper and PAPER_VALUES, "--fine": fine and FINE_VALUES})
    for word, values in chosen.items():
        for other in [*axes, *(other for other in chosen if other != word)]:
            raise InputError(f"{word} sets the values of α₀ and β₀, so {other} can't be combined with it.")
        fields |= {"alpha0": values, "beta0": values}
    fields |= drop_unset({"name": name})
    plan = combine(parse_grid_spec, scenarios, horizon or [None], fields)
    arguments.print_warnings(plan)
    pool = arguments.choose_workers(jobs, backend, cluster)
    if csv is not None:
        check_file_writable(csv)
    grids = [run.result for run in arguments.run(plan, pool, storage, quiet)]
    if csv is not None:
        write_text(csv, write_grids(grids))
    if as_json:
        print_json({"grids": [grid.as_object() for grid in grids]})
    else:
        for result in grids:
            print_document(result.to_document())
