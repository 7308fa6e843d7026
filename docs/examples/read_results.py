"""Results with pandas: simulations, trials, recommendations, grids and comparisons, with their intervals.

Run it whole, or cell by cell in an editor that knows `# %%`. It writes into the folder that it is run in.
"""

# %% Something to read: a study, a grid and a comparison in one storage.
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

found = ravenlab.tune(
    "localized-jump", 2000, trials=TRIALS, replications=WORLDS, selection=5 * WORLDS, report=5 * WORLDS, storage=STORAGE
)
(grid,) = ravenlab.grid("localized-jump", 2000, replications=WORLDS, storage=STORAGE)
compared = ravenlab.compare(
    "localized-jump",
    2000,
    policies=POLICIES,
    tune=max(2, TRIALS // 4),
    search_replications=max(2, WORLDS // 4),
    replications=WORLDS,
    storage=STORAGE,
)

# %% A simulation: one row a world. The same seed gives the same worlds to each policy, so rows belong together.
asked = {"horizon": 2000, "replications": WORLDS, "seed": 1, "checkpoints": 20}
played = {policy: ravenlab.simulate(policy, "localized-jump", **asked) for policy in POLICIES}
worlds = pd.concat({policy: result.to_frame() for policy, result in played.items()}, names=["policy"])
print(worlds.groupby("policy")["regret"].agg(["mean", "sem", "median"]).round(2))

# %% Paired differences, world by world, are much surer than the means: most of the noise is shared.
regret = worlds.reset_index("policy").pivot(index="replication", columns="policy", values="regret")
difference = regret["ucb1"] - regret["raven-ucb"]
print(f"ucb1 costs {difference.mean():.2f} ± {difference.sem():.2f} more than raven-ucb, world by world;")
apart = np.hypot(regret["ucb1"].sem(), regret["raven-ucb"].sem())
print(f"as if the worlds were not the same, ± {apart:.2f}.")

# %% Regret over time: one row a checkpoint, one column a policy.
curves = pd.DataFrame(
    {policy: result.curve.regret.mean(axis=0) for policy, result in played.items()},
    index=pd.Index(played["ucb1"].curve.steps, name="step"),
)
print(curves.iloc[::5].round(1))

# %% The trials of a study are Optuna's, so Optuna reads them.
trials = optuna.load_study(study_name=found[0].study, storage=STORAGE).trials_dataframe(attrs=("value", "params"))
print(trials.nsmallest(5, "value").round(3))

# %% Recommendations: one row a study, intervals and rivals beside each other.
recommended = pd.read_csv(io.StringIO(ravenlab.export(form="csv", storage=STORAGE)))
print(recommended.filter(regex=r"^(policy|scenario|horizon|params\.|regret\.|defaults\.)").T)

# %% A grid: mean regret over α₀ and β₀, and which cells can't be told from the best.
spec = grid.spec
cells = {"index": pd.Index(spec.alpha0, name="alpha0"), "columns": pd.Index(spec.beta0, name="beta0")}
means = pd.DataFrame(grid.mean, **cells)
as_good = pd.DataFrame(grid.indistinguishable, **cells)
print(means.round(1).astype(str).where(~as_good, means.round(1).astype(str) + " ≈"))

# %% A comparison: one row an entry, at its defaults and tuned. `difference` is to the best of its board, in the same
# worlds; `among_the_best` says who can't be told from that one, with Holm's correction for all pairs.
entries = pd.read_csv(io.StringIO(compared.as_csv())).set_index(["setting", "policy"])
print(entries[["regret", "low", "high", "difference", "difference_low", "difference_high", "among_the_best"]].round(2))

# %% What every entry lost in every world of the comparison, for tests of your own.
board = compared.results[0].main
by_world = pd.DataFrame({each.policy: each.entry.regret for each in board.standings})
best = board.best.policy
for each in board.standings[1:]:
    behind = by_world[each.policy] - by_world[best]
    assert np.isclose(behind.mean(), each.behind.difference)
    worlds_won = (behind < 0).mean()
    print(f"{each.policy} is {behind.mean():.2f} behind {best}, but ahead of it in {worlds_won:.0%} of the worlds")
