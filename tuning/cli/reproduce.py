"""`ravenlab reproduce`: reproduce the figures, tables and claims of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ravenlab.common.text import join_words
from ravenlab.studies.registry import StudyDefaults
from ravenlab.tuning.cli import completion, options
from ravenlab.tuning.cli.arguments import choose_workers
from ravenlab.tuning.cli.options import argument, default, integer_option, option
from ravenlab.tuning.cli.output import print_exact
from ravenlab.tuning.reproduction import ALL, BOTH, EXPERIMENTS, PROTOCOLS
from ravenlab.tuning.workers.local import DEFAULT_BACKEND

if TYPE_CHECKING:
    from ravenlab.studies.paper.results import ReproductionResult


def reproduce(
    names: Annotated[
        list[str] | None,
        argument(
            "NAME",
            f"Experiments: {join_words((*EXPERIMENTS, ALL))}. {default(ALL)}",
            options.PROBLEM,
            completion.words(*EXPERIMENTS, ALL),
        ),
    ] = None,
    protocol: Annotated[
        str,
        option(
            "--protocol",
            "Protocol: published (as in the authors' scripts), defined (as in the paper's text), or both.",
            options.PROBLEM,
            complete=completion.words(*PROTOCOLS, BOTH),
        ),
    ] = BOTH,
    replications: Annotated[
        int | None,
        integer_option(
            "--replications",
            "R",
            "Number of replications of Table 3; those of all other experiments are proportional. [default: 50]",
            options.PROBLEM,
        ),
    ] = None,
    seed: options.SeedOption = None,
    jobs: options.JobsOption = None,
    backend: options.BackendOption = DEFAULT_BACKEND,
    cluster: options.ClusterOption = None,
    output: options.FolderOption = Path("reproduction"),
    quiet: options.QuietOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Reproduce the paper and check each of its claims.

    Writes reproduction.html, reproduction.json and one CSV file per table. Completed pieces are saved: rerun the same
    command to resume.

    Examples:
        # everything, as published and as defined
        ravenlab reproduce
        # two figures, in a separate folder
        ravenlab reproduce figure2 figure3 -o paper
    """
    from ravenlab.tuning.reproduction.progress import ReproductionReporter
    from ravenlab.tuning.reproduction.runner import reproduce_paper

    result, written = reproduce_paper(
        names or [],
        output,
        choose_workers(jobs, backend, cluster),
        ReproductionReporter(quiet),
        protocol=protocol,
        replications=replications,
        seed=StudyDefaults.seed if seed is None else seed,
    )
    if as_json:
        print_exact(result.as_json())
    else:
        _print_verdicts(result, written)


def _print_verdicts(result: ReproductionResult, written: list[Path]) -> None:
    """Print the verdicts, those of large groups as counts, and the files written."""
    from ravenlab.common.documents import Table
    from ravenlab.common.terminal import print_line, print_table
    from ravenlab.dashboards.pages.reproduction import CONCLUSIONS, group_verdicts

    groups = group_verdicts(result)
    rows = []
    for judged in [judged for group in groups if not group.large for judged in group.claims]:
        claim = judged.claim
        for index, row in enumerate(judged.verdicts):
            ours = f"{row.ours} ({row.interval})" if row.interval else row.ours
            text, printed = (claim.text, claim.show(claim.printed)) if index == 0 else ("", "")
            rows.append([text, f"as {row.protocol}", printed, ours, f"{row.verdict.sign} {row.verdict}"])
    if rows:
        columns = ["Claim", "Protocol", "Paper", "Ours (95 % CI)", "Verdict"]
        print_table(Table(columns, rows, "Verdicts", text=columns))
    for group in sorted(groups, key=lambda group: group.title == CONCLUSIONS):  # the conclusions are read last
        if group.large or group.title == CONCLUSIONS:
            print_line(f"{group.title}: {group.summary()}.")
    page = next(path for path in written if path.suffix == ".html")
    tables = sum(path.suffix == ".csv" for path in written)
    print_line(f"Wrote {page}, reproduction.json and {tables} CSV files.")
