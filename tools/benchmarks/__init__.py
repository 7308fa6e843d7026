"""Benchmarks: ratios of timings measured side by side in one run (`make bench`)."""
