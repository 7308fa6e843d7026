"""Advice for the example problems, deployed in their generators: python -m tools.evidence.example_advice --seeds 10.

Each problem is brought as a user would bring it, by several routes: a description, a log, a trace. What
`ravenlab recommend` answers is played for the whole horizon on new rewards with the true expected values, and compared
with the class as constructed, the best fixed arm chosen beforehand (the arm with the best mean in recorded data, if
there are any), the logging policy, and policies that need no tuning. Criteria:

- The advice is worse than one of the first three by more than 5 % of the reference and three standard errors in no more
  cases than a binomial variable with probability 5 % exceeds with 1 %.
- Its regret is within 5 % of the best of the tried policies, chosen on the other seeds, in the median.

The file keeps one line per problem and seed, so that the command can be interrupted and run again.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

import ravenlab
from ravenlab.environments.recorded.problems import ExampleProblem, choose_by_logging, make_problem
from ravenlab.environments.world import Floats, Ints
from ravenlab.policies import find_policy
from tools.evidence.harness import append_line, make_parser, parallel_map, read_lines

REPETITIONS = {"carriers": 6, "regions": 6, "headlines": 2}
UNTUNED = ("raven-auto", "d-raven", "sw-raven", "thompson")
CONSTRUCTED = "class as constructed"
FIXED = "best fixed arm of the data"
LOGGER = "logging policy"
TOLERANCE = 0.05
ERROR_RATE = 0.05

DESCRIPTIONS: dict[str, dict[str, Any]] = {
    "carriers": {"scenario": "periodic", "difference": 4.0, "sd": 6.0, "changes": 26},
    "headlines": {"scenario": "incremental-drift", "difference": 0.01, "rate": 0.03},
    "regions": {"scenario": "localized-jump", "difference": 0.13, "sd": 0.05, "changes": 1},
}
ROUTES = {
    "carriers": ("description", "log", "trace"),
    "headlines": ("description", "uniform-log", "log"),
    "regions": ("description", "trace"),
}

Player = Callable[[Floats, np.random.Generator], Ints]
"""Chooses the arm of each step from a table of values."""


def play_policy(problem: ExampleProblem, name: str, params: Mapping[str, Any]) -> Player:
    """Let a policy choose; it is told rewards, which are negative costs."""

    def play(values: Floats, rng: np.random.Generator) -> Ints:
        policy = find_policy(name)(
            arms=len(problem.names), horizon=len(values), seed=int(rng.integers(2**31)), **params
        )
        rewards = -values if problem.minimize else values
        missing = np.isnan(rewards)
        changed = np.flatnonzero((missing[1:] != missing[:-1]).any(axis=1)) + 1
        arms = np.empty(len(values), np.int64)
        for t in range(len(values)):
            if t in changed:
                for arm in np.flatnonzero(missing[t] != missing[t - 1]).tolist():
                    (policy.close if missing[t, arm] else policy.open)(arm)
            choice = int(policy.select())
            policy.update(choice, float(rewards[t, choice]))
            arms[t] = choice
        return arms

    return play


def play_arm(arm: int, problem: ExampleProblem) -> Player:
    """Play one arm, and the next one while it is unavailable."""

    def play(values: Floats, rng: np.random.Generator) -> Ints:
        return np.where(np.isnan(values[:, arm]), (arm + 1) % len(problem.names), arm)

    return play


def play_logger(problem: ExampleProblem, share: float) -> Player:
    return lambda values, rng: choose_by_logging(values, share, rng, problem.minimize)[0]


def advise(problem: ExampleProblem, route: str, folder: Path) -> ravenlab.RecommendedParameters:
    """Ask as a user would ask."""
    if route == "description":
        described = dict(DESCRIPTIONS[problem.name])
        scenario = described.pop("scenario")
        return ravenlab.recommend(
            scenario, len(problem.means), arms=len(problem.names), progress=False, jobs=1, **described
        )
    file = folder / f"{problem.name}-{route}.csv"
    return ravenlab.recommend(file, minimize=problem.minimize, progress=False, jobs=1)


def player_of(problem: ExampleProblem, result: ravenlab.RecommendedParameters, logger: Player | None) -> Player:
    """Return what the answer says to use."""
    study = result.study
    if study is None:
        if result.law is not None and result.law.better is not None:
            return play_policy(problem, result.law.better.policy, result.law.better.params)
        return play_policy(problem, result.policy, result.params)
    verdict = study.verdict
    if verdict.decision == "use one arm":
        return play_arm(problem.names.index(str(verdict.arm)), problem)
    if verdict.decision == "keep the logging policy":
        assert logger is not None
        return logger
    if verdict.decision == "use another policy":
        other = next(each for each in study.alternatives if each.name == verdict.policy)
        return play_policy(problem, other.name, other.params)
    return play_policy(problem, study.policy, study.params)


def run_seed(task: tuple[str, int]) -> list[dict[str, Any]]:
    """Ask by all routes of a problem, and play all answers and references; return a row per route."""
    name, seed = task
    problem = make_problem(name, seed)
    scale = {"unit": 1.0}
    players: dict[str, Player] = {CONSTRUCTED: play_policy(problem, "raven-ucb", {})}
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        for file, text in problem.files(seed).items():
            Path(folder, file).write_text(text)
        for route in ROUTES[name]:
            share = 1.0 if route == "uniform-log" else 0.1
            logger = play_logger(problem, share) if route.endswith("log") else None
            result = advise(problem, route, Path(folder))
            answers[route] = str(result).splitlines()[0]
            players[route] = player_of(problem, result, logger)
            if logger is not None:
                players[f"{LOGGER} of {route}"] = logger
            if result.study is not None and result.study.unit != 1.0 and route != "description":
                scale = {"unit": result.study.unit}
    means = np.nanmean(problem.values(np.random.default_rng([seed, 5])), axis=0)
    players[FIXED] = play_arm(int(np.argmin(means) if problem.minimize else np.argmax(means)), problem)
    for policy in UNTUNED:
        params = {"low": 0.0, "high": 1.0} if policy == "thompson" else {}
        known = {param.name for param in find_policy(policy).parameters}
        players[policy] = play_policy(
            problem, policy, {key: value for key, value in (params | scale).items() if key in known}
        )
    regrets: dict[str, list[float]] = defaultdict(list)
    for repetition in range(REPETITIONS[name]):
        values = problem.values(np.random.default_rng([seed, 100 + repetition]))
        for player, play in players.items():
            arms = play(values, np.random.default_rng([seed, 200 + repetition]))
            regrets[player].append(problem.expected_regret(arms))
    rows = []
    for route in ROUTES[name]:
        own = np.array(regrets[route])
        references = [CONSTRUCTED, *([] if route == "description" else [FIXED])]
        references += [f"{LOGGER} of {route}"] if route.endswith("log") else []
        worse = []
        for reference in references:
            difference = own - np.array(regrets[reference])
            error = difference.std(ddof=1) / np.sqrt(difference.size)
            if difference.mean() > 3.0 * error + TOLERANCE * np.mean(regrets[reference]):
                worse.append(reference)
        rows.append(
            {
                "problem": name,
                "seed": seed,
                "route": route,
                "answer": answers[route],
                "regret": float(own.mean()),
                "references": {key: float(np.mean(value)) for key, value in regrets.items() if key not in ROUTES[name]},
                "worse": worse,
                "compared": len(references),
            }
        )
    return rows


def append_seed(task: tuple[str, int], file: Path) -> None:
    """Run a seed of a problem, print its rows and append them to the file."""
    begin = time.perf_counter()
    rows = run_seed(task)
    append_line(file, rows)
    for row in rows:
        print(describe_row(row), flush=True)
    print(f"{task[0]} {task[1]}: {time.perf_counter() - begin:.0f} s", flush=True)


def describe_row(row: Mapping[str, Any]) -> str:
    """Describe a case: its regret, the references and the answer."""
    known = ", ".join(f"{name} {regret:.4g}" for name, regret in row["references"].items())
    worse = f" WORSE than {', '.join(row['worse'])}" if row["worse"] else ""
    return f"{row['problem']} {row['seed']} {row['route']}: {row['regret']:.4g} ({known}){worse}\n    {row['answer']}"


def format_table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Format the table of the docs: median regrets by problem and route."""
    yield "| problem | route | seeds | advice | class as constructed | best fixed arm | logging policy | worse |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name, routes in ROUTES.items():
        for route in routes:
            some = [row for row in rows if (row["problem"], row["route"]) == (name, route)]
            if some:
                cells = [f"{np.median([row['regret'] for row in some]):,.4g}"]
                for reference in (CONSTRUCTED, FIXED, f"{LOGGER} of {route}"):
                    regrets = [row["references"][reference] for row in some if reference in row["references"]]
                    cells.append(f"{np.median(regrets):,.4g}" if regrets else "–")
                worse = sum(len(row["worse"]) for row in some)
                total = sum(row["compared"] for row in some)
                yield f"| {name} | {route} | {len(some)} | {' | '.join(cells)} | {worse} of {total} |"


