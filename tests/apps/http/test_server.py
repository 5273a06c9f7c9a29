"""Every public operation by a request, in spaces that open and close by themselves."""

import inspect
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

import tiermem
from tests.apps.http.conftest import SAID, Serving
from tiermem.apps.http.limits import Limits
from tiermem.apps.http.openapi import document, encode_document
from tiermem.apps.http.service import OPERATIONS
from tiermem.wire import plain, read_as

pytestmark = pytest.mark.anyio


async def called(client: httpx.AsyncClient, operation: str, space: str = "default", **given: Any) -> Any:
    answer = await client.post(f"/v1/{operation}", params={"space": space}, json=given)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_what_is_told_is_stored_found_asked_for_and_proved(serving: Serving, tmp_path: Path) -> None:
    async with serving() as client:
        added = await called(client, "add", turns=SAID, speaker="Ann", said_at="2023-05-08T13:56")
        assert (added["turns"], added["new"]) == (1, 1)
        await called(client, "flush")
        answer = await called(client, "ask", question="What is Biscuit allergic to?")
        assert (answer["text"], answer["support"]) == (SAID, "quoted")
        audit = await called(client, "audit", answer_id=answer["id"])
        assert audit["citations"][0]["words_on_page"][0]["words"] in SAID
        (unit,) = await called(client, "units")
        assert (await called(client, "get", id=unit["id"])) == unit
        assert (await called(client, "search", query="dog", limit=1))[0]["unit_id"] == unit["id"]
        assert "chicken" in (await called(client, "context", question="What is Biscuit allergic to?"))["text"]
        report = await called(client, "verify", checkpoint=await called(client, "checkpoint"))
        assert report["damage"] == []
        gone = await called(client, "erase", session="main", reason="asked to")
        assert gone["leftovers"]["found"] == []
        assert (await called(client, "units")) == []
    with tiermem.open(tmp_path / "store", engine="local", embedder="hashed") as memory:
        assert memory.stats().turns == 1


async def test_words_are_added_in_a_role_and_with_their_sources(serving: Serving) -> None:
    async with serving() as client:
        await called(client, "add", turns="The museum closes at six.", role="tool", trust="web", session="a")
        found = await called(client, "search", query="museum", kind="turns")
        await called(client, "add", turns="It closes at six.", role="assistant", sources=found, session="b")
        turns = [page["lines"][0]["turn"] for page in await called(client, "open_pages")]
    assert [(turn["speaker"], turn["role"], turn["trust"]) for turn in turns] == [
        ("tool", "tool", "web"),
        ("assistant", "assistant", "web"),
    ]


async def test_what_a_method_gives_is_what_comes_back(serving: Serving, tmp_path: Path) -> None:
    async with serving() as client:
        await called(
            client,
            "add",
            turns=[{"role": "user", "content": SAID}, {"turn": {"speaker": "Bo", "text": "No."}}],
        )
        await called(client, "flush")
        answer = await called(client, "ask", question="What is Biscuit allergic to?")
        given = {
            name: await called(client, name, **arguments)
            for name, arguments in {
                "get": {"id": answer["id"]},
                "pages": {},
                "units": {},
                "stats": {},
                "verify": {},
                "answers": {},
                "omissions": {},
                "replay": {"answer_id": answer["id"]},
                "bundle": {"answer_id": answer["id"]},
                "signals": {"unit_id": (await called(client, "units"))[0]["id"]},
            }.items()
        }
    for name, value in given.items():
        assert plain(read_as(OPERATIONS[name].gives, value)) == value, name


async def test_each_public_method_is_an_operation_with_a_right_and_a_place_in_the_document(
    serving: Serving,
) -> None:
    methods = {
        name
        for name, method in vars(tiermem.AsyncMemory).items()
        if inspect.iscoroutinefunction(method) and not name.startswith("_")
    }
    assert methods - OPERATIONS.keys() == {
        "close",
        "history",
        "ingest",
    }  # ingest calls add and continue_chats
    async with serving() as client:
        described = (await client.get("/openapi.json")).json()
    assert described == json.loads(json.dumps(document())) | {"security": [{"key": []}, {}]}
    assert described["openapi"] == "3.1.0"
    assert {f"/v1/{name}" for name in OPERATIONS} <= described["paths"].keys()
    for name, operation in OPERATIONS.items():
        post = described["paths"][f"/v1/{name}"]["post"]
        assert post["summary"]
        assert post["tags"] == [operation.right]
    references = {
        line.split('"')[3] for line in json.dumps(described, indent=0).splitlines() if '"$ref"' in line
    }
    assert {f"#/components/schemas/{name}" for name in described["components"]["schemas"]} >= references


