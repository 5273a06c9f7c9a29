"""Takes the spool into memory: transcripts that events name, prompts that none has, and statements.

The transcript is the truth. A prompt of an event becomes a turn only where the transcript of its session
lacks it when the session has ended, or an hour after it was typed; until then the event waits. A transcript
that brings it later does not store it a second time.
An event is removed once what it names is stored, so a process that is killed between leaves it for the next.
"""

from __future__ import annotations

import fcntl
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import tiermem
from pagestore import SessionId, Turn
from pagestore.errors import Locked
from tiermem.apps.hooks.events import (
    AgentActivity,
    HookEvent,
    LastDrain,
    Spool,
    Statement,
    is_refused,
    keep_last_drain,
    read_spool,
    refuse_statement,
    spool_folder,
)
from tiermem.dialogue import (
    Conversation,
    DialogueSession,
    payload_id,
    read_dialogue,
    read_opencode_session,
    untested_version,
)
from tiermem.dialogue.agent_spaces import USER_SPACE, space_of_directory, space_of_session
from tiermem.errors import IndexLocked, InvalidInput, NotDialogue, NoTurns, TierMemError, UnknownId
from tiermem.text.own_context import without_marked_blocks
from tiermem.text.secrets import SecretFilter

OUTSIDE = "default"
"""The space of sessions that were in no repository."""
_PATIENCE = timedelta(hours=1)
"""How long a prompt may be missing in its transcript, which is written late, and a hook may be writing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainResult:
    """What became of the events that waited, and of `facts` that other processes were given to remember.

    `stored` are new turns by space, `prompts` how many prompts no transcript had, which are new unless they
    were stored before. `waiting` events and statements are left for the next time, `problems` say why.
    """

    events: int
    facts: int
    stored: Mapping[str, int]
    prompts: int
    waiting: int
    problems: tuple[str, ...]


@dataclass(slots=True)
class _Draining:
    """What is being drained: what was read, by space, and what is known of each session."""

    sessions: dict[str, list[DialogueSession]] = field(default_factory=dict)
    prompts: dict[str, set[str]] = field(default_factory=dict)
    """By session, the texts of the person in its transcript and their lines, with single blanks."""
    space_of: dict[str, str] = field(default_factory=dict)
    new_turns: Counter[str] = field(default_factory=Counter)
    """How many turns of each agent were new."""
    untested: dict[str, set[str]] = field(default_factory=dict)
    """By agent, what is noted of versions that are newer than the newest one that was tested."""
    problems: list[str] = field(default_factory=list)
    kept_problems: list[str] = field(default_factory=list)
    """The problems as they are kept in the spool: without what an error says, which may quote a session."""

    def add_problem(self, space: str, error: TierMemError) -> None:
        """Add why nothing could be stored in a space."""
        waits = f"space {space!r} waits for the next time"
        self.problems.append(f"{waits}: {error}")
        why = error if isinstance(error, Locked | IndexLocked) else type(error).__name__
        self.kept_problems.append(f"{waits}: {why}")


RememberStatements = Callable[[str, Sequence[Statement]], None]
"""Remembers statements in their space, each by `settle_statement`."""
StoreSessions = Callable[[str, Sequence[DialogueSession]], Mapping[str, int]]
"""Stores sessions in a space; returns how many turns of each agent were new."""


def drain_spool(
    store: Path,
    *,
    now: datetime,
    store_sessions: StoreSessions | None = None,
    remember: RememberStatements | None = None,
) -> DrainResult:
    """Store what the events of a store name, and statements, and remove them. Asks no model and no network.

    `store_sessions` and `remember` open the space themselves by default. A space in which nothing can be
    stored, as one that another process writes, is left for the next time. Raises `Locked` where another
    process drains, and what `tiermem.spaces` raises where there is no store.
    """
    tiermem.spaces(store)  # raises where there is no store, which then gets no spool
    with _only_one(store):
        try:
            return _drain(
                store,
                now,
                store_sessions or partial(open_and_store, store),
                remember or partial(open_and_remember, store),
            )
        except Exception as error:
            problem = f"the drain ended with {type(error).__name__}: `tiermem hook drain` displays why"
            last = LastDrain(
                at=now, prompts_left=0, problems=(problem,), agents=_agents_before(read_spool(store))
            )
            keep_last_drain(store, last)
            raise


def _drain(
    store: Path, now: datetime, store_sessions: StoreSessions, remember: RememberStatements
) -> DrainResult:
    """Drain the spool, and keep how that ended; the caller has its lock."""
    spaces = tiermem.spaces(store)
    _remove_cut_off(store, now)
    draining = _Draining()
    spool = read_spool(store)
    events, statements = spool.events, spool.statements
    for (path, name), directory in _directories(events).items():
        _read_transcript(draining, Path(path), name, spaces, directory)
    ready, waiting = _split(events, draining, now)
    own = [one for one in ready if _is_missing(one, draining)]
    for event in own:
        session = DialogueSession(
            session=SessionId(_session_of(event)), turns=(_as_turn(event),), has_records=True
        )
        draining.sessions.setdefault(_space_of(event, draining, spaces), []).append(session)
    _remember(draining, statements, remember)
    stored, failed = _store(draining, store_sessions)
    done = [one for one in ready if _space_of(one, draining, spaces) not in failed]
    for event in done:
        event.file.unlink(missing_ok=True)
    last = LastDrain(
        at=now,
        prompts_left=len(waiting),
        problems=tuple(draining.kept_problems),
        agents=_activity(_agents_before(spool), done, draining),
    )
    keep_last_drain(store, last)
    return DrainResult(
        events=len(done),
        facts=sum(not (one.file.exists() or is_refused(one)) for one in statements),
        stored=stored,
        prompts=sum(_space_of(one, draining, spaces) not in failed for one in own),
        waiting=len(waiting) + len(ready) - len(done) + sum(one.file.exists() for one in statements),
        problems=tuple(draining.problems),
    )


def _agents_before(spool: Spool) -> tuple[AgentActivity, ...]:
    return () if spool.last_drain is None else spool.last_drain.agents


def _activity(
    before: Iterable[AgentActivity], done: Sequence[HookEvent], draining: _Draining
) -> tuple[AgentActivity, ...]:
    """What drains took in of each agent, with the events that are done now."""
    agents = {one.agent: one for one in before}
    for event in done:
        known = agents.get(event.agent) or AgentActivity(agent=event.agent, event=event.name, at=event.at)
        if event.at >= known.at:
            known = replace(known, event=event.name, at=event.at)
        agents[event.agent] = replace(known, events=known.events + 1)
    return tuple(
        replace(
            one,
            turns=one.turns + draining.new_turns[one.agent],
            untested=tuple(sorted({*one.untested, *draining.untested.get(one.agent, ())})),
        )
        for one in agents.values()
    )


@contextmanager
def _only_one(store: Path) -> Iterator[None]:
    """Hold the lock of the spool, which ends with the process."""
    folder = spool_folder(store)
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / "LOCK").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Locked(f"another process drains {str(folder)!r}") from error
        yield


def _remove_cut_off(store: Path, now: datetime) -> None:
    """Remove what hooks left that were killed while they wrote: it is no event, and may hold words."""
    for file in spool_folder(store).glob("*.part"):
        if now - datetime.fromtimestamp(file.stat().st_mtime, UTC) >= _PATIENCE:
            file.unlink()


def _directories(events: Sequence[HookEvent]) -> Mapping[tuple[str, str | None], str | None]:
    """The transcripts that events name, each with the directory of the first of these that has one.

    The database of OpenCode is a transcript for each session of an event.
    """
    directories: dict[tuple[str, str | None], str | None] = {}
    for event in events:
        session = event.session if event.agent == "opencode" else None
        for path in event.transcripts:
            directories[path, session] = directories.get((path, session)) or event.directory
    return directories


def _read_transcript(
    draining: _Draining, path: Path, session: str | None, spaces: Collection[str], directory: str | None
) -> None:
    """Read a transcript, if it is there; what is wrong with it is a problem, and holds nothing else up.

    Of one with many sessions `session` alone is read. Of a session that names no directory, as Cursor's,
    `directory` is where it was.
    """
    if not path.is_file():
        return
    try:
        conversations = read_dialogue(path) if session is None else read_opencode_session(path, session)
    except NoTurns:
        return
    except (NotDialogue, OSError) as error:
        draining.problems.append(f"{path}: {error}")
        draining.kept_problems.append(
            f"{path} cannot be read ({type(error).__name__}): `tiermem ingest` of it displays why"
        )
        return
    for conversation in conversations:
        notes = {note for note in map(untested_version, conversation.notes) if note is not None}
        for agent in {_agent_of(one.session) for one in conversation.sessions}:
            draining.untested.setdefault(agent, set()).update(notes)
    for one in (session for conversation in conversations for session in conversation.sessions):
        space = _space_of_transcript(one, {*spaces, *draining.sessions}, directory)
        draining.sessions.setdefault(space, []).append(one)
        draining.space_of[one.session] = space
        said = (turn.text for turn in one.turns if turn.metadata.get("author") == "person")
        lines = (line for text in said for line in (text, *text.splitlines()))
        draining.prompts.setdefault(one.session, set()).update(map(_single_blanks, lines))


def _space_of_transcript(session: DialogueSession, spaces: Collection[str], directory: str | None) -> str:
    """The space of a session that was read; where it names no directory, that of `directory`."""
    space = space_of_session(session, spaces)
    if space is None and not any("directory" in turn.metadata for turn in session.turns):
        space = space_of_directory(directory, spaces)
    return space or OUTSIDE


def _session_of(event: HookEvent) -> str:
    return f"{event.agent}:{event.session}"


def _space_of(event: HookEvent, draining: _Draining, spaces: Collection[str]) -> str:
    """The space of an event's session: that of its transcript, else of the directory it was in."""
    known = draining.space_of.get(_session_of(event))
    return known or space_of_directory(event.directory, {*spaces, *draining.sessions}) or OUTSIDE


