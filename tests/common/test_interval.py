"""Estimates with intervals: arithmetic, decisions, and storage as flat keys."""

import math

import pytest

from ravenlab.common.interval import CONFIDENCE_LEVEL, TIE_MARGIN, Z95, Interval
from ravenlab.studies.spec.fields import FrozenModel

DIFFERENCE = Interval(12.0, 9.0, 16.0, of="difference")


def test_arithmetic_keeps_the_ends_in_order_and_the_kind_of_the_estimate() -> None:
    assert Interval(-12.0, -16.0, -9.0, of="difference") == -DIFFERENCE
    assert Interval(-6.0, -8.0, -4.5, of="difference") == DIFFERENCE / -2.0
    assert DIFFERENCE.scaled(0.5) == DIFFERENCE / 2.0 == Interval(6.0, 4.5, 8.0, of="difference")
    assert DIFFERENCE.shifted(100.0) == Interval(112.0, 109.0, 116.0, of="difference")
    assert (-Interval(1.0, 0.0, 2.0, level=0.99)).level == 0.99


@pytest.mark.parametrize(
    ("low", "high", "excludes"),
    [(0.1, 2.0, True), (-2.0, -0.1, True), (0.0, 2.0, False), (-1.0, 0.0, False), (-1.0, 1.0, False)],
)
def test_an_interval_that_touches_zero_does_not_exclude_it(low: float, high: float, excludes: bool) -> None:
    interval = Interval((low + high) / 2.0, low, high, of="difference")
    assert interval.excludes_zero == excludes
    assert interval.contains(0.0) != excludes


def test_an_interval_of_nan_decides_nothing() -> None:
    unknown = Interval(1.0, math.nan, math.nan)
    assert not any([unknown.excludes_zero, unknown.contains(1.0), unknown.is_within(10.0), unknown.is_zero])


def test_only_a_whole_interval_within_the_margin_is_a_tie() -> None:
    assert Interval(0.0, -TIE_MARGIN, TIE_MARGIN).is_within(TIE_MARGIN)
    assert not Interval(0.0, -0.03, 0.01).is_within(TIE_MARGIN)
    assert not Interval(0.0, -0.01, 0.03).is_within(TIE_MARGIN)


def test_the_standard_error_is_that_of_a_95_percent_interval() -> None:
    from scipy.stats import norm

    assert pytest.approx(norm.ppf(0.5 + CONFIDENCE_LEVEL / 2.0), abs=1e-7) == Z95
    assert Interval.from_error(3.0, 0.5).standard_error == pytest.approx(0.5)
    with pytest.raises(ValueError, match="95 %"):
        _ = Interval(0.0, -1.0, 1.0, level=0.99).standard_error


class StoredEffect(FrozenModel):
    effect: Interval


def test_models_store_an_interval_as_flat_keys() -> None:
    stored = StoredEffect(effect=Interval(1.0, 0.5, 2.0))
    assert stored.model_dump() == {"effect": {"mean": 1.0, "low": 0.5, "high": 2.0}}
    assert StoredEffect.model_validate_json(stored.model_dump_json()) == stored
    with pytest.raises(ValueError, match="finite"):
        StoredEffect.model_validate({"effect": {"mean": 1.0, "low": math.nan, "high": 2.0}})
