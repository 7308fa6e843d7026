"""The study file whose scenario resembles what was found: ready to run, with a comment on where each number is from."""

from __future__ import annotations

from environments.errors import InputError
from environments.recorded.recording import USUAL_SPREAD
from policies import find_policy
from policies.engine.base import Setting
from studies.diagnosis.result import STATIONARY, Diagnosis
from studies.registry import StudyDefaults
from studies.spec.space import default_range

ANOTHER_SIZE = 2.0
"""Rewards so many times as large or as small get ranges of their own."""


def propose(diagnosis: Diagnosis, source: str = "", horizon: int | None = None) -> str:
    """A study file in TOML.

    >>> print(propose(Diagnosis(("a", "b"), 1000, (), base={"mean_low": 0.3})).splitlines()[-1])
    name = "stationary"
    """
    if not diagnosis.decidable:
        raise InputError(f"there is no study file to propose: {diagnosis.reason}")
    found = [each for each in diagnosis.findings if each.found]
    came = any(each.numbers.get("came") for each in found)
    lines = [
        f"# A world that resembles {_one_line(source) or 'the trace'}: {diagnosis.verdict}.",
        *(f"# - {each.kind}: {_one_line(each.strength)}." for each in found),
        "# Times are shares of the horizon. Check it with `ravenlab validate`, run it with `ravenlab tune --study`.",
        "",
        "[[study]]",
        f'policy = "{StudyDefaults.policy}"',
        f"horizon = {diagnosis.rows if horizon is None else horizon}",
        f"arms = {diagnosis.arms - came}",
        f'noise = "{diagnosis.noise}"',
        "trials = 200",
        "replications = 200",
        "",
        "# Levels and variances of the arms are drawn from the ranges that the trace shows.",
        "[study.settings]",
        *(f"{name} = {value!r}" for name, value in diagnosis.base.items()),
        "",
        *_space(diagnosis),
        "[study.scenario]",
    ]
    if not found:
        return "\n".join([*lines, f'name = "{STATIONARY}"', ""])
    lines.append(f"effects = [{', '.join(_text(each.kind) for each in found)}]")
    for each in found:
        lines += ["", f"[study.scenario.{each.kind}]"]
        if each.settings.get("growth") == 0.0:
            lines.append("# The variance shrinks, which the scenario can't; its growth is left out.")
        lines += [f"{name} = {_text(value)}" for name, value in each.settings.items()]
    return "\n".join([*lines, ""])


def _space(diagnosis: Diagnosis) -> list[str]:
    """Ranges for rewards of another size, which α₀ and ε follow as their powers say."""
    factor = diagnosis.spread / USUAL_SPREAD
    if 1.0 / ANOTHER_SIZE <= factor <= ANOTHER_SIZE:
        return []
    setting = Setting(diagnosis.rows, diagnosis.arms, {})
    searched = [param for param in find_policy(StudyDefaults.policy).parameters if param.low is not None]
    ranges = {param.name: default_range(param, setting, factor**param.power) for param in searched}
    return [
        f"# Rewards spread {factor:.3g} times as far as those that the usual ranges are for.",
        "[study.space]",
        *(f"{name} = [{range_.low!r}, {range_.high!r}]" for name, range_ in ranges.items()),
        "",
    ]


def _text(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _one_line(text: str) -> str:
    """For a comment: names come from a file."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
