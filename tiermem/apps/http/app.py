"""Requests and responses of HTTP around a `Service`: the one file that knows Starlette."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

from tiermem.apps.http.assets import HEADERS, INDEX, assets
from tiermem.apps.http.metrics import MEDIA_TYPE as METRICS
from tiermem.apps.http.openapi import encode_document
from tiermem.apps.http.service import OPERATIONS, MadeFile, Request, Service, space_named
from tiermem.errors import InvalidInput, ServerUnavailable, TooLarge, UnknownId, install_command
from tiermem.wire import Problem, problem_of
from tiermem.wire.problems import MEDIA_TYPE as PROBLEM

try:
    from starlette.applications import Starlette
    from starlette.background import BackgroundTask
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect
    from starlette.requests import Request as Received
    from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
    from starlette.routing import Route
except ImportError as error:
    raise InvalidInput(f"serving over HTTP needs an extra: {install_command('serve')} ({error})") from error

log = logging.getLogger("tiermem.http")

KEEP_ALIVE = 15.0
"""Seconds after which a stream of events says that it goes on."""
_EVENTS = "text/event-stream"
_UNKNOWN_PATH = replace(
    problem_of(UnknownId("there is nothing at this path: /openapi.json tells what there is")),
    next="take one of the paths of `GET /openapi.json`",
)

_Answers = Callable[[Received], Awaitable[Response]]


def application(service: Service) -> Starlette:
    """The application of a service, for any server of ASGI. Its end closes every memory."""
    handlers = _Handlers(service)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        sweeping = asyncio.ensure_future(_sweep(service))
        try:
            yield
        finally:
            sweeping.cancel()
            with suppress(asyncio.CancelledError):
                await sweeping
            await service.close()

    counted = handlers.count_request
    return Starlette(
        routes=[
            Route("/", counted("look", _page)),
            Route("/page/{name}", counted("look", _page)),
            Route("/health", counted("health", handlers.health)),
            Route("/ready", counted("ready", handlers.ready)),
            Route("/metrics", counted("metrics", handlers.metrics)),
            Route("/openapi.json", counted("openapi", handlers.openapi)),
            Route("/v1/spaces", counted("spaces", handlers.spaces)),
            Route("/v1/open", counted("open", handlers.open), methods=["POST"]),
            *(
                Route(f"/v1/{name}", counted(name, handlers.operation(name)), methods=["POST"])
                for name in OPERATIONS
            ),
        ],
        exception_handlers={HTTPException: _answer_unknown_path},
        lifespan=lifespan,
    )


async def _sweep(service: Service) -> None:
    """Close idle spaces from time to time."""
    while True:
        await asyncio.sleep(service.limits.idle / 4)
        await service.spaces.close_idle()


class _Handlers:
    """What answers each kind of request."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def count_request(self, name: str, answers: _Answers) -> _Answers:
        """The same, counted and logged; an error becomes a problem."""
        metrics, operation = self._service.metrics, OPERATIONS.get(name)

        async def answer(request: Received) -> Response:
            began = time.perf_counter()
            metrics.under_way += 1
            try:
                response = await answers(request)
            except Exception as error:  # noqa: BLE001  # `problem` logs unexpected errors
                response = _problem_response(self._service.problem(error, operation=operation))
            finally:
                metrics.under_way -= 1
            seconds = time.perf_counter() - began
            metrics.note(name, response.status_code, seconds)
            who = getattr(request.state, "caller", "an unknown caller")
            log.info("%s by %s: %d in %.0f ms", name, who, response.status_code, 1000 * seconds)
            return response

        return answer

    def operation(self, name: str) -> _Answers:
        """What answers a request for one operation."""
        operation = OPERATIONS[name]

        async def answer(request: Received) -> Response:
            caller = self._caller(request)
            space = space_named(request.query_params.get("space"))
            caller.may(operation.right, space)
            body = await self._body(request)
            asked = Request(
                operation=operation,
                space=space,
                agent=caller.agent(request.query_params.get("agent")),
                body=body,
                once=request.headers.get("idempotency-key") if operation.writes else None,
            )
            if _EVENTS in request.headers.get("accept", "") and not operation.makes_file:
                return StreamingResponse(self._events(caller, asked), media_type=_EVENTS, headers=_UNCACHED)
            given = await self._service.call(caller, asked)
            if isinstance(given, MadeFile):
                return FileResponse(
                    given.file,
                    media_type="application/octet-stream",
                    headers={"TierMem-Result": given.result.decode("ascii"), **_UNCACHED},
                    background=BackgroundTask(given.folder.cleanup),
                )
            return Response(given, media_type="application/json")

        return answer

    async def open(self, request: Received) -> Response:
        """What a client asks first."""
        caller = self._caller(request)
        create = request.query_params.get("create", "false")
        if create not in ("true", "false"):
            raise InvalidInput("create must be true or false")
        space = space_named(request.query_params.get("space"))
        agent = request.query_params.get("agent")
        opened = await self._service.open(caller, space, agent=agent, create=create == "true")
        return Response(opened, media_type="application/json")

    async def spaces(self, request: Received) -> Response:
        """The spaces that a caller may name."""
        return JSONResponse(await self._service.spaces_of(self._caller(request)))

    async def metrics(self, request: Received) -> Response:
        """Counts, for who may do everything."""
        self._caller(request).may("admin")
        text = self._service.metrics.text(spaces=len(self._service.spaces))
        return Response(text, headers={"content-type": METRICS})

    async def health(self, request: Received) -> Response:
        """That the server runs."""
        return JSONResponse({"status": "ok"})

    async def ready(self, request: Received) -> Response:
        """Whether it can be used."""
        if not await self._service.is_ready():
            raise ServerUnavailable("the store cannot be read now, or the server is stopping")
        return JSONResponse({"status": "ok"})

    async def openapi(self, request: Received) -> Response:
        """The OpenAPI document of the server; it holds nothing from any memory."""
        described = await asyncio.to_thread(encode_document, is_open=self._service.access.open)
        return Response(described, media_type="application/json")

    def _caller(self, request: Received) -> Any:
        caller = self._service.let_in(request.headers)
        request.state.caller = caller.name
        return caller

    async def _body(self, request: Received) -> bytes:
        """The body, as long as it may be, in the time that a request may take."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        most = self._service.limits.body
        length = request.headers.get("content-length", "")
        if length.isdigit() and int(length) > most:
            raise _too_large(most)
        parts, size = [], 0
        try:
            async with asyncio.timeout(self._service.limits.seconds):
                async for part in request.stream():
                    size += len(part)
                    if size > most:
                        raise _too_large(most)
                    parts.append(part)
        except ClientDisconnect as error:
            raise _RequestRefusal(400, "the request broke off") from error
        except TimeoutError as error:
            raise _RequestRefusal(408, "the request did not arrive in time") from error
        if size and kind != "application/json":
            raise _RequestRefusal(415, "the body must be JSON: send it as Content-Type: application/json")
        return b"".join(parts)

    async def _events(self, caller: Any, asked: Request) -> AsyncIterator[bytes]:
        """Progress and steps as they are reported, a sign of life without them, and the result."""
        loop, news = asyncio.get_running_loop(), asyncio.Queue[bytes]()

        def tell(name: str, value: object) -> None:
            loop.call_soon_threadsafe(news.put_nowait, _event(name, value))

        doing = asyncio.ensure_future(self._service.call(caller, replace(asked, tell=tell)))
        try:
            while not doing.done():
                coming = asyncio.ensure_future(news.get())
                await asyncio.wait({doing, coming}, timeout=KEEP_ALIVE, return_when=asyncio.FIRST_COMPLETED)
                if coming.done():
                    yield coming.result()
                else:
                    coming.cancel()
                    if not doing.done():
                        yield b": still at work\n\n"
            await asyncio.sleep(0)  # what was reported last is in the queue then
            while not news.empty():
                yield news.get_nowait()
            yield self._came_of_it(doing, asked)
        finally:
            if not doing.done():
                doing.cancel()

    def _came_of_it(self, doing: asyncio.Future[Any], asked: Request) -> bytes:
        error = doing.exception()
        if error is None:
            return b"event: result\ndata: %s\n\n" % doing.result()
        if not isinstance(error, Exception):
            raise error
        return _event("problem", self._service.problem(error, operation=asked.operation).body)


_UNCACHED = {"cache-control": "no-store"}


class _RequestRefusal(InvalidInput):
    """A request that is refused with a status of its own."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"a request may have {most:,} bytes (tiermem serve --body-mb)")


