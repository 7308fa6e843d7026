"""`ravenlab validate`: check study files and list what they would run."""

from typing import Annotated

from ravenlab.common.terminal import print_line
from ravenlab.common.text import format_count, plural
from ravenlab.tuning.cli import completion
from ravenlab.tuning.cli.arguments import plan_object
from ravenlab.tuning.cli.options import JsonOption, argument
from ravenlab.tuning.cli.output import print_json


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
    from ravenlab.tuning.plan import read_plan

    plans = [(name, read_plan(name)) for name in files]
    if as_json:
        print_json({"files": [{"file": name, "studies": list(map(plan_object, plan.specs))} for name, plan in plans]})
        return
    for name, plan in plans:
        steps = plan.simulated_steps()
        print_line(f"{name}: {plural(len(plan.specs), 'study', 'studies')}, {format_count(steps)} steps")
        for spec in plan.specs:
            scenarios = spec.first_studies()
            size = f"{len(scenarios)} scenarios, {format_count(spec.planned)} trials, " if scenarios else ""
            print_line(f"  {spec.study_name()}: {size}{format_count(spec.simulated_steps())} steps")
