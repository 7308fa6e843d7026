"""`ravenlab validate`: output, and random files that are accepted or refused in one line."""

import copy
import json
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ravenlab.studies.spec.files import find_study_file, load_study_file
from ravenlab.studies.spec.schema import study_file_schema
from tests.command import printed, refused, run_command

VALID: dict[str, Any] = {
    "study": [
        {
            "policy": "raven-ucb",
            "scenario": ["blips", {"name": "periodic", "amplitude": 0.1}, {"effects": ["blips", "arm-churn"]}],
            "horizon": [500, 1000],
            "noise": "laplace",
            "settings": {"mean_low": 0.2},
            "space": {"alpha0": {"low": 0.1, "high": 5.0, "scale": "log"}, "beta0": [1, 2], "epsilon": 0.1},
            "fixed": {"variance": "printed"},
            "objective": "cvar:0.9",
            "sampler": "qmc",
            "trials": 20,
            "seed": 7,
        },
        {"name": "second", "policy": "d-ucb", "scenario": "logistics", "space": {"gamma": [0.9, 0.99]}},
    ]
}
TEXT = tomli_w.dumps(VALID)

ODD_VALUES: st.SearchStrategy[Any] = st.one_of(
    st.booleans(),
    st.integers(),
    st.sampled_from([0, -1, 1, 2**63, -(2**70), 10**30]),
    st.floats(),
    st.text(max_size=30),
    st.sampled_from(["", "blips", "raven-ucb", "10%", "after:10%", "{horizon}", "x" * 2000]),
    st.dates(),
    st.lists(st.integers() | st.floats() | st.text(max_size=5), max_size=3),
    st.dictionaries(st.text(max_size=8), st.integers() | st.text(max_size=5), max_size=3),
    st.sampled_from([[], {}, [[]], [{}], {"low": 1, "high": 2}, {"name": "blips"}, {"effects": ["blips"]}]),
)


def list_paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [location for key, child in items for location in ((*path, key), *list_paths(child, (*path, key)))]


@st.composite
def mutated_files(draw: Callable[[Any], Any]) -> str:
    """Generate the valid document with values replaced, and keys renamed, moved or removed."""
    document = json.loads(json.dumps(VALID))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(list_paths(document) or [()]))
        if not path:
            break
        owner = document
        for key in path[:-1]:
            owner = owner[key]
        last = path[-1]
        change = draw(st.sampled_from(["replace", "replace", "replace", "remove", "rename"]))
        if change == "replace":
            owner[last] = copy.deepcopy(draw(ODD_VALUES))
        elif change == "remove" or isinstance(owner, list):
            del owner[last]
        else:
            owner[draw(st.sampled_from([f"{last}x", last[:-1], "horizon", "name", "é\n"]) | st.text(max_size=9))] = (
                owner.pop(last)
            )
    return tomli_w.dumps(document)


@st.composite
def damaged_files(draw: Callable[[Any], Any]) -> str:
    """Generate the valid text with pieces cut out, repeated or overwritten."""
    text = TEXT
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        piece = draw(
            st.one_of(st.just(""), st.text(max_size=20), st.just(2 * text[start:end]), st.sampled_from("[]{}=\"'\n"))
        )
        text = text[:start] + piece + text[end:]
    return text


def validate(content: bytes) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of the command for a file with these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.toml"
        path.write_bytes(content)
        return run_command(["validate", str(path)])


def check_validation(content: bytes) -> None:
    """Assert that a file is accepted and matches the schema, or is refused with one line."""
    code, out, err = validate(content)
    assert code in (0, 2)
    if code == 0:
        assert err == ""
        assert out.splitlines()[0].split(": ")[1].split()[1].startswith("stud")
        jsonschema.validate(tomllib.loads(content.decode("utf-8-sig")), study_file_schema())
    else:
        assert out == ""
        assert len(err.splitlines()) == 1
        assert err.startswith("ravenlab: ")
        assert "study.toml: " in err


MANY = settings(max_examples=60, suppress_health_check=list(HealthCheck))


@MANY
@given(mutated_files())
def test_mutated_files(text: str) -> None:
    check_validation(text.encode("utf-8", "surrogatepass"))


@MANY
@given(damaged_files())
def test_damaged_files(text: str) -> None:
    check_validation(text.encode("utf-8", "surrogatepass"))


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: f"[[study]]\n{text}".encode()))
def test_random_bytes(content: bytes) -> None:
    check_validation(content)


def test_lists_the_studies_of_each_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TEXT)
    lines = printed("validate", str(path), "quick").splitlines()
    assert lines[0].startswith(f"{path}: 7 studies, ")
    assert lines[7].startswith("  second: ")
    quick = load_study_file(find_study_file("quick"))
    assert lines[8] == f"quick: 3 studies, {sum(spec.simulated_steps() for spec in quick):,} steps"
    assert lines[9] == f"  quick/variance-drift: {quick[0].simulated_steps():,} steps"
    assert len(lines) == 12


def test_prints_nothing_if_a_later_file_is_invalid(tmp_path: Path) -> None:
    path = tmp_path / "studies.toml"
    path.write_text("[[study]]\nscenario = 'blips'\n[[study]]\nscenario = 'periodic'\nspace.alpha0 = [5, 1]")
    expected = f"ravenlab: {path}: study 2: space.alpha0: low must be below high but got 5 and 1."
    assert refused("validate", "quick", str(path)) == expected


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["quik"], "quik"),
        (["none.toml"], "none.toml"),
        (["."], "is a folder"),
        ([""], "is a folder"),
        (["a\0b"], "unknown study"),
        (["x" * 5000], "x" * 100),
        ([], "FILE"),
    ],
)
def test_unknown_files_are_one_line(words: list[str], name: str) -> None:
    assert name in refused("validate", *words)


def test_lists_bundled_studies() -> None:
    rows = json.loads(printed("list", "studies", "--json"))
    assert [row["name"] for row in rows] == ["quick", "paper", "all-scenarios", "logistics", "figure2"]
    assert all(row["studies"] and row["steps"] and row["meaning"] for row in rows)
    assert "figure2" in printed("list", "studies")
