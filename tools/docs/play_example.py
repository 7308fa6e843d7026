"""The example of `ravenlab play` on the documentation site and in the recording."""

import tempfile
from pathlib import Path

import ravenlab

SCENARIO = "localized-jump"
HORIZON = 3000
ARMS = 5
SETTINGS = {"every": "20%", "fraction": "2/3"}
SEED = 3  # the best arm changes four times in the median world


def write_example(output: Path) -> Path:
    """Write the page: RAVEN-UCB with recommended parameters, a policy that needs none, and UCB1."""
    with tempfile.TemporaryDirectory() as folder:
        recommended = ravenlab.recommend(
            SCENARIO,
            HORIZON,
            arms=ARMS,
            settings=SETTINGS,
            storage=f"sqlite:///{folder}/none.sqlite3",
            search=False,
        )
        parameters = Path(folder) / "recommended.json"
        parameters.write_text(ravenlab.export(recommended, "json"), encoding="utf-8")
        return ravenlab.play(
            SCENARIO,
            [str(parameters), "raven-auto", "ucb1"],
            output,
            horizon=HORIZON,
            arms=ARMS,
            settings=SETTINGS,
            seed=SEED,
        )
