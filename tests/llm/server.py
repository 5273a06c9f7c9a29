"""A loopback server that speaks chat completions and embeddings, and can fail in scripted ways.

    with ModelServer(answer=lambda request: '{"action": "S"}') as server:
        server.then(Status(429, retry_after="1"), CutOff(), Drip())
        model = OpenAIModel("test-model", base_url=server.url)

Scripted behaviours are played first, one a request, in order; then every request gets `answer`. The
server counts the tokens of every reply it sent whole, so that metering can be compared with its count.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked: the path, the JSON body, the headers in lower case."""

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def model(self) -> str:
        return str(self.body.get("model"))

    @property
    def text(self) -> str:
        """All messages, or all inputs, together."""
        if "input" in self.body:
            return "\n".join(self.body["input"])
        return "\n".join(message["content"] for message in self.body["messages"])

    @property
    def format(self) -> str:
        kind = self.body.get("response_format", {"type": "text"})["type"]
        assert isinstance(kind, str)
        return kind


@dataclass
class Counts:
    """Tokens of every reply that was sent whole."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    embedding_tokens: int = 0
    replies: int = 0


class Behaviour(Protocol):
    """What the server does with one request."""

    def play(self, exchange: Exchange) -> None: ...


@dataclass(frozen=True)
class Say:
    """A good reply with this text."""

    text: str

    def play(self, exchange: Exchange) -> None:
        exchange.send_completion({"content": self.text})


@dataclass(frozen=True)
class Empty:
    """A completion without words."""

    content: str | None = ""

    def play(self, exchange: Exchange) -> None:
        exchange.send_completion({"content": self.content})


@dataclass(frozen=True)
class Refuse:
    """The model declines in the protocol's own field."""

    text: str = "I cannot help with that."

    def play(self, exchange: Exchange) -> None:
        exchange.send_completion({"content": None, "refusal": self.text})


@dataclass(frozen=True)
class Finish:
    """A completion that ended for another reason: `length`, `content_filter`, `tool_calls`."""

    reason: str
    text: str = '{"action": "S"'

    def play(self, exchange: Exchange) -> None:
        exchange.send_completion({"content": self.text}, finish_reason=self.reason)


@dataclass(frozen=True)
class Body:
    """Status 200 with exactly these bytes: half a JSON, an HTML page, wrong types."""

    content: bytes

    def play(self, exchange: Exchange) -> None:
        exchange.send(200, self.content)


@dataclass(frozen=True)
class Status:
    """An HTTP error."""

    code: int
    message: str = "scripted failure"
    retry_after: str | None = None
    error_code: str | None = None

    def play(self, exchange: Exchange) -> None:
        error = {"error": {"message": self.message, "code": self.error_code, "type": "scripted"}}
        headers = {"Retry-After": self.retry_after} if self.retry_after is not None else {}
        exchange.send(self.code, json.dumps(error).encode(), headers=headers)


