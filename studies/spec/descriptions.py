"""Descriptions of the fields of specifications.

Models and their JSON Schema, the options of the command line, the template of study files and the reference pages take
them from here. Imports nothing heavy, because `ravenlab --help` reads them.
"""

from collections.abc import Mapping

from ravenlab.common.text import join_words
from ravenlab.studies.registry import format_choices

STUDY = {
    "name": "Name of the study; derived from its settings if absent.",
    "policy": "Policy whose parameters are searched.",
    "scenario": "Name of a scenario, or effects joined by '+'.",
    "settings": "Parameters of the scenario, such as every or noise.",
    "noise": "Noise distribution.",
    "horizon": "Number of steps T; the scenario's default if absent.",
    "arms": "Number of arms K; the scenario's default if absent.",
    "trace": "Recorded rewards (.csv or .parquet) instead of a scenario: one row per step, one column per arm. A"
    " folder, a pattern such as 'runs/*.csv' or a column series for several independent files.",
    "log": "Logged decisions (.csv or .parquet) instead of a scenario: columns step, arm, reward and optionally"
    " propensity.",
    "window": "Rows per window of the trace, each of which starts from nothing; an eighth of the trace if absent.",
    "keep_state": "Whether the policy keeps running on the trace instead of being restarted; the horizon is then the"
    " number of steps that it runs, the rows of the trace if absent.",
    "minimize": "Whether the trace or log holds costs instead of rewards.",
    "estimator": "How policies are evaluated on a log.",
    "columns": "Names of the columns of the log, as in step=timestamp,arm=carrier,reward=cost; recognized if absent.",
    "digest": "SHA-256 of the file's content.",
    "scale": "Scale c of the rewards, by which default ranges and parameters are multiplied.",
    "space": "Search range of each parameter.",
    "fixed": "Parameters with a fixed value.",
    "objective": "Objective of the search.",
    "sampler": "Method that proposes candidates.",
    "pruner": "Method that stops poor candidates early.",
    "trials": "Number of trials (candidates).",
    "batch": "Number of candidates per batch.",
    "replications": "Number of worlds per trial.",
    "candidates": "Number of best trials (finalists) that enter the selection.",
    "selection": "Number of held-out worlds for selecting the recommendation.",
    "report": "Number of further held-out worlds for measuring its regret; more if needed for rare failures.",
    "map": "Whether the study ends with a sensitivity map: the regret over its two most important parameters.",
    "seed": "Random seed.",
}
"""Fields of a study; grids and comparisons share some of them."""

ROBUST = {
    "scenarios": "Two or more scenarios; effects may be joined by '+'.",
    "measure": "Relative regret to minimize.",
}

GRID = {
    "policy": "The policy.",
    "axes": "Values of one or two other parameters; instead of α₀ and β₀.",
    "fixed": "Values of other parameters in all cells; instead of ε.",
    "alpha0": "Values of α₀.",
    "beta0": "Values of β₀.",
    "epsilon": "Value of ε in all cells.",
    "unit": "Unit of the rewards, as of the policy's parameter unit.",
    "replications": "Number of worlds; all cells play the same ones.",
}

COMPARISON = {
    "policies": "Policies to compare.",
    "tune": "Number of trials for tuning each policy; 0 compares defaults only.",
    "search_replications": STUDY["replications"],
    "replications": "Number of held-out worlds, the same for all policies; more if needed for rare failures.",
    "defaults": "Default parameters: scaled to the spread of the rewards, or original, which for most policies assume"
    " rewards in [0, 1].",
}

QUANTITIES = {
    "difference": "Typical difference between the means of two arms, such as 3 or 1%.",
    "sd": "Standard deviation of the rewards around the mean of their arm.",
    "rate": "Typical rate of rewards that are 0 or 1, such as 3% or 0.03.",
    "changes": "Number of changes within the horizon.",
}
"""A problem described in plain quantities."""


def list_choices(description: str, registry: Mapping[str, object]) -> str:
    """Add the registered values to the description of a field.

    >>> from ravenlab.studies.registry import MEASURES
    >>> list_choices(ROBUST["measure"], MEASURES)
    'Relative regret to minimize: worst, mean or cvar:0.5.'
    """
    return f"{description.removesuffix('.')}: {join_words(format_choices(registry))}."
