"""Study specifications, storage and results."""