def _split(
    events: Sequence[HookEvent], draining: _Draining, now: datetime
) -> tuple[list[HookEvent], list[HookEvent]]:
    """The events that can be taken in, and those whose prompt its transcript may still bring."""
    ended = {_session_of(one) for one in events if one.name == "SessionEnd"}
    ready: list[HookEvent] = []
    waiting: list[HookEvent] = []
    for one in events:
        may_come = _session_of(one) not in ended and now - one.at < _PATIENCE
        (waiting if may_come and _is_missing(one, draining) else ready).append(one)
    return ready, waiting


def _is_missing(event: HookEvent, draining: _Draining) -> bool:
    """Whether the event has a prompt that the transcript of its session lacks.

    It has it as a whole text or as a line of one. Of a prompt that was typed twice one place is enough.
    """
    if event.prompt is None or event.name != "UserPromptSubmit":
        return False
    prompt = _single_blanks(_words_of(event))
    return bool(prompt) and prompt not in draining.prompts.get(_session_of(event), ())


def _words_of(event: HookEvent) -> str:
    """The prompt of an event as a transcript of it is read: without secrets and what our hooks gave."""
    return SecretFilter().redact(without_marked_blocks(event.prompt or ""))[0]


def _single_blanks(text: str) -> str:
    return " ".join(text.split())


