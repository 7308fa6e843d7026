"""Policy and scenario plugins: results, workers, errors, and loading only on request."""

import json
from pathlib import Path

import numpy as np
import pytest

from ravenlab.environments import find_scenario
from ravenlab.environments.catalog import load_scenario_plugin
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.world import world_tables
from ravenlab.policies.engine.plugins import load_policy_plugin
from ravenlab.policies.engine.simulation import simulate
from ravenlab.studies.results.describe_recommendation import describe_edges
from ravenlab.studies.results.recommendation import Edge
from ravenlab.studies.spec.parse import parse_study_spec
from ravenlab.studies.spec.space import Range
from ravenlab.tuning.cli import app
from tests.command import printed, refused
from tests.messages import assert_names
from tests.plugins import unload_plugins
from tests.project import DOCS

pytestmark = pytest.mark.usefixtures("plugins_unloaded")

EXAMPLES = DOCS / "examples"
PLAIN, FAST, NIGHT = (
    str(EXAMPLES / name)
    for name in ("falling_greedy.py:FallingGreedy", "fast_greedy.py:FastGreedy", "night_shift.py:night_shift")
)
SMALL = ["--trials", "4", "--replications", "4", "--selection", "8", "--report", "8", "--horizon", "60", "--quiet"]

UCB1 = '''
import math
import ravenlab

class MyUCB:
    """UCB1 in plain Python."""
    parameters = (ravenlab.Param("c", 2.0, 0.001, 10.0),)

    def __init__(self, arms, c):
        self.c, self.t, self.seen, self.able = c, 0, [[] for _ in range(arms)], [True] * arms

    def open(self, arm):
        self.able[arm] = True

    def close(self, arm):
        self.able[arm] = False

    def select(self):
        self.t += 1
        def score(k):
            if not self.able[k]:
                return -math.inf
            return math.inf if not self.seen[k] else (
                sum(self.seen[k]) / len(self.seen[k]) + math.sqrt(self.c * math.log(self.t) / len(self.seen[k])))
        return max(range(len(self.seen)), key=score)

    def update(self, arm, reward):
        self.seen[arm].append(reward)
'''


EFFECT = """
from dataclasses import dataclass
import ravenlab
@dataclass(frozen=True)
class Mine(ravenlab.Effect):
    name, category, meaning, order = "mine", "PC", "it breaks", 15
    def {}: return 1 / 0
"""


