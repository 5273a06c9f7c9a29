"""Endpoints that repeat the key they were sent, never stop sending, or send the dialogue elsewhere."""

import base64
import gzip
import json
import logging
import subprocess
import sys
import traceback
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import chain, repeat
from typing import Any
from urllib.parse import quote

import pytest
from openai import DefaultAsyncHttpxClient

from tests.llm.server import Behaviour, Body, Echo, ModelServer, Raw, Redirect, Request, Say
from tests.llm.test_redaction import told
from tiermem.errors import MalformedReply, ModelError, ModelRefused, ModelUnavailable
from tiermem.llm import ModelOptions, OpenAIModel
from tiermem.llm.connection import GuardedClient, same_address
from tiermem.llm.endpoint import Endpoint
from tiermem.llm.interface import Call, Message
from tiermem.llm.meter import Meter, paid_by
from tiermem.llm.redaction import Redaction

pytestmark = pytest.mark.anyio

KEY = "sk-proj-Ab3/dE6+gH9_jK2-mN5oP8qR1sT4uV7wX0yZ"
QUICK = ModelOptions(timeout=60, deadline=100, attempts=2, first_wait=0.001, longest_wait=0.002)
CALL = Call(prompt="route@1", role="route", messages=(Message(role="user", content="the dialogue"),))


@asynccontextmanager
async def model_at(url: str, options: ModelOptions = QUICK, **more: Any) -> AsyncIterator[OpenAIModel]:
    model = OpenAIModel("test-model", base_url=url, options=options, **{"api_key": KEY} | more)
    try:
        yield model
    finally:
        await model.close()


def shown(error: BaseException) -> str:
    """Everything that a log of this error holds."""
    return "\n".join([*traceback.format_exception(error), repr(error), str(error)])


# What is repeated


def as_error(request: Request) -> str:
    return json.dumps(
        {"error": {"message": f"Incorrect API key provided: {request.headers['authorization']}"}}
    )


def escaped(request: Request) -> str:
    key = "".join(f"\\u{ord(c):04x}" for c in request.headers["authorization"])
    return f'{{"error": {{"message": "{key}", "code": "{key}", "extra": ["{key}"]}}}}'


ECHOES: dict[str, Callable[[Request], tuple[str, Mapping[str, str]]]] = {
    "in the error": lambda request: (as_error(request), {}),
    "escaped": lambda request: (escaped(request), {}),
    "as text": lambda request: (str(request.headers), {}),
    "as a page": lambda request: (f"<pre>{quote(str(request.headers))}</pre>", {}),
    "packed in base64": lambda request: (
        json.dumps({"error": {"message": base64.b64encode(str(request.headers).encode()).decode()}}),
        {},
    ),
    "in a header": lambda request: (
        "{}",
        {"X-Echo": request.headers["authorization"], "x-request-id": request.headers["authorization"]},
    ),
    "in retry-after": lambda request: ("{}", {"Retry-After": request.headers["authorization"]}),
    "masked": lambda request: (json.dumps({"error": {"message": f"key {KEY[:20]}***{KEY[-9:]}"}}), {}),
}


