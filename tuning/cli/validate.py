"""`ravenlab validate`: check study files and list what they would run."""

from __future__ import annotations

from typing import Annotated

from ravenlab.tuning.cli import completion
from ravenlab.tuning.cli.options import JsonOption, argument


def validate(
    files: Annotated[
        list[str], argument("FILE", "Study files, or names of bundled ones.", complete=completion.study_files)
    ],
    as_json: JsonOption = False,
) -> None:
    """Check study files and list their studies.

    The first error is printed as one line, with exit code 2.

    Examples:
        # a study file
        ravenlab validate study.toml
        # a bundled one, as JSON
        ravenlab validate all-scenarios --json
    """
    from ravenlab.common.text import format_count, plural
    from ravenlab.tuning.cli.arguments import read_plan, robust_object, robust_steps, study_object
    from ravenlab.tuning.cli.output import print_json, print_line

    plans = [(name, read_plan(name)) for name in files]
    if as_json:
        contents = [
            {"file": name, "studies": [*map(study_object, plan.studies), *map(robust_object, plan.robust)]}
            for name, plan in plans
        ]
        print_json({"files": contents})
        return
    for name, plan in plans:
        steps = plan.simulated_steps()
        print_line(f"{name}: {plural(len(plan), 'study', 'studies')}, {format_count(steps)} steps")
        for spec in plan.studies:
            print_line(f"  {spec.study_name()}: {format_count(spec.simulated_steps())} steps")
        for search in plan.robust:
            size = f"{len(search.scenarios)} scenarios, {format_count(search.base.trials)} trials"
            print_line(f"  {search.study_name()}: {size}, {format_count(robust_steps(search))} steps")
