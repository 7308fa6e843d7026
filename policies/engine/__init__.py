"""What all policies share: contract, compiled loops, online state, loading and simulation."""
