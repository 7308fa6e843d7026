"""A custom scenario: define, plot, check, play and tune it.

Run the whole script, or its cells (`# %%`) one at a time in an editor. Files are written to the current folder.
"""

# %% A custom scenario is defined in its own file, because a study identifies it by a hash of the file. In
# `night_shift.py`, all arms pay less in the second half of each day: an effect `NightShift` and a scenario with it.
import os
import sys
from pathlib import Path

import numpy as np

import ravenlab

TRIALS = int(os.environ.get("EXAMPLE_TRIALS", "100"))
WORLDS = int(os.environ.get("EXAMPLE_WORLDS", "200"))
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from night_shift import NightShift, night_shift  # noqa: E402

# %% The fields of the effect are its settings. Every scenario also has settings for the base draw and the noise.
print(night_shift.parameters())
harder = night_shift.with_settings({"loss": 0.6, "noise": "laplace"})

# %% Plot one world: means and variances of the arms over time.
ravenlab.figures.plot_world(night_shift, horizon=5000, arms=5).write_html(
    "night_shift.html", include_plotlyjs="directory"
)

# %% Check a property: without a loss at night nothing changes, as in the stationary scenario.
calm = night_shift.with_settings({"loss": 0.0})
simulation = {"horizon": 5000, "arms": 5, "replications": WORLDS, "seed": 1}
no_loss = ravenlab.simulate("ucb1", calm, **simulation)
control = ravenlab.simulate("ucb1", "stationary", **simulation)
assert np.allclose(no_loss.regret, control.regret)

# %% Combine effects. The effects of a named scenario are in `effects`.
blips = ravenlab.find_scenario("blips", {"every": "20%"}).effects
both = ravenlab.Scenario("night-shift+blips", "nights and blips", (NightShift(), *blips), arms=5)

# %% Compare policies. All of them play the same worlds, so differences are paired.
for scenario in (night_shift, harder, both):
    for policy in ("raven-ucb", "sw-raven", "ucb1"):
        result = ravenlab.simulate(policy, scenario, **simulation)
        mean, stderr = result.summary()["regret"].values()
        print(f"{scenario.name}: {policy} {mean:.1f} ± {stderr:.1f}")

# %% Tune a policy. Naming the file permits ravenlab to run it, as in `ravenlab tune ./night_shift.py:night_shift`.
recommendation = ravenlab.tune(
    f"{HERE}/night_shift.py:night_shift",
    5000,
    policy="sw-raven",
    settings={"loss": 0.6},
    trials=TRIALS,
    replications=WORLDS,
    selection=5 * WORLDS,
    report=5 * WORLDS,
    storage="sqlite:///example.sqlite3",
)
print(f"{recommendation.scenario}: {recommendation.params}, regret {recommendation.regret.mean:.1f}")
