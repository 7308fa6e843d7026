"""Incremental drift: every arm's mean moves on a straight line."""

from __future__ import annotations

from studies.diagnosis.blocks import Blocks
from studies.diagnosis.terms import Term, plain_term


def trend(blocks: Blocks) -> Term:
    """The coefficient of an arm is what its mean gains over the whole stretch."""
    return plain_term("incremental-drift", blocks.arms, mean=blocks.time[:, None])
