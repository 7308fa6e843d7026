"""Reading recorded rewards and diagnosing which kinds of change they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from ravenlab.common.errors import InputError
from ravenlab.common.text import format_count, format_number
from ravenlab.environments.recorded.log_file import Arms, Columns, Log, looks_like_log, read_log
from ravenlab.environments.recorded.simulator import ChangeModel
from ravenlab.environments.recorded.table_file import open_table
from ravenlab.environments.recorded.trace_file import MAX_CELLS, read_trace
from ravenlab.environments.world import Floats
from ravenlab.studies.diagnosis.block_means import TraceBlocks
from ravenlab.studies.diagnosis.findings import Absence, find_absences, list_findings
from ravenlab.studies.diagnosis.model import incremental_drift_term
from ravenlab.studies.diagnosis.model_selection import ARM_CHURN, LEVEL_CHANGES, SelectedModel, select_model
from ravenlab.studies.diagnosis.predictive import find_mismatch
from ravenlab.studies.diagnosis.proposal import estimate_base_ranges, estimate_noise
from ravenlab.studies.diagnosis.random_walk import RANDOM_WALK
from ravenlab.studies.diagnosis.result import ChangeMark, Diagnosis, PlotData

DRIFT = "incremental-drift"
MIN_ROWS = 200
MIN_OBSERVATIONS = 40  # minimal observations of the median arm
MAX_HALF = 100_000  # rows of a half, so that ten halves take less time than all rows
MAX_REWARD = 1e50  # largest reward whose fourth power is finite


class RecordedRewards(NamedTuple):
    """The contents of a trace or a log as a table."""

    kind: Literal["trace", "log"]
    names: tuple[str, ...]
    """Names of the arms."""
    values: Floats
    """[N, K] rewards by row and arm; NaN where none was observed."""
    notes: tuple[str, ...] = ()
    """What was recognized, sorted or dropped when the file was read."""


def read_rewards(path: Path, columns: Columns | None = None) -> RecordedRewards:
    """Read a trace or a log; the columns of a log may be named."""
    if columns is not None or is_log(path):
        return tabulate_log(read_log(path, columns), f"log {path}")
    trace = read_trace(path)
    return RecordedRewards("trace", trace.names, trace.values, trace.notes)


def is_log(path: Path) -> bool:
    """Whether a file is a log: it has columns with usual names of an arm and a reward."""
    try:
        with open_table(path, "file", must="name the columns") as table:
            return looks_like_log(table.names)
    except InputError:
        return False  # `read_trace` then reports the error


def tabulate_log(log: Log, where: str = "log") -> RecordedRewards:
    """Convert a log to a table.

    >>> tabulate_log(Log.from_columns(["b", "a", "b"], [1.0, 2.0, 3.0])).values.tolist()
    [[nan, 1.0], [2.0, nan], [nan, 3.0]]
    """
    if log.arms * log.events > MAX_CELLS:
        size = f"{format_count(log.events)} rows of {log.arms} arms"
        raise InputError(f"{where}: {size} are more than {format_count(MAX_CELLS)} cells.")
    values = np.full((log.events, log.arms), np.nan)
    values[np.arange(log.events), log.arm] = log.reward
    return RecordedRewards("log", log.names, values, log.notes)


def diagnose(
    values: Floats, names: Sequence[str] = (), halves: int = 0, seed: int = 0, check: bool = False
) -> Diagnosis:
    """Diagnose which kinds of change a table of rewards [N, K] shows.

    Args:
        values: Rewards by row and arm; NaN where no reward was observed.
        names: Names of the arms.
        halves: Number of random halves of the rows, of at most 100,000 each, to diagnose again as a check.
        seed: Seed of the random halves and of the check.
        check: Whether to check that simulated worlds with the kinds found resemble the data.

    >>> rewards = np.random.default_rng(1).normal(size=(1000, 3))
    >>> diagnose(rewards).verdict
    'stationary'
    >>> diagnose(rewards + np.linspace(0, 1, 1000)[:, None]).verdict
    'incremental-drift'
    """
    values = np.asarray(values, dtype=np.float64)
    names = tuple(names) or tuple(f"arm {k + 1}" for k in range(values.shape[1]))
    rows = values.shape[0]
    reason = _find_obstacle(values)
    if reason:
        return Diagnosis(names, rows, (), reason=reason)
    blocks = TraceBlocks.of(values)
    selected = select_model(blocks)
    absences = find_absences(values)
    kinds = tuple(dict.fromkeys([*(term.kind for term in selected.fit.terms), *([ARM_CHURN] if absences else [])]))
    kinds_of_halves = [set(diagnose(_draw_half(values, [seed, half]), names).kinds) for half in range(halves)]
    findings = tuple(
        replace(finding, found_in_halves=sum(finding.kind in half for half in kinds_of_halves))
        for finding in list_findings(blocks, selected, absences, names)
    )
    noise = estimate_noise(blocks, selected.fit)
    base = estimate_base_ranges(blocks, selected.fit)
    mismatch = ""
    if check:
        modeled = {finding.kind: finding.settings for finding in findings if finding.modeled}
        opened = any(finding.numbers.get("came") for finding in findings)
        mismatch = find_mismatch(values, modeled, {**base, "noise": noise}, len(names) - opened, seed)
    return Diagnosis(
        names=names,
        rows=rows,
        mismatch=mismatch,
        kinds=kinds,
        findings=findings,
        noise=noise,
        base=base,
        agreeing_halves=sum(half == set(kinds) for half in kinds_of_halves),
        halves=halves,
        plot_data=_make_plot_data(blocks, selected, absences, names),
    )


def diagnose_changes(arm: Arms, reward: Floats, arms: int) -> ChangeModel:
    """Diagnose how the means of a log change, for a simulator.

    >>> rng = np.random.default_rng(1)
    >>> arm = rng.integers(0, 3, 3000).astype(np.int32)
    >>> model = diagnose_changes(arm, rng.normal(np.where(np.arange(3000) < 1000, 0.0, 1.0)), 3)
    >>> model.kinds, bool(abs(model.cuts[0] - 1000) < 50)
    (('localized-jump',), True)
    """
    values = np.full((arm.size, arms), np.nan)
    values[np.arange(arm.size), arm] = reward
    nothing = np.empty(0, dtype=np.int64)
    if problem := _find_obstacle(values):
        return ChangeModel((), nothing, (), np.empty((arm.size, 0)), nothing, np.ones((1, arms)), problem=problem)
    blocks = TraceBlocks.of(values)
    selected = select_model(blocks)
    terms = {term.kind: term for term in selected.fit.terms}
    smooth = [term.mean for kind, term in terms.items() if kind not in (*LEVEL_CHANGES, RANDOM_WALK)]
    # A drift of arms with few events is easily missed, and a drift is easily taken for jumps.
    if DRIFT not in terms:
        smooth.append(incremental_drift_term(blocks).mean)
    smooth = [columns for columns in smooth if columns.shape[1]]
    jumps, blips = (terms.get(kind) for kind in LEVEL_CHANGES)
    no_walk = "the means follow random walks, for which there is no simulator"
    return ChangeModel(
        kinds=tuple(terms),
        cuts=np.array(jumps.about["at"], dtype=np.int64) if jumps else nothing,
        spans=tuple(blips.about["spans"]) if blips else (),
        columns=np.column_stack([np.empty((arm.size, 0)), *smooth]),
        groups=np.repeat(np.arange(len(smooth)), [columns.shape[1] for columns in smooth]),
        variance=selected.fit.variance * selected.scale.mean,
        period=terms["periodic"].about["period"] if "periodic" in terms else np.inf,
        problem=no_walk if RANDOM_WALK in terms else None,
    )


def _find_obstacle(values: Floats) -> str:
    """Return why a table cannot be diagnosed; an empty string if it can."""
    rows = values.shape[0]
    if rows < MIN_ROWS:
        return f"{rows} rows are too few to distinguish kinds of change; at least {MIN_ROWS} rows are needed."
    observations = float(np.median((~np.isnan(values)).sum(axis=0)))
    if observations < MIN_OBSERVATIONS:
        return (
            f"{format_number(observations)} rewards of the median arm are too few to distinguish kinds of change;"
            f" at least {MIN_OBSERVATIONS} are needed."
        )
    low = float(np.nanmin(values))
    high = float(np.nanmax(values))
    if low == high:
        return "all rewards are equal."
    if max(abs(low), abs(high)) > MAX_REWARD or high - low < 1.0 / MAX_REWARD:
        return f"rewards between {low:g} and {high:g} cannot be squared in floating point."
    return ""


def _draw_half(values: Floats, seed: list[int]) -> Floats:
    """Choose one of every two neighboring rows at random, and fewer of more than twice `MAX_HALF` rows."""
    rows = values.shape[0]
    step = max(2, -(-rows // MAX_HALF))
    kept = step * np.arange(-(-rows // step))
    kept = np.minimum(kept + np.random.default_rng(seed).integers(0, step, kept.size), rows - 1)
    return np.asarray(values[kept])


def _make_plot_data(
    blocks: TraceBlocks, selected: SelectedModel, absences: list[Absence], names: Sequence[str]
) -> PlotData:
    observed = blocks.counts > 0
    return PlotData(
        starts=blocks.starts,
        means=np.where(observed, blocks.means, np.nan),
        fitted=np.where(observed, blocks.means - selected.fit.block_residuals, np.nan),
        variances=np.where(blocks.counts > 1, selected.fit.block_variance, np.nan),
        fitted_variances=np.where(observed, selected.fit.variance, np.nan),
        marks=(*_mark_terms(blocks, selected), *_mark_absences(blocks, absences, names)),
    )


def _mark_terms(blocks: TraceBlocks, selected: SelectedModel) -> list[ChangeMark]:
    marks: list[ChangeMark] = []
    for term in selected.fit.terms:
        if term.kind == "localized-jump":
            marks += [ChangeMark(term.kind, cut + 1) for cut in term.about["at"]]
        elif term.kind == "blips":
            marks += [ChangeMark(term.kind, start + 1, end + 1) for start, end in term.about["spans"]]
        elif term.kind == "gradual-drift":
            first, last = (max(1, round(term.about[name] * blocks.rows)) for name in ("start", "end"))
            marks.append(ChangeMark(term.kind, first, last))
    return marks


def _mark_absences(blocks: TraceBlocks, absences: list[Absence], names: Sequence[str]) -> list[ChangeMark]:
    marks = []
    for absence in absences:
        name = names[absence.arm]
        if absence.first == 0:
            marks.append(ChangeMark(ARM_CHURN, absence.last + 1, arm=name))
        else:
            until = None if absence.last == blocks.rows else absence.last
            marks.append(ChangeMark(ARM_CHURN, absence.first + 1, until, name))
    return marks
