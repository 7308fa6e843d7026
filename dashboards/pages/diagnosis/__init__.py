"""The page of `ravenlab diagnose`."""
