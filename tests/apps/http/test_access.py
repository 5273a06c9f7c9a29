"""Who is let in: by a key, bound to spaces and rights, or on this machine alone where there are no keys."""

import hmac
import json
import logging
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from tests.apps.http.conftest import SAID, Serving, bearer
from tests.apps.test_commands import tiermem as command
from tiermem.apps.cli.app import app
from tiermem.apps.http import keys as keys_of_a_store
from tiermem.apps.http.access import AccessControl, is_loopback
from tiermem.apps.http.keys import Keys, keys_beside
from tiermem.apps.http.limits import Limits
from tiermem.apps.http.service import OPERATIONS
from tiermem.errors import InvalidInput, UnknownId
from tiermem.wire import Right

SHAPE = {"type", "title", "status", "detail", "next", "error"}


async def status(client: httpx.AsyncClient, path: str, token: str | None, **given: Any) -> int:
    """What a request comes to; a refusal is a problem of one shape."""
    headers = {} if token is None else bearer(token)
    answer = await client.post(path, headers=headers, json=given)
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json().keys() == SHAPE
        assert answer.json()["status"] == answer.status_code
    return answer.status_code


@pytest.mark.anyio
async def test_a_key_does_what_it_may_where_it_may_and_nothing_else(
    serving: Serving, keys: Keys, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    writer, _ = keys.make("writer", spaces=["ann"], rights=["write"])
    reader, _ = keys.make("reader", spaces=["ann"], rights=["read"])
    other, _ = keys.make("other", spaces=["bob"], rights=["read", "write", "erase"])
    owner, _ = keys.make("owner", spaces=["*"], rights=["admin"])
    wrong = f"{reader[:-4]}AAAA"
    async with serving() as client:
        assert await status(client, "/v1/add?space=ann", writer, turns=SAID) == 200
        assert await status(client, "/v1/search?space=ann", reader, query="dog") == 200
        assert await status(client, "/v1/search?space=ann", owner, query="dog") == 200
        assert await status(client, "/v1/erase?space=ann", owner, session="main", reason="asked to") == 200
        for token, path, expected in (
            (None, "/v1/search?space=ann", 401),
            ("", "/v1/search?space=ann", 401),
            (wrong, "/v1/search?space=ann", 401),
            (f"{reader} ", "/v1/search?space=ann", 200),
            (other, "/v1/search?space=ann", 403),
            (other, "/v1/search?space=there-is-none", 403),
            (writer, "/v1/search?space=ann", 403),
            (owner, "/v1/search?space=there-is-none", 404),
        ):
            assert await status(client, path, token, query="dog") == expected, (token, path)
        assert await status(client, "/v1/add?space=ann", reader, turns="No.") == 403
        assert await status(client, "/v1/erase?space=ann", writer, session="main", reason="no") == 403
        assert await status(client, "/v1/reindex?space=bob", other) == 403
        assert (await client.get("/metrics", headers=bearer(other))).status_code == 403
        assert (await client.get("/metrics", headers=bearer(owner))).status_code == 200
        assert (await client.get("/v1/spaces", headers=bearer(other))).json() == []
        assert (await client.get("/v1/spaces", headers=bearer(reader))).json() == ["ann"]
        assert (await client.get("/v1/spaces")).status_code == 401
        assert (await client.get("/health")).status_code == 200
    for token in (writer, reader, other, owner, wrong):
        assert token.split("_", 2)[2] not in caplog.text
        assert token not in caplog.text


@pytest.mark.anyio
async def test_nothing_is_done_without_a_key_for_any_operation(serving: Serving, keys: Keys) -> None:
    reader, _ = keys.make("reader", spaces=["default"], rights=["read"])
    async with serving() as client:
        for name, operation in OPERATIONS.items():
            assert await status(client, f"/v1/{name}", None) == 401, name
            if operation.right != "read":
                assert await status(client, f"/v1/{name}", reader) == 403, name
        assert (await client.get("/v1/spaces", headers=bearer(reader))).json() == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("rights", "expected"),
    [
        (["read"], 404),
        (["erase"], 404),
        (["read", "erase"], 404),
        (["write"], 200),
        (["read", "write"], 200),
        (["admin"], 200),
    ],
)
async def test_opening_a_space_creates_it_for_a_key_that_may_write(
    serving: Serving, keys: Keys, rights: list[Right], expected: int
) -> None:
    token, _ = keys.make("opener", spaces=["new"], rights=rights)
    owner, _ = keys.make("owner", spaces=["*"], rights=["admin"])
    async with serving() as client:
        assert await status(client, "/v1/open?space=new&create=true", token) == expected
        spaces = (await client.get("/v1/spaces", headers=bearer(owner))).json()
    assert spaces == (["new"] if expected == 200 else [])


