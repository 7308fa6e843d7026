"""The page of a reproduction of the paper."""
