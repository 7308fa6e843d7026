"""Notes attached to studies in the Optuna dashboard: Markdown with Unicode symbols, because it renders no LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from environments.text import format_number, format_range, format_settings
from studies.results.describe import describe_front, describe_recommendation, describe_robust
from studies.results.recommendation import Recommendation
from studies.results.robust import Front, RobustRecommendation
from studies.spec.study import StudySpec
from studies.symbols import format_symbol

if TYPE_CHECKING:
    from studies.results.grid import Grid


PUNCTUATION = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&])")
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
TABLE_CELLS = 64
"""A grid with more cells gets no table: the heat map shows it better."""


def escape(text: str) -> str:
    r"""Text that Markdown shows as it is, on one line.

    >>> escape("a*b\n<c>")
    'a\\*b \\<c\\>'
    """
    return PUNCTUATION.sub(r"\\\1", UNSEEN.sub(" ", text))


def code(text: str) -> str:
    r"""A name as code: nothing in it is read as Markdown, as a link or as HTML.

    >>> code("a`b")
    '``a`b``'
    """
    clean = UNSEEN.sub(" ", text) or " "
    fence = "`" * (max((len(run) for run in re.findall("`+", clean)), default=0) + 1)
    edge = " " if clean.startswith("`") or clean.endswith("`") else ""
    return f"{fence}{edge}{clean}{edge}{fence}"


def study_note(spec: StudySpec, found: Recommendation | None, landed: int) -> str:
    """The recommendation of a tuned study, or that there is none yet."""
    here = spec.resolved()
    where = f"{code(here.policy)} in {code(here.scenario)}, T = {here.horizon:,}, K = {here.arms}"
    if found is None:
        return f"# No recommendation yet\n\n{where}\n\n{landed:,} of {here.trials:,} trials are finished.\n"
    use = (
        ", ".join(f"{format_symbol(name)} = {format_number(value)}" for name, value in found.params.items())
        or "no parameters"
    )
    return _note(f"Use {use}", where + _settings(found.settings), describe_recommendation(found)[1:])


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
    if grid.mean.size <= TABLE_CELLS:
        lines += _table(grid)
    return "\n".join(lines)


def worlds_note(found: RobustRecommendation | Front) -> str:
    """One setting for several scenarios and its price, or what stayed on their front."""
    where = f"{code(found.policy)} in {code(found.scenario)}, T = {found.horizon:,}, K = {found.arms}"
    if isinstance(found, Front):
        first, *rest = ["Pareto front", *describe_front(found)]
    else:
        first, *rest = describe_robust(found)
    return _note(first, where + _settings(found.settings), rest)


def _note(title: str, where: str, lines: Sequence[str]) -> str:
    """A title, what was played where (as Markdown), and a list of sentences."""
    return "\n".join([f"# {escape(title)}", "", where, "", *(f"- {escape(line)}" for line in lines), ""])


def _table(grid: Grid) -> list[str]:
    """Means with standard errors, α₀ down and β₀ across; bold where a cell is indistinguishable from the best."""
    gap = "&emsp;| "  # the dashboard sets cells without a space between them
    lines = [
        f"| α₀ ↓ β₀ →{gap}" + gap.join(format_number(value) for value in grid.spec.beta0) + " |",
        "| --- |" + " --- |" * len(grid.spec.beta0),
    ]
    for i, value in enumerate(grid.spec.alpha0):
        cells = []
        for j in range(len(grid.spec.beta0)):
            cell = f"{format_number(float(grid.mean[i, j]))} ± {float(grid.stderr[i, j]):.2g}"
            cells.append(f"**{cell}**" if grid.indistinguishable[i, j] else cell)
        lines.append(f"| **{format_number(value)}**{gap}" + gap.join(cells) + " |")
    return [*lines, "", "Mean regret ± standard error; bold: statistically indistinguishable from the best.", ""]


def _settings(settings: dict[str, int | float | str]) -> str:
    return f", {escape(format_settings(settings))}" if settings else ""
