"""Themes and public names of all figures."""

from ravenlab.dashboards.figures import THEMES, apply_theme, plot_heat_map
from tests.dashboards.figure_checks import make_grid


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


def test_a_theme_does_not_change_the_figure_itself() -> None:
    figure = plot_heat_map(make_grid())
    assert apply_theme(figure, dark=True).layout.font.color == THEMES["dark"]["font.color"]
    assert apply_theme(figure, dark=False).layout.hoverlabel.bgcolor == "#ffffff"
    assert figure.layout.font.color == THEMES["either"]["font.color"]
    assert len(apply_theme(figure, dark=True).to_json()) < len(figure.to_json()) + 100