@pytest.mark.parametrize("code", [400, 401, 429, 503, 302])
@pytest.mark.parametrize("echo", ECHOES)
async def test_a_key_repeated_in_an_error_is_in_nothing_that_is_raised_or_logged(
    echo: str, code: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with ModelServer() as server:
        server.then(*[Echo(ECHOES[echo], code)] * 4)
        async with model_at(server.url) as model:
            with pytest.raises(ModelError) as raised:
                await model.complete(CALL)
            with pytest.raises(ModelError) as raised_too:
                await model.embed(["the dialogue"])
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    for text in (shown(raised.value), shown(raised_too.value), caplog.text):
        assert not told(text)
        assert base64.b64encode(KEY[2:].encode()).decode()[4:20] not in text


@pytest.mark.parametrize("code", [200, 400, 429, 503])
@pytest.mark.parametrize(
    ("retry_after", "kept"),
    [
        (KEY, "[redacted]"),
        (f"Bearer {KEY}", "Bearer [redacted]"),
        (f"30, {quote(KEY, safe='')}", "30, [redacted]"),
        (KEY.encode().hex(), "[redacted]"),
        (KEY[:12], "[redacted]"),
        ("30.5", "30.5"),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:00 GMT"),
    ],
    ids=["bare", "with its scheme", "URL-encoded", "in hex", "cut", "seconds", "a date"],
)
async def test_the_client_of_the_vendor_gets_retry_after_without_keys(
    retry_after: str, kept: str, code: int
) -> None:
    with ModelServer() as server:
        server.then(Echo(lambda request: ("{}", {"Retry-After": retry_after}), code))
        async with GuardedClient(server.url, Redaction([KEY]), reply_mb=1) as client:
            response = await client.post(f"{server.url}/chat/completions", json={})
    assert response.status_code == code
    assert response.headers["retry-after"] == kept


async def test_why_a_call_was_rejected_is_still_told() -> None:
    with ModelServer() as server:
        server.then(Echo(lambda request: (as_error(request), {})))
        async with model_at(server.url) as model:
            with pytest.raises(ModelRefused, match=r"Incorrect API key provided: Bearer \[redacted\]"):
                await model.complete(CALL)


async def test_a_status_line_that_repeats_the_key_is_no_better() -> None:
    garbage = Raw(lambda request: [f"{request.headers['authorization']} HTTP?\r\n\r\n".encode()])
    with ModelServer() as server:
        server.then(garbage, garbage)
        async with model_at(server.url) as model:
            with pytest.raises(ModelUnavailable, match="connection failed") as raised:
                await model.complete(CALL)
    assert not told(shown(raised.value))


async def test_a_reply_that_repeats_the_key_is_kept_without_it() -> None:
    with ModelServer(answer=lambda request: f"Your headers were {request.headers}.") as server:
        async with model_at(server.url) as model:
            with paid_by(Meter()) as meter:
                reply = await model.complete(CALL)
            server.then(Echo(lambda request: (json.dumps({"model": KEY, "choices": [said(KEY)]}), {}), 200))
            other = await model.complete(CALL)
            server.then(Echo(lambda request: (json.dumps({"choices": [declined(KEY)]}), {}), 200))
            with pytest.raises(MalformedReply) as raised:
                await model.complete(CALL)
            server.then(*[Echo(lambda request: (json.dumps({"choices": [KEY], "data": [KEY]}), {}), 200)] * 2)
            with pytest.raises(MalformedReply) as misshapen:
                await model.complete(CALL)
            with pytest.raises(MalformedReply) as misshapen_too:
                await model.embed(["a"])
    assert reply.text.startswith("Your headers were")
    assert "[redacted]" in reply.text
    assert not told(f"{reply} {other} {meter} {shown(raised.value)}")
    assert not told(shown(misshapen.value) + shown(misshapen_too.value))


def said(text: str) -> dict[str, Any]:
    return {"message": {"content": text}}


def declined(text: str) -> dict[str, Any]:
    return {"message": {"content": None, "refusal": text}}


async def test_a_reply_keeps_words_that_only_look_like_a_key() -> None:
    words = "Ann's old key was sk-abc123def456 and the header said Bearer abc123def456."
    with ModelServer(answer=lambda request: words) as server:
        async with model_at(server.url) as model:
            assert (await model.complete(CALL)).text == words


async def test_nothing_that_holds_the_key_shows_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with ModelServer() as server:
        url = server.url.replace("://", "://ann:pa55word%21@")
        async with model_at(url) as model:
            await model.complete(CALL)
            held = [model, vars(model), model._connections.get()]
            server.then(Echo(lambda request: (as_error(request), {}), 401))
            with pytest.raises(ModelRefused) as raised:
                await model.complete(CALL)
    sent = base64.b64decode(server.requests[0].headers["authorization"].removeprefix("Basic "))
    assert sent == b"ann:pa55word!"
    everything = (
        f"{held!r} {Endpoint(model='m', base_url=url, api_key=KEY)!r} {caplog.text} {shown(raised.value)}"
    )
    assert not told(everything)
    assert "pa55word" not in everything
    assert "127.0.0.1" in str(raised.value)


# What never ends

SMALL = ModelOptions(timeout=60, deadline=100, attempts=1, reply_mb=0.25)
MEMORY = 8_000_000
"""Far above what a quarter of a megabyte takes, far below what is sent."""


def head(*more: str) -> bytes:
    return "\r\n".join(["HTTP/1.1 200 OK", "Content-Type: application/json", *more, "", ""]).encode()


def chunks(content: Iterator[bytes], *more: str) -> Iterator[bytes]:
    yield head("Transfer-Encoding: chunked", *more)
    for piece in content:
        yield b"%x\r\n%s\r\n" % (len(piece), piece)


def blanks(megabytes: int = 200) -> Iterator[bytes]:
    for _ in range(megabytes * 16):
        yield b" " * 65_536


def packed(rounds: int = 1) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    once = b"".join([*map(packer.compress, blanks(40)), packer.flush()])
    return once if rounds == 1 else gzip.compress(once)


def of_length(content: bytes, *more: str) -> Callable[[Request], list[bytes]]:
    return lambda request: [head(f"Content-Length: {len(content)}", *more), content]


def packed_reply(pack: Callable[[], bytes], *more: str) -> Callable[[Request], list[bytes]]:
    """As `of_length`, but packed at the request: packing takes a while."""

    def reply(request: Request) -> list[bytes]:
        return of_length(pack(), *more)(request)

    return reply


ENDLESS: dict[str, tuple[Callable[[Request], Any], str]] = {
    "plain": (lambda request: chunks(blanks()), r"longer than 0\.25 MB.*TIERMEM_MODEL_REPLY_MB"),
    "small chunks": (lambda request: chunks(repeat(b" " * 40, 1_000_000)), "longer than"),
    "gzip": (packed_reply(packed, "Content-Encoding: gzip"), r"longer than 0\.25 MB"),
    "gzip of gzip": (packed_reply(lambda: packed(2), "Content-Encoding: gzip, gzip"), "not with gzip"),
    "deflate": (of_length(zlib.compress(bytes(10**6)), "Content-Encoding: deflate"), "not with gzip"),
    "bytes after the end": (
        lambda request: chunks(chain([gzip.compress(b"{}")], blanks()), "Content-Encoding: gzip"),
        "longer than",
    ),
    "broken gzip": (
        of_length(b"\x1f\x8b" + b"x" * 100, "Content-Encoding: gzip"),
        "packed its reply wrongly",
    ),
    "a packed character set": (
        of_length(zlib.compress(bytes(10**8)), "Content-Type: application/json; charset=zlib_codec"),
        "no chat completion",
    ),
}


@pytest.mark.parametrize("kind", ENDLESS)
async def test_a_reply_is_read_up_to_a_limit_and_no_further(kind: str) -> None:
    pieces, why = ENDLESS[kind]
    with ModelServer() as server:
        server.then(Raw(pieces))
        # The request after it may meet a kept connection that is just being closed: that one is sent again.
        async with model_at(server.url, replace(SMALL, attempts=2, first_wait=0.01)) as model:
            tracemalloc.start()
            try:
                with pytest.raises(MalformedReply, match=why):
                    await model.complete(CALL)
                assert tracemalloc.get_traced_memory()[1] < MEMORY
            finally:
                tracemalloc.stop()
            assert (await model.complete(CALL)).text == "{}"


@pytest.mark.parametrize("code", [401, 500])
async def test_an_error_is_read_up_to_the_limit_too(code: int) -> None:
    body = packed()
    answer = head(f"Content-Length: {len(body)}", "Content-Encoding: gzip").replace(b"200 OK", b"%d X" % code)
    with ModelServer() as server:
        server.then(Raw(lambda request: [answer, body]))
        async with model_at(server.url, SMALL) as model:
            with pytest.raises(MalformedReply, match="longer than"):
                await model.complete(CALL)


@pytest.mark.parametrize("line", ["X-Long: ", "X-{number}: v\r\n"])
async def test_headers_that_never_end_are_a_failed_connection(line: str) -> None:
    def pieces(request: Request) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\n"
        for number in range(200_000):
            yield line.replace("{number}", str(number)).encode() + b"v" * 100

    with ModelServer() as server:
        server.then(Raw(pieces))
        async with model_at(server.url, SMALL) as model:
            with pytest.raises(ModelUnavailable, match="connection failed"):
                await model.complete(CALL)


async def test_a_packed_reply_within_the_limit_is_read() -> None:
    body = gzip.compress(json.dumps({"choices": [said("fine")]}).encode())
    with ModelServer() as server:
        server.then(Raw(of_length(body, "Content-Encoding: gzip")))
        async with model_at(server.url, SMALL) as model:
            assert (await model.complete(CALL)).text == "fine"
    assert server.requests[0].headers["accept-encoding"] == "gzip"


async def test_embeddings_may_be_longer_than_other_replies() -> None:
    vector = json.dumps({"data": [{"index": 0, "embedding": [0.125] * 100_000}]}).encode()
    too_long = json.dumps({"data": [{"index": 0, "embedding": [0.125] * 400_000}]}).encode()
    with ModelServer() as server:
        server.then(Body(vector), Body(too_long))
        async with model_at(server.url, SMALL) as model:
            assert len((await model.embed(["a"]))[0]) == 100_000
            with pytest.raises(MalformedReply, match="longer than 2 MB"):
                await model.embed(["a"])


_CHILD = """
import resource, sys
import anyio
from tests.llm.server import Body, ModelServer
from tiermem.errors import MalformedReply
from tiermem.llm import ModelOptions, OpenAIModel
from tiermem.llm.interface import Call, Message

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000

async def main(kind, parts):
    content = b'{"%s":[%s{}]}' % (kind.encode(), b"{}," * int(parts))
    model = OpenAIModel("m", base_url=server.url, options=ModelOptions(timeout=60, attempts=1))
    ask = model.embed if kind == "data" else model.complete
    call = Call(prompt="route@1", role="route", messages=(Message(role="user", content="a"),))
    given = ["a"] if kind == "data" else call
    await ask(given)
    server.then(Body(content))
    before = most()
    try:
        await ask(given)
    except MalformedReply:
        print(most() - before)
    await model.close()

with ModelServer() as server:
    anyio.run(main, *sys.argv[1:])
"""


@pytest.mark.parametrize(("kind", "parts"), [("choices", 1_300_000), ("data", 5_000_000)])
def test_a_reply_within_the_limit_does_not_grow_a_hundredfold_when_it_is_read(kind: str, parts: int) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _CHILD, kind, str(parts)], check=True, capture_output=True, text=True
    )
    assert int(ran.stdout) < 300, "megabytes"


