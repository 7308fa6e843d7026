"""Run what a page says: commands and Python in one folder a page, in the order of the page."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import ravenlab
from tests.dashboards.served import ask, served
from tests.docs.markdown import Block
from tests.docs.stand_ins import EXAMPLES, NOT_RUN, SMALL_CALLS, SMALL_FIELDS, smaller
from tests.project import DOCS, ROOT
from tuning.cli import app


class Doing:
    """Runs the blocks of one page; `full` leaves budgets as they are."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], full: bool = False
    ) -> None:
        self.folder, self.full, self.capsys, self.monkeypatch = folder, full, capsys, monkeypatch
        self.namespace: dict[str, Any] = {}
        monkeypatch.chdir(folder)
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.delenv("RAVENLAB_STORAGE", raising=False)
        (folder / "docs" / "examples").mkdir(parents=True)
        for name in EXAMPLES:
            shutil.copy(DOCS / "examples" / name, folder / "docs" / "examples" / name)
        for kind in ("trace", "log"):
            self._ravenlab(["init", f"a_{kind}.csv", f"--{kind}"])
        if not full:
            for name, counts in SMALL_CALLS.items():
                monkeypatch.setattr(ravenlab, name, _small(getattr(ravenlab, name), counts), raising=False)

    def run(self, block: Block) -> str:
        """Run one block, and give what it printed."""
        if block.language == "python":
            exec(compile(block.text, f"line {block.line}", "exec"), self.namespace)
            return self.capsys.readouterr().out
        if block.language in ("sh", "console"):
            return "".join(self._command(line) for line in _lines(block))
        if block.language == "toml":
            self._toml(block.text)
        elif block.language == "json":
            json.loads(block.text)
        else:
            assert block.language == "text", f"nobody knows how to check a block of {block.language or 'no language'!r}"
        return ""

    def _command(self, line: str) -> str:
        words = shlex.split(line, comments=True)
        if re.search(r"[|><;&`$]", "".join(words)):
            assert not re.search(r"ravenlab |python |make ", line), f"a command of ours has a line of its own: {line}"
            subprocess.run(["bash", "-euc", line], cwd=self.folder, check=True, capture_output=True)
            return ""
        words[0] = words[0].removeprefix(".venv/bin/")
        if words[0] == "ravenlab" and words[1:2] != ["dashboard"]:
            return self._ravenlab(words[1:])
        if words[0] == "export":
            name, _, value = smaller(words)[1].partition("=")
            self.monkeypatch.setenv(name, value)
            return ""
        said = " ".join(words)
        known = next((start for start in NOT_RUN if said.startswith(start)), None)
        assert known is not None, f"not run, and no reason why in tests/docs/stand_ins.py: {said}"
        return self._weaker(known, words)

    def _ravenlab(self, words: list[str]) -> str:
        asked = words if self.full else self._small_study(smaller(words))
        code = app.run(asked)
        printed = self.capsys.readouterr()
        assert code == 0, f"ravenlab {' '.join(asked)}: {printed.err}"
        return printed.out

    def _small_study(self, words: list[str]) -> list[str]:
        """A study file that would be run is run as a copy with other counts."""
        if words[0] != "tune" or "--study" not in words or "--dry-run" in words:
            return words
        import tomli_w

        from studies.spec.files import find_study_file

        place = words.index("--study") + 1
        document = tomllib.loads(find_study_file(words[place]).read_text(encoding="utf-8"))
        for table in (*document.get("study", []), *document.get("robust", [])):
            table.update(SMALL_FIELDS)
        copy = self.folder / f"small_{Path(words[place]).stem}.toml"
        copy.write_text(tomli_w.dumps(document), encoding="utf-8")
        return [*words[:place], copy.name, *words[place + 1 :]]

    def _weaker(self, known: str, words: list[str]) -> str:
        """What is checked of a command that is not run."""
        if words[0] == "make":
            told = subprocess.run(["make", "-n", *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
            assert told.returncode == 0, told.stderr
            if known == "make demo":
                done = [shlex.split(line) for line in told.stdout.splitlines() if line.startswith(".venv/bin/ravenlab")]
                assert len(done) == 3, told.stdout
                for each in done:
                    self._ravenlab(each[1:])
        elif known == "pip install":
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            asked = re.findall(r"\[([\w,]+)\]", " ".join(words))
            assert set(",".join(asked).split(",")) - {""} <= set(extras), words
        elif known == "python -m tests.":
            assert find_spec(words[2]) is not None, words
        elif known == "python docs/examples/":
            assert (ROOT / words[1]).is_file(), words
        elif words[0] == "dask":
            options = {option for parameter in _dask_command(words[1]).params for option in parameter.opts}
            assert {word for word in words[2:] if word.startswith("--")} <= options, words
        elif known == "docker compose":
            self._compose(words[2:])
        elif known == "ravenlab dashboard":
            with served("sqlite:///studies.sqlite3", folder=self.folder) as there:
                assert ask(there.port, "GET", "/api/meta").status == 200
        return ""

    def _compose(self, words: list[str]) -> None:
        """Services that are named exist; what the driver is to run is run here."""
        import yaml

        services = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
        assert words[0] in ("build", "up", "run", "down"), words
        scaled = [word.partition("=")[0] for option, word in pairwise(words) if option == "--scale"]
        named = [words[2]] if words[:2] == ["run", "--rm"] else []
        assert {*scaled, *named} <= set(services), words
        if named == ["driver"] and len(words) > 3:
            self._ravenlab(words[3:])

    def _toml(self, text: str) -> None:
        """A study file is read as one; anything else has to be TOML."""
        from studies.spec.files import load_robust_studies, load_study_file

        if not {"study", "robust"} & set(tomllib.loads(text)):
            return
        for kind in ("trace", "log"):
            if not (self.folder / f"{kind}.csv").exists():
                shutil.copy(self.folder / f"a_{kind}.csv", self.folder / f"{kind}.csv")
        path = self.folder / "block.toml"
        path.write_text(text, encoding="utf-8")
        assert len(load_study_file(path)) + len(load_robust_studies(path)) > 0


def _lines(block: Block) -> list[str]:
    """The commands of a block; what is printed, in a console block, is not among them."""
    text = block.text.replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines()]
    if block.language == "console":
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [line for line in lines if line and not line.startswith("#")]


def _dask_command(name: str) -> Any:
    """`dask scheduler` or `dask worker`, not run."""
    return import_module(f"distributed.cli.dask_{name}").main


def _small(function: Callable[..., Any], counts: dict[str, int]) -> Callable[..., Any]:
    @wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        return function(*given, **{**named, **counts})

    return called


def shape(text: str) -> list[str]:
    """Lines with numbers, spaces and rules evened out: what is the same at any budget.

    >>> shape("┏━━━┓\\n│ T10000  │ 79.5 (75.3 to 85.3) │")
    ['┏━┓', '│ T# │ # (# to #) │']
    """
    return [re.sub(r"[-+−]?\d+(\.\d+)?(e[-+]?\d+)?", "#", line) for line in exact(text)]


def exact(text: str) -> list[str]:
    """Lines with spaces and rules evened out."""
    lines = [re.sub(r"([━─═])\1+", r"\1", re.sub(r"\s+", " ", line)).strip() for line in text.splitlines()]
    return [line for line in lines if line]


def missing(shown: list[str], printed: list[str]) -> list[str]:
    """The lines of a page that were not printed; … stands for anything.

    >>> missing(["a … c", "d"], ["a b c"])
    ['d']
    """
    patterns = {line: ".*".join(re.escape(part.strip()) for part in line.split("…")) for line in shown}
    return [line for line, pattern in patterns.items() if not any(re.search(pattern, each) for each in printed)]
