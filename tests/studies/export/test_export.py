"""Exports: reproducible bytes, readable by other parsers, and names escaped in markup and code."""

import csv
import html
import io
import json
import re
import runpy
import tomllib
from pathlib import Path

import jsonschema
import pytest
import yaml

from ravenlab.common.latex import escape as latex
from ravenlab.common.markdown import escape as markdown
from ravenlab.environments import InputError
from ravenlab.policies.engine.base import Policy
from ravenlab.studies.export import FORMATS, export
from ravenlab.studies.export.formats import SCHEMA_FILE, RecommendationsDocument, json_schema
from ravenlab.studies.results.recommendation import Baseline, Recommendation
from ravenlab.studies.results.verdict import Verdict
from ravenlab.studies.tables import make_table, to_csv, to_csv_cell
from tests.messages import assert_names, raises_naming
from tests.project import python
from tests.studies.examples import LINES, WILD, make_map, make_recommendation, make_trace_facts

NAMES = ["=1", "0", "nörth\n"]
RECOMMENDATIONS = [
    make_recommendation(
        importance={"alpha0": 0.7, "beta0": 0.2, "epsilon": 0.1}, settings={"growth": 0.5, "noise": "laplace"}
    ),
    make_recommendation(study=WILD, policy="thompson", params={"kappa0": 0.5, "b0": 2e-05, "likelihood": "gaussian"}),
    make_recommendation(policy="ucb-imp", params={"a": 0.125}, versus=[], edge=[], box={}, indistinguishable=[]),
    make_recommendation(study=LINES),
    make_recommendation(study="=1+2, \r quoted", policy="sw-ucb", params={"xi": 1.0, "tau": 50.0}),
    make_recommendation(scenario="arm-churn+blips", study="churn"),
    make_recommendation(scenario="trace:a.csv", study="trace", arms=3, trace=make_trace_facts(NAMES, minimize=True)),
    make_recommendation(scenario="trace:b.csv", study="rewards", arms=3, trace=make_trace_facts(NAMES)),
]


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_exports_are_reproducible_and_end_with_a_newline(form: str) -> None:
    read_back = [Recommendation.model_validate(json.loads(json.dumps(each.as_object()))) for each in RECOMMENDATIONS]
    text = export(RECOMMENDATIONS, form)
    assert text == export(read_back, form)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert export([], form)
    text.encode("utf-8")


def test_json_is_valid_against_its_schema() -> None:
    document = json.loads(export(RECOMMENDATIONS, "json"))
    assert list(document) == ["schema", "recommendations"]
    assert document["schema"] == 2
    for entry, recommendation in zip(document["recommendations"], RECOMMENDATIONS, strict=True):
        assert recommendation.as_object().items() <= entry.items()
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    read = RecommendationsDocument.model_validate(document)
    assert [each.names for each in read.recommendations] == [None] * (len(RECOMMENDATIONS) - 2) + [NAMES, NAMES]
    for broken in ({**document, "schema": 1}, {**document, "more": 1}, {"schema": 2}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema, jsonschema.Draft202012Validator)


def test_rows_of_a_sensitivity_map_are_lines_of_json() -> None:
    recommendation = make_recommendation()
    grid = make_map(recommendation)
    text = export([recommendation.model_copy(update={"sensitivity": grid})], "json")
    exported = json.loads(text)["recommendations"][0]["sensitivity"]
    assert exported == grid.as_object()
    assert json.dumps(exported["mean"][0]) in text
    assert json.dumps(exported["tied"][0]) in text
    jsonschema.validate(json.loads(text), json.loads(json_schema()))


def test_the_shipped_schema_is_current() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == json_schema(), "run python -m ravenlab.studies.export.formats"


def test_toml_and_yaml_equal_json() -> None:
    document = json.loads(export(RECOMMENDATIONS, "json"))
    assert yaml.safe_load(export(RECOMMENDATIONS, "yaml")) == document
    for each in document["recommendations"]:
        if each["importance"] is None:
            del each["importance"]
    assert tomllib.loads(export(RECOMMENDATIONS, "toml")) == document