@pytest.mark.anyio
async def test_what_another_process_makes_or_revokes_counts_at_once(serving: Serving, keys: Keys) -> None:
    elsewhere = Keys(keys._file)
    async with serving() as client:
        assert await status(client, "/v1/add", None, turns=SAID) == 200
        token, key = elsewhere.make("late", spaces=["default"], rights=["read"])
        assert await status(client, "/v1/stats", None) == 401
        assert await status(client, "/v1/stats", token) == 200
        elsewhere.revoke(key.id)
        assert await status(client, "/v1/stats", token) == 401
        # The last one is gone, and it does not stand open for that.
        assert await status(client, "/v1/stats", None) == 401
    with pytest.raises(UnknownId, match=key.id):
        elsewhere.revoke(key.id)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, 200),
        ({"host": "localhost:8000"}, 200),
        ({"host": "[::1]:8000"}, 200),
        ({"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"}, 200),
        ({"host": "evil.example"}, 403),
        ({"host": "127.0.0.1.evil.example:8000"}, 403),
        ({"host": "evil.example:8000", "origin": "http://evil.example:8000"}, 403),
        ({"host": "127.0.0.1:8000", "origin": "https://evil.example"}, 403),
        ({"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:9000"}, 403),
        ({"host": "127.0.0.1:8000", "origin": "null"}, 403),
        ({"host": "[", "origin": "http://["}, 403),
        ({"host": ""}, 403),
    ],
)
async def test_without_keys_it_answers_this_machine_and_no_page_of_another(
    serving: Serving, headers: dict[str, str], expected: int
) -> None:
    async with serving() as client:
        answer = await client.post("/v1/add", headers=headers, json={"turns": SAID})
        assert answer.status_code == expected


def test_it_listens_elsewhere_only_where_somebody_has_a_key(keys: Keys) -> None:
    for host in ("0.0.0.0", "192.168.0.7", "::", "example.org"):  # noqa: S104  # what is refused
        with pytest.raises(InvalidInput, match="tiermem keys make"):
            AccessControl(keys, host=host)
    _, key = keys.make("brief", spaces=["*"], rights=["read"], days=0)
    assert not keys.usable()
    with pytest.raises(InvalidInput):
        AccessControl(keys, host="::")
    keys.make("owner", spaces=["*"], rights=["read"])
    assert not AccessControl(keys, host="::").open
    assert [is_loopback(host) for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost", "")] == [
        True,
        True,
        True,
        True,
        False,
    ]
    assert key.is_over(datetime.now(UTC))


def test_a_key_ends_when_it_is_to(tmp_path: Path) -> None:
    now = datetime(2024, 5, 8, tzinfo=UTC)
    keys = Keys(tmp_path / "keys.json", clock=lambda: now)
    token, _ = keys.make("week", spaces=["a"], rights=["read"], days=7)
    now += timedelta(days=7, seconds=-1)
    assert keys.known_by(token) is not None
    now += timedelta(seconds=1)
    assert keys.known_by(token) is None


def test_only_a_hash_is_kept_and_only_the_owner_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    token, key = Keys(file).make("ann", spaces=["a"], rights=["read"])
    assert token.startswith(f"tm_{key.id}_")
    assert len(token.split("_", 2)[2]) == 43  # 256 bits
    assert token.removeprefix(f"tm_{key.id}_") not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token not in repr(Keys(file).all())
    file.chmod(0o644)
    with pytest.raises(InvalidInput, match="chmod 600"):
        Keys(file).all()


