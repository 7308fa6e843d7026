"""The Python API: single and several values, and errors before anything is played."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ravenlab
from tests.messages import raises_naming

NAMES: dict[str, Any] = {"arms": 3, "trials": 2, "replications": 5, "selection": 20, "report": 20}


@pytest.mark.parametrize("command", [ravenlab.tune, ravenlab.grid, ravenlab.compare])
@pytest.mark.parametrize(
    ("where", "names"),
    [
        (("blips", 100.5), ["horizon", "100.5"]),
        (("blips", "many"), ["horizon", "'many'"]),
        (("blips", [100, "ten"]), ["horizon", "'ten'"]),
        ((5, 100), ["scenario", "5"]),
    ],
)
def test_invalid_arguments(
    command: Callable[..., Any], where: tuple[Any, Any], names: list[str], tmp_path: Path
) -> None:
    with raises_naming(ravenlab.InputError, *names):
        command(*where, storage=f"sqlite:///{tmp_path}/s.sqlite3")
    assert not list(tmp_path.iterdir())


def test_timeout_must_be_a_number(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.sqlite3"
    with raises_naming(ravenlab.InputError, "timeout", "'soon'"):
        ravenlab.tune("blips", 100, timeout="soon", storage=url)
    with raises_naming(ravenlab.InputError, "timeout", "0", "-1"):
        ravenlab.tune_robust(["blips", "periodic"], 100, timeout=-1, storage=url)
    assert not list(tmp_path.iterdir())


def test_a_single_name_is_not_split_into_letters(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.sqlite3"
    ravenlab.tune("stationary", 100, storage=url, **NAMES)
    assert ravenlab.export("raven-ucb/stationary", storage=url) == ravenlab.export(storage=url)
    with raises_naming(ravenlab.InputError, "'periodic'"):
        ravenlab.report("periodic", tmp_path / "report.html", storage=url)
    with raises_naming(ravenlab.InputError, "'figure9'"):
        ravenlab.reproduce("figure9", tmp_path)
    with raises_naming(ravenlab.InputError, "2", "scenarios", "1"):
        ravenlab.tune_robust("blips", storage=url)


def test_settings_that_are_probably_not_intended_are_warned_of(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/studies.sqlite3"
    with pytest.warns(UserWarning, match="with 1 arm") as caught:
        ravenlab.grid("blips", 20, arms=1, replications=2, alpha0=[1.0], beta0=[1.0], storage=url)
    assert [Path(warning.filename) for warning in caught] == [Path(__file__)]
