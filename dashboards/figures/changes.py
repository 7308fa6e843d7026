"""When a scenario changes: the steps that a curve over time marks."""

from __future__ import annotations

from environments.moments import moments_of_change

__all__ = ["moments_of_change"]
