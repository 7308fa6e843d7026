"""Errors in study files."""

from pathlib import Path
from typing import Any

import pytest

from ravenlab.common.errors import InputError
from ravenlab.studies.spec.files import load_study_file
from ravenlab.studies.spec.parse import parse_study_spec
from tests.messages import assert_names, raises_naming

HEAD = '[[study]]\nscenario = "blips"\n'


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ["[[study]]"]),
        ("study = []", ["[[study]]"]),
        ("study = 5", ["study", "[[study]]", "5"]),
        ("study = [5]", ["study 1", "5"]),
        ("[study]\nscenario = 'blips'", ["study", "[[study]]"]),
        ("horizon = 5\n" + HEAD, ["'horizon'", "study", "robust", "[[study]]"]),
        ("[[studies]]", ["'studies'", "'study'", "robust"]),
        (HEAD + "horizon =", ["TOML", "end of document"]),
        (HEAD + "horizon = x\n", ["TOML", "line 3, column 11"]),
        (HEAD + "seed = " + "9" * 5000, ["TOML", "digits"]),
        (HEAD + "seed = " + "[" * 100_000, ["TOML", "nested"]),
        (HEAD + "horzon = 5", ["study 1", "'horzon'", "'horizon'"]),
        ("[[study]]\nhorizon = 5", ["study 1", "scenario"]),
        ("[[study]]\nscenario = 5", ["study 1", "scenario", "5"]),
        ("[[study]]\nscenario = []", ["study 1", "scenario", "1", "1000", "0"]),
        ("[[study]]\nscenario = [[]]", ["study 1", "scenario", "[]"]),
        ("[[study]]\nscenario = 'blip'", ["study 1", "scenario", "'blip'", "'blips'"]),
        ("[[study]]\nscenario = ['blips', 'blip']", ["study 1", "scenario", "'blip'", "'blips'"]),
        ("[[study]]\nscenario = {}", ["study 1", "scenario", "{}"]),
        ("[[study]]\nscenario = {name = 3}", ["study 1", "scenario.name", "text", "3"]),
        ("[[study]]\nscenario = {effects = []}", ["study 1", "scenario.effects"]),
        ("[[study]]\nscenario = {effects = ['blip']}", ["study 1", "effect", "'blip'", "'blips'"]),
        ("[[study]]\nscenario = {name = 'blips', evry = 3}", ["study 1", "'evry'", "'every'"]),
        ("[[study]]\nscenario = {name = 'blips', every = true}", ["study 1", "settings.every", "text", "True"]),
        ("[[study]]\nscenario = {name = 'blips', noise = 'laplace'}\nnoise = 'normal'", ["study 1", "noise"]),
        (HEAD + "horizon = []", ["study 1", "horizon", "1", "1000", "0"]),
        (HEAD + "horizon = true", ["study 1", "horizon", "True"]),
        (HEAD + "horizon = 1.5", ["study 1", "horizon", "1.5"]),
        (HEAD + "horizon = [100, '5x']", ["study 1", "horizon", "'5x'"]),
        (HEAD + "horizon = 0", ["study 1", "horizon", "1", "0"]),
        (HEAD + "horizon = 5", ["study 1", "horizon", "arms", "10", "5"]),
        (HEAD + "horizon = 10000000000", ["study 1", "horizon", "1000000000", "10000000000"]),
        (HEAD + "horizon = 0x" + "f" * 9000, ["study 1", "horizon", "1e+100"]),
        (HEAD + "horizon = [50, 50]", ["study 1", "name", "'raven-ucb/blips/T50/K10'"]),
        (HEAD + "trials = 1_000_000_000", ["study 1", "trials", "1000000", "1000000000"]),
        (HEAD + "seed = nan", ["study 1", "seed", "nan"]),
        (HEAD + "seed = 2020-01-01", ["study 1", "seed", "datetime.date"]),
        (HEAD + "sampler = 'tp'", ["study 1", "sampler", "'tpe'", "'tp'"]),
        (HEAD + "policy = 'raven-uc'", ["study 1", "policy", "'raven-uc'", "'raven-ucb'"]),
        (HEAD + "policy = 1", ["study 1", "policy", "1"]),
        (HEAD + "objective = 'best'", ["study 1", "objective", "mean", "reward", "quantile:0.9"]),
        (HEAD + "name = ''", ["study 1", "name"]),
        (HEAD + f"name = '{'x' * 500}'", ["study 1", "name", "400"]),
        (HEAD + f"name = '{'x' * 5000}'", ["study 1", "name", "1000", "5000"]),
        (HEAD + "name = 'a'\nhorizon = [50, 60]", ["study 1", "name", "{scenario}", "{horizon}", "2"]),
        (HEAD + "name = '{horizon}'", ["study 1", "name", "{horizon}", "horizon"]),
        ("[[study]]\ntrace = 'a.csv'\nname = '{scenario}'", ["study 1", "name", "{scenario}", "scenario"]),
        (HEAD + "settings = 5", ["study 1", "settings", "5"]),
        (HEAD + "space = 5", ["study 1", "space", "5"]),
        (HEAD + "noise = 5", ["study 1", "noise", "normal", "laplace"]),
        (HEAD + "space.alpha0 = {low = 5, high = 1}", ["study 1", "space.alpha0", "low", "high", "5", "1"]),
        (HEAD + "space.alpha0 = [5, 5]", ["study 1", "space.alpha0", "low", "high", "5"]),
        (HEAD + "space.alpha0 = []", ["study 1", "space.alpha0", "[low, high]", "[]"]),
        (HEAD + "space.alpha0 = [0, 5]", ["study 1", "space.alpha0", "low", "0", "log", "scale"]),
        (HEAD + "space.alpha0 = {low = 1}", ["study 1", "space.alpha0.high"]),
        (HEAD + "space.alpha0 = {}", ["study 1", "space.alpha0.low"]),
        (HEAD + "space.alpha0 = {lo = 1, low = 1, high = 2}", ["study 1", "space.alpha0", "'lo'", "'low'"]),
        (HEAD + "space.alpha0 = ['1', 5]", ["study 1", "space.alpha0.low", "'1'"]),
        (HEAD + "space.alpha0 = [1, inf]", ["study 1", "space.alpha0", "inf"]),
        (HEAD + "space.alpha0 = {low = nan, high = 2}", ["study 1", "space.alpha0.low", "nan"]),
        (HEAD + "space.alpha0 = true", ["study 1", "space.alpha0", "low", "high"]),
        (HEAD + "space.alpha0 = {low=1,high=2,scale='sqrt'}", ["study 1", "space.alpha0.scale", "'log'", "'linear'"]),
        (HEAD + "space.alpha = [1, 2]", ["study 1", "raven-ucb", "'alpha'", "'alpha0'"]),
        (HEAD + "space.variance = ['welford', 'printed']", ["study 1", "space.variance.low", "'welford'"]),
        (HEAD + "space.epsilon = 'much'", ["study 1", "epsilon", "'much'"]),
        (HEAD + "space.epsilon = 1\nfixed.epsilon = 1", ["study 1", "epsilon", "fixed"]),
        (HEAD + "policy = 'd-ucb'\nspace.gamma = [0.9, 1]", ["study 1", "space.gamma", "high", "1"]),
        (HEAD + "policy = 'd-ucb'\nspace.gamma = [0.9, 0.8]", ["study 1", "space.gamma", "low", "high", "0.9", "0.8"]),
        (HEAD + HEAD, ["study 2", "'raven-ucb/blips/T10000/K10'", "study 1"]),
        (
            HEAD + "[[study]]\nscenario = 'blips'\nname = 'a'\n" + HEAD + "name = 'a'",
            ["study 3", "name", "'a'", "study 2"],
        ),
    ],
)
def test_errors_are_one_line(text: str, names: list[str], tmp_path: Path) -> None:
    path = tmp_path / "studies.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_study_file(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert_names(message.removeprefix(f"{path}: "), *names)
    assert "\n" not in message
    assert len(message) < len(str(path)) + 500


