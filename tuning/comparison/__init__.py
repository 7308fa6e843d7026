"""Comparing policies on the same worlds."""
