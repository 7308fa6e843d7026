"""`ravenlab play`: a page that plays how policies learn in one world or on a trace."""

from pathlib import Path
from typing import Annotated, Any

from ravenlab.common.errors import InputError
from ravenlab.common.terminal import print_line
from ravenlab.studies.registry import PlayDefaults
from ravenlab.tuning.cli import arguments, completion, options
from ravenlab.tuning.cli.fields import PLAY_FIELDS, takes_fields
from ravenlab.tuning.cli.options import option
from ravenlab.tuning.cli.output import print_message


@takes_fields(PLAY_FIELDS)
def play(
    scenario: Annotated[
        str | None,
        options.argument(
            "SCENARIO", f"Scenario: {options.SCENARIO_FORMS}", options.PROBLEM, complete=completion.scenarios
        ),
    ] = None,
    policies: Annotated[
        str,
        option(
            "--policies",
            "Up to 12 policies, separated by commas; the first one decides which worlds are shown. A file exported as"
            " JSON or TOML stands for its policy with tuned parameters.",
            options.COMPARISON,
            metavar="A,B,FILE…",
            complete=completion.policy_lists,
        ),
    ] = ",".join(PlayDefaults.policies),
    horizon: options.HorizonOption = None,
    replications: Annotated[
        int, options.integer_option("--replications", "R", "Number of worlds to choose from.", options.PROBLEM)
    ] = PlayDefaults.replications,
    jobs: options.JobsOption = None,
    output: Annotated[Path, option("--output", "Output file.", options.OUTPUT, short="-o", metavar="FILE")] = Path(
        "play.html"
    ),
    **fields: Any,
) -> None:
    """Play how policies learn, on a page that works offline.

    The page shows the means of the arms, the arms that each policy pulls, and its regret over time: in the worlds where
    the first policy has its median and its highest regret, in one where it fails if there is one, or on a trace. It
    plays, pauses and can be scrubbed; a click on a change shows how many steps each policy needs to recover. Policies
    without tuned parameters have their defaults, scaled to the rewards.

    Examples:
        # three policies in a scenario with jumps
        ravenlab play localized-jump --horizon 2000 --arms 6 --policies raven-ucb,raven-auto,ucb1
        # parameters that ravenlab recommend blips --format json -o tuned.json wrote, beside the defaults
        ravenlab play blips --horizon 2000 --policies tuned.json,raven-ucb
        # all rows of a file of costs
        ravenlab play --trace latency.csv --minimize -o latency.html
    """
    from ravenlab.environments.recorded.trace_world import open_trace
    from ravenlab.tuning.playback import play as write_play

    if scenario is None and "trace" not in fields:
        raise arguments.missing_scenario(", or use --trace")
    if "trace" in fields and horizon is not None:
        raise InputError("--trace plays all rows, so --horizon can't be combined with it.")
    if "trace" in fields:
        arguments.set_recorded(fields, scenario is not None, horizon=False)
    path = write_play(scenario, policies, output, horizon=horizon, replications=replications, jobs=jobs, **fields)
    if "trace" in fields:
        for note in open_trace(fields["trace"], "minimize" in fields).notes:
            print_message(f"{Path(fields['trace']).name}: {note}.")
    print_line(f"Wrote {path}. Open it in a browser.")
