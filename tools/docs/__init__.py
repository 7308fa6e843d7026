"""Generators of the documentation that is derived from the code."""
