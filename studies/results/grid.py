"""The result of a sensitivity grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ravenlab.common.documents import Result, make_frame
from ravenlab.environments.world import Floats
from ravenlab.studies.spec.grid import GRID_POLICY, GridSpec

if TYPE_CHECKING:
    from pandas import DataFrame

    from ravenlab.common.documents import Document

MAX_PERCENT = 1e6


@dataclass(frozen=True, repr=False)
class Grid(Result):
    """A completed grid; arrays have the shape [α₀, β₀].

    `indistinguishable` marks the cells that are statistically indistinguishable from the best.
    """

    spec: GridSpec
    study: str
    mean: Floats
    stderr: Floats
    indistinguishable: np.ndarray[Any, np.dtype[np.bool_]]

    @property
    def unit(self) -> float:
        """Scale of the rewards."""
        return self.spec.unit

    @property
    def best(self) -> tuple[int, int]:
        """Indices of the cell with the lowest mean."""
        alpha, beta = np.unravel_index(int(self.mean.argmin()), self.mean.shape)
        return int(alpha), int(beta)

    def percent_above_best(self) -> Floats:
        """Return by how many percent the mean of each cell exceeds the lowest; at most 10⁶, also if the lowest is 0."""
        best = float(self.mean.min())
        if best <= 0.0:
            return np.where(self.mean > best, MAX_PERCENT, 0.0)
        return np.minimum(100.0 * (self.mean / best - 1.0), MAX_PERCENT)

    def as_object(self) -> dict[str, Any]:
        """Convert to plain JSON data: the specification, then the arrays as nested lists."""
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

    def to_frame(self) -> DataFrame:
        """Tabulate the cells in pandas, one row each."""
        spec = self.spec
        percent = self.percent_above_best()
        return make_frame(
            {
                "study": self.study,
                "alpha0": alpha0,
                "beta0": beta0,
                "epsilon": spec.epsilon,
                "regret": float(self.mean[i, j]),
                "stderr": float(self.stderr[i, j]),
                "percent_above_best": float(percent[i, j]),
                "indistinguishable": bool(self.indistinguishable[i, j]),
            }
            for i, alpha0 in enumerate(spec.alpha0)
            for j, beta0 in enumerate(spec.beta0)
        )

    def to_document(self) -> Document:
        from ravenlab.studies.results.documents import grid_document

        return grid_document(self)
