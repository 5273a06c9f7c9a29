"""Bugs of `pagestore`: what several writers of one log see of each other."""

from tests.planted.bug import Bug

BUGS = (
    Bug(
        name="a writer builds on what it knew, not on what another writer appended",
        file="pagestore/journal.py",
        function="Journal._begin",
        before="self._fold_appended(appended)",
        after="pass",
        found_by=("tests/pagestore/test_contract.py",),
    ),
    Bug(
        name="pages stay in memory when another writer erased words of them",
        file="pagestore/journal.py",
        function="Journal._fold",
        before="self._forget()",
        after="pass",
        found_by=("tests/pagestore/test_contract.py",),
    ),
    Bug(
        name="the error of a group replaces that of a refused job",
        file="pagestore/group_commit.py",
        function="GroupCommit._lead",
        before="job.error or error",
        after="error",
        found_by=(
            "tests/pagestore/test_group_commit.py::test_a_refused_job_keeps_its_error_when_the_group_fails",
        ),
    ),
    Bug(
        name="a commit in PostgreSQL does not wait for the disk",
        file="tiermem/storage/postgres/database.py",
        function="",
        before="""
            _SETTINGS: LiteralString = (
                "SELECT set_config('synchronous_commit', 'on', true),"
                " set_config('lock_timeout', %s, true),"
                " set_config('idle_in_transaction_session_timeout', %s, true)"
            )
        """,
        after="""
            _SETTINGS: LiteralString = (
                "SELECT set_config('synchronous_commit', 'off', true),"
                " set_config('lock_timeout', %s, true),"
                " set_config('idle_in_transaction_session_timeout', %s, true)"
            )
        """,
        found_by=(
            "tests/storage/test_postgres.py::TestDatabase::"
            "test_a_commit_is_durable_whatever_the_default_of_the_database_is",
        ),
        slow_reason="it takes a PostgreSQL server, which the quick tier does without",
    ),
)
