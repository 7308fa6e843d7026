"""Damaged and hostile storages: truncated files, flipped bits, random bytes, changed values, contents and schemas."""

import json
import re
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np

KINDS = ("cut", "bits", "text", "noise", "values", "contents", "leaves", "trials", "schema")

TEXT = re.compile(rb'[{\["][\x20-\x7e]{12,}')
"""Matches attributes, names and distributions in a file."""

VALUES = [
    None,
    "",
    "x",
    "null",
    "[]",
    "{}",
    '"x"',
    "[1, null]",
    '{"a": {}}',
    "NaN",
    "1e999",
    "1",
    -1,
    2**62,
    1e300,
    b"\xff",
]
"""Values that replace a column of a row."""

DEEP = (5000, 900, 300)
"""Depths of nested lists: more than Python parses, nearly as many, and more than it copies."""

LEAVES: list[Any] = [
    None,
    "",
    "x\x1b[31m",
    "NaN",
    [],
    {},
    [[]],
    True,
    -1,
    0,
    1e300,
    2**70,
    0.5,
    "blips",
    ["x"],
    {"x": None},
]
"""Values that replace a part of an attribute."""

PARAMETERS = (
    "DELETE FROM trial_params WHERE trial_id = {trial}",
    "UPDATE trial_params SET param_name = 'other' WHERE param_id = {param}",
    "UPDATE trial_params SET param_value = 1e9 WHERE param_id = {param}",
    "UPDATE trial_params SET param_value = -1 WHERE param_id = {param}",
    "UPDATE trial_params SET param_value = NULL WHERE param_id = {param}",
    """UPDATE trial_params SET param_value = 0, distribution_json = '{{"name": "CategoricalDistribution","""
    """ "attributes": {{"choices": ["a", null]}}}}' WHERE param_id = {param}""",
    """UPDATE trial_params SET distribution_json = '{{"name": "IntDistribution", "attributes": {{"low": 0, "high": 3,"""
    """ "step": 1, "log": false}}}}' WHERE param_id = {param}""",
    "UPDATE trial_user_attributes SET value_json = '\"text\"' WHERE key = 'stderr'",
    "UPDATE trial_user_attributes SET value_json = '[1, null]' WHERE trial_id = {trial}",
    "DELETE FROM trial_user_attributes WHERE trial_id = {trial}",
    "DELETE FROM trial_values WHERE trial_id = {trial}",
    "UPDATE trial_values SET value = NULL, value_type = 'INF_POS' WHERE trial_id = {trial}",
    "UPDATE trial_values SET value = 1e300 WHERE trial_id = {trial}",
    "UPDATE trials SET state = 'RUNNING' WHERE trial_id = {trial}",
    "UPDATE trials SET state = 'FAIL' WHERE trial_id = {trial}",
    "UPDATE trials SET number = 0 WHERE trial_id = {trial}",
    "UPDATE trials SET study_id = 1 WHERE trial_id = {trial}",
    "DELETE FROM trials WHERE trial_id = {trial}",
    "UPDATE studies SET study_id = study_id + 100",
    "UPDATE study_directions SET direction = 'MAXIMIZE'",
    "INSERT INTO study_directions (study_id, direction, objective)"
    " SELECT max(study_id) + 1, 'MINIMIZE', 0 FROM studies",
    "INSERT INTO trial_intermediate_values (trial_id, step, intermediate_value, intermediate_value_type)"
    " VALUES ({trial}, -1, 1e300, 'FINITE')",
)
"""Statements that change trials; each keeps the tables valid."""

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT"

SCHEMAS = {
    "endless view": f"DROP TABLE trial_values; CREATE VIEW trial_values AS {ENDLESS} x trial_value_id, x trial_id,"
    " 0 objective, 1.0 value, 'FINITE' value_type FROM n",
    "view of the names": f"DROP TABLE studies; CREATE VIEW studies AS {ENDLESS} x study_id, 'n' study_name FROM n",
    "generated column": "ALTER TABLE trials ADD COLUMN heartbeat TEXT AS (hex(zeroblob(400000000)))",
    "trigger": "CREATE TRIGGER number AFTER INSERT ON trials BEGIN DELETE FROM studies WHERE study_name = 'kept'; END",
    "virtual table": "CREATE VIRTUAL TABLE trial_heartbeats2 USING fts5(value)",
    "index of an expression": "CREATE INDEX number ON studies (hex(study_name))",
    "partial index": "CREATE INDEX number ON studies (study_id) WHERE hex(study_name)",
    "default": "DROP TABLE trial_heartbeats; CREATE TABLE trial_heartbeats (trial_id, heartbeat DEFAULT (hex(1)))",
    "cascade": "DROP TABLE trial_heartbeats; CREATE TABLE trial_heartbeats"
    " (trial_id REFERENCES trials ON DELETE CASCADE)",
    "conflict": "DROP TABLE trial_heartbeats; CREATE TABLE trial_heartbeats (trial_id UNIQUE ON CONFLICT REPLACE)",
    "comment": "CREATE INDEX number ON studies (study_id) -- study_id",
    "table of another program": "CREATE TABLE recipes (name TEXT, taste TEXT)",
}
"""Scripts that add SQL to the schema of a storage."""


