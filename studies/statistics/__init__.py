"""Statistics of arrays: intervals, paired tests, bootstrap and step-down selection."""
