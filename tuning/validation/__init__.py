"""Selection and evaluation on held-out data."""