# What leads elsewhere


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_a_redirect_to_another_address_is_told_and_nothing_is_sent_there(code: int) -> None:
    with ModelServer() as server, ModelServer() as other:
        there = other.url.replace("127.0.0.1", "localhost")
        same_port = server.url.replace("127.0.0.1", "localhost")
        for elsewhere in (
            there,
            other.url,
            same_port,
            there.replace("http://", "//"),
            "https://evil.example/v1",
        ):
            server.then(Redirect(f"{elsewhere}/chat/completions?key={KEY}", code))
            async with model_at(server.url) as model:
                with pytest.raises(ModelRefused, match="which is another address") as raised:
                    await model.complete(CALL)
            assert elsewhere.split("//")[1].removesuffix("/v1") in str(raised.value)
            assert not told(shown(raised.value))
        server.then(Redirect(f"{there}/embeddings", code))
        async with model_at(server.url) as model:
            with pytest.raises(ModelRefused, match="which is another address"):
                await model.embed(["the dialogue"])
    assert other.requests == []
    assert len(server.requests) == 6


@pytest.mark.parametrize(
    ("here", "there", "same"),
    [
        ("http://a/v1", "http://a/v2", True),
        ("https://a/v1", "https://a:443/v2", True),
        ("http://a/v1", "https://a/v1", True),
        ("https://a/v1", "http://a/v1", False),
        ("http://a:8000/v1", "https://a:8000/v1", False),
        ("http://a:8000/v1", "https://a/v1", False),
        ("http://a/v1", "https://b/v1", False),
        ("https://a/v1", "https://b/v1", False),
        ("https://a/v1", "https://a.b/v1", False),
        ("https://a:8000/v1", "https://a:9000/v1", False),
    ],
)
async def test_an_address_is_scheme_host_and_port_and_may_only_become_safer(
    here: str, there: str, same: bool
) -> None:
    assert same_address(_url(here), _url(there)) is same


