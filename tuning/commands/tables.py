"""Tables that more than one command prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studies.recommendation import Recommendation

SYMBOLS = {"alpha0": "α₀", "beta0": "β₀", "epsilon": "ε"}


def recommendation_table(found: list[Recommendation]) -> None:
    """What to use where, with the interval, and what the paper's advice and the defaults cost more."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title="Recommended parameters", caption="Regret on fresh worlds, with its 95 % interval.")
    for column in ("study", "use", "regret", "instead of the paper's", "instead of the defaults"):
        table.add_column(column, overflow="fold", justify="right" if column == "regret" else "left")
    for one in found:
        use = ", ".join(f"{SYMBOLS.get(name, name)} {_short(value)}" for name, value in one.params.items())
        versus = {rival.name: rival for rival in one.versus}
        table.add_row(
            escape(one.study),
            escape(use),
            f"{one.regret.mean:.1f} ({one.regret.low:.1f} to {one.regret.high:.1f})",
            *(
                _cost(versus[name].difference, versus[name].low, versus[name].high) if name in versus else "–"
                for name in ("paper", "defaults")
            ),
        )
    Console().print(table)


def _short(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def _cost(difference: float, low: float, high: float) -> str:
    """What others cost more, and whether that can be told from nothing."""
    if low <= 0.0 <= high:
        return f"{difference:+.1f} (within noise)"
    return f"{difference:+.1f} ({low:.1f} to {high:.1f})"
