"""Collections of traces: files, or series of one file, each of which is an independent replication of one problem.

Whole files are held out. Half of them, chosen at random, are for search and selection, and the others for the report.
A window starts at a random row of a file; by default it has as many rows as the shortest file.
"""

import glob
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np

from ravenlab.common.arrays import Floats
from ravenlab.common.checks import check_integer
from ravenlab.common.errors import InputError
from ravenlab.common.text import plural
from ravenlab.environments.recorded.recording import Segment, file_stamp
from ravenlab.environments.recorded.table_file import FORMATS, open_table
from ravenlab.environments.recorded.trace_file import Trace, build_traces, read_trace
from ravenlab.environments.recorded.trace_world import (
    NearbyMeans,
    NearbyRows,
    TraceScenario,
    TraceWorlds,
    choose_nearby_rows,
)
from ravenlab.environments.streams import Stream, generator

SERIES = "series"
"""Column of a long table that names the replication of each row."""
MIN_FILES = 8
"""Fewer files are too few for the intervals, which are from half of them."""
RANDOM_COPIES = 16
"""Runs of a policy that draws random numbers on each file, if all windows of the file are the same."""


@dataclass(frozen=True)
class CollectionScenario(TraceScenario):
    """Several traces with the same arms, one after the other: first those for search and selection."""

    files: tuple[str, ...] = ()
    starts: tuple[int, ...] = ()
    """First row of each file, and the number of rows."""

    def numbers(self, stream: int) -> range:
        """Return the numbers of the files of a stream; all files for streams without held-out files."""
        tuned = len(self.files) - len(self.files) // 2
        if stream in (Stream.SEARCH, Stream.SELECTION):
            return range(tuned)
        return range(tuned if stream == Stream.REPORT else 0, len(self.files))

    def segment(self, stream: int) -> Segment:
        """Return the rows of the files of a stream."""
        numbers = self.numbers(stream)
        return Segment(self.starts[numbers.start], self.starts[numbers.stop])

    @property
    def shortest_segment(self) -> int:
        """Number of rows of the shortest file."""
        return int(np.diff(self.starts).min())

    @property
    def horizon(self) -> int:
        """Default length of a window: the rows of the shortest file."""
        return self.shortest_segment

    def check(self, horizon: int, arms: int) -> None:
        """Raise InputError for windows that do not fit into every file or have fewer steps than arms."""
        if arms != self.trace.arms:
            raise InputError(f"arms must be {self.trace.arms}, the columns of the files, but got {arms}.")
        check_integer("window", horizon, least=arms, most=self.shortest_segment)

    def draw(self, horizon: int, seed: int, first: int, replications: int, stream: int) -> TraceWorlds:
        """Draw windows of the files of a stream, which take turns."""
        numbers = self.numbers(stream)
        offsets = np.empty(replications, dtype=np.int64)
        for r in range(replications):
            number = numbers[(first + r) % len(numbers)]
            rng = generator(seed, stream, first + r, "offset")
            offsets[r] = rng.integers(self.starts[number], self.starts[number + 1] - horizon + 1)
        return TraceWorlds(self.rewards, *self._tables, offsets, horizon)

    def count_history(self, horizon: int, replications: int, stream: int) -> int:
        """Return 0: the errors of means are those of whole files, without windows of other rows."""
        return 0

    def count_windows(self, horizon: int, replications: int, stream: int, random: bool) -> int:
        """Return a number of windows with as many in each file: one, if the others would be the same."""
        numbers = self.numbers(stream)
        lengths = np.diff(self.starts)[numbers.start : numbers.stop]
        copies = -(-replications // len(numbers))
        if lengths.max() == horizon:
            copies = min(copies, RANDOM_COPIES) if random else 1
        return copies * len(numbers)

    def list_windows(self, stream: Stream, count: int) -> list[tuple[Stream, int]]:
        """List the streams to be played for a stream, with their windows: for the report, the other files as well."""
        copies = count // len(self.numbers(stream))
        others = [(Stream.SEARCH, copies * len(self.numbers(Stream.SEARCH)))] if stream == Stream.REPORT else []
        return [(stream, count), *others]

    def average_by_file(self, values: Floats, stream: int) -> Floats:
        """Return the mean of values [R], one of each window of `draw`, in each file of a stream."""
        return np.asarray(values.reshape(-1, len(self.numbers(stream))).mean(axis=0))

    @cached_property
    def nearby(self) -> NearbyRows:
        """The rows whose means determine the benchmark arm, chosen on the longest file for the search."""
        lengths = np.diff(self.starts)[: self.numbers(Stream.SEARCH).stop]
        longest = int(lengths.argmax())
        return choose_nearby_rows(self.rewards[self.starts[longest] : self.starts[longest + 1]])

    @cached_property
    def means(self) -> Floats:
        """Means [N, K] over neighbouring rows of the same file; NaN where an arm is closed."""
        parts = np.split(self.rewards, self.starts[1:-1])
        means = [NearbyMeans(part, self.nearby.gap).at(np.arange(len(part)), self.nearby.reach) for part in parts]
        return np.where(np.isnan(self.rewards), np.nan, np.concatenate(means))


def is_collection(path: str | Path) -> bool:
    """Whether a path is a folder, a pattern such as "runs/*.csv", or a file with a column `series`."""
    if Path(path).is_dir() or _is_pattern(path):
        return True
    try:
        with open_table(Path(path), "trace", must="name the arms") as table:
            return SERIES in [name.strip().lower() for name in table.names]
    except InputError:
        return False  # reading the trace says what is wrong


def _is_pattern(path: str | Path) -> bool:
    """Whether a path is a pattern and not the name of a file, such as data[1].csv."""
    return glob.has_magic(str(path)) and not Path(path).is_file()


def stamp_collection(path: str | Path) -> object:
    """Return a value that changes when a file of a collection does."""
    return tuple((name, file_stamp(file)) for name, file in _find_files(path).items()) or file_stamp(path)


def _find_files(path: str | Path) -> dict[str, Path]:
    """Return the files of a folder or a pattern by name; none for a single file."""
    if Path(path).is_dir():
        found = [file for file in Path(path).iterdir() if file.suffix.lower() in FORMATS]
    elif _is_pattern(path):
        found = list(map(Path, glob.glob(str(path))))
    else:
        return {}
    return {file.name: file for file in sorted(found)}


def open_collection(path: str | Path, name: str, minimize: bool) -> CollectionScenario:
    """Read a collection.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for number in range(8):
    ...         text = "".join(f"{t % 3},{number + t * t}\\n" for t in range(20))
    ...         _ = Path(folder, f"day{number}.csv").write_text(f"north,south\\n{text}")
    ...     scenario = open_collection(folder, "trace:days", minimize=False)
    >>> scenario.horizon, scenario.numbers(Stream.REPORT)
    (20, range(4, 8))

    Raises:
        InputError: There are too few files, or one cannot be read or has other arms.
    """
    files = _find_files(path)
    traces = {file: read_trace(place) for file, place in files.items()} if files else _read_series(path)
    if len(traces) < MIN_FILES:
        raise InputError(
            f"trace {path}: it has {len(traces)} files or series, too few for an interval; at least {MIN_FILES} are"
            " needed, because half of them are held out.",
            field="trace",
        )
    names = tuple(traces)
    order = [names[i] for i in np.random.default_rng(0).permutation(len(names))]
    arms = traces[names[0]].names
    for file, trace in traces.items():
        if set(trace.names) != set(arms):
            raise InputError(f"trace {path}: {file} has other arms than {names[0]}.", field="trace")
    tables = [traces[file].values[:, [traces[file].names.index(arm) for arm in arms]] for file in order]
    whole = Trace.from_values(arms, np.concatenate(tables))
    digest = sha256("".join(traces[file].digest for file in names).encode()).hexdigest()
    stated = Counter(note for trace in traces.values() for note in trace.notes)
    notes = [note if not files else f"{note} ({plural(count, 'file')})" for note, count in stated.items()]
    empty_rows = sum(trace.empty_rows for trace in traces.values())
    whole = replace(whole, digest=digest, empty_rows=empty_rows, notes=tuple(notes))
    starts = tuple(int(end) for end in np.cumsum([0, *map(len, tables)]))
    return CollectionScenario(whole, name, minimize, files=tuple(order), starts=starts)


def _read_series(path: str | Path) -> Mapping[str, Trace]:
    """Read a long table: the rows of each value of the column `series`, sorted by their time."""
    with open_table(Path(path), "trace", must="name the arms") as table:
        return build_traces(table, series=[name.strip().lower() for name in table.names].index(SERIES))
