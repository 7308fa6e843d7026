"""Which kinds of change a trace shows: one kind after another, the one that explains most first, until none is left.

A kind enters only when a test of it, corrected for all that was looked at (arms, places, periods, kinds), is beyond
doubt *and* the Bayesian information criterion says that it is worth its parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from studies.diagnosis.blocks import TraceBlocks
from studies.diagnosis.change_points import level_change_terms
from studies.diagnosis.model import (
    FittedModel,
    NoiseScale,
    Term,
    fit_model,
    gradual_drift_term,
    incremental_drift_term,
    periodic_term,
    variance_drift_term,
)
from studies.statistics.paired import holm_adjust_by_name

ENOUGH = 0.1
"""By how much the criterion must be better; less is rounding."""
SIGNIFICANCE_LEVEL = 0.01
"""A kind is named when its corrected p-value is below this."""
LEVELS = ("localized-jump", "blips")
"""Kinds that come from the same search for change points."""
MOST_ROUNDS = 10
KINDS = ("incremental-drift", "variance-drift", "gradual-drift", "localized-jump", "periodic", "blips", "arm-churn")


@dataclass(frozen=True)
class CandidateModel:
    """A model with a kind more than the current one."""

    terms: tuple[Term, ...]
    """What is new in it."""
    fit: FittedModel
    worth: float
    """By how much the criterion is better."""
    p: dict[str, float]
    """For each new kind, corrected for arms and places but not for kinds."""


@dataclass(frozen=True)
class SelectedModel:
    """The model that was chosen, and every kind's p-value, beside the others of the model, corrected for all."""

    fit: FittedModel
    scale: NoiseScale
    p: dict[str, float]
    others: dict[str, CandidateModel]
    """The best model with each kind that was not chosen."""


def select_model(blocks: TraceBlocks) -> SelectedModel:
    """Add kinds one after another."""
    current = fit_model(blocks, [])
    best_of_kind: dict[str, CandidateModel] = {}
    for _ in range(MOST_ROUNDS):
        scale = current.scale(blocks)
        candidates = _candidates(blocks, current, scale)
        best_of_kind = {}
        for candidate in sorted(candidates, key=lambda each: each.worth):
            best_of_kind |= {term.kind: candidate for term in candidate.terms}
        corrected = holm_adjust_by_name({kind: candidate.p[kind] for kind, candidate in best_of_kind.items()})
        sure = [
            candidate
            for candidate in candidates
            if candidate.worth > ENOUGH and all(corrected[term.kind] < SIGNIFICANCE_LEVEL for term in candidate.terms)
        ]
        if not sure:
            break
        current = _without_idle(blocks, max(sure, key=lambda each: each.worth).fit)
    current, inside = _beyond_doubt(blocks, current)
    scale = current.scale(blocks)
    # Another reading of the change points that are blips, or jumps, already is no kind beside them.
    read = {kind for kind in inside if kind in LEVELS}
    outside = {
        kind: each.p[kind]
        for kind, each in best_of_kind.items()
        if kind not in inside and (kind not in LEVELS or read <= {term.kind for term in each.terms})
    }
    p = holm_adjust_by_name({**dict.fromkeys(KINDS[:-1], 1.0), **outside, **inside})
    return SelectedModel(current, scale, p, {kind: best_of_kind[kind] for kind in outside})


def _candidates(blocks: TraceBlocks, current: FittedModel, scale: NoiseScale) -> list[CandidateModel]:
    """Models with one kind more, and models whose jumps and blips are looked for anew beside the other kinds."""
    there = {term.kind for term in current.terms}
    smooth = [term for term in current.terms if term.kind not in LEVELS]
    offered: list[tuple[Term, ...]] = [
        (incremental_drift_term(blocks),),
        (gradual_drift_term(blocks, current),),
        (periodic_term(blocks, current),),
    ]
    if not blocks.binary:
        offered.append((variance_drift_term(blocks),))
    models = [([*current.terms, *new], new) for new in offered if new[0].kind not in there]
    # What was found so far makes the noise smaller, so that a blip or a jump may show that did not before.
    beneath = current if len(smooth) == len(current.terms) else fit_model(blocks, smooth)
    models += [([*smooth, *new], new) for new in level_change_terms(blocks, beneath, scale)]
    before = current.criterion(blocks, scale)
    out = []
    for terms, new in models:
        fitted = fit_model(blocks, terms)
        p = {term.kind: _p(term, blocks, fitted, current, scale) for term in new}
        out.append(CandidateModel(new, fitted, before - fitted.criterion(blocks, scale), p))
    return out


def _p(term: Term, blocks: TraceBlocks, larger: FittedModel, smaller: FittedModel, scale: NoiseScale) -> float:
    """The smallest p-value of an arm, times the arms and places that were looked at: valid however arms depend."""
    from scipy.stats import chi2

    if "p" in term.about:
        return float(term.about["p"])
    gain = sum(a - b for a, b in zip(smaller.misfit(blocks, scale), larger.misfit(blocks, scale), strict=True))
    freedom = term.mean_used.sum(axis=0) + (0 if blocks.binary else term.variance_used.sum(axis=0))
    p = np.where(freedom > 0, chi2.sf(np.maximum(gain, 0.0), np.maximum(freedom, 1)), 1.0)
    return float(min(1.0, p.min() * blocks.arms * term.about.get("searched", 1)))


def _beyond_doubt(blocks: TraceBlocks, model: FittedModel) -> tuple[FittedModel, dict[str, float]]:
    """The model without kinds that, beside all the others, are in doubt after all; and the p-values of those left."""
    while True:
        scale = model.scale(blocks)
        p = {term.kind: _p(term, blocks, model, fit_model(blocks, _other(model, term)), scale) for term in model.terms}
        worst = max(p, key=lambda kind: p[kind], default=None)
        if worst is None or p[worst] * len(KINDS) < SIGNIFICANCE_LEVEL:
            return model, p
        model = fit_model(blocks, [term for term in model.terms if term.kind != worst])


def _other(model: FittedModel, without: Term) -> list[Term]:
    return [term for term in model.terms if term is not without]


def _without_idle(blocks: TraceBlocks, model: FittedModel) -> FittedModel:
    """Drop kinds that a later one has made needless."""
    for term in model.terms[:-1]:
        scale = model.scale(blocks)
        smaller = fit_model(blocks, _other(model, term))
        if smaller.criterion(blocks, scale) < model.criterion(blocks, scale):
            model = smaller
    return model
