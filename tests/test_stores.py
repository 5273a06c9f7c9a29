"""With `--store postgresql`, tests that concern a store keep it in PostgreSQL, and no others run."""

import subprocess
import sys
from pathlib import Path

import pytest

from pagestore import SpaceId
from pagestore.log import Log
from pagestore.testing import S1, said
from tests import logs
from tests.postgres import PostgresServer, execute

ROOT = Path(__file__).resolve().parents[1]
PROJECT = """
import pytest

@pytest.fixture
def logs():
    pass

@pytest.mark.usefixtures("logs")
def test_on_both():
    pass

@pytest.mark.usefixtures("logs")
@pytest.mark.local_only("reads files")
def test_of_files():
    pass

def test_of_no_store():
    pass
"""
PLUGIN = """
from tests import stores

pytest_addoption = stores.add_options


def pytest_configure(config):
    config.addinivalue_line("markers", "local_only(reason): not there")
    config.pluginmanager.register(stores.Stores())
"""


@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        (("--store", "postgresql"), "1 passed, 1 skipped, 1 deselected"),
        ((), "3 passed"),
    ],
)
def test_which_tests_run(tmp_path: Path, options: tuple[str, ...], outcome: str) -> None:
    (tmp_path / "conftest.py").write_text(PLUGIN)
    (tmp_path / "test_it.py").write_text(PROJECT)
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "--noconftest", "-p", "conftest"]
    ran = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--rootdir", str(tmp_path), *options, str(tmp_path)],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{ROOT}:{tmp_path}", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome in ran.stdout, ran.stdout + ran.stderr
    assert ("reads files" in ran.stdout) == bool(options)


def test_logs_are_in_the_database_each_in_a_space_of_its_own(postgres: PostgresServer) -> None:
    url, space = postgres.create_database(), SpaceId("ann")
    with logs.logs_in_database(url):
        for _ in range(2):
            logs.new_log(space).append(S1, [said("hello")])
        one, other = [Log(lines, space) for lines in logs.new_shared_lines()]
        one.append(S1, [said("from one")])
        other.catch_up()
        (page,) = [other.open_page(session) for session in other.sessions()]
        assert page is not None
        assert "from one" in page.text
    count = "SELECT count(DISTINCT space) FROM tiermem.lines WHERE position('hello' in raw) > 0"
    assert execute(url, count) == [(2,)]
    logs.new_log(space).append(S1, [said("hello")])
    assert execute(url, count) == [(2,)]
