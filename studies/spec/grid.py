"""Specification of a sensitivity grid: the regret of RAVEN-UCB over α₀ and β₀, all cells on the same worlds."""

from __future__ import annotations

from typing import Self

import numpy as np
from pydantic import Field, model_validator

from policies import find_policy
from policies.engine.base import Value
from studies.registry import GridDefaults
from studies.spec.fields import MAX_RESULTS, Real, SimulatedSpec, hash_unless_default

GRID_POLICY = "raven-ucb"

FINE_VALUES = tuple(float(f"{value:.6g}") for value in np.geomspace(0.01, 10.0, 25))
"""25 values over the paper's box, evenly on a log scale; six digits, so that they are the same on every machine."""

MAX_CELLS = 2500
"""Every cell is held against every other, which takes minutes from here on."""


class GridSpec(SimulatedSpec):
    """What a grid plays.

    >>> GridSpec(scenario="blips", horizon=1000).study_name()
    'grid/raven-ucb/blips/T1000/K10'
    """

    alpha0: tuple[Real, ...] = Field(default=GridDefaults.alpha0, min_length=1, max_length=1000)
    beta0: tuple[Real, ...] = Field(default=GridDefaults.beta0, min_length=1, max_length=1000)
    epsilon: Real = GridDefaults.epsilon
    replications: int = Field(default=GridDefaults.replications, strict=True, ge=2, le=10_000_000)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        horizon, arms = self.size()
        self.open_scenario().check(horizon, arms)
        for axis, values in (("alpha0", self.alpha0), ("beta0", self.beta0)):
            if len(set(values)) != len(values) or list(values) != sorted(values):
                raise ValueError(f"{axis} must rise without repeating but got {', '.join(f'{v:g}' for v in values)}")
            for value in values:
                find_policy(GRID_POLICY).resolve({axis: value, "epsilon": self.epsilon}, arms, horizon)
        cells = len(self.alpha0) * len(self.beta0)
        if cells > MAX_CELLS:
            raise ValueError(f"alpha0 and beta0 must make at most {MAX_CELLS} cells but got {cells}")
        if cells * self.replications > MAX_RESULTS:
            most = MAX_RESULTS // cells
            raise ValueError(f"replications must be at most {most} with {cells} cells but got {self.replications}")
        return self

    def resolved(self) -> ResolvedGridSpec:
        """The same with horizon and arms filled in, as it is stored."""
        return ResolvedGridSpec.model_construct(**self.resolved_fields())

    def study_name(self) -> str:
        """`grid/raven-ucb/scenario/T…/K…`, with a short hash where cells or settings are not the default."""
        if self.name is not None:
            return self.name
        here = self.resolved()
        name = f"grid/{GRID_POLICY}/{here.scenario}/T{here.horizon}/K{here.arms}"
        return f"{name}{hash_unless_default(*here.beside_usual(_IN_HASH))}"

    def cells(self) -> list[dict[str, float]]:
        """Parameters of every cell in the order of their trials."""
        return [{"alpha0": a, "beta0": b, "epsilon": self.epsilon} for a in self.alpha0 for b in self.beta0]

    def values(self, cell: dict[str, float]) -> dict[str, Value]:
        """All parameters of a cell's candidate."""
        here = self.resolved()
        return find_policy(GRID_POLICY).resolve({**cell}, here.arms + self.source.extra_arms, here.horizon)


class ResolvedGridSpec(GridSpec):
    """A grid with horizon and arms filled in: the form that is stored, played and shown.

    >>> GridSpec(scenario="blips").resolved().arms
    10
    """

    horizon: int
    arms: int

    def resolved(self) -> ResolvedGridSpec:
        """Itself."""
        return self


_IN_HASH = ("settings", "alpha0", "beta0", "epsilon")
