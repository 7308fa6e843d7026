"""From what people ask for to the comparisons that answer it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from environments import scenarios
from environments.errors import InputError
from environments.own_scenarios import bring_scenario
from policies import policy_names
from policies.own import bring_policy
from studies.advice import PUBLISHED
from studies.comparison.document import Document
from studies.comparison.spec import PAPER, ComparisonSpec
from studies.reading import comparison_spec_from
from studies.registry import ALL, PAPER_POLICIES
from tuning.comparison.judging import judge
from tuning.comparison.running import ComparisonListener, run_comparison
from tuning.crew import Crew


def chosen_policies(text: str | Sequence[str]) -> tuple[str, ...]:
    """Names with commas between them (./yours.py:Name brings your own), "paper" for the paper's nine, or "all".

    What the paper's authors really ran is there to rebuild its numbers: it is compared only when it is named.

    >>> chosen_policies("ucb1, ccb")
    ('ucb1', 'ccb')
    """
    words = [word.strip() for word in text.split(",")] if isinstance(text, str) else list(text)
    if words == [PAPER_POLICIES]:
        return PAPER
    if words == [ALL]:
        return tuple(name for name in policy_names() if not name.startswith(PUBLISHED))
    return tuple(bring_policy(word) for word in words)


def chosen_scenarios(words: Sequence[str]) -> list[str]:
    """Names of scenarios, each once; "all" stands for all but the published ones.

    >>> chosen_scenarios(["blips", "periodic+blips", "blips"])
    ['blips', 'periodic+blips']
    """
    found: list[str] = []
    for word in words:
        found += (
            [name for name in scenarios() if not name.startswith(PUBLISHED)] if word == ALL else [bring_scenario(word)]
        )
    if not found:
        raise InputError("scenarios must have at least one name, or be all.", field="scenarios")
    return list(dict.fromkeys(found))


def specs_of(
    names: Sequence[str],
    horizons: Sequence[int | None],
    policies: str | Sequence[str],
    fields: Mapping[str, Any],
) -> list[ComparisonSpec]:
    """A comparison for every scenario and horizon, all checked before anything is played."""
    who = chosen_policies(policies)
    asked = [
        comparison_spec_from({"scenario": name, "horizon": steps, "policies": who, **fields})
        for name, steps in product(chosen_scenarios(names), horizons)
    ]
    if fields.get("name") is not None and len(asked) > 1:
        raise InputError(f"name fits one comparison but {len(asked)} were given.", field="name")
    return list({spec.study_name(): spec for spec in asked}.values())


def compare_all(
    specs: Sequence[ComparisonSpec], url: str, crew: Crew, listener: ComparisonListener | None = None
) -> Document:
    """Run one after the other and judge each."""
    return Document(tuple(judge(run_comparison(spec, url, crew, listener)) for spec in specs))
