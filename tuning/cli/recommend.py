"""`ravenlab recommend`: parameters for a scenario, a file or a described problem."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ravenlab.common.documents import Document
from ravenlab.common.errors import InputError
from ravenlab.common.terminal import print_document, print_line
from ravenlab.studies.export import FORMATS, export
from ravenlab.studies.registry import StudyDefaults
from ravenlab.studies.spec.descriptions import QUANTITIES
from ravenlab.tuning.cli import completion
from ravenlab.tuning.cli.fields import QUESTION_FIELDS, takes_fields
from ravenlab.tuning.cli.options import (
    PROBLEM,
    AllOption,
    JobsOption,
    JsonOption,
    QuietOption,
    StorageOption,
    argument,
    choice_option,
    integer_option,
    option,
)
from ravenlab.tuning.cli.output import print_exact, print_json, print_message

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ravenlab.studies.laws.recommendation import RecommendedParameters
    from ravenlab.tuning.listener import Listener

MAX_ALTERNATIVES = 3  # that are printed


@takes_fields(QUESTION_FIELDS, QUANTITIES)
def recommend(
    about: Annotated[
        str | None,
        argument(
            "SCENARIO|FILE",
            "A scenario (ravenlab list scenarios), or a trace or log in a .csv or .parquet file.",
            PROBLEM,
            complete=completion.scenarios,
        ),
    ] = None,
    policy: Annotated[
        str, option("--policy", "Policy to recommend parameters for.", complete=completion.policies)
    ] = StudyDefaults.policy,
    horizon: Annotated[
        int | None, integer_option("--horizon", "T", "Number of steps that the policy will be used for.")
    ] = None,
    form: Annotated[str | None, choice_option("--format", "Format", FORMATS)] = None,
    output: Annotated[
        Path | None, option("--output", "Output file of --format. [default: stdout]", short="-o", metavar="FILE")
    ] = None,
    no_search: Annotated[
        bool, option("--no-search", "Do not search; a problem outside the range of the law is rejected.")
    ] = False,
    jobs: JobsOption = None,
    show_all: AllOption = False,
    storage: StorageOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
    **fields: Any,
) -> None:
    """Recommend parameters for a scenario, a file or a description.

    For a scenario, uses the stored study of this problem with the lowest regret. If there is none, evaluates the
    parameter law, a formula fitted to many studies; this needs no search and no storage. If the law expects less regret
    than a stored study has, both are compared on the same worlds. Everything else is answered by a search of seconds
    that is not stored: a problem outside the range of the law, such as one with rewards of 0 and 1; a description in
    plain quantities; a file of recorded rewards, which is also diagnosed. States what was understood, which parameters
    to use, the expected regret with its interval, and the next command.

    Examples:
        # from the law, at once
        ravenlab recommend localized-jump --horizon 30000 --arms 20
        # eight arms whose means differ by about 3 minutes, which vary by 6, with 10 changes
        ravenlab recommend --arms 8 --horizon 20000 --difference 3 --sd 6 --changes 10
        # clicks with rates of about 3 % that do not change
        ravenlab recommend stationary --arms 6 --horizon 100000 --difference 1% --rate 3%
        # a file of costs
        ravenlab recommend costs.csv --minimize
        # a file that RavenUCB.load reads
        ravenlab recommend variance-drift --horizon 3000 --format json -o recommended.json
    """
    from ravenlab.environments.recorded.log_file import parse_columns
    from ravenlab.tuning.advice import Question, answer_question
    from ravenlab.tuning.files import check_file_writable, write_text

    if output is not None:
        if form is None:
            raise InputError("--output requires --format.")
        check_file_writable(output)
    if "columns" in fields:
        fields["columns"] = parse_columns(fields["columns"])
    quantities = {name: fields.pop(name) for name in QUANTITIES if name in fields}
    question = Question(about, horizon, policy, quantities=quantities, **fields)
    result = answer_question(
        question, storage, lambda note: _open_progress(note, quiet), internal=show_all, search=not no_search, jobs=jobs
    )
    if result.study is not None and result.study.kept is not None:
        question = replace(question, keep_state=True)
    if as_json:
        command = question.next_command(storage) if result.kind not in ("stored", "nothing to set") else None
        print_json({**result.as_object(), "command": command})
    elif form is None:
        _print_result(result, question.next_command(storage))
    else:
        text = export([result.as_recommendation()], form)
        if output is None:
            print_exact(text)
            return
        write_text(output, text)
        print_line(f"Wrote {output}.")


def _open_progress(note: str, quiet: bool) -> AbstractContextManager[Listener | None]:
    """State why there is a search and how long it takes, and open what shows its progress."""
    from ravenlab.tuning.progress import Reporter

    if not quiet:
        print_message(note)
    return Reporter(quiet)


def _print_result(result: RecommendedParameters, command: str) -> None:
    if result.understood:
        print_line(f"Understood: {result.understood}")
    if result.study is None:
        answer, *facts = result.describe() or [""]
        print_document(Document(answer, facts=facts))
        if result.law is None:
            return
        print_line("To confirm this with a study, run:")
        typer.echo(f"  {command}")
        return
    from ravenlab.studies.results.baselines import describe_baseline
    from ravenlab.studies.results.documents import recommendation_document
    from ravenlab.studies.results.recommendation import FIXED_ARM, LOGGING_POLICY

    document = recommendation_document(result.study, result.better)
    print_document(replace(document, label="", problem="", tables=()), short=True)
    compared = sorted(result.study.alternative_comparisons, key=lambda each: each.difference.mean)
    references = [each for each in compared if each.name in (FIXED_ARM, LOGGING_POLICY)]
    policies = [each for each in compared if each not in references]
    for sentence in map(describe_baseline, [*references, *policies[:MAX_ALTERNATIVES]]):
        if sentence not in document.facts:
            print_line(sentence)
    if result.kind == "stored":
        print_line(f"From the stored study of this problem, {result.study.study}. {result.reason}".rstrip())
        return
    because = f", because {result.reason}" if result.reason else ""
    print_line(f"From a search of {result.study.trials} candidates{because}.")
    if result.study.recorded is not None and result.study.verdict.decision == "inconclusive":
        print_line("More data would decide this; a longer search would not.")
    print_line("For a longer search with all details, which is stored, run:")
    typer.echo(f"  {command}")
