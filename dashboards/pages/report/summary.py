"""First screen of the report: one verdict per study, and all recommendations and baselines in one interval plot."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ravenlab.common.text import (
    format_interval,
    format_percent,
)
from ravenlab.dashboards.pages.report.data import StudyData
from ravenlab.dashboards.pages.report.lanes import (
    Axis,
    Lane,
    ValueAxis,
    describe_recorded,
    make_lanes,
    make_recorded_lanes,
)
from ravenlab.studies.results.describe_recommendation import (
    describe_better_policy,
    describe_price,
    describe_unit,
    word_verdict,
)
from ravenlab.studies.results.describe_recorded import warn_inconclusive
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import RobustRecommendation

WIDEST = (0.2, 20.0)  # regret relative to the recommended one; the axis of the interval plot ends here at the latest


@dataclass(frozen=True)
class Piece:
    """Text, or a formatted number with its full value and the field of the recommendation it comes from."""

    text: str
    value: float | str | None = None
    field: str = ""
    detail: str = ""


@dataclass(frozen=True)
class VerdictRow:
    """The verdict of one study. `decision` is its first words, `rest` the reason."""

    study: str
    link: str
    title: str
    kind: str
    """The decision for the style sheet, such as keep-the-defaults."""
    decision: str
    rest: str
    facts: str
    warnings: list[str]
    filters: dict[str, list[str]]
    """Values of the filters under which the study is shown."""
    lanes: list[Lane] = field(default_factory=list)
    axis: ValueAxis | None = None
    """Own axis of a study on recorded data; all other studies share one."""
    result: str = ""
    """The result on recorded data in one sentence."""
    better_policy: str | None = None
    """Another policy that a stored comparison shows to be better, in one sentence."""
    relations: Mapping[str, str] = field(default_factory=dict)
    """Relation of each baseline to the recommended parameters."""
    gain: float | None = None
    """Excess regret of the defaults, by which studies are ordered; None if it is unknown."""

    @property
    def main_lane(self) -> Lane | None:
        """The line of the defaults, which represents the study in a list of many."""
        return next((lane for lane in self.lanes if lane.kind == "defaults"), None)

    @property
    def description(self) -> str:
        """The lines of the interval plot in words."""
        return "; ".join(f"{lane.name}: {lane.detail}" for lane in self.lanes)


def make_verdict_row(study: StudyData, title: str, link: str, filters: dict[str, list[str]]) -> VerdictRow:
    """Summarize a study: what to do, the regret, and the baselines.

    Args:
        study: The study.
        title: Its short title.
        link: The id of its section.
        filters: Values of the filters.
    """
    recommendation = study.recommendation
    if recommendation is None:
        return VerdictRow(study.name, link, title, "no-result", "No recommendation yet", "", study.missing, [], filters)
    verdict = word_verdict(recommendation)
    lanes = make_lanes(recommendation)
    axis = None
    if recommendation.recorded is not None:
        lanes, axis = make_recorded_lanes(recommendation)
    return VerdictRow(
        study=study.name,
        link=link,
        title=title,
        kind=recommendation.verdict.decision.replace(" ", "-"),
        decision=verdict.headline,
        rest=verdict.rest,
        facts=_describe_facts(recommendation),
        warnings=_list_warnings(recommendation),
        filters=filters,
        lanes=lanes,
        axis=axis,
        result="" if axis is None else describe_recorded(recommendation)[0],
        better_policy=None if study.better is None else describe_better_policy(study.better),
        relations={each.name: each.relation for each in recommendation.comparisons},
        gain=_find_gain(recommendation),
    )


def _find_gain(recommendation: Recommendation) -> float | None:
    """Return the gain over the defaults: their excess regret, or on a log the reward that they lose, as a share."""
    scale = abs(recommendation.regret.mean if recommendation.log is None else recommendation.log.score.mean)
    found = [each.difference.mean for each in recommendation.comparisons if each.name == "defaults"]
    return found[0] / scale if found and scale > 0.0 else None


def make_robust_row(result: RobustRecommendation, title: str, link: str, filters: dict[str, list[str]]) -> VerdictRow:
    """Summarize one setting for several scenarios."""
    verdict = word_verdict(result)
    kind = result.verdict.decision.replace(" ", "-")
    facts = " ".join([describe_price(result), *describe_unit(result)])
    return VerdictRow(result.study, link, title, kind, verdict.headline, verdict.rest, facts, [], filters)


def _describe_facts(recommendation: Recommendation) -> str:
    """State the regret on held-out data, or the gain on a log, with its scale."""
    regret = recommendation.regret
    if recommendation.recorded is not None:
        return " ".join([*describe_recorded(recommendation), *describe_unit(recommendation)])
    share = ""
    if recommendation.attainable is not None and recommendation.attainable > 0.0:
        share = f", {format_percent(regret.mean / recommendation.attainable)} of the attainable reward"
    sensitivity = recommendation.sensitivity
    sentences = [
        f"Mean regret {format_interval(regret)}{share}.",
        *describe_unit(recommendation),
        *([] if sensitivity is None else sensitivity.describe()[:1]),
    ]
    return " ".join(sentences)


def _list_warnings(recommendation: Recommendation) -> list[str]:
    lines = [] if recommendation.log is None else warn_inconclusive(recommendation.log)
    if recommendation.objective != "mean":
        lines.append(f"Selected by the objective {recommendation.objective}, not by mean regret.")
    if recommendation.failures is not None and not recommendation.failures.reliable:
        lines.append("The upper end of the interval may be too low, because failures are rare; use more report worlds.")
    return lines


def choose_axis(rows: Iterable[VerdictRow]) -> Axis | None:
    """Choose the axis that simulated studies share in the interval plot; None if there is nothing to draw."""
    ratios = [ratio for row in rows for lane in row.lanes for ratio in lane.ratios or ()]
    if not ratios:
        return None
    low = max(min(ratios), WIDEST[0])
    high = min(max(ratios), WIDEST[1])
    return Axis(min(low / 1.05, 0.95), max(high * 1.05, 1.25))
