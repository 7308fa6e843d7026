"""Generated parts of docs/evidence/laws.md: formulas, recommended parameters, and one figure per parameter."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ravenlab.common.text import format_count, format_number, format_percent, set_minus
from ravenlab.dashboards.figures.style import BLUE, GREEN, ORANGE
from ravenlab.environments import find_scenario
from ravenlab.studies.laws.axes import ARMS, HORIZON, RATES, axes_of, features
from ravenlab.studies.laws.law import COORDINATES, Law, answer, load_document, load_laws
from ravenlab.studies.paper.advice import SHORT_HORIZON, paper_advice
from ravenlab.studies.symbols import format_symbol
from tools.docs.marks import table
from tools.docs.svg import RULE, SOFT, card, path, rect, text

POLICY = "raven-ucb"
SCALE = 0.5  # range R of the means of default worlds
ARM_COUNTS = {3: BLUE, 10: ORANGE, 50: GREEN}
HORIZONS = (1000, 10_000, 100_000)
WIDTH = 860
PANEL = 174
HEIGHT = 150
GAP = 28
LEFT = 54
TOP = 78
LIMITS = {"alpha0": (0.05, 60.0), "beta0": (0.02, 10.0), "epsilon": (0.001, 0.5)}
LABELS = {"horizon": "T", "arms": "K", "noise": "(σ/R)", "crowding": "(1 + 30K/T)"}


def parts() -> dict[str, list[str]]:
    """Return the generated parts of the page."""
    return {
        "provenance": _provenance(),
        "formulas": _formulas(),
        "recommended": _recommended(),
        "policies": _policies(),
        "check": [*table(CHECK_COLUMNS, check_rows(load_document()["check"][POLICY])), "", _coverage(POLICY)],
        "others": _others(),
        "start": table(START_COLUMNS, start_rows(load_document()["start"])),
        "figures": [line for name, _, alt in figures() for line in (f"![{alt}](../{file_name(name)})", "")][:-1],
    }


def file_name(name: str) -> str:
    """Return the file of a parameter's figure.

    >>> file_name("alpha0")
    'images/laws/alpha0.svg'
    """
    return f"images/laws/{name}.svg"


def _provenance() -> list[str]:
    facts = load_document()["provenance"]
    return [
        f"The atlas holds {facts['settings']} settings and the survey {facts['survey']}, over eight scenarios; the"
        f" expected regret was fitted to these and to {facts['regrets']} further settings (version {facts['version']},"
        f" design seeds {facts['seeds']['run']}, {facts['seeds']['survey']} and {facts['seeds']['regret']})."
    ]


def _formulas() -> list[str]:
    rows = []
    for scenario in RATES:
        law = load_laws()[scenario, POLICY]
        excess = "–"
        if law.excess is not None:
            excess = f"{format_percent(law.excess['median'])}, {format_percent(law.excess['high'])}"
        formulas = [_formula(law, coordinate.name, coordinate.power) for coordinate in COORDINATES[POLICY]]
        rows.append([scenario, *formulas, excess])
    return table(["scenario", "α₀", "β₀", "ε", "excess: median, 90 %"], rows)


def _formula(law: Law, name: str, power: int) -> str:
    """Write a law as a product of powers; exponents that change the parameter by less than 5 % are left out."""
    factor = law.factor(name)
    words = []
    exponents = law.exponents(name)
    widths = {axis.name: axis for axis in axes_of(law.scenario)}
    for key in ("horizon", "arms", "noise", "crowding", *[axis.name for axis in RATES[law.scenario]]):
        exponent = exponents[key]
        label = LABELS.get(key, key)
        if key in widths and not widths[key].logarithmic:
            words.append(f"e^({exponent:.2f}·{label})")
        else:
            words.append(f"{label}^{exponent:.2f}")
    unit = {0: "", 1: "R·", 2: "R²·"}[power]
    return set_minus(f"{format_number(float(f'{factor:.3g}'))}·{unit}{'·'.join(words)}")


def _recommended() -> list[str]:
    rows = []
    for scenario in RATES:
        for horizon in HORIZONS:
            found = answer(find_scenario(scenario), horizon, 10, POLICY)
            advice = paper_advice(scenario, horizon)
            mean, low, high = found.answer.regret
            printed = "–" if advice is None else f"{format_number(advice['alpha0'])}, {format_number(advice['beta0'])}"
            rows.append(
                [
                    scenario,
                    format_count(horizon),
                    *(format_number(found.answer.params[name]) for name in ("alpha0", "beta0", "epsilon")),
                    printed,
                    f"{_digits(mean)} ({_digits(low)} to {_digits(high)})",
                ]
            )
    return table(["scenario", "T", "α₀", "β₀", "ε", "paper: α₀, β₀", "expected regret"], rows)


def _digits(value: float) -> str:
    return format_number(float(f"{value:.3g}"))


CHECK_COLUMNS = ("parameters", "settings", "median", "90 %", "95 %", "largest")


def check_rows(check: Mapping[str, Any]) -> list[list[str]]:
    """Return the table of the excess over the references."""
    labels = {"law": "law", "paper": "the paper's advice", "defaults": "defaults"}
    return [
        [labels[name], str(entry["settings"]), *(_format_excess(value) for value in entry["quantiles"])]
        for name, entry in check.get("excess", {}).items()
        if entry["settings"]
    ]


def _format_excess(value: float) -> str:
    return set_minus(f"{100.0 * value:.1f} %")


START_COLUMNS = ("trials", "first candidates", "settings", "median", "mean", "95 % interval of the mean")


def start_rows(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the table of the excess of searches with and without the law."""
    labels = {"law": "with the law", "usual": "without the law"}
    out = []
    for row in rows:
        label = labels[row["start"]] if row["trials"] else "the law's parameters, no search"
        interval = f"{_format_excess(row['low'])} to {_format_excess(row['high'])}"
        numbers = [_format_excess(row["median"]), _format_excess(row["mean"]), interval]
        out.append([str(row["trials"]), label, str(row["settings"]), *numbers])
    return out


