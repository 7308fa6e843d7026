"""Storage of studies in SQLite, PostgreSQL and other databases."""
