"""Damaged study files, traces, logs and exports: a valid result, or one line.

The files in the folder `corpus` are valid, except those that begin with `found-`: random changes once led to them, and
they made a reader fail.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ravenlab.common.errors import InputError
from ravenlab.environments.recorded.examples import example_log, example_trace
from ravenlab.environments.recorded.log_file import read_log
from ravenlab.environments.recorded.trace_file import read_trace
from ravenlab.policies.engine.base import Policy
from ravenlab.policies.engine.loading import read_entries
from ravenlab.studies.spec.files import load_robust_studies, load_study_file

pytestmark = pytest.mark.filterwarnings("ignore:.*exported by an earlier version:UserWarning")

CORPUS = Path(__file__).with_name("corpus")
CHANGED_FILES = 4 * int(os.environ.get("RAVENLAB_FUZZ", "25"))
"""Changed files per reader; 4,000 in `make stress`."""

MAX_MESSAGE = 2000

WORDS = [
    *("\n", "\r", ",", ";", ".", "=", "[", "]", "[[", "]]", "{", "}", '"', "'", '"""', "#", "\\", "\\u0000", "\t"),
    *("0", "-1", "1e400", "nan", "inf", "9" * 20, "9" * 5000, "1_0", "0x10", "true", "null", "None", "", " ", "٣"),
    *("[[study]]\n", "[study.space]\n", "scenario", "horizon = 5\n", "step", "arm", "reward", "a" * 2000, "blips"),
    *("<script>", "../", "\x00", "\x1b[31m", "\u202e", "\ufeff", "1979-05-27T07:32:00Z", "{}", "[]", "a.b.c = 1\n"),
]


def load_studies(path: Path) -> None:
    load_study_file(path)
    load_robust_studies(path)


def load_policies(path: Path) -> None:
    for entry in read_entries(path):
        Policy.load(path, scenario=entry.scenario, horizon=entry.horizon, arms=entry.arms, study=entry.study)


READERS: dict[str, Callable[[Path], object]] = {
    "study": load_studies,
    "trace": read_trace,
    "log": read_log,
    "recommended": load_policies,
}


def read(path: Path, kind: str) -> bool:
    """Read a file; return whether it is valid. Any error must be an InputError with one line."""
    message = ""
    try:
        READERS[kind](path)
    except InputError as error:
        message = str(error) or "\n\n"
    assert len(message.splitlines()) <= 1, message
    assert len(message) < MAX_MESSAGE
    return not message


def corpus_files(kind: str) -> list[Path]:
    return sorted(path for path in CORPUS.iterdir() if kind in path.stem.split("-"))


@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_corpus(path: Path) -> None:
    kind = next(kind for kind in READERS if kind in path.stem.split("-"))
    assert read(path, kind) or path.name.startswith("found-")


@st.composite
def changed(draw: st.DrawFn, contents: list[bytes]) -> bytes:
    """Generate a content with a few changes: pieces removed, repeated or inserted, and bytes replaced."""
    content, words = draw(st.sampled_from(contents)), st.sampled_from(WORDS).map(str.encode)
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(content)))
        end = draw(st.integers(begin, min(len(content), begin + 40)))
        pieces = [content[begin:end] * draw(st.integers(0, 50)), draw(st.binary(max_size=3)), draw(words)]
        content = content[:begin] + draw(st.sampled_from(pieces)) + content[end:]
    return content


def check_changed(contents: list[bytes], place: Path, kind: str, count: int = CHANGED_FILES) -> None:
    @settings(max_examples=count, suppress_health_check=list(HealthCheck))
    @given(changed(contents))
    def try_one(content: bytes) -> None:
        place.write_bytes(content)
        read(place, kind)

    try_one()


@pytest.mark.parametrize("kind", READERS)
def test_changed_text_files(kind: str, tmp_path: Path) -> None:
    for path in CORPUS.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())  # study files refer to traces and logs
    for suffix in sorted({path.suffix for path in corpus_files(kind)}):
        contents = [path.read_bytes() for path in corpus_files(kind) if path.suffix == suffix]
        check_changed(contents, tmp_path / f"changed{suffix}", kind)


@pytest.mark.parametrize("kind", ["trace", "log"])
def test_changed_parquet_files(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "changed.parquet"
    if kind == "trace":
        trace = example_trace()
        frame = pandas.DataFrame(trace.values[:50], columns=list(trace.names))
    else:
        log = example_log(events=50)
        frame = pandas.DataFrame({"step": log.step, "arm": [log.names[k] for k in log.arm], "reward": log.reward})
    frame.to_parquet(path, index=False)
    check_changed([path.read_bytes()], path, kind)
