from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ravenlab.common.errors import InputError
from ravenlab.environments import find_scenario
from ravenlab.environments.blocks import BLOCK_BYTES, split_into_blocks
from ravenlab.environments.catalog import EFFECTS, scenarios
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Worlds
from tests.environments.properties import quick
from tests.messages import raises_naming


def are_identical(one: Worlds, other: Worlds) -> bool:
    """Return whether two blocks of worlds are bit-identical."""
    pairs: list[tuple[Any, Any]] = list(zip(one[1:], other[1:], strict=True))
    return one.kind == other.kind and all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs)


def single_world(worlds: Worlds, r: int) -> Worlds:
    shared = {"season", "share"}
    parts = {name: getattr(worlds, name)[r : r + 1] for name in worlds._fields[1:] if name not in shared}
    return worlds._replace(**parts)


ALL_EFFECTS = "gradual-drift+localized-jump+periodic+random-walk+blips+arm-churn+delayed"


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *((name, {}) for name in [*scenarios(), ALL_EFFECTS]),
        (ALL_EFFECTS, {"localized-jump.times": "geometric", "blips.times": "jittered"}),
    ],
)
def test_a_block_equals_its_worlds_drawn_separately(name: str, settings: dict[str, Any]) -> None:
    scenario = find_scenario(name, settings)
    block = draw_worlds(scenario, 60, 4, seed=5, first=0, replications=10)
    for r in np.random.default_rng(1).permutation(10):
        assert are_identical(single_world(block, int(r)), draw_worlds(scenario, 60, 4, seed=5, first=int(r)))


@quick
@given(seed=st.integers(0, 2**63), first=st.integers(0, 10**6), name=st.sampled_from(list(EFFECTS)))
def test_equal_arguments_give_equal_worlds(seed: int, first: int, name: str) -> None:
    draw = [draw_worlds(find_scenario(name), 30, 3, seed, first, 2) for _ in range(2)]
    assert are_identical(*draw)
    assert not are_identical(draw[0], draw_worlds(find_scenario(name), 30, 3, seed + 1, first, 2))
    assert not are_identical(draw[0], draw_worlds(find_scenario(name), 30, 3, seed, first, 2, stream=Stream.REPORT))


@quick
@given(effects=st.lists(st.sampled_from(list(EFFECTS)), min_size=1, unique=True), seed=st.integers(0, 1000))
def test_an_effect_does_not_change_the_draws_of_others(effects: list[str], seed: int) -> None:
    arms = 4
    base = draw_worlds(find_scenario("stationary"), 80, arms, seed)
    mixed = draw_worlds(find_scenario("+".join(effects) if len(effects) > 1 else effects[0]), 80, arms, seed)
    assert (mixed.level[:, 0, :arms, :2] == base.level[:, 0, :, :2]).all()
    assert (mixed.noise == base.noise).all()
    for column, effect in enumerate(["incremental-drift", "variance-drift", "periodic", "periodic"]):
        if effect in effects:
            single = draw_worlds(find_scenario(effect), 80, arms, seed)
            assert (mixed.motion[:, :arms, column] == single.motion[:, :, column]).all()
    if "blips" in effects:
        single = draw_worlds(find_scenario("blips"), 80, arms, seed)
        blips = single.row[single.blip == 1], mixed.row[mixed.blip == 1]
        levels = [
            worlds.level[0, np.unique(rows), :arms, :2] for worlds, rows in zip((single, mixed), blips, strict=True)
        ]
        assert (levels[0] == levels[1]).all()
    if "gradual-drift" in effects:
        single = draw_worlds(find_scenario("gradual-drift"), 80, arms, seed)
        assert (mixed.coin == single.coin).all()
        assert (mixed.level[:, 0, :arms] == single.level[:, 0]).all()


def test_order_of_effects_does_not_matter() -> None:
    names = ["gradual-drift", "localized-jump", "periodic", "random-walk", "blips", "arm-churn"]
    forward, backward = (draw_worlds(find_scenario("+".join(order)), 90, 4, 1) for order in (names, names[::-1]))
    assert are_identical(forward, backward)


@quick
@given(replications=st.integers(1, 300), horizon=st.integers(100, 10**6))
def test_blocks_cover_all_replications_and_stay_small(replications: int, horizon: int) -> None:
    scenario = find_scenario("delayed")
    parts = list(split_into_blocks(scenario, horizon, 10, replications))
    assert [r for first, count in parts for r in range(first, first + count)] == list(range(replications))
    largest = max(count for _, count in parts)
    assert largest == 1 or largest * scenario.bytes_per_world(horizon, 10) <= BLOCK_BYTES


@pytest.mark.parametrize(
    "arguments", [{"seed": -1}, {"seed": "a"}, {"seed": 1, "first": -1}, {"seed": 1, "replications": 0}]
)
def test_invalid_arguments_are_rejected(arguments: dict[str, Any]) -> None:
    with raises_naming(InputError, list(arguments)[-1]):
        draw_worlds(find_scenario("stationary"), 50, 3, **arguments)
