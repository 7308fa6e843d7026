"""`ravenlab grid`: the regret of RAVEN-UCB over α₀ and β₀; rerun it to go on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from studies.registry import GridDefaults, shown
from tuning.commands import options
from tuning.commands.crews import hire
from tuning.commands.options import default
from tuning.crew import DEFAULT_BACKEND

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
            metavar="X,X…", help=f"Values of α₀. {default(shown(GridDefaults.alpha0))}", rich_help_panel=CELLS
        ),
    ] = None,
    beta0: Annotated[
        str | None,
        typer.Option(metavar="X,X…", help=f"Values of β₀. {default(shown(GridDefaults.beta0))}", rich_help_panel=CELLS),
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

    from environments.errors import InputError
    from environments.own_scenarios import bring_scenario
    from studies.grid import FINE_VALUES, Grid, GridSpec
    from studies.grid_csv import write
    from studies.reading import grid_spec_from
    from studies.urls import storage_url
    from tuning.commands.asking import horizons_of, numbers, settings_of
    from tuning.commands.attaching import attach_to
    from tuning.commands.grid_tables import print_grids
    from tuning.commands.keeping import saying_what_is_kept
    from tuning.commands.words import number
    from tuning.commands.words import numbers as several
    from tuning.files import check_place, replacing
    from tuning.grids import run_grid
    from tuning.progress import Reporter
    from tuning.side_by_side import side_by_side

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
        grid_spec_from({"scenario": one, "horizon": steps, **fields})
        for one in map(bring_scenario, scenarios)
        for steps in horizons_of(horizon)
    ]
    if name is not None and len(asked) > 1:
        raise InputError(f"--name fits one grid but {len(asked)} were asked for.")
    crews = hire(jobs, backend, cluster)
    if csv is not None:
        check_place(csv)
    specs = {spec.study_name(): spec for spec in asked}
    url = storage_url(storage)

    def one(spec: GridSpec) -> Grid:
        found = run_grid(spec, url, crew, reporter.grid_listener())
        attach_to(url, [found.study])
        return found

    with (
        crews as crew,
        Reporter(quiet, many=crew.side_by_side > 1) as reporter,
        saying_what_is_kept(reporter, url),
    ):
        grids = side_by_side(crew, [partial(one, spec) for spec in specs.values()])
    if csv is not None:
        with replacing(csv) as file:
            file.write(write(grids))
    print_grids(grids, as_json)
