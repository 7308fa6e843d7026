"""Texts of the reproduction: templates over tables give plain text, which the page escapes."""

import re
from collections.abc import Iterator
from typing import Any

import jinja2
import pytest

from ravenlab.common.interval import Interval
from ravenlab.dashboards.pages.reproduction import ReproductionSection, render_reproduction
from ravenlab.studies.paper.claims import Claim, ClaimResult, ClaimVerdict
from ravenlab.studies.paper.criteria import JUDGES, read_rules
from ravenlab.studies.paper.results import ExperimentResult, ReproductionResult
from ravenlab.tuning.reproduction import EXPERIMENTS, find_experiment
from ravenlab.tuning.reproduction.texts import judge, read_texts, render


def list_strings(value: Any) -> Iterator[str]:
    """Every string of a file of texts."""
    if isinstance(value, str):
        yield value
    else:
        for item in value.values() if isinstance(value, dict) else value:
            yield from list_strings(item) if not isinstance(item, int | float) else ()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_texts_are_plain(name: str) -> None:
    for text in list_strings(read_texts(name)):
        assert not re.search(r"</?[a-z]+>|&[a-z]+;", text), text


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_claim_has_a_rule_and_a_reason(name: str) -> None:
    for claim in find_experiment(name).claims.values():
        assert claim.rule in JUDGES
        assert "{{" in claim.reason


def test_every_rule_is_stated_and_applied() -> None:
    assert set(read_rules()) == set(JUDGES)


def test_line_breaks_are_spaces_and_empty_lines_separate_paragraphs() -> None:
    assert render("a\n  b {{ x }}\n\n{% if not x %}c{% endif %}\n\nd", x=1) == ["a b 1", "d"]


def test_a_name_without_a_value_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        render("{{ regret }}")


def test_a_claim_is_judged_by_its_rule() -> None:
    claim = Claim("k", "Section 1", "It grows.", rule="growth", reason="It changes by {{ ours.mean | number }}.")
    result = judge(claim, "defined", Interval(2.0, 1.0, 3.0))
    assert (result.verdict, result.rule, result.reason) == (ClaimVerdict.CONFIRMED, "growth", "It changes by 2.")
    assert judge(claim, "defined", Interval(2.0, 1.0, 3.0), 0.6, rule="definition").verdict == ClaimVerdict.REFUTED


def test_the_page_escapes_texts() -> None:
    claim = Claim("k", "<i>", "<b>bold</b>")
    verdict = ClaimResult(claim, "defined", None, ClaimVerdict.REFUTED, "growth", "<script>alert(1)</script>")
    result = ReproductionResult(0, 2, ("defined",), {"figure1": ExperimentResult({}, {}, [verdict])})
    section = ReproductionSection("<u>", ["<s>claims"], ["<s>methods"], ["<s>results"])
    page = render_reproduction(result, {"figure1": section})
    for tag in ("<b>bold", "<script>alert", "<u>", "<s>", "<i>"):
        assert tag not in page
    assert "&lt;script&gt;alert(1)" in page
