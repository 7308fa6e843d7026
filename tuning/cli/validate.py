"""`ravenlab validate`: check study files and list what they would run."""

from __future__ import annotations

from typing import Annotated

from tuning.cli import completion
from tuning.cli.options import JsonOption, argument


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
    from environments.text import format_count, plural
    from studies.spec.files import find_study_file, load_robust_studies, load_study_file
    from tuning.cli.arguments import Plan, robust_object, robust_steps, study_object
    from tuning.cli.output import print_json, print_line

    plans: list[tuple[str, Plan]] = []
    for name in files:
        path = find_study_file(name)
        plans.append((name, Plan(load_study_file(path), load_robust_studies(path))))
    if as_json:
        contents = [
            {"file": name, "studies": [*map(study_object, plan.studies), *map(robust_object, plan.robust)]}
            for name, plan in plans
        ]
        print_json({"files": contents})
        return
    for name, plan in plans:
        steps = sum(spec.simulated_steps() for spec in plan.studies) + sum(map(robust_steps, plan.robust))
        print_line(f"{name}: {plural(len(plan), 'study', 'studies')}, {format_count(steps)} steps")
        for spec in plan.studies:
            print_line(f"  {spec.study_name()}: {format_count(spec.simulated_steps())} steps")
        for search in plan.robust:
            size = f"{len(search.scenarios)} scenarios, {format_count(search.base.trials)} trials"
            print_line(f"  {search.study_name()}: {size}, {format_count(robust_steps(search))} steps")
