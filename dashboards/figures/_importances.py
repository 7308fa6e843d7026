"""Which parameter mattered in a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboards.figures._parts import faded
from dashboards.figures._scales import axis, labelled, numbers
from dashboards.figures._style import BLUE, make, nothing
from dashboards.figures._titles import counts, heading, safe
from studies.recommendation import Recommendation
from studies.symbols import format_symbol

if TYPE_CHECKING:
    import plotly.graph_objects as go


def importances(recommendation: Recommendation) -> go.Figure:
    """The share of each searched parameter in the good trials' being good (PED-ANOVA); none below 20 trials.

    >>> from studies.recommendation import Estimate
    >>> found = Recommendation.model_construct(
    ...     study="mine", policy="raven-ucb", scenario="blips", horizon=1000, arms=10, trials=50,
    ...     regret=Estimate(mean=9.0, low=8.0, high=10.0, replications=200),
    ...     importance={"alpha0": 0.75, "beta0": 0.25},
    ... )
    >>> importances(found).data[0].x
    (25, 75)
    """
    each = recommendation
    where = safe(each.policy), safe(each.scenario), *counts(each.horizon, each.arms, each.regret.replications)
    title = heading("Importance of the parameters", *where, f"{each.trials:,} trials")
    if not each.importance:
        why = "Not known: it takes 20 trials or more."
        return nothing(title, why, f"Importances of the parameters in {each.study} are not known: too few trials.")
    ordered = sorted(each.importance.items(), key=lambda item: item[1])
    shares = [100 * share for _, share in ordered]
    names = [safe(format_symbol(name), 24) for name, _ in ordered]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": numbers(shares),
        "y": list(range(len(names))),
        "text": [f"{share:.0f} %" for share in shares],
        "textposition": "outside",
        "textangle": 0,
        "marker": {"color": faded(BLUE, 0.75), "line": {"color": BLUE, "width": 1}},
        "customdata": names,
        "hovertemplate": (
            f"%{{customdata}}: %{{x:.1f}} % of the importance<br>PED-ANOVA over {each.trials:,} trials<extra></extra>"
        ),
        "cliponaxis": False,
    }
    words = ", ".join(f"{format_symbol(name)} {100 * share:.0f} %" for name, share in reversed(ordered))
    return make(
        [bars],
        title,
        f"Bars of the importance of each parameter of {each.policy} in {each.scenario}, T = {each.horizon:,}: {words}.",
        height=170 + 42 * len(names),
        xaxis=axis("share of importance (%)", range=[0, 112], tickvals=[0, 25, 50, 75, 100]),
        yaxis=labelled(names, showgrid=False),
    )
