"""What goes wrong is told in one shape: whose mistake it is, what to do next, nothing of the server's own."""

import asyncio
import inspect
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

import pagestore.errors
import tiermem
import tiermem.errors
from pagestore.errors import Corrupt
from tests.apps.http.conftest import SAID, SETTINGS, Serving, keys_of
from tiermem.apps.http.limits import Limits
from tiermem.apps.http.service import Service
from tiermem.errors import TierMemError
from tiermem.wire import error_of, problem_of

pytestmark = pytest.mark.anyio


def all_errors() -> list[type[Exception]]:
    return [
        kind
        for module in (tiermem.errors, pagestore.errors)
        for kind in vars(module).values()
        if inspect.isclass(kind) and issubclass(kind, TierMemError | pagestore.errors.PageStoreError)
    ]


@pytest.mark.parametrize("kind", all_errors(), ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_each_error_goes_over_http_and_comes_back_as_itself(kind: type[Exception]) -> None:
    problem = problem_of(kind("of /home/ann/memory"))
    back = error_of(json.loads(json.dumps(problem.body)), problem.status)
    assert type(back) is kind
    assert problem.next
    assert 400 <= problem.status < 600
    if problem.status >= 500 and not issubclass(kind, tiermem.errors.RemoteError):
        assert "/home/ann" not in str(back) or kind is tiermem.errors.MemoryClosed
    else:
        assert str(back) == "of /home/ann/memory"


def test_what_is_no_answer_of_ours_is_an_error_too() -> None:
    bodies: tuple[object, ...] = (None, [], {"error": "Teapot"}, {"error": ["x"]}, "<html>")
    for body in bodies:
        assert type(error_of(body, 418)) is tiermem.errors.RemoteError


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/v1/ask", b'{"question": ""}', (400, "question")),
        ("/v1/ask", b"{}", (400, "question")),
        ("/v1/ask", b'{"question": "Who?", "sesion": "x"}', (400, "did you mean 'session'?")),
        ("/v1/ask", b'{"question": "Who?", "mode": "guess"}', (400, "mode")),
        ("/v1/ask", b'{"question": "Who?", "budget": {"calls": -1}}', (400, "calls")),
        ("/v1/ask", b"[1]", (400, "JSON object")),
        ("/v1/ask", b"{", (400, "no JSON")),
        ("/v1/ask", b"\xff\xfe", (400, "no JSON")),
        ("/v1/ask", b"[" * 100_000, (400, "no JSON")),
        ("/v1/ask", b'{"question": NaN}', (400, "no JSON")),
        ("/v1/ask", b'{"question": "\\ud800"}', (400, "surrogates")),
        (
            "/v1/add",
            b'{"turns": {"turn": {"speaker": 5}}}',
            (400, "speaker: Input should be a valid string, not 5; text: Field"),
        ),
        ("/v1/add", b'{"turns": 7}', (400, "turns")),
        ("/v1/add", b'{"turns": {"turn": {"speaker": "Ann"}}}', (400, "text")),
        (
            "/v1/add",
            b'{"turns": {"turn": {"speaker": "Ann", "text": "x", "said_at": "soon"}}}',
            (400, "soon"),
        ),
        ("/v1/add", b'{"turns": {"turn": {"speaker": "Ann", "text": "x", "metadata": 7}}}', (400, "")),
        ("/v1/add", b'{"turns": {"turn": 7}}', (400, "")),
        ("/v1/add", b'{"turns": {"imported_turn": 7}}', (400, "")),
        ("/v1/add", b'{"turns": [{"imported_turn": {"speaker": "Ann"}}]}', (400, "text")),
        ("/v1/add", b'{"turns": "Hi there.", "importance": 7}', (400, "importance")),
        ("/v1/search", b'{"query": "x", "limit": 0}', (400, "limit")),
        ("/v1/search", b'{"query": "x", "limit": true}', (400, "limit")),
        ("/v1/recall", b'{"topic": "x", "timeframe": {"since": null, "until": null}}', (400, "timeframe")),
        ("/v1/recall", b'{"topic": "x", "timeframe": {"from": 1}}', (400, "timeframe")),
        ("/v1/recall", b'{"topic": "x", "into": {}}', (400, "into")),
        ("/v1/verify", b'{"checkpoint": {"space": 7}}', (400, "")),
        ("/v1/feedback", b'{"outcome": "success", "sources": [{}]}', (400, "")),
        ("/v1/feedback", b'{"outcome": "success", "sources": 7}', (400, "sources")),
        ("/v1/feedback", b'{"outcome": "success"}', (400, "answer")),
        ("/v1/erase", b'{"reason": "asked to"}', (400, "")),
        ("/v1/page", b'{"page_id": "p1:nowhere"}', (404, "p1:nowhere")),
        ("/v1/audit", b'{"answer_id": "a1:nowhere"}', (404, "a1:nowhere")),
        ("/v1/withdraw", b'{"unit_id": "u", "reason": "asked to"}', (404, "u")),
        ("/v1/flush", b'{"progress": 7}', (400, "progress")),
        ("/v1/backup", b'{"all_spaces": true}', (400, "all_spaces")),
        (
            "/v1/prove_growth",
            b'{"old": {"space": "default", "size": 1, "root": "00", "format": 2}}',
            (409, ""),
        ),
        ("/v1/open?create=perhaps", b"", (400, "create")),
        ("/v1/nothing", b"{}", (404, "/openapi.json")),
        ("/nowhere", b"", (404, "/openapi.json")),
        ("/health", b"", (405, "method")),
    ],
)
async def test_a_callers_mistake_is_named_and_is_never_the_servers(
    serving: Serving, tmp_path: Path, path: str, body: bytes, expected: tuple[int, str]
) -> None:
    status, names = expected
    async with serving() as client:
        assert (await client.post("/v1/add", json={"turns": SAID, "speaker": "Ann"})).status_code == 200
        answer = await client.post(path, content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    problem = answer.json()
    assert names in problem["detail"]
    assert problem["next"]
    assert str(tmp_path) not in answer.text


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("/v1/nope", "GET /openapi.json"),
        ("/page/nope.js", "GET /openapi.json"),
        ("/v1/stats?space=zzz", "GET /v1/spaces"),
        ("/v1/page", "`pages`"),
    ],
)
async def test_what_is_not_there_is_looked_up_where_it_is_listed(
    serving: Serving, path: str, advice: str
) -> None:
    async with serving() as client:
        await client.post("/v1/add", json={"turns": SAID, "speaker": "Ann"})
        method = "GET" if path.startswith("/page/") else "POST"
        answer = await client.request(method, path, json={"page_id": "p1:x"} if "stats" not in path else {})
    assert answer.status_code == 404
    assert answer.json()["error"] == "UnknownId"
    assert advice in answer.json()["next"]


