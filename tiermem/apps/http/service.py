"""What a request comes to: who asks, whether they may, and the one method of a memory that they named.

Nothing here decides anything about memory, and nothing knows which framework brings the requests.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, get_args

from anyio import to_thread

import tiermem
from pagestore import SpaceId
from pagestore.errors import Corrupt, Inaccessible, PageStoreError, SpaceNotFound
from tiermem.apps.http.access import AccessControl, Caller
from tiermem.apps.http.keys import Keys
from tiermem.apps.http.limits import Limits, Rates, Repeats, SlowDown
from tiermem.apps.http.metrics import Metrics
from tiermem.apps.http.spaces import Spaces
from tiermem.apps.http.turns import WriteQueue
from tiermem.dialogue.messages import as_turns
from tiermem.errors import (
    Forbidden,
    InvalidInput,
    ServerUnavailable,
    TierMemError,
    UnknownId,
    shown,
    space_in,
    unexpected,
)
from tiermem.storage import open_store, parse_place
from tiermem.trust import TrustLevels
from tiermem.wire import (
    Problem,
    Right,
    Tell,
    WireOperation,
    as_json,
    operations,
    plain,
    problem_of,
    taken_from_json,
    telling,
)

log = logging.getLogger("tiermem.http")

OPERATIONS: Mapping[str, WireOperation] = operations(tiermem.AsyncMemory)
DEFAULT_SPACE = "default"
_ORDER: tuple[Right, ...] = get_args(Right)
_LONGEST_NAME = 200
"""Characters of an Idempotency-Key."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One operation that somebody asks for, in a space; `body` is JSON, `once` an idempotency key.

    `agent` is as which agent it is asked for, where it is not as the owner.
    """

    operation: WireOperation
    space: str
    body: bytes
    agent: str | None = None
    once: str | None = None
    tell: Tell | None = None
    """Is called with events while the operation runs."""


@dataclass(frozen=True, slots=True)
class MadeFile:
    """A file that an operation wrote, and what it says of it; the sender removes the folder."""

    file: Path
    result: bytes
    folder: TemporaryDirectory[str]


class Service:
    """The memories of a store, for callers that have keys."""

    def __init__(
        self,
        store: str | Path,
        *,
        keys: Keys,
        host: str = "127.0.0.1",
        limits: Limits | None = None,
        read_only: bool = False,
        engine: Any = "auto",
        **overrides: Any,
    ) -> None:
        """`overrides` are those of `tiermem.open`. Raises `InvalidInput` as `AccessControl` does."""
        self.limits = limits or Limits()
        place = parse_place(str(store))
        if place.directory is not None:
            place = parse_place(str(place.directory.absolute()))  # errors name no word of the request
        self._place = place
        self._store = open_store(place, read_only=read_only)  # makes it, or says what is there in its place
        self.access = AccessControl(keys, host=host)
        self.metrics = Metrics()
        self.stopping = False
        self._read_only = read_only
        self._options = {"engine": engine, "read_only": read_only, **overrides}
        self.spaces = Spaces(self._open_space, most=self.limits.spaces, idle=self.limits.idle)
        self._rates = Rates(self.limits.rate)
        self._repeats = Repeats()
        self._turns = WriteQueue()
        self._writing: set[asyncio.Task[Any]] = set()

    def let_in(self, headers: Mapping[str, str]) -> Caller:
        """Who asks; raises `Unauthorized`, `Forbidden`, `TooManyRequests`."""
        caller = self.access.caller(
            authorization=headers.get("authorization"), host=headers.get("host"), origin=headers.get("origin")
        )
        if caller.key is not None:
            self._rates.take(caller.name)
        return caller

    async def spaces_of(self, caller: Caller) -> list[str]:
        """The spaces of the store that the caller may name."""
        there = await to_thread.run_sync(tiermem.spaces, self._place.address)
        return [name for name in there if caller.key is None or caller.key.reaches(name)]

    async def is_ready(self) -> bool:
        """Whether the store can be read, and the server is not about to stop."""
        try:
            await to_thread.run_sync(tiermem.spaces, self._place.address)
        except PageStoreError:
            return False
        return not self.stopping

    async def open(self, caller: Caller, space: str, *, agent: str | None = None, create: bool) -> bytes:
        """What a client wants to know of a space first: its name, who reasons, as which agent it is seen, and
        what the caller may do.

        `create` makes it.
        """
        caller.reaches(space)
        agent = caller.agent(agent)
        create = create and caller.has("write") and not self._read_only
        async with self._used(space, agent, create=create) as memory:
            fields = {"space": memory.space, "engine": memory.engine, "version": tiermem.__version__}
            return as_json({**fields, "agent": memory.agent, "may": self._may(caller)})

    async def call(self, caller: Caller, asked: Request) -> bytes | MadeFile:
        """What the operation gives, as JSON, or the file it wrote. Raises what the memory raises."""
        operation = asked.operation
        caller.may(operation.right, asked.space)
        asked = replace(asked, agent=caller.agent(asked.agent))
        keywords = taken_from_json(operation, _parse_body(asked.body))
        if caller.key is not None and caller.key.agent is not None:
            _refuse_raising_stamps(keywords, self._trust_levels())
        if operation.makes_file:
            return await self._in_time(self._file(asked, keywords))
        if not operation.writes:
            return await self._in_time(self._done(asked, keywords))
        task = asyncio.ensure_future(self._written(caller, asked, keywords))
        self._writing.add(task)
        task.add_done_callback(self._over)
        return await self._in_time(asyncio.shield(task))

    def problem(self, error: Exception, *, operation: WireOperation | None = None) -> Problem:
        """What is said of an error. What is the server's own fault is logged, in more words."""
        doing = "a request" if operation is None else operation.name
        if isinstance(error, Corrupt) and operation is not None and _takes_checkpoint(operation):
            return replace(problem_of(error, status=409), detail=self._here(str(error)), next=_CHECKPOINT)
        if not isinstance(error, TierMemError):
            unexpected(error, f"serving {doing}")
            return problem_of(tiermem.errors.Unexpected())
        wait = error.seconds if isinstance(error, SlowDown) else None
        problem = problem_of(error, retry_after=wait)
        if problem.status >= 500:
            log.warning("serving %s: %s: %s", doing, type(error).__name__, error)
        if isinstance(error, Inaccessible) and self._place.url is not None:
            return replace(problem, detail=_DATABASE_DOWN, next=_LATER)
        if isinstance(error, _UnknownSpace):
            problem = replace(problem, next=_SPACES)
        return replace(problem, detail=self._here(problem.detail))

    async def close(self) -> None:
        """Finish what is being written, and close every memory."""
        self.stopping = True
        if self._writing:
            await asyncio.wait(self._writing, timeout=self.limits.grace)
        await self.spaces.close()
        await to_thread.run_sync(self._store.close)

    def _trust_levels(self) -> TrustLevels:
        settings = self._options.get("settings") or tiermem.Settings()
        return TrustLevels(names=self._options.get("trust_levels", settings.trust_levels))

    def _may(self, caller: Caller) -> list[Right]:
        """The rights that a caller has here; where nothing is written, no more than the right to read."""
        return [right for right in _ORDER if caller.has(right) and (right == "read" or not self._read_only)]

    @asynccontextmanager
    async def _used(
        self, space: str, agent: str | None, *, create: bool
    ) -> AsyncIterator[tiermem.AsyncMemory]:
        """The memory of a space, as an agent sees it where one is named."""
        async with self.spaces.use(space, create=create) as memory:
            yield memory if agent is None else memory.as_agent(agent)

    async def _open_space(self, space: str, create: bool) -> tiermem.AsyncMemory:
        space_in(space)
        try:
            return await tiermem.AsyncMemory.open(
                self._place.address, space=space, create=create, **self._options
            )
        except (SpaceNotFound, UnknownId) as error:
            raise _UnknownSpace(f"there is no space {space!r}") from error
        except InvalidInput as error:
            unexpected(error, f"opening space {space!r}")
            raise ServerUnavailable("the memory cannot be opened as the server is set up") from error

    async def _written(self, caller: Caller, asked: Request, keywords: dict[str, Any]) -> bytes:
        if asked.once is None:
            return await self._done(asked, keywords)
        if not 0 < len(asked.once) <= _LONGEST_NAME:
            raise InvalidInput(f"an Idempotency-Key has 1 to {_LONGEST_NAME} characters")
        digest = hashlib.sha256(asked.body).hexdigest()
        key = (caller.name, asked.space, asked.agent, asked.once)
        return await self._repeats.once(
            key, f"{asked.operation.name} {digest}", lambda: self._done(asked, keywords)
        )

    async def _done(self, asked: Request, keywords: dict[str, Any]) -> bytes:
        operation = asked.operation
        tells = telling(operation)
        reports = {} if tells is None or asked.tell is None else {tells.parameter: tells.callback(asked.tell)}
        create = operation.stores and not self._read_only
        async with self._used(asked.space, asked.agent, create=create) as memory, self._in_turn(operation):
            return as_json(await operation.call_on(memory, {**keywords, **reports}))

    @asynccontextmanager
    async def _in_turn(self, operation: WireOperation) -> AsyncIterator[None]:
        """Reads go in at once, and what stores words when there is time for it; other work is not held up."""
        if operation.stores:
            async with self._turns.write():
                yield
        elif operation.writes:
            yield
        else:
            with self._turns.read():
                yield

    async def _file(self, asked: Request, keywords: dict[str, Any]) -> MadeFile:
        folder = TemporaryDirectory(prefix="tiermem-", ignore_cleanup_errors=True)
        try:
            file = Path(folder.name) / asked.operation.name
            async with self._used(asked.space, asked.agent, create=False) as memory:
                result = plain(await asked.operation.call_on(memory, {**keywords, "to": file}))
            return MadeFile(
                file, as_json({name: one for name, one in result.items() if name != "file"}), folder
            )
        except BaseException:
            folder.cleanup()
            raise

    async def _in_time(self, doing: Coroutine[Any, Any, _T] | asyncio.Future[_T]) -> _T:
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await doing
        except TimeoutError as error:
            raise ServerUnavailable(
                f"this took longer than the {self.limits.seconds:g} s that a request may take; what was to "
                "be written is written all the same"
            ) from error

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._writing.discard(task)
        if not task.cancelled():
            task.exception()  # raised where a caller waits; without one it is no fault

    def _here(self, text: str) -> str:
        """A text without the paths of this machine, and without the name of a database."""
        directory = self._place.directory
        names = {self._place.shown, self._store.name if directory is None else str(directory.resolve())}
        for path in names:
            if len(path) > 1:
                text = _without_path(text.replace(repr(path), "the store"), path)
        return text


