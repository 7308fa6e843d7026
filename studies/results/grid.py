"""The result of a sensitivity grid."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ravenlab.common.documents import Document, Map, Result, Shade, Table, make_frame
from ravenlab.common.text import (
    format_count,
    format_number,
    format_percent,
    format_range,
    format_settings,
    name_problem,
    plural,
)
from ravenlab.environments.world import Floats
from ravenlab.studies.results.baselines import USUAL, describe_scale
from ravenlab.studies.spec.grid import GRID_POLICY, GridSpec
from ravenlab.studies.symbols import format_params
from ravenlab.studies.tables import DataFrame

MAX_PERCENT = 1e6
MAX_LISTED_CELLS = 12  # of a grid that is too large for a map
TESTS = "paired tests, corrected"


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
        return {
            "study": self.study,
            "policy": GRID_POLICY,
            **self.spec.model_dump(mode="json", exclude={"name"}),
            "best": {**self._best_values(), "epsilon": self.spec.epsilon},
            "mean": self.mean.tolist(),
            "stderr": self.stderr.tolist(),
            "indistinguishable": self.indistinguishable.tolist(),
        }

    def _best_values(self) -> dict[str, float]:
        alpha, beta = self.best
        return {"alpha0": self.spec.alpha0[alpha], "beta0": self.spec.beta0[beta]}

    def to_frame(self) -> DataFrame:
        """Tabulate the cells in pandas, one row each."""
        arrays = (self.mean, self.stderr, self.percent_above_best())
        cells = zip(self.spec.cells(), *(array.flat for array in arrays), self.indistinguishable.flat, strict=True)
        return make_frame(
            {
                "study": self.study,
                **params,
                "regret": float(mean),
                "stderr": float(stderr),
                "percent_above_best": float(percent),
                "indistinguishable": bool(equal),
            }
            for params, mean, stderr, percent, equal in cells
        )

    def to_document(self) -> Document:
        """State the best cell and how many others are as good; small grids are shown as a map."""
        spec = self.spec
        facts = [self._describe_other_cells()]
        if self.mean.size > 1:
            worst = format_percent(float(self.percent_above_best().max()) / 100)
            facts.append(f"The worst of {format_count(self.mean.size)} cells has {worst} more regret.")
        facts += [] if self.unit == 1.0 else [describe_scale(self.unit, USUAL, "default values of α₀ and ε")]
        size = f"{len(spec.alpha0)} × {len(spec.beta0)} cells × {format_count(spec.replications)} worlds"
        problem = f"{GRID_POLICY} in {spec.scenario}"
        return Document(
            answer=f"Best cell: {format_params(self._best_values())} (ε {format_number(spec.epsilon)}), mean regret"
            f" {self._format_mean(*self.best)} (standard error).",
            facts=facts,
            label=f"Grid {self.study!r}, {size}",
            problem=name_problem(problem, spec.horizon, spec.arms, format_settings(spec.settings)),
            tables=[self._map()],
            details=[
                "The regret of the best cell is optimistically biased (selection bias); ravenlab tune validates on"
                " held-out worlds."
            ],
        )

    def _format_mean(self, i: int, j: int) -> str:
        return f"{format_number(float(self.mean[i, j]))} ± {format_number(float(self.stderr[i, j]))}"

    def _map(self) -> Map:
        """Show by how much the cells are above the best, with the best cells as a list."""
        spec = self.spec
        percent = self.percent_above_best()
        cells = [
            [
                Shade(float(percent[i, j]), bool(self.indistinguishable[i, j]), best=(i, j) == self.best)
                for i in range(len(spec.alpha0))
            ]
            for j in reversed(range(len(spec.beta0)))
        ]
        ranked = [divmod(int(index), len(spec.beta0)) for index in self.mean.argsort(axis=None)[:MAX_LISTED_CELLS]]
        rows = [
            [
                format_number(spec.alpha0[i]),
                format_number(spec.beta0[j]),
                self._format_mean(i, j),
                format_percent(float(percent[i, j]) / 100.0),
                "yes" if self.indistinguishable[i, j] else "no",
            ]
            for i, j in ranked
        ]
        columns = ["α₀", "β₀", "Mean regret ± standard error", "Above the best", "Indistinguishable"]
        return Map(
            columns=list(map(format_number, spec.alpha0)),
            rows=list(map(format_number, reversed(spec.beta0))),
            cells=cells,
            caption="Percent above the best; outlined: statistically indistinguishable from the best",
            corner="β₀ ↓ α₀ →",
            listing=Table(columns, rows, f"Best {len(rows)} of {format_count(self.mean.size)} cells"),
        )

    def _describe_other_cells(self) -> str:
        """State which other cells may be the best."""
        others = self.mean.size - 1
        close = int(self.indistinguishable.sum()) - 1
        if not others:
            return "The grid has no other cell."
        if close < 1:  # damaged grids may mark no cell, not even the best
            worse = "The other cell is" if others == 1 else f"All other {format_count(others)} cells are"
            return f"{worse} significantly worse ({TESTS})."
        rows, columns = self.indistinguishable.nonzero()
        return (
            f"{plural(close, 'other cell is', 'other cells are')} statistically indistinguishable from it ({TESTS}):"
            f" α₀ {format_range(self.spec.alpha0[i] for i in rows)}, β₀"
            f" {format_range(self.spec.beta0[j] for j in columns)}."
        )