def test_unreadable_files_are_rejected(tmp_path: Path) -> None:
    wrong = tmp_path / "latin.toml"
    wrong.write_bytes('[[study]]\n# für\nscenario = "blips"'.encode("latin-1"))
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * 1_000_001)
    cases: list[tuple[Path, list[object]]] = [
        (wrong, ["UTF-8", "line 2"]),
        (large, [1_000_000]),
        (tmp_path, []),
        (tmp_path / "none.toml", []),
        (tmp_path / ("x" * 5000), ["File name too long"]),
        (wrong / "below.toml", ["Not a directory"]),
    ]
    for path, names in cases:
        with raises_naming(InputError, f"{path}:", *names):
            load_study_file(path)


def test_errors_name_the_field() -> None:
    cases: list[tuple[dict[str, Any], str, list[object]]] = [
        ({"space": {"alpha0": [5, 1]}}, "space.alpha0", [5, 1]),
        ({"trials": 0}, "trials", [1, 0]),
        ({"settings": {"every": float("inf")}}, "settings.every", ["inf"]),
    ]
    for fields, field, names in cases:
        with pytest.raises(InputError) as caught:
            parse_study_spec({"scenario": "blips", **fields})
        assert caught.value.field == field
        assert_names(str(caught.value), field, *names)