@pytest.mark.parametrize("scenario", ["localized-jump", "arm-churn", "gradual-drift", "delayed", "periodic"])
def test_plain_class_matches_the_built_in_policy(scenario: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(UCB1)
    name = load_policy_plugin(f"{tmp_path}/mine.py:MyUCB")
    shape = {"horizon": 300, "arms": 4, "replications": 3, "seed": 5}
    plugin = simulate(name, scenario, **shape, checkpoints=[100, 300], pulls=True)  # type: ignore[arg-type]
    builtin = simulate("ucb1", scenario, **shape, checkpoints=[100, 300], pulls=True)  # type: ignore[arg-type]
    assert plugin.pulls is not None
    assert builtin.pulls is not None
    assert plugin.curve is not None
    assert builtin.curve is not None
    np.testing.assert_array_equal(plugin.pulls, builtin.pulls)
    np.testing.assert_allclose(plugin.regret, builtin.regret, rtol=1e-9)
    np.testing.assert_allclose(plugin.reward, builtin.reward, rtol=1e-9)
    np.testing.assert_allclose(plugin.curve.regret, builtin.curve.regret, rtol=1e-9)
    np.testing.assert_array_equal(plugin.suboptimal_pulls, builtin.suboptimal_pulls)


def test_compiled_plugin_runs_in_the_general_loop() -> None:
    name = load_policy_plugin(FAST)
    simulation = simulate(
        name, "stationary", horizon=400, arms=3, replications=2, seed=1, params={"bonus": 0.5}, pulls=True
    )
    assert simulation.pulls is not None
    for pulls in simulation.pulls:
        assert list(pulls[:3]) == [0, 1, 2]
        assert np.bincount(pulls, minlength=3).sum() == 400


def test_scenario_plugin() -> None:
    scenario = find_scenario(load_scenario_plugin(NIGHT), {"loss": 0.2, "day": 100})
    means, _ = world_tables(draw_worlds(scenario, 400, 3, seed=2))
    day, night = means[:49], means[49:99]
    assert (day == day[0]).all()
    assert (night == night[0]).all()
    assert ((day[0] - night[0] > 0) & (day[0] - night[0] < 0.2)).all()
    np.testing.assert_array_equal(means[99:149], day[:1].repeat(50, axis=0))


@pytest.mark.parametrize(("policy", "backend"), [(PLAIN, "loky"), (FAST, "threads")], ids=["plain", "fast"])
def test_plugin_study_does_not_depend_on_workers(
    policy: str, backend: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exports = []
    for number, workers in enumerate((["--jobs", "1"], ["--jobs", "2", "--backend", backend])):
        storage = ["--storage", f"sqlite:///{number}.sqlite3"]
        assert app.run(["tune", NIGHT, "--policy", policy, *SMALL, *workers, *storage]) == app.DONE
        unload_plugins()
        capsys.readouterr()
        exports.append(printed("export", *storage))
        for command in (["studies"], ["show", policy.rpartition("/")[2]], ["report", "-o", "page.html"]):
            assert app.run([*command, *storage]) == app.DONE, capsys.readouterr().err
        assert_names(capsys.readouterr().err, policy.rpartition("/")[2].partition(":")[0])
    assert exports[0] == exports[1]
    recommendation = json.loads(exports[0])["recommendations"][0]
    assert recommendation["policy"].startswith(f"{policy.rpartition('/')[2]}~")


def test_edited_file_is_another_policy(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(UCB1)
    first = load_policy_plugin(f"{path}:MyUCB")
    path.write_text(UCB1.replace("2.0", "3.0"))
    assert load_policy_plugin(f"{path}:MyUCB") != first


def test_range_uses_the_scale_of_the_plugin(tmp_path: Path) -> None:
    path, param = tmp_path / "mine.py", 'ravenlab.Param("c", 2.0, 0.001, 10.0)'
    path.write_text(UCB1.replace(param, 'ravenlab.Param("c", 0.9, 0.01, 0.5, scale="one-minus")'))
    rate = load_policy_plugin(f"{path}:MyUCB")
    range_ = parse_study_spec({"policy": rate, "scenario": "blips", "space": {"c": [0.5, 0.75]}}).space["c"]
    assert range_ == Range(low=0.25, high=0.5, scale="one-minus")
    (message,) = describe_edges(rate, [Edge(param="c", value=0.5, low=range_.low, high=range_.high)])
    assert_names(message, "range c=0.5:0.75")
    path.write_text(UCB1.replace(param, 'ravenlab.Param("c", 2.0, 0.0, 10.0, scale="linear")'))
    plain = load_policy_plugin(f"{path}:MyUCB")
    range_ = parse_study_spec({"policy": plain, "scenario": "blips", "space": {"c": [0.0, 5.0]}}).space["c"]
    assert range_ == Range(low=0.0, high=5.0, scale="linear")


def test_study_file_does_not_run_plugin_code(here: Path) -> None:
    Path("mine.py").write_text(f"open('was-run', 'w').close()\n{UCB1}")
    budget = "horizon = 60\ntrials = 3\nreplications = 2\nselection = 4\nreport = 4\n"
    study = f'[[study]]\npolicy = "{{}}"\nscenario = "{{}}"\n{budget}'
    for policy, scenario in (("mine.py:MyUCB", "blips"), ("./mine.py:MyUCB", "blips"), ("ucb1", "./mine.py:MyUCB")):
        Path("study.toml").write_text(study.format(policy, scenario))
        assert_names(refused("tune", "--study", "study.toml", "--quiet"), "mine.py:MyUCB")
        assert not Path("was-run").exists()
    Path("study.toml").write_text(study.format("mine.py:MyUCB", "blips"))
    assert app.run(["tune", "--study", "study.toml", "--quiet", "--plugin", "./mine.py:MyUCB"]) == app.DONE
    assert Path("was-run").exists()


def test_plugins_of_installed_packages(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "their_policies.py").write_text(f"open({str(here / 'was-run')!r}, 'w').close()\n{UCB1}")
    info = here / "their-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ravenlab.policies]\nmy-ucb = their_policies:MyUCB\n")
    monkeypatch.syspath_prepend(str(here))
    Path("study.toml").write_text('[[study]]\npolicy = "my-ucb"\nscenario = "blips"\n')
    assert_names(refused("validate", "study.toml"), "my-ucb")
    assert not (here / "was-run").exists()
    arguments = ["simulate", "blips", "--policy", "my-ucb", "--horizon", "50", "--replications", "2", "--json"]
    assert json.loads(printed(*arguments))["policy"] == "my-ucb"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("class MyUCB:\n    def select(self):\n        return 0\n", ["update"]),
        (
            "class MyUCB:\n    def select(self):\n        return 0\n    def update(self, arm, reward):\n        pass\n",
            ["TypeError", "MyUCB()"],
        ),
        ("MyUCB = 3\n", ["MyUCB"]),
        ("import nothing_of_this_name\n", ["ModuleNotFoundError", "'nothing_of_this_name'", "line 1"]),
        ("def (:\n", ["SyntaxError"]),
        ("import sys\nsys.exit(3)\n", ["SystemExit", "3", "line 2"]),
        ("Other = 3\n", ["mine.py", "'MyUCB'"]),
        (UCB1.replace("def __init__(self, arms, c)", "def __init__(self, arms, d)"), ["c"]),
        (UCB1.replace('ravenlab.Param("c", 2.0, 0.001, 10.0)', "3"), ["ravenlab.Param"]),
        (
            UCB1.replace("self.seen[arm].append(reward)", "1 / 0"),
            ["ZeroDivisionError", "line 28"],
        ),
        (UCB1.replace("self.t += 1", "return 17"), ["0", "9", "17"]),
        (UCB1.replace("self.t += 1", "return 0.5"), ["0", "9", "0.5"]),
    ],
)
def test_errors_in_a_policy_plugin_are_one_line(text: str, names: list[str], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(text)
    policy = f"{tmp_path}/mine.py:MyUCB"
    assert_names(refused("simulate", "blips", "--policy", policy, "--horizon", "50", "--replications", "2"), *names)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Mine = 3\n", ["Scenario", "Effect"]),
        ("def Mine():\n    return 1 / 0\n", ["ZeroDivisionError"]),
        ("def Mine():\n    raise ValueError('two\\nlines')\n", ["ValueError", "two lines"]),
        ("import ravenlab\nclass Mine(ravenlab.Effect):\n    pass\n", ["Mine", "name"]),
        (EFFECT.format("apply(self, draft)"), ["'mine'", "ZeroDivisionError", "line 7"]),
        (EFFECT.format("rows(self, horizon)"), ["'mine'", "ZeroDivisionError", "line 7"]),
        (
            EFFECT.format("check(self, horizon, arms)"),
            ["'mine'", "ZeroDivisionError", "line 7"],
        ),
        (
            "from dataclasses import dataclass\nimport ravenlab\n@dataclass(frozen=True)\n"
            "class Mine(ravenlab.Effect):\n    every: int\n",
            ["TypeError"],
        ),
    ],
)
def test_errors_in_a_scenario_plugin_are_one_line(text: str, names: list[str], tmp_path: Path) -> None:
    (tmp_path / "world.py").write_text(text)
    assert_names(refused("simulate", f"{tmp_path}/world.py:Mine", "--horizon", "50", "--replications", "2"), *names)


@pytest.mark.parametrize("name", ["nowhere.py:X", "~nobody-of-this-name/nowhere.py:X", "nowhere.py:", "nowhere.py:a b"])
def test_missing_plugin_file_is_named(name: str) -> None:
    assert "nowhere.py" in refused("simulate", "blips", "--policy", name)


def test_slow_plugin_prints_the_expected_duration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The plan is 500 × 200 × 10,000 steps plus validation; the time limit ends it before the first batch."""
    words = ["tune", "blips", f"--policy={PLAIN}", "--trials=500", f"--storage=sqlite:///{tmp_path}/s.sqlite3"]
    assert app.run([*words, "--timeout=0.001", "--horizon=10000"]) == 0
    assert_names(capsys.readouterr().err, "1.4·10⁹", "77 minutes")


def test_class_without_parameters_explains_how_to_declare_them(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def select(self): ...\n    def update(self, arm, reward): ...\n"
    )
    assert "parameters = (ravenlab.Param(…), …)" in refused("tune", "blips", f"--policy={tmp_path}/mine.py:Mine")
