"""Generated parts of the pages of policies in docs/reference: formulas, references, summaries and parameters."""

import inspect
import math
from collections.abc import Sequence
from itertools import filterfalse

from ravenlab.common.text import format_number
from ravenlab.policies import find_policy, policy_names
from ravenlab.policies.engine.base import Policy
from ravenlab.policies.engine.parameters import Number, Param, ParamContext, Value
from ravenlab.studies.spec.comparison import PAPER_POLICIES
from ravenlab.studies.symbols import format_symbol
from tools.docs.marks import filled, table

NEW_HEADING = "## Further policies"
LAST_HEADING = "## Custom policies"
"""New sections are inserted between these headings."""

HORIZON = 10_000
ARMS = 10
"""Horizon and number of arms at which dependent defaults are evaluated."""


def is_published(name: str) -> bool:
    """Return whether a policy is a variant of the authors' script, which has a page of its own."""
    return name.startswith("published-")


def page_parts(published: bool) -> dict[str, list[str]]:
    """Return the generated parts of the page of the published variants, or of all other policies."""
    names = [name for name in policy_names() if is_published(name) == published]
    return {"overview": overview(names), **{name: part(name) for name in names}}


def overview(names: Sequence[str]) -> list[str]:
    """Return a table of policies."""
    rows = []
    for name in names:
        policy = find_policy(name)
        searched = ", ".join(format_symbol(param.name) for param in policy.parameters if param.low is not None)
        rows.append([f"[`{name}`](#{name})", _kind(policy), meaning(policy), searched or "–"])
    return table(["policy", "kind", "what it does", "searched"], rows)


def part(name: str) -> list[str]:
    """Return the reference and the parameters of a policy."""
    policy = find_policy(name)
    reference = policy.reference.removesuffix("; ours")
    lines = [f"{meaning(policy)} {'Reference' if reference == policy.reference else 'Ours'}: {reference}."]
    values: dict[str, Value] = {}
    rows = []
    for param in policy.parameters:
        context = ParamContext(HORIZON, ARMS, values)
        values[param.name] = param.resolve(None, context)
        row = [f"`{param.name}`", _default(param, values[param.name]), _searched(param), _allowed(param), param.meaning]
        rows.append(row)
    if rows:
        lines += ["", *table(["parameter", "default", "searched", "allowed", "meaning"], rows)]
    return lines


def with_sections(page: str) -> str:
    """Return the page with a section for every policy, and with the formulas of the docstrings where they are marked.

    Sections of new policies are added under a heading of their own; move them to the heading of similar policies.

    >>> with_sections("## Custom policies").splitlines()[:3]
    ['## Further policies', '', '### adr-ucb']
    """
    for name in filterfalse(is_published, policy_names()):
        mark = f"formula of {name}"
        formula = _docstring_formula(find_policy(name))
        if f"<!-- {name} -->" not in page:
            heading = [] if NEW_HEADING in page else [NEW_HEADING, ""]
            marks = [f"<!-- {mark} -->", f"<!-- end of {mark} -->", ""] if formula else []
            section = [*heading, f"### {name}", "", *marks, f"<!-- {name} -->", f"<!-- end of {name} -->", ""]
            page = page.replace(LAST_HEADING, "\n".join([*section, LAST_HEADING]))
        if f"<!-- {mark} -->" in page:
            page = filled(page, mark, ["", formula, ""])
    return page


def _docstring_formula(policy: type[Policy]) -> str:
    return inspect.cleandoc(policy.__doc__ or "").partition("\n\n")[2]


def meaning(policy: type[Policy]) -> str:
    """Return the first paragraph of the docstring of a policy."""
    return " ".join((policy.__doc__ or "").split("\n\n")[0].split())


def _kind(policy: type[Policy]) -> str:
    if policy.name in PAPER_POLICIES:
        return f"the paper's nine, {policy.family}"
    return policy.family


def _default(param: Param, value: Value) -> str:
    if not callable(param.default):
        return f"`{format_number(param.default)}`"
    if param.name == "horizon":
        return "T"
    return f"{_formula(param.default.__doc__ or '')}; {format_number(value)} at T = {HORIZON}, K = {ARMS}"


def _formula(docstring: str) -> str:
    """Return the text of a docstring before its first comma outside of brackets.

    >>> _formula("min(1, sqrt(x)), at most.")
    'min(1, sqrt(x))'
    """
    depth = 0
    for index, character in enumerate(docstring):
        depth += (character == "(") - (character == ")")
        if depth == 0 and character in ",;":
            return docstring[:index]
    return docstring.strip().removesuffix(".")


def _searched(param: Param) -> str:
    if param.low is None or param.high is None:
        return "–"
    prefix = f"1 − {format_symbol(param.name)} in " if param.scale == "one-minus" else ""
    scale = "linear" if param.scale == "linear" else "log"
    return f"{prefix}{_format_bound(param.low)} to {_format_bound(param.high)}, {scale}"


def _format_bound(bound: Number) -> str:
    return "T" if callable(bound) else format_number(bound)


def _allowed(param: Param) -> str:
    if param.choices:
        return ", ".join(f"`{choice}`" for choice in param.choices)
    whole = "whole, " if param.integer else ""
    if math.isinf(param.least) and math.isinf(param.most):
        return f"{whole}any"
    if math.isinf(param.most):
        return f"{whole}≥ {format_number(param.least)}"
    return f"{whole}{format_number(param.least)} to {format_number(param.most)}"
