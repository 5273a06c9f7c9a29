"""Many clients of one server at once: `python -m tests.torture.load [--clients N] [--seconds S] [--pause P]`.

Half of them add turns, half search, each over a connection of its own, in one of a few spaces; each waits
`pause` seconds on average between two requests (0: asks again at once). Before that one client alone
searches, at the same pace, for the times to be compared with. Then the server is told to stop, and what it
acknowledged is looked for in its store. `--stops N` stops it instead under that load, N times.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from tests.torture.serving import Process, lost

SPACES = 4
KNOWN = 50
"""Turns that each space holds before anything is timed."""
FEWEST = 2
"""Requests that a client makes, however little time there is."""
_THINGS = ("chair", "lamp", "kettle", "bicycle", "ladder", "violin", "globe", "clock", "basket", "mirror")
_PLACES = ("shed", "attic", "cellar", "hall", "kitchen", "garage", "garden", "library")


@dataclass(slots=True)
class Load:
    """What came of it. Times are in seconds; `failed` are answers other than 200 by what they were."""

    reads: list[float] = field(default_factory=list)
    writes: list[float] = field(default_factory=list)
    failed: dict[str, int] = field(default_factory=dict)
    acknowledged: list[tuple[str, str]] = field(default_factory=list)

    def fail(self, what: str) -> None:
        """Count an answer that is none."""
        self.failed[what] = self.failed.get(what, 0) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is told of a run; times in milliseconds."""

    clients: int
    seconds: float
    pause: float
    requests: int
    failed: dict[str, int]
    lost: list[str]
    alone_p50: float
    alone_p95: float
    reads_p50: float
    reads_p95: float
    writes_p50: float
    writes_p95: float
    code: int


def sentence(chance: random.Random, number: int) -> str:
    """Something to be said, of a few words that come again."""
    return f"The {chance.choice(_THINGS)} {number} is in the {chance.choice(_PLACES)} of the old house."


def _client(url: str) -> httpx.AsyncClient:
    """A client with connections of its own. It speaks plain HTTP, so no certificates are read."""
    return httpx.AsyncClient(base_url=url, timeout=120, trust_env=False, verify=False)  # noqa: S501


async def _sent(client: httpx.AsyncClient, load: Load, space: str, name: str, body: object) -> float | None:
    """How long it took; `None` where it was not answered by 200, which is counted."""
    began = time.perf_counter()
    try:
        answer = await client.post(f"/v1/{name}", params={"space": space}, json=body)
    except httpx.TransportError as error:
        load.fail(type(error).__name__)
        return None
    if answer.status_code != 200:
        load.fail(f"{name}: {answer.status_code}")
        return None
    return time.perf_counter() - began


async def one_client(url: str, load: Load, number: int, *, writes: bool, until: float, pause: float) -> None:
    """Ask, wait, ask again, until then, or until nobody answers."""
    chance, space = random.Random(number), f"space-{number % SPACES}"
    async with _client(url) as client:
        await asyncio.sleep(chance.uniform(0, pause))
        for turn in itertools.count():
            is_over = turn >= FEWEST and time.monotonic() > until
            if is_over or any(not one.startswith(("add", "search")) for one in load.failed):
                return
            if writes:
                ident = f"w{number}-{turn}"
                said = {"turn": {"speaker": "Ann", "text": sentence(chance, turn), "turn_id": ident}}
                took = await _sent(client, load, space, "add", {"turns": said, "session": f"s{number}"})
                if took is not None:
                    load.writes.append(took)
                    load.acknowledged.append((space, ident))
            else:
                query = f"Where is the {chance.choice(_THINGS)} {chance.randrange(KNOWN)}?"
                took = await _sent(client, load, space, "search", {"query": query})
                if took is not None:
                    load.reads.append(took)
            await asyncio.sleep(max(0.0, min(chance.uniform(0, 2 * pause), until - time.monotonic())))


