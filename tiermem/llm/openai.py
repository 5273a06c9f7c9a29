"""Models at any OpenAI-compatible endpoint, through the vendor's client and nothing else of the vendor's.

Retries, formats, reading of replies and metering are ours: each request is checked against the budget
before it is sent and paid when it ends, also when what came back is of no use.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, get_args

import anyio
from anyio.lowlevel import RunVar

from tiermem.errors import InvalidInput, ModelError, ModelRefused, ModelUnavailable, install_command
from tiermem.llm import wire
from tiermem.llm.endpoint import Endpoint, ModelOptions, Price
from tiermem.llm.interface import Call, Reply, Role
from tiermem.llm.meter import check_budget, pay
from tiermem.llm.redaction import Redaction, shown_url
from tiermem.llm.request_format import RequestFormat
from tiermem.llm.retry import Transient, retry, seconds_of_rest
from tiermem.model import Usage
from tiermem.text.unicode import join_surrogates

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_NEEDED = ("openai", "tenacity")
"""Packages of the extra `model`."""

_NO_SUCH_PATH = (404, 405)
"""HTTP statuses of a path that the server does not have, or has for something else."""
_PATHS = ("/chat/completions", "/completions", "/embeddings")
"""What is added to base_url, and what users copy into it."""

_Send = Callable[[], Awaitable[Any]]
_Decode = Callable[[bytes], Any]
_Read = Callable[[Any], tuple[Usage, bool]]


class _NotUnderstood(Exception):
    """The endpoint rejected the form of a request (400, 422); a simpler one may do."""


@dataclass
class _Connections:
    """What belongs to one event loop: clients by address, and the places for calls under way."""

    places: anyio.Semaphore
    clients: dict[tuple[str | None, str | None], AsyncOpenAI] = field(default_factory=dict, repr=False)


class OpenAIModel:
    """A language model and embedder behind an OpenAI-compatible endpoint (OpenAI, vLLM, Ollama, …).

    `roles` gives single roles another model: a name at the same endpoint, or an `Endpoint` of its own.
    `prices` by model name make costs known. Raises `InvalidInput` for what could never work. May be
    used from several event loops: connections belong to the loop that opened them, and `close` closes
    those of the loop it is called from.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        roles: Mapping[str, str | Endpoint] | None = None,
        embedding: str | Endpoint = "text-embedding-3-small",
        prices: Mapping[str, Price] | None = None,
        options: ModelOptions | None = None,
    ) -> None:
        def at(other: str | Endpoint) -> Endpoint:
            if isinstance(other, Endpoint):
                return other
            return Endpoint(model=other, base_url=base_url, api_key=api_key)

        missing = [name for name in _NEEDED if find_spec(name) is None]
        if missing:
            raise InvalidInput(
                f"a model's endpoint is asked with {' and '.join(missing)}: {install_command('model')}"
            )
        unknown = set(roles or ()) - set(get_args(Role))
        if unknown:
            raise InvalidInput(f"unknown roles {sorted(unknown)}; there are {', '.join(get_args(Role))}")
        self._main = at(model)
        self._roles = {role: at(other) for role, other in (roles or {}).items()}
        self._embedding = at(embedding)
        self._prices = dict(prices or {})
        self._options = options or ModelOptions()
        self._formats: dict[Endpoint, RequestFormat] = {}
        every = {self._main, self._embedding, *self._roles.values()}
        self._redactions = {endpoint: endpoint.redaction() for endpoint in every}
        self._connections: RunVar[_Connections | None] = RunVar("tiermem_openai", None)

    def model_for(self, role: Role) -> str:
        """The model name that serves this role."""
        return self._roles.get(role, self._main).model

    def unpriced_models(self) -> tuple[str, ...]:
        """The names of the models without a price."""
        endpoints = (self._main, *self._roles.values())
        names = dict.fromkeys(endpoint.model for endpoint in endpoints)
        return tuple(name for name in names if name not in self._prices)

    async def complete(self, call: Call) -> Reply:
        """Answer one call, in the richest format the endpoint has been found to understand."""
        endpoint = self._roles.get(call.role, self._main)
        async with self._turn(endpoint) as client:
            body, usage = await self._negotiate(client, endpoint, call)
        redaction = self._redactions[endpoint]
        model = wire.model_in(body, redaction.in_reply) or endpoint.model
        return Reply(text=wire.answer_in(body, redaction), usage=usage, model=model)

    async def _negotiate(self, client: AsyncOpenAI, endpoint: Endpoint, call: Call) -> tuple[Any, Usage]:
        request_format = self._formats.get(endpoint, RequestFormat())
        while True:
            send = partial(
                client.chat.completions.with_raw_response.create,
                model=endpoint.model,
                **request_format.parameters(call),
            )
            try:
                result = await self._request(
                    endpoint, send, wire.decode_json, lambda body: wire.usage_of_call(body, call), call.prompt
                )
            except _NotUnderstood as error:
                simpler = request_format.simpler(str(error), wants_json=call.schema is not None)
                if simpler is None:
                    raise ModelRefused(f"{endpoint} rejected the request: {error}") from error.__cause__
                request_format = simpler
            else:
                self._formats[endpoint] = request_format
                return result

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order, in as many requests as the batch size asks for."""
        size = self._options.embedding_batch
        batches = [texts[start : start + size] for start in range(0, len(texts), size)]
        return [vector for batch in batches for vector in await self._embed_batch(batch)]

    async def _embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        # OpenAI rejects a whole batch for one empty text; a space replaces it.
        sent = [join_surrogates(text) or " " for text in texts]
        async with self._turn(self._embedding) as client:
            send = partial(
                client.embeddings.with_raw_response.create,
                model=self._embedding.model,
                input=sent,
                encoding_format="float",
            )
            try:
                body, _ = await self._request(
                    self._embedding,
                    send,
                    partial(wire.decoded_vectors, count=len(sent)),
                    lambda body: wire.usage_of_embedding(body, sent),
                    None,
                )
            except _NotUnderstood as error:
                raise ModelRefused(f"{self._embedding} rejected the texts: {error}") from error.__cause__
        return wire.vectors_in(body, len(texts))

    async def list_models(self) -> frozenset[str]:
        """The names of the models that the endpoint lists; costs nothing. Raises `ModelUnavailable`."""
        import openai

        async with self._turn(self._main) as client:
            try:
                listed = await client.models.list()
                return frozenset(str(model.id) for model in listed.data)
            except (openai.OpenAIError, AttributeError, TypeError, ValueError) as error:
                # A reply that lists no models (a page, other JSON) raises none of the vendor's own errors.
                raise ModelUnavailable(f"{self._main} lists no models ({type(error).__name__})") from None

    async def close(self) -> None:
        """Close the connections of the running event loop; a later call opens new ones."""
        connections = self._connections.get()
        self._connections.set(None)
        for client in connections.clients.values() if connections else ():
            await client.close()

    @asynccontextmanager
    async def _turn(self, endpoint: Endpoint) -> AsyncIterator[AsyncOpenAI]:
        """One of the places, with the deadline running; what did not pass in time is `ModelUnavailable`."""
        check_budget()
        connections = self._here()
        async with connections.places:
            try:
                with anyio.fail_after(self._options.deadline):
                    yield self._client(connections, endpoint)
            except Transient as error:
                raise ModelUnavailable(f"{endpoint} could not be used: {error}") from error.__cause__
            except TimeoutError as error:
                waited = self._options.deadline or 0.0
                raise ModelUnavailable(f"{endpoint}: no reply within {waited:g} s") from error

    async def _request(
        self, endpoint: Endpoint, send: _Send, decode: _Decode, read_usage: _Read, prompt: str | None
    ) -> tuple[Any, Usage]:
        """The decoded body of the first attempt that got through, and what that attempt cost."""
        attempt = partial(self._attempt, endpoint, send, decode, read_usage, prompt)
        return await retry(attempt, self._options, who=str(endpoint))

    async def _attempt(
        self, endpoint: Endpoint, send: _Send, decode: _Decode, read_usage: _Read, prompt: str | None
    ) -> tuple[Any, Usage]:
        import openai

        check_budget()
        redaction = self._redactions[endpoint]
        started = time.monotonic()
        try:
            with anyio.fail_after(self._options.timeout):
                response = await send()
        except BaseException as error:
            # A request given up on, for whatever reason, was sent: it counts.
            self._pay_failed(endpoint, error, time.monotonic() - started)
            if isinstance(error.__cause__, ModelError):
                raise error.__cause__ from None  # ours, in the wrapping of an older client
            if isinstance(error, (openai.OpenAIError, TimeoutError)):
                cause = None if redaction.tells(error) else error
                raise _translate(error, endpoint, redaction) from cause
            raise
        body = decode(response.http_response.content)
        usage, is_counted = read_usage(body)
        price = self._prices.get(endpoint.model) if is_counted else None
        usage = replace(
            usage, seconds=time.monotonic() - started, cost=price.cost_of(usage) if price else None
        )
        pay(usage, prompt=prompt, model=wire.model_in(body, redaction.in_reply) or endpoint.model)
        return body, usage

    def _pay_failed(self, endpoint: Endpoint, error: BaseException, seconds: float) -> None:
        """A rejection, or what was not received, costs nothing; what a lost reply cost is unknown."""
        unheard = _is_refused(error)
        rejected = getattr(error, "status_code", None) is not None
        free = unheard or (rejected and endpoint.model in self._prices)
        pay(Usage(calls=1, failed=int(rejected or unheard), seconds=seconds, cost=0.0 if free else None))

    def _here(self) -> _Connections:
        connections = self._connections.get()
        if connections is None:
            connections = _Connections(places=anyio.Semaphore(self._options.concurrency))
            self._connections.set(connections)
        return connections

    def _client(self, connections: _Connections, endpoint: Endpoint) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        from tiermem.llm.connection import GuardedClient, address_of

        if endpoint.address not in connections.clients:
            connections.clients[endpoint.address] = AsyncOpenAI(
                base_url=address_of(endpoint.base_url),
                api_key=endpoint.key,
                max_retries=0,
                timeout=self._options.timeout,
                http_client=GuardedClient(
                    endpoint.base_url, self._redactions[endpoint], reply_mb=self._options.reply_mb
                ),
            )
        return connections.clients[endpoint.address]


def _is_refused(error: BaseException | None) -> bool:
    """Whether no server listens at the address, as whatever wraps it says."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_refused, error.exceptions))
    if error is None or isinstance(error, ConnectionRefusedError):
        return error is not None
    return _is_refused(error.__cause__ or error.__context__)


