"""CSV: recommendations with one row per recommendation and scenario, grids with one row per cell, robust results.

Numbers have full precision, so that the same results give the same bytes. Cells that do not apply are empty.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ravenlab.studies.results.baselines import TITLES
from ravenlab.studies.results.expected import Advice, count_extra_arms, describe_deployment
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.results.recommendation import Estimate, LogFacts, TraceFacts
from ravenlab.studies.results.robust import RobustRecommendation
from ravenlab.studies.tables import Cell, make_table, to_csv, to_csv_cell

FAILURE_FIELDS = ("rate", "count", "highest_rate", "unseen", "reliable")
TRACE_COLUMNS = (
    *("file", "rows", "effective", "enough", "per_step", "digest"),
    *("missing", "regret_fixed.mean", "regret_fixed.low", "regret_fixed.high", "defaults_decidable"),
)
LOG_COLUMNS = (
    *("file", "events", "matched", "effective", "enough", "inconclusive", "estimator", "digest"),
    *(f"{name}.{end}" for name in ("score", "logged") for end in ("mean", "low", "high")),
    *(f"versus_{name}.{field}" for name in ("logged", "defaults") for field in ("effective", "events")),
)
NESTED = ("settings", "box", "versus", "alternatives", "indistinguishable", "edge")  # fields with columns of their own


def write(results: Sequence[Advice]) -> str:
    """Write one row per result and scenario with a header; cells are quoted according to RFC 4180."""
    columns = _list_columns(results)
    rows = [row for result in results for row in _make_rows(result)]
    lines: list[Sequence[Cell]] = [columns, *([row.get(name, "") for name in columns] for row in rows)]
    return "".join(map(_write_line, lines))


def _list_columns(recommendations: Sequence[Advice]) -> list[str]:
    """List the columns; those of parameters in order of first appearance, those of recorded data only if needed."""
    params = _union(recommendation.params for recommendation in recommendations)
    boxes = _union(recommendation.box for recommendation in recommendations)
    importances = _union(recommendation.importance or {} for recommendation in recommendations)
    recorded = [recommendation.recorded for recommendation in recommendations]
    return [
        *("study", "policy", "scenario", "settings", "horizon", "arms", "feedback", "names", "extra_arms", "objective"),
        "assumptions",
        *(f"params.{name}" for name in params),
        *(f"regret.{name}" for name in ("mean", "low", "high", "replications")),
        *("search_estimate", "indistinguishable"),
        *(f"box.{name}.{end}" for name in boxes for end in ("low", "high")),
        *(f"{name}.{field}" for name in TITLES for field in ("regret", "difference", "low", "high")),
        *(f"importance.{name}" for name in importances),
        *("edge", "unit", "scale.mean", "scale.spread", "trials", "seed", "version"),
        *(f"failures.{name}" for name in FAILURE_FIELDS if None in recorded),
        *(f"{name}.failure_rate" for name in TITLES if None in recorded),
        *(f"trace.{name}" for name in TRACE_COLUMNS if any(isinstance(facts, TraceFacts) for facts in recorded)),
        *(f"log.{name}" for name in LOG_COLUMNS if any(isinstance(facts, LogFacts) for facts in recorded)),
    ]


def _make_rows(result: Advice) -> Iterator[dict[str, Cell]]:
    """Make one row per scenario from the fields of a result."""
    fields = result.as_object()
    deployment = describe_deployment(result)
    row: dict[str, Any] = dict(_flatten({key: value for key, value in fields.items() if key not in NESTED}))
    row["settings"] = json.dumps(result.settings, ensure_ascii=False) if result.settings else ""
    row["feedback"] = deployment.feedback
    row["names"] = "" if deployment.names is None else json.dumps(deployment.names, ensure_ascii=False)
    row["assumptions"] = " ".join(deployment.assumptions)
    row["indistinguishable"] = len(fields.get("indistinguishable", []))
    if isinstance(result, RobustRecommendation):
        row["objective"] = result.objective
    row["edge"] = " ".join(edge.param for edge in result.edge)
    for name, (low, high) in result.box.items():
        row |= {f"box.{name}.low": low, f"box.{name}.high": high}
    for baseline in fields.get("versus", []):
        row |= {f"{baseline['name']}.{field}": value for field, value in baseline.items()}
    if isinstance(result.recorded, TraceFacts):
        defaults = [baseline for baseline in fields["versus"] if baseline["name"] == "defaults"]
        row["trace.missing"] = sum(result.recorded.arms.values())
        row["trace.defaults_decidable"] = all(baseline.get("decidable") for baseline in defaults)
    for scenario, regret, scale in result.outcomes:
        row |= {"scenario": scenario, **{f"regret.{name}": value for name, value in regret.as_object().items()}}
        if isinstance(regret, Estimate):
            row["regret.replications"] = regret.replications
        if scale is not None:
            row |= {"scale.mean": scale.mean, "scale.spread": scale.spread}
        row["extra_arms"] = 0 if result.recorded is not None else count_extra_arms(scenario)
        yield dict(row)


def _flatten(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """List the fields of nested tables with dotted names."""
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _union(names: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(name for group in names for name in group))


def _write_line(cells: Sequence[Cell]) -> str:
    """Write one line; the terminator \\r\\n makes every Python version quote both characters within a cell."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow(map(to_csv_cell, cells))
    return buffer.getvalue().removesuffix("\r\n") + "\n"


def write_grids(grids: Iterable[Grid]) -> str:
    """Write grids with one row per cell, ordered by α₀ and β₀."""
    rows: list[dict[str, Cell]] = []
    for grid in grids:
        spec = grid.spec
        results = zip(spec.cells(), grid.mean.flat, grid.stderr.flat, grid.indistinguishable.flat, strict=True)
        rows += [
            {
                "scenario": spec.scenario,
                "horizon": spec.horizon,
                **{name: f"{value:.15g}" for name, value in params.items()},
                "regret": float(mean),
                "stderr": float(stderr),
                "replications": spec.replications,
                "indistinguishable": "true" if equal else "false",
            }
            for params, mean, stderr, equal in results
        ]
    return to_csv(make_table(rows))


def write_robust(results: Iterable[RobustRecommendation]) -> str:
    """Write robust recommendations with one row per setting and scenario."""
    settings = [(result, setting) for result in results for setting in result.contenders]
    params = dict.fromkeys(_union(setting.params for _, setting in settings), "")
    rows = [
        {
            **{name: getattr(result, name) for name in ("study", "policy", "horizon", "arms")},
            "setting": setting.name,
            "tuned_for": setting.tuned_for or "",
            **params,
            **setting.params,
            "scenario": outcome.scenario,
            **outcome.regret.as_object("regret"),
            **outcome.price.as_columns("price"),
            "replications": outcome.regret.replications,
        }
        for result, setting in settings
        for outcome in setting.worlds
    ]
    return to_csv(make_table(rows))
