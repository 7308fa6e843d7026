"""Command lines run in this process, which saves a second or two of start-up each."""

import contextlib
import io

from ravenlab.tuning.cli import app


def run_command(words: list[str]) -> tuple[int, str, str]:
    """Run a command line; return its exit code, stdout and stderr, encoded as strictly as on a terminal."""
    streams = io.BytesIO(), io.BytesIO()
    out = io.TextIOWrapper(streams[0], encoding="utf-8", errors="strict", write_through=True)
    err = io.TextIOWrapper(streams[1], encoding="utf-8", errors="backslashreplace", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = app.run(words)
    return code, streams[0].getvalue().decode(), streams[1].getvalue().decode()


def printed(*words: str) -> str:
    """Run a command line that must succeed, and return its standard output."""
    code, out, err = run_command(list(words))
    assert code == app.DONE, err
    return out


def refused(*words: str) -> str:
    """Run a command line that must be refused, and return its one line of explanation."""
    code, out, err = run_command(list(words))
    assert (code, out) == (app.REFUSED, ""), err
    (line,) = err.splitlines()
    assert line.startswith("ravenlab: ")
    return line
