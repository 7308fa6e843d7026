"""Reproduction of the paper: a module and a file of texts per figure or table, in the order of the page.

`<name>.toml` has all words: the claims with their rules and reasons, the section of the page, its tables, and titles
and descriptions of its figures. `<name>.py` has the simulations, the tables and verdicts and the figures, combined as
`EXPERIMENT`. Figures 4 and 5 use the runs of Table 3, and the paper makes no separate claims about them.
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
