"""Reproduction of the paper: one folder per figure or table, listed here in the order of the page.

A folder contains the simulations (`run.py`), the claims and verdicts (`verdicts.py`) and the section of the page
(`section.py`); its `__init__.py` combines them as `EXPERIMENT`. Figures 4 and 5 are single modules: they use the
runs of Table 3, and the paper makes no separate claims about them.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from ravenlab.common.errors import unknown_name

if TYPE_CHECKING:
    from ravenlab.tuning.reproduction.context import Experiment


EXPERIMENTS = ("figure1", "table1", "figure2", "figure3", "advice", "table3", "figure4", "figure5", "bounds")

ALL = "all"

PROTOCOLS = ("published", "defined")

BOTH = "both"


def find_experiment(name: str) -> Experiment:
    """Import an experiment."""
    return cast("Experiment", importlib.import_module(f"ravenlab.tuning.reproduction.{name}").EXPERIMENT)


def select_experiments(names: Sequence[str]) -> list[str]:
    """Check names and put them in the order of the page; no names select all experiments.

    >>> select_experiments(["figure2", "figure1"])
    ['figure1', 'figure2']
    """
    for name in names:
        if name not in (*EXPERIMENTS, ALL):
            raise unknown_name("figure or table", name, [*EXPERIMENTS, ALL])
    return [name for name in EXPERIMENTS if not names or name in names or ALL in names]
