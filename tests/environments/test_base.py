import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ravenlab.environments.base import BaseDraw, Draft
from ravenlab.environments.streams import Stream
from tests.environments.properties import quick


def draft(horizon: int = 50, arms: int = 3) -> Draft:
    return Draft(horizon, arms, BaseDraw(), "normal", 1, int(Stream.SIMULATE), 0, 2)


@quick
@given(horizon=st.integers(1, 60), every=st.integers(1, 70))
def test_changes_occur_at_multiples_after_the_first_step(horizon: int, every: int) -> None:
    assert draft(horizon).times(every) == [t for t in range(2, horizon + 1) if t % every == 0]


def test_base_draws_are_uniform_and_uncorrelated() -> None:
    mean, variance = BaseDraw().draw(np.random.default_rng(0), 20_000)
    for values, low, high in ((mean, 0.3, 0.8), (variance, 0.01, 0.09)):
        assert low <= values.min()
        assert values.max() < high
        assert abs(values.mean() - (low + high) / 2) < 4 * (high - low) / np.sqrt(12 * 20_000)
    assert abs(np.corrcoef(mean, variance)[0, 1]) < 4 / np.sqrt(20_000)


@quick
@given(arms=st.integers(1, 8), rows=st.integers(1, 5))
def test_an_extra_arm_does_not_change_the_others(arms: int, rows: int) -> None:
    few, many = draft(arms=arms), draft(arms=arms + 1)
    for less, more in zip(few.draw_base("any", rows), many.draw_base("any", rows), strict=True):
        assert (less == more[..., :arms]).all()
    assert (few.uniform("other", -1.0, 1.0) == many.uniform("other", -1.0, 1.0)[:, :arms]).all()
