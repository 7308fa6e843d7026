import itertools
import zlib

import pytest

from ravenlab.environments import random_numbers, streams
from ravenlab.environments.base import Effect
from ravenlab.environments.catalog import EFFECTS, find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.effects.fixed_levels import FixedLevels
from ravenlab.environments.published import published_scenarios as published
from ravenlab.environments.scenario import Scenario
from ravenlab.environments.streams import Stream, generator, spawn_key

WORLD_KEYS = {"base", "noise"}

EFFECT_KEYS = {
    "arm-churn": {"arm-churn"},
    "blips": {"blips", "blips times"},
    "delayed": {"delay"},
    "fixed-levels": set(),
    "gradual-drift": {"coin", "gradual-drift"},
    "incremental-drift": {"incremental-drift"},
    "localized-jump": {"localized-jump", "localized-jump times"},
    "periodic": {"periodic amplitude", "periodic phase"},
    "published-blips": {"published-blips"},
    "published-incremental-drift": {"published-incremental-drift"},
    "published-logistics": {"published-logistics"},
    "published-variance-drift": {"published-variance-drift"},
    "random-walk": {"random-walk"},
    "variance-drift": {"variance-drift"},
}
"""The stream keys of every effect. They must never change, since the worlds depend on them."""


def shipped_effects() -> dict[str, Effect]:
    effects = [effect() for effect in EFFECTS.values()]
    effects += [effect for scenario in published() for effect in scenario.effects]
    effects.append(FixedLevels(means=(0.1, 0.2, 0.3), variances=(0.1, 0.1, 0.1)))
    return {effect.name: effect for effect in effects}


def settings_of(name: str) -> dict[str, str]:
    random_times = {"times": "geometric"}
    return {"arm-churn": {"closing": "random"}, "blips": random_times, "localized-jump": random_times}.get(name, {})


@pytest.mark.parametrize("name", sorted(EFFECT_KEYS))
def test_stream_keys_of_effects_are_fixed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[str] = set()

    def recording_spawn_key(stream: int, replication: int, key: str) -> tuple[int, int, int]:
        used.add(key)
        return spawn_key(stream, replication, key)

    for module in (streams, random_numbers):
        monkeypatch.setattr(module, "spawn_key", recording_spawn_key)
    scenario = Scenario(name, "one effect", (shipped_effects()[name],)).with_settings(settings_of(name))
    draw_worlds(scenario, horizon=6000, arms=3, seed=1)
    assert used == WORLD_KEYS | EFFECT_KEYS[name]


def test_every_effect_has_pinned_stream_keys() -> None:
    assert set(shipped_effects()) == set(EFFECT_KEYS)


def test_a_renamed_effect_draws_the_same_worlds() -> None:
    original = EFFECTS["blips"]()
    renamed = type("Renamed", (EFFECTS["blips"],), {"name": "renamed"})()
    worlds = [draw_worlds(Scenario("any", "", (effect,)), 100, 3, seed=1) for effect in (original, renamed)]
    assert (worlds[0].level == worlds[1].level).all()
    assert (worlds[0].level == draw_worlds(find_scenario("blips"), 100, 3, seed=1).level).all()


def test_equal_keys_give_equal_numbers_and_different_keys_different_ones() -> None:
    stream_keys = itertools.product((0, 1), (Stream.SIMULATE, Stream.REPORT), (0, 1), ("base", "noise"))
    numbers_by_key = {key: generator(*key).random(4).tolist() for key in stream_keys}
    assert all(generator(*key).random(4).tolist() == numbers for key, numbers in numbers_by_key.items())
    assert len({tuple(numbers) for numbers in numbers_by_key.values()}) == 16


def test_no_two_keys_share_a_stream() -> None:
    keys = {*WORLD_KEYS, "policy"}.union(*EFFECT_KEYS.values())
    assert len({zlib.crc32(key.encode()) for key in keys}) == len(keys) == 20


def test_search_selection_report_and_grid_streams_are_disjoint() -> None:
    assert len({int(stream) for stream in Stream}) == len(Stream) == 5
