"""Progress as events, requests that are sent again, rates and room: what goes on around an operation."""

import asyncio
import json
from typing import Any

import anyio
import httpx
import pytest

import tiermem
from tests.apps.http.conftest import SAID, Serving, bearer
from tiermem.apps.http import app
from tiermem.apps.http.keys import Keys
from tiermem.apps.http.limits import Limits, Rates, Repeats, SlowDown
from tiermem.apps.http.service import Service
from tiermem.errors import InvalidInput

pytestmark = pytest.mark.anyio
STREAM = {"accept": "text/event-stream"}


async def told(client: httpx.AsyncClient, operation: str, **given: Any) -> list[tuple[str, Any]]:
    answer = await client.post(f"/v1/{operation}", json=given, headers=STREAM)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [
        block.split("\n", 1) for block in answer.text.strip().split("\n\n") if not block.startswith(":")
    ]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in events]


async def test_a_long_operation_tells_how_far_it_is_and_what_came_of_it(serving: Serving) -> None:
    async with serving(distil="deferred") as client:
        for number in range(4):
            turns = f"I keep boat number {number} in the harbour."
            await client.post("/v1/add", json={"turns": turns, "session": f"s{number}"})
        events = await told(client, "flush")
    *progress, (last, result) = events
    assert {name for name, _ in progress} == {"progress"}
    assert progress[-1][1]["done"] == progress[-1][1]["known"] == 4
    assert (last, result["distilled"]) == ("result", 4)


async def test_what_tells_no_progress_streams_what_came_of_it(serving: Serving) -> None:
    async with serving() as client:
        await client.post("/v1/add", json={"turns": SAID, "speaker": "Ann"})
        ((name, found),) = await told(client, "search", query="What is Biscuit allergic to?")
        assert (name, "chicken" in found[0]["text"]) == ("result", True)
        ((name, problem),) = await told(client, "page", page_id="p1:nowhere")
        assert (name, problem["error"], problem["status"]) == ("problem", "UnknownId", 404)


async def test_a_question_streams_its_steps_and_then_the_answer(serving: Serving) -> None:
    async with serving() as client:
        await client.post("/v1/add", json={"turns": SAID, "speaker": "Ann"})
        await client.post("/v1/flush", json={})
        *steps, (last, answer) = await told(
            client, "ask", question="What is Biscuit allergic to?", mode="raw"
        )
        assert (last, answer["text"]) == ("result", SAID)
        assert {name for name, _ in steps} == {"step"}
        assert [one["name"] for _, one in steps][:2] == ["recall", "route"]
        assert [one["decision"] for _, one in steps if one["decision"]] == [answer["trace"]["decision"]]
        assert steps[0][1]["candidates"][0] in answer["trace"]["candidates"]
        refused = await client.post("/v1/ask", json={"question": "What?", "on_step": None})
        assert refused.status_code == 400


