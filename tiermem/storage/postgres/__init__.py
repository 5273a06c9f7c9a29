"""Spaces in a PostgreSQL database. Needs psycopg, which importing this package imports."""

from tiermem.storage.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
