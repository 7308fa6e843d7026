"""`ravenlab compare`: files, tables, other commands on a comparison, and invalid input."""

import csv
import json
from pathlib import Path

import pytest

from ravenlab.common.text import format_percent
from ravenlab.tuning.cli.app import run
from tests.command import printed, refused
from tests.messages import assert_names

Captured = pytest.CaptureFixture[str]
SMALL = ["--horizon=60", "--arms=3", "--policies=ucb1,ccb,epsilon-greedy", "--replications=8", "--jobs=1"]
TUNED = [*SMALL, "--tune=3", "--search-replications=4"]


def compare_command(folder: Path, *more: str) -> list[str]:
    return ["compare", *more, f"--storage=sqlite:///{folder}/studies.sqlite3", f"--output={folder}/out"]


def test_files_tables_and_json_agree(tmp_path: Path, capsys: Captured) -> None:
    assert run(compare_command(tmp_path, "blips", "stationary", *TUNED)) == 0
    captured = capsys.readouterr()
    assert_names(captured.err.splitlines()[0], 6, 8, 3, 4)
    assert captured.out.count("ns per step") == 4
    out = tmp_path / "out"
    assert {path.name for path in out.iterdir()} == {
        f"compare.{suffix}" for suffix in ("csv", "html", "json", "md", "tex")
    }
    document = json.loads((out / "compare.json").read_text())
    rows = list(csv.DictReader((out / "compare.csv").read_text().splitlines()))
    standings = [
        (comparison["scenario"], board["setting"], standing["policy"], standing["mean"])
        for comparison in document["comparisons"]
        for board in comparison["boards"]
        for standing in board["standings"]
    ]
    assert len(standings) == 12
    assert [(row["scenario"], row["setting"], row["policy"], float(row["regret"])) for row in rows] == standings
    assert (out / "compare.tex").read_text().count(r"\begin{tabular}") == 5
    assert (out / "compare.md").read_text().count("★") == 2 + 4 + 1
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert run([*compare_command(tmp_path, "blips", "stationary", *TUNED), "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err.count("already complete.") == 2
    assert json.loads(captured.out) == document
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_other_commands_support_comparisons(tmp_path: Path) -> None:
    storage = f"--storage=sqlite:///{tmp_path}/studies.sqlite3"
    (comparison,) = json.loads(printed(*compare_command(tmp_path, "blips", *SMALL, "--tune=0", "--quiet"), "--json"))[
        "comparisons"
    ]
    (row,) = json.loads(printed("studies", storage, "--json"))
    assert (row["name"], row["kind"], row["finished"], row["planned"]) == (comparison["study"], "comparison", 3, 3)
    assert json.loads(printed("show", "compare", storage, "--json"))["comparison"] == comparison
    assert_names(printed("show", "compare", "--all", storage).splitlines()[-1], "comparison", "3 of 3")
    assert_names(refused("export", "compare*", storage), "comparison", "ravenlab compare")
    printed("copy", "compare", "--as=copied", f"--to=sqlite:///{tmp_path}/copy.sqlite3", storage)
    assert json.loads(printed("show", "copied", f"--storage=sqlite:///{tmp_path}/copy.sqlite3", "--json"))[
        "comparison"
    ] == {**comparison, "study": "copied"}
    assert run(["report", storage, "-o", f"{tmp_path}/report.html"]) == 0


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["blips", "--policies=ucb2"], ["policy", "'ucb2'", "'ucb1'"]),
        (["blips", "--policies=published-ucb1"], ["published-ucb1"]),
        (["blips", "--policies=oracle-ucb1"], ["deployed"]),
        (["blips", "--policies="], ["policy", "''"]),
        (["blips", "--replications=0"], ["--replications", 2, 0]),
        (["blips", "--search-replications=1"], ["--search-replications", 2, 1]),
        (["blips", "--tune=-1"], ["--tune", 0, -1]),
        (["blips", "--tune=x"], ["--tune", "'x'"]),
        (["blips", "periodic", "--name=x"], ["--name", 2]),
        (["blips", "--backend=dask"], ["--backend", "threads", "loky"]),
        ([], ["--scenarios"]),
    ],
)
def test_invalid_input_is_refused_before_anything_is_created(
    arguments: list[str], names: list[object], tmp_path: Path
) -> None:
    assert_names(refused(*compare_command(tmp_path, *arguments)), *names)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("highest", "suggested"), [("0.06", "thompson and raven-ucb"), ("0.6", "raven-auto")])
def test_suggested_policies_follow_the_kind_of_reward(highest: str, suggested: str, tmp_path: Path) -> None:
    rewards = ["--noise=bernoulli", "--set=mean_low=0.01", f"--set=mean_high={highest}"]
    command = compare_command(tmp_path, "stationary", *SMALL, "--tune=0", "--quiet", *rewards)
    assert f"\n{suggested}, suggested for such rewards without tuning," in printed(*command)
    assert "suggested for such rewards" not in printed(*command, "--policies=ucb1,thompson,raven-ucb,raven-auto")


def test_policies_without_parameters_are_compared_with_tuned_ones(tmp_path: Path) -> None:
    arguments = [argument for argument in TUNED if not argument.startswith("--policies")]
    command = compare_command(tmp_path, "blips", "stationary", *arguments)
    assert_names(
        printed(*command, "--policies=ucb1,published-ucb1,oracle-ucb1", "--quiet"),
        "published-ucb1",
        "none",
        "oracle-ucb1 †",
        "knows the true changes",
    )
    written = (tmp_path / "out" / "compare.md").read_text()
    table = written[written.index("No tuning") :]
    document = json.loads((tmp_path / "out" / "compare.json").read_text())
    excess = []
    for comparison in document["comparisons"]:
        tuned, untuned = comparison["boards"]
        means = {standing["policy"]: standing["mean"] for standing in tuned["standings"]}
        assert means["published-ucb1"] == next(
            standing["mean"] for standing in untuned["standings"] if standing["policy"] == "published-ucb1"
        )
        assert tuned["standings"][-1]["anchor"]
        excess.append(means["published-ucb1"] / means["ucb1"] - 1.0)
    row = next(line for line in table.splitlines() if line.startswith("| published-ucb1"))
    assert_names(row, "none", format_percent(max(excess)), format_percent(sum(excess) / 2))
    assert "oracle-ucb1" not in table.split("★")[0]