def write_damaged(original: Path, place: Path, seed: int) -> str:
    """Write a damaged copy of a storage, reproducible by the seed; return a description of the damage."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    if kind in CHANGES:
        shutil.copyfile(original, place)
        return f"{kind}: {CHANGES[kind](place, rng)}"
    content = bytearray(original.read_bytes())
    if kind == "cut":
        at = int(rng.integers(1, len(content)))
        content = content[:at]
    elif kind == "bits":
        at = _flip_bits(content, rng, rng.integers(0, len(content), int(rng.integers(1, 5))))
    elif kind == "text":
        places = [int(rng.integers(*match.span())) for match in TEXT.finditer(content)]
        at = _flip_bits(content, rng, rng.choice(places, int(rng.integers(1, 4))))
    else:
        at = int(rng.integers(0, len(content) - 512))
        content[at : at + 512] = rng.bytes(512)
    place.write_bytes(content)
    return f"{kind} at {at}"


def _flip_bits(content: bytearray, rng: np.random.Generator, places: Iterable[int]) -> int:
    places = [int(place) for place in places]
    for place in places:
        content[place] ^= 1 << int(rng.integers(0, 8))
    return places[0]


def _replace_values(place: Path, rng: np.random.Generator) -> str:
    """Replace one to three random values; the file remains a valid database."""
    changes = []
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints = 1")
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    nonempty = [name for name in tables if connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]]
    for _ in range(int(rng.integers(1, 4))):
        table = nonempty[int(rng.integers(len(nonempty)))]
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column = columns[int(rng.integers(len(columns)))]
        value = VALUES[int(rng.integers(len(VALUES)))]
        rows = [row for (row,) in connection.execute(f"SELECT rowid FROM {table}")]
        row = rows[int(rng.integers(len(rows)))]
        try:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))
        except sqlite3.Error:  # a NOT NULL or UNIQUE constraint
            continue
        changes.append(f"{table}.{column}[{row}] = {value!r}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return ", ".join(changes) or "nothing"


def _choose(choices: Any, rng: np.random.Generator) -> Any:
    return choices[int(rng.integers(len(choices)))]


def _read_attributes(connection: sqlite3.Connection) -> list[tuple[str, int, str]]:
    return [
        (table, row, text)
        for table in ("study_user_attributes", "trial_user_attributes", "study_system_attributes")
        for row, text in connection.execute(f"SELECT rowid, value_json FROM {table}")
    ]


def _nest(place: Path, rng: np.random.Generator) -> str:
    """Replace an attribute by deeply nested lists."""
    with closing(sqlite3.connect(place)) as connection, connection:
        table, row, _ = _choose(_read_attributes(connection), rng)
        depth = _choose(DEEP, rng)
        text = "[" * depth + "]" * depth
        connection.execute(f"UPDATE {table} SET value_json = ? WHERE rowid = ?", (text, row))
    return f"{table}[{row}] nested {depth} times"


def _replace_leaf(place: Path, rng: np.random.Generator) -> str:
    """Replace a random part of an attribute, at a random depth, or remove it."""
    with closing(sqlite3.connect(place)) as connection, connection:
        table, row, text = _choose(_read_attributes(connection), rng)
        document = [json.loads(text)]
        node: Any = document
        path: list[Any] = []
        while True:
            path.append(_choose(list(node) if isinstance(node, dict) else range(len(node)), rng))
            if not isinstance(node[path[-1]], dict | list) or not node[path[-1]] or rng.random() < 0.2:
                break
            node = node[path[-1]]
        if isinstance(node, dict) and rng.random() < 0.3:
            del node[path[-1]]
        else:
            node[path[-1]] = value = _choose(LEAVES, rng)
            path.append(value)
        text = json.dumps(document[0])
        connection.execute(f"UPDATE {table} SET value_json = ? WHERE rowid = ?", (text, row))
    return f"{table}[{row}] {path}"


def _change_trials(place: Path, rng: np.random.Generator) -> str:
    with closing(sqlite3.connect(place)) as connection, connection:
        trials = [trial for (trial,) in connection.execute("SELECT trial_id FROM trials")]
        params = [param for (param,) in connection.execute("SELECT param_id FROM trial_params")]
        statements = []
        for _ in range(int(rng.integers(1, 3))):
            statement = _choose(PARAMETERS, rng).format(trial=_choose(trials, rng), param=_choose(params, rng))
            with suppress(sqlite3.IntegrityError):  # the second change may contradict the first one
                connection.execute(statement)
                statements.append(statement)
    return "; ".join(statements)


def add_sql(place: Path, script: str) -> None:
    """Execute a script on a file."""
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA legacy_alter_table=ON")
        connection.executescript(script)


def _add_random_sql(place: Path, rng: np.random.Generator) -> str:
    kind = _choose(list(SCHEMAS), rng)
    add_sql(place, SCHEMAS[kind])
    return str(kind)


CHANGES = {
    "values": _replace_values,
    "contents": _nest,
    "leaves": _replace_leaf,
    "trials": _change_trials,
    "schema": _add_random_sql,
}
"""Kinds of damage that leave a valid database."""
