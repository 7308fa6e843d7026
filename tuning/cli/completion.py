"""What a shell offers when someone presses Tab: quick, quiet, and nothing is made by asking.

Whatever goes wrong here is no one's concern while they type: then nothing is offered.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

import typer

from studies.registry import ALL_KEYWORD, PAPER_KEYWORD, Choice, format_choices

WAIT = 2
"""Seconds for a database server to answer."""

ASKED = "SELECT study_name FROM studies ORDER BY study_name"


def words(*known: str) -> Callable[[str], list[str]]:
    """Completes a few fixed words.

    >>> words("local", "tcp://")("l")
    ['local']
    """
    return _offering(lambda: known)


def names(registry: Mapping[str, object]) -> Callable[[str], list[str]]:
    """Completes the names of a registry.

    >>> names({"threads": None, "loky": None})("l")
    ['loky']
    """
    return _offering(lambda: registry)


def choices(registry: Mapping[str, Choice]) -> Callable[[str], list[str]]:
    """Completes the values of a registry, with an example where a value takes an argument."""
    return _offering(lambda: format_choices(registry))


def _offering(known: Callable[[], Iterable[str]], between: str = "") -> Callable[[str], list[str]]:
    """Offers names; where several may stand with a mark between them, behind the last one.

    >>> _offering(lambda: ["periodic", "blips"], "+")("blips+per")
    ['blips+periodic']
    """

    def offered(incomplete: str) -> list[str]:
        before, mark, last = incomplete.rpartition(between) if between else ("", "", incomplete)
        with suppress(Exception):
            return [f"{before}{mark}{name}" for name in known() if name.startswith(last)]
        return []

    return offered


def _scenarios() -> list[str]:
    from environments import scenarios

    return sorted(scenarios())


def _policies() -> list[str]:
    from policies import policy_names

    return sorted(policy_names())


def _shipped() -> list[str]:
    from studies.spec.files import shipped_studies

    return sorted(shipped_studies())


scenarios = _offering(_scenarios, "+")
scenario_lists = _offering(lambda: [*_scenarios(), ALL_KEYWORD], ",")
policies = _offering(_policies)
policy_lists = _offering(lambda: [*_policies(), PAPER_KEYWORD, ALL_KEYWORD], ",")
study_files = _offering(_shipped)
"""Where none fits, the shell offers files."""


def joined_by_bash() -> None:
    """Bash makes three words of --option=value; the parser knows two."""
    words, place = os.environ.get("COMP_WORDS", "").split("\n"), os.environ.get("COMP_CWORD", "")
    if not place.isdigit() or "=" not in words[1 : int(place)]:
        return
    before = [word for word in words[: int(place)] if word != "="]
    os.environ["COMP_CWORD"] = str(len(before))
    os.environ["COMP_WORDS"] = "\n".join([*before, *words[int(place) :]])


def studies(ctx: typer.Context, incomplete: str) -> list[str]:
    """Studies in the storage that the command line names."""
    with suppress(Exception):
        from studies.storage.urls import storage_url

        return [name for name in stored_names(storage_url(ctx.params.get("storage"))) if name.startswith(incomplete)]
    return []


def stored_names(url: str) -> list[str]:
    """The names of all studies in a storage, without making or changing anything, and without Optuna, which is slow.

    A SQLite file that nobody writes is read as what can't change: otherwise reading would leave files beside it.
    """
    from studies.storage.urls import sqlite_file

    path = sqlite_file(url)
    if path is not None:
        import sqlite3

        written = path.with_name(f"{path.name}-wal").exists()
        with sqlite3.connect(
            f"{path.resolve().as_uri()}?{'mode=ro' if written else 'mode=ro&immutable=1'}", uri=True
        ) as file:
            found = [str(name) for (name,) in file.execute(ASKED)]
        file.close()
        return found
    from sqlalchemy import create_engine, text

    from studies.storage.urls import parse_url

    engine = create_engine(parse_url(url), connect_args={"connect_timeout": WAIT})
    with engine.connect() as there:
        return [str(name) for (name,) in there.execute(text(ASKED))]
