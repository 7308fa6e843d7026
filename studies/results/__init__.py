"""Results: recommendations, grids, robust settings and comparisons."""
