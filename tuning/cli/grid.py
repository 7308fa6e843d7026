"""Grids on a terminal: a table each, the best cell and those that can't be told from it marked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from studies.registry import GridDefaults, format_values
from tuning.cli import options
from tuning.cli.arguments import hire
from tuning.cli.options import default
from tuning.workers.local import DEFAULT_BACKEND

if TYPE_CHECKING:
    from studies.results.grid import Grid


WIDEST = 8
"""Values of β₀ that a terminal has room for; of a wider grid the best cells are listed instead."""

LISTED = 12

BEST, EQUAL, NEITHER = "★", "≈", " "


def print_grids(grids: Sequence[Grid], as_json: bool) -> None:
    """All grids as JSON, or a table each."""
    from tuning.cli.output import print_json

    if as_json:
        print_json({"grids": [grid.as_object() for grid in grids]})
        return
    for grid in grids:
        print_grid(grid)


def print_grid(grid: Grid) -> None:
    """One grid: α₀ down, β₀ across."""
    from studies.symbols import format_params
    from tuning.cli.output import print_table, say

    spec = grid.spec
    best = grid.best
    title = (
        f"{grid.study}: regret ± standard error, T = {spec.horizon:,}, K = {spec.arms}, R = {spec.replications:,}, "
        f"ε = {spec.epsilon:g}"
    )
    if len(spec.beta0) <= WIDEST:
        columns = ["α₀ \\ β₀", *(f"{beta:g}" for beta in spec.beta0)]
        rows = [
            [f"{alpha:g}", *(f"{_cell(grid, (a, b))} {_mark(grid, (a, b))}" for b in range(len(spec.beta0)))]
            for a, alpha in enumerate(spec.alpha0)
        ]
    else:
        columns = ["α₀", "β₀", "regret"]
        order = [(int(i) // len(spec.beta0), int(i) % len(spec.beta0)) for i in grid.mean.argsort(axis=None)]
        rows = [
            [f"{spec.alpha0[a]:g}", f"{spec.beta0[b]:g}", f"{_cell(grid, (a, b))} {_mark(grid, (a, b))}"]
            for a, b in order[:LISTED]
        ]
        title += f"; the best {len(rows)} of {grid.mean.size:,} cells"
    print_table(title, columns, rows, numbers=columns)
    others = int(grid.indistinguishable.sum()) - 1
    cell = format_params({"alpha0": spec.alpha0[best[0]], "beta0": spec.beta0[best[1]]})
    text = f"{others} more can't be told from it ({EQUAL})" if others else "all others are worse"
    say(f"{BEST} best: {cell}; {text} (paired over the same worlds, corrected for {grid.mean.size:,} cells, 95 %).")


def _cell(grid: Grid, place: tuple[int, int]) -> str:
    """Digits down to the second of the standard error."""
    from math import floor, log10

    mean, error = float(grid.mean[place]), float(grid.stderr[place])
    digits = min(6, max(0, 1 - floor(log10(error)))) if error > 0.0 else 2
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def _mark(grid: Grid, place: tuple[int, int]) -> str:
    if place == grid.best:
        return BEST
    return EQUAL if grid.indistinguishable[place] else NEITHER


CELLS = "The cells"


def grid(
    scenarios: options.ScenariosArgument = None,
    horizon: options.HorizonsOption = None,
    arms: options.ArmsOption = None,
    noise: options.NoiseOption = None,
    setting: options.SettingOption = None,
    seed: options.SeedOption = None,
    alpha0: Annotated[
        str | None,
        typer.Option(
            metavar="X,X…", help=f"Values of α₀. {default(format_values(GridDefaults.alpha0))}", rich_help_panel=CELLS
        ),
    ] = None,
    beta0: Annotated[
        str | None,
        typer.Option(
            metavar="X,X…", help=f"Values of β₀. {default(format_values(GridDefaults.beta0))}", rich_help_panel=CELLS
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(metavar="X", help=f"ε of every cell. {default(GridDefaults.epsilon)}", rich_help_panel=CELLS),
    ] = None,
    fine: Annotated[
        bool, typer.Option("--fine", help="25 × 25 cells over the paper's box, 0.01 to 10.", rich_help_panel=CELLS)
    ] = False,
    replications: Annotated[
        str | None,
        typer.Option(
            metavar="R",
            help=f"Worlds, the same for all cells. {default(GridDefaults.replications)}",
            rich_help_panel=CELLS,
        ),
    ] = None,
    jobs: options.JobsOption = None,
    backend: options.BackendOption = DEFAULT_BACKEND,
    cluster: options.ClusterOption = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all cells to a file.", rich_help_panel=options.OUTPUT)
    ] = None,
    name: options.NameOption = None,
    storage: options.StorageOption = None,
    quiet: options.QuietOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Map regret over α₀ and β₀, every cell in the same worlds.

    Each cell is held against the best. A rerun of the same command goes on where it stopped.

    Examples:
        # the paper's sixteen cells
        ravenlab grid blips
        # two horizons, and all cells in a file
        ravenlab grid published-variance-drift --horizon 1000,10000 --csv grid.csv
        # 625 cells
        ravenlab grid blips --fine --replications 200
    """
    from functools import partial

    from environments.catalog import load_scenario_plugin
    from environments.errors import InputError
    from studies.export.csv_table import write_grids
    from studies.spec.grid import FINE_VALUES, GridSpec
    from studies.spec.parse import parse_grid_spec
    from studies.storage.urls import storage_url
    from tuning.cli.arguments import horizons_of, numbers, settings_of
    from tuning.cli.dashboard import attach_to
    from tuning.cli.options import number
    from tuning.cli.options import numbers as several
    from tuning.cli.output import saying_what_is_kept
    from tuning.files import atomic_write, check_file_writable
    from tuning.grid_run import run_grid
    from tuning.progress import Reporter
    from tuning.workers.local import run_concurrently

    if not scenarios:
        raise InputError("SCENARIO is missing: name one or more, such as blips (ravenlab list scenarios shows all).")
    fields: dict[str, Any] = numbers({"replications": replications, "arms": arms, "seed": seed})
    axes = {"alpha0": alpha0, "beta0": beta0}
    fields |= {key: several(f"--{key}", text) for key, text in axes.items() if text is not None}
    if fine:
        for key in axes:
            if key in fields:
                raise InputError(f"--fine says the values of α₀ and β₀, so --{key} can't be given beside it.")
        fields |= {"alpha0": FINE_VALUES, "beta0": FINE_VALUES}
    if epsilon is not None:
        fields["epsilon"] = number("--epsilon", epsilon)
    if name is not None:
        fields["name"] = name
    fields["settings"] = settings_of(setting, noise)
    asked = [
        parse_grid_spec({"scenario": one, "horizon": steps, **fields})
        for one in map(load_scenario_plugin, scenarios)
        for steps in horizons_of(horizon)
    ]
    if name is not None and len(asked) > 1:
        raise InputError(f"--name fits one grid but {len(asked)} were asked for.")
    crews = hire(jobs, backend, cluster)
    if csv is not None:
        check_file_writable(csv)
    specs = {spec.study_name(): spec for spec in asked}
    url = storage_url(storage)

    def one(spec: GridSpec) -> Grid:
        found = run_grid(spec, url, crew, reporter.grid_listener())
        attach_to(url, [found.study])
        return found

    with (
        crews as crew,
        Reporter(quiet, many=crew.concurrent_studies > 1) as reporter,
        saying_what_is_kept(reporter, url),
    ):
        grids = run_concurrently(crew, [partial(one, spec) for spec in specs.values()])
    if csv is not None:
        with atomic_write(csv) as file:
            file.write(write_grids(grids))
    print_grids(grids, as_json)