def main() -> None:
    """Run the seeds that the file lacks, and print the criteria and a row per problem and route."""
    parser = make_parser(__doc__, first=True, seeds=10, jobs=True)
    parser.add_argument("--file", type=Path, default=Path("example_advice.jsonl"))
    parser.add_argument("--problems", nargs="*", choices=list(ROUTES), default=list(ROUTES))
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    known = {(rows[0]["problem"], rows[0]["seed"]) for rows in read_lines(options.file)}
    tasks = [(name, seed) for seed in seeds for name in options.problems if (name, seed) not in known]
    parallel_map(partial(append_seed, file=options.file), tasks, options.jobs)
    rows = [row for rows in read_lines(options.file) for row in rows if row["seed"] in seeds]
    compared = sum(row["compared"] for row in rows)
    worse_cases = sum(len(row["worse"]) for row in rows)
    allowed = int(binom.ppf(0.99, compared, ERROR_RATE))
    excess = []
    for row in rows:
        others = [other for other in rows if other["problem"] == row["problem"] and other["seed"] != row["seed"]]
        if others:
            tried = [CONSTRUCTED, *UNTUNED]
            best = min(tried, key=lambda policy: np.mean([other["references"][policy] for other in others]))
            excess.append(row["regret"] / row["references"][best] - 1.0)
    print("\n".join(format_table(rows)))
    print(f"worse in {worse_cases} of {compared} comparisons; {allowed} allowed")
    if excess:
        print(f"excess over the best of the tried policies: median {np.median(excess):+.1%}; at most 5 % wanted")


if __name__ == "__main__":
    main()
