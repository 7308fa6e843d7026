"""How property tests run: few examples, the same ones every time."""

from __future__ import annotations

from hypothesis import settings

quick = settings(max_examples=30, deadline=None, derandomize=True)
