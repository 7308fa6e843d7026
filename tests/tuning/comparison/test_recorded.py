"""Comparisons on traces and logs."""

import json
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ravenlab
from ravenlab.environments.recorded.examples import log_to_csv
from ravenlab.environments.recorded.log_world import MIN_REPLAYS
from ravenlab.studies.results.comparison import ComparisonEntry, RecordedResult, RegretCurve
from ravenlab.studies.results.ranking import build_recorded_board
from ravenlab.studies.spec.parse import parse_comparison_spec, parse_study_spec
from ravenlab.tuning.comparison.run import play_entry
from ravenlab.tuning.workers.local import Call, LocalWorkers, Timer
from ravenlab.tuning.workers.problem import Evaluator
from tests.command import printed, refused
from tests.environments.recordings import draw_log, table, write_csv
from tests.messages import assert_names

SMALL: dict[str, Any] = {"tune": 4, "search_replications": 10, "replications": 60, "policies": "raven-ucb,ucb1"}


@pytest.fixture
def trace_file(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "mine.csv", 50 * table(rows=600, missing=0.1))


def test_comparison_on_a_trace(trace_file: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.sqlite3"
    result = ravenlab.compare(trace=str(trace_file), horizon=40, storage=url, output=tmp_path / "out", **SMALL)
    assert result.results == (result,)
    assert result.comparison.study.startswith("compare/trace:mine/T40/K4")
    for board in result.boards:
        assert board.ranks is None
        for standing in board.standings:
            recorded = standing.entry.recorded
            assert recorded is not None
            assert recorded.rows == 600
            assert recorded.parts is not None
            assert recorded.parts.shape == (600,)
            assert 0 < recorded.reward < 50
            assert standing.regret.low < standing.regret.mean < standing.regret.high
            assert standing.behind is None or standing.behind.share is None
    best, second = result.main.standings
    assert second.behind is not None
    assert best.entry.recorded is not None
    assert second.entry.recorded is not None
    lost = (best.entry.recorded.reward - second.entry.recorded.reward) * 40
    np.testing.assert_allclose(second.behind.difference.mean, lost)
    parallel = ravenlab.compare(
        trace=str(trace_file), horizon=40, storage=f"sqlite:///{tmp_path}/t.sqlite3", jobs=2, **SMALL
    )
    assert parallel.as_json() == result.as_json() == (tmp_path / "out" / "compare.json").read_text(encoding="utf-8")
    again = ravenlab.compare(trace=str(trace_file), horizon=40, storage=url, **SMALL)
    assert again.as_json() == result.as_json()
    page = (tmp_path / "out" / "compare.html").read_text(encoding="utf-8")
    assert_names(page, "Reward per step", "block bootstrap")
    assert "--window 40" in re.sub("</?span>", "", page)
    trace_file.unlink()
    assert_names(printed("show", result.comparison.study, "--storage", url), "raven-ucb", "ucb1")


def test_comparison_on_a_log(tmp_path: Path) -> None:
    path = tmp_path / "ads.csv"
    path.write_text(log_to_csv(draw_log(events=3000)), encoding="utf-8")
    command = ["compare", "--log", str(path), "--policies", "ucb1,epsilon-greedy", "--tune", "2", "-q", "--json"]
    command += ["--replications", str(MIN_REPLAYS), "--search-replications", "4", "-o", str(tmp_path / "out")]
    (comparison,) = json.loads(printed(*command, "--storage", f"sqlite:///{tmp_path}/s.sqlite3"))["comparisons"]
    assert comparison["scenario"] == "log:ads"
    for board in comparison["boards"]:
        assert {standing["policy"] for standing in board["standings"]} == {"ucb1", "epsilon-greedy"}
        for standing in board["standings"]:
            assert 0.2 < standing["reward_per_step"] < 0.6
            assert standing["low"] < standing["mean"] < standing["high"]
    assert "raven-auto, suggested for such rewards without tuning," in printed(
        "show", comparison["study"], "--storage", f"sqlite:///{tmp_path}/s.sqlite3"
    )
    page = (tmp_path / "out" / "compare.html").read_text(encoding="utf-8")
    assert_names(page, "--log", "Estimator: resampling from all events of the arm, because")


def test_policy_without_parameters_on_a_trace(trace_file: Path, tmp_path: Path) -> None:
    fields: dict[str, Any] = {"trace": str(trace_file), "horizon": 40, "tune": 0, "replications": 20}
    url = f"sqlite:///{tmp_path}/s.sqlite3"
    result = ravenlab.compare(policies="ucb1,raven-auto", output=tmp_path / "out", storage=url, **fields)
    assert [(entry.policy, entry.params) for entry in result.comparison.entries][1] == ("raven-auto", {})
    assert result.comparison.entries[1].recorded is not None


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["blips"], ["SCENARIO", "--trace"]),
        (["--horizon", "50"], ["--horizon", "--window"]),
        (["--window", "200"], ["window", "120"]),
        (["--policies", "published-thompson"], ["published-thompson", "trace"]),
    ],
)
def test_options_incompatible_with_a_trace(options: list[str], names: list[str], trace_file: Path) -> None:
    assert_names(refused("compare", "--trace", str(trace_file), *options), *names)


