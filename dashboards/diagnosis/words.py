"""A diagnosis in sentences and rows, for the page and the terminal."""

from __future__ import annotations

from studies.diagnosis.result import Diagnosis, Finding
from studies.words import p_value

COLUMNS = ("kind", "found", "strength", "p", "halves")


def summary(diagnosis: Diagnosis) -> list[str]:
    """What was found and how sure that is, a sentence an item.

    >>> summary(Diagnosis(("a", "b"), 100, (), reason="100 rows are too few."))
    ['Not decidable: 100 rows are too few.']
    """
    if not diagnosis.decidable:
        return [f"Not decidable: {diagnosis.reason}"]
    if diagnosis.kinds:
        lines = [f"This world shows {' and '.join(diagnosis.kinds)}."]
    else:
        lines = ["This world is stationary: nothing changes that chance does not explain."]
    if diagnosis.halves:
        lines.append(f"{diagnosis.agreeing} of {diagnosis.halves} random halves of the rows say the same.")
    return [*lines, f"Noise around the means: most like {diagnosis.noise}."]


def rows(diagnosis: Diagnosis) -> list[list[str]]:
    """The seven kinds, as `COLUMNS` names them."""
    return [
        [
            each.kind,
            "yes" if each.found else "no",
            each.strength,
            p_value(each.p),
            f"{each.again}/{diagnosis.halves}" if diagnosis.halves else "–",
        ]
        for each in diagnosis.findings
    ]


def which_arms(finding: Finding, total: int) -> str:
    """Names of the arms that show a kind, or how many they are."""
    if not finding.found or not finding.arms:
        return "–"
    if len(finding.arms) == total:
        return "all"
    return ", ".join(finding.arms) if len(finding.arms) <= 6 else f"{len(finding.arms)} of {total}"
