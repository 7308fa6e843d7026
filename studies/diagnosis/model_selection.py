"""Stepwise selection of the kinds of change that a trace shows, the kind that explains most first.

A kind enters if its p-value, adjusted for all arms, places, periods and kinds examined, is significant *and* the
Bayesian information criterion improves. Arms may share their noise, which the criterion does not account for, so
p-values are based on single arms, and those of coefficients common to all arms on the correlation of their noise.

Temporary changes of single arms are found first, or at the latest beside the selected kinds. The other kinds are
selected without the rows of these arms: a single outage would otherwise be imitated by jumps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ravenlab.studies.diagnosis.block_means import TraceBlocks
from ravenlab.studies.diagnosis.change_points import find_outages, level_change_terms, refine_jumps
from ravenlab.studies.diagnosis.model import (
    FittedModel,
    NoiseScale,
    Term,
    fit_model,
    gradual_drift_term,
    incremental_drift_term,
    periodic_term,
    variance_drift_term,
)
from ravenlab.studies.diagnosis.random_walk import RANDOM_WALK, fit_random_walk, is_random_walk, random_walk_term
from ravenlab.studies.statistics.paired import holm_adjust_by_name

ARM_CHURN = "arm-churn"
KINDS = ("incremental-drift", "variance-drift", "gradual-drift", "localized-jump", "periodic", "blips", ARM_CHURN)
"""The paper's kinds of change. A random walk is tested afterwards, as an alternative to those that were selected."""
LEVEL_CHANGES = ("localized-jump", "blips")
"""Kinds that are alternative explanations of the same change points."""
DRIFT = "incremental-drift"
JUMP = "localized-jump"
CHOSEN_BY_ARM = (DRIFT, JUMP)
"""Kinds of which each arm has only the significant ones."""
MIN_IMPROVEMENT = 0.1  # smallest improvement of the criterion; less may be rounding
CLEAR_IMPROVEMENT = 20.0
SIGNIFICANCE_LEVEL = 0.01
MAX_STEPS = 10


@dataclass(frozen=True)
class CandidateModel:
    """The current model with additional terms."""

    terms: tuple[Term, ...]
    """The additional terms."""
    fit: FittedModel
    improvement: float
    """Decrease of the criterion."""
    p: dict[str, float]
    """p-value of each additional kind, adjusted for arms and places but not for kinds."""

    @property
    def handicap(self) -> float:
        """How much better than a single kind jumps with a drift must be, which can imitate each other."""
        return CLEAR_IMPROVEMENT if {DRIFT, JUMP} <= {term.kind for term in self.terms} else 0.0


@dataclass(frozen=True)
class SelectedModel:
    """The selected model and the adjusted p-values of all kinds."""

    fit: FittedModel
    scale: NoiseScale
    p: dict[str, float]
    others: dict[str, CandidateModel]
    """The best candidate model for each kind that was not selected."""


def select_model(blocks: TraceBlocks) -> SelectedModel:
    """Select the kinds of change, temporary changes of single arms apart from the others."""
    current = fit_model(blocks, [])
    outages = find_outages(blocks, current, current.noise_scale(blocks))
    if outages is None:
        selected = _select_lasting(blocks)
        smooth = [term for term in selected.fit.terms if term.kind not in LEVEL_CHANGES]
        current = fit_model(blocks, smooth)
        outages = find_outages(blocks, current, current.noise_scale(blocks)) if smooth else None
        if outages is None:
            return selected
    selected = _select_lasting(blocks.without(outages.mean, outages.mean_used))
    fitted = fit_model(blocks, [*selected.fit.terms, outages])
    p = {**selected.p, outages.kind: outages.about["p"]}
    others = {kind: candidate for kind, candidate in selected.others.items() if kind != outages.kind}
    return SelectedModel(fitted, fitted.noise_scale(blocks), p, others)