async def test_a_stream_gives_a_sign_of_life(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    signs, enough = 0, asyncio.Event()

    async def slow(self: object) -> tuple[()]:
        await asyncio.wait_for(enough.wait(), 60)
        return ()

    def watched(served: Any) -> Any:
        async def serve(scope: Any, receive: Any, send: Any) -> None:
            async def sent(message: Any) -> None:
                nonlocal signs
                signs += message.get("body", b"").count(b": still at work")
                if signs >= 2:
                    enough.set()
                await send(message)

            await served(scope, receive, sent)

        return serve

    monkeypatch.setattr(app, "KEEP_ALIVE", 0.01)
    monkeypatch.setattr(tiermem.AsyncMemory, "answers", slow)
    async with serving() as client:
        await client.post("/v1/add", json={"turns": SAID})
        transport = client._transport
        assert isinstance(transport, httpx.ASGITransport)
        transport.app = watched(transport.app)
        answer = await client.post("/v1/answers", json={}, headers=STREAM)
    assert answer.text.count(": still at work") >= 2
    assert answer.text.endswith("event: result\ndata: []\n\n")


async def test_a_stream_ends_when_its_client_disconnects(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, cancelled = asyncio.Event(), asyncio.Event()

    async def answers(self: object) -> None:
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async with serving() as client:
        await client.post("/v1/add", json={"turns": SAID})
        monkeypatch.setattr(tiermem.AsyncMemory, "answers", answers)
        transport = client._transport
        assert isinstance(transport, httpx.ASGITransport)
        messages = [{"type": "http.request", "body": b"{}"}]

        async def receive() -> Any:
            if messages:
                return messages.pop()
            await running.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            pass

        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "POST",
            "path": "/v1/answers",
            "query_string": b"",
            "headers": [
                (b"host", b"127.0.0.1"),
                (b"accept", b"text/event-stream"),
                (b"content-type", b"application/json"),
            ],
        }
        await transport.app(scope, receive, send)
        await anyio.wait_all_tasks_blocked()
        assert cancelled.is_set()


async def test_a_request_that_is_sent_again_is_done_once(serving: Serving, keys: Keys) -> None:
    one, _ = keys.make("one", spaces=["*"], rights=["read", "write"])
    two, _ = keys.make("two", spaces=["*"], rights=["read", "write"])

    async def added(client: httpx.AsyncClient, token: str, name: str, text: str, space: str = "a") -> Any:
        headers = {**bearer(token), "idempotency-key": name}
        return await client.post("/v1/add", params={"space": space}, json={"turns": text}, headers=headers)

    async with serving() as client:
        first = await added(client, one, "k1", SAID)
        again = await asyncio.gather(*(added(client, one, "k1", SAID) for _ in range(3)))
        assert [answer.json() for answer in again] == [first.json()] * 3
        other = await added(client, one, "k1", "Other words.")
        assert (other.status_code, "Idempotency-Key" in other.json()["detail"]) == (409, True)
        assert (await added(client, two, "k1", "Of somebody else.")).status_code == 200
        assert (await added(client, one, "k1", "In another space.", space="b")).status_code == 200
        assert (await added(client, one, "x" * 201, SAID)).status_code == 400
        stats = await client.post("/v1/stats", params={"space": "a"}, headers=bearer(one))
        assert stats.json()["turns"] == 2


async def test_what_failed_can_be_tried_again_and_what_is_under_way_is_waited_for() -> None:
    repeats, done, go_on = Repeats(most=3), 0, asyncio.Event()

    async def fails() -> bytes:
        raise InvalidInput("no")

    async def slow() -> bytes:
        nonlocal done
        done += 1
        await go_on.wait()
        return b"done"

    with pytest.raises(InvalidInput):
        await repeats.once("k", "a", fails)
    asked = [asyncio.ensure_future(repeats.once("k", "a", slow)) for _ in range(4)]
    await anyio.wait_all_tasks_blocked()
    go_on.set()
    assert await asyncio.gather(*asked) == [b"done"] * 4
    assert done == 1
    for number in range(5):
        await repeats.once(number, "a", slow)
    assert await repeats.once("k", "another", slow) == b"done"  # the oldest went
    small = Repeats(most_bytes=10)
    for number in range(5):
        await small.once(number, "a", slow)
    assert len(small._done) == 2


def test_a_bucket_fills_with_time_and_holds_so_much_at_most() -> None:
    now = 0.0
    rates = Rates(10.0, clock=lambda: now)
    for _ in range(20):
        rates.take("ann")
    with pytest.raises(SlowDown) as refused:
        rates.take("ann")
    assert refused.value.seconds == pytest.approx(0.1)
    rates.take("bob")
    now = 0.5
    for _ in range(5):
        rates.take("ann")
    with pytest.raises(SlowDown):
        rates.take("ann")
    now = 1e6
    for _ in range(20):
        rates.take("ann")
    with pytest.raises(SlowDown):
        rates.take("ann")
    with pytest.raises(InvalidInput):
        Limits(rate=-1)
    with pytest.raises(InvalidInput):
        Limits(spaces=0)


async def test_spaces_that_are_all_in_use_are_waited_for(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    add, under_way, most, go_on = tiermem.AsyncMemory.add, 0, 0, asyncio.Event()
    opens, opened = Service._open_space, list[str]()

    async def slow(self: Any, *args: Any, **given: Any) -> Any:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await go_on.wait()
        under_way -= 1
        return await add(self, *args, **given)

    async def noted(self: Service, space: str, create: bool) -> tiermem.AsyncMemory:
        opened.append(space)
        return await opens(self, space, create)

    monkeypatch.setattr(tiermem.AsyncMemory, "add", slow)
    monkeypatch.setattr(Service, "_open_space", noted)
    async with serving(limits=Limits(spaces=2)) as client:
        asked = [
            asyncio.ensure_future(
                client.post(
                    "/v1/add", params={"space": f"s{number}"}, json={"turns": f"Number {number} it is."}
                )
            )
            for number in range(7)
        ]
        await anyio.wait_all_tasks_blocked()  # each is opening its space or waits for a place
        waited = len(opened)
        go_on.set()
        answers = await asyncio.gather(*asked)
        assert [answer.status_code for answer in answers] == [200] * 7
        assert waited == 2
        assert most <= 2
        for number in range(7):
            stats = await client.post("/v1/stats", params={"space": f"s{number}"})
            assert stats.json()["turns"] == 1


async def test_a_space_that_nobody_uses_is_closed_and_opened_again(serving: Serving) -> None:
    async with serving(limits=Limits(idle=0.2)) as client:
        await client.post("/v1/add", json={"turns": SAID})
        async with asyncio.timeout(60):
            while "tiermem_spaces_open 0\n" not in (await client.get("/metrics")).text:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert (await client.post("/v1/stats", json={})).json()["turns"] == 1
