"""A server in a process of its own: it stops when it is told to, and loses nothing."""

import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.torture.load import FEWEST, measured
from tests.torture.serving import Process, stopped_under_load
from tiermem.apps.cli.app import app
from tiermem.apps.http.keys import Keys, keys_beside


@pytest.mark.timeout(300)
def test_a_server_that_is_stopped_under_load_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    outcome, acknowledged = stopped_under_load(tmp_path / "store", after=0.2)
    assert not outcome.violations
    assert acknowledged >= 18


@pytest.mark.timeout(300)
def test_a_server_logs_no_key_and_says_where_it_listens(tmp_path: Path) -> None:
    import tiermem
    from tiermem.errors import Forbidden

    server = Process(tmp_path / "store")
    token, key = Keys(keys_beside(tmp_path / "store")).make("ann", spaces=["ann"], rights=["read", "write"])
    with tiermem.open(server.url, space="ann", key=token) as memory:
        memory.add("My dog Biscuit is allergic to chicken.")
    with pytest.raises(Forbidden):
        tiermem.open(server.url, space="bob", key=token)
    code, said = server.stop()
    assert code == 0
    assert f"listening at {server.url}" in said
    assert f"add by {key.id}: 200" in said
    assert f"open by {key.id}: 403" in said
    assert token.split("_", 2)[2] not in said


@pytest.mark.parametrize(
    ("command", "option"),
    [(["serve"], "--port"), (["look", "--no-browser"], "--port"), (["mcp", "--engine", "local"], "--http")],
)
def test_a_port_that_is_taken_is_an_error_that_names_the_option(
    command: list[str], option: str, tmp_path: Path
) -> None:
    import tiermem

    tiermem.open(tmp_path, space="default", engine="local").close()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        failed = CliRunner().invoke(app, [*command, option, port], env={"TIERMEM_STORE": str(tmp_path)})
    assert failed.exit_code == 1
    assert failed.stderr.endswith(f"ame another port with {option}\n")
    assert "listening at" not in failed.stderr


@pytest.mark.timeout(300)
def test_many_clients_at_once_are_all_answered_and_nothing_is_lost(tmp_path: Path) -> None:
    found = measured(tmp_path / "store", clients=8, seconds=2.0, pause=0.2)
    assert (found.failed, found.lost, found.code) == ({}, [], 0)
    assert found.requests >= 8 * FEWEST
