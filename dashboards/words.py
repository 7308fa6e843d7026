"""What notes, figures and pages say alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from studies.objective import parse_objective
from studies.words import short


def value_name(objective: str) -> str:
    """What a trial's value is, in words.

    >>> value_name("mean"), value_name("cvar:0.9")
    ('mean regret', 'mean of the worst 10 % of regrets')
    """
    return parse_objective(objective).label()


def settings_in_words(settings: Mapping[str, int | float | str]) -> str:
    """Settings that a study changed, on one line.

    >>> settings_in_words({"every": "5%", "noise": "laplace"})
    'every = 5%, noise = laplace'
    """
    return ", ".join(
        f"{key} = {value:g}" if isinstance(value, float) else f"{key} = {value}" for key, value in settings.items()
    )


def unbroken(pairs: str) -> str:
    """Names with their values, as `params_in_words` writes them, with line breaks between pairs only.

    >>> unbroken("α₀ 1.5, ε 0.1") == "α₀\\N{NO-BREAK SPACE}1.5, ε\\N{NO-BREAK SPACE}0.1"
    True
    """
    return ", ".join(pair.replace(" ", "\N{NO-BREAK SPACE}") for pair in pairs.split(", "))


def span(values: Iterable[float]) -> str:
    """One number, or from where to where.

    >>> span([1000, 100, 500]), span([7, 7])
    ('100 to 1000', '7')
    """
    found = sorted(set(values))
    return short(found[0]) if len(found) == 1 else f"{short(found[0])} to {short(found[-1])}"


def capitalised(text: str) -> str:
    """A sentence's beginning; what follows stays as it is.

    >>> capitalised("as RAVEN-UCB")
    'As RAVEN-UCB'
    """
    return text[:1].upper() + text[1:]