def test_csv_has_one_row_per_recommendation() -> None:
    rows = list(csv.DictReader(io.StringIO(export(RECOMMENDATIONS, "csv"), newline="")))
    assert [row["study"] for row in rows] == [to_csv_cell(each.study) for each in RECOMMENDATIONS]
    assert float(rows[0]["params.alpha0"]) == 0.25
    assert rows[0]["params.kappa0"] == ""
    assert rows[1]["params.b0"] == "2e-05"
    assert json.loads(rows[0]["settings"]) == {"growth": 0.5, "noise": "laplace"}
    assert (rows[0]["regret.mean"], rows[0]["regret.low"], rows[0]["regret.replications"]) == ("41.5", "40.25", "2000")
    assert (rows[0]["paper.difference"], rows[0]["defaults.low"]) == ("18.5", "-2.0")
    assert (rows[2]["paper.difference"], rows[2]["edge"], rows[0]["edge"]) == ("", "", "epsilon")
    assert rows[0]["importance.alpha0"] == "0.7"
    assert None not in rows[0]


def test_csv_contains_no_formulas_and_no_control_codes() -> None:
    text = export(RECOMMENDATIONS, "csv")
    assert "\x1b" not in text
    names = [row["study"] for row in csv.DictReader(io.StringIO(text, newline=""))]
    assert names[3:5] == [f"{WILD[:99]}\n\\x1b[31m", "'=1+2, \r quoted"]
    cells = ["=1", "+cmd", "-x", "@SUM(A1)", " =1", "-1.5", "+2", "a=1", "−1"]
    written = to_csv(make_table([{"text": cell, "number": -1.5} for cell in cells])).splitlines()[1:]
    assert written == [f"{cell},-1.5" for cell in ("'=1", "'+cmd", "'-x", "'@SUM(A1)", "' =1", *cells[5:])]


def test_names_do_not_break_a_markdown_table() -> None:
    lines = export(RECOMMENDATIONS, "markdown").splitlines()
    assert len(lines) == 2 + len(RECOMMENDATIONS)
    assert len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines}) == 1
    assert "<" not in lines[3]
    for name in (WILD, LINES):
        shown = re.sub(r"\\([^A-Za-z0-9\s])", r"\1", markdown(name))
        assert html.unescape(shown.replace("&#27;", "\x1b")) == name  # HTML does not allow control codes
    assert "α₀ 0.25, β₀ 4, ε 0.0001" in lines[2]


def test_names_do_not_break_a_latex_table() -> None:
    text = export(RECOMMENDATIONS, "latex")
    rows = text.split("\\midrule\n")[1].split("\\bottomrule")[0].strip().splitlines()
    assert len(rows) == len(RECOMMENDATIONS)
    for row in rows:
        assert row.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", row)) == 8
    assert latex("a_b & 5% #1 {x} ~ ^ \\ $") == (
        r"a\_b \& 5\% \#1 \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{} \$"
    )
    assert latex("--") == "{-}{-}"
    assert r"\texttt{U+1F985}" in latex(WILD)
    assert "\n" not in latex(LINES)
    assert r"$\alpha_0$ = $0.25$" in text


