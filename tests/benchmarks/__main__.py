"""python -m tests.benchmarks [--only WORD] [--rounds 5] [--json bench.json]"""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path

import numba
import numpy as np
from rich.console import Console
from rich.table import Table

from tests.benchmarks import policies, raven, scaling

GROUPS = {"raven": raven.races, "scaling": scaling.races, "policies": policies.races}


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
        ratio, floor = float(str(row["ratio"])), float(str(row["floor"]))
        table.add_row(
            str(row["race"]),
            str(row["claim"]),
            f"{ratio:.3g}" if ratio >= floor else f"[bold red]{ratio:.3g}[/bold red]",
            f"{row['lowest']:.3g} to {row['highest']:.3g}",
            f"{floor:g}" if floor else "–",
            f"{float(str(row['per_second'])) / 1e6:.3g}",
        )
    console.print(table)
    machine = {"python": platform.python_version(), "numpy": np.__version__, "numba": numba.__version__}
    temporary = asked.json.with_name(asked.json.name + ".part")
    temporary.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1, ensure_ascii=False) + "\n")
    temporary.replace(asked.json)


if __name__ == "__main__":
    main()