@dataclass(frozen=True)
class CutOff:
    """The connection is reset in the middle of the body."""

    def play(self, exchange: Exchange) -> None:
        content = exchange.completion({"content": "never seen whole"}, "stop")
        exchange.start(200, len(content))
        exchange.write(content[: len(content) // 2])
        exchange.reset()


@dataclass(frozen=True)
class Hang:
    """Nothing comes until the server closes."""

    def play(self, exchange: Exchange) -> None:
        exchange.side.closing.wait()
        exchange.reset()


@dataclass(frozen=True)
class Drip:
    """A good reply, a byte at a time: each read succeeds, the whole never arrives in time."""

    text: str = "slow"
    pause: float = 0.05

    def play(self, exchange: Exchange) -> None:
        content = exchange.completion({"content": self.text}, "stop")
        exchange.start(200, len(content))
        for byte in content:
            if exchange.side.closing.wait(self.pause) or not exchange.write(bytes([byte])):
                exchange.reset()
                return


@dataclass(frozen=True)
class Echo:
    """Tells what it was sent: `write` makes body and headers of the request."""

    write: Callable[[Request], tuple[str, Mapping[str, str]]]
    code: int = 401

    def play(self, exchange: Exchange) -> None:
        body, headers = self.write(exchange.asked)
        exchange.send(self.code, body.encode(), headers=headers)


@dataclass(frozen=True)
class Redirect:
    """Sends the client to another place."""

    location: str
    code: int = 307

    def play(self, exchange: Exchange) -> None:
        exchange.send(self.code, b"", headers={"Location": self.location})


@dataclass(frozen=True)
class Raw:
    """Exactly these bytes in place of a response, piece by piece for as long as somebody listens."""

    pieces: Callable[[Request], Iterable[bytes]]

    def play(self, exchange: Exchange) -> None:
        for piece in self.pieces(exchange.asked):
            if exchange.side.closing.is_set() or not exchange.write(piece):
                break
        exchange.close_connection = True


Answer = Callable[[Request], str]


@dataclass
class ModelServer:
    """The server. `formats` are the response formats it understands; others get a 400.

    `reports_usage=False` leaves token counts out of replies, as some servers do.
    """

    answer: Answer = field(default=lambda request: "{}")
    formats: frozenset[str] = frozenset({"json_schema", "json_object", "text"})
    rejects: Mapping[str, str] = field(default_factory=dict)
    """Request parameters that get a 400, with the words of the complaint."""
    dimensions: int = 4
    reports_usage: bool = True

    def __post_init__(self) -> None:
        self.requests: list[Request] = []
        self.counts = Counts()
        self.most_at_once = 0
        self.closing = threading.Event()
        self._connections: set[socket.socket] = set()
        self._script: deque[Behaviour] = deque()
        self._lock = threading.Lock()
        self._at_once = 0
        handler = type("Bound", (Exchange,), {"side": self})
        self._http = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        """What to give as `base_url`."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def then(self, *behaviours: Behaviour) -> None:
        """Play these for the next requests, in order."""
        with self._lock:
            self._script.extend(behaviours)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._http.shutdown()
        self._thread.join()
        with self._lock:
            self._let_go()
        self._http.server_close()

    def begins(self, connection: socket.socket) -> None:
        """A client connected."""
        with self._lock:
            self._connections.add(connection)
            if self.closing.is_set():
                self._let_go()

    def ends(self, connection: socket.socket) -> None:
        """A connection is about to be closed."""
        with self._lock:
            self._connections.discard(connection)

    def _let_go(self) -> None:
        """Read nothing more from clients: nobody waits for another request on what they keep alive."""
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RD)

    def handle(self, exchange: Exchange) -> None:
        """Answer one request."""
        with self._lock:
            self.requests.append(exchange.asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            scripted = self._script.popleft() if self._script else None
        try:
            self._answer(exchange, scripted)
        finally:
            with self._lock:
                self._at_once -= 1

    def _answer(self, exchange: Exchange, scripted: Behaviour | None) -> None:
        complaint = self._complaint(exchange.asked)
        if scripted is not None:
            scripted.play(exchange)
        elif complaint is not None:
            Status(400, complaint).play(exchange)
        elif exchange.asked.path.endswith("/embeddings"):
            exchange.send_embeddings()
        elif exchange.asked.path.endswith("/chat/completions"):
            Say(self.answer(exchange.asked)).play(exchange)
        else:
            Status(404, "no such path").play(exchange)

    def _complaint(self, request: Request) -> str | None:
        for parameter, words in self.rejects.items():
            if parameter in request.body:
                return words
        return (
            None if request.format in self.formats else f"response_format {request.format} is not supported"
        )

    def count(self, usage: Mapping[str, Any], *, embedding: bool) -> None:
        """Note the tokens of a reply that went out whole."""
        with self._lock:
            self.counts.replies += 1
            if embedding:
                self.counts.embedding_tokens += usage["prompt_tokens"]
                return
            self.counts.input_tokens += usage["prompt_tokens"]
            self.counts.output_tokens += usage["completion_tokens"]
            self.counts.cached_tokens += usage["prompt_tokens_details"]["cached_tokens"]


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 128


class Exchange(BaseHTTPRequestHandler):
    """One connection and the request at hand, as behaviours see it."""

    side: ClassVar[ModelServer]
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 30

    asked: Request
    """The request at hand."""

    def setup(self) -> None:
        super().setup()
        self.side.begins(self.connection)

    def finish(self) -> None:
        self.side.ends(self.connection)
        super().finish()

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        self.asked = Request(
            path=self.path,
            body=json.loads(self.rfile.read(length)),
            headers={name.lower(): value for name, value in self.headers.items()},
        )
        self.side.handle(self)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Silence: tests read `requests`."""

    def start(self, status: int, length: int, headers: Mapping[str, str] | None = None) -> None:
        """Status line and headers."""
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def write(self, content: bytes) -> bool:
        """Send bytes now; `False` when the other side has gone."""
        try:
            self.wfile.write(content)
            self.wfile.flush()
        except OSError:
            self.close_connection = True
            return False
        return True

    def send(self, status: int, content: bytes, headers: Mapping[str, str] | None = None) -> bool:
        """A whole response."""
        try:
            self.start(status, len(content), headers)
        except OSError:
            self.close_connection = True
            return False
        return self.write(content)

    def reset(self) -> None:
        """Drop the connection hard (RST)."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def usage(self, output: str) -> dict[str, Any]:
        """Token counts: whitespace words; half of the input counts as cached."""
        asked = len(self.asked.text.split())
        return {
            "prompt_tokens": asked,
            "completion_tokens": len(output.split()),
            "total_tokens": asked + len(output.split()),
            "prompt_tokens_details": {"cached_tokens": asked // 2},
        }

    def completion(self, message: Mapping[str, Any], finish_reason: str) -> bytes:
        """The body of a chat completion."""
        body: dict[str, Any] = {
            "id": "chatcmpl-test",
            "object": "chat.completion",
            "created": 0,
            "model": self.asked.model,
            "choices": [
                {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", **message}}
            ],
        }
        if self.side.reports_usage:
            body["usage"] = self.usage(message.get("content") or "")
        return json.dumps(body).encode()

    def send_completion(self, message: Mapping[str, Any], finish_reason: str = "stop") -> None:
        """A whole chat completion, counted."""
        self.side.count(self.usage(message.get("content") or ""), embedding=False)
        self.send(200, self.completion(message, finish_reason))

    def send_embeddings(self) -> None:
        """One vector a text that depends on the text alone, counted."""
        texts = self.asked.body["input"]
        vectors = [_vector(text, self.side.dimensions) for text in texts]
        body: dict[str, Any] = {
            "object": "list",
            "model": self.asked.model,
            # Backwards: the protocol has an index for a reason.
            "data": [
                {"object": "embedding", "index": n, "embedding": vectors[n]}
                for n in reversed(range(len(texts)))
            ],
        }
        usage = self.usage("")
        if self.side.reports_usage:
            body["usage"] = {"prompt_tokens": usage["prompt_tokens"], "total_tokens": usage["prompt_tokens"]}
        self.side.count(usage, embedding=True)
        self.send(200, json.dumps(body).encode())


def _vector(text: str, dimensions: int) -> list[float]:
    return [float((len(text) * 31 + sum(map(ord, text)) * (n + 1)) % 97 - 48) for n in range(dimensions)]
