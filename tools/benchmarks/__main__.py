"""python -m tools.benchmarks [--only WORD] [--rounds 5] [--json bench.json] [--markdown docs/evidence/performance.md]

The groups "report" and "storing" need the extra "test"; `make bench` installs it.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tools.benchmarks.measure import Figure, Race
from tools.benchmarks.page import COLUMNS, cells, this_machine, with_table
from tools.docs.marks import filled

# Modules of this package. They are imported when they are measured, because two of them need packages for tests.
GROUPS = ("raven", "studies", "scaling", "storing", "policies", "report", "compare", "recorded")


def find_group(group: str) -> Callable[[], Sequence[Race | Figure]]:
    """Return the function that prepares the benchmarks of a group. Exits with a message if a package is missing."""
    try:
        races: Callable[[], Sequence[Race | Figure]] = import_module(f"tools.benchmarks.{group}").races
    except ModuleNotFoundError as error:
        raise SystemExit(
            f"--only {group} needs {error.name}; run: pip install -c constraints.txt -e '.[test]'"
        ) from None
    return races


def _cells(row: Mapping[str, object]) -> list[str]:
    """Return the cells of a row; a value that misses its target is red."""
    ratio, floor, ceiling = (
        float(str(row.get(key, default))) for key, default in (("ratio", 0), ("floor", 0), ("ceiling", "inf"))
    )
    setting, measured, *rest = cells(row)
    return [setting, measured if floor <= ratio <= ceiling else f"[bold red]{measured}[/bold red]", *rest]


def main() -> None:
    """Run the selected groups, print a table and write a file."""
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks", description=__doc__)
    parser.add_argument("--only", choices=sorted(GROUPS), action="append", help="run only this group (repeatable)")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds; use at least 5 for publication")
    parser.add_argument("--json", type=Path, default=Path("bench.json"), help="output file")
    parser.add_argument("--markdown", type=Path, help="page whose tables of these groups are replaced")
    options = parser.parse_args()
    console = Console()
    machine = this_machine()
    if options.markdown is not None:
        for group in options.only or GROUPS:
            # Fail before measuring if the page lacks the marks of a group.
            filled(options.markdown.read_text(encoding="utf-8"), group, [])
    groups = {group: find_group(group) for group in options.only or GROUPS}
    rows: list[dict[str, object]] = []
    for group, races in groups.items():
        group_rows = []
        for race in races():
            console.print(f"[dim]{race.name} …[/dim]")
            group_rows += race.run(options.rounds)
        rows += group_rows
        if options.markdown is not None:
            text = options.markdown.read_text(encoding="utf-8")
            options.markdown.write_text(with_table(text, group, group_rows, machine), encoding="utf-8")
    table = Table(title="Ratios, median of interleaved rounds (range: lowest to highest)")
    for column in COLUMNS:
        is_text = column in ("setting", "unit or baseline")
        table.add_column(column, justify="left" if is_text else "right", overflow="fold")
    for row in rows:
        table.add_row(*_cells(row))
    console.print(table)
    temporary = options.json.with_name(options.json.name + ".part")
    temporary.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1, ensure_ascii=False) + "\n")
    temporary.replace(options.json)


if __name__ == "__main__":
    main()
