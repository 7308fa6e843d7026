"""The experiments by name. Each is a module with `pieces(context)` and `assemble(context, found)`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from environments.errors import unknown
from studies.reproduction.document import Outcome
from tuning.reproduction.context import Context, Found, Piece

EXPERIMENTS = ("figure1", "table1", "figure2", "figure3", "advice", "table3", "figure4", "figure5", "bounds")
"""In the order of the page."""

ALL = "all"


class Experiment(Protocol):
    """What a module of this folder offers."""

    def pieces(self, context: Context) -> list[Piece]:
        """What is to be computed; experiments may share pieces."""
        ...

    def assemble(self, context: Context, found: Mapping[str, Found]) -> Outcome:
        """Tables, facts and verdicts from what the pieces found."""
        ...


def experiment(name: str) -> Experiment:
    """The module of an experiment."""
    return cast(Experiment, importlib.import_module(f"tuning.reproduction.{name}"))


def chosen(names: Sequence[str]) -> list[str]:
    """What was asked for, in the order of the page; all of it where nothing was.

    >>> chosen(["figure2", "figure1"])
    ['figure1', 'figure2']
    """
    for name in names:
        if name not in (*EXPERIMENTS, ALL):
            raise unknown("figure or table", name, [*EXPERIMENTS, ALL])
    return [name for name in EXPERIMENTS if not names or name in names or ALL in names]
