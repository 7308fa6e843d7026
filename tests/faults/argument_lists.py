"""Argument lists for any command, drawn from the real tree of commands and options.

Most of a list is plausible, some of it is rubbish: a list of rubbish alone never gets past the first check. Every
command that plays begins with a budget so small that a run takes milliseconds; what is drawn comes later and wins, but
budgets are drawn either tiny or beyond every limit.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import typer
from hypothesis import strategies as st

from tuning import cli

ROOT = "(none)"
"""Stands for `ravenlab` without a command."""

LISTS = ("list scenarios", "list policies", "list studies")

NOT_RUN = ("--install-completion",)
"""It edits the shell's start-up file of whoever runs the tests."""

HUGE = ["1000000000000", "9" * 19, "1" + "0" * 400, "9" * 5000]
"""Beyond every limit: refused wherever a number is read, on any machine."""

NUMBERS = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "-0",
    "1.5",
    "1_0",
    "+3",
    "٣",
    "0x10",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "5e-324",
    "½",
]

LETTERS = [
    *(
        "",
        " ",
        "\t",
        "\n",
        "a\nb",
        "\x00",
        "a\x00b",
        "\x1b[31mred",
        "\udcff",
        "é🦅",
        "ﬁ",
        "\u202eab",
        "{0}",
        "%s",
        "[b]x",
    ),
    *("<script>", "$(id)", "`id`", "'", '"', "\\", "=", "a=", "=b", "a=b", "a=b=c", ",", "1,,2", ":", "1:2", "x" * 300),
    *("y" * 20_000, "-", "--", "---", "-x", "--no-such", "*", "?", "[", "[!", "CON", "nul.txt", "~", "~root", "true"),
]

PLACES = [
    *(
        ".",
        "..",
        "../..",
        "../beside",
        "here",
        "folder",
        "folder/",
        "folder/new",
        "none/of/it",
        "dangling",
        "loop",
        "pipe",
    ),
    *("/proc/none/x", "/proc/self/x", "/dev/null", "/dev/null/x", "a/../../beside", "x" * 300, "study.toml"),
    *("trace.csv", "log.csv", "empty.csv", "picture.csv", "studies.sqlite3", "mine.py", "broken.toml", "new.html"),
]

STORAGES = [
    *("sqlite:///studies.sqlite3", "sqlite:///new.sqlite3", "sqlite:///../beside.sqlite3", "sqlite:///", "sqlite://"),
    *(
        "sqlite:///:memory:",
        "sqlite:///folder",
        "sqlite:///pipe",
        "sqlite:///loop",
        "sqlite:///dangling",
        "sqlite:///.",
    ),
    *("sqlite:////proc/none/x", "sqlite:////dev/null", "sqlite:///trace.csv", "sqlite:///studies.sqlite3?mode=ro"),
    *("sqlite:///a\x00b", "sqlite:///\udcff", "sqlite+nothing:///x", "nonsense://x", "mysql://me:secret@host/x", "x"),
    *(
        "studies.sqlite3",
        "sqlite:/studies.sqlite3",
        "sqlite:///studies.sqlite3?timeout=x",
        "sqlite:///%00",
        "://",
        "redis://",
    ),
]

SCENARIOS = [
    "blips",
    "stationary",
    "blips+periodic",
    "delayed",
    "blips+blips",
    "arm-churn",
    "./mine.py:world",
    "./mine.py:x",
]
POLICIES = [
    "raven-ucb",
    "ucb1",
    "sw-ucb",
    "thompson",
    "raven-ucb~x",
    "./mine.py:Mine",
    "./mine.py:broken",
    "mine.py:",
    "Mine",
]
STUDIES = [
    "tuned",
    "tun",
    "cells",
    "worlds",
    "fight",
    "stranger",
    "running",
    "*",
    "t*",
    "../../x",
    "none",
    "<b>",
    "wide",
]
OWN = ["./mine.py:Mine", "./mine.py:world", "./none.py:X", "./broken.toml:X", "x", ".py:", "./mine.py:__name__"]

FEW = "--trials=2 --replications=2 --batch=2 --jobs=1 --quiet --selection"

