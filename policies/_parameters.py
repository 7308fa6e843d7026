"""Parameters that policies of different families have in common, each with one default, range and meaning."""

from __future__ import annotations

from policies.base import Param

HORIZON_PARAMETER = Param(
    "horizon", lambda setting: setting.number("horizon"), least=1.0, meaning="T, the steps to be played"
)

CHANGES = Param("changes", 10.0, meaning="U, how many changes are expected")

XI_PARAMETER = Param("xi", 0.6, 0.001, 5.0, power=2, meaning="ξ, weight of the bonus, inside the root")

LIKELIHOOD_PARAMETER = Param(
    "likelihood", "gaussian", choices=("gaussian", "bernoulli"), meaning="what rewards are taken for"
)

GAUSSIAN = 0.0
"""How the rules read the first likelihood."""
