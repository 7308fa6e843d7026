"""`ravenlab recommend`: parameters for a scenario, a file or a described problem."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ravenlab.common.errors import InputError
from ravenlab.common.terminal import print_line
from ravenlab.studies.export import FORMATS, export
from ravenlab.studies.registry import StudyDefaults
from ravenlab.tuning.cli import completion
from ravenlab.tuning.cli.arguments import drop_unset, scenario_settings
from ravenlab.tuning.cli.options import (
    PROBLEM,
    AllOption,
    ArmsOption,
    JobsOption,
    JsonOption,
    MinimizeOption,
    NoiseOption,
    QuietOption,
    SettingOption,
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
DESCRIPTION = "Description in plain quantities"


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
    horizon: Annotated[
        int | None, integer_option("--horizon", "T", "Number of steps that the policy will be used for.")
    ] = None,
    policy: Annotated[
        str, option("--policy", "Policy to recommend parameters for.", complete=completion.policies)
    ] = StudyDefaults.policy,
    arms: ArmsOption = None,
    noise: NoiseOption = None,
    setting: SettingOption = None,
    difference: Annotated[
        str | None,
        option(
            "--difference",
            "Typical difference between the means of two arms, such as 3 or 1%.",
            DESCRIPTION,
            metavar="D",
        ),
    ] = None,
    sd: Annotated[
        float | None,
        option("--sd", "Standard deviation of the rewards around the mean of their arm.", DESCRIPTION, metavar="S"),
    ] = None,
    rate: Annotated[
        str | None,
        option("--rate", "Typical rate of rewards that are 0 or 1, such as 3% or 0.03.", DESCRIPTION, metavar="P"),
    ] = None,
    changes: Annotated[
        int | None, integer_option("--changes", "N", "Number of changes within the horizon.", DESCRIPTION)
    ] = None,
    minimize: MinimizeOption = False,
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
    from ravenlab.tuning.advice import Question, answer_question
    from ravenlab.tuning.files import atomic_write, check_file_writable

    if output is not None:
        if form is None:
            raise InputError("--output requires --format.")
        check_file_writable(output)
    quantities = drop_unset(
        {
            "difference": _parse_quantity("difference", difference),
            "sd": sd,
            "rate": _parse_quantity("rate", rate),
            "changes": changes,
        }
    )
    settings = scenario_settings(setting, noise)
    question = Question(about, horizon, policy, arms, settings, quantities, minimize)
    result = answer_question(
        question, storage, lambda note: _open_progress(note, quiet), internal=show_all, search=not no_search, jobs=jobs
    )
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
        with atomic_write(output) as file:
            file.write(text)
        print_line(f"Wrote {output}.")


def _parse_quantity(field: str, text: str | None) -> float | None:
    """Return a number that may be written as a percentage."""
    if text is None:
        return None
    try:
        return float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        raise InputError(f"{field} must be a number such as 0.03 or 3% but got {text!r}.", field=field) from None


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
        for line in result.describe():
            print_line(line)
        if result.law is None:
            return
        print_line("To confirm this with a study, run:")
        typer.echo(f"  {command}")
        return
    from ravenlab.studies.results.baselines import describe_baseline
    from ravenlab.studies.results.documents import recommendation_document

    document = recommendation_document(result.study, result.better)
    for line in (document.answer, *document.facts):
        print_line(line)
    compared = sorted(result.study.alternative_comparisons, key=lambda each: each.difference.mean)
    for alternative in compared[:MAX_ALTERNATIVES]:
        print_line(describe_baseline(alternative))
    if result.kind == "stored":
        print_line(f"From the stored study of this problem, {result.study.study}. {result.reason}".rstrip())
        return
    because = f", because {result.reason}" if result.reason else ""
    print_line(f"From a search of {result.study.trials} candidates{because}.")
    print_line("For a longer search with all details, which is stored, run:")
    typer.echo(f"  {command}")
