"""What the studies of this folder share: their arguments, parallel runs, and results that are kept line by line."""

import argparse
import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


def make_parser(
    description: str | None, *, first: bool = False, seeds: int | None = None, jobs: bool = False, minutes: bool = False
) -> argparse.ArgumentParser:
    """Make the parser of a study, with the arguments that several studies have.

    Args:
        description: Docstring of the module.
        first: Whether a later sample can be chosen by its first seed.
        seeds: Default number of seeds, if the study repeats something with each of them.
        jobs: Whether the study uses several processes or threads.
        minutes: Whether the study can be stopped after some time and resumed.

    >>> vars(make_parser("A study.", seeds=20, jobs=True).parse_args(["--seeds", "3"]))
    {'seeds': 3, 'jobs': 2}
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if first:
        parser.add_argument("--first", type=int, default=0, help="first seed")
    if seeds is not None:
        parser.add_argument("--seeds", type=int, default=seeds, help="number of seeds")
    if jobs:
        parser.add_argument("--jobs", type=int, default=2, help="workers; they do not affect the results")
    if minutes:
        parser.add_argument("--minutes", type=float, default=math.inf, help="stop after this time; rerun to resume")
    return parser


def parallel_map(function: Callable[[Item], Outcome], items: Iterable[Item], jobs: int) -> list[Outcome]:
    """Call a function with each item in several processes; the results have the order of the items."""
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=jobs)(delayed(function)(item) for item in items))


def read_lines(path: Path) -> list[Any]:
    """Read the results in a file with one JSON value per line; a file that does not exist has none."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def append_line(path: Path, result: Any) -> None:
    """Append a result to a file, so that an interrupted study can be resumed."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(result) + "\n")
