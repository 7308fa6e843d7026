"""A world of your own: made, looked at, checked, played and tuned.

Run it whole, or cell by cell in an editor that knows `# %%`. It writes into the folder that it is run in.
"""

# %% A scenario is a file of its own, as a study remembers it by its name and a hash of the file: here `night_shift.py`,
# in which all arms pay less in the second half of each day. It has an effect, `NightShift`, and a scenario of it.
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

# %% The fields of the effect are its settings; those of the base draw and the noise come with every scenario.
print(night_shift.parameters())
harder = night_shift.with_settings({"loss": 0.6, "noise": "laplace"})

# %% Look at one world: means and variances of the arms over time, in a page of its own.
from dashboards.figures import plot_world  # noqa: E402

plot_world(night_shift, horizon=5000, arms=5).write_html("night_shift.html", include_plotlyjs="directory")

# %% Check what must hold: nights without a loss are days, so nothing changes at all.
calm = night_shift.with_settings({"loss": 0.0})
asked = {"horizon": 5000, "arms": 5, "replications": WORLDS, "seed": 1}
without = ravenlab.simulate("ucb1", calm, **asked)
control = ravenlab.simulate("ucb1", "stationary", **asked)
assert np.allclose(without.regret, control.regret)

# %% Effects combine. Those of the named scenarios are in `effects`.
blips = ravenlab.find_scenario("blips", {"every": "20%"}).effects
both = ravenlab.Scenario("night-shift+blips", "nights, and now and then a blip", (NightShift(), *blips), arms=5)

# %% Who plays well? Every policy meets the same worlds, so differences are paired.
for scenario in (night_shift, harder, both):
    for policy in ("raven-ucb", "sw-raven", "ucb1"):
        result = ravenlab.simulate(policy, scenario, **asked)
        mean, stderr = result.summary()["regret"].values()
        print(f"{scenario.name}: {policy} {mean:.1f} ± {stderr:.1f}")

# %% Tune for it. The file is named, so that its code may be run, as in `ravenlab tune ./night_shift.py:night_shift`.
(found,) = ravenlab.tune(
    f"{HERE}/night_shift.py:night_shift",
    5000,
    policy="sw-raven",
    settings={"loss": 0.6},
    trials=TRIALS,
    replications=WORLDS,
    selection=5 * WORLDS,
    report=5 * WORLDS,
    storage="sqlite:///example.sqlite3",
    jobs=2,
)
print(f"{found.scenario}: {found.params}, regret {found.regret.mean:.1f}")
