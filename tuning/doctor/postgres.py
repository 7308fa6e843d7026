"""A PostgreSQL database: connection, rights and round trips. It is only read."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

from studies.faults import reason_of
from studies.postgres import connect_args
from studies.urls import parse, shown
from tuning.doctor.rows import NOTE, PROBLEM, Check

if TYPE_CHECKING:
    from sqlalchemy import Connection

ROUNDS = 5
SLOW = 0.02
"""Seconds of a round trip that make landing slow: a trial needs several."""

RIGHTS = """
SELECT current_setting('server_version') AS version, current_setting('transaction_read_only') = 'on' AS fixed,
       current_schema() AS schema, to_regclass('studies') IS NOT NULL AS present,
       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create
"""

BARRED = """
SELECT relname FROM pg_class
WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('studies'))
  AND relname LIKE ANY (ARRAY['studies%', 'study\\_%', 'trials%', 'trial\\_%'])
  AND CASE relkind
      WHEN 'r' THEN NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
                         AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
      WHEN 'S' THEN NOT has_sequence_privilege(oid, 'USAGE')
      ELSE false END
ORDER BY relkind DESC, relname
"""
"""Tables of studies that this user may not read and write, and counters of theirs that it may not count on."""


def postgres_checks(url: str) -> list[Check]:
    """Rows on a database of studies."""
    from sqlalchemy import create_engine
    from sqlalchemy.exc import SQLAlchemyError
    from sqlalchemy.pool import NullPool

    name = shown(url)
    try:
        engine = create_engine(parse(url), poolclass=NullPool, connect_args=connect_args(url))
    except ImportError:
        return [Check("storage", f"{name}: psycopg is missing", PROBLEM, 'pip install "ravenlab[postgres]"')]
    begin = time.perf_counter()
    try:
        with engine.connect() as connection:
            connected = time.perf_counter() - begin
            return [_rights(connection, name, connected), _round_trip(connection)]
    except SQLAlchemyError as error:
        return [
            Check(
                "storage",
                f"{name}: {reason_of(url, error)}",
                PROBLEM,
                "check host, port, user, password and that it runs",
            )
        ]


def _rights(connection: Connection, name: str, connected: float) -> Check:
    from sqlalchemy import text

    row = connection.execute(text(RIGHTS)).one()
    found = f"{name}: PostgreSQL {row.version.split()[0]}, connected in {connected * 1e3:.0f} ms"
    if row.fixed:
        return Check("storage", f"{found}, read-only", PROBLEM, "connect to the primary server, or as another user")
    if not row.present:
        if row.may_create:
            return Check("storage", f"{found}, no studies yet, tables can be made")
        advice = f"GRANT CREATE ON SCHEMA {row.schema or 'public'} to this user"
        return Check("storage", f"{found}, no studies yet and no right to make tables", PROBLEM, advice)
    barred = connection.execute(text(BARRED)).scalars().all()
    if barred:
        advice = "GRANT ALL ON ALL TABLES and ON ALL SEQUENCES in their schema to this user"
        return Check("storage", f"{found}, no right to write {', '.join(barred)}", PROBLEM, advice)
    return Check("storage", f"{found}, can be written")


def _round_trip(connection: Connection) -> Check:
    from sqlalchemy import text

    spent = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        connection.execute(text("SELECT 1")).scalar_one()
        spent.append(time.perf_counter() - begin)
    usual = statistics.median(spent)
    found = f"{usual * 1e3:.2f} ms to the database and back"
    if usual > SLOW:
        return Check("round trip", found, NOTE, "landing a trial takes several; run the driver nearer to it")
    return Check("round trip", found)
