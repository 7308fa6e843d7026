"""The page of the reproduction: verdicts on top, then a section for each figure and table of the paper."""
