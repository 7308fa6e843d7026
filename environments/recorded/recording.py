"""Common parts of traces and logs: segments, scale of the rewards, names and block lengths."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ravenlab.common.arrays import Floats
from ravenlab.common.errors import InputError
from ravenlab.environments.streams import Stream

if TYPE_CHECKING:
    import pandas

SEGMENT_SHARES = {Stream.SEARCH: Fraction(5, 10), Stream.SELECTION: Fraction(2, 10), Stream.REPORT: Fraction(3, 10)}
"""Shares of the rows, in order of time. Of the two held-out segments the reported one is larger."""

MAX_NAME_LETTERS = 60


@dataclass(frozen=True)
class Segment:
    """Rows first … last − 1."""

    first: int
    last: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.last - self.first


class Recording:
    """Base class of traces and logs in the role of scenarios; they have no settings."""

    kind: ClassVar[str]
    extra_arms: ClassVar[int] = 0
    constant: ClassVar[None] = None

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """Return itself; raise InputError if any setting is given."""
        if settings:
            raise InputError(f"a {self.kind} has no setting {next(iter(settings))!r}.")
        return self


def segment_of(rows: int, stream: int) -> Segment:
    """Return the rows of a stream; all rows for streams without a segment.

    >>> segment_of(400, Stream.REPORT)
    Segment(first=280, last=400)
    """
    if stream not in SEGMENT_SHARES:
        return Segment(0, rows)
    before = sum(share for other, share in SEGMENT_SHARES.items() if other < stream)
    ends = (before, before + SEGMENT_SHARES[Stream(stream)])
    return Segment(*(int(end * rows) for end in ends))


def is_binary(rewards: Floats) -> bool:
    """Whether all observed rewards are 0 or 1.

    >>> is_binary(np.array([0.0, 1.0, np.nan])), is_binary(np.array([0.0, 0.5]))
    (True, False)
    """
    return bool(np.isin(rewards[np.isfinite(rewards)], (0.0, 1.0)).all())


def recording_name(kind: str, path: str | Path) -> str:
    """Return the scenario name of a file: its kind and the file name without special characters.

    >>> recording_name("log", "/data/Ads (2016).csv")
    'log:Ads-2016'
    """
    plain = unicodedata.normalize("NFKC", Path(path).stem)
    if "*" in plain:  # a pattern of the files of a folder
        plain = Path(path).parent.name
    clean = re.sub(r"[^\w.]+", "-", plain).strip("-.")
    return f"{kind}:{clean[:MAX_NAME_LETTERS] or 'unnamed'}"


def are_frames(data: object) -> bool:
    """Whether data is a data frame or a sequence of data frames."""
    frames = list(data) if isinstance(data, list | tuple) else [data]
    return bool(frames) and all(hasattr(frame, "to_csv") for frame in frames)


def write_frame(frame: pandas.DataFrame | Sequence[pandas.DataFrame], folder: Path, kind: str) -> Path:
    """Write a data frame as CSV, named after its contents, with its index unless that numbers the rows.

    Several data frames become a long table with a column `series`.

    >>> import pandas, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_frame(pandas.DataFrame({"a": [1.0], "b": [2.0]}), Path(folder), "trace").name
    'trace-70a03bdf6923.csv'
    """
    import pandas

    if not isinstance(frame, pandas.DataFrame):
        frame = pandas.concat([part.assign(series=number) for number, part in enumerate(frame, start=1)])
    numbered = isinstance(frame.index, pandas.RangeIndex) and frame.index.name is None
    text = frame.to_csv(index=not numbered)
    path = folder / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.csv"
    if not path.exists():
        path.write_text(text, encoding="utf-8")
    return path


def file_stamp(path: str | Path) -> object:
    """Return a value that changes when a file does; None if there is no such file."""
    try:
        stat = Path(path).stat()
        return (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    except (OSError, ValueError):
        return None


BLOCK_FACTOR = 2.5  # length of bootstrap blocks relative to the length that is optimal for the variance


def optimal_block_length(centred: Floats, longest: int) -> tuple[float, float]:
    """Return the block length that is optimal for the variance of a mean, and the variance of a single value.

    The method is that of Politis and White (2004) with their flat-top window.

    >>> series = np.random.default_rng(1).normal(size=500)
    >>> bool(optimal_block_length(series - series.mean(), 125)[0] < 5)
    True
    """
    n = centred.size
    covariances = _covariances(centred, longest)
    cut = _last_correlated_lag(covariances / covariances[0], n)
    lags = np.arange(min(2 * cut, covariances.size - 1) + 1)
    weights = np.clip(2.0 * (1.0 - lags / max(1, 2 * cut)), 0.0, 1.0) * np.where(lags == 0, 1.0, 2.0)
    total = float((weights * covariances[lags]).sum())
    slope = float((weights * lags * covariances[lags]).sum())
    best = (1.5 * (slope / total) ** 2 * n) ** (1.0 / 3.0) if total > 0.0 else 1.0
    return best, float(covariances[0])


def _covariances(centred: Floats, longest: int) -> Floats:
    """Return the autocovariances at lags 0 … longest."""
    size = 1 << int(2 * centred.size - 1).bit_length()
    spectrum = np.fft.rfft(centred, size)
    power = spectrum.real**2 + spectrum.imag**2
    return np.asarray(np.fft.irfft(power, size)[: longest + 1] / centred.size)


def _last_correlated_lag(correlations: Floats, n: int) -> int:
    """Return the lag after which several correlations in a row are no larger than those of independent rows."""
    run = max(5, round(np.sqrt(np.log10(n))))
    small = np.abs(correlations[1:]) < 2.0 * np.sqrt(np.log10(n) / n)
    for lag in range(small.size):
        if small[lag : lag + run].all():
            return lag
    return int(small.size)