def test_the_python_snippet_runs(tmp_path: Path) -> None:
    simulation_only = make_recommendation(policy="published-thompson", params={})
    path = tmp_path / "snippet.py"
    plugin = make_recommendation(policy="their\n.py:Policy~12345678", params={"c\nprint(1)": 2.0})
    path.write_text(export([*RECOMMENDATIONS, simulation_only, plugin], "python"), encoding="utf-8")
    done = python(path, folder=tmp_path, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(RECOMMENDATIONS)
    assert "pulled arm 0" in done.stdout
    assert "'trace': pulled arm '=1'" in done.stdout
    assert [each.name for each in tmp_path.iterdir()] == ["snippet.py"]


def test_the_python_snippet_has_the_parameters() -> None:
    text = export(RECOMMENDATIONS[:1], "python")
    assert "ravenlab.RavenUCB(" in text
    assert "alpha0=0.25," in text
    compile(text, "snippet", "exec")


@pytest.mark.parametrize("form", ["json", "toml"])
def test_policies_load_from_exports(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"recommended.{form}"
    path.write_text(export(RECOMMENDATIONS, form), encoding="utf-8", newline="")
    assert Policy.load(path, study=WILD).values["b0"] == 2e-05
    assert Policy.load(path, study="=1+2, \r quoted").arms == 10
    churn = Policy.load(path, study="churn")
    assert churn.state()["open"] == [1] * 10 + [0]
    policies: dict[str, Policy] = runpy.run_path(str(write_snippet(tmp_path)))["policies"]
    assert policies["churn"].state()["open"] == [1] * 10 + [0]
    for study, minimize in (("trace", True), ("rewards", False)):
        for policy in (Policy.load(path, study=study), policies[study]):
            assert policy.names == tuple(NAMES)
            assert policy.minimize == minimize


def write_snippet(folder: Path) -> Path:
    path = folder / "snippet.py"
    path.write_text(export(RECOMMENDATIONS, "python"), encoding="utf-8")
    return path


def test_tables_state_costs_names_and_arms_that_open_later() -> None:
    rows = list(csv.DictReader(io.StringIO(export(RECOMMENDATIONS[-3:], "csv"), newline="")))
    assert [(row["feedback"], row["arms"], row["extra_arms"]) for row in rows] == [
        ("rewards", "10", "1"),
        ("costs", "3", "0"),
        ("rewards", "3", "0"),
    ]
    assert rows[0]["names"] == ""
    assert json.loads(rows[1]["names"]) == NAMES
    for form, arms in (("markdown", "| 10 + 1 |"), ("latex", "& $10 + 1$ &")):
        lines = export(RECOMMENDATIONS[-3:], form).splitlines()
        assert sum("(costs, reward scale 2)" in line for line in lines) == 1
        assert sum(arms in line for line in lines) == 1


ONE_ARM = make_recommendation(
    study="one arm",
    scenario="trace:a.csv",
    verdict=Verdict(decision="use one arm", set=["alpha0"], arm="b\nc"),
    trace=make_trace_facts(["a", "b\nc"]),
    versus=[
        Baseline(name=name, params={}, regret=50.0, difference=8.5, low=8.0, high=9.0, decidable=name != "defaults")
        for name in ("paper", "as constructed", "defaults")
    ],
)


def test_tables_state_verdict_edge_scale_and_all_baselines() -> None:
    header, _, usual, one_arm = export([make_recommendation(), ONE_ARM], "markdown").splitlines()
    assert header.endswith("| Paper's advice | As constructed | Defaults or scaled defaults |")
    assert "| Use these values; at the edge of the search range: ε |" in usual
    assert "scale" not in usual
    assert r"| Always use 'b\\nc'; at the edge of the search range: ε |" in one_arm
    assert_names(one_arm, "(reward scale 2)", "per window of 1,000 steps")
    assert export([ONE_ARM], "markdown").splitlines()[0].endswith("| As constructed | Scaled defaults |")
    assert "As constructed" not in export([make_recommendation()], "markdown")
    only = make_recommendation(verdict=Verdict(decision="set one parameter", set=["alpha0"]))
    text = export([only, ONE_ARM], "latex")
    assert r"Set only $\alpha_0$ 0.25; at the edge of the search range: $\epsilon$ &" in text
    assert_names(text, "Always use", "(reward scale 2)", "per window of 1,000 steps")


def test_csv_states_the_scale_and_whether_the_defaults_are_decidable() -> None:
    decidable = ONE_ARM.model_copy(
        update={"versus": [each.model_copy(update={"decidable": True, "low": -1.0}) for each in ONE_ARM.versus]}
    )
    text = export([make_recommendation(unit=8.0), ONE_ARM, decidable], "csv")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["unit"] for row in rows] == ["8.0", "2.0", "2.0"]
    # The defaults alone count, and a difference that is decidable need not be significant.
    assert [row["trace.defaults_decidable"] for row in rows] == ["", "False", "True"]


def test_code_states_the_verdict_before_the_policy() -> None:
    lines = export([ONE_ARM], "python").splitlines()
    start = r"    # Verdict: Always use 'b\nc'. It has less regret"
    (place,) = [i for i, line in enumerate(lines) if line.startswith(start)]
    assert "at the edge of the search range" in lines[place]
    assert "immediate rewards" in lines[place + 1]
    assert lines[place + 2] == "    'one arm': ravenlab.RavenUCB("


def test_unknown_formats_are_rejected() -> None:
    with raises_naming(InputError, "'jsn'", "'json'"):
        export(RECOMMENDATIONS, "jsn")
