"""The online object: the same rules as in the simulation, and a service's bad days."""

from __future__ import annotations

import copy
import json
import math
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import policies
from environments import find_scenario
from environments.compiled import inlined
from environments.draw import draw_worlds
from environments.errors import InputError
from policies import find_policy, policy_names
from policies.base import CLOSED, PULLS, WAITING, Param, Policy, Setting, Sizes, Value
from policies.simulation import simulate
from tests.environments import plain_world

quick = settings(max_examples=30, deadline=None, derandomize=True)
NAMES = ["raven-ucb", "ucb1"]
MEAN = 1


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Nothing is known."""


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The arm that waits for no reward and whose draw is largest; -1 if all wait."""
    best, chosen = -1.0, -1
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED and open_[k] != WAITING:
            score = rng.random()
            if score > best:
                best, chosen = score, k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The last reward, and its step in a ring of 4."""
    arms[MEAN, k] = x
    memory[int(cells[0])] = t
    cells[0] = (cells[0] + 1.0) % 4.0


class Lottery(Policy):
    """Draws, keeps a ring, and passes over arms that wait."""

    name = "lottery"
    family = "sampling"
    random = True
    parameters = (Param("horizon", lambda s: s.number("horizon"), least=1),)
    start = staticmethod(start)
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=2, cells=1, memory=4)


@pytest.fixture
def lottery(monkeypatch: pytest.MonkeyPatch) -> type[Lottery]:
    """A random policy that `from_state` can find."""
    monkeypatch.setattr(policies, "find_policy", lambda name: Lottery if name == "lottery" else find_policy(name))
    return Lottery


def made(name: str, arms: int, **params: Any) -> Policy:
    return find_policy(name)(arms, **params)


def through_json(policy: Policy) -> Policy:
    return Policy.from_state(json.loads(json.dumps(policy.state(), allow_nan=False)))


def taught(name: str = "raven-ucb", arms: int = 4, steps: int = 30) -> Policy:
    """A policy that has seen some rewards, all of them in time."""
    policy, rng = made(name, arms), np.random.default_rng(1)
    for _ in range(steps):
        policy.update(policy.select(), rng.normal())
    return policy


class TestAsInTheSimulation:
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("scenario", ["stationary", "arm-churn", "localized-jump", "bernoulli", "delayed"])
    def test_the_same_rewards_lead_to_the_same_pulls(self, name: str, scenario: str) -> None:
        horizon, arms = 250, 4
        result = simulate(name, scenario, horizon=horizon, arms=arms, replications=1, seed=6, pulls=True)
        world = find_scenario(scenario)
        worlds = draw_worlds(world, horizon, arms, 6)
        policy = made(name, arms + world.extra_arms)
        feedback = plain_world.Feedback(worlds, 0)
        pulls = []
        for t in range(1, horizon + 1):
            for k in range(policy.arms):
                (policy.open if k in plain_world.open_arms(worlds, 0, t) else policy.close)(k)
            arm = policy.select()
            pulls.append(arm)
            policy.update(arm, feedback(arm, t))
            if t == horizon // 2:
                policy = through_json(policy)
        assert result.pulls is not None
        assert pulls == result.pulls[0].tolist()

    @quick
    @given(
        st.lists(st.tuples(st.integers(0, 2), st.floats(-100, 100)), min_size=1, max_size=60),
        st.sampled_from(NAMES),
    )
    def test_mean_and_variance_are_numpys(self, events: list[tuple[int, float]], name: str) -> None:
        policy = made(name, 3)
        policy.update_many([arm for arm, _ in events], [x for _, x in events])
        stats = np.array(policy.state()["stats"])
        for k in range(3):
            rewards = [x for arm, x in events if arm == k]
            assert stats[PULLS, k] == len(rewards)
            if rewards:
                assert stats[1, k] == pytest.approx(np.mean(rewards), rel=1e-9, abs=1e-9)
            if len(rewards) > 1 and name == "raven-ucb":
                assert stats[2, k] == pytest.approx(np.var(rewards, ddof=1), rel=1e-9, abs=1e-9)


class TestRewards:
    def test_rewards_may_come_late_and_in_any_order(self) -> None:
        policy = made("ucb1", 3)
        asked = [policy.select() for _ in range(3)]
        assert asked == [0, 1, 2]
        for arm in (2, 0, 1):
            policy.update(arm, 0.1 * arm)
        assert policy.state()["pending"] == [0, 0, 0]
        assert policy.state()["step"] == 3
        assert np.array(policy.state()["stats"])[1] == pytest.approx([0.0, 0.1, 0.2])

    def test_nothing_blocks_while_all_rewards_are_late(self) -> None:
        policy = made("raven-ucb", 3)
        asked = [policy.select() for _ in range(300)]
        assert set(asked) == {0, 1, 2}
        assert sum(policy.state()["pending"]) == 300
        policy.update_many(asked, [0.5] * 300)
        assert policy.state()["pending"] == [0, 0, 0]
        assert policy.state()["step"] == 300
        assert sum(policy.state()["stats"][PULLS]) == 300

    def test_a_batch_is_the_same_as_one_by_one(self) -> None:
        one, many = made("raven-ucb", 3, seed=1), made("raven-ucb", 3, seed=1)
        arms, rewards = [0, 1, 2, 2, 1], [0.1, 0.2, 0.3, 0.4, 0.5]
        for arm, reward in zip(arms, rewards, strict=True):
            one.update(arm, reward)
        many.update_many(np.array(arms), np.array(rewards))  # type: ignore[arg-type]
        assert one.state() == many.state()

    def test_a_reward_of_an_arm_that_was_not_selected_is_a_step_of_its_own(self) -> None:
        policy = made("ucb1", 3)
        policy.update(2, 0.7)
        assert policy.state()["step"] == 1
        assert [policy.select(), policy.select()] == [0, 1]
        assert policy.state()["step"] == 3

    @pytest.mark.parametrize("reward", [1, 0.5, True, np.float32(0.5), np.int64(1), np.bool_(True)])
    def test_any_kind_of_number_is_a_reward(self, reward: Any) -> None:
        policy = made("ucb1", 1)
        policy.update(0, reward)
        assert policy.state()["stats"][1] == [float(reward)]

    @pytest.mark.parametrize(
        "reward",
        [math.nan, math.inf, -math.inf, np.float64("nan"), 10**400, 1e300, "1", None, [1.0], 1j, np.array([1.0])],
    )
    def test_a_bad_reward_changes_nothing(self, reward: Any) -> None:
        policy = taught()
        policy.select()
        before = policy.state()
        with pytest.raises(ValueError, match="reward must be a finite number"):
            policy.update(0, reward)
        with pytest.raises(ValueError, match="reward must be a finite number"):
            policy.update_many([0, 1], [0.5, reward])
        assert policy.state() == before

    @pytest.mark.parametrize("arm", [-1, 4, 10**30, 1.0, 1.5, "1", None, True, False, np.bool_(True), [1], math.nan])
    def test_an_arm_that_is_none_changes_nothing(self, arm: Any) -> None:
        policy = taught()
        before = policy.state()
        for act in (policy.open, policy.close):
            with pytest.raises(ValueError, match="arm must be a whole number from 0 to 3"):
                act(arm)
        with pytest.raises(ValueError, match="arm must be a whole number from 0 to 3"):
            policy.update(arm, 0.5)
        with pytest.raises(ValueError, match="arm must be a whole number from 0 to 3"):
            policy.update_many([0, arm], [0.5, 0.5])
        assert policy.state() == before

    def test_a_batch_with_a_closed_arm_changes_nothing(self) -> None:
        policy = taught()
        policy.close(2)
        before = policy.state()
        with pytest.raises(ValueError, match="arm 2 is closed"):
            policy.update(2, 0.5)
        with pytest.raises(ValueError, match="arm 2 is closed"):
            policy.update_many([0, 2], [0.5, 0.5])
        assert policy.state() == before

    @pytest.mark.parametrize(("arms", "rewards"), [([0, 1], [0.5]), (0, 0.5), (None, [0.5]), ([0], None), ("0", [0.5])])
    def test_a_batch_that_is_none_changes_nothing(self, arms: Any, rewards: Any) -> None:
        policy = taught()
        before = policy.state()
        with pytest.raises(ValueError, match=r"arms? (and rewards )?must be"):
            policy.update_many(arms, rewards)
        assert policy.state() == before

    def test_lost_rewards_do_not_starve_an_arm(self, lottery: type[Lottery]) -> None:
        for policy in (made("ucb1", 3), lottery(3, horizon=10, seed=1)):
            served = [0, 0, 0]
            for step in range(400):
                arm = policy.select()
                served[arm] += 1
                if arm != 1 or step > 200:
                    policy.update(arm, 0.5)
            assert served[1] > 10
            assert policy.state()["stats"][PULLS][1] > 5

    def test_a_lost_first_reward_is_asked_for_again(self) -> None:
        policy = made("ucb1", 2)
        assert policy.select() == 0
        later = []
        for _ in range(30):
            arm = policy.select()
            later.append(arm)
            if arm == 1:
                policy.update(arm, 0.5)
        assert 0 in later
        assert later.index(0) >= 15

    def test_rewards_that_are_late_do_not_stall_a_policy_that_passes_over_waiting_arms(
        self, lottery: type[Lottery]
    ) -> None:
        policy = lottery(2, horizon=10, seed=1)
        policy.update_many([0, 1], [0.5, 0.5])
        assert {policy.select(), policy.select()} == {0, 1}
        assert {policy.select(), policy.select()} == {0, 1}


class TestOpenArms:
    @pytest.mark.parametrize("name", NAMES)
    def test_a_closed_arm_is_never_selected(self, name: str) -> None:
        policy = taught(name)
        policy.close(0)
        policy.close(3)
        for _ in range(100):
            arm = policy.select()
            assert arm in (1, 2)
            policy.update(arm, -1.0)

    def test_a_new_arm_is_tried_at_once_when_it_opens(self) -> None:
        policy = made("ucb1", 3)
        policy.close(2)
        for _ in range(20):
            arm = policy.select()
            assert arm != 2
            policy.update(arm, 0.5)
        policy.open(2)
        assert policy.select() == 2

    def test_what_was_learnt_before_closing_is_kept(self) -> None:
        policy = taught()
        stats = policy.state()["stats"]
        policy.close(1)
        policy.open(1)
        assert policy.state()["stats"] == stats

    def test_an_arm_that_closes_unpaid_is_tried_again_when_it_opens(self) -> None:
        policy = made("ucb1", 3)
        assert policy.select() == 0
        policy.close(0)
        assert policy.state()["pending"] == [0, 0, 0]
        policy.open(0)
        assert policy.select() == 0

    def test_with_all_arms_closed_there_is_nothing_to_select(self) -> None:
        policy = made("ucb1", 2)
        policy.close(0)
        policy.close(1)
        before = policy.state()
        with pytest.raises(ValueError, match="no arm is open"):
            policy.select()
        assert policy.state() == before
        policy.open(1)
        assert policy.select() == 1


class TestState:
    @pytest.mark.parametrize("name", NAMES)
    def test_the_future_is_the_same_after_json(self, name: str) -> None:
        policy = taught(name)
        policy.close(3)
        policy.select()
        again = through_json(policy)
        assert type(again) is type(policy)
        assert again.state() == policy.state()
        for step in range(60):
            arms = policy.select(), again.select()
            assert arms[0] == arms[1]
            for one in (policy, again):
                one.update(arms[0], math.sin(step))
        assert again.state() == policy.state()

    def test_the_future_of_a_random_policy_is_the_same_too(self, lottery: type[Lottery]) -> None:
        policy = lottery(5, horizon=100, seed=3)
        for _ in range(20):
            policy.update(policy.select(), 0.5)
        again = through_json(policy)
        assert again.values == {"horizon": 100.0}
        future = [[one.select() for _ in range(200)] for one in (policy, again)]
        assert future[0] == future[1]
        assert again.state() == policy.state()

    def test_a_seed_makes_a_random_policy_repeatable(self, lottery: type[Lottery]) -> None:
        def played(seed: int | None) -> list[int]:
            policy = lottery(5, horizon=100, seed=seed)
            policy.update_many(range(5), [0.5] * 5)
            return [policy.select() for _ in range(50)]

        assert played(1) == played(1)
        assert played(1) != played(2)
        assert played(None) != played(None)

    def test_a_state_is_a_copy(self) -> None:
        policy = taught()
        state = policy.state()
        kept = copy.deepcopy(state)
        policy.update(0, 5.0)
        assert state == kept

    def test_a_class_takes_only_its_own_state(self) -> None:
        with pytest.raises(ValueError, match="state is of ucb1, not of raven-ucb"):
            find_policy("raven-ucb").from_state(taught("ucb1").state())

    @pytest.mark.parametrize("field", taught().state())
    def test_every_field_is_needed(self, field: str) -> None:
        state = taught().state()
        del state[field]
        with pytest.raises(ValueError, match=f"state has no {field}"):
            Policy.from_state(state)

    @pytest.mark.parametrize("field", taught().state())
    @pytest.mark.parametrize("value", [None, "x", -1, 3.5, [], {}, [math.nan] * 4, [[1, 2], [3]], [2**70] * 4, 10**12])
    def test_damaged_fields_are_refused(self, field: str, value: Any) -> None:
        state = taught().state()
        if state[field] == value:
            value = "not what it holds"
        with pytest.raises(ValueError):  # noqa: PT011 - what it says depends on the field
            Policy.from_state({**state, field: value})

    @pytest.mark.parametrize(
        ("field", "damage"),
        [
            ("params", {"alpha0": 1.0}),
            ("params", {**taught().values, "seed": 1}),
            ("params", {**taught().values, "alpha0": "x"}),
            ("params", {**taught().values, "alpha0": 2.0}),
            ("params", dict(enumerate(taught().values))),
            ("generator", {}),
            ("generator", {"bit_generator": "MT19937"}),
            ("generator", {**taught().state()["generator"], "state": {"state": -1, "inc": 2**200}}),
            ("open", [1, 1, 1, 7]),
            ("pending", [0, 0, 0, -4]),
            ("stats", np.zeros((5, 4)).tolist()),
            ("step", 10**30),
            ("check", "0"),
        ],
    )
    def test_finer_damage_is_seen_too(self, field: str, damage: Any) -> None:
        with pytest.raises(ValueError):  # noqa: PT011 - what it says depends on the field
            Policy.from_state({**taught().state(), field: damage})

    def test_a_place_in_memory_that_is_none_never_reaches_the_rules(self, lottery: type[Lottery]) -> None:
        state = lottery(2, horizon=10, seed=1).state()
        with pytest.raises(ValueError, match="damaged"):
            Policy.from_state({**state, "cells": [1e9]})
        with pytest.raises(ValueError, match="horizon"):
            Policy.from_state({**state, "params": {"horizon": 10.5}})

    @pytest.mark.parametrize("state", [None, [], "x", 3, {}])
    def test_what_is_no_state_is_refused(self, state: Any) -> None:
        with pytest.raises(ValueError, match="state"):
            Policy.from_state(state)


class TestEveryPolicy:
    @pytest.mark.parametrize("name", [name for name in policy_names() if not find_policy(name).peeks])
    def test_bad_days_and_a_restart(self, name: str) -> None:
        """Late and lost rewards, arms that come and go, and a restart from JSON in the middle of it all."""
        arms, rng = 4, np.random.default_rng(3)
        policy = again = find_policy(name)(arms, seed=5, horizon=400)
        late: list[tuple[int, float]] = []
        for step in range(400):
            if step in (50, 250):
                (policy.close if step == 50 else policy.open)(2)
                (again.close if step == 50 else again.open)(2)
                late = [(arm, x) for arm, x in late if arm != 2]
            if step == 150:
                again = through_json(policy)
            arm = policy.select()
            assert 0 <= arm < arms
            assert arm != 2 or not 50 <= step < 250
            fate = rng.random()
            if fate < 0.9:
                late.append((arm, rng.normal(0.2 * arm, 0.2)))
            if again is not policy:
                assert again.select() == arm
            if fate < 0.6:
                for one in {id(policy): policy, id(again): again}.values():
                    one.update_many([arm for arm, _ in late], [x for _, x in late])
                late = []
        assert again.state() == policy.state()
        assert min(policy.state()["stats"][PULLS]) > 0


class TestThreads:
    @pytest.mark.parametrize("name", NAMES)
    def test_counts_add_up(self, name: str) -> None:
        policy, rounds, errors = made(name, 5), 300, []
        barrier = threading.Barrier(8)

        def hammer(worker: int) -> None:
            try:
                barrier.wait()
                for i in range(rounds):
                    arm = policy.select()
                    if worker == 0 and i % 10 == 0:
                        policy.state()
                    policy.update(arm, i % 2)
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=hammer, args=(worker,)) for worker in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        state = policy.state()
        assert not errors
        assert sum(state["stats"][PULLS]) == state["step"] == 8 * rounds
        assert state["pending"] == [0] * 5


class TestParameters:
    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"alpha0": -1}, "alpha0 must be at least 0 but got -1"),
            ({"alpha0": "1"}, "alpha0 must be a finite number but got '1'"),
            ({"alpha0": math.nan}, "alpha0 must be a finite number but got nan"),
            ({"alpha0": math.inf}, "alpha0 must be a finite number but got inf"),
            ({"alpha0": 10**400}, "alpha0 must be a finite number but got 1000"),
            ({"beta0": True}, "beta0 must be a finite number but got True"),
            ({"beta0": [1]}, r"beta0 must be a finite number but got \[1\]"),
            ({"variance": "biased"}, "variance must be one of welford, printed, accumulated but got 'biased'"),
            ({"variance": 1}, "variance must be one of welford, printed, accumulated but got 1"),
            ({"alpha": 1}, "unknown parameter of raven-ucb 'alpha'; did you mean 'alpha0'"),
            ({"seed": -1}, "seed must be at least 0 but got -1"),
            ({"seed": "a"}, "seed must be a whole number but got 'a'"),
            ({"horizon": 0}, "horizon must be at least 1 but got 0"),
            ({"horizon": 1.5}, "horizon must be a whole number but got 1.5"),
        ],
    )
    def test_bad_ones_give_one_clear_line(self, params: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError, match=f"^{message}") as caught:
            made("raven-ucb", 3, **params)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("arms", [0, -1, 2.0, "2", None, True])
    def test_arms_are_a_whole_number(self, arms: Any) -> None:
        with pytest.raises(InputError, match=r"^arms must be"):
            made("ucb1", arms)

    @pytest.mark.parametrize("params", [[1], "c", 3])
    def test_parameters_have_names(self, params: Any) -> None:
        with pytest.raises(InputError, match=r"^params must be names with values but got"):
            find_policy("ucb1").resolve(params, 3, 100)

    def test_a_default_that_needs_the_horizon_says_so(self) -> None:
        with pytest.raises(InputError, match=r"^horizon must be given"):
            Lottery(3)

    def test_bounds_and_whole_numbers(self) -> None:
        param = Param("n", lambda s: 10.6 * s.arms, least=1, most=50, integer=True)
        setting = Setting(None, 2, {})
        assert param.resolve(None, setting) == 21.0
        assert param.resolve(7, setting) == 7.0
        for value, message in (
            (0, "n must be in \\[1, 50\\] but got 0"),
            (1.5, "n must be a whole number but got 1.5"),
        ):
            with pytest.raises(InputError, match=message):
                param.resolve(value, setting)

    def test_a_policy_that_reads_the_true_means_is_for_simulation_only(self) -> None:
        class Peeking(Lottery):
            name = "peeking"
            peeks = True

        with pytest.raises(InputError, match="peeking reads the true means"):
            Peeking(3, horizon=10)
