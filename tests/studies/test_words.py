"""A recommendation in sentences."""

from __future__ import annotations

from studies.ranges import Range
from studies.reading import spec_from
from studies.recommendation_words import edges_in_words, in_words
from studies.spec import StudySpec
from studies.words import short
from tests.messages import assert_names, is_named
from tests.studies.made import recommendation
from tuning.commands.words import parse_ranges
from tuning.edges import edges


def test_the_sentences_say_it_all() -> None:
    text = "\n".join(in_words(recommendation(importance={"beta0": 0.25, "alpha0": 0.75})))
    assert_names(text, "α₀ 0.25, β₀ 4, ε 0.0001")
    assert_names(text, "41.5", "40.25 to 42.75", "2000")
    assert_names(text, "38.12")
    assert_names(text, "2", "α₀ 0.25 to 0.5", "β₀ 3 to 4")
    assert_names(text, "α₀ 5", "18.5", "16 to 21")
    assert_names(text, "α₀ 1", "0.5")
    assert_names(text, "α₀ 75 %", "β₀ 25 %")
    assert_names(text, "--range epsilon=1e-06:0.5")
    assert_names(text, "0.5", "0.3")


def test_only_a_search_that_flattered_is_said_to_have_done_so() -> None:
    assert_names("\n".join(in_words(recommendation(search_estimate=40.25))), "40.25")
    assert_names("\n".join(in_words(recommendation(objective="p90", search_estimate=38.12))), "38.12", "p90")


def test_what_is_not_there_is_not_said() -> None:
    text = "\n".join(in_words(recommendation(versus=[], edge=[], indistinguishable=[], box={})))
    assert not any(is_named(name, text) for name in ("75 %", "α₀ 5", "--range", "α₀ 0.25 to 0.5"))


def test_the_range_that_settles_a_rate_is_of_the_rate_itself() -> None:
    """As `--range` reads it: the hint, given back, widens what was searched."""
    spec = StudySpec(policy="d-raven", scenario="blips", horizon=1000)
    (line,) = edges_in_words("d-raven", edges(spec, {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1, "gamma": 0.7}))
    hint = line.split("--range ")[1].split()[0]
    wider = spec_from({"policy": "d-raven", "scenario": "blips", "space": parse_ranges([hint])}).space["gamma"]
    assert (wider.low, round(wider.high, 9), wider.scale) == (1e-5, 0.9, "one-minus")


def test_a_rate_that_was_searched_as_it_is_gets_no_other_range() -> None:
    plain = Range(low=0.2, high=0.3, scale="linear")
    spec = StudySpec(policy="d-raven", scenario="blips", horizon=1000, space={"gamma": plain})
    (line,) = edges_in_words("d-raven", edges(spec, {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1, "gamma": 0.3}))
    assert_names(line, "--range gamma=0.2:0.4")


def test_numbers_stay_short() -> None:
    assert [short(value) for value in (123456.7, 0.5, 12.3456, "min")] == ["123457", "0.5", "12.35", "min"]


def test_a_rate_near_one_is_told_from_it() -> None:
    """γ is searched up to 0.99999, where it forgets nothing within most horizons, yet is not 1."""
    near = (0.9998, 0.99998, 0.999984, 0.99999, 1 - 9.99e-6, 0.999999, 1 - 1e-12, 1.0, 1.00002)
    said = ["0.9998", "0.99998", "0.99998", "0.99999", "0.99999", "0.999999", "1", "1", "1"]
    assert [short(value) for value in near] == said
