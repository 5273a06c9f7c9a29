"""A memory over HTTP is the same memory: same methods, types and errors; what cannot go over is refused."""

import io
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

import tiermem
from pagestore import Turn, errors
from pagestore.bundle import encode
from pagestore.errors import Conflict, ReadOnly
from tests.api.conftest import OpenMemory, tell
from tests.apps.http.conftest import SAID, SETTINGS, Server, keys_of
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import (
    Forbidden,
    InvalidInput,
    MemoryClosed,
    RemoteError,
    ServerUnavailable,
    TooLarge,
    Unauthorized,
    UnknownId,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("served") / "store", **SETTINGS)
    with tiermem.open(server.url) as memory:
        tell(memory)
        memory.flush()
    yield server
    server.stop()


@pytest.fixture
def memory(server: Server) -> Iterator[tiermem.Memory]:
    with tiermem.open(server.url) as memory:
        yield memory


def test_what_is_asked_here_and_there_is_answered_alike(memory: tiermem.Memory, tmp_path: Path) -> None:
    with tiermem.open(tmp_path / "local", **SETTINGS) as local:
        tell(local)
        local.flush()
        for question in ("What is Biscuit allergic to?", "Where did Ingrid move to?", "Who owns a yacht?"):
            here, there = local.ask(question), memory.ask(question)
            assert (here.text, here.support, here.route) == (there.text, there.support, there.route)
            assert [one.quote for one in here.citations] == [one.quote for one in there.citations]
            assert type(there.trace.asked_at) is datetime
        assert [unit.text for unit in local.units()] == [unit.text for unit in memory.units()]
        assert local.context("dog").text == memory.context("dog").text
    assert str(there) == str(here) == here.text
    assert memory.audit(there.id).answer == there == memory.get(there.id)


def test_values_of_ours_go_there_and_back(memory: tiermem.Memory) -> None:
    answer = memory.ask("What is Biscuit allergic to?")
    kept = memory.checkpoint()
    memory.add(Turn(speaker="Bo", text="I sail on Sundays.", turn_id="b1", trust="user"), session="boats")
    assert memory.verify(kept).ok
    assert memory.prove_growth(kept).old == kept
    assert encode(memory.bundle(answer.id, checkpoint=kept))
    judged = [memory.feedback(one, outcome="success").credits for one in (answer, answer.id)]
    assert [one.unit_id for one in judged[0]] == [one.unit_id for one in judged[1]] != []
    context = memory.context("Biscuit", max_tokens=300)
    assert memory.feedback(sources=context, outcome="neutral") == memory.feedback(
        sources=context.sources, outcome="neutral"
    )
    day = date(2023, 5, 8)
    for timeframe in (
        day,
        "2023-05-08",
        (day, day),
        [day, "2031"],
        (None, day),
        datetime(2023, 5, 8, tzinfo=UTC),
    ):
        found = memory.recall("Biscuit", timeframe=timeframe, kind="turns").items
        assert {one.said_at.date() for one in found if one.said_at} == {day}, timeframe
    assert memory.units(as_of=datetime.now()) == memory.units()  # noqa: DTZ005  # on this machine's clock
    assert [page.lines[0].turn for page in memory.open_pages("boats")] == [
        Turn(speaker="Bo", text="I sail on Sundays.", turn_id="b1", trust="user", said_at=None)
    ]
    more: list[str | dict[str, str]] = ["One more thing.", {"role": "user", "content": "And a third."}]
    assert memory.add(iter(more)).new == 2


def test_words_that_no_utf_8_writes_come_back_as_they_are(memory: tiermem.Memory) -> None:
    memory.add("A broken \ud83d emoji of Ann.", speaker="Ann", session="broken")
    (page,) = memory.open_pages("broken")
    assert "\ud83d" in page.text


def test_errors_are_those_of_a_memory_in_this_process(memory: tiermem.Memory, server: Server) -> None:
    with pytest.raises(UnknownId, match="a1:nowhere"):
        memory.audit("a1:nowhere")
    with pytest.raises(UnknownId, match="p1:nowhere"):
        memory.page("p1:nowhere")
    with pytest.raises(Conflict):
        memory.add({"speaker": "Caroline", "text": "Something else.", "id": "t0"}, session="s1")
    with pytest.raises(InvalidInput, match="limit must be at least 1"):
        memory.search("dog", limit=0)
    with pytest.raises(TypeError, match=r"'sesion'.*did you mean 'session'\?"):
        memory.ask("Where?", sesion="x")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        memory.ask()  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="cannot go over HTTP"):
        memory.ask(object())  # type: ignore[arg-type]
    with pytest.raises(UnknownId, match="'elsewhere'"):
        tiermem.open(server.url, space="elsewhere", create=False)


def test_progress_is_told_while_it_is_made(memory: tiermem.Memory) -> None:
    told: list[tuple[int, int]] = []
    for session in ("p1", "p2", "p3"):
        memory.add(f"I keep a boat called {session} in the harbour.", speaker="Ann", session=session)
    memory.flush(progress=lambda done, known: told.append((done, known)))
    assert told
    assert all(type(done) is type(known) is int and done <= known for done, known in told)


