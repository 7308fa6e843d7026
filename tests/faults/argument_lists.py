"""Random argument lists for all commands, generated from the declared commands and options.

Most values are plausible (`plausible.toml`), since random values alone never pass the first check. Lists of commands
that simulate begin with a small budget, so that a run takes milliseconds; random budgets that follow are either tiny or
beyond all limits.
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import typer
from hypothesis import strategies as st

from ravenlab.tuning.cli import app

ROOT = "(none)"
"""`ravenlab` without a command."""

LISTS = ("list scenarios", "list policies", "list studies")

NOT_GENERATED = ("--install-completion",)
"""Options that are never generated: this one edits the user's shell configuration."""

WORDS = tomllib.loads(Path(__file__).with_name("plausible.toml").read_text(encoding="utf-8"))

HUGE = ["1000000000000", "9" * 19, "1" + "0" * 400, "9" * 5000]
"""Numbers beyond all limits, which are refused on any machine."""

NUMBERS = WORDS["numbers"].split()
CONTROL_CHARACTERS = ["", " ", "\t", "\n", "a\nb", "\x00", "a\x00b", "\x1b[31mred", "\udcff", "\u202eab"]
TEXTS = [*CONTROL_CHARACTERS, *WORDS["letters"].split(), "x" * 300, "y" * 20_000]
PLACES = [*WORDS["places"].split(), "x" * 300]
STORAGES = [*WORDS["storages"].split(), "sqlite:///a\x00b", "sqlite:///\udcff", "sqlite:///" + "x" * 300]

SHARED = {
    **dict.fromkeys(("scenarios", "scenario", "compare names"), WORDS["scenarios"].split()),
    **dict.fromkeys(("studies", "study"), WORDS["studies"].split()),
    **dict.fromkeys(("--storage", "--to"), STORAGES),
    "--policy": WORDS["policies"].split(),
    "--name": [*WORDS["values"]["--name"].split(), "n" * 400, "n" * 401],
}
PLAUSIBLE = {**{name: words.split() for name, words in WORDS["values"].items()}, **SHARED}
"""Plausible values by option, or by command and option; arguments have no dashes."""

BUDGETS = {
    *("--horizon", "--arms", "--trials", "--replications", "--selection", "--report", "--batch", "--tune", "--jobs"),
    *("--search-replications", "--halves", "--window"),
}
"""Options whose values are tiny, refused or not numbers, so that no run takes minutes."""

TEXT = st.text(max_size=12).filter(lambda text: "/" not in text)
"""Any text except paths, which are listed in plausible.toml and harmless."""


@cache
def find_parser(name: str) -> Any:
    """Return the parser of a command, or for `ROOT` of the group of all commands."""
    words = [] if name == ROOT else name.split()
    command: Any = typer.main.get_command(app.app_for(words))
    for word in words:
        command = command.commands[word]
    return command


def names() -> list[str]:
    return [ROOT, *LISTS, *app.COMMANDS]


def options_of(name: str) -> list[str]:
    option_names = [word for param in find_parser(name).params for word in param.opts if word.startswith("-")]
    return [word for word in [*option_names, "--help"] if word not in NOT_GENERATED]


def _is_small(text: str) -> bool:
    """Return whether a value is not a number, or one that needs no computing time."""
    return text in NUMBERS or text in HUGE or not any(map(str.isdigit, text))


@cache
def _values(name: str, parameter: str) -> st.SearchStrategy[str]:
    """Generate values of an option or argument, most of them plausible."""
    random_values = st.one_of(st.sampled_from([*TEXTS, *NUMBERS, *HUGE]), TEXT)
    if parameter in BUDGETS:
        random_values = random_values.filter(_is_small)
    elif (name, parameter) != ("reproduce", "names"):  # a whole experiment takes long
        random_values = st.one_of(random_values, st.sampled_from([*PLACES, *STORAGES]))
    plausible_values = PLAUSIBLE.get(f"{name} {parameter}", PLAUSIBLE.get(parameter))
    plausible = random_values if plausible_values is None else st.sampled_from(plausible_values)
    return st.one_of(*[plausible] * 6, random_values)


@cache
def _pieces(name: str) -> st.SearchStrategy[list[str]]:
    """Generate an option with its value, an argument, or something invalid."""
    kinds: list[st.SearchStrategy[list[str]]] = []
    for param in find_parser(name).params:
        option_names = [word for word in param.opts if word not in NOT_GENERATED]
        if not option_names:
            continue
        word = st.sampled_from(option_names)
        if param.param_type_name == "argument":
            kinds.append(_values(name, param.name).map(lambda value: [value]))
        elif param.is_flag:
            kinds.append(word.map(lambda word: [word]))
        else:
            pair = st.tuples(word, _values(name, option_names[-1]))
            kinds += [pair.map(list), pair.map(lambda pair: [f"{pair[0]}={pair[1]}"])]
    option = st.sampled_from(options_of(name))
    wrong = st.one_of(
        option.map(lambda word: [word]),
        option.map(lambda word: [f"{word}=x"]),
        option.map(lambda word: [word[:-1]]),
        st.sampled_from([*TEXTS, "--help", "--version", "tun", "list", "TUNE"]).map(lambda word: [word]),
    )
    return st.one_of(*kinds * 3, wrong)


def argument_lists(name: str) -> st.SearchStrategy[list[str]]:
    """Generate command lines of one command."""
    words = [] if name == ROOT else name.split()
    beginning = st.sampled_from([[*words, *budget.split()] for budget in WORDS["begun"].get(name, [""])])
    rest = st.lists(_pieces(name), max_size=3).map(lambda pieces: [word for piece in pieces for word in piece])
    return st.tuples(beginning, rest).map(lambda parts: [*parts[0], *parts[1]])
