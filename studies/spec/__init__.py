"""Specifications of studies, grids, robust searches and comparisons; study files and their JSON Schema."""