async def test_the_document_is_encoded_once(serving: Serving) -> None:
    """Anybody may ask for it, without a key and as often as they like."""
    async with serving() as client:
        first, second = [(await client.get("/openapi.json")).content for _ in range(2)]
    assert first == second == encode_document(is_open=True)
    assert encode_document(is_open=True) is encode_document(is_open=True)
    assert json.loads(encode_document(is_open=False))["security"] == [{"key": []}]


def test_a_method_is_offered_with_the_right_that_it_names_and_not_without_one() -> None:
    from tiermem.runtime.calls import operation
    from tiermem.wire import operations

    class Newer(tiermem.AsyncMemory):
        @operation("erase")
        async def dream(self, about: str = "sheep") -> tuple[str, ...]:
            """What it dreams of."""
            return (about,)

        async def sleep(self) -> None:
            """Is not offered."""

    (offered,) = operations(Newer).values()
    assert (offered.name, offered.right) == ("dream", "erase")


async def test_spaces_are_opened_when_used_and_closed_when_others_are(
    serving: Serving, tmp_path: Path
) -> None:
    async with serving(limits=Limits(spaces=2)) as client:
        for number in range(5):
            await called(
                client, "add", f"person-{number}", turns=f"My lucky number is {number}{number}{number}."
            )
        assert (await client.get("/v1/spaces")).json() == [f"person-{number}" for number in range(5)]
        for number in (3, 0, 4):
            found = await called(client, "search", f"person-{number}", query="lucky number", kind="turns")
            assert [f"{number}{number}{number}" in one["text"] for one in found] == [True]
        metrics = (await client.get("/metrics")).text
        assert "tiermem_spaces_open 2\n" in metrics
        assert 'tiermem_requests_total{operation="add",status="200"} 5\n' in metrics
    # What was open is closed with the server: another process may write now.
    for number in range(5):
        tiermem.open(tmp_path / "store", space=f"person-{number}", engine="local", embedder="hashed").close()


@pytest.mark.parametrize("space", ["a/b", "..", "Ann & Bo?", "日本"])
async def test_a_space_may_have_any_name(serving: Serving, space: str) -> None:
    async with serving() as client:
        await called(client, "add", space, turns=SAID)
        assert (await called(client, "stats", space))["space"] == space
        assert (await client.get("/v1/spaces")).json() == [space]


@pytest.mark.parametrize("space", ["", " ", "\t"])
async def test_a_request_that_names_a_blank_space_is_invalid(serving: Serving, space: str) -> None:
    async with serving() as client:
        for operation, given in (("add", {"turns": SAID}), ("stats", {})):
            answer = await client.post(f"/v1/{operation}", params={"space": space}, json=given)
            assert (answer.status_code, answer.json()["error"]) == (400, "InvalidInput")
            assert "users without an id would share it" in answer.json()["detail"]
        assert (await client.get("/v1/spaces")).json() == []


async def test_looking_makes_no_space(serving: Serving, tmp_path: Path) -> None:
    async with serving() as client:
        for operation, given in (("stats", {}), ("flush", {}), ("search", {"query": "dog"})):
            answer = await client.post(f"/v1/{operation}", params={"space": "nobody"}, json=given)
            assert (answer.status_code, answer.json()["error"]) == (404, "UnknownId")
        assert (await client.get("/v1/spaces")).json() == []


async def test_a_file_comes_back_as_the_body(serving: Serving) -> None:
    async with serving() as client:
        await called(client, "add", turns=SAID, speaker="Ann")
        answer = await client.post("/v1/export", json={})
        assert SAID in answer.text
        assert json.loads(answer.headers["tiermem-result"])["turns"] == 1
        backup = await client.post("/v1/backup", json={})
        assert len(backup.content) == json.loads(backup.headers["tiermem-result"])["bytes"]
        refused = await client.post("/v1/export", json={"to": "elsewhere"})
        assert refused.status_code == 400


async def test_a_server_that_only_reads_answers_and_stores_nothing(serving: Serving) -> None:
    async with serving() as client:
        await called(client, "add", turns=SAID, speaker="Ann")
    async with serving(read_only=True) as client:
        answer = await called(client, "ask", question="What is Biscuit allergic to?")
        assert (answer["text"], answer["recorded"]) == (SAID, False)
        refused = await client.post("/v1/add", json={"turns": "No."})
        assert (refused.status_code, refused.json()["error"]) == (403, "pagestore.ReadOnly")


async def test_it_says_that_it_runs_and_can_be_used(serving: Serving, tmp_path: Path) -> None:
    async with serving() as client:
        assert (await client.get("/health")).status_code == 200
        assert (await client.get("/ready")).status_code == 200
        assert (await client.get("/v1/spaces")).json() == []
        (tmp_path / "store" / "FORMAT").unlink()
        answer = await client.get("/ready")
        assert (answer.status_code, answer.json()["error"]) == (503, "ServerUnavailable")
