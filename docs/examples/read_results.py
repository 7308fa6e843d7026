"""Results in pandas: simulations, trials, recommendations, grids and comparisons with confidence intervals.

Run the whole script, or its cells (`# %%`) one at a time in an editor. Files are written to the current folder.
"""

# %% Create a study, a grid and a comparison in one storage.
import os

import numpy as np
import optuna
import pandas as pd

import ravenlab

TRIALS = int(os.environ.get("EXAMPLE_TRIALS", "100"))
WORLDS = int(os.environ.get("EXAMPLE_WORLDS", "200"))
STORAGE = "sqlite:///example.sqlite3"
POLICIES = ["raven-ucb", "sw-raven", "ucb1"]
pd.set_option("display.width", 120, "display.max_columns", 20)

recommendation = ravenlab.tune(
    "localized-jump", 2000, trials=TRIALS, replications=WORLDS, selection=5 * WORLDS, report=5 * WORLDS, storage=STORAGE
)
grid = ravenlab.grid("localized-jump", 2000, replications=WORLDS, storage=STORAGE)
comparison = ravenlab.compare(
    "localized-jump",
    2000,
    policies=POLICIES,
    tune=max(2, TRIALS // 4),
    search_replications=max(2, WORLDS // 4),
    replications=WORLDS,
    storage=STORAGE,
)

# %% Simulations: one row per world. All policies play the same worlds for the same seed.
simulation = {"horizon": 2000, "replications": WORLDS, "seed": 1, "checkpoints": 20}
played = ravenlab.simulate(POLICIES, "localized-jump", **simulation)
worlds = played.to_frame()
print(worlds.groupby("policy")["regret"].agg(["mean", "sem", "median"]).round(2))

# %% Paired differences are much more precise than differences of means, because most of the noise is shared.
regret = worlds.pivot(index="replication", columns="policy", values="regret")
difference = regret["ucb1"] - regret["raven-ucb"]
print(f"regret of ucb1 minus raven-ucb: {difference.mean():.2f} ± {difference.sem():.2f} (paired)")
unpaired = np.hypot(regret["ucb1"].sem(), regret["raven-ucb"].sem())
print(f"standard error without pairing: ± {unpaired:.2f}")

# %% Regret over time: one row per checkpoint, one column per policy.
curves = pd.DataFrame(
    {result.policy: result.curve.regret.mean(axis=0) for result in played},
    index=pd.Index(played[0].curve.steps, name="step"),
)
print(curves.iloc[::5].round(1))

# %% The trials of a study are Optuna trials. The column of their values has the name that the dashboard shows.
trials = optuna.load_study(study_name=recommendation.study, storage=STORAGE).trials_dataframe(attrs=("value", "params"))
print(trials.nsmallest(5, "value_mean regret").round(3))

# %% A recommendation: one row for the recommended parameters and one per baseline.
print(recommendation)
print(recommendation.to_frame().set_index("setting").drop(columns=["study", "policy", "scenario"]).T)

# %% A grid: mean regret over α₀ and β₀, and the cells that are statistically indistinguishable from the best.
cells = grid.to_frame()
means = cells.pivot(index="alpha0", columns="beta0", values="regret")
tied = cells.pivot(index="alpha0", columns="beta0", values="indistinguishable")
print(means.round(1).astype(str).where(~tied, means.round(1).astype(str) + " ≈"))

# %% A comparison: one row per policy and setting (defaults, tuned). `difference` is paired, from the best policy;
# its interval is simultaneous for all pairs; `among_the_best` marks policies that are statistically indistinguishable.
entries = comparison.to_frame().set_index(["setting", "policy"])
print(entries[["regret", "low", "high", "difference", "difference_low", "difference_high", "among_the_best"]].round(2))

# %% The regret of every policy in every world of the comparison, for further analyses.
board = comparison.main
by_world = pd.DataFrame({each.policy: each.entry.regret for each in board.standings})
best = board.best.policy
for each in board.standings[1:]:
    behind = by_world[each.policy] - by_world[best]
    assert np.isclose(behind.mean(), each.behind.difference.mean)
    worlds_won = (behind < 0).mean()
    print(f"{each.policy}: {behind.mean():+.2f} compared with {best}; better in {worlds_won:.0%} of the worlds")