def _select_lasting(blocks: TraceBlocks) -> SelectedModel:
    """Add kinds of change one at a time."""
    current = fit_model(blocks, [])
    best_of_kind: dict[str, CandidateModel] = {}
    for _ in range(MAX_STEPS):
        candidates = _fit_candidates(blocks, current, current.noise_scale(blocks))
        best_of_kind = {}
        for candidate in sorted(candidates, key=lambda candidate: candidate.improvement):
            best_of_kind |= {term.kind: candidate for term in candidate.terms}
        adjusted = holm_adjust_by_name({kind: candidate.p[kind] for kind, candidate in best_of_kind.items()})
        supported = [
            candidate
            for candidate in candidates
            if candidate.improvement > MIN_IMPROVEMENT
            and all(adjusted[term.kind] < SIGNIFICANCE_LEVEL for term in candidate.terms)
        ]
        if not supported:
            break
        best = max(supported, key=lambda candidate: candidate.improvement - candidate.handicap)
        current = _drop_redundant(blocks, best.fit)
    current = fit_model(blocks, _choose_arms(blocks, current.terms, current.noise_scale(blocks)))
    current, selected = _drop_insignificant(blocks, current)
    # Reading the same change points as blips instead of jumps, or vice versa, is not an additional kind.
    level_changes = {kind for kind in selected if kind in LEVEL_CHANGES}
    others = {
        kind: candidate
        for kind, candidate in best_of_kind.items()
        if kind not in selected
        and (kind not in LEVEL_CHANGES or level_changes <= {term.kind for term in candidate.terms})
    }
    not_selected = {kind: candidate.p[kind] for kind, candidate in others.items()}
    p = holm_adjust_by_name({**dict.fromkeys(KINDS[:-1], 1.0), **not_selected, **selected})
    return _compare_random_walk(blocks, SelectedModel(current, current.noise_scale(blocks), p, others))


def _compare_random_walk(blocks: TraceBlocks, selected: SelectedModel) -> SelectedModel:
    """Replace the kinds that change means by a random walk if it explains the means better.

    A walk is not tested in a trace whose means do not change. Its p-value is corrected for all kinds, arms and the
    test itself.
    """
    moving = [term for term in selected.fit.terms if term.mean.shape[1]]
    if not moving:
        return replace(selected, p={**selected.p, RANDOM_WALK: 1.0})
    walk = fit_random_walk(blocks)
    term = random_walk_term(blocks, walk)
    p = {**selected.p, RANDOM_WALK: min(1.0, term.about["p"] * (len(KINDS) + 1))}
    fitted = fit_model(blocks, [*(other for other in selected.fit.terms if not other.mean.shape[1]), term])
    better = is_random_walk(blocks, walk, selected.fit, fitted, selected.scale)
    if not better or p[RANDOM_WALK] >= SIGNIFICANCE_LEVEL:
        candidate = CandidateModel((term,), fitted, 0.0, {RANDOM_WALK: p[RANDOM_WALK]})
        return replace(selected, p=p, others={**selected.others, RANDOM_WALK: candidate})
    replaced = {
        other.kind: CandidateModel((other,), selected.fit, 0.0, {other.kind: p[other.kind]}) for other in moving
    }
    return SelectedModel(fitted, fitted.noise_scale(blocks), p, {**selected.others, **replaced})


def _fit_candidates(blocks: TraceBlocks, current: FittedModel, scale: NoiseScale) -> list[CandidateModel]:
    """Fit models with one more kind, and models whose jumps and blips are searched again beside the other kinds."""
    present = {term.kind for term in current.terms}
    smooth = [term for term in current.terms if term.kind not in LEVEL_CHANGES]
    additional = [
        incremental_drift_term(blocks),
        gradual_drift_term(blocks, current),
        periodic_term(blocks, current),
    ]
    drifts = [additional[0]]
    if blocks.arms > 1:
        drifts.append(incremental_drift_term(blocks, common=True))
        additional += [drifts[1], periodic_term(blocks, current, common=True)]
    if not blocks.binary:
        additional.append(variance_drift_term(blocks))
    models: list[tuple[list[Term], tuple[Term, ...]]] = [
        ([*current.terms, term], (term,)) for term in additional if term.kind not in present
    ]
    # Terms found so far reduce the residual noise and may reveal further jumps and blips.
    without_level_changes = current if len(smooth) == len(current.terms) else fit_model(blocks, smooth)
    level_changes = level_change_terms(blocks, without_level_changes, scale)
    models += [([*smooth, *new], new) for new in level_changes]
    if DRIFT not in present:
        # Some arms may drift, which jumps may have imitated.
        alternatives = [new for new in level_changes if len(new) == 1 and new[0].kind == JUMP]
        for jumps, drift in product([[term for term in current.terms if term.kind == JUMP], *alternatives], drifts):
            blips = [term for term in current.terms if term.kind == "blips"]
            terms = _choose_arms(blocks, [*smooth, *blips, *jumps, drift], scale)
            new = tuple(term for term in terms if term.kind in CHOSEN_BY_ARM)
            models += [(terms, new)] if any(term.kind == DRIFT for term in new) else []
    before = current.bic(blocks, scale)
    candidates = []
    for terms, new in models:
        fitted = fit_model(blocks, terms)
        p = {
            term.kind: _p_value(
                term, blocks, fitted, current if len(new) == 1 else fit_model(blocks, _without(terms, term)), scale
            )
            for term in new
        }
        candidates.append(CandidateModel(new, fitted, before - fitted.bic(blocks, scale), p))
    return candidates


