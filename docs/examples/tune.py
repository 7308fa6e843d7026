"""Tuning with the Python API: from a scenario to a running policy.

Run the whole script, or its cells (`# %%`) one at a time in an editor. Files are written to the current folder.
"""

# %% The budget: 100 trials on 200 worlds each take a few seconds. The tests use less.
import os
from pathlib import Path

import ravenlab

TRIALS = int(os.environ.get("EXAMPLE_TRIALS", "100"))
WORLDS = int(os.environ.get("EXAMPLE_WORLDS", "200"))
STORAGE = "sqlite:///example.sqlite3"
BUDGET = {"trials": TRIALS, "replications": WORLDS, "selection": 10 * WORLDS, "report": 10 * WORLDS}

# %% Search, select and report on disjoint worlds. Rerun to resume.
print("two studies, about ten seconds each")
recommendations = ravenlab.tune(["localized-jump", "stationary"], 5000, **BUDGET, storage=STORAGE)

# %% The recommendations. The interval is that of the mean regret on held-out worlds. The search estimate is biased:
# it is optimistic.
for each in recommendations:
    print(each)
    print(f"  search estimate {each.search_estimate:.1f}")
    for baseline in each.versus:
        print(f"  {baseline.name}: {baseline.difference:+.1f} ({baseline.low:+.1f} to {baseline.high:+.1f})")

# %% Another policy on the same worlds, with a custom search space. A plain value fixes a parameter.
forgetting = ravenlab.tune(
    "localized-jump",
    5000,
    policy="sw-raven",
    space={"alpha0": [0.05, 5.0], "tau": [50, 2000], "epsilon": 0.1},
    **BUDGET,
    storage=STORAGE,
)
print(f"with a window of {forgetting.params['tau']:.0f}: {forgetting.regret.mean:.1f}")

# %% Verify the regret: `simulate` plays other worlds than any study.
jumps = recommendations[0]
again = ravenlab.simulate(
    "raven-ucb", "localized-jump", horizon=5000, replications=10 * WORLDS, seed=1, params=jumps.params
).summary()["regret"]
print(f"simulated: {again['mean']:.1f} ± {again['stderr']:.1f}, reported: {jumps.regret.mean:.1f}")

# %% Export all recommendations, and create a policy from the file.
Path("recommended.json").write_text(ravenlab.export(storage=STORAGE), encoding="utf-8")
policy = ravenlab.RavenUCB.load("recommended.json", scenario="localized-jump", horizon=5000, arms=5)
arm = policy.select()
policy.update(arm, 0.7)
print(f"{policy.name} with {policy.arms} arms starts with arm {arm}")