async def prepared(url: str) -> None:
    """Spaces with something in them, summarised."""
    chance = random.Random(0)
    async with _client(url) as client:
        for number in range(SPACES):
            said = [{"role": "user", "content": sentence(chance, turn)} for turn in range(KNOWN)]
            for name, body in (("add", {"turns": said, "session": "known"}), ("flush", {})):
                answer = await client.post(f"/v1/{name}", params={"space": f"space-{number}"}, json=body)
                answer.raise_for_status()


async def loaded(url: str, load: Load, *, clients: int, seconds: float, pause: float) -> None:
    """All clients at once, every second one writing."""
    until = time.monotonic() + seconds
    each = (
        one_client(url, load, number, writes=number % 2 == 1, until=until, pause=pause)
        for number in range(clients)
    )
    await asyncio.gather(*each)


def at(times: list[float], share: float) -> float:
    """The time that this share of all stays under, in milliseconds."""
    ordered = sorted(times)
    return round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1) if ordered else 0.0


def measured(store: Path, *, clients: int, seconds: float, pause: float) -> Figures:
    """A server of its own under that load, stopped afterwards, and its store looked through."""
    server, alone, load = Process(store, rate=0), Load(), Load()

    async def run() -> None:
        await prepared(server.url)
        until = time.monotonic() + max(1.0, seconds / 4)
        await one_client(server.url, alone, 0, writes=False, until=until, pause=min(pause, 0.1))
        await loaded(server.url, load, clients=clients, seconds=seconds, pause=pause)

    try:
        asyncio.run(run())
    finally:
        code, _ = server.stop()
    return Figures(
        clients=clients,
        seconds=seconds,
        pause=pause,
        requests=len(load.reads) + len(load.writes),
        failed={**alone.failed, **load.failed},
        lost=lost(store, load.acknowledged),
        alone_p50=at(alone.reads, 0.5),
        alone_p95=at(alone.reads, 0.95),
        reads_p50=at(load.reads, 0.5),
        reads_p95=at(load.reads, 0.95),
        writes_p50=at(load.writes, 0.5),
        writes_p95=at(load.writes, 0.95),
        code=code,
    )


def stopped(store: Path, *, clients: int, after: float, pause: float) -> tuple[int, int, list[str]]:
    """A server told to stop under that load: what it ended with, the turns acknowledged, those lost."""
    server, load, code = Process(store, rate=0), Load(), 0

    async def run() -> None:
        nonlocal code
        await prepared(server.url)
        working = asyncio.ensure_future(loaded(server.url, load, clients=clients, seconds=600, pause=pause))
        while len(load.acknowledged) < clients // 10 and not working.done():  # noqa: ASYNC110  # a harness
            await asyncio.sleep(0.05)
        await asyncio.sleep(after)
        code, _ = await asyncio.to_thread(server.stop)
        await working

    asyncio.run(run())
    return code, len(load.acknowledged), lost(store, load.acknowledged)


def main() -> int:
    """Run what the command line asks for, and print what came of it as JSON; 1 where a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.load", description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pause", type=float, default=4.0)
    parser.add_argument("--stops", type=int, default=0)
    given = parser.parse_args()
    broken = 0
    for number in range(given.stops):
        after = random.Random(number).uniform(1, 6)
        with TemporaryDirectory(ignore_cleanup_errors=True) as place:
            store = Path(place) / "store"
            code, turns, gone = stopped(store, clients=given.clients, after=after, pause=given.pause)
        broken += bool(code or gone or not turns)
        sys.stdout.write(
            json.dumps({"stop": number, "code": code, "acknowledged": turns, "lost": gone}) + "\n"
        )
    if not given.stops:
        with TemporaryDirectory(ignore_cleanup_errors=True) as place:
            store = Path(place) / "store"
            found = measured(store, clients=given.clients, seconds=given.seconds, pause=given.pause)
        broken += bool(found.failed or found.lost or found.code)
        sys.stdout.write(json.dumps(asdict(found), indent=1) + "\n")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
