"""Scenarios: the base world with effects and their parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ravenlab.common.checks import check_integer, check_nonnegative, check_number, parse_steps
from ravenlab.common.errors import InputError, unknown_name
from ravenlab.common.plugins import plugin_errors
from ravenlab.environments.base import BaseDraw, Effect
from ravenlab.environments.noise import DEFAULT_NOISE, check_noise

MAX_HORIZON = 10**9  # the tape of one world takes 17 bytes per step
MAX_SCHEDULE_BYTES = 256_000_000  # per world


@dataclass(frozen=True)
class Scenario:
    """A reward process, without horizon, number of arms and seed.

    >>> from ravenlab.environments import find_scenario
    >>> find_scenario("blips", {"every": "5%"}).parameters()["every"]
    '5%'
    """

    name: str
    meaning: str
    effects: tuple[Effect, ...] = ()
    base: BaseDraw = dataclasses.field(default_factory=BaseDraw)
    noise: str = DEFAULT_NOISE
    arms: int = 10
    horizon: int = 10_000
    constant: float | None = None
    """A fixed mean that regret is also measured against, as in a published protocol."""

    @property
    def category(self) -> str:
        """DPC, PC or TF as in the paper's Table 1; a dash for others."""
        return "+".join(dict.fromkeys(e.category for e in self.effects if e.category != "–")) or "–"

    @property
    def extra_arms(self) -> int:
        """Number of arms that effects add to the K requested ones."""
        return sum(effect.extra_arms for effect in self.effects)

    @property
    def delayed(self) -> bool:
        """Whether feedback is delayed and anonymous."""
        return any(effect.name == "delayed" for effect in self.effects)

    def reward_variance(self, horizon: int) -> float:
        """Return the variance of a reward of a random arm at a random step.

        >>> from ravenlab.environments import find_scenario
        >>> round(find_scenario("bernoulli", {"mean_low": 0.01, "mean_high": 0.03}).reward_variance(100), 4)
        0.0196
        """
        if self.noise == "bernoulli":
            rate = min(max(self.base.mean, 0.0), 1.0)
            return rate * (1.0 - rate)
        return self.base.reward_variance + sum(effect.added_variance(horizon) for effect in self.effects)

    def parameters(self) -> dict[str, Any]:
        """Return all parameters by name, written effect.name where two effects share a name."""
        return {self._key(owner, field): getattr(owner, field) for owner, field in self._fields()}

    def with_settings(self, settings: Mapping[str, Any]) -> Scenario:
        """Return the scenario with some parameters set: names as in `parameters`, and `noise`."""
        if not isinstance(settings, Mapping):
            raise InputError(f"settings must map names to values but got {settings!r}.")
        base = self.base
        effects = list(self.effects)
        noise = self.noise
        places = {self._key(owner, field): (owner, field) for owner, field in self._fields()}
        for key, value in settings.items():
            if key == "noise":
                noise = check_noise(value)
                continue
            if key not in places:
                shared = sorted(name for name in places if name.endswith(f".{key}"))
                if shared:
                    raise InputError(f"setting '{key}' is ambiguous; use {' or '.join(shared)}.")
                raise unknown_name("setting", key, [*places, "noise"])
            owner, field = places[key]
            if isinstance(owner, BaseDraw):
                base = dataclasses.replace(base, **{field: check_number(key, value)})
            else:
                place = next(i for i, effect in enumerate(self.effects) if effect is owner)
                effects[place] = dataclasses.replace(effects[place], **{field: value})
        constant = self.constant
        if constant is not None:
            constant = base.mean_high
        return dataclasses.replace(self, base=base, effects=tuple(effects), noise=noise, constant=constant)

    @property
    def largest_rate(self) -> float | None:
        """The largest mean that is drawn if rewards are 0 or 1, otherwise None."""
        return self.base.mean_high if self.noise == "bernoulli" else None

    def check(self, horizon: int, arms: int) -> None:
        """Raise InputError if the scenario is invalid for this horizon and number of arms."""
        check_integer("arms", arms, least=1)
        check_integer("horizon", horizon, least=1, most=MAX_HORIZON)
        if horizon < arms + self.extra_arms:
            raise InputError(
                f"horizon must be at least the number of arms ({arms + self.extra_arms}) but got {horizon}."
            )
        check_noise(self.noise)
        for field in dataclasses.fields(self.base):
            check_number(field.name, getattr(self.base, field.name))
        check_nonnegative("variance_low", self.base.variance_low)
        for low, high in (("mean_low", "mean_high"), ("variance_low", "variance_high")):
            if getattr(self.base, low) > getattr(self.base, high):
                raise InputError(
                    f"{low} must not be above {high} but got {getattr(self.base, low)} and {getattr(self.base, high)}."
                )
        names = [effect.name for effect in self.effects]
        for effect in self.effects:
            if names.count(effect.name) > 1:
                raise InputError(f"effects must be distinct but {effect.name} occurs twice.")
            if effect.moves_variance and self.noise == "bernoulli":
                raise InputError(f"noise must not be bernoulli with {effect.name}: it only changes variances.")
            with plugin_errors("effect", effect.name, type(effect)):
                effect.check(horizon, arms)
        if self.bytes_per_world(horizon, arms) - self._tape_bytes(horizon) > MAX_SCHEDULE_BYTES:
            raise InputError(
                f"{self._rows(horizon):,} levels of {arms:,} arms are too many; use fewer arms or a larger every."
            )

    def warnings(self, horizon: int, arms: int) -> list[str]:
        """List what is allowed but probably not intended: a single arm, and changes that begin after the horizon.

        >>> from ravenlab.environments import find_scenario
        >>> find_scenario("blips", {"every": 500}).warnings(horizon=100, arms=10)
        ['blips: every is 500 steps, longer than the horizon of 100; no change is simulated.']
        """
        warnings = []
        if arms + self.extra_arms == 1:
            warnings.append(f"{self.name}: with 1 arm the regret of every policy is 0.")
        for effect in self.effects:
            if effect.onset is None:
                continue
            steps = parse_steps(effect.onset, getattr(effect, effect.onset), horizon)
            if steps > horizon:
                result = "only a part of a period is" if effect.onset == "period" else "no change is"
                warnings.append(
                    f"{self.name}: {effect.onset} is {steps:,} steps, longer than the horizon of {horizon:,}; "
                    f"{result} simulated."
                )
        return warnings

    def bytes_per_world(self, horizon: int, arms: int) -> int:
        """Return the memory of one world: its tape and its schedule."""
        # 32 bytes per arm and level row; 24 bytes per segment, of which a blip has two
        return self._tape_bytes(horizon) + self._rows(horizon) * (32 * (arms + self.extra_arms) + 48)

    def _rows(self, horizon: int) -> int:
        rows = 1
        segments = 0
        for effect in self.effects:
            with plugin_errors("effect", effect.name, type(effect)):
                if effect.moves_levels:
                    segments += effect.rows(horizon)
                else:
                    rows += effect.rows(horizon)
        return rows if segments == 0 else rows + segments + 2 * (rows - 1)

    def _tape_bytes(self, horizon: int) -> int:
        return horizon * (17 + 48 * self.delayed)

    def _fields(self) -> list[tuple[BaseDraw | Effect, str]]:
        owners: list[BaseDraw | Effect] = [*self.effects, self.base]
        return [(owner, field.name) for owner in owners for field in dataclasses.fields(owner)]

    def _key(self, owner: BaseDraw | Effect, field: str) -> str:
        if isinstance(owner, BaseDraw) or sum(name == field for _, name in self._fields()) == 1:
            return field
        return f"{owner.name}.{field}"