def _translate(error: Exception, endpoint: Endpoint, redaction: Redaction) -> Exception:
    """Our error in place of the vendor's: may it pass, was the form rejected, or is it final?"""
    import openai

    if isinstance(error, (openai.APITimeoutError, TimeoutError)):
        return Transient("no reply in time")
    if _is_refused(error):
        return ModelUnavailable(f"{endpoint} could not be used: the connection failed: nothing listens there")
    if isinstance(error, openai.APIConnectionError):
        return Transient(f"the connection failed: {redaction.in_error(str(error.__cause__ or repr(error)))}")
    if not isinstance(error, openai.APIStatusError):
        return ModelRefused(f"{endpoint} cannot be asked: {redaction.in_error(str(error))}")
    reason = redaction.in_error(join_surrogates(error.message))[:500]
    if error.status_code == 429 and error.code == "insufficient_quota":
        return ModelRefused(f"the quota at {endpoint} is used up: {reason}")
    if error.status_code in (408, 429) or error.status_code >= 500:
        wait = seconds_of_rest(error.response.headers.get("retry-after"))
        return Transient(f"{reason} (asks for {wait:g} s of rest)" if wait else reason, wait=wait)
    if error.status_code in (400, 422):
        return _NotUnderstood(reason)
    advice = ""
    if error.status_code in _NO_SUCH_PATH:
        advice = f"; {_url_advice(redaction.in_error(shown_url(str(error.request.url))))}"
    return ModelRefused(f"{endpoint} rejected the call: {reason}{advice}")


def _url_advice(url: str) -> str:
    """Which URL was called, and what to check where it is not found."""
    base = next((url.removesuffix(path) for path in _PATHS if url.endswith(path)), url)
    twice = next((path for path in _PATHS if base.endswith(path)), None)
    if twice is not None:
        check = f"leave {twice!r} out of base_url, which on most servers ends in '/v1'"
    elif base.endswith("/v1"):
        check = "base_url ends in '/v1', as on most servers; check its path and the model's name"
    else:
        check = "check base_url, which on most servers ends in '/v1'"
    return f"called {url}: {check}"
