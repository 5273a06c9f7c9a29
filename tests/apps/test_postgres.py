"""Commands, MCP and HTTP over a store in PostgreSQL: they take its URL, and show no password."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

import tiermem.apps.cli.app
from tests.postgres import PostgresServer, execute
from tests.torture.databases import Proxy
from tiermem.apps.cli.app import app
from tiermem.apps.http.app import application
from tiermem.apps.http.keys import Keys
from tiermem.apps.http.service import Service

HIDDEN = "se-cret"
GUIDE = Path(__file__).parents[2] / "docs/guide/postgresql.md"
CLI = Path(tiermem.apps.cli.app.__file__).parent
runner = CliRunner()


@pytest.fixture
def url(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a new database, with a password, which the server does not ask for."""
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    return postgres.create_database().replace("postgres:@", f"postgres:{HIDDEN}@")


def run(*arguments: str, code: int = 0) -> str:
    """Run a command; returns all that it wrote, in which no password is."""
    done = runner.invoke(app, list(arguments))
    assert done.exit_code == code, done.output
    assert HIDDEN not in done.output
    return done.output


def test_commands_take_the_url_of_a_database(url: str, tmp_path: Path) -> None:
    chat = tmp_path / "chat.txt"
    chat.write_text("Ann: Biscuit is allergic to chicken.\nBob: No treats then.\n", encoding="utf-8")
    there = ("--store", url)
    assert json.loads(run("ingest", str(chat), *there, "--engine", "local", "--json"))["store"].startswith(
        "postgresql://postgres@"
    )
    assert "chicken" in run("ask", "What is Biscuit allergic to?", *there, "--engine", "local")
    assert "default" in run("spaces", *there)
    run("stats", *there)
    run("verify", *there)
    assert "postgresql://postgres@" in run("doctor", *there, "--json", code=doctor_code(*there))


def test_the_index_in_the_database_is_examined_and_made_again(url: str, tmp_path: Path) -> None:
    chat, there = tmp_path / "chat.txt", ("--store", url)
    chat.write_text("Ann: Biscuit is allergic to chicken.\nBob: No treats then.\n", encoding="utf-8")
    run("ingest", str(chat), *there, "--engine", "local")
    assert read_index_finding(*there) == ("good", "embedded: in the database of the store")
    count = "SELECT sum(rows)::integer FROM tiermem_rows.segments WHERE space LIKE 'turns %'"
    assert execute(url, count) == [(2,)]
    execute(url, "UPDATE tiermem_rows.segments SET body = ''")
    run("reindex", *there)
    assert execute(url, count) == [(2,)]
    assert "chicken" in run("ask", "What is Biscuit allergic to?", *there, "--engine", "local")


