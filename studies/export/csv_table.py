"""CSV: one row a recommendation (and scenario), flat columns; parameters that a policy does not have are empty."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence

from studies.recommendation import Recommendation
from studies.robust_recommendation import RobustRecommendation, table_rows

Cell = str | int | float

RIVALS = ("paper", "defaults")
RIVAL_FIELDS = ("regret", "difference", "low", "high")
TRACE_FIELDS = (
    *("file", "rows", "effective", "enough", "per_step", "digest", "missing"),
    *("regret_fixed.mean", "regret_fixed.low", "regret_fixed.high", "defaults_decidable"),
)
"""Of studies on a trace; not there where no row is of one."""


def write(found: Sequence[Recommendation | RobustRecommendation]) -> str:
    """A header, then the rows; fields with commas, quotes or line ends are quoted as RFC 4180 says."""
    recommendations = table_rows(found)
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
        row["trace.defaults_decidable"] = all(rival.told for rival in each.versus)
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
