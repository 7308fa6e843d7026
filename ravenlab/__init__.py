"""ravenlab: tune and study RAVEN-UCB, a variance-adaptive bandit policy for rewards that change over time.

The public API. Modules are loaded on first use. `ravenlab.figures` has the figures of all results.

>>> import ravenlab
>>> result = ravenlab.simulate("raven-ucb", "blips", horizon=500, arms=5, replications=20, seed=1)
>>> result.regret.shape
(20,)
"""

import importlib
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ravenlab.common.compat.numba_settings import ignore_settings_file

if TYPE_CHECKING:
    from ravenlab.common.compiled import inlined
    from ravenlab.environments import InputError, Scenario, combine, find_scenario, scenarios
    from ravenlab.environments.base import BaseDraw, Change, Draft, Effect
    from ravenlab.policies import find_policy, policy_names
    from ravenlab.policies.engine.base import Policy, Sizes
    from ravenlab.policies.engine.limits import Limit
    from ravenlab.policies.engine.parameters import Param
    from ravenlab.policies.engine.simulation import Simulation
    from ravenlab.studies.diagnosis.proposal import propose_study
    from ravenlab.studies.diagnosis.result import Diagnosis
    from ravenlab.studies.results.comparison import ComparisonResult
    from ravenlab.studies.results.grid import Grid
    from ravenlab.studies.results.recommendation import Recommendation
    from ravenlab.studies.results.robust import RobustRecommendation
    from ravenlab.studies.spec.files import load_study_file
    from ravenlab.studies.spec.grid import GridSpec
    from ravenlab.studies.spec.study import StudySpec
    from ravenlab.tuning import figures as figures
    from ravenlab.tuning.api import compare, grid, report, tune, tune_robust
    from ravenlab.tuning.figures import plot
    from ravenlab.tuning.playback import play
    from ravenlab.tuning.queries import diagnose, export, load_result, recommend, reproduce, simulate
    from ravenlab.tuning.validation.replay import Replay, replay

_FOLDER = Path(__file__).parent
if not (_FOLDER / "policies").is_dir():  # a clone without its links: the packages are beside this folder
    __path__.append(str(_FOLDER.parent))

ignore_settings_file()

PUBLIC_MODULES = {
    "ravenlab.environments": ("InputError", "Scenario", "combine", "find_scenario", "scenarios"),
    "ravenlab.environments.base": ("BaseDraw", "Change", "Draft", "Effect"),
    "ravenlab.common.compiled": ("inlined",),
    "ravenlab.policies": ("find_policy", "policy_names"),
    "ravenlab.policies.engine.base": ("Policy", "Sizes"),
    "ravenlab.policies.engine.limits": ("Limit",),
    "ravenlab.policies.engine.parameters": ("Param",),
    "ravenlab.policies.engine.simulation": ("Simulation",),
    "ravenlab.studies.diagnosis.proposal": ("propose_study",),
    "ravenlab.studies.diagnosis.result": ("Diagnosis",),
    "ravenlab.studies.results.comparison": ("ComparisonResult",),
    "ravenlab.studies.results.grid": ("Grid",),
    "ravenlab.studies.results.recommendation": ("Recommendation",),
    "ravenlab.studies.results.robust": ("RobustRecommendation",),
    "ravenlab.studies.spec.files": ("load_study_file",),
    "ravenlab.studies.spec.grid": ("GridSpec",),
    "ravenlab.studies.spec.study": ("StudySpec",),
    "ravenlab.tuning.api": ("compare", "grid", "report", "tune", "tune_robust"),
    "ravenlab.tuning.figures": ("plot",),
    "ravenlab.tuning.playback": ("play",),
    "ravenlab.tuning.queries": ("diagnose", "export", "load_result", "recommend", "reproduce", "simulate"),
    "ravenlab.tuning.validation.replay": ("Replay", "replay"),
}
"""Public names by module, as in the imports above."""

PUBLIC = {name: module for module, names in PUBLIC_MODULES.items() for name in names}

__all__ = [
    "BaseDraw",
    "Change",
    "ComparisonResult",
    "Diagnosis",
    "Draft",
    "Effect",
    "Grid",
    "GridSpec",
    "InputError",
    "Limit",
    "Param",
    "Policy",
    "Recommendation",
    "Replay",
    "RobustRecommendation",
    "Scenario",
    "Simulation",
    "Sizes",
    "StudySpec",
    "combine",
    "compare",
    "diagnose",
    "export",
    "figures",
    "find_policy",
    "find_scenario",
    "grid",
    "inlined",
    "load_result",
    "load_study_file",
    "play",
    "plot",
    "policy_names",
    "propose_study",
    "recommend",
    "replay",
    "report",
    "reproduce",
    "scenarios",
    "simulate",
    "tune",
    "tune_robust",
]


class _Figures(ModuleType):
    """The module `ravenlab.figures`, which is `tuning.figures`, loaded on first use."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("ravenlab.tuning.figures"), name)

    def __dir__(self) -> list[str]:
        return list(importlib.import_module("ravenlab.tuning.figures").__all__)


if not TYPE_CHECKING:
    figures = sys.modules[f"{__name__}.figures"] = _Figures(f"{__name__}.figures")


# In notebooks without ipywidgets, Optuna's import of tqdm warns about progress bars, which ravenlab does not use.
warnings.filterwarnings("ignore", message="IProgress not found")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("ravenlab")
    if name in PUBLIC:
        return getattr(importlib.import_module(PUBLIC[name]), name)
    try:
        return getattr(importlib.import_module("ravenlab.policies"), name)
    except AttributeError:
        raise AttributeError(f"module 'ravenlab' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *PUBLIC, "__version__"})


def main() -> None:
    """Run the command `ravenlab`."""
    import gc

    gc.set_threshold(400_000)  # with Python's 700, collecting garbage takes a sixth of the time of all imports
    from ravenlab.tuning.cli.app import main as run

    try:
        run()
    except SystemExit as end:
        if not end.code:
            gc.freeze()  # Python collects garbage several times when it ends, which takes up to half a second
        raise  # after an error, locks in its traceback are collected before their module is
