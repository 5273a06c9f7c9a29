"""Requests to a server of memories: the one file that knows httpx."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from tiermem.errors import InvalidInput, RemoteError, ServerUnavailable, install_command
from tiermem.wire import error_of

if TYPE_CHECKING:
    import httpx

_CONNECTING = 10.0
"""Seconds that a connection may take."""
_WAITING = 600.0
"""Seconds without a word of the server. It says itself how long a request may take, which is less."""
_ATTEMPTS = 2
"""How often what changes nothing is sent where the connection breaks."""

EVENTS = "text/event-stream"


def is_url(path: object) -> bool:
    """Whether it names a server, and no directory."""
    return isinstance(path, str) and path.lower().startswith(("http://", "https://"))


class Connection:
    """To one server, with one key, which neither it nor its errors show."""

    def __init__(self, url: str, key: str | SecretStr | None) -> None:
        """Raises `InvalidInput` for what is no URL or no key, or where httpx is not installed."""
        self.url = _check_url(url)
        self._secret = _secret(key)
        self._client: httpx.AsyncClient | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} to {self.url}>"

    async def json(
        self, path: str, params: Mapping[str, str], body: object = None, *, again: bool = False
    ) -> Any:
        """What the server answers; raises what it raises there. With `again` it is sent once more where the
        connection breaks, which is for what changes nothing.
        """
        async with self.answer(path, params, body, again=again) as response:
            return _parse_json(response.content)

    @asynccontextmanager
    async def answer(
        self,
        path: str,
        params: Mapping[str, str],
        body: object = None,
        *,
        accept: str = "application/json",
        again: bool = False,
    ) -> AsyncIterator[httpx.Response]:
        """A response whose body is read already, or with another `accept` is still to be read."""
        client, sending = self._open_client(), self._request(path, params, body, accept)
        whole = accept == "application/json"
        response = await self._sent(client, sending, attempts=_ATTEMPTS if again else 1, whole=whole)
        try:
            if response.status_code != 200:
                raise error_of(_or_none(await response.aread()), response.status_code)
            with _translate_transport_errors(self.url):
                yield response
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    def spaces(self) -> tuple[str, ...]:
        """The spaces that the key may name; this one waits."""
        httpx = _httpx()
        with _translate_transport_errors(self.url), httpx.Client(**self._options(httpx)) as client:
            response = client.get(f"{self.url}/v1/spaces")
        if response.status_code != 200:
            raise error_of(_or_none(response.content), response.status_code)
        return tuple(str(name) for name in _parse_json(response.content))

    async def _sent(
        self, client: httpx.AsyncClient, sending: Mapping[str, Any], *, attempts: int, whole: bool
    ) -> httpx.Response:
        with _translate_transport_errors(self.url):
            while True:
                attempts -= 1
                try:
                    response = await client.send(client.build_request("POST", **sending), stream=True)
                    if whole:
                        await response.aread()
                    return response
                except _httpx().TransportError:
                    if not attempts:
                        raise

    def _request(self, path: str, params: Mapping[str, str], body: object, accept: str) -> dict[str, Any]:
        content = b"" if body is None else _written(body)
        headers = {"accept": accept, **({} if body is None else {"content-type": "application/json"})}
        return {"url": f"{self.url}{path}", "params": dict(params), "content": content, "headers": headers}

    def _open_client(self) -> httpx.AsyncClient:
        if self._client is None:
            httpx = _httpx()
            self._client = httpx.AsyncClient(**self._options(httpx))
        return self._client

    def _options(self, httpx: Any) -> dict[str, Any]:
        key = None if self._secret is None else self._secret.get_secret_value()
        return {
            "headers": {} if key is None else {"authorization": f"Bearer {key}"},
            "timeout": httpx.Timeout(_WAITING, connect=_CONNECTING),
            "trust_env": urlsplit(self.url).hostname not in ("127.0.0.1", "::1", "localhost"),
        }


async def events(response: httpx.Response) -> AsyncIterator[tuple[str, Any]]:
    """The events of a stream: the name of each, and its content."""
    name = ""
    async for line in response.aiter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, _parse_json(value)


@contextmanager
def _translate_transport_errors(url: str) -> Iterator[None]:
    """Raise errors of a connection as errors of ours."""
    httpx = _httpx()
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise ServerUnavailable(f"no server answers at {url}: {error or type(error).__name__}") from error
    except httpx.TransportError as error:
        raise ServerUnavailable(
            f"the connection to {url} broke ({type(error).__name__}); whether this was done is not "
            "known: what has a turn_id can be given again"
        ) from error
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        raise RemoteError(f"{url} cannot be used: {error}") from error


def _httpx() -> Any:
    try:
        import httpx
    except ImportError as error:
        raise InvalidInput(
            f"a memory over HTTP needs an extra: {install_command('remote')} ({error})"
        ) from error
    return httpx


def _check_url(url: str) -> str:
    try:
        split = urlsplit(url)
        known = split.hostname and split.port != 0
    except ValueError:
        known = None
    if not known or split.query or split.fragment:
        raise InvalidInput("path: a memory over HTTP is named like http://127.0.0.1:8000")
    if split.username is not None or split.password is not None:
        raise InvalidInput("path: give the key as key=…, not in the URL")
    return url.rstrip("/")


def _secret(key: str | SecretStr | None) -> SecretStr | None:
    if key is None:
        return None
    text: object = key.get_secret_value() if isinstance(key, SecretStr) else key
    if not isinstance(text, str) or not text.isascii() or not text.isprintable() or " " in text or not text:
        raise InvalidInput("key must be a key as `tiermem keys make` shows it")
    return SecretStr(text)


def _written(body: object) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode("ascii")
    except (RecursionError, TypeError, ValueError) as error:
        raise InvalidInput(f"what was given is no JSON, so it cannot go over HTTP: {error}") from error


def _parse_json(content: bytes | str) -> Any:
    try:
        return json.loads(content)
    except ValueError as error:
        raise RemoteError("what answered is no memory of ours: it sends no JSON") from error


def _or_none(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None
