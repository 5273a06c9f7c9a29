"""The PostgreSQL that tests run on."""

from tests.postgres import PostgresServer, execute


def test_it_is_version_18_with_pgvector(postgres: PostgresServer) -> None:
    ((version,),) = postgres.execute("SHOW server_version")
    assert str(version).startswith("18.")
    url = postgres.create_database()
    execute(url, "CREATE EXTENSION vector")
    assert execute(url, "SELECT '[3,4]'::vector <-> '[0,0]'::vector") == [(5.0,)]


def test_each_database_is_empty_and_its_own(postgres: PostgresServer) -> None:
    first, second = postgres.create_database(), postgres.create_database()
    execute(first, "CREATE TABLE kept (number integer)")
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    assert (execute(first, tables), execute(second, tables)) == ([("kept",)], [])
