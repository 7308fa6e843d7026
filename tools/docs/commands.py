"""Generated parts of docs/reference/commands.md: the help of every command."""

from typing import Any

import typer

from ravenlab.tuning.cli import app
from ravenlab.tuning.cli.help import format_usage, group_commands, group_options, split_help
from tools.docs.marks import table


def root_command() -> Any:
    """Return the root command with all commands and options."""
    return typer.main.get_command(app.app_for([*app.COMMANDS]))


def list_commands() -> dict[str, tuple[Any, Any]]:
    """Return all commands and subcommands with their contexts, in the order of the help."""
    top = root_command()
    root = top.context_class(top, info_name="ravenlab")
    commands: dict[str, tuple[Any, Any]] = {}
    for rows in group_commands(top, root).values():
        for row in rows:
            command = top.commands[row.name]
            context = command.context_class(command, parent=root, info_name=row.name, **command.context_settings)
            for name, subcommand in getattr(command, "commands", {"": command}).items():
                subcontext = (
                    subcommand.context_class(subcommand, parent=context, info_name=name, **subcommand.context_settings)
                    if name
                    else context
                )
                commands[f"{row.name} {name}".strip()] = (subcommand, subcontext)
    return commands


def parts() -> dict[str, list[str]]:
    """Return the list of commands, and a section for each."""
    top = root_command()
    overview: list[str] = []
    for heading, rows in group_commands(top, top.context_class(top, info_name="ravenlab")).items():
        overview += ["", f"**{heading}**", "", *(f"- [`{row.name}`](#{_anchor(row.name)}): {row.text}" for row in rows)]
    sections: list[str] = []
    for name, (command, ctx) in list_commands().items():
        sections += ["", f"## {name}", *_section(command, ctx)]
    return {"commands": overview[1:], "sections": sections[1:]}


def _anchor(name: str) -> str:
    return "list-scenarios" if name == "list" else name


def _section(command: Any, ctx: Any) -> list[str]:
    prose, examples = split_help(command)
    lines = ["", f"`{format_usage(command, ctx)}`", ""]
    lines += [line for paragraph in prose for line in (paragraph, "")]
    for heading, all_rows in group_options(command, ctx).items():
        rows = [row for row in all_rows if "--help" not in row.name]
        lines += (
            [
                f"**{heading}**",
                "",
                *table(["", ""], [[f"`{row.left}`", row.text.replace("*", "\\*")] for row in rows]),
                "",
            ]
            if rows
            else []
        )
    lines += ["**Examples**", ""]
    return [*lines, *(f"- {reason}: `{line}`" for reason, line in examples)]
