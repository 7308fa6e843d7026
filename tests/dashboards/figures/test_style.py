"""Themes, contrast and axes of all figures."""

import re
from itertools import product

import pytest

from ravenlab.dashboards.figures import THEMES, apply_theme, plot_heat_map, style
from ravenlab.dashboards.figures.marks import MARKS, RAMP
from ravenlab.dashboards.pages.html import TEMPLATES
from tests.dashboards.figure_checks import make_grid

CSS = (TEMPLATES / "report.css").read_text(encoding="utf-8")


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_text_has_enough_contrast() -> None:
    assert contrast(THEMES["light"]["font.color"], "#ffffff") > 7
    assert contrast(THEMES["dark"]["font.color"], "#121212") > 7
    assert contrast(THEMES["either"]["font.color"], "#ffffff") > 3.9
    assert contrast(THEMES["either"]["font.color"], "#121212") > 3.9
    for theme in THEMES.values():
        assert contrast(theme["hoverlabel.font.color"], theme["hoverlabel.bgcolor"]) > 7


def css_colors(dark: bool) -> dict[str, str]:
    """Return the variables of the style sheet that are colors."""
    blocks = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
    light, other = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in blocks[:2])
    return light | other if dark else light


@pytest.mark.parametrize("dark", [False, True])
def test_marks_and_text_of_pages_have_enough_contrast(dark: bool) -> None:
    """WCAG: 3:1 for marks and lines, 4.5:1 for text."""
    page = css_colors(dark)
    marks = [*(style.DARK_COLORS.values() if dark else style.COLORS), style.CHANGE_COLOR]
    marks += RAMP  # the same on either kind of page
    assert set(style.DARK_COLORS) == set(style.COLORS)
    assert {mark["color"] for mark in MARKS.values()} <= set(style.COLORS)
    for mark, ground in product(marks, ("card", "paper")):
        assert contrast(mark, page[ground]) >= 3.0, (mark, ground)
    for text, ground in product(("ink", "soft", "accent", "warn-ink"), ("card", "paper", "wash")):
        assert contrast(page[text], page[ground]) >= 4.5, (text, ground)


def test_dark_colors_replace_those_of_lines_and_areas_once() -> None:
    band, line = style.make_line_with_band([1, 2], [5.0, 6.0], [0.5, 0.5], 0)
    dark = apply_theme(style.make_figure([band, line], "T", "alt"), dark=True)
    assert dark.data[1].line.color == style.DARK_COLORS[style.BLUE]
    assert dark.data[0].fillcolor == style.fade(style.DARK_COLORS[style.BLUE])
    assert not set(style.DARK_COLORS) & set(style.DARK_COLORS.values())


@pytest.mark.parametrize("last", [1, 7, 100, 1234, 2500, 10_000, 999_999, 1_000_000])
def test_the_last_step_is_labelled_and_apart_from_the_tick_before(last: int) -> None:
    axis = style.make_step_axis(last)
    assert axis["range"] == [0, last]
    ticks = axis.get("tickvals") or style.choose_ticks(0.0, last, axis["nticks"])
    assert ticks[-1] == last
    assert ticks[-2] <= 0.9 * last


@pytest.mark.parametrize(("low", "high"), [(14.0, 89.0), (3.0, 8.0), (22.0, 48.0), (0.011, 0.019), (1.0, 1e6)])
def test_log_ticks_are_round(low: float, high: float) -> None:
    ticks = style.choose_log_ticks([low, high])
    assert ticks is not None
    assert len(ticks) >= 2
    assert all(float(f"{tick:.1g}") == tick or float(f"{tick:.2g}") == tick for tick in ticks)
    assert all(0.95 * low <= tick <= 1.05 * high for tick in ticks)
    if high / low > 5:
        assert {f"{tick:e}"[0] for tick in ticks} <= {"1", "2", "5"}


def test_bands_end_at_the_least_possible_value() -> None:
    band, _ = style.make_line_with_band([1, 2], [1.0, 6.0], [5.0, 0.5], 0, least=0.0)
    assert min(band["y"]) == 0.0


def test_a_theme_does_not_change_the_figure_itself() -> None:
    figure = plot_heat_map(make_grid())
    assert apply_theme(figure, dark=True).layout.font.color == THEMES["dark"]["font.color"]
    assert apply_theme(figure, dark=False).layout.hoverlabel.bgcolor == "#ffffff"
    assert figure.layout.font.color == THEMES["either"]["font.color"]
    assert len(apply_theme(figure, dark=True).to_json()) < len(figure.to_json()) + 100
