"""What would run, said before it runs: for people a line a study, for programs an object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from environments.text import plural

if TYPE_CHECKING:
    from studies.robust import RobustSpec
    from studies.spec import StudySpec


def print_plan(specs: Sequence[StudySpec], worlds: Sequence[RobustSpec], as_json: bool) -> None:
    """What `ravenlab tune --dry-run` prints."""
    if as_json:
        from tuning.commands.tables import print_json

        print_json({"studies": [*map(robust_object, worlds), *map(study_object, specs)]})
        return
    for each in worlds:
        for own in each.each():
            _print_study(own)
        what = "Pareto front" if each.pareto else f"measure {each.measure}"
        typer.echo(
            f"{each.study_name()}: {each.base.trials:,} trials × {each.base.replications:,} replications × "
            f"{len(each.scenarios)} scenarios, {each.base.sampler}, {what}, {_searched(each):.3g} steps"
        )
    for spec in specs:
        _print_study(spec)
    count = len(specs) + sum(1 + len(each.scenarios) for each in worlds)
    total = sum(spec.simulated_steps() for spec in specs) + sum(map(all_steps, worlds))
    typer.echo(f"{plural(count, 'study', 'studies')}, {total:.3g} simulated steps in all")


def _print_study(spec: StudySpec) -> None:
    typer.echo(
        f"{spec.study_name()}: {spec.trials:,} trials × {spec.replications:,} replications, "
        f"{spec.sampler}, pruner {spec.pruner}, {spec.simulated_steps():.3g} steps"
    )


def all_steps(spec: RobustSpec) -> int:
    """Steps of a search over several scenarios, and of the study of each that comes first."""
    return _searched(spec) + sum(own.simulated_steps() for own in spec.each())


def _searched(spec: RobustSpec) -> int:
    base = spec.base.resolved()
    return base.trials * base.replications * base.horizon * len(spec.scenarios)


def study_object(spec: StudySpec) -> dict[str, Any]:
    """A study that would run."""
    return {
        "study": spec.study_name(),
        "trials": spec.trials,
        "replications": spec.replications,
        "sampler": spec.sampler,
        "pruner": spec.pruner,
        "steps": spec.simulated_steps(),
    }


def robust_object(spec: RobustSpec) -> dict[str, Any]:
    """A search over several scenarios that would run, and the study of each that comes first."""
    return {
        **study_object(spec.base),
        "study": spec.study_name(),
        "steps": _searched(spec),
        "measure": None if spec.pareto else spec.measure,
        "scenarios": list(spec.scenarios),
        "first": [study_object(each) for each in spec.each()],
    }