async def test_a_body_that_is_too_long_or_no_json_is_refused(serving: Serving) -> None:
    async with serving(limits=Limits(body=1000)) as client:
        for content in (b"x" * 1001, _parts(20)):
            answer = await client.post(
                "/v1/add", content=content, headers={"content-type": "application/json"}
            )
            assert (answer.status_code, answer.json()["error"]) == (413, "TooLarge")
        for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
            answer = await client.post("/v1/add", content=b'{"turns": "x"}', headers={"content-type": kind})
            assert answer.status_code == 415
        assert (await client.post("/v1/add", json={"turns": SAID})).status_code == 200


async def test_a_body_that_does_not_end_is_refused(serving: Serving) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b'{"turns": "'
        await anyio.sleep_forever()

    async with serving(limits=Limits(seconds=0.2)) as client:
        headers = {"content-type": "application/json"}
        with anyio.fail_after(30):
            answer = await client.post("/v1/add", content=endless(), headers=headers)
    assert answer.status_code == 408


CHECKPOINT = {"space": "default", "size": 1, "root": "00", "format": 2}
REFUSALS: dict[str, tuple[dict[str, Any], type[Exception], int]] = {
    "answers": ({}, tiermem.errors.InvalidInput, 400),
    "prove_growth": ({"old": CHECKPOINT}, Corrupt, 409),
}


