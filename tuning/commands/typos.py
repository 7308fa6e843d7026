"""Error lines of the command line: the option of a wrong field, and the nearest name to a misspelled option."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from environments.errors import InputError

OPTIONS_OF = {
    "space": ("--range",),
    "fixed": ("--fix",),
    "settings": ("--set",),
    "plugin": ("--bring",),
    "name": ("--name", "--as"),
}
"""Options of fields that have another name on the command line; all others are --field."""


def option_names(field: str) -> tuple[str, ...]:
    """The options that may set a field.

    >>> option_names("space"), option_names("search_replications")
    (('--range',), ('--search-replications',))
    """
    return OPTIONS_OF.get(field, (f"--{field.replace('_', '-')}",))


def with_option(error: InputError, command: Any) -> str:
    """The message of an error with the option for its field, where the command has one.

    A message that begins with the field begins with the option instead; otherwise the option follows in parentheses.

    >>> from typer.core import TyperCommand, TyperOption
    >>> tune = TyperCommand("tune", params=[TyperOption(param_decls=[name]) for name in ("--name", "--range")])
    >>> with_option(InputError("study 'mine' is a grid; choose another name.", field="name"), tune)
    "study 'mine' is a grid; choose another name (--name)."
    >>> with_option(InputError("space.alpha0: low must be below high.", field="space.alpha0"), tune)
    '--range alpha0: low must be below high.'
    """
    message = str(error)
    if error.field is None:
        return message
    head, _, key = error.field.partition(".")
    known = {name for param in command.params for name in param.opts}
    option = next((name for name in option_names(head) if name in known), None)
    if option is None:
        return message
    rest = message.removeprefix(error.field)
    if rest != message and rest[:1] in (" ", ":"):
        return f"{option} {key}".strip() + rest
    return f"{message.rstrip('.')} ({option})."


def in_words(error: Any, arguments: Sequence[str] = ()) -> str:
    """One line for an error of the parser, with a pointer to the help.

    >>> import typer
    >>> in_words(typer.BadParameter("no"), ["tune"])
    'Invalid value: no; see ravenlab tune --help.'
    """
    ctx = getattr(error, "ctx", None)
    command = ctx.command_path if ctx is not None else " ".join(["ravenlab", *arguments[:1]])
    message: str = error.format_message().rstrip(".")
    if ctx is None or not hasattr(error, "possibilities"):
        return f"{message}; see {command} --help."
    known = [name[2:] for param in ctx.command.get_params(ctx) for name in param.opts if name.startswith("--")]
    near = get_close_matches(error.option_name.lstrip("-"), known, n=1)
    return f"unknown option {error.option_name}; {f'did you mean --{near[0]}?' if near else f'see {command} --help.'}"
