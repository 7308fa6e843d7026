"""The page of a comparison: who wins, then a section for each world."""
