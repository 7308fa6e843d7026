"""A log as a table: one arm is seen a step, so the others' cells are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from environments.errors import InputError
from environments.recorded.log_file import read_log
from environments.recorded.table_file import parquet_file
from environments.recorded.trace_file import MAX_CELLS, read_trace
from environments.text import plural
from environments.world import Floats
from studies.diagnosis.blocks import TraceBlocks
from studies.diagnosis.findings import DESCRIBERS, NONE_SEEN, FittedTerm, KindDescription, percent
from studies.diagnosis.model_selection import KINDS, SIGNIFICANCE_LEVEL, SelectedModel, select_model
from studies.diagnosis.proposal import estimate_base_ranges, estimate_noise
from studies.diagnosis.result import ChangeMark, Diagnosis, Finding, PlotData
from studies.statistics.paired import holm_adjust_by_name


def log_table(arms: Sequence[str], rewards: Sequence[float]) -> tuple[tuple[str, ...], Floats]:
    """Names of the arms in the order in which they first appear, and values [N, K] for `diagnose`.

    >>> names, values = log_table(["b", "a", "b"], [1.0, 2.0, 3.0])
    >>> names, values.tolist()
    (('b', 'a'), [[1.0, nan], [nan, 2.0], [3.0, nan]])
    """
    names = tuple(dict.fromkeys(arms))
    place = {name: k for k, name in enumerate(names)}
    values = np.full((len(arms), len(names)), np.nan)
    values[np.arange(len(arms)), [place[arm] for arm in arms]] = rewards
    return names, values


def read_rewards(path: Path) -> tuple[tuple[str, ...], Floats]:
    """Names of the arms and rewards [N, K], NaN where nothing was seen."""
    if {"arm", "reward"} <= {name.strip().strip('"').lower() for name in _columns(path)}:
        return _read_log(path)
    trace = read_trace(path)
    return trace.names, trace.values


def _columns(path: Path) -> list[str]:
    """Names of a file's columns; none where it can't be read, which the trace's reader then says."""
    try:
        if not path.is_file():
            return []
        if path.suffix.lower() == ".parquet":
            with parquet_file(path) as file:
                return list(file.schema_arrow.names)
        with path.open(encoding="utf-8-sig", newline="") as file:
            return file.readline(10_000).split(",")
    except (OSError, ValueError):
        return []


def _read_log(path: Path) -> tuple[tuple[str, ...], Floats]:
    log = read_log(path)
    if len(log.names) * log.arm.size > MAX_CELLS:
        raise InputError(
            f"log {path}: {log.arm.size:,} rows of {len(log.names)} arms are more than {MAX_CELLS:,} cells."
        )
    return log_table([log.names[k] for k in log.arm], list(log.reward))


SHORTEST = 0.01
"""Of the rows; a shorter absence is a missing value."""
SURE = 0.01
"""Largest probability of an absence that is called one."""


@dataclass(frozen=True)
class Absence:
    """Rows first … last − 1, counted from 0, at which an arm was not there."""

    arm: int
    first: int
    last: int
    p: float


def absences(values: Floats) -> list[Absence]:
    """All absences that chance does not explain, in the order of arms and rows.

    >>> table = np.ones((1000, 2))
    >>> table[:300, 1] = np.nan
    >>> [(each.arm, each.first, each.last) for each in absences(table)]
    [(1, 0, 300)]
    """
    rows, arms = values.shape
    out = []
    for k in range(arms):
        seen = np.flatnonzero(~np.isnan(values[:, k]))
        if not seen.size:
            continue
        edges = np.concatenate([[-1], seen, [rows]])
        gaps = np.diff(edges) - 1
        long = [int(i) for i in np.flatnonzero(gaps >= max(2.0, SHORTEST * rows))]
        usual = rows - int(gaps[long].sum())
        rate = min(seen.size / usual, seen.size / (seen.size + 1.0))
        for i in long:
            p = min(1.0, float(np.exp(gaps[i] * np.log1p(-rate))) * (seen.size + 1) * arms)
            if p < SURE:
                out.append(Absence(k, int(edges[i]) + 1, int(edges[i + 1]), p))
    return out


