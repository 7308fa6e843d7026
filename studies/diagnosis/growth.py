"""Variance drift: every arm's variance grows on a straight line while its mean stays."""

from __future__ import annotations

from studies.diagnosis.blocks import Blocks
from studies.diagnosis.terms import Term, plain_term


def growth(blocks: Blocks) -> Term:
    """The coefficient of an arm is what its σ² gains over the whole stretch."""
    return plain_term("variance-drift", blocks.arms, variance=blocks.time[:, None])
