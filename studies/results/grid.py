"""Result of a sensitivity grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from environments.world import Floats
from studies.spec.grid import GRID_POLICY, ResolvedGridSpec


@dataclass(frozen=True)
class Grid:
    """A finished grid: means and standard errors [α₀, β₀], and which cells can't be told from the best."""

    spec: ResolvedGridSpec
    study: str
    mean: Floats
    stderr: Floats
    indistinguishable: np.ndarray[Any, np.dtype[np.bool_]]

    @property
    def best(self) -> tuple[int, int]:
        """Place of the lowest mean."""
        place = np.unravel_index(int(self.mean.argmin()), self.mean.shape)
        return int(place[0]), int(place[1])

    def as_object(self) -> dict[str, Any]:
        """A JSON object: what was played, then [α₀][β₀] tables of what came out."""
        alpha, beta = self.best
        spec = self.spec
        return {
            "study": self.study,
            "policy": GRID_POLICY,
            **spec.model_dump(mode="json", exclude={"name"}),
            "best": {"alpha0": spec.alpha0[alpha], "beta0": spec.beta0[beta], "epsilon": spec.epsilon},
            "mean": self.mean.tolist(),
            "stderr": self.stderr.tolist(),
            "indistinguishable": self.indistinguishable.tolist(),
        }