def _as_turn(event: HookEvent) -> Turn:
    """The prompt of an event as a turn, which `ingest` finds again when a transcript brings it."""
    known = {
        "author": "person",
        "kind": "prompt",
        "agent": event.agent,
        "directory": event.directory,
    }
    return Turn(
        speaker="user",
        text=_words_of(event),
        said_at=event.at,
        role="user",
        turn_id=payload_id(event.at),
        metadata={key: value for key, value in known.items() if value is not None},
    )


def _store(draining: _Draining, store_sessions: StoreSessions) -> tuple[dict[str, int], frozenset[str]]:
    """Store the sessions; returns the new turns by space, and the spaces in which nothing could be stored."""
    stored: dict[str, int] = {}
    failed: set[str] = set()
    for space, sessions in draining.sessions.items():
        try:
            new_turns = store_sessions(space, sessions)
            stored[space] = sum(new_turns.values())
            draining.new_turns.update(new_turns)
        except TierMemError as error:
            failed.add(space)
            draining.add_problem(space, error)
    return stored, frozenset(failed)


def _remember(draining: _Draining, statements: Iterable[Statement], remember: RememberStatements) -> None:
    """Have statements remembered, space by space; those that cannot be are a problem."""
    by_space: dict[str, list[Statement]] = {}
    for one in statements:
        by_space.setdefault(one.space, []).append(one)
    for space, waiting in by_space.items():
        try:
            remember(space, waiting)
        except TierMemError as error:
            draining.add_problem(space, error)
        refused = sum(map(is_refused, waiting))
        if refused:
            problem = (
                f"statements for space {space!r} that cannot be stored: {refused} (`hook status` lists them)"
            )
            draining.problems.append(problem)
            draining.kept_problems.append(problem)


def open_and_remember(store: Path, space: str, statements: Sequence[Statement]) -> None:
    """Open a space, that of the user also where there is none, and remember statements in it.

    Raises what opening raises.
    """
    is_of_user = space == USER_SPACE
    with tiermem.open(store, space=space, engine="local", distil="deferred", create=is_of_user) as memory:
        for one in statements:
            seen = memory if one.agent is None else memory.as_agent(one.agent)
            with settle_statement(one):
                seen.remember(**one.arguments)


@contextmanager
def settle_statement(statement: Statement) -> Iterator[None]:
    """Remove a statement once the block has remembered it; one that is refused is tried no more."""
    try:
        yield
    except (InvalidInput, UnknownId):
        refuse_statement(statement)
    else:
        statement.file.unlink(missing_ok=True)


def open_and_store(store: Path, space: str, sessions: Sequence[DialogueSession]) -> Mapping[str, int]:
    """Open a space and store sessions in it; returns how many turns of each agent were new.

    Raises what opening raises.
    """
    with tiermem.open(store, space=space, engine="local", distil="deferred") as memory:
        return new_turns_by_agent(memory.ingest(conversations_of(sessions)))


def new_turns_by_agent(stored: Iterable[tuple[SessionId, tiermem.Added]]) -> Mapping[str, int]:
    """How many turns of the sessions of each agent were new, of what storing them gave."""
    new: Counter[str] = Counter()
    for session, added in stored:
        new[_agent_of(session)] += added.new
    return new


def _agent_of(session: str) -> str:
    return session.partition(":")[0]


def conversations_of(sessions: Iterable[DialogueSession]) -> tuple[Conversation, ...]:
    """Sessions as `ingest` takes them, each compared with what was stored of those before it."""
    return tuple(Conversation(space_hint=None, sessions=(one,)) for one in sessions)
