"""The generated parts of docs/scenarios.md: pictures, alt texts and parameters with their defaults."""

from __future__ import annotations

from collections.abc import Iterator

from environments import find_scenario, scenarios
from environments.base import BaseDraw
from environments.noise import NOISES
from environments.scenario import Scenario
from tools.docs.delay_picture import delay_picture
from tools.docs.marks import table
from tools.docs.world_pictures import ARMS, world_picture

FOLDER = "images/scenarios"
COMBINATION = "periodic+blips"


def shown() -> list[Scenario]:
    """All named scenarios, and one that combines two effects."""
    return [*scenarios().values(), find_scenario(COMBINATION)]


def pictures() -> Iterator[tuple[str, str, str]]:
    """Name, SVG and alt text of each scenario."""
    for scenario in shown():
        if scenario.name == "delayed":
            yield scenario.name, *delay_picture()
        else:
            arms = min(scenario.arms, ARMS) if scenario.arms < 100 else scenario.arms
            yield scenario.name, *world_picture(scenario, scenario.horizon, arms)


def file_name(name: str) -> str:
    """File name of a scenario's picture.

    >>> file_name("periodic+blips")
    'images/scenarios/periodic-blips.svg'
    """
    return f"{FOLDER}/{name.replace('+', '-')}.svg"


def overview() -> list[str]:
    """All scenarios in one table."""
    rows = [
        [f"[`{each.name}`](#{each.name})", each.category, each.meaning, str(each.arms), str(each.horizon)]
        for each in scenarios().values()
    ]
    return table(["scenario", "category", "what changes", "arms", "horizon"], rows)


def noises() -> list[str]:
    """All noises in one table."""
    return table(["noise", "distribution"], [[f"`{name}`", noise.meaning] for name, noise in NOISES.items()])


def part(name: str, alt: str) -> list[str]:
    """The picture of a scenario and its parameters, without those of the base draw."""
    base = set(BaseDraw.__dataclass_fields__)
    parameters = {key: value for key, value in find_scenario(name).parameters().items() if key not in base}
    lines = [f"![{alt}]({file_name(name)})"]
    if parameters:
        lines += [
            "",
            *table(["parameter", "default"], [[f"`{key}`", f"`{value}`"] for key, value in parameters.items()]),
        ]
    return lines


def base_part() -> list[str]:
    """The parameters of the base draw, and scenarios with other defaults."""
    usual = scenarios()["stationary"].parameters()
    rows = []
    for key in BaseDraw.__dataclass_fields__:
        others = [f"`{each.name}` {each.parameters()[key]}" for each in scenarios().values()]
        differ = [
            other
            for other, each in zip(others, scenarios().values(), strict=True)
            if each.parameters()[key] != usual[key]
        ]
        rows.append([f"`{key}`", f"`{usual[key]}`", ", ".join(differ) or "–"])
    return table(["parameter", "default", "other in"], rows)
