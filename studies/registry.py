"""Registries of samplers, pruners, objectives and measures, and the defaults of all fields.

Validation, error messages, the JSON Schema, command-line help, shell completion, the study template and the tables of
the documentation are derived from these registries. An entry is added in two places: here, and under the same name in
the table that implements it:

- sampler: `SAMPLERS` here, and a table in `tuning/search/samplers.py`;
- pruner: `PRUNERS` here, and the table in `tuning/search/pruning.py`;
- estimator: `ESTIMATORS` here, and `LOG_ESTIMATORS` in `studies/diagnosis/log_estimators.py`;
- objective: `OBJECTIVES` here, and `STATISTICS` in `studies/spec/objective.py`;
- measure: `MEASURES` here, and `WORST_COUNTS` in `studies/spec/robust.py`.

`tests/test_registries.py` checks that both places agree. Noises are registered in `environments/noise.py`, export
formats in `studies/export/__init__.py`, backends in `tuning/workers/local.py`.

This module imports nothing heavy, because `ravenlab --help` reads it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ravenlab.common.errors import InputError
from ravenlab.common.text import join_words


@dataclass(frozen=True)
class Choice:
    """A value that a field may take by name."""

    meaning: str
    """Description for help and documentation: one sentence without a full stop."""
    example: str = ""
    """Example of the argument after the colon, such as 0.9; empty if there is none."""
    extra: str = ""
    """Optional dependency group of ravenlab that it requires."""

    @property
    def description(self) -> str:
        """The meaning and the required optional dependencies.

        >>> SAMPLERS["gp"].description
        'Gaussian process with expected improvement (requires ravenlab[gp])'
        """
        return f"{self.meaning} (requires ravenlab[{self.extra}])" if self.extra else self.meaning


@dataclass(frozen=True)
class SamplerChoice(Choice):
    """A method that proposes candidates."""

    robust: bool = False
    """Whether robust searches support it."""


@dataclass(frozen=True)
class ObjectiveChoice(Choice):
    """A statistic of the regrets or rewards of a candidate."""

    label: str = ""
    """Name of a trial's value in figures and notes; may contain {percent}, {tail} and {time}."""
    maximize: bool = False
    """Whether it is computed from rewards instead of regrets."""
    by_rank: bool = False
    """Whether it depends on the order of the sample, so that tests recompute it on each resample."""


SAMPLERS: dict[str, SamplerChoice] = {
    "tpe": SamplerChoice("tree-structured Parzen estimator", robust=True),
    "gp": SamplerChoice("Gaussian process with expected improvement", extra="gp"),
    "cmaes": SamplerChoice("CMA-ES evolution strategy; one batch is one generation"),
    "qmc": SamplerChoice("scrambled Sobol points", robust=True),
    "random": SamplerChoice("independent random candidates", robust=True),
    "grid": SamplerChoice("grid points, coarse to fine"),
}

PRUNERS: dict[str, Choice] = {
    "none": Choice("every candidate runs all its replications"),
    "hyperband": Choice("successive halving over blocks of replications"),
    "race": Choice("paired test against the best candidate after each block, as in irace"),
}

ESTIMATORS: dict[str, Choice] = {
    "automatic": Choice("expansion, or the simulator where some arms have few events"),
    "expansion": Choice("rewards of logged events close to each step"),
    "simulator": Choice("rewards of a model fitted to the log by a diagnosis, with the uncertainty of its parameters"),
}

OBJECTIVES: dict[str, ObjectiveChoice] = {
    "mean": ObjectiveChoice("mean regret", label="mean regret"),
    "reward": ObjectiveChoice("mean reward, which is maximized", label="mean reward", maximize=True),
    "quantile": ObjectiveChoice(
        "quantile of regret at this level", example="0.9", label="{percent} % quantile of regret", by_rank=True
    ),
    "cvar": ObjectiveChoice(
        "mean of the regrets above this level, here of the worst tenth",
        example="0.9",
        label="mean of the worst {tail} % of regrets",
        by_rank=True,
    ),
    "after": ObjectiveChoice(
        "mean regret after a burn-in, in steps or as a share of the horizon",
        example="10%",
        label="mean regret after {time}",
    ),
}

MEASURES: dict[str, Choice] = {
    "worst": Choice("largest relative regret of all scenarios"),
    "mean": Choice("mean relative regret"),
    "cvar": Choice("mean of the relative regrets above this level, here of the worst half", example="0.5"),
}


# Keywords for the policies of the paper, and for all policies or scenarios.
PAPER_KEYWORD = "paper"
ALL_KEYWORD = "all"


class StudyDefaults:
    """Defaults of the fields of a study."""

    policy = "raven-ucb"
    objective = "mean"
    sampler = "tpe"
    pruner = "none"
    trials = 200
    batch = 16
    replications = 200
    candidates = 16
    selection = 2000
    report = 2000
    seed = 0
    measure = "worst"