def describe_coverage(check: Mapping[str, Any]) -> str:
    """Describe how well the expected regret and its interval hold."""
    return (
        f"The 95 % interval of the expected regret contains the measured regret in {check['covered']} of"
        f" {check['settings']} settings; its median half-width is {100.0 * check['half_width']:.0f} %. The median"
        f" standard error of an excess is {100.0 * check['error']:.1f} %."
    )


def _coverage(policy: str) -> str:
    check = load_document()["check"][policy]
    return describe_coverage(check) if check else "The check was not run."


def _others() -> list[str]:
    """Return the check of the other policies."""
    policies = [policy for policy in COORDINATES if policy != POLICY]
    rows = [[policy, *row] for policy in policies for row in check_rows(load_document()["check"][policy])]
    lines = [f"`{policy}`: {_coverage(policy)}" for policy in policies]
    return [*table(["policy", *CHECK_COLUMNS], rows), "", *lines]


def _policies() -> list[str]:
    """Return how often each policy was the best in the atlas, and the median regret relative to RAVEN-UCB."""
    rows = []
    for scenario in RATES:
        entries = [entry for entry in load_document()["atlas"] if entry["scenario"] == scenario]
        cells = []
        for policy in COORDINATES:
            ratios = sorted(
                entry["policies"][policy]["regret"][0] / entry["policies"][POLICY]["regret"][0] for entry in entries
            )
            wins = sum(entry["best"] == policy for entry in entries)
            cells.append(f"{wins} of {len(entries)}" + ("" if policy == POLICY else f"; {_median(ratios):.2f}"))
        rows.append([scenario, *cells])
    return table(["scenario", *(f"{policy}" for policy in COORDINATES)], rows)


def _median(values: Sequence[float]) -> float:
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2.0


def figures() -> Iterator[tuple[str, str, str]]:
    """Yield name, SVG and alt text of each parameter of RAVEN-UCB."""
    for coordinate in COORDINATES[POLICY]:
        symbol = format_symbol(coordinate.name)
        alt = (
            f"{symbol} of RAVEN-UCB against the horizon in eight scenarios: the law for 3, 10 and 50 arms, the settings"
            " of the atlas with the ranges that cost at most 2 %, and the paper's advice"
        )
        yield coordinate.name, card(WIDTH, 470, alt, _draw(coordinate.name, symbol)), alt