@pytest.mark.parametrize("operation", REFUSALS)
async def test_no_error_names_the_path_of_the_store(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    given, error, status = REFUSALS[operation]

    async def refuse(self: object, *_: object, **__: object) -> None:
        raise error(f"cannot read {tmp_path / 'store'}/spaces of {str(tmp_path / 'store')!r}")

    async with serving() as client:
        await client.post("/v1/add", json={"turns": SAID})
        monkeypatch.setattr(tiermem.AsyncMemory, operation, refuse)
        answer = await client.post(f"/v1/{operation}", json=given)
    assert (answer.status_code, answer.json()["error"].rpartition(".")[2]) == (status, error.__name__)
    assert answer.json()["detail"] == "cannot read the store/spaces of the store"
    assert str(tmp_path) not in answer.text


async def test_a_word_of_the_request_that_is_the_name_of_the_store_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    service = Service(Path("memory"), keys=keys_of(tmp_path / "memory"))
    folder = tmp_path / "memory"
    error = tiermem.errors.UnknownId(f"no 'memory' page in {folder}/a, {str(folder)!r} or {folder}-2")
    assert service.problem(error).detail == f"no 'memory' page in the store/a, the store or {folder}-2"


async def test_no_error_names_the_folder_behind_a_link_to_the_store(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    service = Service(link, keys=keys_of(link))
    error = tiermem.errors.UnknownId(f"no page in {real}/a, {str(real)!r} or {link}/b")
    assert service.problem(error).detail == "no page in the store/a, the store or the store/b"


async def _parts(number: int) -> Any:
    for _ in range(number):
        yield b" " * 100


async def test_a_store_that_is_open_elsewhere_is_the_servers_matter(serving: Serving, tmp_path: Path) -> None:
    hold = (
        "import sys, tiermem; memory = tiermem.open(sys.argv[1], engine='local', embedder='hashed'); "
        "print('open', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", hold, str(tmp_path / "store")]
    async with await anyio.open_process(command) as other:
        assert other.stdout is not None
        assert (await other.stdout.receive()).startswith(b"open")
        async with serving() as client:
            answer = await client.post("/v1/add", json={"turns": SAID})
        assert other.stdin is not None
        await other.stdin.aclose()
    assert (answer.status_code, answer.json()["error"]) == (503, "pagestore.Locked")
    assert str(tmp_path) not in answer.text
    async with serving() as client:
        assert (await client.post("/v1/add", json={"turns": SAID})).status_code == 200


@pytest.mark.unexpected
async def test_what_nobody_expects_is_told_to_the_log_alone(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def breaks(self: object) -> None:
        raise RuntimeError("secret of /home/ann")

    monkeypatch.setattr(tiermem.AsyncMemory, "answers", breaks)
    async with serving() as client:
        await client.post("/v1/add", json={"turns": SAID})
        answer = await client.post("/v1/answers")
    assert (answer.status_code, answer.json()["error"]) == (500, "Unexpected")
    assert "secret" not in answer.text


async def test_what_takes_too_long_is_given_up_but_what_is_written_is_written(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    add, search = tiermem.AsyncMemory.add, tiermem.AsyncMemory.search

    given_up, timeout, limits = asyncio.Event(), asyncio.timeout, list[asyncio.Timeout]()

    def held(seconds: float | None) -> asyncio.Timeout:
        """A limit that is over only when the operation says so."""
        limit = timeout(seconds)
        if seconds == 1_000:
            limits.append(limit)
        return limit

    def let_time_pass() -> None:
        limits[-1].reschedule(asyncio.get_running_loop().time())

    async def slow_add(self: Any, *args: Any, **given: Any) -> Any:
        let_time_pass()
        await given_up.wait()
        return await add(self, *args, **given)

    ended: list[str] = []

    async def slow_search(self: Any, *args: Any, **given: Any) -> Any:
        try:
            let_time_pass()
            await anyio.sleep_forever()
        except asyncio.CancelledError:
            ended.append("search")
            raise
        return await search(self, *args, **given)

    monkeypatch.setattr(tiermem.AsyncMemory, "add", slow_add)
    monkeypatch.setattr(tiermem.AsyncMemory, "search", slow_search)
    monkeypatch.setattr(asyncio, "timeout", held)
    async with serving(limits=Limits(seconds=1_000, grace=60)) as client:
        for operation, given in (("add", {"turns": SAID}), ("search", {"query": "dog"})):
            answer = await client.post(f"/v1/{operation}", json=given)
            assert (answer.status_code, answer.json()["error"]) == (503, "ServerUnavailable")
        given_up.set()
    assert ended == ["search"]
    monkeypatch.undo()
    async with await tiermem.AsyncMemory.open(tmp_path / "store", **SETTINGS) as memory:
        assert (await memory.stats()).turns == 1


@pytest.mark.unexpected
async def test_a_setup_that_cannot_open_a_memory_is_not_the_callers_mistake(serving: Serving) -> None:
    async with serving(engine="model") as client:
        answer = await client.post("/v1/add", json={"turns": SAID})
    assert (answer.status_code, answer.json()["error"]) == (503, "ServerUnavailable")
