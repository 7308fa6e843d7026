"""`ravenlab validate`: is a study file in order, and what would it run?"""

from __future__ import annotations

from typing import Annotated

import typer

from tuning.cli import completion
from tuning.cli.options import JsonOption


def validate(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Study files, or names of shipped ones.",
            autocompletion=completion.study_files,
            show_default=False,
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Check study files and say what they hold.

    The first fault is one line, and makes the exit code 2.

    Examples:
        # a file of yours
        ravenlab validate study.toml
        # one that comes along, for programs
        ravenlab validate all-scenarios --json
    """
    from environments.text import plural
    from studies.spec.files import find_study_file, load_robust_studies, load_study_file
    from tuning.cli.arguments import all_steps, robust_object, study_object
    from tuning.cli.output import print_json

    paths = [(name, find_study_file(name)) for name in files]
    held = [(name, load_study_file(path), load_robust_studies(path)) for name, path in paths]
    if as_json:
        files_held = [
            {"file": name, "studies": [*map(study_object, specs), *map(robust_object, over_worlds)]}
            for name, specs, over_worlds in held
        ]
        print_json({"files": files_held})
        return
    for name, specs, over_worlds in held:
        steps = sum(spec.simulated_steps() for spec in specs) + sum(map(all_steps, over_worlds))
        typer.echo(f"{name}: {plural(len(specs) + len(over_worlds), 'study', 'studies')}, {steps:,} steps")
        for spec in specs:
            typer.echo(f"  {spec.study_name()}: {spec.simulated_steps():,} steps")
        for each in over_worlds:
            held_in = f"{len(each.scenarios)} scenarios, {each.base.trials:,} trials"
            typer.echo(f"  {each.study_name()}: {held_in}, {all_steps(each):,} steps")
