"""Several agents over HTTP: the tests of `tests/api/test_agents.py` against a server, and keys of agents."""

import inspect
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api import test_agents as local
from tests.apps.http.conftest import SAID, Server, Serving, bearer, keys_of
from tests.apps.http.test_access import status
from tests.apps.test_commands import tiermem as command
from tests.engines import quoting_engine
from tiermem import AsyncMemory
from tiermem.api.connection import Connection
from tiermem.api.remote import RemoteMemory
from tiermem.apps.http.keys import Keys
from tiermem.apps.http.service import OPERATIONS
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import Forbidden, InvalidInput, MemoryClosed, UnknownId
from tiermem.wire import Right

pytestmark = pytest.mark.anyio

INSIDE = ("._caller", "workspace(", "tiermem.open(", "index:")
"""What a test names that is about a memory of this process, or is taken here by itself."""
RIGHTS: tuple[Right, ...] = ("read", "write", "erase")
VAULT = "What does the vault of the blue house open with?"


def shared() -> Iterator[tuple[str, Any]]:
    """The tests that are about any memory."""
    for name, test in vars(local).items():
        if name.startswith("test_") and not any(one in inspect.getsource(test) for one in INSIDE):
            yield name, test


@pytest.fixture(autouse=True)
def _over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memories that these tests open are those of a server."""

    @asynccontextmanager
    async def opened(**settings: Any) -> AsyncIterator[AsyncMemory]:
        given = {"embedder": HashEmbedder(), "distil": "inline", "write_back": "inline", **settings}
        store = tmp_path / "store"
        token, _ = keys_of(store).make("owner", spaces=["*"], rights=["admin"])
        server = Server(store, engine=quoting_engine(), **given)
        try:
            async with await AsyncMemory.open(server.url, key=token) as memory:
                yield memory
        finally:
            server.stop()

    monkeypatch.setattr(local, "opened", opened)


SHARED = dict(shared())
globals().update(SHARED)


def test_most_of_what_is_promised_to_agents_is_promised_over_http() -> None:
    assert len(SHARED) > 12


async def test_no_operation_tells_one_agent_with_a_key_of_its_own_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def by_its_key(self: RemoteMemory, name: str) -> RemoteMemory:
        token, _ = keys_of(tmp_path / "store").make(name, spaces=["*"], rights=RIGHTS, agent=name)
        own = RemoteMemory(Connection(self._connection.url, token), space=self._space, engine=self._engine)
        self._views.add(own)
        return own

    async def held(self: local.Everything, boss: AsyncMemory) -> None:
        with pytest.raises(InvalidInput, match="workspace"):
            boss.workspace()

    monkeypatch.setattr(local.Everything, "hold", held)
    monkeypatch.setattr(RemoteMemory, "as_agent", by_its_key)
    (tmp_path / "out").mkdir()
    await local.test_no_public_method_tells_one_agent_of_another("memory", tmp_path / "out")


async def test_a_key_of_an_agent_is_that_agent_and_no_other(serving: Serving, keys: Keys) -> None:
    owner, _ = keys.make("owner", spaces=["*"], rights=["admin"])
    zora, kept = keys.make("zora's", spaces=["default"], rights=RIGHTS, agent="zora")
    ben, _ = keys.make("ben's", spaces=["default"], rights=RIGHTS, agent="ben")
    assert kept.agent == "zora"
    async with serving() as client:

        async def found(token: str, path: str = "/v1/search") -> str:
            given = {"query": "vault", "kind": "turns"}
            return (await client.post(path, headers=bearer(token), json=given)).text

        assert await status(client, "/v1/add", zora, turns=local.TOLD) == 200
        assert await status(client, "/v1/add?agent=zora", zora, turns=local.TOLD) == 200
        assert "zebracanary" in await found(zora)
        assert "zebracanary" in await found(owner, "/v1/search?agent=zora")
        assert "zebracanary" not in await found(owner, "/v1/search?agent=ben")
        assert "zebracanary" not in await found(ben)
        for named in ("zora", "nobody", "", "*", "ben&agent=zora"):
            for path in ("search", "open", "erase"):
                asked = f"/v1/{path}?agent={named}"
                answer = await client.post(asked, headers=bearer(ben), json={"query": "vault"})
                assert answer.status_code == 403, asked
                assert answer.json()["detail"] == "this key is for agent 'ben' alone"
        turn = {"turn": {"speaker": "Zora", "text": "I sell it.", "agent": "zora"}}
        assert await status(client, "/v1/add", ben, turns=turn) == 400
        for name, operation in OPERATIONS.items():
            if operation.right == "admin":
                assert await status(client, f"/v1/{name}", zora) == 403, name
        given = {"agent": "ben", "to_see": "zora"}
        assert await status(client, "/v1/grant", ben, **given) == 403
        assert await status(client, "/v1/grant?agent=ben", owner, **given) == 400
        assert await status(client, "/v1/grant", owner, **given) == 200
        assert "zebracanary" in await found(ben)
        assert await status(client, "/v1/erase", ben, session="main", reason="asked to") == 404
        assert (await client.get("/metrics", headers=bearer(zora))).status_code == 403
        for named in ("", "*", "%20"):
            assert await status(client, f"/v1/add?agent={named}&space=new", owner, turns=SAID) == 400
        assert (await client.get("/v1/spaces", headers=bearer(owner))).json() == ["default"]
        opened = await client.post("/v1/open", headers=bearer(zora))
        assert opened.json()["agent"] == "zora"


async def test_an_idempotency_key_of_one_agent_tells_another_nothing(serving: Serving) -> None:
    async with serving() as client:

        async def add(agent: str, text: str) -> httpx.Response:
            headers = {"idempotency-key": "k"}
            return await client.post(
                "/v1/add", params={"agent": agent}, json={"turns": text}, headers=headers
            )

        assert (await add("zora", local.TOLD)).json()["new"] == 1
        assert (await add("ben", local.TOLD)).json()["new"] == 1
        assert (await add("ben", "Other words.")).status_code == 409
        for agent in ("zora", "ben"):
            stats = await client.post("/v1/stats", params={"agent": agent})
            assert stats.json()["turns"] == 1


async def test_a_client_with_the_key_of_an_agent_is_that_agents_memory(tmp_path: Path) -> None:
    store = tmp_path / "store"
    owner, _ = keys_of(store).make("owner", spaces=["*"], rights=["admin"])
    token, _ = keys_of(store).make("zora", spaces=["*"], rights=["read", "write"], agent="zora")
    server = Server(store, engine="local", embedder=HashEmbedder())
    try:
        async with await AsyncMemory.open(server.url, key=token) as memory:
            assert memory.agent == "zora"
            assert "as agent 'zora'" in repr(memory)
            await memory.add(local.TOLD, speaker="Zora")
            with pytest.raises(InvalidInput, match="agent 'zora'"):
                memory.as_agent("ben")
            with pytest.raises(InvalidInput, match="owner"):
                await memory.verify()
            with pytest.raises(Forbidden, match="admin"):
                await memory.grant("zora", to_see="*")
        async with await AsyncMemory.open(server.url, key=owner) as memory:
            assert memory.agent is None
            ben, closed = memory.as_agent("ben"), memory.as_agent("cleo")
            assert "zebracanary" not in (await ben.ask(VAULT)).text
            answer = await memory.as_agent("zora").ask(VAULT)
            assert "zebracanary" in answer.text
            with pytest.raises(UnknownId):
                await ben.audit(answer.id)
            await closed.close()
            with pytest.raises(MemoryClosed):
                await closed.units()
            await ben.units()
        with pytest.raises(MemoryClosed):
            await ben.units()
    finally:
        server.stop()


def test_keys_are_made_for_an_agent_on_the_command_line(tmp_path: Path) -> None:
    store = tmp_path / "store"
    made = command(store, "keys", "make", "Zora's", "--agent", "zora", "--json")
    assert json.loads(made.stdout)["agent"] == "zora"
    listed = json.loads(command(store, "keys", "list", "--json").stdout)
    assert [one["agent"] for one in listed] == ["zora"]
    assert "zora" in command(store, "keys", "list").stdout
    refused = command(store, "keys", "make", "Zora's", "--agent", "zora", "--may", "admin", code=1)
    assert "owner" in refused.stderr


def test_a_file_of_keys_says_of_whose_agent_only_where_it_has_one(keys: Keys) -> None:
    keys.make("owner", spaces=["*"], rights=["read"])
    kept = json.loads(keys._file.read_text())
    assert "agent" not in kept["keys"][0]
    kept["keys"][0] |= {"agent": "zora", "rights": ["admin"]}
    keys._file.write_text(json.dumps(kept))
    with pytest.raises(InvalidInput, match="can hold to"):
        keys.all()


STAMPED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("add", {"turns": SAID, "trust": "system"}),
    ("add", {"turns": SAID, "role": "assistant", "trust": "user"}),
    ("add", {"turns": [{"role": "tool", "content": "The vault is green."}], "trust": "assistant"}),
    ("add", {"turns": {"turn": {"speaker": "Ann", "text": "The vault is red.", "trust": "system"}}}),
    ("add", {"turns": {"imported_turn": {"speaker": "Ann", "text": "It is blue.", "trust": "system"}}}),
    ("add", {"turns": [{"imported_turn": {"speaker": "a", "text": "x", "role": "tool", "trust": "user"}}]}),
    (
        "add",
        {"turns": [{"turn": {"speaker": "a", "text": "x y", "role": "tool", "trust": "user"}}, "Hello."]},
    ),
    ("add", {"turns": SAID, "role": "moderator", "trust": "tool"}),
    ("remember", {"fact": "The vault opens at nine.", "trust": "system"}),
    ("remember", {"fact": "The vault opens at ten.", "role": "assistant", "trust": "user"}),
)


@pytest.mark.parametrize(("operation", "given"), STAMPED)
async def test_a_key_of_an_agent_stamps_no_trust_above_that_of_the_role(
    serving: Serving, keys: Keys, operation: str, given: dict[str, Any]
) -> None:
    owner, _ = keys.make("owner", spaces=["*"], rights=["admin"])
    zora, _ = keys.make("zora's", spaces=["default"], rights=RIGHTS, agent="zora")
    async with serving() as client:
        refused = await client.post(f"/v1/{operation}", headers=bearer(zora), json=given)
        assert refused.status_code == 403
        assert "cannot trust a turn of the role" in refused.json()["detail"]
        assert (await client.get("/v1/spaces", headers=bearer(owner))).json() == []
        assert await status(client, f"/v1/{operation}", owner, **given) == 200


@pytest.mark.parametrize(
    "given",
    [
        {"turns": SAID},
        {"turns": SAID, "trust": "user"},
        {"turns": SAID, "trust": "web"},
        {"turns": SAID, "role": "assistant", "trust": "assistant"},
        {"turns": [{"role": "tool", "content": "The vault is green."}], "trust": "web"},
        {"turns": {"turn": {"speaker": "Ann", "text": "The vault is red.", "trust": "tool"}}},
    ],
)
async def test_a_key_of_an_agent_lowers_trust(serving: Serving, keys: Keys, given: dict[str, Any]) -> None:
    zora, _ = keys.make("zora's", spaces=["default"], rights=RIGHTS, agent="zora")
    async with serving() as client:
        assert await status(client, "/v1/add", zora, **given) == 200
