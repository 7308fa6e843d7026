"""What the contents of a report call its studies: by one rule, in short, and no two alike."""

from __future__ import annotations

from dashboards.pages.report.studies import MAX_SUFFIX_LENGTH, StudyLabel, make_short_titles
from tests.studies.examples import WILD


def test_searches_of_any_origin_are_called_by_one_rule() -> None:
    found = [
        StudyLabel("mine.py:Mine~617164b4/blips/T500/K10", "blips", 500, 10, {}, "mine.py:Mine~617164b4"),
        StudyLabel("raven-ucb/blips/T500/K10", "blips", 500, 10),
        StudyLabel("compare/localized-jump/T1000/K10/sw-ucb", "localized-jump", 1000, 10, {}, "sw-ucb"),
        StudyLabel("night shift", "periodic", 500, 10),
    ]
    assert make_short_titles(found) == [
        "blips, T = 500, mine.py:Mine",
        "blips, T = 500",
        "localized-jump, T = 1,000, sw-ucb",
        "periodic, T = 500",
    ]
    assert make_short_titles(found[2:3]) == ["localized-jump, T = 1,000"]


def test_what_would_read_alike_says_what_tells_it_apart() -> None:
    found = [
        StudyLabel("raven-ucb/blips/T500/K4~aaaa", "blips", 500, 4),
        StudyLabel("raven-ucb/blips/T500/K10", "blips", 500, 10),
        StudyLabel("raven-ucb/blips/T500/K10~bbbb", "blips", 500, 10),
        StudyLabel("compare/blips/T500/K10/raven-ucb~cccccc", "blips", 500, 10),
        StudyLabel("raven-ucb/blips/T500/K10~dddd", "blips", 500, 10, {"every": 50}),
        StudyLabel(WILD, "blips", 500, 10),
    ]
    titles = make_short_titles(found)
    assert titles[:5] == [
        "blips, T = 500, K = 4",
        "blips, T = 500, K = 10",
        "blips, T = 500, K = 10, ~bbbb",
        "blips, T = 500, K = 10, compare ~cccccc",
        "blips, T = 500, K = 10, every = 50",
    ]
    assert len(set(titles)) == len(titles)
    assert len(titles[5]) == len("blips, T = 500, K = 10, ") + MAX_SUFFIX_LENGTH


def test_grids_are_told_apart_by_their_hash() -> None:
    grids = [StudyLabel(f"grid/raven-ucb/blips/T500/K10{more}", "blips", 500, 10) for more in ("", "~aaaa")]
    assert make_short_titles(grids) == ["blips, T = 500", "blips, T = 500, ~aaaa"]
