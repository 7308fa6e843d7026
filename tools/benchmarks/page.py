"""Tables of docs/evidence/performance.md."""

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.docs.marks import filled, table

COLUMNS = ("setting", "measured", "unit or baseline", "range", "target", "million steps/s")


def this_machine() -> dict[str, str]:
    """Return versions and processor of this machine."""
    import numba
    import numpy as np

    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "processor": _processor(),
        "cores": str(os.cpu_count()),
    }


def with_table(page: str, group: str, rows: Sequence[Mapping[str, object]], machine: Mapping[str, str]) -> str:
    """Return the page with a new table of a group, without the targets.

    >>> row = {"race": "raven", "claim": "× a plain loop", "ratio": 12.34, "lowest": 12.0, "highest": 13.0, "rounds": 5}
    >>> print(with_table("<!-- raven --><!-- end of raven -->", "raven", [row], {"numba": "0.68"}))
    <!-- raven -->
    | setting | measured | unit or baseline | range | million steps/s |
    | --- | --- | --- | --- | --- |
    | raven | 12.3 | × a plain loop | 12 to 13 | – |
    <BLANKLINE>
    Medians of 5 rounds; numba 0.68.
    <!-- end of raven -->
    """
    rounds = sorted({int(str(row["rounds"])) for row in rows})
    counts = " or ".join(str(count) for count in rounds)
    environment = ", ".join(f"{key} {value}" for key, value in machine.items())
    footnote = f"Medians of {counts} {'round' if rounds == [1] else 'rounds'}; {environment}."
    return filled(page, group, [*_table(rows), "", footnote])


def _table(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Return a table without targets; many settings with the same few baselines have one column per baseline.

    >>> rows = [{"race": name, "claim": "× a loop", "ratio": 2.0, "lowest": 1.0, "highest": 3.0} for name in "abc"]
    >>> print(*_table(rows), sep="\\n")
    | setting | × a loop | million steps/s |
    | --- | --- | --- |
    | a | 2 (1 to 3) | – |
    | b | 2 (1 to 3) | – |
    | c | 2 (1 to 3) | – |
    """
    claims = list(dict.fromkeys(str(row["claim"]) for row in rows))
    settings = list(dict.fromkeys(str(row["race"]) for row in rows))
    if len(rows) < 3 * len(claims):
        shown = [place for place, column in enumerate(COLUMNS) if column != "target"]
        return table([COLUMNS[place] for place in shown], [[cells(row)[place] for place in shown] for row in rows])
    measured: dict[tuple[str, str], str] = {}
    speeds: dict[str, str] = {}
    for row in rows:
        setting, ratio, claim, spread, _, speeds[setting] = cells(row)
        measured[setting, claim] = f"{ratio} ({spread})"
    lines = [
        [setting, *(measured.get((setting, claim), "–") for claim in claims), speeds[setting]] for setting in settings
    ]
    return table([COLUMNS[0], *claims, COLUMNS[-1]], lines)


def cells(row: Mapping[str, object]) -> list[str]:
    """Return the cells of a row."""
    floor = float(str(row.get("floor", 0)))
    ceiling = row.get("ceiling")
    target = f"at most {ceiling:g}" if isinstance(ceiling, float) else f"at least {floor:g}" if floor else "–"
    speed = float(str(row.get("per_second", 0)))
    return [
        str(row["race"]),
        short(row["ratio"]),
        str(row["claim"]),
        f"{short(row['lowest'])} to {short(row['highest'])}",
        target,
        f"{speed / 1e6:.3g}" if speed > 1e4 else "–",
    ]


def short(value: object) -> str:
    """Format with three significant digits, without exponent.

    >>> short(5234.0), short(0.01234)
    ('5230', '0.0123')
    """
    number = float(f"{float(str(value)):.3g}")
    return f"{number:.0f}" if number >= 100 else f"{number:g}"


def _processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