BEGUN = {
    "tune": [
        f"--horizon=20 --arms=3 --report=3 {FEW}=3",
        f"blips --horizon=20 --arms=3 --report=3 {FEW}=3",
        f"--robust blips stationary --horizon=20 --arms=3 --report=3 {FEW}=3",
        f"--trace=trace.csv --window=20 --report=20 {FEW}=20",
        f"--log=log.csv --report=128 {FEW}=128",
        "--study=study.toml --jobs=1 --quiet",
    ],
    "grid": ["blips --horizon=20 --arms=3 --replications=2 --alpha0=1,2 --beta0=1 --jobs=1"],
    "compare": [
        "blips --horizon=20 --arms=3 --replications=2 --search-replications=2 --tune=0 --policies=ucb1 --jobs=1"
    ],
    "simulate": ["--horizon=20 --replications=2", "blips --horizon=20 --replications=2"],
    "reproduce": ["figure1 --replications=2 --jobs=1"],
    "diagnose": ["--halves=0", "trace.csv --halves=0", "log.csv --halves=0"],
    "dashboard": ["--port=0"],
    "recommend": ["", "blips --horizon=20", "blips --arms=3 --horizon=30"],
    "show": ["", "tuned", "cells", "worlds", "fight", "stranger", "running"],
    "copy": [
        "",
        "tuned --to=sqlite:///new.sqlite3",
        "* --to=sqlite:///new.sqlite3",
        "tuned --to=sqlite:///studies.sqlite3",
    ],
    "delete": ["", "tuned --yes", "--yes", "* --yes"],
    "validate": ["", "study.toml"],
}
"""How lists begin. Commands that play are given so little to do that a run takes milliseconds."""

GOOD: dict[str, list[str]] = {
    "scenarios": SCENARIOS,
    "scenario": SCENARIOS,
    "compare names": SCENARIOS,
    "compare --scenarios": ["blips", "blips,stationary", "blips,"],
    "reproduce names": ["figure1"],
    "file": ["trace.csv", "log.csv", "new.toml", "empty.csv", "picture.csv", "study.toml"],
    "files": ["study.toml", "broken.toml", "quick", "trace.csv", "figure2"],
    "studies": STUDIES,
    "study": STUDIES,
    "--study": ["study.toml", "broken.toml", "none", "nested.toml"],
    "--trace": ["trace.csv", "empty.csv", "picture.csv", "log.csv"],
    "--log": ["log.csv", "trace.csv", "empty.csv"],
    "init --trace": [],
    "init --log": [],
    "--policy": POLICIES,
    "--policies": ["ucb1", "ucb1,raven-ucb", "ucb1,ucb1", "ucb1,,", "./mine.py:Mine"],
    "--sampler": ["tpe", "cmaes", "qmc", "random", "grid", "gp", "TPE"],
    "--pruner": ["none", "hyperband", "race"],
    "--objective": [
        "mean",
        "quantile:0.9",
        "cvar:0.5",
        "after:10%",
        "after:99%",
        "reward",
        "cvar:2",
        "quantile:nan",
        "after:",
    ],
    "--noise": ["normal", "laplace", "bernoulli", "student-t", "uniform", "logistic"],
    "--set": [
        "every=5",
        "every=10%",
        "mean_low=2",
        "mean_low=nan",
        "variance_high=-1",
        "every=0",
        "longest=99",
        "noise=bernoulli",
    ],
    "--range": [
        "alpha0=0.1:5",
        "alpha0=5:1",
        "beta0=1e-9:1e9",
        "epsilon=nan:1",
        "alpha0=-1:1",
        "none=1:2",
        "alpha0=0:1e308",
    ],
    "--fix": ["alpha0=1", "alpha0=nan", "epsilon=0", "epsilon=-1", "beta0=1e308", "none=1", "alpha0=x"],
    "--param": [
        "alpha0=1",
        "alpha0=nan",
        "c=2",
        "window=3",
        "window=1e15",
        "window=-1",
        "none=1",
        "gamma=1e-300",
        "m=1e9",
    ],
    "--bring": OWN,
    "--measure": ["worst", "mean", "cvar:0.5", "cvar:9"],
    "--alpha0": ["1", "0.5,1", "1,1", "0", "1e308", "nan,1", "1," * 60],
    "--beta0": ["1", "0.5,1", "-1", "1e-300"],
    "--epsilon": ["0.1", "0", "1e-300", "1e300"],
    "--window": ["5", "20", "100"],
    "--horizon": ["20", "30", "20,25", "2", "20,"],
    "--arms": ["2", "3", "5", "30"],
    "--trials": ["2", "3"],
    "--tune": ["0", "2"],
    "--batch": ["1", "2", "3"],
    "--jobs": ["1", "2"],
    "--halves": ["0", "1"],
    "--seed": ["0", "7", str(2**63 - 1), str(2**63), str(2**64)],
    "--timeout": ["0", "0.0", "1e9", "1e10"],
    "--name": [
        "mine",
        "tuned",
        "cells",
        "worlds",
        "stranger",
        "running",
        "../../x",
        "/abs",
        "<b>",
        "{horizon}",
        "n" * 400,
    ],
    "--as": ["mine", "tuned", "../x", "n" * 500],
    "--to": STORAGES,
    "--storage": STORAGES,
    "--backend": ["threads", "dask", "THREADS"],
    "--protocol": ["published", "defined", "both"],
    "--format": ["json", "toml", "yaml", "csv", "markdown", "latex", "python", "xml"],
    "--port": ["0", "1", "65535", "65536", "-1"],
    "--host": ["127.0.0.1", "localhost", "::1", "192.0.2.1", "256.1.1.1", "[::1]", "127.0.0.1:80"],
}
"""Plausible values; an option that is not here gets the rest alone. Names of arguments stand without dashes."""

