"""Common parts of all policies: contract, compiled loops, online state, loading and simulation."""
