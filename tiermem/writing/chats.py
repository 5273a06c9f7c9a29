"""Finds the stored chat that a file without an id of its chat continues: by the messages that both have.

A message is compared by its minute and its words. A contact who was renamed, and clocks with and without
seconds, keep the stored speaker and time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pagestore import Page, SessionId, Turn
from tiermem.dialogue import DialogueSession, has_own_id
from tiermem.ledger import Ledger

_FEWEST = 3
"""Messages that a file and a stored chat share at least, where the shorter one has so many."""

_Message = tuple[str, str]
"""The minute of a message and its words."""


@dataclass(slots=True)
class _StoredChat:
    """The messages of a stored chat, and how many messages of the file it erased."""

    messages: dict[_Message, list[Turn]] = field(default_factory=dict)
    erased: int = 0

    def count(self) -> Counter[_Message]:
        """How often each message was said."""
        return Counter({message: len(turns) for message, turns in self.messages.items()})


async def continue_chats(
    ledger: Ledger, sessions: Sequence[DialogueSession], agent: str | None
) -> tuple[DialogueSession, ...]:
    """The sessions under the ids of the stored chats that they continue, or under ids of their own.

    Compared are the turns of one agent, `None` for those of none. Chats with ids of their own keep these.
    """
    chats: dict[str, list[int]] = {}
    for place, session in enumerate(sessions):
        if not has_own_id(session.chat):
            chats.setdefault(session.chat, []).append(place)
    found = list(sessions)
    for places in chats.values():
        continued = await _continue_chat(ledger, [sessions[place] for place in places], agent)
        for place, session in zip(places, continued, strict=True):
            found[place] = session
    return tuple(found)


async def _continue_chat(
    ledger: Ledger, sessions: Sequence[DialogueSession], agent: str | None
) -> tuple[DialogueSession, ...]:
    chat = sessions[0].chat
    stored = await _stored_chats(ledger, sessions, agent)
    ours = Counter(message for session in sessions for turn in session.turns if (message := _message(turn)))
    shared = {name: _count_shared(ours, one) for name, one in stored.items()}
    best = max(shared, key=lambda name: (shared[name], name == chat), default=chat)
    if not shared.get(best):
        return _move_sessions(sessions, _free_id(chat, stored), {})
    return _move_sessions(sessions, best, stored[best].messages)


async def _stored_chats(
    ledger: Ledger, sessions: Sequence[DialogueSession], agent: str | None
) -> dict[str, _StoredChat]:
    """The stored chats of the same format, with what was said on the days of the sessions."""
    form = sessions[0].chat.partition(":")[0]
    days = {session.session.removeprefix(session.chat): session for session in sessions}
    chats: dict[str, _StoredChat] = {}
    for name in await ledger.sessions():
        known = DialogueSession(session=name, turns=())
        ours = days.get(name.removeprefix(known.chat))
        if ours is None or not name.startswith(f"{form}:"):
            continue
        one = chats.setdefault(known.chat, _StoredChat())
        one.erased += await _count_erased(ledger, name, [replace(turn, agent=agent) for turn in ours.turns])
        for turn in await _turns(ledger, name, agent):
            if message := _message(turn):
                one.messages.setdefault(message, []).append(turn)
    return chats


async def _count_erased(ledger: Ledger, session: SessionId, turns: Sequence[Turn]) -> int:
    return list(await ledger.taken(session, turns)).count("erased")


async def _turns(ledger: Ledger, session: SessionId, agent: str | None) -> list[Turn]:
    filling = await ledger.open_pages(session)
    sealed = await ledger.read([info.id for info in await ledger.pages(session)])
    pages = (*(page for page in sealed if isinstance(page, Page)), *filling)
    lines = {line.seq: line.turn for page in pages for line in page.lines if page.agent == agent}
    return [turn for turn in lines.values() if turn is not None]


def _message(turn: Turn) -> _Message | None:
    return None if turn.said_at is None else (f"{turn.said_at:%Y-%m-%dT%H:%M}", turn.text)


def _count_shared(ours: Counter[_Message], stored: _StoredChat) -> int:
    """How many messages both have; 0 where these are too few for one chat."""
    theirs = stored.count()
    common = (ours & theirs).total() + stored.erased
    start = max(min(said, default=("",))[0] for said in (ours, theirs))
    end = min(max(said, default=("~",))[0] for said in (ours, theirs))
    sizes = [sum(n for (minute, _), n in said.items() if start <= minute <= end) for said in (ours, theirs)]
    sizes[1] += stored.erased
    is_enough = common >= min(_FEWEST, ours.total(), theirs.total() + stored.erased)
    return common if is_enough and 2 * common >= max(sizes) else 0


def _free_id(chat: str, taken: Mapping[str, object]) -> str:
    number = 1
    name = chat
    while name in taken:
        number += 1
        name = f"{chat}-{number}"
    return name


def _move_sessions(
    sessions: Sequence[DialogueSession], chat: str, known: Mapping[_Message, Sequence[Turn]]
) -> tuple[DialogueSession, ...]:
    """The sessions under the id of a chat, messages that it has in the form in which it has them."""
    left = {message: list(turns) for message, turns in known.items()}
    moved = []
    for session in sessions:
        turns = []
        for turn in session.turns:
            message = _message(turn)
            stored = left.get(message) if message is not None else None
            turns.append(_as_stored(turn, stored) if stored else turn)
        name = SessionId(chat + session.session.removeprefix(session.chat))
        moved.append(replace(session, session=name, turns=tuple(turns)))
    return tuple(moved)


def _as_stored(turn: Turn, stored: list[Turn]) -> Turn:
    """A message with the speaker, the time and the id under which it is stored."""
    same = next((one for one in stored if one.turn_id == turn.turn_id), stored[0])
    stored.remove(same)
    return replace(turn, speaker=same.speaker, said_at=same.said_at, turn_id=same.turn_id)