BUDGETS = {
    *("--horizon", "--arms", "--trials", "--replications", "--selection", "--report", "--batch", "--tune", "--jobs"),
    *("--search-replications", "--halves", "--window"),
}
"""Options whose values are tiny, refused, or no number at all: nothing that is drawn may take minutes."""


@cache
def parsed(name: str) -> Any:
    """A command as click knows it; `ROOT` is all of them together."""
    words = [] if name == ROOT else name.split()
    found = typer.main.get_command(cli.app_for(words))
    for word in words:
        found = found.commands[word]  # type: ignore[attr-defined]
    return found


def names() -> list[str]:
    """Every command there is."""
    return [ROOT, *LISTS, *cli.COMMANDS]


def options_of(name: str) -> list[str]:
    """All spellings of all options of a command."""
    spelled = [word for param in parsed(name).params for word in param.opts if word.startswith("-")]
    return [word for word in [*spelled, "--help"] if word not in NOT_RUN]


TEXT = st.text(max_size=12).filter(lambda text: "/" not in text)
"""Anything but a place in the file system: those are written out above, and none of them is in use."""


@cache
def _values(name: str, spelled: str) -> st.SearchStrategy[str]:
    """What may stand behind an option or as an argument: most of it plausible."""
    good = GOOD.get(f"{name} {spelled}", GOOD.get(spelled, ["1"]))
    numbers = [word for word in NUMBERS if word not in ("1_0", "0x10")] if spelled in BUDGETS else NUMBERS
    rubbish = st.one_of(st.sampled_from([*LETTERS, *numbers, *HUGE]), TEXT)
    if spelled in BUDGETS:
        rubbish = rubbish.filter(lambda text: text in NUMBERS or text in HUGE or not any(map(str.isdigit, text)))
    else:
        rubbish = st.one_of(rubbish, st.sampled_from([*PLACES, *STORAGES]))
    if name == "reproduce" and spelled == "names":
        rubbish = st.sampled_from([*LETTERS, *NUMBERS]).filter(lambda text: text not in ("all",))
    plausible = st.sampled_from(good) if good else rubbish
    return st.one_of(*[plausible] * 6, rubbish)


@cache
def _pieces(name: str) -> st.SearchStrategy[list[str]]:
    """One option with its value, one argument, or something that should not be there."""
    kinds: list[st.SearchStrategy[list[str]]] = []
    for param in parsed(name).params:
        spelled = [word for word in param.opts if word not in NOT_RUN]
        if not spelled:
            continue
        if param.param_type_name == "argument":
            one = _values(name, param.name).map(lambda value: [value])
            kinds.append(one)
            continue
        word = st.sampled_from(spelled)
        if param.is_flag:
            kinds.append(word.map(lambda word: [word]))
            continue
        value = _values(name, spelled[-1])
        apart = st.tuples(word, value).map(list)
        joined = st.tuples(word, value).map(lambda both: [f"{both[0]}={both[1]}"])
        kinds += [apart, joined]
    wrong = st.one_of(
        st.sampled_from(options_of(name)).map(lambda word: [word]),
        st.sampled_from(options_of(name)).map(lambda word: [f"{word}=x"]),
        st.sampled_from(options_of(name)).map(lambda word: [word[:-1]]),
        st.sampled_from([*LETTERS, "--help", "--version"]).map(lambda word: [word]),
    )
    if name == ROOT:
        wrong = st.one_of(wrong, st.sampled_from(["tun", "lst", "list", "list x", "TUNE"]).map(lambda word: [word]))
    return st.one_of(*kinds * 3, wrong)


def argument_lists(name: str) -> st.SearchStrategy[list[str]]:
    """Whole command lines of one command."""
    begun = [] if name == ROOT else name.split()
    first = st.sampled_from([[*begun, *budget.split()] for budget in BEGUN.get(name, [""])])
    drawn = st.lists(_pieces(name), max_size=3).map(lambda pieces: [word for piece in pieces for word in piece])
    return st.tuples(first, drawn).map(lambda both: [*both[0], *both[1]])


def typeable(word: str) -> bool:
    """Whether an operating system could hand the word to a program at all."""
    return "\x00" not in word and os.fsencode(word) is not None
