"""`ravenlab compare`: the fair fight between policies; rerun it to go on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tuning.commands.crews import BackendOption, ClusterOption, JobsOption, hire

NAMES = {
    **{field: f"--{field}" for field in ("horizon", "arms", "policies", "tune", "replications", "seed", "name")},
    "search_replications": "--search-replications",
    "settings": "--set",
}
"""How fields of a comparison are called on the command line."""


def compare(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="SCENARIO…", help="Names, or effects joined by '+'.", show_default=False),
    ] = None,
    scenarios: Annotated[
        str | None, typer.Option(metavar="all|A,B…", help="More scenarios; all stands for all of them.")
    ] = None,
    horizon: Annotated[
        str | None, typer.Option(metavar="T[,T…]", help="Steps; several make several comparisons.")
    ] = None,
    policies: Annotated[str, typer.Option(metavar="A,B…|paper|all", help="Who is compared.")] = "paper",
    tune: Annotated[
        str | None, typer.Option(metavar="N", help="Trials of each policy's search; 0: defaults only. [default: 50]")
    ] = None,
    replications: Annotated[
        str | None, typer.Option(metavar="R", help="Fresh worlds, the same for all. [default: 200]")
    ] = None,
    search_replications: Annotated[
        str | None, typer.Option(metavar="S", help="Worlds that each trial of a search plays. [default: 50]")
    ] = None,
    arms: Annotated[str | None, typer.Option(metavar="K", help="Arms. [default: the scenario's]")] = None,
    noise: Annotated[str | None, typer.Option(help="normal, laplace, logistic, uniform, student-t, bernoulli.")] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of the scenario, name=value; may be given again.")
    ] = None,
    seed: Annotated[str | None, typer.Option(metavar="S", help="Names the worlds and searches. [default: 0]")] = None,
    name: Annotated[str | None, typer.Option(help="The study's name; made from its fields if not given.")] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Where the page and the tables are written.")
    ] = Path("comparison"),
    storage: Annotated[
        str | None, typer.Option(metavar="URL", help="Where studies are kept. [default: sqlite:///studies.sqlite3]")
    ] = None,
    jobs: JobsOption = None,
    backend: BackendOption = "threads",
    cluster: ClusterOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print compare.json instead of tables.")] = False,
) -> None:
    """Compare policies at their defaults and tuned by equal searches, all in the same fresh worlds.

    Writes compare.html, and the numbers as JSON, CSV, Markdown and LaTeX. A rerun of the same command goes on where it
    stopped.

    Example: `ravenlab compare localized-jump --horizon 10000 --policies raven-ucb,sw-raven,sw-ucb,ucb1 --tune 50`
    """
    from studies.urls import storage_url
    from tuning.commands.comparison_files import print_results, write_comparison
    from tuning.commands.comparison_progress import ComparisonReporter
    from tuning.commands.tables import say
    from tuning.commands.words import parse_assignments, whole_number, whole_numbers
    from tuning.comparison.asking import compare_all, specs_of
    from tuning.files import check_folder

    whole = {
        "tune": tune,
        "replications": replications,
        "search_replications": search_replications,
        "arms": arms,
        "seed": seed,
    }
    fields: dict[str, Any] = {key: whole_number(NAMES[key], text) for key, text in whole.items() if text is not None}
    fields["settings"] = parse_assignments("--set", setting or [])
    if noise is not None:
        fields["settings"]["noise"] = noise
    if name is not None:
        fields["name"] = name
    horizons: list[int | None] = [*whole_numbers("--horizon", horizon)] if horizon is not None else [None]
    more = [] if scenarios is None else [word.strip() for word in scenarios.split(",")]
    specs = specs_of([*(names or []), *more], horizons, policies, fields, NAMES)
    crews = hire(jobs, backend, cluster)
    check_folder(output)
    with crews as crew, ComparisonReporter(quiet) as reporter:
        document = compare_all(specs, storage_url(storage), crew, reporter.comparison_listener())
    written = write_comparison(document, output)
    if as_json:
        typer.echo(document.as_json(), nl=False)
        return
    print_results(document.results)
    endings = ", ".join(path.suffix for path in written[1:])
    say(f"{written[0]} is written, with {endings} beside it.")
