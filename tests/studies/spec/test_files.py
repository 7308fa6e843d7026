"""Loading of study files."""

import tomllib
from pathlib import Path

import jsonschema

from ravenlab.studies.spec.files import load_study_file
from ravenlab.studies.spec.schema import study_file_schema
from ravenlab.studies.spec.space import Range
from ravenlab.studies.spec.study import StudySpec


def load(tmp_path: Path, text: str) -> list[StudySpec]:
    path = tmp_path / "studies.toml"
    path.write_text(text, encoding="utf-8")
    specs = load_study_file(path)
    jsonschema.validate(tomllib.loads(text), study_file_schema())
    return specs


def test_lists_create_one_study_per_combination(tmp_path: Path) -> None:
    specs = load(
        tmp_path,
        """
        [[study]]
        scenario = ["blips", { name = "periodic", amplitude = 0.1 }, { effects = ["blips", "arm-churn"], every = 50 }]
        horizon = [500, 1000]
        noise = "laplace"
        seed = 4
        [[study]]
        scenario = "logistics"
        """,
    )
    assert [(spec.scenario, spec.horizon) for spec in specs] == [
        ("blips", 500),
        ("blips", 1000),
        ("periodic", 500),
        ("periodic", 1000),
        ("blips+arm-churn", 500),
        ("blips+arm-churn", 1000),
        ("logistics", 50_000),
    ]
    assert specs[0].settings == {"noise": "laplace"}
    assert specs[2].settings == {"amplitude": 0.1, "noise": "laplace"}
    assert specs[5].settings == {"every": 50, "noise": "laplace"}
    assert {spec.seed for spec in specs[:6]} == {4}


def test_space_contains_ranges_and_fixed_values(tmp_path: Path) -> None:
    (spec,) = load(
        tmp_path,
        """
        [[study]]
        scenario = "blips"
        fixed = { logarithm = "t" }
        [study.space]
        alpha0 = { low = 0.1, high = 5.0, scale = "linear" }
        beta0 = [1, 2]
        epsilon = 0.1
        variance = "printed"
        """,
    )
    assert spec.space == {"alpha0": Range(low=0.1, high=5.0, scale="linear"), "beta0": Range(low=1, high=2)}
    assert spec.fixed == {"logarithm": "t", "epsilon": 0.1, "variance": "printed"}


def test_rate_near_one_is_searched_as_one_minus_x(tmp_path: Path) -> None:
    (spec,) = load(tmp_path, '[[study]]\npolicy = "d-ucb"\nscenario = "blips"\nspace.gamma = [0.9, 0.999]')
    assert spec.space["gamma"] == Range(low=0.001, high=0.1, scale="one-minus")
    table = "{low = 0.001, high = 0.1, scale = 'one-minus'}"
    (same,) = load(tmp_path, f'[[study]]\npolicy = "d-ucb"\nscenario = "blips"\nspace.gamma = {table}')
    assert same == spec


def test_settings_with_the_same_name_in_two_effects(tmp_path: Path) -> None:
    (spec,) = load(
        tmp_path,
        """
        [[study]]
        [study.scenario]
        effects = ["blips", "localized-jump"]
        blips.every = "20%"
        blips.lasting = 5
        localized-jump.every = "25%"
        """,
    )
    assert spec.settings == {"blips.every": "20%", "lasting": 5, "localized-jump.every": "25%"}


def test_placeholders_in_names(tmp_path: Path) -> None:
    text = '[[study]]\nname = "mine/{policy}/{scenario}/{horizon}"\nscenario = ["blips", "periodic"]\nhorizon = [500]'
    assert [spec.name for spec in load(tmp_path, text)] == ["mine/raven-ucb/blips/500", "mine/raven-ucb/periodic/500"]
    (alone,) = load(tmp_path, '[[study]]\nname = "mine"\nscenario = ["blips"]\nhorizon = [500]')
    assert alone.study_name() == "mine"


def test_short_forms_of_counts(tmp_path: Path) -> None:
    text = '[[study]]\nname = "mine/{horizon}"\nscenario = "blips"\nhorizon = ["10k", 1e3]\ntrials = "1e2"'
    specs = load(tmp_path, text)
    assert [(spec.name, spec.horizon, spec.trials) for spec in specs] == [
        ("mine/10000", 10_000, 100),
        ("mine/1000", 1000, 100),
    ]


def test_windows_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "windows.toml"
    path.write_bytes(b'\xef\xbb\xbf[[study]]\r\nscenario = "blips"\r\n')
    assert len(load_study_file(path)) == 1
