"""What was typed wrong, in one line, with the nearest name that exists."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any


def in_words(error: Any) -> str:
    """One line on an error of the parser, with where to look.

    >>> import typer
    >>> in_words(typer.BadParameter("no"))
    'Invalid value: no; see ravenlab --help.'
    """
    ctx = getattr(error, "ctx", None)
    help_of = f"see {'ravenlab' if ctx is None else ctx.command_path} --help"
    message: str = error.format_message().rstrip(".")
    if ctx is None or not hasattr(error, "possibilities"):
        return f"{message}; {help_of}."
    known = [name for param in ctx.command.get_params(ctx) for name in param.opts if name.startswith("--")]
    near = get_close_matches(error.option_name, known, n=1, cutoff=0.5)
    return f"unknown option {error.option_name}; {f'did you mean {near[0]}?' if near else f'{help_of}.'}"
