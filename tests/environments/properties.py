"""How many examples most properties are tried on."""

from __future__ import annotations

from hypothesis import settings

quick = settings(max_examples=30)
