"""One entrance to recommendations: a scenario, a file of recorded rewards, or a description in plain quantities.

A stored study or the law answers at once. Everything else is answered by a short search, whose modules are imported
only then.
"""

import glob
import shlex
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ravenlab.common.errors import InputError
from ravenlab.environments import find_scenario, scenarios
from ravenlab.studies.laws.recommendation import RecommendationQuery, RecommendedParameters, find_parameters
from ravenlab.studies.registry import StudyDefaults
from ravenlab.studies.spec.quantities import Quantities

if TYPE_CHECKING:
    from ravenlab.tuning.listener import Listener

FILE_ENDINGS = (".csv", ".tsv", ".txt", ".gz", ".parquet")
ASSUMED_SCENARIO = "localized-jump"

OpenProgress = Callable[[str], AbstractContextManager["Listener | None"]]
"""Opens what shows the progress of a search, given why there is one and how long it takes."""


@dataclass(frozen=True)
class Question:
    """What a user asks for."""

    about: str | None
    """A scenario or a file; None for a description that does not say how the rewards change."""
    horizon: int | None = None
    policy: str = StudyDefaults.policy
    arms: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    quantities: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `Quantities` that are given."""
    minimize: bool = False
    keep_state: bool = False
    """Whether the policy keeps running on a trace; it is restarted after the horizon otherwise."""
    columns: Mapping[str, str] | None = None
    """Names of the columns of a log; None if they are recognized."""

    @property
    def file(self) -> Path | None:
        """The file that the question is about, or the folder or pattern of several traces.

        >>> Question("costs.csv").file, Question("blips").file
        (PosixPath('costs.csv'), None)
        """
        if self.about is None:
            return None
        path = Path(self.about)
        if self.about.lower().endswith(FILE_ENDINGS) or glob.has_magic(self.about):
            return path
        return path if path.is_dir() and self.about not in scenarios() else None

    def query(self) -> tuple[RecommendationQuery, str]:
        """Return the query for a scenario, and what a description was understood to be.

        >>> question = Question("blips", 1000, quantities={"difference": 3.0, "sd": 8.0})
        >>> question.query()[0].settings["mean_high"]
        9.0
        """
        if self.minimize:
            raise InputError("minimize requires a file; regret has the same sign for costs.", field="minimize")
        if self.keep_state:
            raise InputError("keep_state requires a trace; in a scenario every policy does.", field="keep_state")
        if self.about is None and not self.quantities:
            raise InputError("a scenario, a file or a description (difference with sd or rate) is required.")
        if self.horizon is None:
            raise InputError("horizon is required: the number of steps of the problem.", field="horizon")
        if self.about is not None and not self.quantities:
            return RecommendationQuery(self.about, self.horizon, self.policy, self.arms, dict(self.settings)), ""
        if "difference" not in self.quantities:
            raise InputError("difference is required for a description in plain quantities.", field="difference")
        described = Quantities(**self.quantities)
        name = self.about or ASSUMED_SCENARIO
        settings = {**described.settings(name, self.horizon), **self.settings}
        arms = self.arms or find_scenario(name).arms
        understood = described.describe(name, self.horizon, arms)
        if self.about is None:
            understood += " How they change was not stated: sudden changes of a third of the arms are assumed."
        return RecommendationQuery(name, self.horizon, self.policy, self.arms, settings), understood

    def next_command(self, storage: str | None) -> str:
        """Return the command that answers the question with a study that is stored."""
        if self.file is None:
            return self.query()[0].tune_command(storage)
        from ravenlab.studies.diagnosis.analysis import is_log

        words = ["ravenlab", "tune", "--log" if self.columns or is_log(self.file) else "--trace", str(self.file)]
        words += ["--columns", ",".join(map("=".join, self.columns.items()))] if self.columns else []
        words += ["--minimize"] if self.minimize else []
        words += [] if self.horizon is None else ["--horizon" if self.keep_state else "--window", str(self.horizon)]
        words += ["--keep-state"] if self.keep_state else []
        words += ["--policy", self.policy] if self.policy != StudyDefaults.policy else []
        return shlex.join(words + (["--storage", storage] if storage is not None else []))


def answer_question(
    question: Question,
    storage: str | None,
    open_progress: OpenProgress,
    internal: bool = False,
    search: bool = True,
    jobs: int | None = None,
) -> RecommendedParameters:
    """Answer from the storage or the law, otherwise by a short search.

    Searches of comparisons answer only if they are included by `internal`.

    Raises:
        InputError: The question is invalid, or there is no answer without a search.
    """
    if question.file is not None:
        if not search:
            raise InputError(f"{question.file} can't be answered without a search.", field="no_search")
        from ravenlab.tuning.short_search import recommend_for_file

        return recommend_for_file(question, jobs, open_progress)
    query, understood = question.query()

    def search_short(reason: str) -> RecommendedParameters:
        from ravenlab.tuning.short_search import search_parameters

        return search_parameters(query, reason, jobs, open_progress)

    found = find_parameters(query, storage, internal, search_short if search else None)
    return found.with_understanding(understood)
