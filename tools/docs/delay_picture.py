"""Picture of delayed feedback: the reward of each step, and the steps at which the policy observes its parts."""

import numpy as np

from ravenlab.dashboards.figures.style import BLUE, VERMILION
from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.world import Floats
from tools.docs.svg import RULE, SOFT, card, path, rect, text
from tools.docs.world_pictures import SEED, WIDTH

STEPS = 60
LEFT = 62
RIGHT = 20
HEIGHT = 326
PANELS = ((66, 92), (192, 84))
"""Top and height of the panels of rewards and of observations."""


def delay_picture() -> tuple[str, str]:
    """Return the SVG for one arm that is pulled at every step, and its alt text."""
    scenario = find_scenario("delayed")
    worlds = draw_worlds(scenario, scenario.horizon, 1, SEED)
    mean, variance = worlds.level[0, 0, 0, :2]
    rewards = mean + np.sqrt(variance) * worlds.noise[0, :STEPS]
    marked_step = 1 + int(rewards[: STEPS // 2].argmax())
    observed = np.zeros(STEPS + 1)
    marked = np.zeros(STEPS + 1)
    for t in range(STEPS):
        for part, delay in zip(worlds.parts[0, t], worlds.delay[0, t], strict=True):
            step = min(STEPS, t + int(delay))
            observed[step] += rewards[t] * part
            marked[step] += rewards[t] * part if t + 1 == marked_step else 0.0
    observed_steps = [int(t) + 1 for t in np.flatnonzero(marked[:STEPS])]
    parts = [
        text(LEFT, 28, "delayed", font_size=16, font_weight=600),
        text(LEFT, 46, f"The first {STEPS} steps of one arm, pulled at each of them, seed {SEED}", fill=SOFT),
        text(WIDTH - RIGHT, 28, f"the reward of step {marked_step}, and its parts", text_anchor="end", fill=VERMILION),
    ]
    top = max(rewards.max(), observed[:STEPS].max()) * 1.08
    for values, marked_values, name, (y, height) in (
        (rewards, np.where(np.arange(STEPS) == marked_step - 1, rewards, 0.0), "paid", PANELS[0]),
        (observed[:STEPS], marked[:STEPS], "seen", PANELS[1]),
    ):
        parts += _bars(values, marked_values, name, top, y, height)
    parts += _connecting_lines(marked_step, observed_steps)
    for t in (1, *range(10, STEPS + 1, 10)):
        parts.append(text(_x_position(t), sum(PANELS[-1]) + 16, str(t), text_anchor="middle", fill=SOFT, font_size=11))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "step t", text_anchor="middle", fill=SOFT))
    alt = (
        f"delayed: {scenario.meaning}. Rewards paid at {STEPS} steps, and below what is seen at each of them: the"
        f" reward of step {marked_step} is seen in parts at steps {', '.join(str(t) for t in observed_steps)}."
    )
    return card(WIDTH, HEIGHT, alt, parts), alt


def _x_position(t: float) -> float:
    return LEFT + (t - 0.5) / STEPS * (WIDTH - LEFT - RIGHT)


def _bars(values: Floats, marked: Floats, name: str, top: float, y: float, height: float) -> list[str]:
    parts = [rect(LEFT, y, WIDTH - LEFT - RIGHT, height, fill="none", stroke=RULE)]
    parts += [
        text(LEFT - 6, y + height + 4 - height * tick / top, f"{tick:g}", text_anchor="end", fill=SOFT, font_size=11)
        for tick in (0.0, 0.5, 1.0)
        if tick < top
    ]
    middle = y + height / 2
    parts.append(text(18, middle, name, text_anchor="middle", fill=SOFT, transform=f"rotate(-90 18 {middle:g})"))
    for index, (value, marked_value) in enumerate(zip(values, marked, strict=True)):
        x = _x_position(index + 1) - 3.5
        bar_height = max(0.0, value) / top * height
        parts.append(rect(x, y + height - bar_height, 7, bar_height, fill=BLUE, fill_opacity=0.55))
        if marked_value > 0:
            parts.append(
                rect(x, y + height - marked_value / top * height, 7, marked_value / top * height, fill=VERMILION)
            )
    return parts


def _connecting_lines(step: int, observed_steps: list[int]) -> list[str]:
    """Return lines from a marked reward to its observed parts."""
    (top, height), (below, _) = PANELS
    begin = (_x_position(step), top + height + 2)
    return [
        path([begin, (_x_position(t), below - 2)], stroke=VERMILION, stroke_width=1.2, stroke_dasharray="3 2")
        for t in observed_steps
    ]
