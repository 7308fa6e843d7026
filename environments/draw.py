"""Drawing worlds: from the draft that effects modify to the arrays that the loops read."""

from pathlib import Path

import numpy as np

from ravenlab.common.checks import check_replications
from ravenlab.common.errors import InputError
from ravenlab.common.plugins import plugin_errors
from ravenlab.common.text import format_bytes
from ravenlab.environments import world
from ravenlab.environments.base import Change, Draft, add_steps
from ravenlab.environments.noise import NOISES
from ravenlab.environments.random_numbers import NUMBERED_REPLICATIONS, draw_numbers
from ravenlab.environments.scenario import Scenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats, Ints, Worlds

PARTS = 3  # of a reward with delayed feedback


def draw_worlds(
    scenario: Scenario,
    horizon: int,
    arms: int,
    seed: int,
    first: int = 0,
    replications: int = 1,
    stream: int = Stream.SIMULATE,
) -> Worlds:
    """Draw worlds number first … first + replications − 1. The same arguments always give the same worlds.

    >>> from ravenlab.environments import find_scenario
    >>> worlds = draw_worlds(find_scenario("blips"), horizon=100, arms=3, seed=1, replications=2)
    >>> worlds.noise.shape, worlds.level.shape
    ((2, 100), (2, 11, 3, 4))
    """
    scenario.check(horizon, arms)
    check_replications(seed, first, replications)
    check_memory(replications * scenario.bytes_per_world(horizon, arms), f"horizon {horizon}")
    draft = build_draft(scenario, horizon, arms, seed, first, replications, stream)
    return _with_tape(draft, schedule_worlds(draft))


def build_draft(
    scenario: Scenario,
    horizon: int,
    arms: int,
    seed: int = 0,
    first: int = 0,
    replications: int = 1,
    stream: int = Stream.SIMULATE,
) -> Draft:
    """Create the draft of worlds and apply all effects in their order."""
    draft = Draft(
        horizon=horizon,
        arms=arms + scenario.extra_arms,
        base=scenario.base,
        noise=scenario.noise,
        seed=seed,
        stream=int(stream),
        first=first,
        replications=replications,
        extra_arms=scenario.extra_arms,
    )
    for effect in sorted(scenario.effects, key=lambda effect: effect.order):
        with plugin_errors("effect", effect.name, type(effect)):
            effect.apply(draft)
    return draft


def means_at(draft: Draft, step: int) -> Floats:
    """Return the means [R, K] of all arms of a draft at one step, computed as in the loop."""
    worlds = schedule_worlds(draft)
    return np.stack([world.moments_at(worlds, r, step)[0] for r in range(draft.replications)])


def _segments(draft: Draft) -> tuple[Ints, Ints, Ints]:
    """Return first steps [R, S + 1], level rows [R, S] and blip marks [R, S] of the segments between changes."""
    lasting = [change for change in draft.changes if change.until is None]
    blips = [change for change in draft.changes if change.until is not None]
    fixed = not any(change.is_random for change in draft.changes)
    worlds = 1 if fixed else draft.replications
    moves = add_steps(draft.walk, draft.shifts)
    walk = moves[0] if moves is not None else np.empty(0, dtype=np.int64)
    level_at = _times(worlds, [change.at for change in lasting])
    level_row = _rows(lasting)
    blip_at = _times(worlds, [change.at for change in blips])
    blip_row = _rows(blips)
    blip_until = _times(worlds, [change.until for change in blips if change.until is not None])
    segments = [
        _segments_of_world(draft.horizon, walk, level_at[r], level_row, blip_at[r], blip_until[r], blip_row)
        for r in range(worlds)
    ]
    if fixed:
        segments *= draft.replications
    # The size depends on the scenario only, so that a world is the same in every block of worlds.
    size = segments[0][1].size if fixed else 1 + len(lasting) + 2 * len(blips) + walk.size
    starts = np.full((draft.replications, size + 1), draft.horizon + 1, dtype=np.int64)
    rows, marks = (np.zeros((draft.replications, size), dtype=np.int64) for _ in range(2))
    for r, (world_starts, world_rows, world_marks) in enumerate(segments):
        starts[r, : world_starts.size] = world_starts
        rows[r, : world_rows.size] = world_rows
        marks[r, : world_marks.size] = world_marks
    return starts, rows, marks


