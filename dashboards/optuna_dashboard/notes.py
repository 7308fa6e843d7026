"""Notes attached to studies in the Optuna dashboard: Markdown with Unicode symbols, because it renders no LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ravenlab.common.text import format_interval, format_number, format_range, format_settings
from ravenlab.studies.export.comparison import mark_standing
from ravenlab.studies.results.alternatives import BetterPolicy
from ravenlab.studies.results.comparison import ComparisonResult
from ravenlab.studies.results.describe import describe_recommendation, describe_robust
from ravenlab.studies.results.describe_comparison import describe_marks, describe_result, describe_search
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import RobustRecommendation
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.symbols import format_params

if TYPE_CHECKING:
    from ravenlab.studies.results.grid import Grid


PUNCTUATION = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&])")
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
MAX_TABLE_CELLS = 64  # larger grids are shown by the heat map only


def escape(text: str) -> str:
    r"""Escape text for Markdown and put it on one line.

    >>> escape("a*b\n<c>")
    'a\\*b \\<c\\>'
    """
    return PUNCTUATION.sub(r"\\\1", UNPRINTABLE.sub(" ", text))


def code(text: str) -> str:
    r"""Format a name as code, so that nothing in it is interpreted as Markdown, link or HTML.

    >>> code("a`b")
    '``a`b``'
    """
    clean = UNPRINTABLE.sub(" ", text) or " "
    fence = "`" * (max((len(run) for run in re.findall("`+", clean)), default=0) + 1)
    edge = " " if clean.startswith("`") or clean.endswith("`") else ""
    return f"{fence}{edge}{clean}{edge}{fence}"


def study_note(
    spec: StudySpec, recommendation: Recommendation | None, finished: int, better: BetterPolicy | None = None
) -> str:
    """State the recommendation of a study, or the progress of an unfinished one."""
    problem = f"{code(spec.policy)} in {code(spec.scenario)}, T = {spec.horizon:,}, K = {spec.arms}"
    if recommendation is None:
        return f"# No recommendation yet\n\n{problem}\n\n{finished:,} of {spec.trials:,} trials are finished.\n"
    verdict, *lines = describe_recommendation(recommendation, better)
    return _note(verdict.removesuffix("."), problem + _settings(recommendation.settings), lines)


def grid_note(grid: Grid) -> str:
    """Describe the best cell of a grid and the cells indistinguishable from it, with a table if there are few cells."""
    spec = grid.spec
    i, j = grid.best
    close = int(grid.indistinguishable.sum())
    rows, columns = grid.indistinguishable.nonzero()
    lines = [
        f"# Best cell: α₀ = {format_number(spec.alpha0[i])}, β₀ = {format_number(spec.beta0[j])}",
        "",
        f"{code('raven-ucb')} in {code(spec.scenario)}, T = {spec.horizon:,}, K = {spec.arms}, ε ="
        f" {format_number(spec.epsilon)},"
        f" R = {spec.replications:,} worlds, the same for all {grid.mean.size:,} cells" + _settings(spec.settings),
        "",
        f"- Mean regret {format_number(float(grid.mean[i, j]))} ± {format_number(float(grid.stderr[i, j]))} (standard"
        " error).",
    ]
    if close > 1:
        lines.append(
            f"- {close} of {grid.mean.size:,} cells are statistically indistinguishable from the best (paired tests,"
            " corrected):"
            f" α₀ {format_range(spec.alpha0[i] for i in rows)}, β₀ {format_range(spec.beta0[j] for j in columns)}."
        )
    else:
        lines.append(f"- All other {grid.mean.size - 1} cells are significantly worse (paired tests, corrected).")
    lines += [
        "- The regret of the best cell is optimistically biased (selection bias); ravenlab tune validates on held-out"
        " worlds.",
        "",
    ]
    if grid.mean.size <= MAX_TABLE_CELLS:
        lines += _table(grid)
    return "\n".join(lines)


def robust_note(result: RobustRecommendation) -> str:
    """State a robust recommendation and its price."""
    problem = f"{code(result.policy)} in {code(result.scenario)}, T = {result.horizon:,}, K = {result.arms}"
    first, *rest = describe_robust(result)
    return _note(first, problem + _settings(result.settings), rest)


def comparison_note(result: ComparisonResult) -> str:
    """State which policy is best, and which are indistinguishable from it, with a table."""
    spec, board = result.comparison.spec, result.main
    first, *rest = describe_result(result)
    search = describe_search(result)
    problem = f"{code(spec.scenario)}, T = {spec.horizon:,}, K = {spec.arms}" + _settings(spec.settings)
    marks = describe_marks([result])
    note = _note(
        f"{board.best.policy} has the lowest regret", problem, [first, *rest, *([] if search is None else [search])]
    )
    gap = "&emsp;| "
    lines = [f"| policy{gap}mean regret (95 % CI){gap}parameters |", "| --- | --- | --- |"]
    for each in board.standings:
        regret = format_interval(each.regret)
        name = f"{code(each.policy)} {mark_standing(each)}".strip()
        lines.append(f"| {name}{gap}{escape(regret)}{gap}{escape(format_params(each.entry.shown_params()))} |")
    return "\n".join([note, *lines, "", escape(marks), ""])


def _note(title: str, problem: str, lines: Sequence[str]) -> str:
    """Compose a note of a title, the problem (as Markdown) and a list of sentences."""
    return "\n".join([f"# {escape(title)}", "", problem, "", *(f"- {escape(line)}" for line in lines), ""])


def _table(grid: Grid) -> list[str]:
    """Make the table of means with standard errors; cells indistinguishable from the best are bold."""
    gap = "&emsp;| "  # the dashboard puts no space between cells
    lines = [
        f"| α₀ ↓ β₀ →{gap}" + gap.join(format_number(value) for value in grid.spec.beta0) + " |",
        "| --- |" + " --- |" * len(grid.spec.beta0),
    ]
    for i, value in enumerate(grid.spec.alpha0):
        cells = []
        for j in range(len(grid.spec.beta0)):
            cell = f"{format_number(float(grid.mean[i, j]))} ± {format_number(float(grid.stderr[i, j]))}"
            cells.append(f"**{cell}**" if grid.indistinguishable[i, j] else cell)
        lines.append(f"| **{format_number(value)}**{gap}" + gap.join(cells) + " |")
    return [*lines, "", "Mean regret ± standard error; bold: statistically indistinguishable from the best.", ""]


def _settings(settings: dict[str, int | float | str]) -> str:
    return f", {escape(format_settings(settings))}" if settings else ""
