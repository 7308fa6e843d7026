"""Results for fixed seeds are identical to the recorded numbers; see `tools.reference`.

These are the cheap cases; `python -m tools.reference check tests/reference/numbers.json` runs all of them. `python -m
tools.reference record tests/reference/numbers.json` records them again. Do this only after a deliberate change of
results, such as a corrected estimator or a new default, and state in the commit message which numbers changed and why.
A refactoring, a renamed key or a new wording must pass without it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tools.reference import CASES, CHEAP, Output, differences, record_case, run_case

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "numbers.json").read_text(encoding="utf-8"))


def test_every_case_is_recorded() -> None:
    assert list(RECORDED) == list(CASES)


@pytest.mark.parametrize("name", CHEAP)
def test_numbers_are_as_recorded(name: str) -> None:
    assert differences(RECORDED[name], run_case(name)) == []


def _outputs(numbers: dict[str, list[str]], *, public: bool = False) -> dict[str, Output]:
    return {"json": Output(numbers, public)}


def test_renamed_keys_are_no_difference() -> None:
    recorded = record_case(_outputs({".a": ["1.0", "2.0"]}), _outputs({".a": ["1.0", "2.0"]}))
    assert differences(recorded, _outputs({".b": ["2.0"], ".c": ["1.0"]})) == []


def test_public_keys_and_their_order_are_compared() -> None:
    numbers = {".a": ["1.0", "2.0"]}
    recorded = record_case(_outputs(numbers, public=True), _outputs(numbers, public=True))
    assert differences(recorded, _outputs({".a": ["1.0", "2.0"]})) == []
    assert differences(recorded, _outputs({".b": ["1.0", "2.0"]}))
    assert differences(recorded, _outputs({".a": ["2.0", "1.0"]}))


@pytest.mark.parametrize("count", [3, 1000])
def test_change_in_the_last_digit_is_a_difference(count: int) -> None:
    """Numbers are recorded in full, or as digests if there are many."""
    tokens = [repr(float(number)) for number in range(count)]
    recorded = record_case(_outputs({".a": tokens}), _outputs({".a": tokens}))
    assert differences(recorded, _outputs({".a": tokens})) == []
    for changed in ([*tokens[:-1], repr(count - 1 + 1e-12)], tokens[:-1], [*tokens, "0.5"]):
        assert differences(recorded, _outputs({".a": changed}))


def test_numbers_that_vary_between_runs_are_not_compared() -> None:
    recorded = record_case(_outputs({".a": ["1.0"], ".took": ["0.1"]}), _outputs({".a": ["1.0"], ".took": ["0.2"]}))
    assert differences(recorded, _outputs({".a": ["1.0"], ".duration": ["0.3"]})) == []
    assert differences(recorded, _outputs({".a": ["1.5"], ".duration": ["0.3"]}))