def _url(text: str) -> Any:
    return DefaultAsyncHttpxClient(base_url=text).base_url


@pytest.mark.parametrize("code", [307, 308])
async def test_a_redirect_at_the_same_address_is_followed_with_the_request(code: int) -> None:
    with ModelServer(answer=lambda request: "fine") as server:
        server.then(Redirect("/v2/chat/completions", code), Redirect(f"{server.url}/chat/completions", code))
        async with model_at(server.url) as model:
            assert (await model.complete(CALL)).text == "fine"
    assert [request.path for request in server.requests] == [
        "/v1/chat/completions",
        "/v2/chat/completions",
        "/v1/chat/completions",
    ]
    assert len({request.text for request in server.requests}) == 1


@pytest.mark.parametrize(
    "behaviour", [Redirect("/v2", 302), Redirect("/v2", 303), Redirect(f"/v2?key={quote(KEY)}", 307)]
)
async def test_a_redirect_that_would_lose_the_request_or_repeat_the_key_is_not_followed(
    behaviour: Behaviour, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with ModelServer() as server:
        server.then(behaviour, Say("never asked"))
        async with model_at(server.url) as model:
            with pytest.raises(ModelRefused, match="not followed") as raised:
                await model.complete(CALL)
    assert len(server.requests) == 1
    assert not told(caplog.text + shown(raised.value))


async def test_a_circle_of_redirects_ends() -> None:
    with ModelServer() as server:
        server.then(*[Redirect("/v1/chat/completions")] * 50)
        async with model_at(server.url) as model:
            with pytest.raises(ModelRefused, match="in a circle"):
                await model.complete(CALL)
    assert len(server.requests) < 10
