"""Search ranges that widen when the best trials are at their edge."""

from pathlib import Path

import optuna

from ravenlab.studies.results.describe_recommendation import describe_verdict
from ravenlab.studies.spec.distributions import make_distributions
from ravenlab.studies.spec.parse import parse_study_spec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.tuning.search.widening import MAX_WIDENINGS, WIDENING_FACTOR, Widening, widened_spec
from ravenlab.tuning.study_run import run_study

BATCH = 16


def make_spec(**fields: object) -> StudySpec:
    return parse_study_spec({"scenario": "stationary", "horizon": 200, "arms": 3, "batch": BATCH, **fields})


def trials_at(spec: StudySpec, alpha0: float, first: int, best: float) -> list[optuna.trial.FrozenTrial]:
    """Return one batch whose best four trials have this α₀; the others are spread over the range."""
    trials = []
    for i in range(BATCH):
        params = {"alpha0": alpha0 if i < 4 else 0.05 * i, "beta0": 0.1 + 0.1 * i, "epsilon": 0.01 + 0.02 * i}
        trial = optuna.trial.create_trial(
            params=params, distributions=make_distributions(spec), value=best + (0.0 if i < 4 else 10.0 + i)
        )
        trial.number = first + i
        trials.append(trial)
    return trials


def test_ranges_widen_where_the_best_trials_are_a_stated_number_of_times() -> None:
    widening = Widening(make_spec())
    for count in range(1, MAX_WIDENINGS + 3):
        high = widening.spec.space["alpha0"].high
        assert widening.add(trials_at(widening.spec, 0.99 * high, BATCH * (count - 1), -float(count))) is (
            count <= MAX_WIDENINGS
        )
    assert widening.spec.space["alpha0"].high == 10.0 * WIDENING_FACTOR**MAX_WIDENINGS
    assert widening.spec.space["alpha0"].low == 0.01
    assert widening.spec.space["beta0"] == make_spec().space["beta0"]


def test_given_ranges_and_scattered_trials_do_not_widen() -> None:
    given = make_spec(space={"alpha0": {"low": 0.01, "high": 5.0}})
    assert widened_spec(given, trials_at(given, 4.99, 0, 1.0), maximize=False) == given
    plain = make_spec()
    assert widened_spec(plain, trials_at(plain, 0.5, 0, 1.0), maximize=False) == plain


def test_a_search_that_starts_too_low_finds_the_optimum_outside_and_resumes_alike(tmp_path: Path) -> None:
    """The scale is stated ten times too small, so that the best α₀ is above the default range."""
    fields = {
        "scenario": "periodic",
        "scale": 0.1,
        "fixed": {"beta0": 0.01},
        "horizon": 1000,
        "arms": 4,
        "replications": 30,
        "selection": 200,
        "report": 50,
        "batch": 8,
    }
    spec = StudySpec.model_validate({**fields, "trials": 64})
    whole = run_study(spec, f"sqlite:///{tmp_path / 'whole.sqlite3'}").result
    assert whole.widened["alpha0"][1] > 1.0
    assert float(whole.params["alpha0"]) > 1.0
    assert whole.importance is not None
    parts = f"sqlite:///{tmp_path / 'parts.sqlite3'}"
    for trials in (20, 43, 64):
        resumed = run_study(StudySpec.model_validate({**fields, "trials": trials}), parts).result
    assert resumed == whole


def test_a_value_at_a_given_edge_is_in_the_verdict(tmp_path: Path) -> None:
    fields = {"scenario": "periodic", "horizon": 400, "arms": 4, "trials": 40, "replications": 20}
    spec = parse_study_spec({**fields, "report": 50, "space": {"alpha0": {"low": 0.01, "high": 0.05}}})
    found = run_study(spec, f"sqlite:///{tmp_path / 's.sqlite3'}").result
    assert "alpha0" in [edge.param for edge in found.edge]
    assert "at the edge of the search range" in describe_verdict(found)
    assert "at the edge of the search range" in describe_verdict(found)
    assert found.widened == {}
