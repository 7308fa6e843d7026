"""Policies in a service: compilation before the first request, failing rules, fork, pickle and large windows."""

import copy
import multiprocessing
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable
from itertools import count
from types import FrameType
from typing import Any

import pytest

from ravenlab.common.compiled import inlined
from ravenlab.common.errors import InputError
from ravenlab.policies import SWRaven, Thompson, find_policy
from ravenlab.policies.engine import base, fork
from ravenlab.policies.engine.base import Policy
from tests.faults.states import ONLINE, train
from tests.messages import raises_naming
from tests.policies.online import Lottery


@pytest.mark.parametrize("name", ONLINE)
def test_rules_are_compiled_at_construction(name: str) -> None:
    policy = find_policy(name)(2, horizon=50)
    rules: list[Any] = [type(policy).choose, type(policy).learn]
    before = [set(rule.overloads) for rule in rules]
    assert all(before)
    for _ in range(20):
        policy.update(policy.select(), 0.5)
    assert [set(rule.overloads) for rule in rules] == before


@inlined
def select_or_raise(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    cells[0] += 1.0
    rng.random()
    if t > 5:
        raise ValueError("select")
    return 0


@inlined
def update_or_raise(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    arms[1, k] += x
    cells[0] += 1.0
    if x < 0.0:
        raise ValueError("update")


class Failing(Policy):
    name = "failing"
    random = True
    rows, cells = 2, 1
    choose, learn = staticmethod(select_or_raise), staticmethod(update_or_raise)


def contents(policy: Policy) -> dict[str, Any]:
    return {name: value for name, value in policy.state().items() if name != "check"}


def test_failing_rules_change_nothing() -> None:
    policy = Failing(2, seed=1)
    policy.update_many([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])
    policy.select()
    before = contents(policy)
    for call in (policy.select, lambda: policy.update(1, -1.0), lambda: policy.update_many([0, 1], [0.5, -1.0])):
        with pytest.raises(ValueError, match=r"select|update"):
            call()
        assert contents(policy) == before


def interrupt_at(place: int) -> Callable[..., Any]:
    """Return a trace function that raises KeyboardInterrupt at a line or call of `Policy`, counted from 0."""
    left = place

    def trace(frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        nonlocal left
        if frame.f_code.co_filename != base.__file__:
            return None
        left -= 1
        if left < 0:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    return trace


@pytest.mark.parametrize("name", ["m-ucb", "thompson"])
def test_interrupted_batch_is_applied_completely_or_not_at_all(name: str) -> None:
    """Ctrl-C raises KeyboardInterrupt between two instructions of Python, wherever that is."""
    policy = find_policy(name)(3, horizon=50, seed=1)
    for _ in range(5):
        policy.update(policy.select(), 0.5)
    arms, rewards = [policy.select(), 0, 1, 0], [0.1, 0.2, 0.3, 0.4]
    updated = copy.deepcopy(policy)
    updated.update_many(arms, rewards)
    found, tracer = [], sys.gettrace()
    for place in count():
        interrupted = copy.deepcopy(policy)
        try:
            sys.settrace(interrupt_at(place))
            interrupted.update_many(arms, rewards)
            break
        except KeyboardInterrupt:
            found.append([contents(policy), contents(updated)].index(contents(interrupted)))
        finally:
            sys.settrace(tracer)
    assert len(found) > 20
    assert sorted(found) == found


def test_compilation_error_is_raised_at_construction() -> None:
    @inlined
    def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
        return undefined_name  # type: ignore[name-defined]  # noqa: F821

    broken = type("Broken", (Lottery,), {"choose": staticmethod(select)})
    with pytest.raises(Exception, match="undefined_name"):
        broken(2, horizon=5)


def in_child(function: Any, *arguments: Any) -> Any:
    """Return the result of a function in a forked process."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = os.fork()
    if process == 0:
        try:
            sender.send(function(*arguments))
        finally:
            os._exit(0)
    answered = receiver.poll(30)
    result = receiver.recv() if answered else None
    if not answered:
        os.kill(process, 9)
    os.waitpid(process, 0)
    assert answered, "the forked process hangs"
    return result


def draw(policy: Policy, count: int = 30) -> list[int]:
    return [policy.select() for _ in range(count)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
class TestFork:
    def test_policy_in_use_by_a_thread_can_be_forked(self) -> None:
        policies = [train(name) for name in ("thompson", "sw-raven")]
        stop = threading.Event()

        def use(policy: Policy) -> None:
            while not stop.is_set():
                policy.update(policy.select(), 0.5)

        threads = [threading.Thread(target=use, args=(policy,)) for policy in policies]
        for thread in threads:
            thread.start()
        try:
            for _ in range(5):
                for policy in policies:
                    assert in_child(lambda policy: Policy.from_state(policy.state()).select() >= 0, policy)
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_thread_that_holds_a_lock_may_use_and_create_other_policies(self) -> None:
        """As a policy that combines others does. In a child, because a deadlock would also block this process."""

        def fork_meanwhile() -> int:
            policies = [Lottery(2, horizon=5) for _ in range(4)]
            held = threading.Event()

            def combine() -> None:
                with policies[0]._lock:
                    held.set()
                    time.sleep(0.3)
                    for policy in (*policies, Lottery(2, horizon=5)):
                        policy.select()

            thread = threading.Thread(target=combine)
            thread.start()
            held.wait()
            arm: int = in_child(policies[0].select)
            thread.join()
            return arm

        assert in_child(fork_meanwhile) in (0, 1)

    def test_signal_handler_may_fork_while_a_policy_is_created(self) -> None:
        def fork_meanwhile() -> int:
            with fork._INSTANCES.lock:
                arm: int = in_child(Lottery(2, horizon=5).select)
            return arm

        assert in_child(fork_meanwhile) in (0, 1)

    def test_processes_draw_different_numbers(self) -> None:
        policy = Thompson(4, seed=3)
        policy.update_many(range(4), [0.5] * 4)
        children = [in_child(draw, policy) for _ in range(3)]
        grandchild = in_child(lambda: in_child(draw, policy))
        results = [draw(policy), grandchild, *children]
        assert len({tuple(arms) for arms in results}) == 5

    def test_compilation_in_another_thread_does_not_block_a_child(self) -> None:
        from numba.core.compiler_lock import global_compiler_lock

        held = threading.Event()

        def compile_slowly() -> None:
            with global_compiler_lock:
                held.set()
                time.sleep(0.3)

        thread = threading.Thread(target=compile_slowly)
        thread.start()
        held.wait()
        assert in_child(lambda: Lottery(2, horizon=5).arms) == 2
        thread.join()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda policy: pickle.loads(pickle.dumps(policy))])
@pytest.mark.parametrize("name", ["raven-ucb", "thompson", "sw-ts"])
def test_copies_continue_independently(name: str, copied: Any) -> None:
    policy = train(name)
    state = policy.state()
    twin = copied(policy)
    assert twin.state() == state
    twin.update(twin.select(), 0.5)
    assert policy.state() == state
    policy.update(policy.select(), 0.5)
    assert policy.state() == twin.state()


def test_state_of_a_large_window_holds_only_its_rewards() -> None:
    policy = SWRaven(arms=3, horizon=10**8)
    for _ in range(10):
        policy.update(policy.select(), 0.5)
    start = time.perf_counter()
    state = policy.state()
    assert time.perf_counter() - start < 1.0
    arms, rewards = state["memory"]
    assert len(arms[0]) <= len(rewards[0]) == 10
    assert Policy.from_state(state).state() == state


@pytest.mark.parametrize(
    ("name", "arms", "params", "named"),
    [
        ("sw-raven", 3, {"tau": 1e15}, "tau"),
        ("sw-ucb", 3, {"horizon": 10**400}, "horizon"),
        ("bob-sw-ucb", 3, {"block": 2**63}, "block"),
        ("ucb1", 10**12, {}, "arms"),
        ("ucb1", 10**400, {}, "arms"),
        ("f-dsw-ts", 1000, {"n": 1e13}, "arms"),
    ],
)
def test_sizes_beyond_the_memory_are_rejected(name: str, arms: int, params: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        find_policy(name)(arms, **({"horizon": 100} | params))


def test_state_cannot_request_more_than_the_memory() -> None:
    state = train("sw-raven").state()
    with raises_naming(InputError, "memory"):
        Policy.from_state({**state, "params": {**state["params"], "tau": 1e14}})
