"""Sensitivity grids: the regret of RAVEN-UCB over α₀ and β₀, all cells in the same worlds.

A grid is an Optuna study too, one trial a cell, α₀ outer and β₀ inner.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from environments import Scenario, find_scenario
from environments.world import Floats
from policies import find_policy

PAPER_VALUES = (0.5, 1.0, 5.0, 10.0)
"""The paper's own grid, for α₀ and for β₀."""


class GridSpec(BaseModel):
    """What a grid plays.

    >>> GridSpec(scenario="blips", horizon=1000).study_name()
    'grid/raven-ucb/blips/T1000/K10'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    scenario: str
    settings: dict[str, int | float | str] = Field(default_factory=dict)
    horizon: int | None = Field(default=None, strict=True, ge=1)
    arms: int | None = Field(default=None, strict=True, ge=1)
    alpha0: tuple[float, ...] = Field(default=PAPER_VALUES, min_length=1, max_length=1000)
    beta0: tuple[float, ...] = Field(default=PAPER_VALUES, min_length=1, max_length=1000)
    epsilon: float = 0.1
    replications: int = Field(default=1000, strict=True, ge=2, le=10_000_000)
    seed: int = Field(default=0, strict=True, ge=0, le=2**63 - 1)
    name: str | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        world = self.world()
        horizon, arms = self.horizon or world.horizon, self.arms or world.arms
        world.check(horizon, arms)
        for axis, values in (("alpha0", self.alpha0), ("beta0", self.beta0)):
            if len(set(values)) != len(values) or list(values) != sorted(values):
                raise ValueError(f"{axis} must rise without repeating but got {', '.join(f'{v:g}' for v in values)}")
            for value in values:
                find_policy("raven-ucb").resolve({axis: value, "epsilon": self.epsilon}, arms, horizon)
        return self

    def world(self) -> Scenario:
        """The scenario with its settings."""
        return find_scenario(self.scenario, dict(self.settings))

    def resolved(self) -> GridSpec:
        """The same with horizon and arms written out."""
        world = self.world()
        update = {"scenario": world.name, "horizon": self.horizon or world.horizon, "arms": self.arms or world.arms}
        return self.model_copy(update=update)

    def study_name(self) -> str:
        """`grid/raven-ucb/scenario/T…/K…`, with a short hash where cells or settings are not the default."""
        if self.name is not None:
            return self.name
        here = self.resolved()
        name = f"grid/raven-ucb/{here.scenario}/T{here.horizon}/K{here.arms}"
        usual = {field: GridSpec.model_fields[field].get_default(call_default_factory=True) for field in _IN_HASH}
        mine = {field: getattr(here, field) for field in _IN_HASH}
        if mine == usual:
            return name
        text = json.dumps(mine, sort_keys=True, default=list)
        return f"{name}~{hashlib.sha256(text.encode()).hexdigest()[:4]}"

    def cells(self) -> list[dict[str, float]]:
        """Parameters of every cell in the order of their trials."""
        return [{"alpha0": a, "beta0": b, "epsilon": self.epsilon} for a in self.alpha0 for b in self.beta0]


_IN_HASH = ("settings", "alpha0", "beta0", "epsilon")


@dataclass(frozen=True)
class Grid:
    """A finished grid: means and standard errors [α₀, β₀], and which cells can't be told from the best."""

    spec: GridSpec
    study: str
    mean: Floats
    stderr: Floats
    indistinguishable: np.ndarray[Any, np.dtype[np.bool_]]

    @property
    def best(self) -> tuple[int, int]:
        """Place of the lowest mean."""
        place = np.unravel_index(int(self.mean.argmin()), self.mean.shape)
        return int(place[0]), int(place[1])