def _times(worlds: int, times: list[int | Ints]) -> Ints:
    """Return times of changes, each one step or steps by world, as an array [worlds, changes]."""
    out = np.empty((worlds, len(times)), dtype=np.int64)
    for j, time in enumerate(times):
        out[:, j] = time
    return out


def _rows(changes: list[Change]) -> Ints:
    return np.array([change.row for change in changes], dtype=np.int64)


def _segments_of_world(
    horizon: int, walk: Ints, level_at: Ints, level_row: Ints, blip_at: Ints, blip_until: Ints, blip_row: Ints
) -> tuple[Ints, Ints, Ints]:
    """Return first steps [S + 1], level rows [S] and blip marks [S] of one world; of simultaneous changes the last."""
    cuts = np.concatenate([walk, level_at, blip_at, blip_until])
    starts = np.unique(np.concatenate([[1], cuts[cuts <= horizon], [horizon + 1]]))
    first = starts[:-1]
    order = np.lexsort((level_row, level_at))
    level = np.searchsorted(level_at[order], first, side="right") - 1
    rows = np.concatenate([level_row[order], [0]])[level]  # before the first change: row 0
    order = np.lexsort((blip_row, blip_at))
    blip = np.searchsorted(blip_at[order], first, side="right") - 1
    marks = (blip >= 0) & (first < np.concatenate([blip_until[order], [0]])[blip])
    rows = np.where(marks, np.concatenate([blip_row[order], [0]])[blip], rows)
    return starts, rows, marks.astype(np.int64)


def _add_moves(
    moves: tuple[Ints, Floats], draft: Draft, starts: Ints, rows: Ints, blips: Ints, level: Floats
) -> tuple[Ints, Floats]:
    """Return level rows of segments and levels of which each segment outside a blip has its own, moved."""
    steps, offsets = moves
    worlds = np.arange(draft.replications)[:, None]
    moved = level[worlds, rows]
    offset = offsets[worlds, np.searchsorted(steps, starts[:, :-1], side="right") - 1]
    moved[..., world.MEAN] += offset
    moved[..., world.NEW_MEAN] += offset
    own_row = level.shape[1] + np.arange(rows.shape[1])
    return np.where(blips == 1, rows, own_row), np.concatenate([level, moved], axis=1)


def schedule_worlds(draft: Draft) -> Worlds:
    """Create the arrays of the loop without the noise."""
    count = draft.replications
    horizon = draft.horizon
    starts, row, blip = _segments(draft)
    kind = world.BERNOULLI if draft.noise == "bernoulli" else 0
    level = np.zeros((count, draft.mean.shape[1], draft.arms, 4))
    level[..., world.MEAN] = draft.mean
    level[..., world.VARIANCE] = draft.variance
    motion = np.zeros((count, draft.arms, 4))
    share = np.empty(0)
    season = np.empty((0, 2))
    if draft.ramp is not None and draft.new_mean is not None and draft.new_variance is not None:
        kind |= world.GRADUAL
        level[..., world.NEW_MEAN] = draft.new_mean
        level[..., world.NEW_VARIANCE] = draft.new_variance
        begin, end = draft.ramp
        share = np.clip((np.arange(1, horizon + 1) - begin) / (end - begin), 0.0, 1.0)
    if draft.walk is not None:
        kind |= world.WALK
    moves = add_steps(draft.walk, draft.shifts)
    if moves is not None:
        row, level = _add_moves(moves, draft, starts, row, blip, level)
    if draft.slope is not None:
        kind |= world.SLOPE
        motion[..., world.PER_STEP] = draft.slope
    if draft.growth is not None:
        kind |= world.GROWTH
        motion[..., world.VARIANCE_PER_STEP] = draft.growth
    if draft.amplitude is not None and draft.phase is not None:
        kind |= world.SEASON
        motion[..., world.SIN_WEIGHT] = draft.amplitude * np.cos(draft.phase)
        motion[..., world.COS_WEIGHT] = draft.amplitude * np.sin(draft.phase)
        # A period longer than the horizon is never completed: t mod (T + 1) is t.
        angle = 2.0 * np.pi * np.arange(min(draft.period, horizon + 1)) / draft.period
        season = np.stack([np.sin(angle), np.cos(angle)], axis=1)
    if draft.longest_delay is not None:
        kind |= world.DELAYED
    return Worlds(
        kind=kind,
        starts=starts,
        row=row,
        blip=blip,
        level=level,
        motion=motion,
        season=season,
        share=share,
        coin=np.empty((count, 0), dtype=np.uint8),
        noise=np.empty((count, 0)),
        best=np.empty((count, 0)),
        opens=draft.opens,
        closes=draft.closes,
        parts=np.empty((count, 0, PARTS)),
        delay=np.empty((count, 0, PARTS), dtype=np.int64),
    )


