"""The regret over two parameters: the result of a sensitivity grid, and the sensitivity map of a study."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np
from pydantic import BaseModel

from ravenlab.common.documents import Document, Map, Result, Shade, Table, make_frame
from ravenlab.common.interval import TIE_MARGIN, Interval
from ravenlab.common.text import (
    format_count,
    format_number,
    format_percent,
    format_range,
    format_settings,
    join_words,
    name_problem,
    plural,
)
from ravenlab.environments.world import Floats
from ravenlab.studies.results.baselines import USUAL, describe_scale
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.symbols import format_params, format_symbol
from ravenlab.studies.tables import DataFrame

MAX_PERCENT = 1e6
MAX_LISTED_CELLS = 12  # of a grid that is too large for a map
TESTS = "paired tests, corrected"
NEAR = 1.5  # cells with at most so many times the regret of the recommended one show how noisy cells are


class _MapFields(BaseModel):
    """The fields of the specification of a map, whose policy and scenario need not be loaded."""

    policy: str
    scenario: str
    settings: dict[str, int | float | str]
    horizon: int
    arms: int
    seed: int
    unit: float
    axes: dict[str, tuple[float, ...]]
    fixed: dict[str, float | str]
    replications: int


def make_map_spec(**fields: Any) -> GridSpec:
    """Return the specification of a map, without opening its scenario. Raises ValueError if a field is invalid."""
    return GridSpec.model_construct(**dict(_MapFields(**fields)))


@dataclass(frozen=True, repr=False, eq=False)
class Grid(Result):
    """The regret of every cell; arrays have the shape of the axes, [α₀, β₀] in a grid.

    `indistinguishable` marks the cells that are statistically indistinguishable from the best; in the map of a study,
    those that are tied with the recommended cell. `recommended`, `low` and `high` belong to maps only: the indices of
    the recommended cell, and the 95 % interval of each cell's difference from it in the same worlds.
    """

    spec: GridSpec
    study: str
    mean: Floats
    stderr: Floats
    indistinguishable: np.ndarray[Any, np.dtype[np.bool_]]
    recommended: tuple[int, ...] | None = None
    low: Floats | None = None
    high: Floats | None = None

    def __eq__(self, other: object) -> bool:
        """Whether the other one has the same cells and results."""
        return isinstance(other, Grid) and self.as_object() == other.as_object()

    @property
    def unit(self) -> float:
        """Scale of the rewards."""
        return self.spec.unit

    @property
    def best(self) -> tuple[int, ...]:
        """Indices of the cell with the lowest mean."""
        return tuple(map(int, np.unravel_index(int(self.mean.argmin()), self.mean.shape)))

    @property
    def reference(self) -> tuple[int, ...]:
        """Indices of the cell that the others are compared with: the recommended one, or the lowest of a grid."""
        return self.best if self.recommended is None else self.recommended

    def params(self, cell: tuple[int, ...]) -> dict[str, float | str]:
        """Return the parameters of a cell that the map or grid states."""
        values = {name: values[i] for (name, values), i in zip(self.spec.axes.items(), cell, strict=True)}
        return {**values, **self.spec.fixed}

    def difference(self, cell: tuple[int, ...]) -> Interval:
        """Return the difference of a cell of a map from the recommended cell."""
        if self.low is None or self.high is None:
            raise ValueError("only cells of maps are compared with a recommended one")
        mean = float(self.mean[cell] - self.mean[self.reference])
        return Interval(mean, float(self.low[cell]), float(self.high[cell]), of="difference")

    def typical_noise(self) -> float:
        """Return half the width of the interval of a cell near the recommended one, relative to its regret."""
        if self.low is None or self.high is None or not self.mean[self.reference] > 0.0:
            return 0.0
        near = (self.mean <= NEAR * self.mean[self.reference]) & (self.low < self.high)
        widths = (self.high - self.low)[near] / 2.0
        return float(np.median(widths) / self.mean[self.reference]) if widths.size else 0.0

    def percent_above_best(self) -> Floats:
        """Return by how many percent the mean of each cell exceeds the lowest; at most 10⁶, also if the lowest is 0."""
        best = float(self.mean.min())
        if best <= 0.0:
            return np.where(self.mean > best, MAX_PERCENT, 0.0)
        return np.minimum(100.0 * (self.mean / best - 1.0), MAX_PERCENT)

    def percent_above_reference(self) -> Floats:
        """Return by how many percent the mean of each cell exceeds that of the reference; negative if it is lower."""
        above = self.percent_above_best()
        start = float(above[self.reference])
        return np.minimum(100.0 * ((100.0 + above) / (100.0 + start) - 1.0), MAX_PERCENT)

    def as_object(self) -> dict[str, Any]:
        """Convert to plain JSON data: the specification, then the arrays as nested lists."""
        best = self.params(self.best)
        arrays = {"mean": self.mean.tolist(), "stderr": self.stderr.tolist()}
        if self.recommended is not None and self.low is not None and self.high is not None:
            return {
                "study": self.study,
                **_MapFields.model_validate(self.spec, from_attributes=True).model_dump(mode="json"),
                "recommended": list(self.recommended),
                "best": best,
                **arrays,
                "low": self.low.tolist(),
                "high": self.high.tolist(),
                "tied": self.indistinguishable.tolist(),
            }
        return {
            "study": self.study,
            "policy": self.spec.policy,
            **self.spec.model_dump(mode="json", exclude={"name"}),
            "best": best,
            **arrays,
            "indistinguishable": self.indistinguishable.tolist(),
        }

    @classmethod
    def read_map(cls, stored: Self | Mapping[str, Any]) -> Self:
        """Read the map of a study from its JSON data. Raises ValueError if it is damaged."""
        if isinstance(stored, cls):
            return stored
        assert isinstance(stored, Mapping)
        try:
            spec = make_map_spec(**{name: stored[name] for name in _MapFields.model_fields})
            shape = tuple(map(len, spec.axes.values()))
            mean, stderr, low, high = (
                np.array(stored[name], dtype=np.float64).reshape(shape) for name in ("mean", "stderr", "low", "high")
            )
            tied = np.array(stored["tied"], dtype=np.bool_).reshape(shape)
            recommended = tuple(range(size)[i] for size, i in zip(shape, stored["recommended"], strict=True))
        except (IndexError, KeyError, TypeError) as error:
            raise ValueError(f"damaged map: {error}") from None
        if not np.isfinite([mean, stderr, low, high]).all():
            raise ValueError("damaged map: not all numbers are finite")
        return cls(spec, str(stored["study"]), mean, stderr, tied, recommended, low, high)

    def to_frame(self) -> DataFrame:
        """Tabulate the cells in pandas, one row each."""
        percent = self.percent_above_best()
        close = "indistinguishable" if self.recommended is None else "tied"
        return make_frame(
            {
                "study": self.study,
                **self.params(cell),
                "regret": float(self.mean[cell]),
                "stderr": float(self.stderr[cell]),
                "percent_above_best": float(percent[cell]),
                **({} if self.recommended is None else self.difference(cell).as_columns("difference")),
                close: bool(self.indistinguishable[cell]),
            }
            for cell in product(*map(range, self.mean.shape))
        )

    def to_document(self) -> Document:
        """State the best cell and how many others are as good; small grids are shown as a map."""
        spec = self.spec
        size = f"{' × '.join(map(str, self.mean.shape))} cells × {format_count(spec.replications)} worlds"
        subject = f"{spec.policy} in {spec.scenario}"
        problem = name_problem(subject, spec.horizon, spec.arms, format_settings(spec.settings))
        if self.recommended is not None:
            answer, *facts = self.describe()
            label = f"Map of study {self.study!r}, {size}"
            return Document(answer=answer, facts=facts, label=label, problem=problem, tables=[self.table()])
        best = self.best
        percent = self.percent_above_best()
        facts = [self._describe_other_cells()]
        if self.mean.size > 1:
            worst = format_percent(float(percent.max()) / 100)
            facts.append(f"The worst of {format_count(self.mean.size)} cells has {worst} more regret.")
        facts += [] if self.unit == 1.0 else [describe_scale(self.unit, USUAL, "default values of α₀ and ε")]
        params = self.params(best)
        fixed = {name: params.pop(name) for name in spec.fixed}
        others = f" ({format_params(fixed)})" if fixed else ""
        regret = f"mean regret {self._format_cell(best)} (standard error)"
        return Document(
            answer=f"Best cell: {format_params(params)}{others}, {regret}.",
            facts=facts,
            label=f"Grid {self.study!r}, {size}",
            problem=problem,
            tables=[self.table()],
            details=[
                "The regret of the best cell is optimistically biased (selection bias); ravenlab tune validates on"
                " held-out worlds."
            ],
        )

    def describe(self) -> list[str]:
        """State how much each axis of a map costs if the other has the recommended value, and which cells are tied.

        >>> from ravenlab.studies.results.grid import make_map_spec
        >>> problem = {"policy": "ucb1", "scenario": "blips", "settings": {}, "horizon": 1000, "arms": 10, "seed": 0}
        >>> spec = make_map_spec(**problem, unit=1.0, axes={"c": (0.5, 1.0)}, fixed={}, replications=300)
        >>> mean = np.array([10.0, 15.0])
        >>> grid = Grid(spec, "mine", mean, mean / 100, mean < 12, (0,), mean - 10.5, mean - 9.5)
        >>> print(*grid.describe(), sep="\\n")
        Sensitivity: c from 0.5 to 1 costs up to 50 % more regret.
        1 of 2 cells is tied (at most 2.0 % more): c 0.5; a single cell is measured to ± 5.0 %.
        """
        reference = self.reference
        least = float(self.mean[reference])
        costs = []
        for place, (name, values) in enumerate(self.spec.axes.items()):
            line = np.moveaxis(self.mean, place, 0)[(slice(None), *np.delete(reference, place))]
            share = format_percent(float(line.max()) / least - 1.0) if least > 0.0 else format_number(float(line.max()))
            span = f"from {format_range(values)}" if len(values) > 1 else format_number(values[0])
            costs.append(f"{format_symbol(name)} {span} costs up to {share}")
        count = int(self.indistinguishable.sum())
        verb = "is" if count == 1 else "are"
        tied = f"{count} of {self.mean.size} cells {verb} tied (at most {format_percent(TIE_MARGIN)} more)"
        noise = self.typical_noise()
        known = f"; a single cell is measured to ± {format_percent(noise)}" if noise > TIE_MARGIN else ""
        return [f"Sensitivity: {join_words(costs, 'and')} more regret.", f"{tied}: {self._describe_region()}{known}."]

    def _describe_region(self) -> str:
        """State the ranges of the outlined cells."""
        inside = self.indistinguishable.nonzero()
        ranges = []
        for (name, values), places in zip(self.spec.axes.items(), inside, strict=True):
            ranges.append(f"{format_symbol(name)} {format_range(values[i] for i in places)}")
        return ", ".join(ranges)

    def _format_cell(self, cell: tuple[int, ...]) -> str:
        return f"{format_number(float(self.mean[cell]))} ± {format_number(float(self.stderr[cell]))}"

    def table(self) -> Map | Table:
        """Show by how much the cells are above the reference, with the best cells as a list."""
        axes = self.spec.axes
        percent = self.percent_above_reference()
        symbols = list(map(format_symbol, axes))
        ranked = [
            tuple(map(int, np.unravel_index(place, self.mean.shape)))
            for place in self.mean.argsort(axis=None, kind="stable")[:MAX_LISTED_CELLS]
        ]
        rows = [
            [
                *(format_number(values[i]) for values, i in zip(axes.values(), cell, strict=True)),
                self._format_cell(cell),
                format_percent(float(percent[cell]) / 100.0),
                "yes" if self.indistinguishable[cell] else "no",
            ]
            for cell in ranked
        ]
        mapped = self.recommended is not None
        reference = "recommended" if mapped else "best"
        region = "Tied" if mapped else "Indistinguishable"
        columns = [*symbols, "Mean regret ± standard error", f"Above the {reference}", region]
        listing = Table(columns, rows, f"Best {len(rows)} of {format_count(self.mean.size)} cells")
        if len(axes) < 2:
            return listing
        across, down = axes.values()
        cells = [
            [
                Shade(float(percent[i, j]), bool(self.indistinguishable[i, j]), best=(i, j) == self.reference)
                for i in range(len(across))
            ]
            for j in reversed(range(len(down)))
        ]
        meaning = (
            f"tied with it (at most {format_percent(TIE_MARGIN)} above)"
            if mapped
            else "statistically indistinguishable from the best"
        )
        return Map(
            columns=list(map(format_number, across)),
            rows=list(map(format_number, reversed(down))),
            cells=cells,
            caption=f"Percent above the {reference}{' cell' if mapped else ''}; outlined: {meaning}",
            corner=f"{symbols[1]} ↓ {symbols[0]} →",
            listing=listing,
            mark=reference,
        )

    def _describe_other_cells(self) -> str:
        """State which other cells of a grid may be the best."""
        others = self.mean.size - 1
        close = int(self.indistinguishable.sum()) - 1
        if not others:
            return "The grid has no other cell."
        if close < 1:  # damaged grids may mark no cell, not even the best
            worse = "The other cell is" if others == 1 else f"All other {format_count(others)} cells are"
            return f"{worse} significantly worse ({TESTS})."
        return (
            f"{plural(close, 'other cell is', 'other cells are')} statistically indistinguishable from it ({TESTS}):"
            f" {self._describe_region()}."
        )
