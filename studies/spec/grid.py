"""Specification of a sensitivity grid: the regret over two parameters, of RAVEN-UCB over α₀ and β₀ by default.

All cells play the same worlds.
"""

import itertools
import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from pydantic import Field, SerializerFunctionWrapHandler, StrictFloat, model_serializer, model_validator

from ravenlab.common.errors import InputError
from ravenlab.common.text import format_count
from ravenlab.environments.reward_scale import scale_value
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.registry import PAPER_VALUES, GridDefaults
from ravenlab.studies.spec.descriptions import GRID
from ravenlab.studies.spec.fields import MAX_RESULTS, ParamName, Replications, ShortText, SimulatedSpec, name_suffix
from ravenlab.studies.spec.source import ScenarioSource, Settings

GRID_POLICY = "raven-ucb"

# 25 values over the default search range, evenly spaced on a log scale; six digits, to be equal on every machine.
FINE_VALUES = tuple(float(f"{value:.6g}") for value in np.geomspace(0.01, 10.0, 25))

# All pairs of cells are tested against each other, which takes minutes beyond this number.
MAX_CELLS = 2500

# Fields that a default name states if they differ from their defaults.
NAMED_FIELDS = ("alpha0", "beta0", "epsilon", "seed")

# Two forms of the same fields, of which one is written.
RAVEN_AXES = ("alpha0", "beta0", "epsilon")
OTHER_AXES = ("policy", "axes", "fixed")


def scaled_defaults(scenario: str, settings: Settings, horizon: int | None) -> dict[str, Any]:
    """Return the default values of a grid that depend on the scale of the rewards; none if the scale is 1.

    >>> scaled_defaults("stationary", {}, 1000)
    {}
    """
    factor = ScenarioSource(scenario, settings).reward_scale(horizon).factor
    if factor == 1.0:
        return {}
    alpha0 = tuple(value * factor for value in GridDefaults.alpha0)
    return {"alpha0": alpha0, "epsilon": scale_value(GridDefaults.epsilon, factor, 2), "unit": factor}


class GridSpec(SimulatedSpec):
    """A sensitivity grid.

    >>> GridSpec(scenario="blips", horizon=1000).study_name()
    'grid/raven-ucb/blips/T1000/K10'
    """

    alpha0: tuple[StrictFloat, ...] = Field(
        default=GridDefaults.alpha0, min_length=1, max_length=1000, description=GRID["alpha0"]
    )
    beta0: tuple[StrictFloat, ...] = Field(
        default=GridDefaults.beta0, min_length=1, max_length=1000, description=GRID["beta0"]
    )
    epsilon: StrictFloat = Field(default=GridDefaults.epsilon, description=GRID["epsilon"])
    policy: str = Field(default=GRID_POLICY, max_length=100, description=GRID["policy"])
    axes: dict[ParamName, tuple[StrictFloat, ...]] = Field(default_factory=dict, max_length=2, description=GRID["axes"])
    fixed: dict[ParamName, StrictFloat | ShortText] = Field(
        default_factory=dict, max_length=100, description=GRID["fixed"]
    )
    unit: StrictFloat = Field(default=1.0, gt=0, description=GRID["unit"])
    replications: Replications = Field(default=GridDefaults.replications, description=GRID["replications"])

    @model_validator(mode="before")
    @classmethod
    def _scale_to_rewards(cls, fields: Any) -> Any:
        """Multiply default values by the scale of the rewards. Given values are never changed."""
        if not isinstance(fields, Mapping) or {"alpha0", "epsilon"} <= fields.keys():
            return fields
        try:
            scaled = scaled_defaults(fields["scenario"], fields.get("settings", {}), fields.get("horizon"))
        except (InputError, KeyError):
            return fields  # the fields are checked after this
        return {**scaled, **fields}

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        self.fill_in_size()
        self.source.open().check(self.horizon, self.arms)
        policy = find_policy(self.policy)
        if not self.axes:
            fixed: dict[str, Value] = {"epsilon": self.epsilon}
            self.__dict__.update(axes={"alpha0": self.alpha0, "beta0": self.beta0}, fixed=fixed)
        for axis, values in self.axes.items():
            if len(set(values)) != len(values) or list(values) != sorted(values):
                raise ValueError(f"{axis} must be strictly increasing but got {', '.join(f'{v:g}' for v in values)}")
            for value in values:
                policy.resolve({**self.fixed, axis: value}, self.arms, self.horizon)
        cells = self.planned
        if cells > MAX_CELLS:
            names = " × ".join(self.axes)
            raise ValueError(f"{names} must have at most {format_count(MAX_CELLS)} cells but got {cells}")
        if cells * self.replications > MAX_RESULTS:
            most = format_count(MAX_RESULTS // cells)
            raise ValueError(f"replications must be at most {most} for {cells} cells but got {self.replications}")
        return self

    @property
    def is_named(self) -> bool:
        """Whether the axes are given by name; otherwise they are α₀ and β₀ of RAVEN-UCB."""
        return self.axes != {"alpha0": self.alpha0, "beta0": self.beta0} or self.policy != GRID_POLICY

    @model_serializer(mode="wrap")
    def _leave_out_other_form(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write the axes as α₀, β₀ and ε if they are, as earlier versions did, otherwise by name."""
        fields: dict[str, Any] = write(self)
        unused = RAVEN_AXES if self.is_named else OTHER_AXES
        return {name: value for name, value in fields.items() if name not in unused}

    @property
    def planned(self) -> int:
        return math.prod(map(len, self.axes.values()))

    def worlds(self) -> int:
        return self.replications

    def simulated_steps(self) -> int:
        return self.planned * self.replications * self.horizon

    def compiled_policies(self) -> list[str]:
        return [self.policy]

    def summary(self) -> dict[str, Any]:
        return {"policy": self.policy, **self.model_dump(include={"scenario", "horizon", "arms", "seed"})}

    def study_name(self) -> str:
        """Return `grid/raven-ucb/scenario/T…/K…`, followed by cells, settings and seed other than the defaults."""
        if self.name is not None:
            return self.name
        name = f"grid/{self.policy}/{self.scenario}/T{self.horizon}/K{self.arms}"
        overrides = self.overrides(NAMED_FIELDS)
        if self.is_named:
            overrides |= {**self.axes, **self.fixed}
        for field, value in scaled_defaults(self.scenario, self.settings, self.horizon).items():
            if overrides.get(field) == value:
                del overrides[field]
        for cells, values in (("paper", PAPER_VALUES), ("fine", FINE_VALUES)):
            if self.alpha0 == self.beta0 == values:
                del overrides["alpha0"], overrides["beta0"]
                overrides["cells"] = cells
        return f"{name}{name_suffix(overrides)}"

    def cells(self) -> list[dict[str, Value]]:
        """Return the parameters of every cell in the order of the trials: the first axis outer, the second inner."""
        cells = itertools.product(*self.axes.values())
        return [{**dict(zip(self.axes, cell, strict=True)), **self.fixed} for cell in cells]

    def resolve_params(self, cell: dict[str, Value]) -> dict[str, Value]:
        """Return all parameters of a cell's candidate."""
        arms = self.arms + self.source.extra_arms
        policy = find_policy(self.policy)
        unit = {"unit": self.unit} if any(param.name == "unit" for param in policy.parameters) else {}
        return policy.resolve({**unit, **cell}, arms, self.horizon)