def test_files_come_here(memory: tiermem.Memory, tmp_path: Path) -> None:
    exported = memory.export(tmp_path / "chat.jsonl", session="s1")
    assert exported.turns == len((tmp_path / "chat.jsonl").read_text().splitlines()) == 3
    with pytest.raises(errors.InvalidInput, match="exists"):
        memory.export(tmp_path / "chat.jsonl")
    assert memory.export(tmp_path / "chat.jsonl", replace=True).turns > 3
    buffer = io.BytesIO()
    assert memory.export(buffer, session="s1") == exported
    assert len(buffer.getvalue().splitlines()) == 3
    saved = memory.backup(tmp_path / "memory.tar")
    assert (saved.file, saved.bytes) == (tmp_path / "memory.tar", (tmp_path / "memory.tar").stat().st_size)
    assert tiermem.restore(tmp_path / "memory.tar", tmp_path / "restored")[0].space == "default"
    with pytest.raises(InvalidInput, match="no session"):
        memory.export(tmp_path / "none.jsonl", session="nobody's")
    assert not list(tmp_path.glob("none*"))


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"engine": "model"}, "engine"),
        ({"read_only": True}, "read_only"),
        ({"reindex": True}, "reindex"),
        ({"settings": tiermem.Settings()}, "settings"),
        ({"embedder": HashEmbedder()}, "embedder"),
        ({"page_tokens": 100}, "page_tokens"),
        ({"hot_units": 0}, "hot_units"),
    ],
)
def test_what_is_the_servers_to_choose_is_refused(server: Server, given: Any, names: str) -> None:
    with pytest.raises(InvalidInput, match=names):
        tiermem.open(server.url, **given)


def test_what_needs_the_memory_in_this_process_is_refused(memory: tiermem.Memory, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="workspace"):
        memory.workspace()
    with (
        tiermem.open(tmp_path / "local", **SETTINGS) as local,
        pytest.raises(InvalidInput, match="workspace"),
    ):
        memory.recall("dog", into=local.workspace())
    with pytest.raises(InvalidInput, match="all_spaces"):
        memory.backup(tmp_path / "all.tar", all_spaces=True)
    with pytest.raises(InvalidInput, match="progress"):
        memory.export(tmp_path / "x.jsonl", progress=print)


@pytest.mark.parametrize(
    "url",
    ["http://", "http://[", "http://ann:secret@127.0.0.1:8000", "http://127.0.0.1:8000/?a=b", "http://x:y"],
)
def test_what_is_no_url_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        tiermem.open(url)
    assert "secret" not in str(refused.value)


def test_a_key_is_for_a_server_and_shown_nowhere(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="key"):
        tiermem.open(tmp_path / "memory", key="tm_1")
    for wrong in ("", "tm 1", "tm_\n", "tm_é"):
        with pytest.raises(InvalidInput, match="tiermem keys make"):
            tiermem.open("http://127.0.0.1:9", key=wrong)
    store = tmp_path / "store"
    keys = keys_of(store)
    token, key = keys.make("ann", spaces=["ann"], rights=["read", "write"])
    reader, _ = keys.make("reader", spaces=["ann"], rights=["read"])
    server = Server(store, **SETTINGS)
    try:
        for nobody in (None, "tm_00000000_x"):
            with pytest.raises(Unauthorized):
                tiermem.open(server.url, space="ann", key=nobody)
        with pytest.raises(Forbidden, match="'bob'"):
            tiermem.open(server.url, space="bob", key=token)
        with tiermem.open(server.url, space="ann", key=token) as memory:
            memory.add(SAID)
            with pytest.raises(Forbidden, match="erase"):
                memory.erase(session="main", reason="no")
            assert tiermem.spaces(server.url, key=token) == ("ann",)
            assert token not in repr(memory)
            assert token not in repr(vars(vars(memory._async)["_connection"]))
        with tiermem.open(server.url, space="ann", key=reader) as memory:
            assert memory.ask("What is Biscuit allergic to?").text == SAID
            with pytest.raises(Forbidden, match="write"):
                memory.add("No.")
            keys.revoke(key.id)
            assert memory.stats().turns == 1
    finally:
        server.stop()


def test_a_server_that_is_gone_is_told_and_one_that_is_back_is_used(tmp_path: Path) -> None:
    server = Server(tmp_path / "store", **SETTINGS)
    memory = tiermem.open(server.url)
    memory.add(SAID)
    server.stop()
    with pytest.raises(ServerUnavailable, match="no server answers"):
        memory.stats()
    with pytest.raises(ServerUnavailable):
        tiermem.open(server.url)
    memory.close()
    memory.close()
    assert "closed" in repr(memory)
    with pytest.raises(MemoryClosed):
        memory.stats()
    with pytest.raises(MemoryClosed):
        _ = memory.space


def test_whoever_else_answers_is_no_memory(tmp_path: Path) -> None:
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread

    class Other(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            body = b"<html>" if "open" in self.path else json.dumps({"odd": 1}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        thread = Thread(target=other.serve_forever)
        thread.start()
        try:
            with pytest.raises(RemoteError):
                tiermem.open(f"http://127.0.0.1:{other.server_port}")
        finally:
            other.shutdown()
            thread.join()


@pytest.mark.anyio
async def test_an_awaited_memory_over_http_is_one_too(server: Server) -> None:
    async with await tiermem.AsyncMemory.open(server.url, space="awaited") as memory:
        assert isinstance(memory, tiermem.AsyncMemory)
        assert (memory.space, memory.engine) == ("awaited", "local")
        assert "awaited" in repr(memory)
        assert (await memory.add(SAID)).new == 1
        assert (await memory.ask("What is Biscuit allergic to?")).text == SAID


def test_too_much_at_once_is_told_as_such(server: Server) -> None:
    with tiermem.open(server.url, space="much") as memory, pytest.raises(TooLarge):
        memory.add(["x" * 1_000_000] * 17)


def test_a_server_that_only_reads_refuses_to_store(open_remote: OpenMemory) -> None:
    memory = open_remote()
    memory.add(SAID)
    memory.close()
    with pytest.raises(ReadOnly):
        open_remote(read_only=True).add("No.")