def _draw(name: str, symbol: str) -> list[str]:
    drawn = [
        text(LEFT, 28, f"{symbol} against the horizon T", font_size=16, font_weight=600),
        text(LEFT, 46, "Points: best values of the atlas, converted by the law to default noise and rates", fill=SOFT),
    ]
    for i, (arms, colour) in enumerate(ARM_COUNTS.items()):
        x = WIDTH - 330 + 70 * i
        drawn += [path([(x, 24), (x + 18, 24)], stroke=colour, stroke_width=2.4), text(x + 23, 28, f"K = {arms}")]
    x = WIDTH - 118
    drawn += [path([(x, 24), (x + 18, 24)], stroke=SOFT, stroke_dasharray="4 3"), text(x + 23, 28, "the paper")]
    for place, scenario in enumerate(RATES):
        left = LEFT + place % 4 * (PANEL + GAP)
        top = TOP + place // 4 * (HEIGHT + 42)
        drawn += _panel(name, scenario, left, top)
    return drawn


def _panel(name: str, scenario: str, left: float, top: float) -> list[str]:
    low, high = LIMITS[name]

    def x(horizon: float) -> float:
        return left + PANEL * (HORIZON.position(horizon) + 1.0) / 2.0

    def y(value: float) -> float:
        share = math.log(min(max(value, low), high) / low) / math.log(high / low)
        return top + HEIGHT * (1.0 - share)

    drawn = [
        rect(left, top, PANEL, HEIGHT, fill="none", stroke=RULE),
        text(left, top - 6, scenario, font_weight=600),
    ]
    for tick in (1000, 10_000, 100_000):
        drawn.append(
            text(x(tick), top + HEIGHT + 14, f"10{'³⁴⁵'[round(math.log10(tick)) - 3]}", text_anchor="middle", fill=SOFT)
        )
    for exponent in range(-3, 3):
        if low <= 10.0**exponent <= high:
            drawn.append(
                text(left - 4, y(10.0**exponent) + 4, f"{10.0**exponent:g}", text_anchor="end", fill=SOFT, font_size=10)
            )
    drawn += _advice(name, scenario, x, y)
    law = load_laws()[scenario, POLICY]
    problem = find_scenario(scenario)
    steps = [HORIZON.value(-1.0 + k / 20.0) for k in range(41)]
    for arms, colour in ARM_COUNTS.items():
        line = [(x(t), y(law.at(features(problem, round(t), arms), round(t), SCALE)[name])) for t in steps]
        drawn.append(path(line, stroke=colour, stroke_width=2.0))
    for entry in load_document()["atlas"]:
        if entry["scenario"] == scenario:
            drawn += _point(name, entry, law, x, y)
    return drawn


def _advice(name: str, scenario: str, x: Any, y: Any) -> list[str]:
    """Draw the paper's advice for short and for long horizons, where it gives any."""
    drawn = []
    for first, last in ((300, SHORT_HORIZON - 1), (SHORT_HORIZON + 1, 100_000)):
        advice = paper_advice(scenario, first)
        if advice is not None:
            line = [(x(first), y(advice[name])), (x(last), y(advice[name]))]
            drawn.append(path(line, stroke=SOFT, stroke_dasharray="4 3", stroke_width=1.4))
    return drawn


def _point(name: str, entry: Mapping[str, Any], law: Law, x: Any, y: Any) -> list[str]:
    """Draw a setting of the atlas: its best value and range, moved along the law to default noise and rates."""
    horizon = entry["horizon"]
    arms = entry["arms"]
    there = law.at(features(find_scenario(entry["scenario"], entry["settings"]), horizon, arms), horizon, SCALE)[name]
    here = law.at(features(find_scenario(entry["scenario"]), horizon, arms), horizon, SCALE)[name]
    factor = here / there
    low, high = (factor * end for end in entry["policies"][POLICY]["ranges"][name])
    best = factor * entry["policies"][POLICY]["params"][name]
    nearest = min(ARM_COUNTS, key=lambda count: abs(ARMS.position(count) - ARMS.position(arms)))
    colour = ARM_COUNTS[nearest]
    place = x(horizon)
    return [
        path([(place, y(low)), (place, y(high))], stroke=colour, stroke_opacity=0.45, stroke_width=1.6),
        rect(place - 2.2, y(best) - 2.2, 4.4, 4.4, fill=colour),
    ]
