"""The play page: how policies learn in one world, with arms, pulls and regret on a time axis that can be played."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from ravenlab.common.text import format_count, join_words
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.world import ARMS, arms_to_draw
from ravenlab.dashboards.pages.html import escape_json, render_page
from ravenlab.policies.engine.timeline import RECOVERY_SHARE, RECOVERY_WINDOW, Player, Timeline
from ravenlab.studies.storage.keys import project_version
from ravenlab.studies.symbols import format_params

ARM_COLORS = (*ARMS[:4], style.VERMILION)
"""Colors of the first arms; the next ones have a darker or, on dark pages, lighter shade of them."""
MOST_NAMED = 3  # policies named in the title


@dataclass(frozen=True)
class PlayedWorld:
    """One world of the page."""

    title: str
    note: str
    """Why it is shown."""
    timeline: Timeline


def render_play(
    source: str,
    players: Sequence[Player],
    arms: Sequence[str],
    worlds: Sequence[PlayedWorld],
    *,
    horizon: int,
    costs: bool = False,
    context: Sequence[str] = (),
) -> str:
    """Render the page of a scenario or trace as one self-contained HTML file; the first world is shown at once."""
    names = [player.name for player in players]
    title = join_words(names, "and") if len(names) <= MOST_NAMED else f"{len(names)} policies"
    facts = [f"T = {format_count(horizon)} steps", f"K = {len(arms)} arms", *context]
    run = {
        "horizon": horizon,
        "arms": list(arms),
        "colors": {"light": ARM_COLORS, "dark": [style.DARK_COLORS[color] for color in ARM_COLORS]},
        "dashes": style.DASHES,
        "ends": worlds[0].timeline.ends.tolist(),
        "policies": names,
        "costs": costs,
        "worlds": [_world_data(world) for world in worlds],
    }
    return render_page(
        "play",
        [],
        title=f"{title} in {source}",
        subtitle=", ".join(facts),
        policies=[(player.name, _format_searched(player)) for player in players],
        horizon=format_count(horizon),
        costs=costs,
        worlds=worlds,
        run=Markup(escape_json(json.dumps(run, separators=(",", ":"), allow_nan=False))),
        version=project_version(),
        share=f"{100 * RECOVERY_SHARE:.0f} %",
        window=RECOVERY_WINDOW,
    )


def _format_searched(player: Player) -> str:
    """Format the parameters that can be tuned; the others are seldom changed."""
    names = [param.name for param in player.policy.parameters if param.low is not None]
    return format_params({name: player.params[name] for name in names}) if names else ""


def _world_data(world: PlayedWorld) -> dict[str, Any]:
    """Return what the script draws; of many arms, those that are best or pulled for the longest time."""
    timeline = world.timeline
    arms = timeline.means.shape[1]
    shown = np.bincount(timeline.best, minlength=arms) + np.bincount(timeline.pulls.ravel(), minlength=arms)
    drawn = arms_to_draw(shown, timeline.means)
    return {
        "drawn": drawn,
        "means": [style.round_numbers(timeline.means[:, arm]) for arm in drawn],
        "best": timeline.best.tolist(),
        "pulls": timeline.pulls.tolist(),
        "regret": [style.round_numbers(row) for row in timeline.regret],
        "hits": timeline.hits.tolist(),
        "changes": [vars(change) for change in timeline.changes],
        "all": timeline.all_changes,
    }
