"""Help pages: headings, examples that parse, and width; suggestions for typos."""

import json
import re
import shlex
from typing import Any

import pytest
import typer

from ravenlab.tuning.cli import app
from ravenlab.tuning.cli.help import split_help
from tests.command import printed, refused
from tests.messages import assert_names
from tools.docs.commands import list_commands

Captured = pytest.CaptureFixture[str]
COMMANDS = list(list_commands())


@pytest.mark.parametrize("width", [60, 80, 160])
def test_pages_fit_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for name in ["", "list", *COMMANDS]:
        text = printed(*name.split(), "--help")
        assert_names(text.splitlines()[0], f"ravenlab {name}".rstrip())
        wide = [line for line in text.splitlines() if len(line) > width and "sqlite:///" not in line]
        assert not wide, (name, wide)
        assert "\x1b" not in text
        assert "<bool>" not in text


def test_every_command_has_a_heading() -> None:
    text = printed("--help")
    for heading, commands in app.GROUPS.items():
        assert f"\n{heading}\n" in text
        for name in commands:
            assert re.search(rf"^  {name}  +\S", text, re.MULTILINE), name
    assert_names(text, app.DONE, app.REFUSED, app.INTERRUPTED)


def test_summaries_are_one_line_at_80_columns() -> None:
    for name, (command, _) in list_commands().items():
        first = split_help(command)[0][0]
        assert len(first) <= 80 - len("  reproduce  "), (name, first)


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_parse(name: str) -> None:
    command, _ = list_commands()[name]
    examples = split_help(command)[1]
    assert len(examples) >= 2
    for reason, line in examples:
        assert reason[0].islower() or reason[0].isdigit() or reason[:5] == "RAVEN"
        words = shlex.split(line)
        assert words[0] == "ravenlab"
        parse_command(words[1:])


def parse_command(words: list[str]) -> None:
    """Parse a command line without running it."""
    command: Any = typer.main.get_command(app.app_for(words))
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    command.make_context("ravenlab", list(words))


def test_unknown_options_do_not_parse() -> None:
    with pytest.raises(typer.TyperException):
        parse_command(["tune", "--trails", "5"])


@pytest.mark.parametrize("words", [[], ["help"], ["-h"], ["--help"]])
def test_no_arguments_show_the_help_page(words: list[str], capsys: Captured) -> None:
    assert app.run(words) == 0
    captured = capsys.readouterr()
    assert_names(captured.out.splitlines()[0], "ravenlab [OPTIONS] COMMAND")
    assert captured.err == ""


def test_help_command_and_option_agree() -> None:
    first = printed("help", "list", "scenarios")
    assert printed("list", "scenarios", "--help") == first
    assert_names(refused("help", "tnue"), "'tune'")


def test_plans_as_json() -> None:
    plan = json.loads(printed("tune", "blips", "--horizon=100,200", "--dry-run", "--json"))["studies"]
    assert [study["study"] for study in plan] == ["raven-ucb/blips/T100/K10", "raven-ucb/blips/T200/K10"]
    (plan,) = json.loads(printed("tune", "blips", "periodic", "--robust", "--dry-run", "--json"))["studies"]
    assert plan["scenarios"] == ["blips", "periodic"]
    assert len(plan["first"]) == 2
    (file,) = json.loads(printed("validate", "quick", "--json"))["files"]
    assert file["file"] == "quick"
    assert {"study", "trials", "replications", "sampler", "pruner", "steps"} == set(file["studies"][0])


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["list", "scenaros"], ["'scenaros'", "'scenarios'"]),
        (["tune", "--xyzzy"], ["--xyzzy", "ravenlab tune --help"]),
        (["simulate", "blip"], ["'blips'"]),
        (["reproduce", "figur2"], ["'figure2'"]),
        (["simulate", "blips", "--noise", "laplce"], ["'laplace'"]),
        (["compare", "blips", "--policies", "ucb1,raven-uc"], ["'raven-ucb'"]),
        (["tune", "blips", "--sampler", "tpee"], ["tpe"]),
        (["show"], ["'STUDY'", "ravenlab show --help"]),
        (["tune", "blips", "--trials"], ["ravenlab tune --help"]),
    ],
)
def test_typos_suggest_the_nearest_name(words: list[str], names: list[str]) -> None:
    assert_names(refused(*words), *names)
