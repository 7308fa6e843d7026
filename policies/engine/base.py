"""The contract of a policy: parameters, compiled rules, and methods for online use.

A policy is a subclass of `Policy` with two compiled rules and, if its statistics do not start at zero, a third:

    start(arms, cells, memory, p)                                    optional
    select(t, open_, arms, cells, memory, p, rng) -> arm             class attribute `choose`
    update(t, k, x, open_, arms, cells, memory, p, rng)              class attribute `learn`

A built-in policy has the name of its module, and the rules that the module defines under these names.

t is the step from 1, k the pulled arm, x its reward, p the parameters in the order of `parameters`, rng a NumPy
generator. Statistics are kept in `arms` [rows, K], `cells` and `memory`, whose sizes the class states. `open_` [K]
holds CLOSED, OPEN or WAITING. `select` is called only when every open arm has been pulled; it returns −1 if it has no
preference. Which values the arrays may hold is declared next to their sizes (`policies/engine/limits.py`).
"""

from __future__ import annotations

import copy
import operator
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np

from ravenlab.common.checks import LARGEST_NUMBER, MAX_STEPS, check_integer, number_rule
from ravenlab.common.compiled import compile_for, inlined, is_built_in
from ravenlab.common.errors import InputError, unknown_name
from ravenlab.common.text import shorten_value
from ravenlab.environments.draw import check_memory
from ravenlab.policies.engine.fork import register_policy
from ravenlab.policies.engine.limits import Limit, Memory
from ravenlab.policies.engine.names import check_names, find_arm
from ravenlab.policies.engine.parameters import Param, ParamContext, Value, Values

if TYPE_CHECKING:
    from ravenlab.environments.world import Floats, Worlds

    Mask = np.ndarray[Any, np.dtype[np.bool_]]

PULLS = 0  # row of `arms` that counts pulls; maintained by the loop

CLOSED, OPEN, WAITING = range(3)
"""Values of `open_`. WAITING arms are open, but a reward of theirs is outstanding; simulations have none."""


@dataclass(frozen=True)
class Sizes:
    """Sizes of the arrays that the rules use: rows of `arms` (PULLS included), cells, memory."""

    rows: int = 1
    cells: int = 0
    memory: int = 0

    def bytes(self, arms: int) -> int:
        """Return the memory that all arrays take.

        >>> Sizes(rows=3, cells=1).bytes(arms=10)
        248
        """
        return 8 * (self.rows * arms + self.cells + self.memory)


MAX_POLICY_BYTES = 256_000_000  # of the arrays of a policy in a study, or in an exported file


