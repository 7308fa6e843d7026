"""A folder with the files of a typical user, in which commands are tested."""

from pathlib import Path

import optuna

from ravenlab.environments.recorded.examples import example_log, example_trace
from ravenlab.environments.recorded.examples import log_to_csv as log_csv
from ravenlab.environments.recorded.examples import trace_to_csv as trace_csv
from ravenlab.studies.storage.database import open_storage
from tests.command import printed

PLUGIN = """
from ravenlab.environments import find_scenario
world = find_scenario("blips", {"every": 5})
broken = 1 / 2

class Mine:
    name = "mine"
    def __init__(self, arms, horizon, rng): self.arms = arms
    def select(self, t): return t % self.arms
    def update(self, t, arm, reward): pass
"""

STUDY = """
[[study]]
scenario = "blips"
horizon = 20
arms = 3
trials = 2
replications = 2
selection = 3
report = 3
"""


TINY = ["--horizon=20", "--arms=3", "--replications=2", "--jobs=1", "--quiet"]
FEW = ["--trials=3", "--selection=3", "--report=3"]
SMALL_TUNE = ["tune", "blips", *TINY, *FEW]
ROBUST = ["tune", "--robust", "blips", "stationary", "--name=worlds", *TINY, *FEW]
GRID = ["grid", "blips", "--name=cells", "--alpha0=1,2", "--beta0=1,2", *TINY]
COMPARE = ["compare", "blips", "--name=compared", "--tune=0", "--policies=ucb1,raven-ucb", *TINY]
"""Commands that create or resume the studies of `make_storage`."""


def tiny(*words: str, url: str = "sqlite:///studies.sqlite3") -> None:
    """Run a small command that must succeed."""
    printed(*words, *TINY, f"--storage={url}")


def make_storage(path: Path) -> str:
    """Create a storage with a study of each kind, foreign studies and a running one; return its URL."""
    url = f"sqlite:///{path}"
    for words in ([*SMALL_TUNE, "--name=tuned"], ROBUST, GRID, [*COMPARE, f"-o{path}.d"]):
        tiny(*words, url=url)
    storage = open_storage(url, create=False)
    foreign = optuna.create_study(study_name="stranger", storage=storage)
    foreign.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=2)
    running = optuna.create_study(study_name="running", storage=storage)
    running.ask()
    optuna.create_study(study_name="wide", storage=storage, directions=["minimize", "maximize"])
    storage.remove_session()
    storage.engine.dispose()
    return url


def make_template(folder: Path) -> Path:
    """Create valid and invalid files of all kinds."""
    folder.mkdir()
    make_storage(folder / "studies.sqlite3")
    (folder / "trace.csv").write_text("".join(trace_csv(example_trace()).splitlines(keepends=True)[:121]))
    (folder / "log.csv").write_text("".join(log_csv(example_log()).splitlines(keepends=True)[:301]))
    (folder / "mine.py").write_text(PLUGIN)
    (folder / "study.toml").write_text(STUDY)
    (folder / "broken.toml").write_text('[[study]]\nscenario = "blips\n')
    (folder / "nested.toml").write_text(f"x = {'[' * 5000}{']' * 5000}\n")
    (folder / "empty.csv").write_text("")
    (folder / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    (folder / "folder").mkdir()
    (folder / "dangling").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    return folder
