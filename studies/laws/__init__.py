"""Parameter laws: how the best parameters depend on the horizon, the arms, the noise and the rate of change."""
