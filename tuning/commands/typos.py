"""What was typed wrong, in one line, with the nearest name that exists."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any


def in_words(error: Any, arguments: Sequence[str] = ()) -> str:
    """One line on an error of the parser, with where to look.

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
