"""`ravenlab compare`: compare policies in the same worlds, with default and with tuned parameters."""

from pathlib import Path
from typing import Annotated, Any

from ravenlab.common.terminal import print_document, print_line
from ravenlab.studies.registry import ComparisonDefaults
from ravenlab.studies.spec.descriptions import COMPARISON
from ravenlab.tuning.cli import arguments, completion, options
from ravenlab.tuning.cli.fields import COMPARISON_FIELDS, drop_unset, takes_fields
from ravenlab.tuning.cli.options import option
from ravenlab.tuning.cli.output import print_exact
from ravenlab.tuning.workers.local import DEFAULT_BACKEND


@takes_fields(COMPARISON_FIELDS, COMPARISON, ComparisonDefaults)
def compare(
    names: options.ScenariosArgument = None,
    scenarios: Annotated[
        str | None,
        option(
            "--scenarios",
            "More scenarios, separated by commas, or 'all'.",
            options.PROBLEM,
            metavar="all|A,B…",
            complete=completion.scenario_lists,
        ),
    ] = None,
    horizon: options.HorizonsOption = None,
    jobs: options.JobsOption = None,
    backend: options.BackendOption = DEFAULT_BACKEND,
    cluster: options.ClusterOption = None,
    output: options.FolderOption = Path("comparison"),
    name: options.NameOption = None,
    storage: options.StorageOption = None,
    quiet: options.QuietOption = False,
    as_json: options.JsonOption = False,
    **fields: Any,
) -> None:
    """Compare policies, with default and with tuned parameters.

    All policies play the same worlds and get the same search budget. Writes compare.html and the results as JSON, CSV,
    Markdown and LaTeX. Completed entries are saved: rerun the same command to resume.

    Examples:
        # the paper's nine policies in one scenario
        ravenlab compare blips
        # four policies at a longer horizon
        ravenlab compare localized-jump --horizon 10000 --policies raven-ucb,sw-raven,sw-ucb,ucb1 --tune 50
        # all policies in all scenarios, with default parameters
        ravenlab compare --scenarios all --policies all --tune 0
        # untuned policies relative to the best tuned policy, and an oracle that is restarted at true jumps
        ravenlab compare blips periodic --policies raven-ucb,d-raven,raven-auto,oracle-raven-ucb
        # on recorded costs: tuned on the first rows, compared on the last three tenths
        ravenlab compare --trace latency.csv --minimize
    """
    from ravenlab.studies.export.comparison import ComparisonDocument
    from ravenlab.tuning.comparison.run import plan_comparisons
    from ravenlab.tuning.files import check_folder
    from ravenlab.tuning.page_files import write_comparison

    fields |= drop_unset({"name": name})
    arguments.set_recorded(fields, bool(names or scenarios), horizon is not None)
    more = [] if scenarios is None else [word.strip() for word in scenarios.split(",")]
    plan = plan_comparisons([*(names or []), *more], horizon or [None], fields.pop("policies", None), fields)
    arguments.print_warnings(plan)
    pool = arguments.choose_workers(jobs, backend, cluster)
    check_folder(output)
    document = ComparisonDocument(run.result for run in arguments.run(plan, pool, storage, quiet))
    written = write_comparison(document, output)
    if as_json:
        print_exact(document.as_json())
        return
    for part in document.to_documents():
        print_document(part)
    formats = ", ".join(path.suffix for path in written[1:])
    print_line(f"Wrote {written[0]}, and {formats} files beside it.")