def _p_value(term: Term, blocks: TraceBlocks, larger: FittedModel, smaller: FittedModel, scale: NoiseScale) -> float:
    """Bonferroni-adjusted p-value over arms and places searched; valid for any dependence between arms."""
    from scipy.stats import chi2

    if "p" in term.about:
        return float(term.about["p"])
    gain = np.zeros(blocks.arms)
    for before, after in zip(smaller.deviance(blocks, scale), larger.deviance(blocks, scale), strict=True):
        gain += before - after
    if term.common:
        # The variance of a sum over arms whose noise has this root mean square correlation
        correlated = 1.0 + float(np.sqrt((blocks.arms - 1) * (scale.joint_arms - 1.0)))
        p = chi2.sf(max(float(gain.sum()), 0.0) / correlated, term.mean.shape[1])
        return float(min(1.0, p * term.about.get("searched", 1)))
    freedom = term.mean_used.sum(axis=0) + (0 if blocks.binary else term.variance_used.sum(axis=0))
    p = np.where(freedom > 0, chi2.sf(np.maximum(gain, 0.0), np.maximum(freedom, 1)), 1.0)
    searched = term.about.get("searched", 1)
    if term.kind == DRIFT:
        # Levels between jumps can be read as a drift in many ways.
        searched += 2 * sum(other.mean.shape[1] for other in larger.terms if other.kind == JUMP)
    return float(min(1.0, p.min() * blocks.arms * searched))


def _choose_arms(blocks: TraceBlocks, terms: Sequence[Term], scale: NoiseScale) -> list[Term]:
    """Drop the weakest of the jumps and the drift of each arm until all are significant beside all other terms."""
    from scipy.stats import chi2

    min_gain = float(chi2.isf(SIGNIFICANCE_LEVEL / blocks.arms, 1))
    chosen = [term for term in terms if term.kind in CHOSEN_BY_ARM and not term.common]
    others = [term for term in terms if all(term is not candidate for candidate in chosen)]
    if not chosen:
        return others
    while True:
        fitted = fit_model(blocks, [*others, *chosen])
        weights = np.concatenate(fitted.mean_weights[len(others) :])
        errors = np.concatenate(fitted.mean_errors[len(others) :]) * np.sqrt(scale.mean)
        used = np.concatenate([term.mean_used for term in chosen])
        gains = np.where(used, (weights / np.maximum(errors, 1e-300)) ** 2, np.inf)
        weak = np.flatnonzero(gains.min(axis=0) < min_gain)
        if not weak.size:
            break
        used[gains.argmin(axis=0)[weak], weak] = False
        sizes = np.cumsum([term.mean.shape[1] for term in chosen])[:-1]
        chosen = [replace(term, mean_used=part) for term, part in zip(chosen, np.split(used, sizes), strict=True)]
    chosen = [term for term in chosen if term.mean_used.any()]
    return [*others, *(refine_jumps(term, blocks, fitted, scale) if term.kind == JUMP else term for term in chosen)]


def _drop_insignificant(blocks: TraceBlocks, model: FittedModel) -> tuple[FittedModel, dict[str, float]]:
    """Drop kinds that are not significant beside all others; return the model and the p-values of its kinds."""
    while True:
        scale = model.noise_scale(blocks)
        p = {
            term.kind: _p_value(term, blocks, model, fit_model(blocks, _without(model.terms, term)), scale)
            for term in model.terms
        }
        worst = max(model.terms, key=lambda term: p[term.kind], default=None)
        if worst is None or p[worst.kind] * len(KINDS) < SIGNIFICANCE_LEVEL:
            return model, p
        model = fit_model(blocks, _without(model.terms, worst))


def _drop_redundant(blocks: TraceBlocks, model: FittedModel) -> FittedModel:
    """Drop earlier terms that a later term has made unnecessary."""
    for term in model.terms[:-1]:
        scale = model.noise_scale(blocks)
        smaller = fit_model(blocks, _without(model.terms, term))
        if smaller.bic(blocks, scale) < model.bic(blocks, scale):
            model = smaller
    return model


def _without(terms: Sequence[Term], dropped: Term) -> list[Term]:
    return [term for term in terms if term is not dropped]
