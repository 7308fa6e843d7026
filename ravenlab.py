"""ravenlab: tune and study RAVEN-UCB, a variance-adaptive bandit policy for rewards that change over time.

The public API. Modules are loaded on first use. `ravenlab.figures` has the figures of all results.

>>> import ravenlab
>>> result = ravenlab.simulate("raven-ucb", "blips", horizon=500, arms=5, replications=20, seed=1)
>>> result.regret.shape
(20,)
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from environments import InputError, Scenario, combine, find_scenario, scenarios
    from environments.base import BaseDraw, Change, Draft, Effect
    from environments.compiled import inlined
    from policies import find_policy, policy_names
    from policies.engine.base import Policy, Sizes
    from policies.engine.limits import Limit
    from policies.engine.parameters import Param
    from policies.engine.simulation import Simulation
    from studies.diagnosis.proposal import propose_study
    from studies.diagnosis.result import Diagnosis
    from studies.results.comparison import ComparisonResult
    from studies.results.grid import Grid
    from studies.results.recommendation import Recommendation
    from studies.results.robust import RobustRecommendation
    from studies.spec.files import load_study_file
    from studies.spec.grid import GridSpec
    from studies.spec.study import StudySpec
    from tuning import figures as figures
    from tuning.api import compare, grid, report, tune, tune_robust
    from tuning.figures import plot
    from tuning.queries import diagnose, export, load_result, recommend, reproduce, simulate
    from tuning.validation.replay import Replay, replay

PACKAGES = ("environments", "policies", "studies", "tuning", "dashboards")

PUBLIC_MODULES = {
    "environments": ("InputError", "Scenario", "combine", "find_scenario", "scenarios"),
    "environments.base": ("BaseDraw", "Change", "Draft", "Effect"),
    "environments.compiled": ("inlined",),
    "policies": ("find_policy", "policy_names"),
    "policies.engine.base": ("Policy", "Sizes"),
    "policies.engine.limits": ("Limit",),
    "policies.engine.parameters": ("Param",),
    "policies.engine.simulation": ("Simulation",),
    "studies.diagnosis.proposal": ("propose_study",),
    "studies.diagnosis.result": ("Diagnosis",),
    "studies.results.comparison": ("ComparisonResult",),
    "studies.results.grid": ("Grid",),
    "studies.results.recommendation": ("Recommendation",),
    "studies.results.robust": ("RobustRecommendation",),
    "studies.spec.files": ("load_study_file",),
    "studies.spec.grid": ("GridSpec",),
    "studies.spec.study": ("StudySpec",),
    "tuning.api": ("compare", "grid", "report", "tune", "tune_robust"),
    "tuning.figures": ("plot",),
    "tuning.queries": ("diagnose", "export", "load_result", "recommend", "reproduce", "simulate"),
    "tuning.validation.replay": ("Replay", "replay"),
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


def _prefer_packages_beside_this_file() -> None:
    """Make sure that the packages beside this file are imported, not folders of the same name, such as `policies`.

    Raises:
        ImportError: Another package of the same name is already imported.
    """
    home = str(Path(__file__).resolve().parent)
    for name in PACKAGES:
        loaded = sys.modules.get(name)
        if loaded is not None:
            file = getattr(loaded, "__file__", None)
            if file is None or Path(file).resolve().parent.parent != Path(home):
                raise ImportError(
                    f"ravenlab needs its own package '{name}', but '{file or name}' is already imported; "
                    "import ravenlab first, or rename the other package."
                )
            continue
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None or Path(spec.origin).resolve().parent.parent != Path(home):
            sys.path.insert(0, home)
            importlib.invalidate_caches()
            return


_prefer_packages_beside_this_file()


class _Figures(ModuleType):
    """The module `ravenlab.figures`, which is `tuning.figures`, loaded on first use."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("tuning.figures"), name)

    def __dir__(self) -> list[str]:
        return list(importlib.import_module("tuning.figures").__all__)


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
        return getattr(importlib.import_module("policies"), name)
    except AttributeError:
        raise AttributeError(f"module 'ravenlab' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *PUBLIC, "__version__"})


def main() -> None:
    """Run the command `ravenlab`."""
    import gc

    gc.set_threshold(400_000)  # with Python's 700, collecting garbage takes a sixth of the time of all imports
    from tuning.cli.app import main as run

    try:
        run()
    except SystemExit as end:
        if not end.code:
            gc.freeze()  # Python collects garbage several times when it ends, which takes up to half a second
        raise  # after an error, locks in its traceback are collected before their module is


if __name__ == "__main__":
    main()
