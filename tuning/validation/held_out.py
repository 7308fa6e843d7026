"""Data that a search did not use. Parameters are chosen on the selection data and evaluated on the report data.

`recommend_on` works on any kind of data: simulated worlds (`worlds`), a trace (`trace`), a log (`log`), or the worlds
of several scenarios (`robust.validation`). A kind of data measures candidates, compares two of them, finds those that
are indistinguishable from the best, and reports on the selected one.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

from ravenlab.common.interval import Interval
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies import find_policy
from ravenlab.policies.engine.loading import scale_defaults
from ravenlab.policies.engine.parameters import Values
from ravenlab.studies.results.verdict import Excess
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.surface import Surface
from ravenlab.studies.storage.keys import project_version
from ravenlab.tuning.validation.candidates import Candidate, boundary_hits, bounding_box, list_baselines
from ravenlab.tuning.workers.problem import Evaluator

MIN_WORLDS = 200
"""Selection worlds below which candidates are not compared, since an interval of so few worlds is unreliable."""

Result = TypeVar("Result")
ValuesKey = tuple[tuple[str, object], ...]


def make_key(values: Values) -> ValuesKey:
    """Return parameters as a key."""
    return tuple(sorted(values.items()))


@dataclass(frozen=True)
class ChosenParameters:
    """The chosen parameters, and excesses over the best candidate."""

    values: Values
    excess_of_defaults: Excess | None = None
    """None if candidates were not compared."""
    excess: Excess | None = None
    """Excess of the chosen parameters; None if they are the best candidate or the defaults."""


@dataclass(frozen=True)
class Screening:
    """All candidates on the first selection data."""

    objective: Floats
    """Of the candidates and the design; lower is better."""
    indistinguishable: list[int]
    """Indices of the candidates that are statistically indistinguishable from the best, best first."""


@dataclass(frozen=True)
class Selection:
    """The selected parameters, and what they were selected from."""

    study: str
    spec: StudySpec
    """The study with the ranges that its trials led to."""
    trials: int
    complete: int
    """Number of complete trials."""
    best: Candidate
    choice: ChosenParameters
    baselines: dict[str, Candidate]
    """The defaults are the last one."""
    indistinguishable: list[Candidate]
    ranges: dict[str, tuple[float, float]] | None
    """Range of each searched parameter that is tied with the selected value, if a surface shows it."""
    importance: dict[str, float] | None
    surface: Surface | None = None
    """The objective over the searched parameters."""

    @property
    def evaluated(self) -> list[Values]:
        """The selected parameters and the baselines."""
        return [self.choice.values, *(baseline.values for baseline in self.baselines.values())]


class HeldOutData(ABC, Generic[Result]):
    """Selection and report data of a study; the report is a `Result`.

    "Worlds" are the replications of the data: simulated worlds, windows of a trace, or runs on a log.
    """

    recorded: ClassVar[bool] = False
    """Whether the data are a file, to which no worlds can be added."""
    fits_surface: ClassVar[bool] = True
    """Whether a surface may be fitted to the objective; not where it may have any sign."""

    def __init__(self, spec: StudySpec, evaluator: Evaluator, alternatives: Sequence[str] = ()) -> None:
        self.spec = spec
        self.evaluator = evaluator
        self.scenario = evaluator.problem.scenario
        self.alternatives = alternatives
        """Untuned policies that are measured on the report data."""

    def open_alternatives(self) -> list[tuple[Evaluator, Values]]:
        """Return an evaluator of each untuned policy on the same data, and its defaults scaled to the rewards."""
        opened = []
        problem = self.evaluator.problem
        for name in self.alternatives:
            evaluator = Evaluator(replace(problem, policy=name, source=None), self.evaluator.workers)
            evaluator.on_steps = self.evaluator.on_steps
            policy = find_policy(name)
            defaults = policy.resolve({}, problem.arms, problem.horizon)
            opened.append((evaluator, scale_defaults(policy, defaults, self.spec.source.reward_scale(problem.horizon))))
        return opened

    @property
    def maximize(self) -> bool:
        """Whether the search maximized its objective, which then is not comparable with that of the selection."""
        return self.evaluator.objective.maximize

    @property
    def raced(self) -> bool:
        """Whether candidates are compared in a race; otherwise the best of the screening is selected."""
        return bool(self.spec.space)

    @property
    def designed(self) -> bool:
        """Whether the screening includes further candidates around the best ones."""
        return self.raced and not self.recorded  # a file has one selection segment for the screening and the race

    def list_baselines(self, spec: StudySpec) -> dict[str, Candidate]:
        """Return the baselines by name, the defaults last."""
        return list_baselines(spec)

    @abstractmethod
    def screen(self, candidates: Sequence[Values], design: Sequence[Values]) -> Screening:
        """Measure all candidates and a design of further ones, before a race."""

    @abstractmethod
    def most_worlds(self, conclusive: bool) -> int:
        """Return the largest number of worlds of a race with the defaults.

        No worlds are added if the search was not large enough to be conclusive.
        """

    @abstractmethod
    def list_looks(self, most: int) -> list[tuple[int, bool]]:
        """List the looks of a race on at most so many worlds: the number of worlds, and whether a tie is accepted."""

    @abstractmethod
    def measure(self, candidates: Sequence[Values], worlds: int) -> None:
        """Measure candidates on so many worlds of the race."""

    @abstractmethod
    def count(self, values: Values) -> int:
        """Return the number of worlds on which a candidate was measured."""

    @abstractmethod
    def objective(self, values: Values, worlds: int) -> float:
        """Return the objective of a measured candidate; lower is better."""

    @abstractmethod
    def compare(self, values: Values, best: Values, worlds: int, error_rate: float) -> Interval:
        """Return the objective relative to the best, minus 1. Each end of the interval fails with the error rate."""

    @abstractmethod
    def difference(self, values: Values, best: Values, worlds: int) -> tuple[float, float]:
        """Return the difference from the best, relative to the best, and its standard error."""

    @abstractmethod
    def report(self, selection: Selection) -> Result:
        """Evaluate the selected parameters and the baselines on the report data."""

    def shared_fields(self, selection: Selection) -> dict[str, Any]:
        """Return the fields that the results of all kinds of data have."""
        spec = selection.spec
        best = selection.best
        widened = [name for name, range_ in spec.space.items() if range_ != self.spec.space[name]]
        box = selection.ranges
        return {
            "study": selection.study,
            "policy": spec.policy,
            "settings": dict(spec.settings),
            "horizon": spec.horizon,
            "arms": spec.arms,
            "params": best.shown,
            "search_estimate": self._estimate_in_search(best),
            "indistinguishable": [candidate.shown for candidate in selection.indistinguishable],
            "box": bounding_box(spec, [*selection.indistinguishable, best]) if box is None else box,
            "importance": selection.importance,
            "edge": boundary_hits(spec, best.values),
            "widened": {name: spec.space[name].bounds() for name in widened},
            "unit": spec.reward_factor(),
            "trials": selection.trials,
            "seed": spec.seed,
            "version": project_version(),
        }

    def _estimate_in_search(self, best: Candidate) -> float:
        """Return the objective in the search; parameters that were no trial are played on the search worlds."""
        if best.estimate is not None:
            return best.estimate
        sample = self.evaluator.play_sample([best.values], Stream.SEARCH, 0, self.spec.replications)
        return float(self.evaluator.objective.value(sample)[0])
