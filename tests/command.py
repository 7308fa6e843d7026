"""What a command line says, run in this process: a process of its own costs a second or two before it does anything."""

from __future__ import annotations

import contextlib
import io

from tuning.cli import app


def said_by(words: list[str]) -> tuple[int, str, str]:
    """Exit code and both outputs of a command line; they are as strict about letters as a terminal's."""
    held = io.BytesIO(), io.BytesIO()
    out = io.TextIOWrapper(held[0], encoding="utf-8", errors="strict", write_through=True)
    err = io.TextIOWrapper(held[1], encoding="utf-8", errors="backslashreplace", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = app.run(words)
    return code, held[0].getvalue().decode(), held[1].getvalue().decode()


def refused(*words: str) -> str:
    """The one line that a refused command says."""
    code, out, err = said_by(list(words))
    assert (code, out) == (app.REFUSED, ""), err
    (line,) = err.splitlines()
    assert line.startswith("ravenlab: ")
    return line
