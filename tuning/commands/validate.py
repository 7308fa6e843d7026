"""`ravenlab validate`: is a study file in order, and what would it run?"""

from __future__ import annotations

from typing import Annotated

import typer


def validate(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Study files, or names of shipped ones.")],
) -> None:
    """Check study files and say what they hold; the first fault is one line, and exit code 2.

    Example: `ravenlab validate study.toml`
    """
    from studies.files import load_robust_tables, load_study_file
    from studies.shipped import find_study_file

    paths = [(name, find_study_file(name)) for name in files]
    held = [(name, load_study_file(path), load_robust_tables(path)) for name, path in paths]
    for name, specs, over_worlds in held:
        steps = sum(spec.simulated_steps() for spec in specs)
        typer.echo(f"{name}: {len(specs)} {'study' if len(specs) == 1 else 'studies'}, {steps:,} steps")
        for spec in specs:
            typer.echo(f"  {spec.study_name()}: {spec.simulated_steps():,} steps")
        for each in over_worlds:
            typer.echo(f"  {each.study_name()}: {len(each.scenarios)} scenarios, {each.base.trials} trials")
