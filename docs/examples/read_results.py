"""Results in pandas: simulations, trials, recommendations, grids and comparisons with confidence intervals.

Run the whole script, or its cells (`# %%`) one at a time in an editor. Files are written to the current folder.
"""

# %% Create a study, a grid and a comparison in one storage.
import io
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

recommendations = ravenlab.tune(
    "localized-jump", 2000, trials=TRIALS, replications=WORLDS, selection=5 * WORLDS, report=5 * WORLDS, storage=STORAGE
)
(grid,) = ravenlab.grid("localized-jump", 2000, replications=WORLDS, storage=STORAGE)
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
played = {policy: ravenlab.simulate(policy, "localized-jump", **simulation) for policy in POLICIES}
worlds = pd.concat({policy: result.to_frame() for policy, result in played.items()}, names=["policy"])
print(worlds.groupby("policy")["regret"].agg(["mean", "sem", "median"]).round(2))

# %% Paired differences are much more precise than differences of means, because most of the noise is shared.
regret = worlds.reset_index("policy").pivot(index="replication", columns="policy", values="regret")
difference = regret["ucb1"] - regret["raven-ucb"]
print(f"regret of ucb1 minus raven-ucb: {difference.mean():.2f} ± {difference.sem():.2f} (paired)")
unpaired = np.hypot(regret["ucb1"].sem(), regret["raven-ucb"].sem())
print(f"standard error without pairing: ± {unpaired:.2f}")

# %% Regret over time: one row per checkpoint, one column per policy.
curves = pd.DataFrame(
    {policy: result.curve.regret.mean(axis=0) for policy, result in played.items()},
    index=pd.Index(played["ucb1"].curve.steps, name="step"),
)
print(curves.iloc[::5].round(1))

# %% The trials of a study are Optuna trials.
trials = optuna.load_study(study_name=recommendations[0].study, storage=STORAGE).trials_dataframe(
    attrs=("value", "params")
)
print(trials.nsmallest(5, "value").round(3))

# %% Recommendations: one row per study, with intervals and baselines.
recommended = pd.read_csv(io.StringIO(ravenlab.export(form="csv", storage=STORAGE)))
print(recommended.filter(regex=r"^(policy|scenario|horizon|params\.|regret\.|defaults\.)").T)

# %% A grid: mean regret over α₀ and β₀, and the cells that are statistically indistinguishable from the best.
spec = grid.spec
cells = {"index": pd.Index(spec.alpha0, name="alpha0"), "columns": pd.Index(spec.beta0, name="beta0")}
means = pd.DataFrame(grid.mean, **cells)
tied = pd.DataFrame(grid.indistinguishable, **cells)
print(means.round(1).astype(str).where(~tied, means.round(1).astype(str) + " ≈"))

# %% A comparison: one row per policy and setting (defaults, tuned). `difference` is paired, from the best policy;
# `among_the_best` marks policies that are statistically indistinguishable from it (Holm's correction for all pairs).
entries = pd.read_csv(io.StringIO(comparison.as_csv())).set_index(["setting", "policy"])
print(entries[["regret", "low", "high", "difference", "difference_low", "difference_high", "among_the_best"]].round(2))

# %% The regret of every policy in every world of the comparison, for further analyses.
board = comparison.results[0].main
by_world = pd.DataFrame({each.policy: each.entry.regret for each in board.standings})
best = board.best.policy
for each in board.standings[1:]:
    behind = by_world[each.policy] - by_world[best]
    assert np.isclose(behind.mean(), each.behind.difference)
    worlds_won = (behind < 0).mean()
    print(f"{each.policy}: {behind.mean():+.2f} compared with {best}; better in {worlds_won:.0%} of the worlds")
