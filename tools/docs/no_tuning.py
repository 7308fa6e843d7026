"""Generated parts of docs/evidence/no-tuning.md: excess by policy, and its picture."""

import json
import math
from typing import Any

import numpy as np

from ravenlab.common.text import format_count, set_minus
from ravenlab.dashboards.figures.style import BLUE, GREEN, ORANGE
from tests.project import ROOT
from tools.docs.marks import table
from tools.docs.svg import RULE, SOFT, card, path, rect, text

RESULTS = ROOT / "tools" / "evidence" / "no_tuning.jsonl"
PICTURE = "images/no-tuning.svg"
ALT = (
    "Regret of each policy without tuning, relative to the best of six tuned policies, in every setting of the"
    " evaluation; a line marks 1.25 times the best"
)
AUTO = "raven-auto"
REFERENCE = "raven-ucb"
GOAL = 0.25  # largest excess that the picture marks
BOOTSTRAP = 4000
SECOND = 40  # number of the first setting of the second sample
HORIZON_COLORS = {1000: BLUE, 10_000: ORANGE, 100_000: GREEN}
WIDTH = 860
LEFT = 150
RIGHT = 26
TOP = 84
ROW = 34
LOW, HIGH = 0.8, 40.0  # ratios at the ends of the axis


def parts() -> dict[str, list[str]]:
    """Return the generated parts of the page."""
    rows = read_results()
    return {
        "first sample": _sample([row for row in rows if row["number"] < SECOND]),
        "second sample": _sample([row for row in rows if row["number"] >= SECOND]),
        "picture": [f"![{ALT}](../{PICTURE})"],
    }


def read_results() -> list[dict[str, Any]]:
    """Read the settings in which the policies without tuning were played."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return sorted(
        (row for row in rows if "excess" in row), key=lambda row: (row["horizon"], row["arms"], row["number"])
    )


def bootstrap_mean(values: Any) -> tuple[float, float, float]:
    """Return the mean of values of settings with a 95 % percentile interval.

    >>> bootstrap_mean([1.0, 1.0])
    (1.0, 1.0, 1.0)
    """
    array = np.asarray(values, dtype=np.float64)
    draws = array[np.random.default_rng(0).integers(array.size, size=(BOOTSTRAP, array.size))].mean(axis=1)
    low, high = np.quantile(draws, (0.025, 0.975))
    return float(array.mean()), float(low), float(high)


def _sample(rows: list[dict[str, Any]]) -> list[str]:
    auto, tuned = (
        np.mean([row[kind][name][1] for row in rows]) for kind, name in (("untuned", AUTO), ("tuned", REFERENCE))
    )
    count = (
        f"{len(rows)} settings. `{AUTO}` fails in {100 * auto:.1f} % of their worlds, tuned RAVEN-UCB in"
        f" {100 * tuned:.1f} %."
    )
    return [count, "", *_policies(rows)]


def _policies(rows: list[dict[str, Any]]) -> list[str]:
    excess = {name: np.array([row["excess"][name][0] for row in rows]) for name in rows[0]["excess"]}
    cells = []
    for name, values in excess.items():
        worst = rows[int(values.argmax())]
        difference = "–" if name == AUTO else _interval(values - excess[AUTO], sign="+")
        cells.append(
            [
                name,
                _interval(values),
                f"{100 * float(np.median(values)):,.0f}",
                f"{100 * values.max():,.0f}",
                f"{worst['scenario']}, T {format_count(worst['horizon'])}, K {worst['arms']}",
                f"{int((values <= GOAL).sum())} of {len(rows)}",
                f"{100 * np.mean([row['untuned'][name][1] for row in rows]):.1f} %",
                difference,
            ]
        )
    titles = ["policy", "mean excess (%)", "median", "worst", "worst setting", "within 25 %", "failures"]
    return table([*titles, f"minus {AUTO}"], cells)


def _interval(values: Any, sign: str = "") -> str:
    mean, low, high = (set_minus(f"{100 * x:{sign},.0f}") for x in bootstrap_mean(values))
    return f"{mean} ({low} to {high})"


def picture() -> str:
    """Draw one row of points per policy, one point per setting."""
    rows = read_results()
    names = sorted(rows[0]["excess"], key=lambda name: float(np.mean([row["excess"][name][0] for row in rows])))
    height = TOP + ROW * len(names) + 40
    drawn = [
        text(22, 30, "Regret without tuning, relative to the best tuned policy", font_size=16, font_weight=600),
        text(
            22,
            50,
            f"One point per setting, {len(rows)} settings; the bar is the mean; above {HIGH:g} × at the edge",
            fill=SOFT,
        ),
    ]
    for i, (horizon, color) in enumerate(HORIZON_COLORS.items()):
        left = WIDTH - 330 + 104 * i
        drawn += [rect(left, 40, 8, 8, fill=color), text(left + 13, 49, f"T = {format_count(horizon)}")]
    bottom = TOP + ROW * len(names)
    for ratio in (1, 2, 4, 8, 16, 32):
        drawn.append(path([(_place(ratio), TOP - 8), (_place(ratio), bottom)], stroke=RULE))
        drawn.append(text(_place(ratio), bottom + 18, f"{ratio} ×", text_anchor="middle", fill=SOFT))
    goal = _place(1.0 + GOAL)
    drawn.append(path([(goal, TOP - 8), (goal, bottom)], stroke=SOFT, stroke_dasharray="4 3"))
    drawn.append(text(goal, TOP - 13, "1.25 ×", text_anchor="middle", fill=SOFT, font_size=11))
    for place, name in enumerate(names):
        y = TOP + ROW * (place + 0.5)
        drawn.append(text(LEFT - 22, y + 4, name, text_anchor="end", font_weight=600 if name == AUTO else ""))
        for i, row in enumerate(rows):
            x = _place(1.0 + row["excess"][name][0])
            shift = 2.2 * (i % 7 - 3)
            color = HORIZON_COLORS[row["horizon"]]
            drawn.append(rect(x - 2.5, y + shift - 2.5, 5, 5, rx=2.5, fill=color, fill_opacity=0.7))
        mean = _place(1.0 + float(np.mean([row["excess"][name][0] for row in rows])))
        drawn.append(path([(mean, y - 12), (mean, y + 12)], stroke="#1f2328", stroke_width=2.4))
    return card(WIDTH, height, ALT, drawn)


def _place(ratio: float) -> float:
    share = math.log(min(max(ratio, LOW), HIGH) / LOW) / math.log(HIGH / LOW)
    return LEFT + share * (WIDTH - LEFT - RIGHT)
