"""`ravenlab grid`: evaluate RAVEN-UCB on a grid of α₀ and β₀."""

from __future__ import annotations

from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ravenlab.common.errors import InputError
from ravenlab.common.text import format_value, plural
from ravenlab.studies.registry import PAPER_VALUES, GridDefaults, StudyDefaults, format_values
from ravenlab.studies.spec.descriptions import GRID
from ravenlab.studies.symbols import format_params
from ravenlab.tuning.cli import arguments, options
from ravenlab.tuning.cli.options import default, option, parse_number, parse_numbers
from ravenlab.tuning.cli.output import console, print_json, print_line, print_table
from ravenlab.tuning.workers.local import DEFAULT_BACKEND

if TYPE_CHECKING:
    from ravenlab.studies.results.grid import Grid

CELLS = "Cells"

MAP_WIDTH = 80  # columns of a map, also where the output is not a terminal
MAX_CELL_WIDTH, MIN_NUMBER_WIDTH = 8, 6  # narrower cells do not contain the percentage
MAX_LISTED_CELLS = 12  # of a grid that is too wide for a map
SHADES, LIMITS = " ░▒▓█", (2.0, 10.0, 30.0, 100.0)  # shades, and the largest percentage above the best of each

BEST = "★"
INDISTINGUISHABLE = "≈"
WORSE = " "


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
            f"{GRID['alpha0']} {default(format_values(GridDefaults.alpha0))}",
            CELLS,
            metavar="X,X…",
            parser=parse_numbers,
        ),
    ] = None,
    beta0: Annotated[
        options.NumberList | None,
        option(
            "--beta0",
            f"{GRID['beta0']} {default(format_values(GridDefaults.beta0))}",
            CELLS,
            metavar="X,X…",
            parser=parse_numbers,
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        option(
            "--epsilon",
            f"{GRID['epsilon']} {default(GridDefaults.epsilon)}",
            CELLS,
            metavar="X",
            parser=parse_number,
        ),
    ] = None,
    paper: Annotated[bool, option("--paper", "Use the paper's 4 × 4 cells, 0.5 to 10.", CELLS)] = False,
    fine: Annotated[
        bool, option("--fine", "Use 25 × 25 cells over the default search range, 0.01 to 10.", CELLS)
    ] = False,
    replications: Annotated[int | None, options.count_option("replications", "R", CELLS, GRID, GridDefaults)] = None,
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
    from ravenlab.policies.engine.ahead import compile_ahead

    if scenarios and cluster is None:
        compile_ahead([StudyDefaults.policy])  # before numba is imported: compilation takes longest
    from ravenlab.studies.export.csv_table import write_grids
    from ravenlab.studies.spec.grid import FINE_VALUES
    from ravenlab.studies.spec.parse import parse_grid_spec
    from ravenlab.tuning.files import atomic_write, check_file_writable
    from ravenlab.tuning.plan import combine

    if not scenarios:
        raise arguments.missing_scenario()
    axes = arguments.drop_unset({"alpha0": alpha0, "beta0": beta0})
    chosen = arguments.drop_unset({"--paper": paper and PAPER_VALUES, "--fine": fine and FINE_VALUES})
    for word, values in chosen.items():
        for other in [*(f"--{axis}" for axis in axes), *(other for other in chosen if other != word)]:
            raise InputError(f"{word} sets the values of α₀ and β₀, so {other} can't be combined with it.")
        axes = {"alpha0": values, "beta0": values}
    numbers = {"replications": replications, "arms": arms, "seed": seed, "epsilon": epsilon}
    settings = arguments.scenario_settings(setting, noise)
    fields = arguments.drop_unset({**axes, **numbers, "name": name, "settings": settings})
    plan = combine(parse_grid_spec, scenarios, horizon or [None], fields)
    arguments.print_warnings(plan)
    pool = arguments.choose_workers(jobs, backend, cluster)
    if csv is not None:
        check_file_writable(csv)
    grids = [run.result for run in arguments.run(plan, pool, storage, quiet)]
    if csv is not None:
        with atomic_write(csv) as file:
            file.write(write_grids(grids))
    if as_json:
        print_json({"grids": [grid.as_object() for grid in grids]})
    else:
        for result in grids:
            print_grid(result)


def print_grid(grid: Grid) -> None:
    """Print the best cell, and a map of the cells: α₀ in columns, β₀ in rows, shaded by the regret above the best."""
    from ravenlab.studies.results.recorded import describe_unit

    spec = grid.spec
    a, b = grid.best
    best = format_params({"alpha0": spec.alpha0[a], "beta0": spec.beta0[b]})
    others = int(grid.indistinguishable.sum()) - 1
    conclusion = "all other cells are significantly worse"
    if others:
        verb = "is" if others == 1 else "are"
        conclusion = (
            f"{plural(others, 'other cell')} ({INDISTINGUISHABLE}) {verb} statistically indistinguishable from it"
        )
    print_line(f"{BEST} best: {best}, regret {_format_regret(grid, grid.best)} (standard error); {conclusion}.")
    print_line(
        f"{grid.study}: T = {spec.horizon:,}, K = {spec.arms:,}, R = {spec.replications:,}, "
        f"ε = {format_value(spec.epsilon)}"
    )
    for line in describe_unit(grid):
        print_line(line)
    width = min(console().width, MAP_WIDTH)
    lines = draw_map(grid, width)
    if lines is not None:
        for line in lines:
            print_line(line)
        steps = [f"{SHADES[0]!r} up to {LIMITS[0]:g} %"]
        steps += [f"{shade} to {limit:g} %" for shade, limit in zip(SHADES[1:], LIMITS[1:], strict=False)]
        print_line(f"Regret above the best: {', '.join(steps)}, {SHADES[-1]} more.")
    else:
        ranked = [divmod(int(index), len(spec.beta0)) for index in grid.mean.argsort(axis=None)[:MAX_LISTED_CELLS]]
        rows = [
            [
                format_value(spec.alpha0[i]),
                format_value(spec.beta0[j]),
                f"{_format_regret(grid, (i, j))} {_mark(grid, (i, j))}",
            ]
            for i, j in ranked
        ]
        columns = ["α₀", "β₀", "regret"]
        print_table(f"Best {len(rows)} of {grid.mean.size:,} cells", columns, rows, numbers=columns)
    print_line(f"Paired tests in the same worlds, corrected for {grid.mean.size:,} cells, 95 %.")


def draw_map(grid: Grid, width: int) -> list[str] | None:
    """Draw a grid with block characters; None if it has more columns than the width.

    Wide cells contain the percentage above the best. Marks replace a part of the shade.
    """
    spec = grid.spec
    labels = [f"{value:.3g}" for value in spec.beta0]
    left = max(3, *map(len, labels)) + 1
    cell_width = min(MAX_CELL_WIDTH, (width - left) // len(spec.alpha0))
    if cell_width < 1:
        return None
    lines = []
    for j in reversed(range(len(spec.beta0))):
        cells = "".join(_draw_cell(grid, (i, j), cell_width) for i in range(len(spec.alpha0)))
        lines.append(f"{labels[j]:>{left - 1}} {cells}".rstrip())
    axis = f"{'α₀':>{left - 1}} "
    end = 0
    for i, value in enumerate(spec.alpha0):
        label = f"{value:.3g}"
        place = left + i * cell_width + (max(0, cell_width - 1 - len(label)) // 2 if cell_width > 3 else 0)
        if place > end and place + len(label) <= max(width, place + cell_width):
            axis = axis.ljust(place) + label
            end = len(axis)
    return [f"{'β₀':>{left - 1}}", *lines, axis]


def _draw_cell(grid: Grid, cell: tuple[int, int], width: int) -> str:
    """Draw a cell: its shade, the percentage above the best if there is room, and its mark."""
    excess = float(grid.percent_above_best()[cell])
    shade = SHADES[sum(excess > limit for limit in LIMITS)]
    mark = _mark(grid, cell)
    if width < 3:
        text = shade * width
        return text if mark == WORSE else f"{text[:-1]}{mark}"
    if width < MIN_NUMBER_WIDTH:
        return f"{shade * (width - 2)}{shade if mark == WORSE else mark} "
    number = (
        "" if cell == grid.best else ">999" if excess > 999 else f"{excess:.0f}%" if excess >= 9.5 else f"{excess:.1f}%"
    )
    fill = width - 1 - len(number) - 1
    return f"{shade * fill}{mark if mark != WORSE else shade}{number} "


def _mark(grid: Grid, cell: tuple[int, int]) -> str:
    return BEST if cell == grid.best else INDISTINGUISHABLE if grid.indistinguishable[cell] else WORSE


def _format_regret(grid: Grid, cell: tuple[int, int]) -> str:
    """Format the regret of a cell down to the second digit of its standard error."""
    mean = float(grid.mean[cell])
    error = float(grid.stderr[cell])
    digits = min(6, max(0, 1 - floor(log10(error)))) if error > 0.0 else 2
    return f"{mean:,.{digits}f} ± {error:,.{digits}f}"
