"""Finds the stored chat that a file without an id of its chat continues: by the messages that both have.

A message is compared by its minute and its words. A contact who was renamed, and clocks with and without
seconds, keep the stored speaker and time. An erased message is compared by its id and its size.

A chat of WhatsApp is compared whole, with stored chats of its format. One whose messages have ids (of Slack)
also goes on with a stored chat that begins with the same ids, though its words were edited or erased.

Of a file of turns that names no session each session is compared, with stored sessions whose turns came from
files; without a match it has the name of its file. Sessions in which fewer than half of the turns have a time
are not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from pagestore import SessionId, Turn
from tiermem.dialogue import DialogueSession, has_own_id, is_of_format, is_placed, speaker_in
from tiermem.ledger import Ledger
from tiermem.writing.copies import drop_copied_turns
from tiermem.writing.payloads import match_payloads
from tiermem.writing.stored_turns import ReadTurn, Size, find_size, read_stored

_FEWEST = 3
"""Messages that a file and a stored chat share at least, where the shorter one has so many. Fewer must have
the same speakers too.
"""

_RUN = 5
"""Erased messages in a row, where there are so many, that have the sizes of those of a file."""

_Message = tuple[str, str]
"""The minute of a message and its words."""


@dataclass(slots=True)
class _StoredChat:
    """The messages of a stored chat, how many were erased, and how many of these the file has."""

    messages: dict[_Message, list[Turn]] = field(default_factory=dict)
    erased: int = 0
    erased_in_common: int = 0

    def add(self, stored: Iterable[ReadTurn], erased_in_common: int) -> None:
        """Add the turns of a session."""
        self.erased_in_common += erased_in_common
        for one in stored:
            self.erased += one.turn is None
            if one.turn is not None and one.turn.turn_id is not None and (message := _message(one.turn)):
                self.messages.setdefault(message, []).append(one.turn)

    def count(self) -> Counter[_Message]:
        """How often each message was said."""
        return Counter({message: len(turns) for message, turns in self.messages.items()})


def is_compared(session: DialogueSession) -> bool:
    """Whether a session is compared with stored ones before it is stored."""
    return session.has_records or lacks_chat_id(session)


def lacks_chat_id(session: DialogueSession) -> bool:
    """Whether the file of a session has no id of its chat, so that stored chats are compared with it."""
    return session.is_file_name or not has_own_id(session.chat)


async def continue_chats(
    ledger: Ledger, sessions: Sequence[DialogueSession], agent: str | None
) -> tuple[DialogueSession, ...]:
    """The sessions under the ids of the stored chats that they continue, or under ids of their own.

    Compared are the turns of one agent, `None` for those of none. Chats with ids of their own keep these.
    Sessions of records come without the turns that they have from another stored session, and what is stored
    of the payload of a hook under the id that it has there.
    """
    chats: dict[str, list[int]] = {}
    for place, session in enumerate(sessions):
        if not session.is_file_name and lacks_chat_id(session):
            chats.setdefault(session.chat, []).append(place)
    found = list(sessions)
    for places in chats.values():
        continued = await _continue_chat(ledger, [sessions[place] for place in places], agent)
        for place, session in zip(places, continued, strict=True):
            found[place] = session
    for place, session in enumerate(sessions):
        if session.has_records:
            turns = await match_payloads(ledger, session.session, session.turns, agent)
            found[place] = await drop_copied_turns(ledger, replace(session, turns=turns), agent)
    files = {
        place: one for place, one in enumerate(sessions) if one.is_file_name and _has_times(one.turns, agent)
    }
    if files:
        taken = {one.session for place, one in enumerate(sessions) if place not in files}
        for place, session in (await _continue_files(ledger, files, taken, agent)).items():
            found[place] = session
    return tuple(found)


async def _continue_chat(
    ledger: Ledger, sessions: Sequence[DialogueSession], agent: str | None
) -> tuple[DialogueSession, ...]:
    chat = sessions[0].chat
    stored = await _stored_chats(ledger, sessions, agent)
    ours = [turn for session in sessions for turn in session.turns]
    shared = {name: _count_shared(ours, one) for name, one in stored.items()}
    best = max(shared, key=lambda name: (shared[name], name == chat), default=chat)
    if not shared.get(best) and chat in stored and not any(map(is_placed, ours)):
        return tuple(sessions)
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
    for name in await _sessions_of(ledger, agent):
        known = DialogueSession(session=name, turns=())
        ours = days.get(name.removeprefix(known.chat))
        if ours is None or not name.startswith(f"{form}:"):
            continue
        one = chats.setdefault(known.chat, _StoredChat())
        stored = await read_stored(ledger, name, (agent,))
        one.add(stored, await _count_erased(ledger, name, _of_agent(ours.turns, agent), stored))
    return chats


async def _sessions_of(ledger: Ledger, agent: str | None) -> tuple[SessionId, ...]:
    """The sessions with turns of the agent, in order: ids of others must not show in what it gets."""
    own = {info.session for info in await ledger.filling() if info.agent == agent}
    own |= {info.session for info in await ledger.pages() if info.agent == agent}
    return tuple(name for name in await ledger.sessions() if name in own)


async def _continue_files(
    ledger: Ledger, sessions: Mapping[int, DialogueSession], taken: Collection[SessionId], agent: str | None
) -> dict[int, DialogueSession]:
    """Sessions with the names of their files, by place, under the ids of the stored sessions they continue.

    `taken` are the ids of other sessions of the file.
    """
    names = await _sessions_of(ledger, agent)
    found: dict[int, DialogueSession] = {}
    for place, session in sessions.items():
        if session.session in names and session.session not in taken:
            stored = await _stored_files(ledger, [session.session], {place: session}, agent)
            found |= _continue_best({place: session}, stored)
    left = {place: session for place, session in sessions.items() if place not in found}
    if left:
        others = [name for name in names if not is_of_format(name)]
        found |= _continue_best(left, await _stored_files(ledger, others, left, agent))
    claimed = {*taken, *(one.session for one in found.values())}
    for place in sorted(left.keys() - found.keys()):
        session = left[place]
        if session.session in claimed:
            session = replace(session, session=SessionId(_free_id(session.session, {*names, *claimed})))
        claimed.add(session.session)
        found[place] = session
    return found


def _continue_best(
    sessions: Mapping[int, DialogueSession], stored: Mapping[tuple[int, SessionId], _StoredChat]
) -> dict[int, DialogueSession]:
    """Those of the sessions that share enough with a stored one, under the id of the one they share most."""
    best: dict[int, tuple[int, SessionId]] = {}
    for (place, name), one in stored.items():
        shared = _count_shared(sessions[place].turns, one)
        if shared > best.get(place, (0, ""))[0]:
            best[place] = shared, name
    return {
        place: _move_session(
            sessions[place],
            name,
            _by_message(stored[place, name].messages),
            _speakers_in_ids(sessions[place].turns, stored[place, name].messages),
        )
        for place, (_, name) in best.items()
    }


async def _stored_files(
    ledger: Ledger, names: Iterable[SessionId], sessions: Mapping[int, DialogueSession], agent: str | None
) -> dict[tuple[int, SessionId], _StoredChat]:
    """Stored sessions that may be those of a file: they share a minute with it, or messages were erased."""
    minutes = {place: {_minute(turn) for turn in one.turns} - {None} for place, one in sessions.items()}
    every = {minute for said in minutes.values() for minute in said}
    chats: dict[tuple[int, SessionId], _StoredChat] = {}
    for name in names:
        stored = await read_stored(ledger, name, (agent,))
        said = {minute for one in stored if one.turn is not None and (minute := _minute(one.turn)) in every}
        has_erased = any(one.turn is None for one in stored)
        for place, session in sessions.items():
            if not has_erased and said.isdisjoint(minutes[place]):
                continue
            chats[place, name] = one = _StoredChat()
            one.add(stored, await _count_erased(ledger, name, _of_agent(session.turns, agent), stored))
    return chats


def _has_times(turns: Sequence[Turn], agent: str | None) -> bool:
    """Whether at least half of the turns have a time, and none is of another agent."""
    return 0 < len(turns) <= 2 * sum(turn.said_at is not None for turn in turns) and all(
        turn.agent in (None, agent) for turn in turns
    )


def _of_agent(turns: Sequence[Turn], agent: str | None) -> list[Turn]:
    return [turn if turn.agent == agent else replace(turn, agent=agent) for turn in turns]


async def _count_erased(
    ledger: Ledger, session: SessionId, turns: Sequence[Turn], stored: Sequence[ReadTurn]
) -> int:
    """How many of the turns have the ids of erased ones, and their sizes in runs of `_RUN`.

    Fewer than `_FEWEST` ids that a file gives count for nothing: a short number is in many files.
    """
    theirs = [one.size for one in stored if one.turn is None]
    dated = [turn for turn in turns if turn.said_at is not None]
    if not theirs or not dated:
        return 0
    taken = await ledger.taken_ids(session, dated)
    gone = [turn for turn, how in zip(dated, taken, strict=True) if how == "erased"]
    sizes = set(theirs)
    ours = [find_size(turn, sizes) for turn in gone]
    length = min(_RUN, len(ours), len(theirs))
    known = {run for _, run in _runs(theirs, length)}
    found = {start + n for start, run in _runs(ours, length) if run in known for n in range(length)}
    placed = sum(is_placed(gone[n]) for n in found)
    return len(found) if len(found) - placed >= _FEWEST else placed


def _runs(sizes: Sequence[Size | None], length: int) -> Iterator[tuple[int, tuple[Size | None, ...]]]:
    """Every run of so many sizes, with its start."""
    return ((start, tuple(sizes[start : start + length])) for start in range(len(sizes) - length + 1))


def _minute(turn: Turn) -> datetime | None:
    return None if turn.said_at is None else turn.said_at.replace(second=0, microsecond=0, tzinfo=None)


def _message(turn: Turn) -> _Message | None:
    return None if turn.said_at is None else (f"{turn.said_at:%Y-%m-%dT%H:%M}", turn.text)


def _count_shared(turns: Sequence[Turn], stored: _StoredChat) -> int:
    """How many messages both have; 0 where these are too few for one chat."""
    ours = Counter(message for turn in turns if (message := _message(turn)))
    theirs = stored.count()
    common = (ours & theirs).total() + stored.erased_in_common
    start = max(min(said, default=("",))[0] for said in (ours, theirs))
    end = min(max(said, default=("~",))[0] for said in (ours, theirs))
    sizes = [sum(n for (minute, _), n in said.items() if start <= minute <= end) for said in (ours, theirs)]
    sizes[1] += stored.erased_in_common
    is_enough = common >= min(_FEWEST, ours.total(), theirs.total() + stored.erased)
    if common < _FEWEST and not _has_same_speakers(turns, stored):
        return 0
    return common if is_enough and 2 * common >= max(sizes) else 0


def _has_same_speakers(turns: Sequence[Turn], stored: _StoredChat) -> bool:
    """Whether each message that both have was said by the same speaker."""
    return all(
        turn.speaker in {one.speaker for one in stored.messages[message]}
        for turn in turns
        if (message := _message(turn)) in stored.messages and message is not None
    )


def _free_id(chat: str, taken: Collection[str]) -> str:
    number = 1
    name = chat
    while name in taken:
        number += 1
        name = f"{chat}-{number}"
    return name


_Left = dict[_Message, list[Turn]]
"""Stored messages that no message of the file was found for."""


def _by_message(known: Mapping[_Message, Sequence[Turn]]) -> _Left:
    return {message: list(turns) for message, turns in known.items()}


def _move_sessions(
    sessions: Sequence[DialogueSession], chat: str, known: Mapping[_Message, Sequence[Turn]]
) -> tuple[DialogueSession, ...]:
    """The sessions under the id of a chat, messages that it has in the form in which it has them."""
    left = _by_message(known)
    speakers = _speakers_in_ids([turn for session in sessions for turn in session.turns], known)
    return tuple(
        _move_session(session, SessionId(chat + session.session.removeprefix(session.chat)), left, speakers)
        for session in sessions
    )


def _move_session(
    session: DialogueSession, name: SessionId, left: _Left, speakers: Mapping[str, str]
) -> DialogueSession:
    turns = []
    for turn in session.turns:
        message = _message(turn)
        stored = left.get(message) if message is not None else None
        turns.append(_as_stored(turn, stored) if stored else _with_speaker_in_id(turn, speakers))
    return replace(session, session=name, turns=tuple(turns))


def _speakers_in_ids(turns: Iterable[Turn], known: Mapping[_Message, Sequence[Turn]]) -> dict[str, str]:
    """For each speaker of a file the digest of a speaker that most stored ids of their messages have.

    It differs from that of the name in the file where the contact was renamed.
    """
    counts: dict[str, Counter[str]] = {}
    for turn in turns:
        message = _message(turn)
        for stored in known.get(message, ()) if message is not None else ():
            if digest := speaker_in(stored.turn_id):
                counts.setdefault(turn.speaker, Counter())[digest] += 1
    return {speaker: count.most_common(1)[0][0] for speaker, count in counts.items()}


def _with_speaker_in_id(turn: Turn, speakers: Mapping[str, str]) -> Turn:
    """A message that no stored one has the words of, under the id that it has if its contact was renamed."""
    own, digest = speaker_in(turn.turn_id), speakers.get(turn.speaker, "")
    if not own or not digest or own == digest:
        return turn
    return replace(turn, turn_id=(turn.turn_id or "").replace(own, digest))


def _as_stored(turn: Turn, stored: list[Turn]) -> Turn:
    """A message with the speaker, the time and the id under which it is stored."""
    same = next((one for one in stored if one.turn_id == turn.turn_id), None)
    same = same or next((one for one in stored if one.speaker == turn.speaker), stored[0])
    stored.remove(same)
    return replace(turn, speaker=same.speaker, said_at=same.said_at, turn_id=same.turn_id)
