"""Timings, as ratios measured side by side in one run. `make bench` runs them; they are no tests."""
