"""`ravenlab grid`: the regret of RAVEN-UCB over α₀ and β₀; rerun it to go on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tuning.commands.crews import BackendOption, ClusterOption, JobsOption, hire

NAMES = {
    **{field: f"--{field}" for field in ("horizon", "arms", "alpha0", "beta0", "epsilon", "replications", "seed")},
    "settings": "--set",
    "name": "--name",
}
"""How fields of a grid are called on the command line."""


def grid(
    scenarios: Annotated[
        list[str], typer.Argument(metavar="SCENARIO…", help="Names, or effects joined by '+'.", show_default=False)
    ],
    horizon: Annotated[str | None, typer.Option(metavar="T[,T…]", help="Steps; several make several grids.")] = None,
    alpha0: Annotated[str | None, typer.Option(metavar="X,X…", help="Values of α₀. [default: 0.5,1,5,10]")] = None,
    beta0: Annotated[str | None, typer.Option(metavar="X,X…", help="Values of β₀. [default: 0.5,1,5,10]")] = None,
    epsilon: Annotated[str | None, typer.Option(metavar="X", help="ε of every cell. [default: 0.1]")] = None,
    replications: Annotated[
        str | None, typer.Option(metavar="R", help="Worlds, the same for all cells. [default: 1000]")
    ] = None,
    fine: Annotated[bool, typer.Option("--fine", help="25 × 25 cells over the paper's box, 0.01 to 10.")] = False,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all cells to a file.")] = None,
    arms: Annotated[str | None, typer.Option(metavar="K", help="Arms. [default: the scenario's]")] = None,
    noise: Annotated[str | None, typer.Option(help="normal, laplace, logistic, uniform, student-t, bernoulli.")] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of the scenario, name=value; may be given again.")
    ] = None,
    seed: Annotated[str | None, typer.Option(metavar="S", help="Names the worlds. [default: 0]")] = None,
    name: Annotated[str | None, typer.Option(help="The study's name; made from its fields if not given.")] = None,
    storage: Annotated[
        str | None, typer.Option(metavar="URL", help="Where studies are kept. [default: sqlite:///studies.sqlite3]")
    ] = None,
    jobs: JobsOption = None,
    backend: BackendOption = "threads",
    cluster: ClusterOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the grids as JSON.")] = False,
) -> None:
    """Measure how regret depends on α₀ and β₀: every cell plays the same worlds, and is held against the best.

    A rerun of the same command goes on where it stopped.

    Example: `ravenlab grid published-variance-drift --horizon 1000,10000 --csv grid.csv`
    """
    from functools import partial

    from environments.errors import InputError
    from environments.own_scenarios import bring_scenario
    from studies.grid import FINE_VALUES, Grid, GridSpec
    from studies.grid_csv import write
    from studies.reading import grid_spec_from
    from studies.urls import storage_url
    from tuning.commands.attaching import attach_to
    from tuning.commands.grid_tables import print_grids
    from tuning.commands.words import number, numbers, parse_assignments, whole_number, whole_numbers
    from tuning.files import check_place, replacing
    from tuning.grids import run_grid
    from tuning.progress import Reporter
    from tuning.side_by_side import side_by_side

    whole = {"replications": replications, "arms": arms, "seed": seed}
    fields: dict[str, Any] = {key: whole_number(f"--{key}", text) for key, text in whole.items() if text is not None}
    axes = {"alpha0": alpha0, "beta0": beta0}
    fields |= {key: numbers(f"--{key}", text) for key, text in axes.items() if text is not None}
    if fine:
        for key in axes:
            if key in fields:
                raise InputError(f"--fine says the values of α₀ and β₀, so --{key} can't be given beside it.")
        fields |= {"alpha0": FINE_VALUES, "beta0": FINE_VALUES}
    if epsilon is not None:
        fields["epsilon"] = number("--epsilon", epsilon)
    if name is not None:
        fields["name"] = name
    settings = parse_assignments("--set", setting or [])
    if noise is not None:
        settings["noise"] = noise
    fields["settings"] = settings
    horizons: list[int | None] = [*whole_numbers("--horizon", horizon)] if horizon is not None else [None]
    asked = [
        grid_spec_from({"scenario": one, "horizon": steps, **fields}, NAMES)
        for one in map(bring_scenario, scenarios)
        for steps in horizons
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

    with crews as crew, Reporter(quiet, many=crew.side_by_side > 1) as reporter:
        grids = side_by_side(crew, [partial(one, spec) for spec in specs.values()])
    if csv is not None:
        with replacing(csv) as file:
            file.write(write(grids))
    print_grids(grids, as_json)
