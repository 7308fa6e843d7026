"""Hypothesis settings of most property tests."""

from __future__ import annotations

from hypothesis import settings

quick = settings(max_examples=30)