def _event(name: str, value: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps(value)}\n\n".encode("ascii")


def _problem_response(problem: Problem) -> Response:
    headers = dict(_UNCACHED)
    if problem.status == 401:
        headers["www-authenticate"] = 'Bearer realm="tiermem"'
    if problem.retry_after is not None:
        headers["retry-after"] = str(max(1, round(problem.retry_after + 0.5)))
    return Response(json.dumps(problem.body), problem.status, headers, media_type=PROBLEM)


async def _page(request: Received) -> Response:
    """A static file of the web page; it holds nothing from any memory."""
    asset = assets().get(request.path_params.get("name", INDEX))
    if asset is None:
        return _problem_response(_UNKNOWN_PATH)
    headers = {**HEADERS, "etag": asset.tag}
    if request.headers.get("if-none-match") == asset.tag:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, headers=headers, media_type=asset.media_type)


async def _answer_unknown_path(_request: Received, error: Exception) -> Response:
    """What is at no path of ours, or asked for by another method."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == 404:
        return _problem_response(_UNKNOWN_PATH)
    words = "another method" if status == 405 else "this cannot be answered"
    answer = _problem_response(problem_of(InvalidInput(f"{words} is not taken at this path"), status=status))
    answer.headers.update(getattr(error, "headers", None) or {})
    return answer
