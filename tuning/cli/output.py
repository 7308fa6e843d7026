"""Output of commands beside documents: messages, JSON, and how much is stored after an interrupt."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, TextIO

import typer

from ravenlab.common.terminal import wrap_words
from ravenlab.common.text import escape_in_strings, escape_unprintable
from ravenlab.tuning.interrupts import acknowledge_interrupt

if TYPE_CHECKING:
    from ravenlab.tuning.progress import Reporter, StartedStudy

MAX_NAMED_STUDIES = 3  # an interrupt names at most so many studies, and counts more of them together
COMMAND = "ravenlab"


def print_message(text: str, color: str | None = None) -> None:
    """Print a line for people to stderr, wrapped and with its color if it is a terminal."""
    text = escape_unprintable(text)
    lines = wrap_words(text, shutil.get_terminal_size().columns) if sys.stderr.isatty() else [text]
    shown = "\n".join(lines)
    typer.echo(typer.style(shown, fg=color) if color and has_colors(sys.stderr) else shown, err=True)


def print_warning(text: str) -> None:
    """Print a warning to stderr, in yellow on a terminal."""
    print_message(f"ravenlab: warning: {text}", "yellow")


def has_colors(stream: TextIO) -> bool:
    """Return whether a stream is a terminal with colors, and the user has not declined them."""
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def print_json(document: Any, indent: int | None = None) -> None:
    """Print a JSON document to stdout, always as UTF-8."""
    import json

    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)
    print_exact(f"{escape_in_strings(text)}\n")


def print_exact(text: str) -> None:
    """Print text for programs to stdout, byte by byte as a file would hold it."""
    typer.echo(text.encode("utf-8", "backslashreplace"), nl=False)


@contextmanager
def describing_interrupts(reporter: Reporter, url: str) -> Iterator[None]:
    """Add to an interrupt of this block how much is stored of what it interrupts."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        acknowledge_interrupt()
        started = list(reporter.started_studies.values())
        if started:
            interrupt.add_note(describe_stored(started, _count_stored(url, started)))
        raise


def describe_stored(started: Sequence[StartedStudy], stored: Sequence[int]) -> str:
    """Describe how much is stored of started studies.

    >>> from ravenlab.tuning.progress import StartedStudy
    >>> describe_stored([StartedStudy("raven-ucb/blips/T1000/K10", 200, "trials")], [24])
    '24 of 200 trials of raven-ucb/blips/T1000/K10 are saved; rerun the same command to resume'
    """
    if not any(stored):
        return "nothing was saved yet; rerun the same command to start again"
    unit = started[0].unit
    if len(started) > MAX_NAMED_STUDIES:
        total = sum(study.total for study in started)
        parts = [f"{sum(stored):,} of {total:,} {unit} of {len(started):,} studies"]
    else:
        parts = [
            f"{count:,} of {study.total:,} {unit} of {study.name}" for study, count in zip(started, stored, strict=True)
        ]
    return f"{' and '.join(parts)} are saved; rerun the same command to resume"


def _count_stored(url: str, started: Sequence[StartedStudy]) -> list[int]:
    """Count trials in the storage; if it does not answer, use the last counts that were reported."""
    from ravenlab.studies.storage.database import use_storage

    try:
        with use_storage(url) as storage:
            return [storage.get_n_trials(storage.get_study_id_from_name(study.name)) for study in started]
    except Exception:  # nothing may keep an interrupt from ending the program
        return [study.stored for study in started]


def command_name() -> str:
    """Return how users can call the command: its name, or its path where a shell would not find the name.

    >>> command_name()
    'ravenlab'
    """
    path = sys.argv[0]
    return quote(path) if Path(path).name == COMMAND and shutil.which(COMMAND) is None else COMMAND
