"""Runs the code blocks of a page in order, in one folder per page."""

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
from ravenlab.tuning import short_search
from ravenlab.tuning.cli import app
from ravenlab.tuning.validation import sensitivity
from tests.dashboards.dashboard_process import send_request, start_dashboard
from tests.docs.markdown import Block
from tests.docs.substitutions import (
    EXAMPLES,
    NOT_RUN,
    SMALL_CALLS,
    SMALL_FIELDS,
    SMALL_MAPS,
    SMALL_SEARCHES,
    reduce_budget,
)
from tests.project import DOCS, ROOT


class PageRunner:
    """Runs the blocks of one page, with small budgets unless `full` is set."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], full: bool = False
    ) -> None:
        self.folder, self.full, self.capsys, self.monkeypatch = folder, full, capsys, monkeypatch
        self.namespace: dict[str, Any] = {}
        monkeypatch.chdir(folder)
        monkeypatch.setenv("COLUMNS", "200")
        (folder / "docs" / "examples").mkdir(parents=True)
        for name in EXAMPLES:
            shutil.copy(DOCS / "examples" / name, folder / "docs" / "examples" / name)
        for kind in ("trace", "log"):
            self._ravenlab(["init", f"a_{kind}.csv", f"--{kind}"])
        if not full:
            for limit, count in SMALL_SEARCHES.items():
                monkeypatch.setattr(short_search, limit, count)
            for limit, steps in SMALL_MAPS.items():
                monkeypatch.setattr(sensitivity, limit, steps)
            for name, counts in SMALL_CALLS.items():
                monkeypatch.setattr(ravenlab, name, with_counts(getattr(ravenlab, name), counts), raising=False)

    def run(self, block: Block) -> str:
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
            assert block.language == "text", f"unknown language {block.language!r}"
        return ""

    def _command(self, line: str) -> str:
        words = shlex.split(line, comments=True)
        if re.search(r"[|><;&`$]", "".join(words)):
            assert not re.search(r"ravenlab |python |make ", line), f"put this command on its own line: {line}"
            subprocess.run(["bash", "-euc", line], cwd=self.folder, check=True, capture_output=True)
            return ""
        words[0] = words[0].removeprefix(".venv/bin/")
        if words[0] == "ravenlab" and words[1:2] != ["dashboard"]:
            return self._ravenlab(words[1:])
        if words[0] == "export":
            name, _, value = reduce_budget(words)[1].partition("=")
            self.monkeypatch.setenv(name, value)
            return ""
        command = " ".join(words)
        prefix = next((prefix for prefix in NOT_RUN if command.startswith(prefix)), None)
        assert prefix is not None, f"not run, and not listed in tests/docs/substitutions.py: {command}"
        return self._check_without_running(prefix, words)

    def _ravenlab(self, words: list[str]) -> str:
        arguments = words if self.full else self._small_study(reduce_budget(words))
        code = app.run(arguments)
        printed = self.capsys.readouterr()
        assert code == 0, f"ravenlab {' '.join(arguments)}: {printed.err}"
        return printed.out

    def _small_study(self, words: list[str]) -> list[str]:
        """Replace a study file by a copy with its first two studies of each kind and small budgets."""
        if words[0] != "tune" or "--study" not in words or "--dry-run" in words:
            return words
        import tomli_w

        from ravenlab.studies.spec.files import find_study_file

        place = words.index("--study") + 1
        document = tomllib.loads(find_study_file(words[place]).read_text(encoding="utf-8"))
        for kind in ("study", "robust"):
            if kind in document:
                document[kind] = [{**table, **SMALL_FIELDS} for table in document[kind][:2]]
        copy = self.folder / f"small_{Path(words[place]).stem}.toml"
        copy.write_text(tomli_w.dumps(document), encoding="utf-8")
        return [*words[:place], copy.name, *words[place + 1 :]]

    def _check_without_running(self, known: str, words: list[str]) -> str:
        """Check that the parts of a command exist."""
        if words[0] == "make":
            dry_run = subprocess.run(["make", "-n", *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
            assert dry_run.returncode == 0, dry_run.stderr
            if known == "make demo":
                lines = [line for line in dry_run.stdout.splitlines() if line.startswith(".venv/bin/ravenlab")]
                assert len(lines) == 2, dry_run.stdout
                for line in lines:
                    self._ravenlab(shlex.split(line)[1:])
        elif known == "pip install":
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            extras_in_command = re.findall(r"\[([\w,]+)\]", " ".join(words))
            assert set(",".join(extras_in_command).split(",")) - {""} <= set(extras), words
        elif known == "python -m tools.":
            assert find_spec(words[2]) is not None, words
        elif known == "python docs/examples/":
            assert (ROOT / words[1]).is_file(), words
        elif words[0] == "dask":
            options = {option for parameter in _dask_command(words[1]).params for option in parameter.opts}
            assert {word for word in words[2:] if word.startswith("--")} <= options, words
        elif known == "docker compose":
            self._compose(words[2:])
        elif known == "ravenlab dashboard":
            with start_dashboard("sqlite:///studies.sqlite3", folder=self.folder) as site:
                assert send_request(site.port, "GET", "/api/meta").status == 200
        return ""

    def _compose(self, words: list[str]) -> None:
        """Check that named services exist, and run the command of the driver."""
        import yaml

        services = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
        assert words[0] in ("build", "up", "run", "down"), words
        scaled = [word.partition("=")[0] for option, word in pairwise(words) if option == "--scale"]
        named = [words[2]] if words[:2] == ["run", "--rm"] else []
        assert {*scaled, *named} <= set(services), words
        if named == ["driver"] and len(words) > 3:
            self._ravenlab(words[3:])

    def _toml(self, text: str) -> None:
        """Load a study file; other blocks only have to be valid TOML."""
        from ravenlab.studies.spec.files import load_robust_studies, load_study_file

        if not {"study", "robust"} & set(tomllib.loads(text)):
            return
        for kind in ("trace", "log"):
            if not (self.folder / f"{kind}.csv").exists():
                shutil.copy(self.folder / f"a_{kind}.csv", self.folder / f"{kind}.csv")
        path = self.folder / "block.toml"
        path.write_text(text, encoding="utf-8")
        assert len(load_study_file(path)) + len(load_robust_studies(path)) > 0


def _lines(block: Block) -> list[str]:
    """Return the commands of a block, without the output in a console block."""
    text = block.text.replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines()]
    if block.language == "console":
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [line for line in lines if line and not line.startswith("#")]


def _dask_command(name: str) -> Any:
    """Return the command `dask scheduler` or `dask worker` without running it."""
    return import_module(f"distributed.cli.dask_{name}").main


def with_counts(function: Callable[..., Any], counts: dict[str, int]) -> Callable[..., Any]:
    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{**kwargs, **counts})

    return wrapper


def shape(text: str) -> list[str]:
    """Return lines with normalized numbers, decisions, spaces and rules, which do not depend on the budget.

    >>> shape("┏━━━┓\\n│ T10000  │ 79.5 (75.3 to 85.3) │")
    ['┏━┓', '│ T# │ # (# to #) │']
    >>> shape("Keep the defaults: …\\nThe defaults: regret 5 higher (95 % CI −1 to 6; inconclusive)")
    ['(decision)', 'The defaults: regret # other (# % CI # to #)']
    """
    return [_normalize(line) for line in exact(text)]


def _normalize(line: str) -> str:
    line = re.sub(r"[-+−]?\d+(,\d{3})*(\.\d+)?(e[-+]?\d+)?", "#", line)
    line = re.sub(r"^(Use|Keep|Set only|Always use|Inconclusive)\b.*", "(decision)", line)
    line = re.sub(r"[,;] (tied|inconclusive)\b", "", line)
    return re.sub(r"\b(higher|lower)\b", "other", line)


def exact(text: str) -> list[str]:
    """Return lines with normalized spaces and rules."""
    lines = [re.sub(r"([━─═])\1+", r"\1", re.sub(r"\s+", " ", line)).strip() for line in text.splitlines()]
    return [line for line in lines if line]


def missing(shown: list[str], printed: list[str]) -> list[str]:
    """Return the lines of a page that were not printed; … matches any text.

    >>> missing(["a … c", "d"], ["a b c"])
    ['d']
    """
    patterns = {line: ".*".join(re.escape(part.strip()) for part in line.split("…")) for line in shown}
    return [line for line, pattern in patterns.items() if not any(re.search(pattern, output) for output in printed)]
