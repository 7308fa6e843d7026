"""What every experiment is run with, and the pieces it is cut into."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from environments.identity import computation_fingerprint
from studies.spec import StudySpec
from tuning.crew import Crew
from tuning.running import Ran, run_study

USUAL = 50
"""Replications of the usual precision: the paper's own number in its Table 3. All other counts go with it."""

_BY_STUDY: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

PROTOCOLS = ("published", "defined")

Found = Mapping[str, Any]
"""What a piece found, as plain data that survives JSON unchanged."""


@dataclass(frozen=True)
class Context:
    """Seed, precision and where to compute. Nothing found depends on `crew` or `url`."""

    seed: int
    replications: int
    protocols: tuple[str, ...]
    crew: Crew
    url: str
    """The storage of the searches that belong to it."""

    def count(self, usual: int, least: int = 2) -> int:
        """How many of something to do, where `usual` is enough at the usual precision.

        >>> from tuning.crew import ALONE
        >>> Context(0, 25, PROTOCOLS, ALONE, "").count(4000)
        2000
        """
        return max(least, round(usual * self.replications / USUAL))

    def fingerprint(self) -> str:
        """A short hash of seed, precision and computing code; only pieces that share it are combined."""
        made = {"seed": self.seed, "replications": self.replications, "code": computation_fingerprint()}
        return hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()[:8]

    def search(self, key: str, spec: StudySpec) -> Ran:
        """Run a study to its recommendation under a name of this reproduction; it goes on where it was cut."""
        named = spec.model_copy(update={"name": f"{key}~{self.fingerprint()}", "seed": self.seed})
        with _BY_STUDY[named.study_name()]:  # pieces that run side by side may need the same one
            return run_study(named, self.url, self.crew)


@dataclass(frozen=True)
class Piece:
    """A part of an experiment that is done in one go and kept when it is done."""

    key: str
    """Its name, and that of the file it is kept in: words, digits, dashes and slashes."""
    seconds: float
    """About how long it takes at the usual precision on two cores; only the estimate of the time left hangs on it."""
    run: Callable[[Context], Found]
