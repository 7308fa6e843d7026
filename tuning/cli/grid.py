"""`ravenlab grid`: evaluate RAVEN-UCB on a grid of α₀ and β₀."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from studies.registry import GridDefaults, format_values
from tuning.cli import options
from tuning.cli.options import default, integer_option, option, parse_number, parse_numbers
from tuning.workers.local import DEFAULT_BACKEND

if TYPE_CHECKING:
    from studies.results.grid import Grid
    from studies.spec.grid import GridSpec
    from tuning.workers.local import Workers

CELLS = "Cells"

MAX_COLUMNS = 8  # values of β₀ that are printed as columns; of a wider grid the best cells are listed
MAX_LISTED_CELLS = 12

BEST, INDISTINGUISHABLE, WORSE = "★", "≈", " "


def grid(
    scenarios: options.ScenariosArgument = None,
    horizon: options.HorizonsOption = None,
    arms: options.ArmsOption = None,
    noise: options.NoiseOption = None,
    setting: options.SettingOption = None,
    seed: options.SeedOption = None,
    alpha0: Annotated[
        options.NumberList | None,
        option(
            "--alpha0",
            f"Values of α₀. {default(format_values(GridDefaults.alpha0))}",
            CELLS,
            metavar="X,X…",
            parser=parse_numbers,
        ),
    ] = None,
    beta0: Annotated[
        options.NumberList | None,
        option(
            "--beta0",
            f"Values of β₀. {default(format_values(GridDefaults.beta0))}",
            CELLS,
            metavar="X,X…",
            parser=parse_numbers,
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        option(
            "--epsilon",
            f"Value of ε in all cells. {default(GridDefaults.epsilon)}",
            CELLS,
            metavar="X",
            parser=parse_number,
        ),
    ] = None,
    paper: Annotated[bool, option("--paper", "Use the paper's 4 × 4 cells, 0.5 to 10.", CELLS)] = False,
    fine: Annotated[bool, option("--fine", "Use 25 × 25 cells over the paper's range, 0.01 to 10.", CELLS)] = False,
    replications: Annotated[
        int | None,
        integer_option(
            "--replications",
            "R",
            f"Number of worlds; all cells play the same ones. {default(GridDefaults.replications)}",
            CELLS,
        ),
    ] = None,
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
    from environments.catalog import load_scenario_plugin
    from environments.errors import InputError
    from studies.export.csv_table import write_grids
    from studies.registry import PAPER_VALUES
    from studies.spec.grid import FINE_VALUES
    from studies.spec.parse import parse_grid_spec
    from studies.storage.urls import storage_url
    from tuning.cli.arguments import (
        check_one_name,
        choose_workers,
        drop_unset,
        missing_scenario,
        print_warnings,
        scenario_settings,
    )
    from tuning.cli.output import print_json
    from tuning.files import atomic_write, check_file_writable

    if not scenarios:
        raise missing_scenario()
    axes = drop_unset({"alpha0": alpha0, "beta0": beta0})
    chosen = drop_unset({"--paper": paper and PAPER_VALUES, "--fine": fine and FINE_VALUES})
    for word, values in chosen.items():
        for other in [*(f"--{axis}" for axis in axes), *(other for other in chosen if other != word)]:
            raise InputError(f"{word} sets the values of α₀ and β₀, so {other} can't be combined with it.")
        axes = {"alpha0": values, "beta0": values}
    numbers = {"replications": replications, "arms": arms, "seed": seed, "epsilon": epsilon}
    fields = drop_unset({**axes, **numbers, "name": name, "settings": scenario_settings(setting, noise)})
    specs = [
        parse_grid_spec({"scenario": scenario, "horizon": steps, **fields})
        for scenario in map(load_scenario_plugin, scenarios)
        for steps in horizon or [None]
    ]
    check_one_name(name, len(specs))
    print_warnings(specs)
    pool = choose_workers(jobs, backend, cluster)
    if csv is not None:
        check_file_writable(csv)
    grids = _run_grids(specs, storage_url(storage), pool, quiet)
    if csv is not None:
        with atomic_write(csv) as file:
            file.write(write_grids(grids))
    if as_json:
        print_json({"grids": [grid.as_object() for grid in grids]})
    else:
        for result in grids:
            print_grid(result)


def _run_grids(specs: Sequence[GridSpec], url: str, pool: AbstractContextManager[Workers], quiet: bool) -> list[Grid]:
    """Run all grids, and attach to each its note and figures for the dashboard."""
    from tuning.cli.dashboard import attach_to_studies
    from tuning.cli.output import describing_interrupts
    from tuning.grid_run import run_grid
    from tuning.progress import Reporter
    from tuning.workers.local import run_concurrently

    def run(spec: GridSpec) -> Grid:
        result = run_grid(spec, url, workers, reporter.grid_listener())
        attach_to_studies(url, [result.study])
        return result

    unique = {spec.study_name(): spec for spec in specs}
    with (
        pool as workers,
        Reporter(quiet, many=workers.concurrent_studies > 1) as reporter,
        describing_interrupts(reporter, url),
    ):
        return run_concurrently(workers, [partial(run, spec) for spec in unique.values()])


def print_grid(grid: Grid) -> None:
    """Print a grid: α₀ in rows and β₀ in columns, or a list of the best cells of a large one."""
    from environments.text import format_value, plural
    from studies.symbols import format_params
    from tuning.cli.output import print_line, print_table

    spec = grid.spec
    title = (
        f"{grid.study}: regret ± standard error, T = {spec.horizon:,}, K = {spec.arms:,}, R = {spec.replications:,}, "
        f"ε = {format_value(spec.epsilon)}"
    )
    alphas, betas = [format_value(value) for value in spec.alpha0], [format_value(value) for value in spec.beta0]
    if len(betas) <= MAX_COLUMNS:
        columns = ["α₀ \\ β₀", *betas]
        rows = [[alpha, *(_format_cell(grid, (a, b)) for b in range(len(betas)))] for a, alpha in enumerate(alphas)]
    else:
        columns = ["α₀", "β₀", "regret"]
        ranked = [divmod(int(index), len(betas)) for index in grid.mean.argsort(axis=None)]
        rows = [[alphas[a], betas[b], _format_cell(grid, (a, b))] for a, b in ranked[:MAX_LISTED_CELLS]]
        title += f"; best {len(rows)} of {grid.mean.size:,} cells"
    print_table(title, columns, rows, numbers=columns)
    a, b = grid.best
    best = format_params({"alpha0": spec.alpha0[a], "beta0": spec.beta0[b]})
    others = int(grid.indistinguishable.sum()) - 1
    conclusion = "all other cells are significantly worse"
    if others:
        verb = "is" if others == 1 else "are"
        conclusion = (
            f"{plural(others, 'other cell')} {verb} statistically indistinguishable from it ({INDISTINGUISHABLE})"
        )
    tests = f"Paired tests in the same worlds, corrected for {grid.mean.size:,} cells, 95 %."
    print_line(f"{BEST} best: {best}; {conclusion}. {tests}")


def _format_cell(grid: Grid, cell: tuple[int, int]) -> str:
    """Format the regret of a cell down to the second digit of its standard error, and its mark."""
    from math import floor, log10

    mean, error = float(grid.mean[cell]), float(grid.stderr[cell])
    digits = min(6, max(0, 1 - floor(log10(error)))) if error > 0.0 else 2
    mark = BEST if cell == grid.best else INDISTINGUISHABLE if grid.indistinguishable[cell] else WORSE
    return f"{mean:,.{digits}f} ± {error:,.{digits}f} {mark}"