FEWEST_ROWS = 200
"""Below this the answer is that nothing can be said."""
FEWEST_SEEN = 40
"""Rows at which the typical arm must have been seen."""
LARGEST = 1e50
"""Size of a reward whose square's square is still a number."""
CHURN = "arm-churn"
WITHIN_CHANCE = "within chance"
NOT_WORTH_IT = "not worth its parameters"


def diagnose(values: Floats, names: Sequence[str] = (), halves: int = 0, seed: int = 0) -> Diagnosis:
    """What the world of a table [N, K] is like; NaN where an arm was not seen.

    `halves` asks as many random halves of the rows again, to say how sure the answer is.

    >>> rewards = np.random.default_rng(1).normal(size=(1000, 3))
    >>> diagnose(rewards).verdict
    'stationary'
    >>> diagnose(rewards + np.linspace(0, 1, 1000)[:, None]).verdict
    'incremental-drift'
    """
    values = np.asarray(values, dtype=np.float64)
    names = tuple(names) or tuple(f"arm {k + 1}" for k in range(values.shape[1]))
    rows = values.shape[0]
    seen = float(np.median((~np.isnan(values)).sum(axis=0)))
    if rows < FEWEST_ROWS or seen < FEWEST_SEEN:
        few = f"{rows:,} rows" if rows < FEWEST_ROWS else f"{seen:.0f} rewards of the typical arm"
        least = f"{FEWEST_ROWS} rows" if rows < FEWEST_ROWS else f"{FEWEST_SEEN}"
        reason = f"{few} are too few to tell one kind of change from another; at least {least} are needed."
        return Diagnosis(names, rows, (), reason=reason)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if low == high:
        return Diagnosis(names, rows, (), reason="all rewards are the same number.")
    if max(abs(low), abs(high)) > LARGEST or high - low < 1.0 / LARGEST:
        return Diagnosis(names, rows, (), reason=f"rewards between {low:g} and {high:g} can't be squared safely.")
    blocks = TraceBlocks.of(values)
    choice = select_model(blocks)
    away = absences(values)
    findings = _findings(blocks, choice, away, names)
    chosen = [term.kind for term in choice.fit.terms]
    kinds = (*chosen, *([CHURN] if away else []))
    again = [set(diagnose(_half(values, [seed, half]), names).kinds) for half in range(halves)]
    findings = tuple(replace(each, found_in_halves=sum(each.kind in named for named in again)) for each in findings)
    lower, upper = np.nanpercentile(values, [25, 75])
    return Diagnosis(
        names=names,
        rows=rows,
        kinds=kinds,
        findings=findings,
        noise=estimate_noise(blocks, choice.fit),
        base=estimate_base_ranges(blocks, choice.fit),
        spread=float(upper - lower) or high - low,
        agreeing_halves=sum(named == set(kinds) for named in again),
        halves=halves,
        plot_data=_picture(blocks, choice, away, names),
    )