def _with_tape(draft: Draft, worlds: Worlds) -> Worlds:
    """Draw noise, coins and delays of worlds, and compute the best means."""
    count = draft.replications
    horizon = draft.horizon
    noise, best = np.empty((2, count, horizon))  # one array: NumPy uses huge pages from 4 MB on
    if draft.noise == "normal" and draft.first + count <= NUMBERED_REPLICATIONS:
        draw_numbers(draft.seed, draft.stream, draft.first, "noise", True, noise)
    else:
        for r, rng in draft.generators("noise"):
            noise[r] = NOISES[draft.noise].draw(rng, horizon)
    if worlds.kind & world.GRADUAL:
        worlds = worlds._replace(coin=np.empty((count, horizon), dtype=np.uint8))
        for r, rng in draft.generators("coin"):
            worlds.coin[r] = rng.random(horizon) < worlds.share
    if draft.longest_delay is not None:
        parts = np.empty((count, horizon, PARTS))
        delay = np.empty(parts.shape, dtype=np.int64)
        for r, rng in draft.generators("delay"):
            cuts = np.sort(rng.random((horizon, PARTS - 1)), axis=1)
            parts[r] = np.diff(cuts, axis=1, prepend=0.0, append=1.0)
            # Parts that arrive after the horizon are lost; a delay of T suffices and keeps the ring buffer small.
            delay[r] = np.minimum(rng.integers(0, draft.longest_delay + 1, (horizon, PARTS)), horizon)
        worlds = worlds._replace(parts=parts, delay=delay)
    worlds = worlds._replace(noise=noise, best=best)
    world.fill_best(worlds)
    return worlds


CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Memory limits of a container, in both versions of control groups."""

UNCHECKED_BYTES = 256_000_000  # smaller requests are not checked


def check_memory(needed: int, what: str) -> None:
    """Raise InputError if twice the needed bytes, the peak while worlds are drawn, are not available.

    >>> check_memory(10**15, "horizon 60000000000000")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ravenlab.common.errors.InputError: horizon 60000000000000 needs 1000.0 TB of memory, but only ... are available.
    """
    if needed <= UNCHECKED_BYTES:
        return
    total, free = system_memory()
    available = min((size for size in (total, free) if size is not None), default=None)
    if available is not None and 2 * needed > available:
        raise InputError(
            f"{what} needs {format_bytes(needed)} of memory, but only {format_bytes(available)} are available."
        )


def system_memory(
    meminfo: Path = Path("/proc/meminfo"), limits: tuple[str, ...] = CGROUP_LIMITS
) -> tuple[int | None, int | None]:
    """Return total and free memory in bytes, subject to the container's limit; None where unknown."""
    sizes: dict[str, int] = {}
    try:
        for line in meminfo.read_text(encoding="ascii", errors="replace").splitlines():
            name, _, rest = line.partition(":")
            sizes[name] = int(rest.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    total = sizes.get("MemTotal")
    free = sizes.get("MemAvailable")
    for path in limits:
        try:
            limit = int(Path(path).read_text(encoding="ascii"))
        except (OSError, ValueError):
            continue
        if total is None or limit < total:
            total = limit
            free = None if free is None else min(free, limit)
    return total, free
