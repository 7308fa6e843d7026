"""Hypothesis settings of most property tests."""

from hypothesis import settings

quick = settings(max_examples=30)