def test_a_file_of_keys_that_becomes_readable_to_others_is_used_no_more(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "keys.json")
    token, _ = keys.make("ann", spaces=["a"], rights=["read"])
    assert keys.known_by(token) is not None
    (tmp_path / "keys.json").chmod(0o640)
    with pytest.raises(InvalidInput, match="chmod 600"):
        keys.known_by(token)
    (tmp_path / "keys.json").chmod(0o600)
    assert keys.known_by(token) is not None


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.update(format=2),
        lambda content: content.update(more=1),
        lambda content: content["keys"][0].update(hours="8-18"),
        lambda content: content["keys"][0].update(rights=["everything"]),
        lambda content: content["keys"][0].pop("spaces"),
        lambda content: content["keys"][0].update(expires="soon"),
        lambda content: content["keys"][0].update(agent="*"),
        lambda content: content["keys"][0].update(agent=7),
    ],
)
def test_a_file_that_confines_keys_in_ways_not_known_is_refused_whole(tmp_path: Path, change: Any) -> None:
    file = tmp_path / "keys.json"
    Keys(file).make("ann", spaces=["a"], rights=["read"])
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))
    with pytest.raises(InvalidInput, match="no file of keys"):
        Keys(file).all()


def test_a_key_that_is_not_known_takes_the_same_steps_as_one_that_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One hash of all that was shown, compared with one of the same length, whatever the first bytes are."""
    keys = Keys(tmp_path / "keys.json")
    token, _ = keys.make("ann", spaces=["a"], rights=["read"])
    shown = {"right": token, "wrong": f"{token[:-1]}!", "unknown": f"tm_00000000_{token[12:]}"}
    steps: list[tuple[str, int, int]] = []
    hashed, compare = keys_of_a_store._hash_token, hmac.compare_digest

    def noted_hash(one: str) -> str:
        steps.append(("hash", len(one), 0))
        return hashed(one)

    def noted_comparison(one: str, other: str) -> bool:
        steps.append(("compare", len(one), len(other)))
        return compare(one, other)

    monkeypatch.setattr(keys_of_a_store, "_hash_token", noted_hash)
    monkeypatch.setattr(hmac, "compare_digest", noted_comparison)
    for name, one in shown.items():
        steps.clear()
        assert (keys.known_by(one) is not None) is (name == "right")
        assert steps == [("hash", len(token), 0), ("compare", 64, 64)], name


@pytest.mark.anyio
async def test_a_key_that_asks_too_often_is_told_when_to_go_on(serving: Serving, keys: Keys) -> None:
    one, _ = keys.make("one", spaces=["*"], rights=["read"])
    two, _ = keys.make("two", spaces=["*"], rights=["read"])
    async with serving(limits=Limits(rate=0.01)) as client:
        assert (await client.get("/v1/spaces", headers=bearer(one))).status_code == 200
        refused = await client.get("/v1/spaces", headers=bearer(one))
        assert (refused.status_code, refused.json()["error"]) == (429, "TooManyRequests")
        assert 90 <= int(refused.headers["retry-after"]) <= 101
        assert (await client.get("/v1/spaces", headers=bearer(two))).status_code == 200


def test_keys_are_made_listed_and_revoked_by_a_command(tmp_path: Path) -> None:
    store = tmp_path / "memory"
    options = ("--space", "ann", "--space", "bob", "--may", "read, erase", "--days", "3")
    made = command(store, "keys", "make", "ann's phone", *options)
    token = made.stdout.strip()
    assert "shown once" in made.stderr
    keys = Keys(keys_beside(store))
    key = keys.known_by(token)
    assert key is not None
    assert (key.name, key.spaces, key.rights) == ("ann's phone", ("ann", "bob"), ("read", "erase"))
    listed = command(store, "keys", "list", "--json").stdout
    assert token not in listed
    assert "sha256" not in listed
    assert json.loads(listed)[0]["id"] == key.id
    assert key.id in command(store, "keys", "list").stdout
    command(store, "keys", "revoke", key.id)
    assert keys.all() == ()
    command(store, "keys", "make", "bob", "--may", "rede", code=1)
    command(store, "keys", "revoke", "ffffffff", code=1)


def test_the_command_refuses_to_listen_where_others_are_without_a_key(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["serve", "--store", str(tmp_path / "memory"), "--host", "0.0.0.0"])  # noqa: S104
    assert done.exit_code == 1
    assert "tiermem keys make" in done.stderr
