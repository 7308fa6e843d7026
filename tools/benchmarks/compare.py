"""The whole fair fight on `logistics`, scaled from a share: how many minutes it takes on this machine's cores.

Every policy that can be tuned gives a share of what it would play at the full budget (100 trials × 50 replications ×
50000 steps, 20 × 20 for the slow ones, then selection, report and both entries): the first candidates of its search, on
a few worlds, through the real fan-out. What each took is scaled by simulated steps, and what a search takes apart from
playing is measured on one of them and multiplied. Time is CPU time, over two cores where it is spent in
parallel: a busy machine does not show, and the loops leave no core idle for long (1.8 to 1.9 times as fast on two).
"""

from __future__ import annotations

import tempfile
import time
from functools import lru_cache

import optuna
from joblib import cpu_count

from policies import find_policy
from studies.spec.comparison import ComparisonSpec
from studies.spec.distributions import to_params
from studies.spec.study import StudySpec
from tools.benchmarks.measure import Figure
from tuning.comparison.run import chosen_policies, warm_up
from tuning.search.samplers import ask_batch
from tuning.study_run import run_study
from tuning.workers.local import LocalCrew
from tuning.workers.problem import Evaluator

TWENTY = 20
"""Policies of the fight whose time is claimed: all slow ones, and so many of the others that it makes twenty."""

TRIALS, WORLDS = 3, 4
"""The share of a policy: candidates, and worlds that each of them plays."""

CORES, EFFICIENCY = 2, 0.92
"""Those of the claim, and what threads make of them, measured as 1.8 to 1.9 times one."""

CEILING = 30.0


def _spec() -> ComparisonSpec:
    return ComparisonSpec(scenario="logistics", policies=chosen_policies("all"), tune=100, search_replications=50)


def _playing(spec: ComparisonSpec, policy: str, jobs: int) -> float:
    """Seconds that a policy would play in all, from a share."""
    search = spec.search(policy).resolved()
    evaluator = Evaluator(search, LocalCrew(jobs))
    warm_up(policy)
    mirror = optuna.create_study()
    values = [search.values(to_params(search, trial.params)) for trial in ask_batch(search, mirror, 0)[:TRIALS]]
    evaluator.play(values[:1], 1, 0, WORLDS)  # worlds are drawn before the clock runs
    begin = time.process_time()
    evaluator.play(values, 1, 0, WORLDS)
    seconds = (time.process_time() - begin) / (min(jobs, CORES) * EFFICIENCY)
    assert search.horizon is not None
    entries = 2 * spec.replications * search.horizon
    return seconds * (search.simulated_steps() + entries) / (TRIALS * WORLDS * search.horizon)


def _around(spec: ComparisonSpec) -> float:
    """Seconds of a whole search apart from playing: asking 100 candidates and landing them, on a short world."""
    search = spec.search("ucb1")
    short = StudySpec(**{**search.model_dump(), "horizon": 50, "arms": 5, "name": None, "space": {}, "settings": {}})
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        run_study(short, f"sqlite:///{folder}/studies.sqlite3")
        return time.process_time() - begin


@lru_cache(maxsize=1)
def shares() -> dict[str, float]:
    """Seconds of every policy at the full budget."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    spec, jobs = _spec(), cpu_count()
    around = _around(spec)
    return {
        policy: _playing(spec, policy, jobs) + around * spec.budget(policy)[0] / spec.tune for policy in spec.policies
    }


def minutes() -> float:
    """Minutes of a fight of twenty policies, the slow ones all among them."""
    found = shares()
    slow = {policy for policy in found if find_policy(policy).slow}
    others = [seconds for policy, seconds in found.items() if policy not in slow]
    total = sum(found[policy] for policy in slow) + sum(others) / len(others) * (TWENTY - len(slow))
    for policy, seconds in sorted(found.items(), key=lambda item: -item[1]):
        print(f"  {policy}: {seconds:.0f} s{' (20 × 20)' if policy in slow else ''}")
    print(f"  all {len(found)}: {sum(found.values()) / 60:.1f} minutes; twenty: {total / 60:.1f}")
    return total / 60.0


def races() -> list[Figure]:
    """One figure with its ceiling."""
    name = "comparison on logistics, 20 policies, extrapolated from a fraction"
    return [Figure(name, minutes, CEILING, "minutes", 1)]
