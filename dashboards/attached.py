"""Notes, figures and names of values in a storage, as optuna-dashboard keeps them.

A figure is kept in rows of 2 kB, each with a commit of its own, and every page of the dashboard reads all of them:
so figures are made small first, and what is there already is compared and not written again.
"""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

from dashboards.slim import slim
from dashboards.stamps import digest
from studies import keys

if TYPE_CHECKING:
    import optuna
    import plotly.graph_objects as go


def put_value_names(study: optuna.Study, names: list[str]) -> bool:
    """Name the values of trials; tells whether that was new, as the others here do."""
    import optuna

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        if study.metric_names == names:
            return False
        study.set_metric_names(names)
    return True


def put_note(study: optuna.Study, note: str) -> bool:
    """Write the note, unless it is there or someone has written one of their own."""
    from optuna_dashboard import get_note, save_note

    there = get_note(study)
    system = study._storage.get_study_system_attrs(study._study_id)
    if there == note or (there.strip() and digest(there) != system.get(keys.NOTE)):
        return False
    study._storage.set_study_system_attr(study._study_id, keys.NOTE, digest(note))
    save_note(study, note)
    return True


def put_figure(study: optuna.Study, name: str, figure: go.Figure) -> bool:
    """Write a figure, made small, unless just that is there."""
    from optuna_dashboard import save_plotly_graph_object

    small = slim(figure)
    if stored_figure(study, name) == json.loads(small.to_json()):
        return False
    save_plotly_graph_object(study, small, graph_object_id=name)
    return True


def stored_figure(study: optuna.Study, name: str) -> Any:
    """A figure as the storage has it; None where there is none, or one that was cut off."""
    prefix = f"dashboard:plot_data:{name}:"
    rows = study._storage.get_study_system_attrs(study._study_id)
    parts = [rows[key] for key in (f"{prefix}{i}" for i in range(len(rows))) if key in rows]
    try:
        return json.loads("".join(parts))
    except ValueError:
        return None
