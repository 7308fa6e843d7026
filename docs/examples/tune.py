"""Tuning by the Python API: from a scenario to a policy that plays.

Run it whole, or cell by cell in an editor that knows `# %%`. It writes into the folder that it is run in.
"""

# %% How much work: 100 candidates in 200 worlds each take a few seconds. The tests ask for less.
import os
from pathlib import Path

import ravenlab

TRIALS = int(os.environ.get("EXAMPLE_TRIALS", "100"))
WORLDS = int(os.environ.get("EXAMPLE_WORLDS", "200"))
STORAGE = "sqlite:///example.sqlite3"
BUDGET = {"trials": TRIALS, "replications": WORLDS, "selection": 10 * WORLDS, "report": 10 * WORLDS}

# %% Search, choose on fresh worlds, and report on yet others. Run again, it goes on where it stopped.
print("two searches, some ten seconds each")
found = ravenlab.tune(["localized-jump", "stationary"], 5000, **BUDGET, storage=STORAGE, jobs=2)

# %% What to use in each world. The interval is of the mean regret, on worlds that chose nothing; the search's own
# estimate chose by its own noise, so it is mostly too good.
for each in found:
    params = ", ".join(f"{name} {value:.3g}" for name, value in each.params.items())
    print(f"{each.scenario}: {params}")
    print(f"  regret {each.regret.mean:.1f} (95 %: {each.regret.low:.1f} to {each.regret.high:.1f})")
    print(f"  the search saw {each.search_estimate:.1f}")
    for rival in each.versus:
        said = "" if rival.significant else ", which could be nothing"
        print(f"  {rival.name}: {rival.difference:+.1f} ({rival.low:+.1f} to {rival.high:+.1f}){said}")

# %% Another policy in the same worlds, over a box of our own. A plain value fixes a parameter.
(forgetting,) = ravenlab.tune(
    "localized-jump",
    5000,
    policy="sw-raven",
    space={"alpha0": [0.05, 5.0], "tau": [50, 2000], "epsilon": 0.1},
    **BUDGET,
    storage=STORAGE,
    jobs=2,
)
print(f"with a window of {forgetting.params['tau']:.0f}: {forgetting.regret.mean:.1f}")

# %% Is it true? A seed of `simulate` names other worlds than those of any study.
jumps = found[0]
again = ravenlab.simulate(
    "raven-ucb", "localized-jump", horizon=5000, replications=10 * WORLDS, seed=1, params=jumps.params
).summary()["regret"]
print(f"played again: {again['mean']:.1f} ± {again['stderr']:.1f}, reported: {jumps.regret.mean:.1f}")

# %% Everything that was recommended, in a file; and a policy of it, ready to play.
Path("recommended.json").write_text(ravenlab.export(storage=STORAGE), encoding="utf-8")
policy = ravenlab.RavenUCB.load("recommended.json", scenario="localized-jump", horizon=5000, arms=5)
arm = policy.select()
policy.update(arm, 0.7)
print(f"{policy.name} with {policy.arms} arms begins with arm {arm}")
