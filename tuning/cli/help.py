"""What `--help` shows: a line for each option under a heading, and examples that can be pasted.

Typer's own page has boxes, Python types and no place for examples, and takes as long to load as everything else.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from environments.errors import unknown_name
from studies.symbols import to_encoding
from tuning.interrupts import Interrupted

WIDEST = 100
"""Columns that a page uses of a wide terminal."""

LEFT = 26
"""Columns for names, at most; a longer one gets a line of its own."""

MANY = 10
"""From so many options on they stand in groups."""

OPTIONS = "Options"

EXAMPLES = "Examples:"

NAMES = {"help_option_names": ["-h", "--help"]}
"""How help is asked for, everywhere."""


@dataclass(frozen=True)
class Row:
    """An option, argument or command: how it is written, and what it does."""

    name: str
    value: str
    text: str
    default: str = ""
    required: bool = False

    @property
    def left(self) -> str:
        """What stands on the left."""
        return f"{self.name} {self.value}".strip()

    @property
    def note(self) -> str:
        """What stands behind the text."""
        return "[required]" if self.required else f"[default: {self.default}]" if self.default else ""


def paragraphs_of(command: Any) -> tuple[list[str], list[tuple[str, str]]]:
    """The paragraphs of a command's help, and its examples: what each is for, and what is typed."""
    text, _, examples = cleandoc(command.help or "").partition(EXAMPLES)
    lines = [line.strip() for line in examples.splitlines() if line.strip()]
    pairs = list(zip(lines[::2], lines[1::2], strict=True))
    prose = [" ".join(each.split()) for each in text.split("\n\n") if each.strip()]
    return prose, [(reason.removeprefix("# "), line) for reason, line in pairs]


def groups_of(command: Any, ctx: Any) -> dict[str, list[Row]]:
    """Arguments and options under their headings; few of them under one."""
    shown = [param for param in command.get_params(ctx) if not getattr(param, "hidden", False)]
    many = len(shown) >= MANY
    groups: dict[str, list[Row]] = {}
    for param in shown:
        named = param.param_type_name == "argument"
        heading = getattr(param, "rich_help_panel", None) if many else None
        groups.setdefault(heading or ("Arguments" if named and not many else OPTIONS), []).append(row_of(param))
    if not many:
        return groups
    *first, last = [heading for heading in groups if heading != OPTIONS]  # help itself is no group
    return {**{heading: groups[heading] for heading in first}, last: groups[last] + groups[OPTIONS]}


def row_of(param: Any) -> Row:
    """One argument or option."""
    if param.param_type_name == "argument":
        several = "..." if param.nargs != 1 else ""
        return Row((param.metavar or param.name.upper()) + several, "", param.help or "", required=param.required)
    name = ", ".join(sorted(param.opts, key=len))
    value = "" if param.is_flag else param.metavar or param.name.upper()
    said = param.show_default and param.default not in (None, False) and not callable(param.default)
    return Row(name, value, param.help or "", str(param.default) if said else "", param.required)


def commands_of(group: Any, ctx: Any) -> dict[str, list[Row]]:
    """The commands of a group under their headings."""
    groups: dict[str, list[Row]] = {}
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        heading = getattr(command, "rich_help_panel", None)
        text = paragraphs_of(command)[0][0]
        groups.setdefault(heading if isinstance(heading, str) else "Commands", []).append(Row(name, "", text))
    return groups


def page_usage(command: Any, ctx: Any) -> str:
    """How the command is typed; what must be given is not in brackets."""
    pieces = command.collect_usage_pieces(ctx)
    return " ".join([ctx.command_path, *(piece.replace("{", "").replace("}", "") for piece in pieces)])


def page(command: Any, ctx: Any) -> str:
    """The whole page, with colours where there is a terminal that has some."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    width = min(console.width, WIDEST)
    blocks = [groups_of(command, ctx)]
    if isinstance(command, TyperGroup):
        blocks = [commands_of(command, ctx), *blocks]
    prose, examples = paragraphs_of(command)
    with console.capture() as captured:

        def put(text: str, style: str = "") -> None:
            console.print(Text(text, style=style), soft_wrap=True)

        put(f"Usage: {page_usage(command, ctx)}", "bold")
        for paragraph in prose:
            put("")
            put(textwrap.fill(paragraph, width, break_on_hyphens=False))
        for groups in blocks:
            left = min(LEFT, max(len(row.left) for rows in groups.values() for row in rows)) + 2
            for heading, rows in groups.items():
                put("")
                put(heading, "bold")
                for line in (line for row in rows for line in _row(row, left, width, console)):
                    console.print(line, soft_wrap=True)
        if examples:
            put("")
            put("Examples", "bold")
            for reason, line in examples:
                put(textwrap.fill(f"# {reason}", width, initial_indent="  ", subsequent_indent="  # "), "dim")
                put("\n".join(_command(line, width)))
        if command.epilog:
            put("")
            for line in command.epilog.splitlines():
                put(textwrap.fill(line, width, break_on_hyphens=False, subsequent_indent="  "))
    return to_encoding(captured.get().rstrip("\n"), console.encoding)


def _row(row: Row, left: int, width: int, console: Any) -> Iterator[Any]:
    """The lines of one row; what is the case if nothing is said stands back."""
    from rich.text import Text

    text = Text(f"{row.text} {row.note}".strip())
    text.highlight_regex(r"\[(default: .*|required)\]$", "dim")
    name = Text("  ").append(row.name, "cyan").append(f" {row.value}" if row.value else "")
    if len(row.left) > left - 2:
        yield name
        name = Text()
    for line in text.wrap(console, max(20, width - left - 2)) or [Text()]:
        name.pad_right(left + 2 - name.cell_len)
        line.rstrip()
        yield name.append_text(line)
        name = Text()


def _command(line: str, width: int) -> list[str]:
    r"""A command on as many lines as it needs, joined as a shell wants it.

    >>> print("\n".join(_command("ravenlab tune blips --trials 100", 30)))
      ravenlab tune blips \
        --trials 100
    """
    held = re.sub(r"(^| )(--?\w[\w-]*) (?!-)", "\\1\\2\0", line)  # an option and its value stay together
    lines = textwrap.wrap(
        held, width - 2, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return [each.replace("\0", " ") for each in (*(f"{each} \\" for each in lines[:-1]), lines[-1])]


class _Helping:
    """What is asked for help answers with our page."""

    def get_help(self, ctx: Any) -> str:
        """The page."""
        return page(self, ctx)

    def get_help_option(self, ctx: Any) -> Any:
        """Said as we say things."""
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.help = "Show this page."
        return option


class Command(_Helping, TyperCommand):
    """A command with our page."""


class Group(_Helping, TyperGroup):
    """All commands, or some, with our page. An interrupt comes out with what it was told on its way."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Nobody who types nothing has done something wrong: the page is what they want."""
        if not args and not ctx.resilient_parsing:
            typer.echo(self.get_help(ctx))
            raise typer.Exit
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """A name that nothing goes by is answered as everywhere."""
        if args[0] not in self.commands and args[0][:1].isalnum() and not ctx.resilient_parsing:
            raise unknown_name("command", args[0], self.commands)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Typer would make a bare number of an interrupt."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise Interrupted(*getattr(stop, "__notes__", ())) from stop
