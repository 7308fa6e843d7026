"""Effects: one module per kind of change."""
