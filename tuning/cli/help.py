"""Help pages: options under headings, then examples to paste.

Typer's own help pages have no place for examples, and importing what draws them takes longer than everything else that
`ravenlab --help` does. The pages are therefore formatted here, from the same declarations.
"""

import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ravenlab.common.errors import unknown_name
from ravenlab.studies.symbols import to_encoding
from ravenlab.tuning.cli.output import has_colors
from ravenlab.tuning.interrupts import Interrupted

MAX_WIDTH = 100  # columns of a page on a wide terminal
MAX_NAME_WIDTH = 26  # columns for names; a longer one gets its own line
MIN_GROUPED = 10  # number of options from which on they are shown under headings
CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"]}


@dataclass(frozen=True)
class HelpRow:
    """An option, argument or command with its description."""

    name: str
    value: str
    text: str

    @property
    def left(self) -> str:
        """The name with the placeholder of its value."""
        return f"{self.name} {self.value}".strip()


def split_help(command: Any) -> tuple[list[str], list[tuple[str, str]]]:
    """Split the help of a command into paragraphs and examples: their purpose and the command line."""
    text, _, examples = cleandoc(command.help or "").partition("Examples:")
    lines = [line.strip() for line in examples.splitlines() if line.strip()]
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip()]
    return paragraphs, [
        (purpose.removeprefix("# "), line) for purpose, line in zip(lines[::2], lines[1::2], strict=True)
    ]


def group_options(command: Any, ctx: Any) -> dict[str, list[HelpRow]]:
    """Return arguments and options by heading; few options have one heading."""
    params = [param for param in command.get_params(ctx) if not getattr(param, "hidden", False)]
    groups: dict[str, list[HelpRow]] = {}
    for param in params:
        if len(params) < MIN_GROUPED:
            heading = "Arguments" if param.param_type_name == "argument" else "Options"
        else:  # --help has no heading and comes last: it follows the last group
            heading = getattr(param, "rich_help_panel", None) or next(reversed(groups))
        groups.setdefault(heading, []).append(_option_row(param))
    return groups


def _option_row(param: Any) -> HelpRow:
    note = "[required]" if param.required else ""
    if param.param_type_name == "argument":
        name = param.metavar + ("..." if param.nargs != 1 else "")
        value = ""
    else:
        name = ", ".join(sorted(param.opts, key=len))
        value = "" if param.is_flag else param.metavar or param.name.upper()
        if param.show_default and param.default not in (None, False) and not callable(param.default):
            note = f"[default: {param.default}]"
    return HelpRow(name, value, f"{param.help or ''} {note}".strip())


def group_commands(group: Any, ctx: Any) -> dict[str, list[HelpRow]]:
    """Return the commands of a group by heading."""
    groups: dict[str, list[HelpRow]] = {}
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        heading = getattr(command, "rich_help_panel", None)
        row = HelpRow(name, "", split_help(command)[0][0])
        groups.setdefault(heading if isinstance(heading, str) else "Commands", []).append(row)
    return groups


def format_usage(command: Any, ctx: Any) -> str:
    """Return the synopsis of a command; brackets mark what is optional."""
    pieces = command.collect_usage_pieces(ctx)
    return " ".join([ctx.command_path, *(piece.replace("{", "").replace("}", "") for piece in pieces)])


def format_page(command: Any, ctx: Any) -> str:
    """Return the help page of a command, in color on a terminal that has colors."""
    width = min(shutil.get_terminal_size().columns, MAX_WIDTH)
    page = "\n".join(_page_lines(command, ctx, width))
    return to_encoding(page if has_colors(sys.stdout) else re.sub(r"\x1b\[\d+m", "", page), sys.stdout.encoding)


def _page_lines(command: Any, ctx: Any, width: int) -> Iterator[str]:
    paragraphs, examples = split_help(command)
    yield typer.style(f"Usage: {format_usage(command, ctx)}", bold=True)
    for paragraph in paragraphs:
        yield ""
        yield textwrap.fill(paragraph, width, break_on_hyphens=False)
    tables = [group_commands(command, ctx)] if isinstance(command, TyperGroup) else []
    for groups in [*tables, group_options(command, ctx)]:
        longest = max(len(row.left) for rows in groups.values() for row in rows)
        for heading, rows in groups.items():
            yield f"\n{typer.style(heading, bold=True)}"
            for row in rows:
                yield from _row_lines(row, min(longest, MAX_NAME_WIDTH), width)
    if examples:
        yield f"\n{typer.style('Examples', bold=True)}"
    for purpose, line in examples:
        yield typer.style(textwrap.fill(f"# {purpose}", width, initial_indent="  ", subsequent_indent="  # "), dim=True)
        yield from _example_lines(line, width)
    if command.epilog:
        yield ""
        for line in command.epilog.splitlines():
            yield textwrap.fill(line, width, break_on_hyphens=False, subsequent_indent="  ")


def _row_lines(row: HelpRow, name_width: int, width: int) -> Iterator[str]:
    """Format a row: the name on the left, the text beside it, or below a name that is too long."""
    indent = " " * (name_width + 4)
    name = f"  {typer.style(row.name, fg='cyan')} {row.value}".rstrip()
    first, *rest = textwrap.wrap(row.text, max(20, width - len(indent)), break_on_hyphens=False) or [""]
    if len(row.left) > name_width:
        yield name
        yield indent + first
    else:
        yield name + " " * (name_width + 2 - len(row.left)) + first
    yield from (indent + line for line in rest)


def _example_lines(line: str, width: int) -> list[str]:
    r"""Wrap a command line as a shell continues it, with each option next to its value.

    >>> print("\n".join(_example_lines("ravenlab tune blips --trials 100", 30)))
      ravenlab tune blips \
        --trials 100
    """
    joined = re.sub(r"(^| )(--?\w[\w-]*) (?!-)", "\\1\\2\0", line)
    *first, last = textwrap.wrap(
        joined, width - 2, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return [part.replace("\0", " ") for part in (*(f"{part} \\" for part in first), last)]


class _Page:
    """Shows our help page."""

    def get_help(self, ctx: Any) -> str:
        """Return the help page."""
        return format_page(self, ctx)


class Command(_Page, TyperCommand):
    """A command with our help page."""


class Group(_Page, TyperGroup):
    """A group of commands with our help page; an interrupt passes it with its notes."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Show the help page if no command is given."""
        if not args and not ctx.resilient_parsing:
            typer.echo(self.get_help(ctx))
            raise typer.Exit
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Suggest the nearest name for an unknown command."""
        if args[0] not in self.commands and args[0][:1].isalnum() and not ctx.resilient_parsing:
            raise unknown_name("command", args[0], self.commands)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Keep the notes of an interrupt, which Typer would reduce to an exit code."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise Interrupted(*getattr(interrupt, "__notes__", ())) from interrupt
