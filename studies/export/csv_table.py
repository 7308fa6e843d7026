"""CSV: one row a recommendation (and scenario), flat columns; parameters that a policy does not have are empty."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence

from studies.results.grid import Grid
from studies.results.recommendation import Recommendation
from studies.results.robust import Front, FrontMember, RobustRecommendation, flatten_recommendations
from studies.tables import Cell as tables_Cell
from studies.tables import make_table, to_csv

Cell = str | int | float

RIVALS = ("paper", "defaults")
RIVAL_FIELDS = ("regret", "difference", "low", "high")
TRACE_FIELDS = (
    *("file", "rows", "effective", "enough", "per_step", "digest", "missing"),
    *("regret_fixed.mean", "regret_fixed.low", "regret_fixed.high", "defaults_decidable"),
)
"""Of studies on a trace; not there where no row is of one."""


LOG_FIELDS = (
    *("file", "events", "matched", "effective", "enough", "propensities", "clipped", "digest"),
    *(f"{name}.{end}" for name in ("score", "logged") for end in ("mean", "low", "high")),
    *(f"versus_{name}.{what}" for name in ("logged", "defaults") for what in ("matched", "events")),
)
"""Of studies on a log."""


def write(found: Sequence[Recommendation | RobustRecommendation]) -> str:
    """A header, then the rows; fields with commas, quotes or line ends are quoted as RFC 4180 says."""
    recommendations = flatten_recommendations(found)
    rows = [_row(each) for each in recommendations]
    columns = _columns(recommendations)
    lines = [_line(columns), *(_line([row.get(column, "") for column in columns]) for row in rows)]
    return "".join(lines)


def _columns(recommendations: Sequence[Recommendation]) -> list[str]:
    """The same for the same recommendations; columns of parameters in the order they are met."""
    params = _union(each.params for each in recommendations)
    boxes = _union(each.box for each in recommendations)
    importances = _union(each.importance or {} for each in recommendations)
    return [
        *("study", "policy", "scenario", "settings", "horizon", "arms", "objective"),
        *(f"params.{name}" for name in params),
        *(f"regret.{name}" for name in ("mean", "low", "high", "replications")),
        *("search_estimate", "indistinguishable"),
        *(f"box.{name}.{end}" for name in boxes for end in ("low", "high")),
        *(f"{rival}.{field}" for rival in RIVALS for field in RIVAL_FIELDS),
        *(f"importance.{name}" for name in importances),
        *("edge", "scale.mean", "scale.spread", "trials", "seed", "version"),
        *(f"trace.{name}" for name in TRACE_FIELDS if any(each.trace is not None for each in recommendations)),
        *(f"log.{name}" for name in LOG_FIELDS if any(each.log is not None for each in recommendations)),
    ]


def _row(each: Recommendation) -> dict[str, Cell]:
    row: dict[str, Cell] = {
        "study": each.study,
        "policy": each.policy,
        "scenario": each.scenario,
        "settings": json.dumps(each.settings, ensure_ascii=False) if each.settings else "",
        "horizon": each.horizon,
        "arms": each.arms,
        "objective": each.objective,
        "search_estimate": each.search_estimate,
        "indistinguishable": len(each.indistinguishable),
        "edge": " ".join(edge.param for edge in each.edge),
        "trials": each.trials,
        "seed": each.seed,
        "version": each.version,
    }
    row |= {f"params.{name}": value for name, value in each.params.items()}
    row |= {f"regret.{name}": value for name, value in each.regret.model_dump().items()}
    row |= {f"scale.{name}": value for name, value in each.scale.model_dump().items()}
    row |= {f"importance.{name}": value for name, value in (each.importance or {}).items()}
    if each.trace is not None:
        facts = each.trace
        row |= {f"trace.{name}": getattr(facts, name) for name in TRACE_FIELDS[:6]}
        row |= {f"trace.regret_fixed.{name}": value for name, value in facts.regret_fixed.model_dump().items()}
        row["trace.missing"] = sum(facts.arms.values())
        row["trace.defaults_decidable"] = all(rival.significant for rival in each.versus)
    if each.log is not None:
        for name in LOG_FIELDS:
            value: object = each.log
            for part in name.split("."):
                value = getattr(value, part, None)
            row[f"log.{name}"] = value if isinstance(value, str | int | float) else ""
    for name, (low, high) in each.box.items():
        row |= {f"box.{name}.low": low, f"box.{name}.high": high}
    for rival in each.versus:
        row |= {f"{rival.name}.{field}": getattr(rival, field) for field in RIVAL_FIELDS}
    return row


def _union(names: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(name for some in names for name in some))


def _line(cells: Sequence[Cell]) -> str:
    """One line. Written with \\r\\n and cut, for then every Python quotes both signs within a field."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow(cells)
    return buffer.getvalue().removesuffix("\r\n") + "\n"


COLUMNS = (
    "scenario",
    "horizon",
    "alpha0",
    "beta0",
    "epsilon",
    "regret",
    "stderr",
    "replications",
    "indistinguishable",
)


def write_grids(grids: Iterable[Grid]) -> str:
    """A header, then the cells, α₀ outer and β₀ inner; numbers with every digit, so the same grid gives the same bytes.

    >>> write([]).strip()
    'scenario,horizon,alpha0,beta0,epsilon,regret,stderr,replications,indistinguishable'
    """
    rows: list[dict[str, tables_Cell]] = []
    for grid in grids:
        spec = grid.spec
        flat = zip(grid.mean.flat, grid.stderr.flat, grid.indistinguishable.flat, strict=True)
        for cell, (mean, stderr, equal) in zip(spec.cells(), flat, strict=True):
            place = [f"{cell[name]:.15g}" for name in ("alpha0", "beta0", "epsilon")]
            found = [float(mean), float(stderr), spec.replications, "true" if equal else "false"]
            cells = [spec.scenario, spec.horizon, *place, *found]
            rows.append(dict(zip(COLUMNS, cells, strict=True)))
    return to_csv(make_table(rows, COLUMNS))


BEFORE = ("study", "policy", "horizon", "arms", "setting", "tuned_for", "front")
AFTER = ("scenario", "regret", "low", "high", "price", "price_low", "price_high", "replications")


def write_robust(found: Iterable[RobustRecommendation | Front]) -> str:
    """A header, then the rows; numbers with every digit, so the same result gives the same bytes.

    `front` says whether nothing beats the setting on fresh worlds; it is empty where no front was asked for.

    >>> write([]).startswith("study,policy,horizon,arms,setting,tuned_for,front,scenario")
    True
    """
    found = list(found)
    settings = [(one, each) for one in found for each in (one.members if isinstance(one, Front) else one.contenders)]
    params = list(dict.fromkeys(name for _, each in settings for name in each.params))
    columns = (*BEFORE, *params, *AFTER)
    rows: list[dict[str, tables_Cell]] = []
    for one, each in settings:
        front = str(each.kept).lower() if isinstance(each, FrontMember) else ""
        place: list[tables_Cell] = [
            one.study,
            one.policy,
            one.horizon,
            one.arms,
            each.name,
            each.tuned_for or "",
            front,
        ]
        values = [each.params.get(name, "") for name in params]
        for world in each.worlds:
            regret, price = world.regret, world.price
            numbers = [regret.mean, regret.low, regret.high, price.mean, price.low, price.high]
            cells = [*place, *values, world.scenario, *numbers, regret.replications]
            rows.append(dict(zip(columns, cells, strict=True)))
    return to_csv(make_table(rows, columns))
