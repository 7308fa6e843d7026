"""python -m tests.benchmarks [--only WORD] [--rounds 5] [--json bench.json]"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable, Sequence
from pathlib import Path

import numba
import numpy as np
from rich.console import Console
from rich.table import Table

from tests.benchmarks import compare, landing, policies, raven, report, scaling, studies
from tests.benchmarks.measure import Figure, Race

GROUPS: dict[str, Callable[[], Sequence[Race | Figure]]] = {
    "raven": raven.races,
    "studies": studies.races,
    "scaling": scaling.races,
    "landing": landing.races,
    "policies": policies.races,
    "report": report.races,
    "compare": compare.races,
}


def _cells(row: dict[str, object]) -> list[str]:
    """One line of the table; a figure that misses its mark is red."""
    ratio, floor, ceiling = (
        float(str(row.get(key, edge))) for key, edge in (("ratio", 0), ("floor", 0), ("ceiling", "inf"))
    )
    mark = f"at most {ceiling:g}" if "ceiling" in row else f"{floor:g}" if floor else "–"
    per_second = float(str(row.get("per_second", 0)))
    speed = f"{per_second / 1e6:.3g}" if per_second > 1e4 else "–"
    shown = f"{ratio:.3g}" if floor <= ratio <= ceiling else f"[bold red]{ratio:.3g}[/bold red]"
    return [str(row["race"]), str(row["claim"]), shown, f"{row['lowest']:.3g} to {row['highest']:.3g}", mark, speed]


def main() -> None:
    """Run the groups that were asked for, print a table and write a file."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--only", choices=sorted(GROUPS), action="append", help="run this group alone")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds, at least 5 for a figure to quote")
    parser.add_argument("--json", type=Path, default=Path("bench.json"), help="where to write the figures")
    asked = parser.parse_args()
    console = Console()
    rows: list[dict[str, object]] = []
    for group in asked.only or GROUPS:
        for race in GROUPS[group]():
            console.print(f"[dim]{race.name} …[/dim]")
            rows += race.run(asked.rounds)
    table = Table(title="Ratios, median of interleaved rounds (lowest to highest)")
    for column in ("race", "claim", "ratio", "range", "floor", "million steps/s"):
        table.add_column(column, justify="left" if column in ("race", "claim") else "right", overflow="fold")
    for row in rows:
        table.add_row(*_cells(row))
    console.print(table)
    machine = {"python": platform.python_version(), "numpy": np.__version__, "numba": numba.__version__}
    temporary = asked.json.with_name(asked.json.name + ".part")
    temporary.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1, ensure_ascii=False) + "\n")
    temporary.replace(asked.json)


if __name__ == "__main__":
    main()