def _without_path(text: str, path: str) -> str:
    """A text with "the store" in place of a path, but not in place of the start or end of another path."""
    done, *rest = text.split(path)
    for part in rest:
        is_other = done[-1:].isalnum() or part[:1].isalnum() or part[:1] in ("-", "_")
        done += (path if is_other else "the store") + part
    return done


_DATABASE_DOWN = "the database that holds this memory cannot be used now"
_LATER = "try again in a little while; the log of the server says more"
_SPACES = "name a space of `GET /v1/spaces`; the first thing stored in one makes it"
_CHECKPOINT = "the checkpoint is not of this log as it is: take it as evidence, or send the one you kept"


class _UnknownSpace(UnknownId):
    """No space has this name."""


def _takes_checkpoint(operation: WireOperation) -> bool:
    return any("Checkpoint" in str(hint) for hint in operation.hints.values())


def _refuse_raising_stamps(given: Mapping[str, Any], levels: TrustLevels) -> None:
    """Raise `Forbidden` if what is to be stored brings a trust above that of its role."""
    said = next((given[name] for name in ("turns", "fact", "text") if name in given), ())
    for turn in as_turns(said, role=given.get("role")):
        stamp = turn.trust or given.get("trust")
        own = levels.of(replace(turn, trust=None))
        if stamp is not None and levels.rank(stamp) > levels.rank(own):
            raise Forbidden(
                f"this key is for an agent, which cannot trust a turn of the role {turn.role or 'user'!r} as "
                f"{shown(stamp)}: leave trust out, or give {own!r} or less"
            )


def _parse_body(body: bytes) -> object:
    if not body.strip():
        return {}
    try:
        return json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the body is no JSON: {error}") from error


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def space_named(name: str | None) -> SpaceId:
    """The space that a request names; the default one where it names none."""
    return SpaceId(DEFAULT_SPACE if name is None else name)