class PlayDefaults:
    """Defaults of the play page."""

    policies = ("raven-ucb", "raven-auto", "ucb1")
    replications = 200


DEFAULT_ESTIMATOR = "automatic"
LOG_DEFAULTS = {"replications": 64, "selection": 512, "report": 1024, "estimator": DEFAULT_ESTIMATOR}
"""Defaults of studies on a log, where scores contain no noise of single rewards."""


# The grid of the paper, for α₀ and for β₀.
PAPER_VALUES = (0.5, 1.0, 5.0, 10.0)


class GridDefaults:
    """Defaults of the fields of a sensitivity grid.

    The cells include those of the paper and are roughly evenly spaced on a log scale. They are denser for α₀ between 1
    and 3, where the lowest regret lies in most scenarios.
    """

    alpha0 = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
    beta0 = (0.02, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
    epsilon = 0.1
    replications = 1000


class ComparisonDefaults:
    """Defaults of the fields of a comparison."""

    tune = 50
    search_replications = 50
    replications = 1000
    defaults: Literal["scaled", "original"] = "scaled"


RARE_RATE = 0.1


def untuned_policies(largest_rate: float | None) -> tuple[str, ...]:
    """Return the policies to use at their defaults as long as nothing is tuned, see docs/evidence/no-tuning.md.

    Args:
        largest_rate: The largest mean of an arm if rewards are 0 or 1; None for other rewards.

    >>> untuned_policies(None), untuned_policies(0.06)
    (('raven-auto',), ('thompson', 'raven-ucb'))
    """
    rare = largest_rate is not None and largest_rate <= RARE_RATE
    return ("thompson", "raven-ucb") if rare else ("raven-auto",)


def known_alternatives(binary: bool) -> tuple[str, ...]:
    """Return the policies that need no tuning and are measured beside a recommendation on recorded data.

    >>> known_alternatives(binary=True)
    ('raven-auto', 'd-raven', 'sw-raven', 'thompson')
    """
    return ("raven-auto", "d-raven", "sw-raven", *(("thompson",) if binary else ()))


def describe_untuned(largest_rate: float | None) -> str:
    """Name the policies to use without tuning.

    >>> describe_untuned(None), describe_untuned(0.06)
    ('raven-auto', 'thompson or raven-ucb at their defaults')
    """
    policies = untuned_policies(largest_rate)
    return policies[0] if len(policies) == 1 else f"{join_words(policies)} at their defaults"


def robust_samplers() -> list[str]:
    """List the samplers that robust searches support.

    >>> robust_samplers()
    ['tpe', 'qmc', 'random']
    """
    return [name for name, sampler in SAMPLERS.items() if sampler.robust]


def format_choices(choices: Mapping[str, object]) -> list[str]:
    """List the values of a registry as users write them, with an example of the argument.

    >>> format_choices(MEASURES)
    ['worst', 'mean', 'cvar:0.5']
    """
    examples = {name: getattr(choice, "example", "") for name, choice in choices.items()}
    return [f"{name}:{example}" if example else name for name, example in examples.items()]


def parse_choice(field: str, text: str, choices: Mapping[str, Choice]) -> tuple[str, str]:
    """Split a value into its name and its argument.

    >>> parse_choice("objective", "cvar:0.9", OBJECTIVES)
    ('cvar', '0.9')
    >>> parse_choice("measure", "best", MEASURES)
    Traceback (most recent call last):
    ...
    ravenlab.common.errors.InputError: measure must be worst, mean or cvar:0.5 but got 'best'.
    """
    name, colon, argument = text.partition(":")
    choice = choices.get(name)
    if choice is None or bool(choice.example) != bool(argument) or bool(colon) != bool(argument):
        raise InputError(f"{field} must be {join_words(format_choices(choices))} but got {text!r}.")
    return name, argument


def parse_level(field: str, name: str, argument: str) -> float:
    """Parse the argument of a value as a level between 0 and 1.

    >>> parse_level("objective", "cvar", "0.9")
    0.9
    """
    try:
        level = float(argument)
    except ValueError:
        level = -1.0
    if not 0.0 < level < 1.0:
        raise InputError(f"{field} {name} must have a level between 0 and 1 but got {argument!r}.")
    return level


def choices_pattern(choices: Mapping[str, Choice]) -> str:
    """Return a regular expression for the JSON Schema that matches all values of a registry.

    >>> choices_pattern(MEASURES)
    '^(worst|mean|cvar:.+)$'
    """
    forms = (f"{name}:.+" if choice.example else name for name, choice in choices.items())
    return f"^({'|'.join(forms)})$"


def format_values(values: Iterable[float]) -> str:
    """Format numbers as a comma-separated list.

    >>> format_values(PAPER_VALUES)
    '0.5,1,5,10'
    """
    return ",".join(f"{value:g}" for value in values)
