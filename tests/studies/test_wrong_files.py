"""Study files that are wrong: one line with file and field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from environments.errors import InputError
from studies.files import load_study_file
from studies.reading import spec_from

HEAD = '[[study]]\nscenario = "blips"\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "there is no [[study]] in it."),
        ("study = []", "there is no [[study]] in it."),
        ("study = 5", "study must be a [[study]] table but got 5."),
        ("study = [5]", "study 1: must be a table but got 5."),
        ("[study]\nscenario = 'blips'", "study must be written [[study]], with double brackets."),
        ("horizon = 5\n" + HEAD, "unknown key 'horizon'. Known: study, robust; it belongs below a line [[study]]."),
        ("[[studies]]", "unknown key 'studies'; did you mean 'study'? Known: study, robust."),
        (HEAD + "horizon =", "not TOML: Invalid value (at end of document)."),
        (HEAD + "horizon = x\n", "not TOML: Invalid value (at line 3, column 11)."),
        (HEAD + "seed = " + "9" * 5000, "not TOML: it holds a number of thousands of digits."),
        (HEAD + "seed = " + "[" * 100_000, "not TOML: nested too deeply."),
        (HEAD + "horzon = 5", "study 1: unknown key 'horzon'; did you mean 'horizon'?"),
        ("[[study]]\nhorizon = 5", "study 1: scenario must be given."),
        ("[[study]]\nscenario = 5", "study 1: scenario must be a name, a table or a list of these but got 5."),
        ("[[study]]\nscenario = []", "study 1: scenario must hold 1 to 1000 values but got 0."),
        ("[[study]]\nscenario = [[]]", "study 1: scenario must be a name, a table or a list of these but got []."),
        ("[[study]]\nscenario = 'blip'", "study 1: unknown scenario 'blip'; did you mean 'blips'?"),
        ("[[study]]\nscenario = ['blips', 'blip']", "study 1 (blip): unknown scenario 'blip'; did you mean 'blips'?"),
        ("[[study]]\nscenario = {}", "study 1: scenario must have a name, effects, a trace or a log but got {}."),
        ("[[study]]\nscenario = {name = 3}", "study 1: scenario.name must be text but got 3."),
        ("[[study]]\nscenario = {effects = []}", "study 1: scenario.effects must be a list of names but got []."),
        ("[[study]]\nscenario = {effects = ['blip']}", "study 1: unknown effect 'blip'; did you mean 'blips'?"),
        ("[[study]]\nscenario = {name = 'blips', evry = 3}", "study 1: unknown setting 'evry'; did you mean 'every'?"),
        (
            "[[study]]\nscenario = {name = 'blips', every = true}",
            "study 1: settings.every must be a number or text but got True.",
        ),
        (
            "[[study]]\nscenario = {name = 'blips', noise = 'laplace'}\nnoise = 'normal'",
            "study 1: noise is given twice",
        ),
        (HEAD + "horizon = []", "study 1: horizon must hold 1 to 1000 values but got 0."),
        (HEAD + "horizon = true", "study 1: horizon must be a whole number but got True."),
        (HEAD + "horizon = 1e3", "study 1: horizon must be a whole number but got 1000.0."),
        (HEAD + "horizon = [100, '5']", "study 1: horizon must be a whole number but got '5'."),
        (HEAD + "horizon = 0", "study 1: horizon must be at least 1 but got 0."),
        (HEAD + "horizon = 5", "study 1: horizon must be at least the number of arms (10) but got 5."),
        (HEAD + "horizon = 10000000000", "study 1: horizon must be at most 1000000000 but got 10000000000."),
        (HEAD + "horizon = 0x" + "f" * 9000, "study 1: horizon must be a number below 1e+100 but got a larger one."),
        (HEAD + "horizon = [50, 50]", "study 1: name 'raven-ucb/blips/T50/K10' is also that of another"),
        (HEAD + "trials = 1_000_000_000", "study 1: trials must be at most 1000000 but got 1000000000."),
        (HEAD + "seed = nan", "study 1: seed must be a finite number but got nan."),
        (HEAD + "seed = 2020-01-01", "study 1: seed must be a number, text, list or table but got datetime.date"),
        (
            HEAD + "sampler = 'tp'",
            "study 1: unknown sampler 'tp'; did you mean 'tpe'?",
        ),
        (HEAD + "policy = 'raven-uc'", "study 1: unknown policy 'raven-uc'; did you mean 'raven-ucb'"),
        (HEAD + "policy = 1", "study 1: policy must be text but got 1."),
        (HEAD + "objective = 'best'", "study 1: objective must be mean, reward, quantile:0.9"),
        (HEAD + "name = ''", "study 1: name must not be empty."),
        (HEAD + f"name = '{'x' * 500}'", "study 1: name must not be longer than 400 but got 'xxx"),
        (HEAD + f"name = '{'x' * 5000}'", "study 1: name must be shorter than 1000 characters but got 5000."),
        (
            HEAD + "name = 'a'\nhorizon = [50, 60]",
            "study 1: name must hold {scenario} or {horizon}, as the table makes 2",
        ),
        (HEAD + "name = '{horizon}'", "study 1: name must not hold {horizon} where no horizon is given"),
        (HEAD + "settings = 5", "study 1: settings must be a table of names with values but got 5."),
        (HEAD + "space = 5", "study 1: space must be a table of names with values but got 5."),
        (HEAD + "noise = 5", "study 1: noise must be one of normal, laplace"),
        (HEAD + "space.alpha0 = {low = 5, high = 1}", "study 1: space.alpha0: low must be below high but got 5 and 1."),
        (HEAD + "space.alpha0 = [5, 5]", "study 1: space.alpha0: low must be below high but got 5 and 5."),
        (HEAD + "space.alpha0 = []", "study 1: space.alpha0 must be [low, high] but got []."),
        (HEAD + "space.alpha0 = [0, 5]", "study 1: space.alpha0: low must be above 0 on a log scale but got 0."),
        (HEAD + "space.alpha0 = {low = 1}", "study 1: space.alpha0.high must be given."),
        (HEAD + "space.alpha0 = {}", "study 1: space.alpha0.low must be given."),
        (
            HEAD + "space.alpha0 = {lo = 1, low = 1, high = 2}",
            "study 1: space.alpha0: unknown key 'lo'; did you mean 'low'?",
        ),
        (HEAD + "space.alpha0 = ['1', 5]", "study 1: space.alpha0.low must be a number but got '1'."),
        (HEAD + "space.alpha0 = [1, inf]", "study 1: space.alpha0 must be a finite number but got inf."),
        (
            HEAD + "space.alpha0 = {low = nan, high = 2}",
            "study 1: space.alpha0.low must be a finite number but got nan.",
        ),
        (
            HEAD + "space.alpha0 = true",
            "study 1: space.alpha0 must be [low, high], a table with low and high, or a plain",
        ),
        (HEAD + "space.alpha0 = {low=1,high=2,scale='sqrt'}", "study 1: space.alpha0.scale must be 'log', 'linear' or"),
        (HEAD + "space.alpha = [1, 2]", "study 1: unknown parameter of raven-ucb 'alpha'; did you mean 'alpha0'?"),
        (
            HEAD + "space.variance = ['welford', 'printed']",
            "study 1: space.variance.low must be a number but got 'welford'.",
        ),
        (HEAD + "space.epsilon = 'much'", "study 1: epsilon must be a finite number but got 'much'."),
        (HEAD + "space.epsilon = 1\nfixed.epsilon = 1", "study 1: epsilon is both searched and fixed."),
        (
            HEAD + "policy = 'd-ucb'\nspace.gamma = [0.9, 1]",
            "study 1: space.gamma: high must be below 1 where 1 minus it",
        ),
        (
            HEAD + "policy = 'd-ucb'\nspace.gamma = [0.9, 0.8]",
            "study 1: space.gamma: low must be below high but got 0.9 and 0.8",
        ),
        (HEAD + HEAD, "study 2: name 'raven-ucb/blips/T10000/K10' is also that of study 1; give each a name"),
        (
            HEAD + "[[study]]\nscenario = 'blips'\nname = 'a'\n" + HEAD + "name = 'a'",
            "study 3: name 'a' is also that of study 2",
        ),
    ],
)
def test_what_is_wrong_is_one_line(text: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "studies.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_study_file(path)
    said = str(caught.value)
    assert said.startswith(f"{path}: {expected}")
    assert "\n" not in said
    assert len(said) < len(str(path)) + 500


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    wrong = tmp_path / "latin.toml"
    wrong.write_bytes('[[study]]\n# für\nscenario = "blips"'.encode("latin-1"))
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * 1_000_001)
    for path, expected in [
        (wrong, "not UTF-8 (at line 2)."),
        (large, "must be at most 1000000 bytes long."),
        (tmp_path, "is a folder, not a study file."),
        (tmp_path / "none.toml", "there is no such file."),
        (tmp_path / ("x" * 5000), "can't be read: File name too long."),
        (wrong / "below.toml", "can't be read: Not a directory."),
    ]:
        with pytest.raises(InputError) as caught:
            load_study_file(path)
        assert str(caught.value) == f"{path}: {expected}"


def test_errors_say_which_field_is_wrong() -> None:
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"space": {"alpha0": [5, 1]}}, "space.alpha0", "space.alpha0: low must be below high but got 5 and 1."),
        ({"trials": 0}, "trials", "trials must be at least 1 but got 0."),
        (
            {"settings": {"every": float("inf")}},
            "settings.every",
            "settings.every must be a finite number but got inf.",
        ),
    ]
    for fields, field, expected in cases:
        with pytest.raises(InputError) as caught:
            spec_from({"scenario": "blips", **fields})
        assert (caught.value.field, str(caught.value)) == (field, expected)
