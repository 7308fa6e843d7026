"""Measuring and fitting the laws in studies/laws/laws.json; `tools.atlas` runs it."""
