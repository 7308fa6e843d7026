"""A simulator fitted to a log: the posterior distribution of the arms' paths of means, given the diagnosed change.

The diagnosis determines which kinds of change there are: jumps at certain events, temporary levels (blips), and smooth
columns such as a slope or a season. Each arm has its own levels and coefficients. Levels are drawn from a common normal
distribution, coefficients from one around 0; a jump redraws an arm's level with a common probability. Means and
variances of these distributions are unknown as well. Paths are drawn from the posterior distribution by Gibbs sampling,
so arms with few events borrow from the others, and the paths differ where the log determines them poorly. The posterior
distribution does not depend on how the logging policy chose its arms.

Rewards are the mean of the path plus the deviation of a random event of that arm near that step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ravenlab.common.arrays import Floats, Ints
from ravenlab.common.linear import cholesky, invert, multiply
from ravenlab.environments.recorded.log_file import Arms
from ravenlab.environments.streams import generator

Bools = NDArray[np.bool_]

MAX_CELLS = 400  # cells of constant mean per arm, besides those that change points add
SWEEPS = 20  # sweeps of the Gibbs sampler before a path is used
GROUP = 16  # paths that are drawn together
MEAN_PATHS = 48  # paths whose mean is the estimated path
PRIOR_DEGREES = 1.0  # degrees of freedom of the prior of a variance, whose scale is that of the arms' means


@dataclass(frozen=True)
class ChangeModel:
    """How the means of n events of K arms change, according to a diagnosis."""

    kinds: tuple[str, ...]
    cuts: Ints
    """Events before which levels may jump."""
    spans: tuple[tuple[int, int], ...]
    """First event and event after the last one of each temporary level."""
    columns: Floats
    """[n, q] smooth regressors of the means."""
    groups: Ints
    """[q] columns of the same group have coefficients of the same variance."""
    variance: Floats
    """[B, K] variance of the noise in equal parts of the log."""
    period: float = np.inf
    """Period of the means in events, if there is one."""
    problem: str | None = None
    """Why the log cannot be simulated, if so."""


@dataclass(frozen=True)
class Simulator:
    """Cells of constant mean of each arm, and cumulative statistics of its events from which paths are drawn.

    Sums are weighted by the events' precisions, and run over the events before each cell edge.
    """

    model: ChangeModel
    edges: Ints
    """[C + 1] first event of each cell, and n."""
    bounds: Ints
    """[m + 2] cell edges between which the levels are constant, including the first and the last edge."""
    slots: Ints
    """[m + 1] index of the level between two bounds: lasting levels in order, then temporary ones."""
    design: Floats
    """[K, C, q] smooth columns in each cell, minus the mean over the arm's events."""
    precision: Floats
    """[K, C + 1] sums of precisions."""
    total: Floats
    """[K, C + 1] sums of rewards."""
    columns: Floats
    """[K, C + 1, q] sums of the design."""
    squares: Floats
    """[K, q, q] sum of products of the design over all events."""
    products: Floats
    """[K, q] sum of products of the design and the rewards over all events."""
    event_cell: Ints
    """[n] cell of each sorted event, counted over all arms."""

    @staticmethod
    def of(arm: Arms, reward: Floats, arms: int, model: ChangeModel) -> Simulator:
        """Compute the statistics of a log."""
        n = arm.size
        inner = sorted({*model.cuts.tolist(), *(edge for span in model.spans for edge in span)} - {0, n})
        grid = np.linspace(0, n, min(MAX_CELLS, n) + 1).astype(np.int64)
        edges = np.union1d(grid, np.array(inner, dtype=np.int64))
        cells = edges.size - 1
        cell = np.searchsorted(edges, np.arange(n), side="right") - 1
        part = np.arange(n) * model.variance.shape[0] // n
        weight = 1.0 / model.variance[part, arm]
        averages = np.add.reduceat(model.columns, edges[:-1], axis=0) / np.diff(edges)[:, None]
        weights = np.zeros((arms, cells))
        sums = np.zeros((arms, cells))
        np.add.at(weights, (arm, cell), weight)
        np.add.at(sums, (arm, cell), weight * reward)
        share = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        design = averages[None] - multiply(share, averages)[:, None]
        weighted = weights[..., None] * design
        order = np.argsort(arm, kind="stable")
        return Simulator(
            model=model,
            edges=edges,
            bounds=np.searchsorted(edges, [0, *inner, n]),
            slots=_number_levels(model, [0, *inner]),
            design=design,
            precision=_cumulate(weights),
            total=_cumulate(sums),
            columns=_cumulate(weighted),
            squares=np.einsum("kcp,kcq->kpq", weighted, design),
            products=np.einsum("kc,kcq->kq", sums, design),
            event_cell=arm[order].astype(np.int64) * cells + cell[order],
        )

    @property
    def arms(self) -> int:
        """Number of arms."""
        return int(self.design.shape[0])

    @property
    def cells(self) -> int:
        """Number of cells of each arm."""
        return int(self.design.shape[1])

    @cached_property
    def mean_path(self) -> Floats:
        """[K·C] posterior mean of the path."""
        return np.asarray(self.draw_paths(0, 0, range(1, MEAN_PATHS + 1)).mean(axis=0))

    def draw_paths(self, seed: int, stream: int, numbers: Sequence[int]) -> Floats:
        """Draw one path [K·C] for each number from 1 on from the posterior distribution.

        Each depends on its number only, to the last bit: paths are always drawn in the same groups, since the rounding
        of matrix products depends on their size.
        """
        groups = {group: self._draw_group(seed, stream, group) for group in {(n - 1) // GROUP for n in numbers}}
        return np.stack([groups[(number - 1) // GROUP][(number - 1) % GROUP] for number in numbers])

    def _draw_group(self, seed: int, stream: int, group: int) -> Floats:
        """Draw the paths [GROUP, K·C] of consecutive numbers."""
        sampler = _Sampler(self, GROUP)
        normal, uniform = sampler.count_random_numbers()
        rngs = [generator(seed, stream, number, "path") for number in range(group * GROUP + 1, (group + 1) * GROUP + 1)]
        normals = np.stack([rng.standard_normal((SWEEPS, normal)) for rng in rngs])
        uniforms = np.stack([rng.uniform(1e-9, 1.0 - 1e-9, (SWEEPS, uniform)) for rng in rngs])
        for sweep in range(SWEEPS):
            sampler.sweep(normals[:, sweep], uniforms[:, sweep])
        return sampler.paths()


def _cumulate(table: Floats) -> Floats:
    """Return sums over the cells before each edge, [K, C + 1, …]."""
    return np.concatenate([np.zeros_like(table[:, :1]), np.cumsum(table, axis=1)], axis=1)


def _number_levels(model: ChangeModel, starts: Sequence[int]) -> Ints:
    """Return the index of the level that holds from each start on."""
    slots = np.searchsorted(model.cuts[model.cuts > 0], starts, side="right")
    for i, (first, end) in enumerate(model.spans):
        slots[(np.array(starts) >= first) & (np.array(starts) < end)] = model.cuts.size + 1 + i
    return np.unique(slots, return_inverse=True)[1].astype(np.int64)


class _Sampler:
    """State of L Gibbs samplers: bounds [L, m + 2], levels [L, K, G], coefficients [L, K, q], their distributions."""

    def __init__(self, simulator: Simulator, count: int) -> None:
        self.simulator = simulator
        arms = simulator.arms
        q = simulator.design.shape[2]
        self.levels = int(simulator.slots.max()) + 1
        self.lasting = min(self.levels, simulator.model.cuts.size + 1)
        self.groups = int(simulator.model.groups.max(initial=-1)) + 1
        precision = simulator.precision[:, -1]
        total = simulator.total[:, -1]
        means = total[precision > 0.0] / precision[precision > 0.0]
        self.prior_variance = max(float(means.var()), 1e-4 * float(simulator.model.variance.mean()), 1e-300)
        self.mean = np.full(count, float(means.mean()))
        self.variance = np.full(count, self.prior_variance)
        self.jump = np.full(count, 0.5)
        self.scale = np.full((count, self.groups), self.prior_variance)
        self.bounds = np.tile(simulator.bounds, (count, 1))
        self.coefficient = np.zeros((count, arms, q))
        self.level = np.full((count, arms, self.levels), float(means.mean()))
        self.redrawn = np.ones((count, arms, self.lasting), dtype=np.bool_)

    def count_random_numbers(self) -> tuple[int, int]:
        """Return the numbers of normal and uniform random numbers of a sweep."""
        arms, q = self.coefficient.shape[1:]
        return arms * (q + self.levels) + 1, arms * self.lasting + self.simulator.slots.size - 1 + 2 + self.groups

    def sweep(self, z: Floats, u: Floats) -> None:
        """Draw everything once, each part given the others."""
        count, arms, q = self.coefficient.shape
        parts = np.cumsum([arms * self.lasting, self.simulator.slots.size - 1])
        u_jumps, u_bounds, u_priors = np.split(u, parts, axis=1)
        self._draw_levels(u_jumps.reshape(count, arms, -1), z[:, : arms * self.levels].reshape(count, arms, -1))
        self._draw_coefficients(z[:, arms * self.levels : -1].reshape(count, arms, q))
        self._draw_bounds(u_bounds)
        self._draw_priors(z[:, -1], u_priors)

    def paths(self) -> Floats:
        """Return the means [L, K·C]."""
        simulator = self.simulator
        interval = (np.arange(simulator.cells) >= self.bounds[:, 1:-1, None]).sum(axis=1)
        level = np.take_along_axis(self.level, simulator.slots[interval][:, None], axis=2)
        smooth = np.einsum("kcq,lkq->lkc", simulator.design, self.coefficient)
        return np.asarray((level + smooth).reshape(level.shape[0], -1))

    def _by_level(self, table: Floats) -> Floats:
        """Sum a cumulative table [K, C + 1, …] over the cells of each level, [L, K, G, …]."""
        parts = np.diff(np.moveaxis(table[:, self.bounds], 0, 1), axis=2)
        sums = np.zeros((*parts.shape[:2], self.levels, *parts.shape[3:]))
        for interval, slot in enumerate(self.simulator.slots):
            sums[:, :, slot] += parts[:, :, interval]
        return sums

    def _draw_levels(self, u: Floats, z: Floats) -> None:
        """Draw at which jumps the level of each arm is new, and the levels."""
        precision = self._by_level(self.simulator.precision)
        total = self._by_level(self.simulator.total)
        if self.groups:
            total -= np.einsum("lkgq,lkq->lkg", self._by_level(self.simulator.columns), self.coefficient)
        deviation = total - self.mean[:, None, None] * precision
        self.redrawn = self._draw_partition(precision[..., : self.lasting], deviation[..., : self.lasting], u)
        run = np.broadcast_to(np.arange(self.levels), precision.shape).copy()
        run[..., : self.lasting] = np.cumsum(self.redrawn, axis=2) - 1
        sums = np.zeros((2, *precision.shape))
        chain, arm = np.ogrid[: run.shape[0], : run.shape[1]]
        for slot in range(self.levels):
            sums[0, chain, arm, run[..., slot]] += precision[..., slot]
            sums[1, chain, arm, run[..., slot]] += deviation[..., slot]
        spread = 1.0 / (sums[0] + 1.0 / self.variance[:, None, None])
        values = self.mean[:, None, None] + spread * sums[1] + np.sqrt(spread) * z
        self.level = np.take_along_axis(values, run, axis=2)

    def _draw_partition(self, precision: Floats, deviation: Floats, u: Floats) -> Bools:
        """Draw which lasting levels are new, by forward sums over all partitions and backward sampling."""
        segments = u.shape[2]
        redrawn = np.zeros(u.shape, dtype=np.bool_)
        redrawn[..., 0] = True
        if segments == 1:
            return redrawn
        before = np.zeros((*u.shape[:2], 1))
        precisions, deviations = (np.concatenate([before, t.cumsum(axis=2)], axis=2) for t in (precision, deviation))
        variance = self.variance[:, None]
        jump = np.log(self.jump)[:, None]
        stay = np.log1p(-self.jump)[:, None]
        forward = [np.zeros(u.shape[:2])]
        shares = []
        for end in range(1, segments + 1):
            terms = np.empty((end, *u.shape[:2]))
            for start in range(end):
                grown = 1.0 + variance * (precisions[..., end] - precisions[..., start])
                square = (deviations[..., end] - deviations[..., start]) ** 2
                evidence = 0.5 * (variance * square / grown - np.log(grown)) + (end - start - 1) * stay
                terms[start] = forward[start] + evidence + (jump if start else 0.0)
            top = terms.max(axis=0)
            forward.append(top + np.log(np.exp(terms - top).sum(axis=0)))
            shares.append(np.exp(terms - forward[-1]).cumsum(axis=0))
        ends = np.full(u.shape[:2], segments)
        while (ends > 0).any():
            for last in np.unique(ends[ends > 0]):
                chain, arm = np.nonzero(ends == last)
                below = shares[last - 1][:, chain, arm] < u[chain, arm, last - 1]
                starts = np.minimum(below.sum(axis=0), last - 1)
                redrawn[chain, arm, starts] = True
                ends[chain, arm] = starts
        return redrawn

    def _draw_coefficients(self, z: Floats) -> None:
        """Draw the coefficients of the smooth columns."""
        if not self.groups:
            return
        simulator = self.simulator
        inverse_scale = 1.0 / self.scale[:, simulator.model.groups]
        matrix = simulator.squares[None] + np.eye(z.shape[2]) * inverse_scale[:, None, None, :]
        right = simulator.products[None] - np.einsum("lkgq,lkg->lkq", self._by_level(simulator.columns), self.level)
        root = cholesky(invert(matrix))
        self.coefficient = np.einsum("lkpq,lkq->lkp", root, np.einsum("lkqp,lkq->lkp", root, right) + z)

    def _draw_bounds(self, u: Floats) -> None:
        """Draw each bound between its neighbors, given the levels on both sides."""
        simulator = self.simulator
        if not u.shape[1]:
            return
        total = simulator.total[None]
        if self.groups:
            total = total - np.einsum("kcq,lkq->lkc", simulator.columns, self.coefficient)
        edges = np.arange(simulator.cells + 1)
        for i in range(1, simulator.slots.size):
            before, after = (self.level[..., simulator.slots[j]] for j in (i - 1, i))
            gain = ((before - after)[..., None] * total).sum(axis=1)
            gain -= multiply(0.5 * (before**2 - after**2), simulator.precision)
            inside = (edges > self.bounds[:, i - 1, None]) & (edges < self.bounds[:, i + 1, None])
            gain = np.where(inside, gain, -np.inf)
            share = np.exp(gain - gain.max(axis=1, keepdims=True)).cumsum(axis=1)
            self.bounds[:, i] = (share < u[:, i - 1, None] * share[:, -1:]).sum(axis=1)

    def _draw_priors(self, z: Floats, u: Floats) -> None:
        """Draw the common mean and variance of levels, the probability of a jump, and the variances of coefficients."""
        from scipy.special import betaincinv, chdtri

        fresh = np.ones(self.level.shape, dtype=np.bool_)
        fresh[..., : self.lasting] = self.redrawn
        count = fresh.sum(axis=(1, 2))
        mean = np.where(fresh, self.level, 0.0).sum(axis=(1, 2)) / count
        squares = np.where(fresh, (self.level - mean[:, None, None]) ** 2, 0.0).sum(axis=(1, 2))
        scale = PRIOR_DEGREES * self.prior_variance
        self.variance = (scale + squares) / chdtri(PRIOR_DEGREES + count - 1.0, u[:, 0])
        self.mean = mean + z * np.sqrt(self.variance / count)
        jumps = self.redrawn[..., 1:].sum(axis=(1, 2))
        places = self.redrawn[0, :, 1:].size
        self.jump = np.clip(betaincinv(1.0 + jumps, 1.0 + places - jumps, u[:, 1]), 1e-6, 1.0 - 1e-6)
        for group in range(self.groups):
            own = self.coefficient[..., self.simulator.model.groups == group]
            degrees = PRIOR_DEGREES + own[0].size
            self.scale[:, group] = (scale + (own**2).sum(axis=(1, 2))) / chdtri(degrees, u[:, 2 + group])