def test_the_index_with_pgvector_is_examined_and_made_again(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat, there = tmp_path / "chat.txt", ("--store", url)
    chat.write_text("Ann: Biscuit is allergic to chicken.\nBob: No treats then.\n", encoding="utf-8")
    monkeypatch.setenv("TIERMEM_INDEX", "pgvector")
    assert read_index_finding(*there) == ("absent", "made in the database with the store")
    run("ingest", str(chat), *there, "--engine", "local")
    verdict, state = read_index_finding(*there)
    assert verdict == "good"
    assert re.fullmatch(r"in the database of the store, pgvector [0-9.]+", state)
    execute(url, "TRUNCATE tiermem_index.marks, tiermem_index.points CASCADE")
    run("reindex", *there)
    assert execute(url, "SELECT count(*) FROM tiermem_index.points WHERE collection = 'turns'") == [(2,)]
    assert "chicken" in run("ask", "What is Biscuit allergic to?", *there, "--engine", "local")
    verdict, state = read_index_finding("--store", str(tmp_path / "disk"))
    assert (verdict, "name a database" in state) == ("missing", True)


def read_index_finding(*there: str) -> tuple[str, str]:
    """How `doctor` finds the index."""
    done = json.loads(run("doctor", *there, "--json", code=doctor_code(*there)))
    (found,) = (finding for finding in done["findings"] if finding["what"] == "index")
    return found["verdict"], found["state"]


def test_a_memory_is_copied_to_a_database_and_back_with_its_answers_and_proofs(
    url: str, tmp_path: Path
) -> None:
    chat, disk, back = tmp_path / "chat.txt", str(tmp_path / "disk"), str(tmp_path / "back")
    chat.write_text("Ann: Biscuit is allergic to chicken.\nBob: No treats then.\n", encoding="utf-8")
    engine = ("--engine", "local")
    run("ingest", str(chat), "--store", disk, *engine)
    run("ask", "What is Biscuit allergic to?", "--store", disk, *engine)
    run("checkpoint", "--store", disk, "--out", str(tmp_path / "kept.json"))
    there = json.loads(run("copy", disk, url, "--json"))
    again = json.loads(run("copy", url, back, "--space", "default", "--json"))
    assert there["spaces"] == again["spaces"]
    assert json.loads(run("copy", disk, url, "--json"))["spaces"][0]["new"] == 0
    verify = ("verify", "--checkpoint", str(tmp_path / "kept.json"))
    for look in (("answers",), ("audit",), ("units",), ("pages",), verify):
        shown = {run(*look, "--store", place, "--json") for place in (disk, url, back)}
        assert len(shown) == 1, look
    run("audit", "--bundle", str(tmp_path / "answer.bundle"), "--store", url)
    run("verify-bundle", str(tmp_path / "answer.bundle"))
    assert "chicken" in run("ask", "What is Biscuit allergic to?", "--store", url, *engine)
    assert "it went on" in run("copy", disk, url, code=1)
    assert "copied to itself" in run("copy", url, url, code=1)


def test_the_guide_lists_the_commands_that_need_a_directory_and_they_say_what_to_do(
    url: str, tmp_path: Path
) -> None:
    there, file = ("--store", url), str(tmp_path / "file")
    refused = {
        "backup": ((url, file), "`pg_dump --schema tiermem` writes all of it"),
        "hook": (("status", *there), "`tiermem ingest --from` reads the sessions"),
        "keys": (("list", *there), "name the file of keys with --keys"),
        "restore": ((file, url), "`pg_restore` reads what `pg_dump` wrote"),
        "serve": (there, "name the file of keys with --keys"),
    }
    for command, (arguments, instead) in refused.items():
        said = run(command, *arguments, code=1)
        assert "needs a store in a directory" in said
        assert instead in said
    asking = [
        file
        for file in CLI.glob("*.py")
        if re.search("require_directory[(]|[^ ]keys_file[(]|= keys_file", file.read_text())
    ]
    assert {file.stem for file in asking} == refused.keys()
    _, _, table = GUIDE.read_text(encoding="utf-8").partition("## What does not run there")
    listed = [
        name
        for row in table.splitlines()
        for name in re.findall("`tiermem ([a-z-]+)", row.partition(" | ")[0])
    ]
    assert sorted(listed) == sorted(refused)


def doctor_code(*there: str) -> int:
    """The exit code of `doctor`: what else is missing on this machine is of no matter here."""
    return runner.invoke(app, ["doctor", *there]).exit_code


def test_a_url_that_cannot_be_used_is_not_quoted(url: str) -> None:
    for broken in (f"postgresql://ann:{HIDDEN}/x@localhost/y", f"postgresql:/ann:{HIDDEN}@localhost/y"):
        assert runner.invoke(app, ["spaces", "--store", broken]).exit_code != 0
        run("spaces", "--store", broken, code=runner.invoke(app, ["spaces", "--store", broken]).exit_code)


@pytest.mark.anyio
async def test_over_http_a_database_that_is_down_is_named_until_it_is_back(
    postgres: PostgresServer, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tiermem.storage.postgres.database._SECONDS", 1)
    proxy = Proxy(postgres.create_database())
    where = proxy.url.replace("postgres:@", f"postgres:{HIDDEN}@")
    service = Service(where, keys=Keys(tmp_path / "keys.json"), engine="local", distil="inline")
    transport = httpx.ASGITransport(app=application(service))
    requests: tuple[tuple[str, dict[str, object]], ...] = (
        ("/v1/add", {"turns": "Biscuit is a dog."}),
        ("/v1/search", {"query": "chicken"}),
        ("/v1/ask", {"question": "What is Biscuit allergic to?"}),
        ("/v1/search?space=other", {"query": "chicken"}),
        ("/v1/stats", {}),
        ("/v1/erase", {"session": "main", "reason": "asked to"}),
    )
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        said = {"turns": "Biscuit is allergic to chicken."}
        assert (await client.post("/v1/add", json=said)).status_code == 200
        proxy.close()
        for path, body in requests:
            reply = await client.post(path, json=body)
            problem = reply.json()
            assert (reply.status_code, problem["error"]) == (503, "pagestore.Inaccessible")
            assert problem["detail"] == "the database that holds this memory cannot be used now"
            assert "try again" in problem["next"]
            assert HIDDEN not in reply.text
            assert "127.0.0.1" not in reply.text
        assert (await client.get("/ready")).status_code == 503
        proxy = Proxy(postgres.url, port=proxy.port)
        while (await client.get("/ready")).status_code != 200:
            """The first requests may end before the pool has a connection again."""
        found = await client.post("/v1/search", json={"query": "chicken"})
        assert (found.status_code, "chicken" in found.text) == (200, True)
    await service.close()
    proxy.close()


@pytest.mark.anyio
async def test_it_is_served_over_http(url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    service = Service(url, keys=Keys(tmp_path / "keys.json"), engine="local", distil="inline")
    transport = httpx.ASGITransport(app=application(service))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        turns = [{"speaker": "Ann", "text": "Biscuit is allergic to chicken."}]
        assert (await client.post("/v1/add", json={"turns": turns})).status_code == 200
        asked = await client.post("/v1/ask", json={"question": "What is Biscuit allergic to?"})
        assert "chicken" in asked.json()["text"]
        assert (await client.get("/v1/spaces")).json() == ["default"]
        missing = await client.post("/v1/page", json={"page_id": "p1:absent"})
        replies = [asked.text, missing.text, (await client.get("/ready")).text]
    await service.close()
    assert HIDDEN not in " ".join(replies) + caplog.text
    assert HIDDEN not in repr(vars(service)["_place"])
