"""Rules that many policies share: nothing to set at the start, and an argmax of scores that are lines."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from environments.checks import LARGEST_NUMBER, check_integer
from environments.compiled import inlined
from environments.errors import InputError, unknown_name
from environments.text import format_value

if TYPE_CHECKING:
    from environments.world import Floats, Worlds


CLOSED = 0
"""The value of `open_` for an arm that can't be pulled."""


@inlined
def nothing_known(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """All statistics begin at zero."""


@inlined
def best_line(open_, arms, level, width, slope):  # type: ignore[no-untyped-def]
    """argmax over the open arms of arms[level] + slope·arms[width], lowest index on a tie."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        score = arms[level, k] + slope * arms[width, k]
        if open_[k] != CLOSED and score > best:
            best, chosen = score, k
    return chosen


Value = float | str
Values = dict[str, Value]


@dataclass(frozen=True)
class ParamContext:
    """What a default or a range may depend on: the horizon, the number of arms, and parameters before it."""

    horizon: int | None
    arms: int
    values: Mapping[str, Value]

    def number(self, name: str) -> float:
        """A parameter that stands before, or the horizon."""
        if name == "horizon":
            if self.horizon is None:
                raise InputError("horizon must be given: this policy's defaults depend on it.")
            return float(self.horizon)
        return float(self.values[name])


Number = float | Callable[[ParamContext], float]


@dataclass(frozen=True)
class Param:
    """One parameter: its default, the range that a study searches, and what is allowed at all.

    `scale` says how it is searched: "log", "linear", or "one-minus" for rates near 1, of which 1 − x
    is searched on a log scale. Without `low` and `high` it is fixed unless set by hand. `power` says how
    it follows the size of the rewards: for rewards c times as large, c^power times the value does the same.
    """

    name: str
    default: Number | str
    low: Number | None = None
    high: Number | None = None
    scale: str = "log"
    least: float = 0.0
    most: float = math.inf
    integer: bool = False
    choices: tuple[str, ...] = ()
    meaning: str = ""
    power: float = 0

    def resolve(self, given: Value | None, setting: ParamContext) -> Value:
        """The value to use, checked; the default when none is given."""
        if given is None:
            default = self.default
            value = default(setting) if callable(default) else default
            if self.integer and isinstance(value, float):
                value = float(round(value))
            return value
        if self.choices:
            if given not in self.choices:
                raise InputError(f"{self.name} must be one of {', '.join(self.choices)} but got {given!r}.")
            return given
        if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) <= LARGEST_NUMBER:
            raise InputError(f"{self.name} must be a finite number but got {given!r}.")
        if not self.least <= given <= self.most:
            allowed = f"at least {self.least:g}" if math.isinf(self.most) else f"in [{self.least:g}, {self.most:g}]"
            raise InputError(f"{self.name} must be {allowed} but got {given!r}.")
        if self.integer and given != int(given):
            raise InputError(f"{self.name} must be a whole number but got {given!r}.")
        return float(given)

    def describe(self) -> str:
        """Default and search range in a few words.

        >>> Param("c", 2.0, 0.001, 10.0).describe()
        '2, searched 0.001 to 10 (log)'
        """
        default = "from T and K" if callable(self.default) else format_value(self.default)
        if self.choices:
            return f"{default} of {', '.join(self.choices)}"
        if self.low is None or self.high is None:
            return default
        low, high = (format_value(x) if not callable(x) else "T" for x in (self.low, self.high))
        what = f"1 − {self.name} searched" if self.scale == "one-minus" else "searched"
        return f"{default}, {what} {low} to {high} ({'log' if self.scale == 'one-minus' else self.scale})"

    def code(self, value: Value) -> float:
        """The number that the rule reads: a choice is its place in the list."""
        return float(self.choices.index(value)) if isinstance(value, str) else value


PULLS = 0
"""The row of `arms` that counts pulls; kept by the loop, not by the rules."""

OPEN, WAITING = 1, 2
"""Values of `open_`, beside CLOSED."""


@dataclass(frozen=True)
class Sizes:
    """How much room the rules need: rows of `arms` (PULLS included), cells, memory."""

    rows: int = 1
    cells: int = 0
    memory: int = 0


class Policy:
    """A policy for use in a service; its subclasses are also what simulations and studies run.

    Rewards may come late, in batches, and for arms that were not selected; every method may be
    called from several threads. An arm is tried at once when it is new or has just been opened.

    >>> from policies import RavenUCB
    >>> policy = RavenUCB(arms=3, alpha0=1.0, beta0=5.0, epsilon=0.1)
    >>> arm = policy.select()
    >>> policy.update(arm, 0.7)
    >>> policy = Policy.from_state(policy.state())
    >>> policy.select()
    1
    """

    name: ClassVar[str]
    family: ClassVar[str] = "index"
    """index, sampling (draws at random) or published."""
    reference: ClassVar[str] = ""
    parameters: ClassVar[tuple[Param, ...]] = ()
    random: ClassVar[bool] = False
    """Whether its rules draw random numbers."""
    uses_true_means: ClassVar[bool] = False
    """Whether it reads the true means: only in simulation, and only to rebuild a published table."""
    slow: ClassVar[bool] = False
    """Whether its rules draw a Beta or Gamma variate or two for each arm and step, which no loop makes fast: it costs
    ten to twenty times what an index does, so that comparisons search it less."""
    scalable: ClassVar[bool] = True
    """Whether the `power` of its parameters is all that it takes to play rewards of another size."""

    start: ClassVar[Callable[..., None]] = staticmethod(nothing_known)
    choose: ClassVar[Callable[..., int]]
    learn: ClassVar[Callable[..., None]]

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        """How much room the rules need for these parameters."""
        raise NotImplementedError

    @classmethod
    def fast(cls, worlds: Worlds, candidates: Floats) -> Floats | None:
        """Regret, reward and suboptimal pulls [C, R, 3] by a faster way than the general loop, if there is one."""
        return None

    @classmethod
    def resolve(cls, given: Mapping[str, Value] | None, arms: int, horizon: int | None) -> Values:
        """All parameters with their values: those given, checked, and defaults for the rest."""
        if given is not None and not isinstance(given, Mapping):
            raise InputError(f"params must be names with values but got {given!r}.")
        given = dict(given or {})
        known = [param.name for param in cls.parameters]
        for name in given:
            if name not in known:
                raise unknown_name(f"parameter of {cls.name}", name, known)
        values: Values = {}
        for param in cls.parameters:
            values[param.name] = param.resolve(given.get(param.name), ParamContext(horizon, arms, values))
        cls.check(values)
        return values

    @classmethod
    def check(cls, values: Values) -> None:
        """Raise InputError for parameters that are allowed one by one but not together."""

    @classmethod
    def vector(cls, values: Mapping[str, Value]) -> Floats:
        """The parameters as the rules read them."""
        return np.array([param.code(values[param.name]) for param in cls.parameters], dtype=np.float64)

    def __init__(self, arms: int, *, seed: int | None = None, horizon: int | None = None, **params: Value) -> None:
        if self.uses_true_means:
            raise InputError(f"{self.name} reads the true means, so it exists in simulation only.")
        check_integer("arms", arms, least=1)
        if horizon is not None:
            check_integer("horizon", horizon, least=1)
            if any(param.name == "horizon" for param in self.parameters):
                params["horizon"] = horizon
        if seed is not None:
            check_integer("seed", seed, least=0)
        self.arms = arms
        self.values = self.resolve(params, arms, horizon)
        self._p = self.vector(self.values)
        sizes = self.sizes(arms, self.values)
        self._stats = np.zeros((sizes.rows, arms))
        self._cells = np.zeros(sizes.cells)
        self._memory = np.zeros(sizes.memory)
        self._open = np.ones(arms, dtype=np.int64)
        self._pending = np.zeros(arms, dtype=np.int64)
        self._asked = np.zeros(arms, dtype=np.int64)
        self._step = 0
        self._rng = np.random.Generator(np.random.PCG64(seed))
        self._lock = threading.RLock()
        type(self).start(self._stats, self._cells, self._memory, self._p)

    def __repr__(self) -> str:
        """How to make one like it, before it has seen anything.

        >>> from policies import UCB1
        >>> UCB1(arms=3)
        UCB1(arms=3, c=2.0)
        """
        given = ", ".join(f"{name}={value!r}" for name, value in self.values.items())
        return f"{type(self).__name__}(arms={self.arms}{', ' if given else ''}{given})"

    def select(self) -> int:
        """The arm to pull now."""
        with self._lock:
            if not self._open.any():
                raise InputError("no arm is open; open one before selecting.")
            self._step += 1
            arm = self._untried()
            if arm is None:
                arm = self._by_rule()
            self._pending[arm] += 1
            self._asked[arm] = self._step
            return arm

    def _untried(self) -> int | None:
        """An open arm of which nothing is known, lowest index first.

        One that was asked for and whose reward is still to come is passed over while others can be
        pulled, but not for ever: a reward can get lost.
        """
        new = (self._open == OPEN) & (self._stats[PULLS] == 0)
        fresh = new & ~self._awaited()
        if fresh.any():
            return int(fresh.argmax())
        if new.any() and not ((self._open == OPEN) & (self._stats[PULLS] > 0)).any():
            return int(np.where(new, self._pending, np.iinfo(np.int64).max).argmin())
        return None

    def _awaited(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """The arms whose reward is still to come and has not been given up."""
        patience = 10 * self.arms
        return (self._pending > 0) & (self._step - self._asked <= patience)

    def _by_rule(self) -> int:
        able = (self._open == OPEN) & (self._stats[PULLS] > 0)
        mask = np.where(able, np.where(self._awaited(), WAITING, OPEN), CLOSED)
        arm = type(self).choose(self._step, mask, self._stats, self._cells, self._memory, self._p, self._rng)
        return int(arm) if arm >= 0 else int(np.where(able, self._pending, np.iinfo(np.int64).max).argmin())

    def update(self, arm: int, reward: float) -> None:
        """Take in the reward of an arm, selected here or not. A bad one raises ValueError and changes nothing."""
        self.update_many([arm], [reward])

    def update_many(self, arms: Sequence[int], rewards: Sequence[float]) -> None:
        """Take in a batch of rewards, all or none."""
        try:
            arms, rewards = list(arms), list(rewards)
        except TypeError:
            raise InputError(f"arms and rewards must be sequences but got {arms!r} and {rewards!r}.") from None
        if len(arms) != len(rewards):
            raise InputError(f"arms and rewards must be of one length but got {len(arms)} and {len(rewards)}.")
        with self._lock:
            checked = [(self._check_arm(arm), _check_reward(reward)) for arm, reward in zip(arms, rewards, strict=True)]
            for arm, _ in checked:
                if not self._open[arm]:
                    raise InputError(f"arm {arm} is closed; open it before updating it.")
            for arm, reward in checked:
                if self._pending[arm] > 0:
                    self._pending[arm] -= 1
                else:
                    self._step += 1
                self._stats[PULLS, arm] += 1.0
                type(self).learn(
                    self._step, arm, reward, self._open, self._stats, self._cells, self._memory, self._p, self._rng
                )

    def open(self, arm: int) -> None:
        """Let an arm be pulled; what was learnt about it before is kept."""
        with self._lock:
            self._open[self._check_arm(arm)] = OPEN

    def close(self, arm: int) -> None:
        """Keep an arm from being pulled; rewards still to come of it are not waited for."""
        with self._lock:
            arm = self._check_arm(arm)
            self._open[arm] = CLOSED
            self._pending[arm] = 0

    def _check_arm(self, arm: int) -> int:
        if isinstance(arm, bool) or not isinstance(arm, int | np.integer) or not 0 <= arm < self.arms:
            raise InputError(f"arm must be a whole number from 0 to {self.arms - 1} but got {arm!r}.")
        return int(arm)

    def state(self) -> dict[str, Any]:
        """Everything it knows as a dict that JSON can hold, the random generator included."""
        from policies.engine.state import taken

        return taken(self)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        scenario: str | None = None,
        horizon: int | None = None,
        arms: int | None = None,
        seed: int | None = None,
        scale: float | None = None,
        study: str | None = None,
    ) -> Self:
        """The policy that an export (JSON or TOML) recommends, ready to play.

        What the file leaves no doubt about may be left out. `scale=c` is for rewards c times as large
        as those it was tuned on. Nothing in the file is executed.
        """
        from policies.engine.loading import load

        return load(cls, path, scenario, horizon, arms, seed, scale, study)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The policy that `state` was taken from, ready to go on where it stood."""
        from policies.engine.state import restored

        return restored(cls, state)


def _check_reward(reward: float) -> float:
    if isinstance(reward, bool | np.bool_):
        return float(reward)
    if isinstance(reward, np.integer | np.floating):
        reward = reward.item()  # a float32 can't be compared with the largest number
    if not isinstance(reward, int | float) or not abs(reward) <= LARGEST_NUMBER:
        raise InputError(f"reward must be a finite number but got {reward!r}.")
    return float(reward)