@inlined
def start_at_zero(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Leave all statistics at zero."""


class Policy:
    """A bandit policy for online use; simulations and studies run the compiled rules of its subclasses.

    Rewards may arrive late, in batches, and for arms that were not selected or have been closed. All methods are
    thread-safe. An arm without rewards is selected first.

    Args:
        arms: Number of arms.
        names: Names of the arms, distinct texts. `select()` returns a name, and all methods take names.
        minimize: Whether `update` takes costs, of which less is better, instead of rewards.
        seed: Seed of the random generator.
        horizon: Number of steps; some policies have parameters that depend on it.
        **params: Parameters of the policy; those not given have their defaults.

    >>> from ravenlab.policies import RavenUCB
    >>> policy = RavenUCB(arms=3, alpha0=1.0, beta0=5.0, epsilon=0.1)
    >>> arm = policy.select()
    >>> policy.update(arm, 0.7)
    >>> policy = Policy.from_state(policy.state())
    >>> policy.select()
    1
    >>> policy = RavenUCB(arms=2, names=["north", "south"], minimize=True)
    >>> policy.update_many(["north", "south"], [12.5, 9.4])  # costs
    >>> policy.select()
    'south'
    """

    name: ClassVar[str]
    family: ClassVar[str] = "index"
    """"index", "sampling" (draws random numbers, so that `random` is true) or "published"."""
    reference: ClassVar[str] = ""
    parameters: ClassVar[tuple[Param, ...]] = ()
    random: ClassVar[bool] = False
    """Whether the rules draw random numbers."""
    uses_true_means: ClassVar[bool] = False
    """Whether rewards are scaled by the true means: in simulations only, to reproduce a published table."""
    knows_changes: ClassVar[bool] = False
    """Whether arms are restarted when their true means change: in simulations only, as an anchor for comparisons."""
    scalable: ClassVar[bool] = True
    """Whether scaling parameters by their `power` adapts the policy to rewards of another scale."""
    rows: ClassVar[int] = 1
    """Rows of `arms` that the rules use, PULLS included; at least those in `row_limits`."""
    row_limits: ClassVar[Mapping[int, Limit]] = {}
    """Allowed values of rows of `arms` other than PULLS; those of rows that are not listed must be finite."""
    cells: ClassVar[int] = 0
    """Cells that the rules use; at least those in `cell_limits`."""
    cell_limits: ClassVar[Mapping[int, Limit]] = {}
    """Allowed values of cells, in particular of those used as an index; others must be finite."""

    names: tuple[str, ...] | None = None
    """Names of the arms; None if arms are numbers."""
    minimize: bool = False
    """Whether `update` takes costs."""
    _numbers: Mapping[str, int] = MappingProxyType({})  # of arms by name; policies pickled without names have none

    start: ClassVar[Callable[..., None]] = staticmethod(start_at_zero)
    choose: ClassVar[Callable[..., int]]
    learn: ClassVar[Callable[..., None]]
    rule_names: ClassVar[Mapping[str, str]] = {"start": "start", "select": "choose", "update": "learn"}
    """Attributes of the rules by their names in the module of a built-in policy."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.family == "sampling":
            cls.random = True
        if not cls.__module__.startswith("ravenlab.policies."):
            return
        module = vars(sys.modules[cls.__module__])
        for name, attribute in cls.rule_names.items():
            if attribute not in vars(cls) and callable(module.get(name)):
                setattr(cls, attribute, staticmethod(module[name]))
        if hasattr(cls, "learn"):
            cls.name = cls.__module__.rpartition(".")[2].replace("_", "-")

    @classmethod
    def memory_layout(cls, arms: int, values: Mapping[str, Value]) -> Memory:
        """Return sizes and allowed values of the parts of `memory`, such as a window of past rewards."""
        return Memory()

    @classmethod
    def check_state(cls, values: Mapping[str, Value], stats: Floats, cells: Floats, memory: Floats) -> None:
        """Raise InputError for arrays of a state whose values are allowed individually but not together."""

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        """Return the sizes of the arrays for a number of arms and parameter values."""
        rows = max(cls.rows, 1 + max(cls.row_limits, default=PULLS))
        cells = max(cls.cells, 1 + max(cls.cell_limits, default=-1))
        return Sizes(rows, cells, cls.memory_layout(arms, values).size)

    @classmethod
    def hidden_knowledge(cls) -> str | None:
        """Return what the policy knows about the world besides rewards; None if it can be used online.

        >>> from ravenlab.policies import find_policy
        >>> find_policy("oracle-ucb1").hidden_knowledge()
        'knows the true changes'
        """
        if cls.uses_true_means:
            return "uses the true means"
        return "knows the true changes" if cls.knows_changes else None

    @classmethod
    def evaluate_fast(cls, worlds: Worlds, candidates: Floats, mark: int) -> Floats | None:
        """Return the columns of `play.evaluate` [C, R, 4] by a faster exact method; None if there is none."""
        return None

    @classmethod
    def resolve(cls, params: Mapping[str, Value] | None, arms: int, horizon: int | None) -> Values:
        """Return all parameters: validated values where given, defaults otherwise."""
        if params is not None and not isinstance(params, Mapping):
            raise InputError(f"params must be a mapping of names to values but got {params!r}.")
        params = dict(params or {})
        known = [param.name for param in cls.parameters]
        for name in params:
            if name not in known:
                raise unknown_name(f"parameter of {cls.name}", name, known)
        values: Values = {}
        for param in cls.parameters:
            values[param.name] = param.resolve(params.get(param.name), ParamContext(horizon, arms, values))
        cls.check(values)
        return values

    @classmethod
    def check(cls, values: Values) -> None:
        """Raise InputError for values that are valid individually but not together."""

    @classmethod
    def vector(cls, values: Mapping[str, Value]) -> Floats:
        """Return the parameters as the array p of the rules."""
        return np.array([param.encode(values[param.name]) for param in cls.parameters], dtype=np.float64)

    def __init__(
        self,
        arms: int,
        *,
        names: Sequence[str] | None = None,
        minimize: bool = False,
        seed: int | None = None,
        horizon: int | None = None,
        **params: Value,
    ) -> None:
        secret = self.hidden_knowledge()
        if secret is not None:
            raise InputError(f"{self.name} {secret}, so it is available in simulations only.")
        check_integer("arms", arms, least=1, most=MAX_STEPS)
        if horizon is not None:
            check_integer("horizon", horizon, least=1, most=MAX_STEPS)
            if any(param.name == "horizon" for param in self.parameters):
                params["horizon"] = horizon
        if seed is not None:
            check_integer("seed", seed, least=0)
        if not isinstance(minimize, bool):
            raise InputError(f"minimize must be true or false but got {shorten_value(minimize)}.", field="minimize")
        self.arms = arms
        self.minimize = minimize
        self.names = None if names is None else check_names(names, arms)
        self._numbers = {name: number for number, name in enumerate(self.names or ())}
        self.values = self.resolve(params, arms, horizon)
        self._p = self.vector(self.values)
        sizes = self.sizes(arms, self.values)
        check_memory(sizes.bytes(arms), f"{self!r}")
        self._stats = np.zeros((sizes.rows, arms))
        self._cells = np.zeros(sizes.cells)
        self._memory = np.zeros(sizes.memory)
        self._open = np.ones(arms, dtype=np.int64)
        self._pending = np.zeros(arms, dtype=np.int64)
        self._asked = np.zeros(arms, dtype=np.int64)
        self._step = 0
        self._rng = np.random.Generator(np.random.PCG64(seed))
        self._lock = threading.RLock()
        self._may_fail = not (is_built_in(type(self).choose) and is_built_in(type(self).learn))
        type(self).start(self._stats, self._cells, self._memory, self._p)
        arrays = (self._open, self._stats, self._cells, self._memory, self._p, self._rng)
        compile_for(type(self).choose, 1, *arrays)  # so that the first requests of a service do not wait for it
        compile_for(type(self).learn, 1, 0, 0.0, *arrays)
        register_policy(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes except the lock, with copies of the arrays, for `pickle` and `copy`.

        A copy continues independently, but random policies draw the same numbers as the original.
        """
        with self._lock:
            return {
                name: copy.deepcopy(value) if isinstance(value, np.ndarray | np.random.Generator) else value
                for name, value in vars(self).items()
                if name != "_lock"
            }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.RLock()
        register_policy(self)

    def __repr__(self) -> str:
        """Return the constructor call.

        >>> from ravenlab.policies import UCB1
        >>> UCB1(arms=3)
        UCB1(arms=3, c=2.0)
        >>> UCB1(arms=2, names=["a", "b"], minimize=True)
        UCB1(arms=2, c=2.0, names=['a', 'b'], minimize=True)
        """
        arguments: dict[str, Any] = {"arms": self.arms, **self.values}
        if self.names is not None:
            arguments["names"] = list(self.names)
        if self.minimize:
            arguments["minimize"] = True
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"

    @overload
    def select(self, *, index: Literal[True]) -> int: ...
    @overload
    def select(self, *, index: bool = False) -> Any: ...  # a union would force every caller to check the type
    def select(self, *, index: bool = False) -> int | str:
        """Return the arm to pull next: its name if arms have names, else its number from 0.

        Args:
            index: Whether to return the number even if arms have names.
        """
        with self._lock:
            if not self._open.any():
                raise InputError("all arms are closed; open one before calling select().")
            before = self._snapshot()
            _check_step(self._step + 1)
            self._step += 1
            try:
                arm = self._untried_arm()
                if arm is None:
                    arm = self._select_by_rule()
                self._pending[arm] += 1
            except BaseException:
                self._step -= 1
                self._roll_back(before)
                raise
            self._asked[arm] = self._step
        return arm if index or self.names is None else self.names[arm]

    def _snapshot(self) -> dict[str, Any] | None:
        """Return copies of everything that rules change; None for built-in rules, which do not raise exceptions."""
        if not self._may_fail:
            return None
        arrays = {name: getattr(self, name).copy() for name in ("_stats", "_cells", "_memory", "_pending")}
        return {**arrays, "_step": self._step, "_rng": copy.deepcopy(self._rng) if self.random else self._rng}

    def _roll_back(self, before: dict[str, Any] | None) -> None:
        """Restore the policy after a rule has raised an exception, so that a call changes everything or nothing."""
        if before is not None:
            vars(self).update(before)

    def _untried_arm(self) -> int | None:
        """Return the lowest open arm without rewards, or None.

        Arms with an outstanding reward are skipped while others can be pulled, but not indefinitely, because a reward
        may never arrive.
        """
        untried = (self._open == OPEN) & (self._stats[PULLS] == 0)
        not_waiting = untried & ~self._waiting()
        if not_waiting.any():
            return int(not_waiting.argmax())
        if untried.any() and not ((self._open == OPEN) & (self._stats[PULLS] > 0)).any():
            return self._fewest_pending(untried)
        return None

    def _waiting(self) -> Mask:
        """Return which arms have an outstanding reward that has not timed out."""
        timeout = 10 * self.arms
        return (self._pending > 0) & (self._step - self._asked <= timeout)

    def _fewest_pending(self, mask: Mask) -> int:
        """Return the arm of the mask with the fewest outstanding rewards."""
        return int(np.where(mask, self._pending, np.iinfo(np.int64).max).argmin())

    def _select_by_rule(self) -> int:
        available = (self._open == OPEN) & (self._stats[PULLS] > 0)
        status = np.where(available, np.where(self._waiting(), WAITING, OPEN), CLOSED)
        arm = type(self).choose(self._step, status, self._stats, self._cells, self._memory, self._p, self._rng)
        return int(arm) if arm >= 0 else self._fewest_pending(available)

    def update(self, arm: int | str, reward: float) -> None:
        """Update with the reward of an arm, with `minimize` its cost; invalid input raises InputError.

        The arm need not have been selected here, and may have been closed in the meantime.
        """
        self.update_many([arm], [reward])

    def update_many(self, arms: Sequence[int | str], rewards: Sequence[float]) -> None:
        """Update with a batch of rewards, with `minimize` costs; invalid input raises InputError and changes nothing.

        An interrupt, such as Ctrl-C, leaves either none or all of the batch.

        >>> from ravenlab.policies import UCB1
        >>> policy = UCB1(arms=3)
        >>> policy.update_many([0, 1, 2], [0.2, 0.9, 0.4])
        >>> policy.select()
        1
        """
        try:
            arms, rewards = list(arms), list(rewards)
        except TypeError:
            raise InputError(f"arms and rewards must be sequences but got {arms!r} and {rewards!r}.") from None
        if len(arms) != len(rewards):
            raise InputError(f"arms and rewards must have the same length but got {len(arms)} and {len(rewards)}.")
        with self._lock:
            checked = [
                (self._find_arm(arm), self._check_reward(reward)) for arm, reward in zip(arms, rewards, strict=True)
            ]
            before = self._snapshot()
            calls = self._plan_updates(checked)
            try:
                # One call of C code: Python handles signals only before and after it.
                deque(map(operator.call, calls), maxlen=0)
            except BaseException:
                self._roll_back(before)
                raise

    def _plan_updates(self, checked: Sequence[tuple[int, float]]) -> list[Callable[[], Any]]:
        """Return the calls that apply a batch, none of which executes Python code if the rules are built in."""
        step, pending, learn = self._step, self._pending.copy(), type(self).learn
        arrays = (self._open, self._stats, self._cells, self._memory, self._p, self._rng)
        calls: list[Callable[[], Any]] = []
        for arm, reward in checked:
            waited = pending[arm] > 0
            step += not waited
            _check_step(step)
            pending[arm] -= waited
            pulls = self._stats[PULLS, arm : arm + 1]
            calls += [partial(np.add, pulls, 1.0, pulls), partial(learn, step, arm, reward, *arrays)]
        return [*calls, partial(np.copyto, self._pending, pending), partial(vars(self).__setitem__, "_step", step)]

    def open(self, arm: int | str) -> None:
        """Make an arm available; its statistics are kept. An arm without rewards is selected next.

        >>> from ravenlab.policies import UCB1
        >>> policy = UCB1(arms=2)
        >>> policy.close(0)
        >>> policy.select()
        1
        >>> policy.open(0)
        >>> policy.select()
        0
        """
        with self._lock:
            self._open[self._find_arm(arm)] = OPEN

    def close(self, arm: int | str) -> None:
        """Make an arm unavailable: it is not selected until it is opened.

        Its outstanding rewards are no longer waited for, but those that arrive are still learned from.
        """
        with self._lock:
            number = self._find_arm(arm)
            self._open[number] = CLOSED
            self._pending[number] = 0

    def _find_arm(self, arm: int | str) -> int:
        return find_arm(arm, self.arms, self._numbers)

    def _check_reward(self, reward: float) -> float:
        """Return the reward that the rules learn from: with `minimize` the negative of a cost."""
        if isinstance(reward, np.integer | np.floating | np.bool_):
            reward = reward.item()  # a float32 cannot be compared with LARGEST_NUMBER
        if not isinstance(reward, int | float) or not abs(reward) <= LARGEST_NUMBER:
            kind = "cost" if self.minimize else "reward"
            raise InputError(f"{kind} must {number_rule(reward)} but got {reward!r}.")
        return -float(reward) if self.minimize else float(reward)

    def state(self) -> dict[str, Any]:
        """Return the complete state, including the random generator, as a dict that JSON can represent."""
        from ravenlab.policies.engine.state import save_state

        return save_state(self)

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
        names: Sequence[str] | None = None,
    ) -> Self:
        """Create the policy that an export (JSON or TOML) recommends.

        A policy tuned on a trace or log has the names of its arms, and takes costs if it was tuned on costs. Arms that
        open later in the scenario follow the others and are closed: call `open` when they become available.

        Args:
            path: The exported file. It is read as data; nothing in it is executed.
            scenario: Selects a recommendation; needed only if the file has several that match.
            horizon: As `scenario`.
            arms: As `scenario`; also the number of arms of the policy, without those that open later.
            seed: Seed of the random generator.
            scale: c, for rewards c times as large as those the policy was tuned on.
            study: As `scenario`.
            names: Names of the arms; by default those of the export.
        """
        from ravenlab.policies.engine.loading import load_policy

        wanted = {"scenario": scenario, "horizon": horizon, "study": study}
        return load_policy(cls, path, wanted, arms, seed, scale, names)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Restore the policy from the result of `state()`."""
        from ravenlab.policies.engine.state import restore_policy

        return restore_policy(cls, state)


def _check_step(step: int) -> None:
    if step > MAX_STEPS:  # a state with more steps could not be restored
        raise InputError(f"a policy can make at most {MAX_STEPS:,} steps; create a new one.")
