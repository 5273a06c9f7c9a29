"""Stores conversations, each in its space, and summarises them, with progress on stderr."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from rich.table import Table

import tiermem
from tiermem.apps.present.tables import counted, table
from tiermem.apps.present.terminal import Report, progress
from tiermem.dialogue import Conversation, DialogueSession
from tiermem.dialogue.trust import TrustLevels, lowered
from tiermem.memory import Added

Engine = Literal["auto", "local", "model"]
DEFAULT_SPACE = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """What one space got: turns read, how many were new, and what it holds now.

    Turns that were `erased` before, and those without words (`empty`), are not stored.
    """

    space: str
    turns: int
    new: int
    known: int
    erased: int
    empty: int
    raising: int
    """Turns that name a level of trust above theirs, which was not taken."""
    pages: int
    pages_new: int
    units: int
    units_new: int
    pending: int
    problems: tuple[str, ...]
    seconds: float


def ingest_into(
    store: Path,
    conversations: Sequence[Conversation],
    *,
    space: str | None,
    engine: Engine,
    trust: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    stamps: bool = False,
) -> tuple[Ingested, ...]:
    """Store every conversation in `space`, or where it asks to be, and summarise what is new.

    A level of trust that a turn brings counts where it lowers, with `stamps` always. `metadata` is kept with
    every turn.

    Where conversations that ask for spaces of their own are put together, their names go in front
    of their sessions, which would otherwise be taken for one another.
    """
    placed: dict[str, list[Conversation]] = {}
    for conversation in conversations:
        placed.setdefault(space or conversation.space_hint or DEFAULT_SPACE, []).append(conversation)
    return tuple(
        _ingest(
            store, name, there, engine, apart=space is not None, trust=trust, known=metadata, stamps=stamps
        )
        for name, there in placed.items()
    )


def _ingest(
    store: Path,
    space: str,
    conversations: Sequence[Conversation],
    engine: Engine,
    *,
    apart: bool,
    trust: str | None,
    known: Mapping[str, Any] | None,
    stamps: bool,
) -> Ingested:
    started = time.monotonic()
    turns = sum(conversation.turns for conversation in conversations)
    raising = 0
    if not stamps:
        conversations, raising = _doubted(conversations, trust)
    with tiermem.open(store, space=space, engine=engine, distil="deferred") as memory:
        before = memory.stats()
        with progress(f"{space}: storing", "turns") as report:
            added = _store(memory, conversations, report, total=turns, apart=apart, trust=trust, known=known)
        with progress(f"{space}: summarising", "pages", then=f"{space}: indexing") as report:
            flushed = memory.flush(progress=report)
        after = memory.stats()
    return Ingested(
        space=space,
        turns=turns,
        new=sum(one.new for one in added),
        known=sum(one.known for one in added),
        erased=sum(one.erased for one in added),
        empty=sum(one.empty for one in added),
        raising=raising,
        pages=after.pages,
        pages_new=after.pages - before.pages,
        units=after.units,
        units_new=after.units - before.units,
        pending=flushed.pending,
        problems=flushed.problems,
        seconds=round(time.monotonic() - started, 3),
    )


def _doubted(
    conversations: Sequence[Conversation], trust: str | None
) -> tuple[tuple[Conversation, ...], int]:
    """The conversations without stamps that would raise a turn, and how many turns brought such a one."""
    levels = TrustLevels(names=tiermem.Settings().trust_levels)
    raising = 0

    def doubted(session: DialogueSession) -> DialogueSession:
        nonlocal raising
        turns = lowered(session.turns, trust, levels)
        raising += sum(
            before.trust in levels.names and after.trust is None
            for before, after in zip(session.turns, turns, strict=True)
        )
        return replace(session, turns=turns)

    found = tuple(replace(one, sessions=tuple(map(doubted, one.sessions))) for one in conversations)
    return found, raising


def _store(
    memory: tiermem.Memory,
    conversations: Sequence[Conversation],
    report: Report,
    *,
    total: int,
    apart: bool,
    trust: str | None,
    known: Mapping[str, Any] | None,
) -> list[Added]:
    added: list[Added] = []
    done = 0
    levels = TrustLevels(names=tiermem.Settings().trust_levels)
    for session in (session for conversation in conversations for session in conversation.sessions):
        for turn in session.turns:
            if turn.trust is not None:
                levels.required(turn.trust)  # before anything is stored
    for conversation in conversations:
        prefix = f"{conversation.space_hint}/" if apart and conversation.space_hint else ""
        for session in conversation.sessions:
            # Whole, however long: an edited file is laid beside what is stored of it.
            name = prefix + session.session
            added.append(memory.add(session.turns, session=name, trust=trust, metadata=known))
            done += len(session.turns)
            report(done, total)
    return added


def ingested_view(results: Sequence[Ingested]) -> tuple[Table | str, ...]:
    """One row a space: new and known turns, what it holds now, what this run added; then what stayed away."""
    rows = [
        (
            result.space,
            f"{result.new:,}",
            f"{result.known:,}",
            _grown(result.pages, result.pages_new),
            _grown(result.units, result.units_new),
            f"{result.seconds:.1f}",
        )
        for result in results
    ]
    if len(results) > 1:
        rows.append(
            (
                "all",
                f"{sum(result.new for result in results):,}",
                f"{sum(result.known for result in results):,}",
                _grown(sum(result.pages for result in results), sum(result.pages_new for result in results)),
                _grown(sum(result.units for result in results), sum(result.units_new for result in results)),
                f"{sum(result.seconds for result in results):.1f}",
            )
        )
    columns = ("space", "new turns", "known", "pages", "units", "seconds")
    return table(columns, rows, numbers=columns[1:]), *_left_out(results)


def _left_out(results: Sequence[Ingested]) -> Iterator[str]:
    erased, empty = (sum(getattr(result, name) for result in results) for name in ("erased", "empty"))
    if erased:
        yield (
            f"{counted(erased, 'turn')} erased before: not stored again "
            "(to have what was erased back, ingest it under another --session)"
        )
    if empty:
        yield f"{counted(empty, 'turn')} without words: not stored"


def _grown(total: int, new: int) -> str:
    return f"{total:,} ({new:+,})"