def test_changed_trace_is_refused(trace_file: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.sqlite3"
    fields = {**SMALL, "tune": 0, "storage": url, "horizon": 40}
    ravenlab.compare(trace=str(trace_file), **fields)
    write_csv(trace_file, table(rows=600, seed=3))
    with pytest.raises(ravenlab.InputError, match="has changed"):
        ravenlab.compare(trace=str(trace_file), **fields)


def make_entry(policy: str, regret: float, noise: np.ndarray[Any, np.dtype[np.float64]]) -> ComparisonEntry:
    """Make an entry whose mean regret has an error that is the sum of the noise."""
    parts = noise - noise.mean()
    sample = np.full(20, regret + noise.sum())
    return ComparisonEntry(
        policy, "defaults", {}, sample, RegretCurve((), (), ()), recorded=RecordedResult(0.0, noise.size, parts)
    )


def test_false_positive_rate_on_traces(trace_file: Path) -> None:
    """Equal policies on autocorrelated rows: the best of three differs significantly from another in at most 5 %."""
    spec = parse_comparison_spec({"trace": str(trace_file), "horizon": 20, "policies": ["ucb1"], "tune": 0})
    rng = np.random.default_rng(1)
    false, trials = 0, 200
    for _ in range(trials):
        series = rng.normal(size=(3, 303))
        series = (series[:, 3:] + series[:, 2:-1] + series[:, 1:-2]) / 300
        board = build_recorded_board(
            spec, "defaults", "equal", [make_entry(f"p{k}", 1.0, row) for k, row in enumerate(series)]
        )
        false += any(not standing.among_the_best for standing in board.standings)
    assert false <= 0.05 * trials + 3 * np.sqrt(0.05 * 0.95 * trials)
    shifted = [make_entry(f"p{k}", float(k), row) for k, row in enumerate(series)]
    assert build_recorded_board(spec, "defaults", "unequal", shifted).standings[2].behind.significant  # type: ignore[union-attr]


def test_no_difference_is_significant_with_few_effective_rows(trace_file: Path) -> None:
    spec = parse_comparison_spec({"trace": str(trace_file), "horizon": 20, "policies": ["ucb1"], "tune": 0})
    walk = np.cumsum(np.random.default_rng(1).normal(size=(2, 200)), axis=1)
    entries = [make_entry("a", 0.0, walk[0] - walk[0].mean()), make_entry("b", 1e6, walk[1] - walk[1].mean())]
    second = build_recorded_board(spec, "defaults", "few rows", entries).standings[1]
    assert second.behind is not None
    assert not second.behind.enough
    assert second.among_the_best


def test_time_per_step_on_a_log_is_that_of_the_tasks(tmp_path: Path) -> None:
    """The driver waits while two workers play, so its own time is not that of the policy."""
    path = tmp_path / "ads.csv"
    path.write_text(log_to_csv(draw_log(events=6000)), encoding="utf-8")
    spec = parse_study_spec({"log": str(path), "policy": "ucb1"})
    spent: list[float] = []

    class TimedWorkers(LocalWorkers):
        """Measures the time of the threads that play."""

        def run(self, task: Callable[..., Any], calls: Sequence[Call], timer: Timer | None = None) -> list[Any]:
            def timed(*call: Any) -> Any:
                begin = time.thread_time()
                result = task(*call)
                spent.append(time.thread_time() - begin)
                return result

            return super().run(timed, calls, timer)

    evaluator = Evaluator(spec, TimedWorkers(2))
    play_entry(evaluator, spec.resolve_params({}), 4 * MIN_REPLAYS)  # compiles the loop and draws the replications
    spent.clear()
    played = play_entry(evaluator, spec.resolve_params({}), 4 * MIN_REPLAYS)
    assert played.recorded is not None
    seconds = played.nanoseconds * 4 * MIN_REPLAYS * played.recorded.rows / 1e9
    assert 0.2 * sum(spent) < seconds < sum(spent)
