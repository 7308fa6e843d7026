"""Duration of a comparison on `logistics`, extrapolated from a fraction of its budget.

For each of the paper's nine policies the first candidates of its search play a few worlds; the time is scaled by the
number of simulated steps of the full budget (50 trials × 50 replications × 50,000 steps for every policy, plus
validation and the final evaluation). Sampling and storing are measured once. CPU time is used, divided by the cores
where work is parallel, so other load on the machine does not affect the result.
"""

import tempfile
import time
from functools import lru_cache

import optuna
from joblib import cpu_count

from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.spec.distributions import from_trial_params
from ravenlab.studies.spec.study import StudySpec
from ravenlab.tuning.comparison.run import warm_up
from ravenlab.tuning.search.samplers import ask_batch
from ravenlab.tuning.study_run import run_study
from ravenlab.tuning.workers.local import LocalWorkers
from ravenlab.tuning.workers.problem import Evaluator
from tools.benchmarks.measure import Figure

TRIALS = 3
WORLDS = 4
"""Number of measured candidates per policy, and of worlds per candidate."""

CORES = 2
EFFICIENCY = 0.92
"""Assumed number of cores, and the measured efficiency of threads on two cores."""

CEILING = 45.0


def _spec() -> ComparisonSpec:
    return ComparisonSpec(scenario="logistics")


def _measure_simulation(spec: ComparisonSpec, policy: str, jobs: int) -> float:
    """Return the extrapolated simulation time of a policy in seconds."""
    search = spec.search_spec(policy)
    evaluator = Evaluator(search, LocalWorkers(jobs))
    warm_up(policy)
    mirror = optuna.create_study()
    values = [
        search.resolve_params(from_trial_params(search, trial.params))
        for trial in ask_batch(search, mirror, 0)[:TRIALS]
    ]
    evaluator.play(values[:1], 1, 0, WORLDS)  # draw the worlds before timing
    begin = time.process_time()
    evaluator.play(values, 1, 0, WORLDS)
    seconds = (time.process_time() - begin) / (min(jobs, CORES) * EFFICIENCY)
    assert search.horizon is not None
    final_steps = 2 * spec.replications * search.horizon
    return seconds * (search.simulated_steps() + final_steps) / (TRIALS * WORLDS * search.horizon)


def _measure_overhead(spec: ComparisonSpec) -> float:
    """Return the seconds of a search without simulation: sampling and storing its trials."""
    search = spec.search_spec("ucb1")
    short = StudySpec(**{**search.model_dump(), "horizon": 50, "arms": 5, "name": None, "space": {}, "settings": {}})
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        run_study(short, f"sqlite:///{folder}/studies.sqlite3")
        return time.process_time() - begin


@lru_cache(maxsize=1)
def measure_policies() -> dict[str, float]:
    """Return the seconds of every policy at the full budget."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    spec = _spec()
    jobs = cpu_count()
    overhead = _measure_overhead(spec)
    return {policy: _measure_simulation(spec, policy, jobs) + overhead for policy in spec.policies}


def measure_minutes() -> float:
    """Return the minutes of the comparison."""
    durations = measure_policies()
    for policy, seconds in sorted(durations.items(), key=lambda item: -item[1]):
        print(f"  {policy}: {seconds:.0f} s")
    return sum(durations.values()) / 60.0


def races() -> list[Figure]:
    """Return the duration with its upper limit."""
    name = "comparison on logistics, the paper's nine policies, extrapolated from a fraction"
    return [Figure(name, measure_minutes, CEILING, "minutes", 1)]
