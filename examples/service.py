"""A service with many users: each has a memory of their own, which no other reaches.

    pip install 'tiermem[serve]'
    uvicorn --factory examples.service:application

A space is opened when its user comes; where more than `MOST` are open, those that nobody uses are closed, who
came first first. Who the user is, is told by one function to replace: by a header here, by your own login in
earnest. (`tiermem serve` serves whole memories over HTTP, with keys; this is for a service of your own.)
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import tiermem

MOST = 100


class Memories:
    """The memories of all users that are open; who came last is closed last."""

    def __init__(self, store: str | Path, *, most: int = MOST, embedder: str = "minilm") -> None:
        self._store = store
        self._most = most
        self._embedder = embedder
        self._open: OrderedDict[str, tuple[tiermem.AsyncMemory, int]] = OrderedDict()
        self._changing = asyncio.Lock()

    @asynccontextmanager
    async def of(self, user: str) -> AsyncIterator[tiermem.AsyncMemory]:
        """The memory of a user, which stays open while it is used."""
        async with self._changing:
            if user in self._open:
                memory, users = self._open.pop(user)
            else:
                await self._make_room()
                memory, users = await self._opened(user), 0
            self._open[user] = (memory, users + 1)
        try:
            yield memory
        finally:
            memory, users = self._open[user]
            self._open[user] = (memory, users - 1)

    async def _opened(self, user: str) -> tiermem.AsyncMemory:
        return await tiermem.AsyncMemory.open(
            self._store, space=user, engine="local", embedder=self._embedder
        )

    async def _make_room(self) -> None:
        idle = [user for user, (_, users) in self._open.items() if users == 0]
        for user in idle[: max(0, len(self._open) - self._most + 1)]:
            memory, _ = self._open.pop(user)
            await memory.close()

    async def close(self) -> None:
        """Close them all."""
        while self._open:
            _, (memory, _) = self._open.popitem()
            await memory.close()


def user_of(request: Request) -> str:
    """Who asks. Replace this by your own login: whoever may set the header may be anybody."""
    user = request.headers.get("x-user", "")
    if not user:
        raise HTTPException(401, "who are you? send X-User")
    return user


def application(store: str | Path = "memory", *, most: int = MOST, embedder: str = "minilm") -> Starlette:
    """The service: `POST /say` with what was said, `GET /ask?question=…`, `DELETE /me`."""
    memories = Memories(store, most=most, embedder=embedder)

    async def say(request: Request) -> Response:
        said = await request.json()
        async with memories.of(user_of(request)) as memory:
            added = await memory.add(said, session="service")
        return JSONResponse({"new": added.new})

    async def ask(request: Request) -> Response:
        async with memories.of(user_of(request)) as memory:
            given = await memory.ask(request.query_params["question"])
        words = [one.text for one in given.said] or [one.quote for one in given.citations]
        return JSONResponse({"answer": given.text, "support": given.support, "words": words})

    async def forget(request: Request) -> Response:
        async with memories.of(user_of(request)) as memory:
            receipt = await memory.erase(space=True, reason="the user asked to be forgotten")
        return JSONResponse({"turns": len(receipt.erasure.turns), "left": len(receipt.leftovers.found)})

    async def refused(_: Request, error: Exception) -> Response:
        return JSONResponse({"error": str(error)}, 400)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await memories.close()

    return Starlette(
        routes=[
            Route("/say", say, methods=["POST"]),
            Route("/ask", ask),
            Route("/me", forget, methods=["DELETE"]),
        ],
        exception_handlers={tiermem.errors.InvalidInput: refused},
        lifespan=lifespan,
    )