def _half(values: Floats, seed: list[int]) -> Floats:
    """One of every two neighbouring rows, by a coin."""
    rows = values.shape[0]
    kept = 2 * np.arange((rows + 1) // 2)
    kept = np.minimum(kept + np.random.default_rng(seed).integers(0, 2, kept.size), rows - 1)
    return np.asarray(values[kept])


def _findings(
    blocks: TraceBlocks, choice: SelectedModel, away: list[Absence], names: Sequence[str]
) -> tuple[Finding, ...]:
    p = holm_adjust_by_name({**choice.p, CHURN: min((each.p for each in away), default=1.0)})
    inside = {term.kind: (term, choice.fit) for term in choice.fit.terms}
    outside = {
        kind: (next(term for term in each.terms if term.kind == kind), each.fit) for kind, each in choice.others.items()
    }
    out = []
    for kind in KINDS:
        if kind == CHURN:
            told = _told_of_churn(away, blocks.rows, names, choice)
        elif kind in inside or kind in outside:
            term, fitted = inside.get(kind) or outside[kind]
            told = DESCRIBERS[kind](FittedTerm.of(term, fitted, choice.scale, blocks, names))
        else:
            why = "does not apply to rewards of 0 and 1" if blocks.binary and kind == "variance-drift" else NONE_SEEN
            told = KindDescription(why, {}, {})
        found = kind in inside or (kind == CHURN and bool(away))
        strength = told.strength
        if not found and told.numbers:
            strength = f"{WITHIN_CHANCE if p[kind] >= SIGNIFICANCE_LEVEL else NOT_WORTH_IT}: {strength}"
        out.append(Finding(kind, found, p[kind], strength, told.arms, told.numbers, told.settings))
    return tuple(out)


def _told_of_churn(away: list[Absence], rows: int, names: Sequence[str], choice: SelectedModel) -> KindDescription:
    if not away:
        return KindDescription(NONE_SEEN, {}, {})
    came = [each for each in away if each.first == 0]
    left = [each for each in away if each.last == rows]
    gaps = [each for each in away if each.first > 0 and each.last < rows]
    words = [f"{names[each.arm]} comes at step {each.last + 1}" for each in came]
    words += [f"{names[each.arm]} goes at step {each.first + 1}" for each in left]
    if gaps:
        away_arms = len({each.arm for each in gaps})
        words.append(f"{plural(away_arms, 'arm')} away for a while, {plural(len(gaps), 'time')} in all")
    settings: dict[str, object] = {}
    # An effect knows one arm that comes and one that goes; what never happens lies beyond the horizon.
    settings["opens"] = percent(float(np.median([each.last + 1 for each in came])) / rows) if came else "200%"
    settings["closes"] = percent(float(np.median([each.first + 1 for each in left])) / rows) if left else "200%"
    if left:
        settings["closing"] = "best" if _was_best(left[0], choice) else "random"
    numbers = {
        "came": {names[each.arm]: each.last + 1 for each in came},
        "left": {names[each.arm]: each.first + 1 for each in left},
        "away": [{"arm": names[each.arm], "from": each.first + 1, "to": each.last} for each in gaps],
    }
    arms = tuple(dict.fromkeys(names[each.arm] for each in away))
    shown = words if len(words) <= 4 else [*words[:3], f"and {len(words) - 3} more"]
    return KindDescription("; ".join(shown), numbers, settings, arms)


def _was_best(gone: Absence, choice: SelectedModel) -> bool:
    """Whether the arm that goes had the largest mean among those there."""
    return bool(int(np.argmax(choice.fit.base_mean)) == gone.arm)


def _picture(blocks: TraceBlocks, choice: SelectedModel, away: list[Absence], names: Sequence[str]) -> PlotData:
    there = blocks.counts > 0
    marks: list[ChangeMark] = []
    for term in choice.fit.terms:
        if term.kind == "localized-jump":
            marks += [ChangeMark(term.kind, cut + 1) for cut in term.about["at"]]
        elif term.kind == "blips":
            marks += [ChangeMark(term.kind, start + 1, end + 1) for start, end in term.about["spans"]]
        elif term.kind == "gradual-drift":
            first, last = (max(1, round(term.about[name] * blocks.rows)) for name in ("start", "end"))
            marks.append(ChangeMark(term.kind, first, last))
    for each in away:
        if each.first == 0:
            marks.append(ChangeMark(CHURN, each.last + 1, arm=names[each.arm]))
        else:
            marks.append(
                ChangeMark(CHURN, each.first + 1, None if each.last == blocks.rows else each.last, names[each.arm])
            )
    return PlotData(
        starts=blocks.starts,
        means=np.where(there, blocks.means, np.nan),
        fitted=np.where(there, blocks.means - choice.fit.rest, np.nan),
        variances=np.where(blocks.counts > 1, choice.fit.spread, np.nan),
        fitted_variances=np.where(there, choice.fit.variance, np.nan),
        marks=tuple(marks),
    )
