"""Figure 2: by how much less regret RAVEN-UCB has than UCB1, against the horizon.

Reduction = 1 − mean regret of RAVEN-UCB / mean regret of UCB1, in per cent, both in the same worlds. As published, the
procedure of the authors is gone through many times, since one run is a random thing. As defined, one search a horizon
ends in a winner that is scored in fresh worlds; UCB1 with its own constant tuned is held to the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from environments.world import Floats
from studies.reproduction.document import Outcome
from studies.reproduction.tables import Table
from tuning.reproduction import _figure2_runs as runs
from tuning.reproduction._figure2_verdicts import defined_verdicts, measured, published_verdicts
from tuning.reproduction.context import Context, Found, Piece
from tuning.statistics import relative_shares

Samples = dict[int, Floats]
"""By horizon, numbers whose mean is a reduction in per cent: one a run as published, one a world as defined."""

MIDDLE = (0.05, 0.95)
"""The spread of single runs: the middle 90 % of them."""


def pieces(context: Context) -> list[Piece]:
    """A piece a horizon, and what UCB1 gets in the same worlds."""
    out = []
    if "published" in context.protocols:
        out.append(Piece("figure2/published/ucb1", 1.5, runs.published_baseline))
        out += [
            Piece(f"figure2/published/T{horizon}", 0.2 + 1.2e-4 * horizon, partial(runs.published, horizon=horizon))
            for horizon in runs.studies()
        ]
    if "defined" in context.protocols:
        for times in runs.groups():
            key = f"figure2/defined/ucb1-to-T{times[-1]}"
            out.append(Piece(key, 2.5, partial(runs.defined_baseline, times=times)))
            out += [
                Piece(f"figure2/defined/T{horizon}", 0.4 + 1.6e-4 * horizon, partial(runs.defined, horizon=horizon))
                for horizon in times
            ]
    return out


def assemble(context: Context, found: Mapping[str, Found]) -> Outcome:
    """Reductions by line and horizon, the winners, and a verdict for each claim."""
    tables: dict[str, Table] = {}
    study = next(iter(runs.studies().values()))
    facts: dict[str, Any] = {
        "arms": study.arms,
        "trials": study.trials,
        "replications": study.replications,
        "longest": max(runs.studies()),
    }
    verdicts = []
    lines: list[dict[str, Any]] = []
    if "published" in context.protocols:
        own, fresh = _published_samples(found, "own"), _published_samples(found, "fresh")
        facts["repeats"] = runs.repeats(context)
        lines += [_row("published", horizon, own[horizon], context, runs_apart=True) for horizon in own]
        lines += [_row("published-fresh", horizon, fresh[horizon], context, runs_apart=True) for horizon in fresh]
        tables["curse"] = Table.of(_curse(horizon, own[horizon], fresh[horizon], context) for horizon in own)
        verdicts += published_verdicts(own, context.seed)
    if "defined" in context.protocols:
        raven, tuned = _defined_samples(found, runs.RAVEN), _defined_samples(found, runs.UCB1)
        search = runs.study(context, facts["longest"])
        facts |= {"search": search.replications, "finalists": search.candidates, "selection": search.selection}
        lines += [_row("defined", horizon, raven[horizon], context) for horizon in raven]
        lines += [_row("tuned-ucb1", horizon, tuned[horizon], context) for horizon in tuned]
        tables["against_tuned"] = Table.of(
            {"horizon": horizon, **_measured("difference", raven[horizon] - tuned[horizon], context)}
            for horizon in raven
        )
        tables["winners"] = Table.of(_winner(horizon, found) for horizon in raven)
        verdicts += defined_verdicts(raven, list(runs.studies()), context.seed)
    return Outcome({"reduction": Table.of(lines), **tables}, facts, verdicts)


def _published_samples(found: Mapping[str, Found], worlds: str) -> Samples:
    """The reduction that each run of the procedure would print, in the worlds it won on ("own") or in fresh ones."""
    baseline = np.array(found["figure2/published/ucb1"][worlds])
    return {
        horizon: 100.0 * (1.0 - np.array(found[f"figure2/published/T{horizon}"][worlds]) / ucb1)
        for horizon, ucb1 in zip(runs.studies(), baseline, strict=True)
    }


def _defined_samples(found: Mapping[str, Found], policy: str) -> Samples:
    """What each fresh world says of a winner's reduction."""
    out = {}
    for times in runs.groups():
        baseline = np.array(found[f"figure2/defined/ucb1-to-T{times[-1]}"]["regrets"])
        for horizon, ucb1 in zip(times, baseline, strict=True):
            regrets = np.array(found[f"figure2/defined/T{horizon}"][policy]["regrets"])
            out[horizon] = -100.0 * relative_shares(regrets, ucb1)
    return out


def _row(line: str, horizon: int, sample: Floats, context: Context, runs_apart: bool = False) -> dict[str, Any]:
    """A point of a line; `runs_apart` where the numbers are single runs, whose spread counts."""
    low, high = np.quantile(sample, MIDDLE) if runs_apart else (None, None)
    return {
        "line": line,
        "horizon": horizon,
        **_measured("reduction", sample, context),
        "run_low": low,
        "run_high": high,
        "run_spread": sample.std(ddof=1) if runs_apart else None,
        "count": sample.size,
    }


def _measured(name: str, sample: Floats, context: Context) -> dict[str, float]:
    ours = measured(sample, context.seed)
    return {name: ours.value, "low": ours.low, "high": ours.high}


def _curse(horizon: int, own: Floats, fresh: Floats, context: Context) -> dict[str, Any]:
    """What winning adds to a winner: its worlds chose it."""
    return {
        "horizon": horizon,
        "own": own.mean(),
        "fresh": fresh.mean(),
        **_measured("difference", own - fresh, context),
    }


def _winner(horizon: int, found: Mapping[str, Found]) -> dict[str, Any]:
    """The parameters that were scored."""
    here = found[f"figure2/defined/T{horizon}"]
    return {"horizon": horizon, **here[runs.RAVEN]["params"], **here[runs.UCB1]["params"]}
