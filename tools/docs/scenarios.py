"""Generated parts of docs/reference/scenarios.md: pictures, alt texts and parameters with their defaults."""

from collections.abc import Iterator

from ravenlab.environments import find_scenario, scenarios
from ravenlab.environments.base import BaseDraw
from ravenlab.environments.noise import NOISES
from ravenlab.environments.scenario import Scenario
from tools.docs.delay_picture import delay_picture
from tools.docs.marks import table
from tools.docs.world_pictures import ARMS, world_picture

FOLDER = "images/scenarios"
COMBINATION = "periodic+blips"


def documented_scenarios() -> list[Scenario]:
    """Return all named scenarios, and one that combines two effects."""
    return [*scenarios().values(), find_scenario(COMBINATION)]


def pictures() -> Iterator[tuple[str, str, str]]:
    """Yield name, SVG and alt text of each scenario."""
    for scenario in documented_scenarios():
        if scenario.name == "delayed":
            yield scenario.name, *delay_picture()
        else:
            arms = min(scenario.arms, ARMS) if scenario.arms < 100 else scenario.arms
            yield scenario.name, *world_picture(scenario, scenario.horizon, arms)


def file_name(name: str) -> str:
    """Return the file name of a scenario's picture.

    >>> file_name("periodic+blips")
    'images/scenarios/periodic-blips.svg'
    """
    return f"{FOLDER}/{name.replace('+', '-')}.svg"


def overview() -> list[str]:
    """Return the table of all scenarios."""
    rows = [
        [
            f"[`{scenario.name}`](#{scenario.name})",
            scenario.category,
            scenario.meaning,
            str(scenario.arms),
            str(scenario.horizon),
        ]
        for scenario in scenarios().values()
    ]
    return table(["scenario", "category", "what changes", "arms", "horizon"], rows)


def noises() -> list[str]:
    """Return the table of all noises."""
    return table(["noise", "distribution"], [[f"`{name}`", noise.meaning] for name, noise in NOISES.items()])


def part(name: str, alt: str) -> list[str]:
    """Return the picture and the parameters of a scenario, without those of the base draw."""
    base = set(BaseDraw.__dataclass_fields__)
    parameters = {key: value for key, value in find_scenario(name).parameters().items() if key not in base}
    lines = [f"![{alt}](../{file_name(name)})"]
    if parameters:
        lines += [
            "",
            *table(["parameter", "default"], [[f"`{key}`", f"`{value}`"] for key, value in parameters.items()]),
        ]
    return lines


def base_part() -> list[str]:
    """Return the table of the parameters of the base draw, with scenarios whose defaults differ."""
    defaults = scenarios()["stationary"].parameters()
    rows = []
    for key in BaseDraw.__dataclass_fields__:
        different = [
            f"`{scenario.name}` {scenario.parameters()[key]}"
            for scenario in scenarios().values()
            if scenario.parameters()[key] != defaults[key]
        ]
        rows.append([f"`{key}`", f"`{defaults[key]}`", ", ".join(different) or "–"])
    return table(["parameter", "default", "other in"], rows)
