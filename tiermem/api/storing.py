"""Storing what was said: read as turns, held to a trust, known again where a file has it already."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pagestore import SessionId, Span, Turn, TurnTimes
from tiermem.api import arguments
from tiermem.api.caller import SpaceCaller
from tiermem.api.requests import Attribution, Says
from tiermem.api.results import Added
from tiermem.dialogue import ImportedTurn, as_turns
from tiermem.errors import InvalidInput, agent_in, shown
from tiermem.llm.tokens import token_counter
from tiermem.model import Answer, Evidence, MarkedPage, SummaryUnit
from tiermem.reading import Context
from tiermem.runtime.background import Background
from tiermem.trust import lower_turns, stamp_turns
from tiermem.writing.turn_ids import resolve_turn_ids

Sources = Context | Iterable[Evidence | str] | None
"""What turns were made of: a context, what `search` gave, or ids of units, pages and answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurns:
    """What storing turns did, and the record numbers of those that were not erased before."""

    added: Added
    seqs: tuple[int, ...]


async def store_turns(
    caller: SpaceCaller,
    background: Background,
    turns: Says | Iterable[Says],
    session: SessionId,
    said: Attribution,
    *,
    sources: Sources = None,
) -> StoredTurns:
    """Store turns, trusted no more than their sources; durable when this returns."""
    most = await lowest_trust(caller, sources)
    components = caller.components
    since = components.ledger.erasures_by_others
    given = lower_turns(read_turns(caller, turns, said), most, caller.levels)
    worded = tuple(turn for turn in given if turn.text.strip())
    known = await resolve_turn_ids(components.ledger, session, worded)
    if known.has_versions:
        components.writer.note_versions(session)
    idle = await background.after_sealing(await components.writer.seal_idle(components.clock()))
    appended = await components.writer.observe(session, known.turns)
    added_turns = (
        TurnTimes(seq=seq, said_at=turn.said_at) for seq, turn in zip(appended.seqs, known.turns, strict=True)
    )
    agents = {turn.agent for turn in known.turns}
    imported = (turn for turn in given if isinstance(turn, ImportedTurn) and turn.agent in agents)
    titles = {turn.agent: turn.title for turn in imported if turn.title}
    await components.writer.record_titles(session, titles, since=since)
    behind = await components.writer.seal_behind(session, added_turns)
    await background.after_sealing((*appended.sealed, *behind))
    await background.after_adding()
    added = Added(
        turns=len(given),
        new=appended.new,
        erased=known.erased,
        empty=len(given) - len(worded),
        edited=known.edited,
        sealed=await caller.visible_pages((*idle, *appended.sealed, *behind)),
    )
    return StoredTurns(added=added, seqs=appended.seqs)


async def store_one_turn(
    caller: SpaceCaller,
    background: Background,
    turn: Says,
    session: SessionId,
    said: Attribution,
    *,
    sources: Sources,
) -> int | None:
    """Store one turn; returns its record number, `None` of one that was erased or has no words."""
    given = as_turns(turn, now=caller.components.clock())
    if len(given) != 1:
        raise InvalidInput(f"what must be one thing that was said, and this is {len(given)}: {shown(turn)}")
    stored = await store_turns(caller, background, turn, session, said, sources=sources)
    return stored.seqs[0] if stored.seqs else None


async def lowest_trust(caller: SpaceCaller, sources: Sources) -> str | None:
    """The level of the least trusted words that sources rest on; `None` without sources."""
    if sources is None:
        return None
    spans: list[Span] = []
    for one in arguments.sources_in(sources, "ids of units, pages or answers"):
        spans += _spans_under(one if isinstance(one, Evidence) else await caller.get(one))
    return await caller.reader.lowest_trust(spans) if spans else None


def _spans_under(source: Evidence | SummaryUnit | MarkedPage | Answer) -> Iterable[Span]:
    """The words that a source rests on or displays, or that a page has."""
    match source:
        case Answer():
            cited = (span for one in source.citations for span in one.spans)
            displayed = (one.span for one in source.said if one.span is not None)
            return (*cited, *displayed)
        case MarkedPage():
            return (Span(page_id=source.id, start=0, end=len(source.text)),)
        case _:
            return source.spans


def read_turns(caller: SpaceCaller, turns: Says | Iterable[Says], said: Attribution) -> tuple[Turn, ...]:
    """What a caller gives, as turns of that caller with their stamps of trust; raises `InvalidInput`."""
    given = as_turns(
        turns,
        speaker=said.get("speaker"),
        role=said.get("role"),
        said_at=arguments.moment(said.get("said_at"), "said_at"),
        metadata=said.get("metadata"),
        importance=said.get("importance"),
        now=caller.components.clock(),
    )
    own = tuple(_as_added_by(caller.agent, turn) for turn in given)
    return stamp_turns(own, arguments.trust(said.get("trust"), caller.levels), caller.levels)


def _as_added_by(agent: str | None, turn: Turn) -> Turn:
    """The turn as an agent adds it; raises `InvalidInput` for another agent's."""
    if turn.agent is not None:
        agent_in(turn.agent)
    if agent is None or turn.agent == agent:
        return turn
    if turn.agent is not None:
        raise InvalidInput(f"agent {agent!r} adds its own turns, and this one is of {turn.agent!r}")
    return replace(turn, agent=agent)


def read_statement(caller: SpaceCaller, text: str, said: Attribution) -> Turn:
    """A fact to remember, as a turn; raises `InvalidInput` for one that is longer than a page."""
    page = caller.components.settings.page_tokens
    if (tokens := token_counter().count(text)) > page:
        raise InvalidInput(
            f"this is too long to be remembered as one fact: {tokens:,} tokens, and a page has {page:,}; "
            "`add` it, or remember its parts"
        )
    return read_turns(caller, text, said)[0]
