"""Samplers, pruners and the search loop."""
