"""Between values and the fields of a line: how turns, their tombstones and page seals are written down.

Short names keep lines short: `s` session, `k` turn id, `at` time recorded, `ts` time said, `r` role, `l`
trust, `sp` speaker, `x` text, `m` metadata, `i` importance, `g` agent, `p` part and parts of a turn too long
for a page, `w` tokens, `z` salt; of a record `n` kind, `b` body; of a tombstone `h` hash of its line, `n`
length on the page, `y` key of the turn id. What is unknown is left out.

The recipes of ids are contracts: `p1:` is the SHA-256 over recipe, space, session, page number and the
hashes of the turn lines; salts in these lines keep anyone from guessing words from hashes. `o1:` is the
SHA-256 over recipe, space, session, page number and, of an agent's page, the agent: the name of a page before
its words are complete.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from pagestore.address import turn_address
from pagestore.errors import InvalidInput
from pagestore.line import Fields, Line, canonical, encode
from pagestore.rendering import TurnPart
from pagestore.values import OpenInfo, Page, PageId, PageInfo, SessionId, SpaceId, Turn, TurnTimes

_LONGEST_TOMBSTONE = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A turn, or one of the parts of a turn too long for a page, measured."""

    turn: Turn
    number: int
    of: int
    tokens: int


def key_of(session: SessionId, turn_id: str, salt: bytes, agent: str | None = None) -> bytes:
    """A short name for a turn id, for looking it up."""
    named = canonical([session, turn_id, *_agent_fields(agent)])
    return hashlib.blake2b(named, digest_size=16, key=salt).digest()


def key_of_turn(session: SessionId, turn: Turn, salt: bytes) -> bytes | None:
    """The key that a turn is stored under; `None` of a turn without an id."""
    return None if turn.turn_id is None else key_of(session, turn.turn_id, salt, turn.agent)


def page_id(space: SpaceId, session: SessionId, number: int, turn_hashes: Iterable[bytes]) -> PageId:
    """The id of a sealed page."""
    hashes = [digest.hex() for digest in turn_hashes]
    return PageId("p1:" + hashlib.sha256(canonical(["p1", space, session, number, hashes])).hexdigest())


def open_page_id(space: SpaceId, session: SessionId, number: int, agent: str | None = None) -> PageId:
    """The id of a page while it is open; it resolves for ever."""
    named = canonical(["o1", space, session, number, *_agent_fields(agent)])
    return PageId("o1:" + hashlib.sha256(named).hexdigest())


def opened_as(space: SpaceId, page: Page | PageInfo | OpenInfo) -> PageId:
    """The id that a page of this space had, or has, while it is open."""
    return open_page_id(space, page.session, page.number, page.agent)


def _agent_fields(agent: str | None) -> tuple[str, ...]:
    """What an agent adds to a recipe: nothing where there is none."""
    return () if agent is None else (agent,)


def turn_fields(session: SessionId, part: Part, at: datetime, salt: str) -> Fields:
    """What the line of a turn recorded at `at` holds besides number, evidence and type."""
    turn = part.turn
    fields: Fields = {
        "s": session,
        "k": turn.turn_id,
        "at": at.isoformat(),
        "ts": turn.said_at.isoformat() if turn.said_at is not None else None,
        "r": turn.role,
        "l": turn.trust,
        "sp": turn.speaker,
        "x": turn.text,
        "m": dict(turn.metadata) or None,
        "i": turn.importance,
        "g": turn.agent,
        "p": [part.number, part.of] if part.of > 1 else None,
        "w": part.tokens,
        "z": salt,
    }
    return {name: value for name, value in fields.items() if value is not None}


def encode_turn(fields: Fields) -> tuple[bytes, Fields]:
    """The line of a turn, its salt stretched so that the tombstone that may replace it has room."""
    raw = encode(fields)
    longest = _LONGEST_TOMBSTONE + 6 * len(fields["s"] + fields.get("g", ""))
    if len(raw) < longest:
        return _with_room(raw, fields, tombstone_of_turn(fields, bytes(32), salt=b""))
    return raw, fields


def encode_record(fields: Fields) -> tuple[bytes, Fields]:
    """The line of an opaque record, its salt stretched so that the tombstone that may replace it has room."""
    return _with_room(encode(fields), fields, tombstone_of_record(fields, bytes(32)))


def _with_room(raw: bytes, fields: Fields, tombstone: Fields) -> tuple[bytes, Fields]:
    missing = len(encode(tombstone)) - len(raw)
    if missing <= 0:
        return raw, fields
    fields = {**fields, "z": fields["z"] + "0" * missing}
    return encode(fields), fields


def tombstone_of_turn(turn: Fields, digest: bytes, length: int = 10**9, *, salt: bytes) -> Fields:
    """What stays of an erased turn: its place in the log, the hash of its line, the room it took on its page.

    The key of its turn id stays too, so that reading the same file again does not bring it back.
    """
    kept: Fields = {name: turn[name] for name in ("s", "g", "p", "w") if name in turn}
    fields: Fields = {"q": turn["q"], "d": turn["d"], "t": "gone", **kept, "h": digest.hex(), "n": length}
    if "k" in turn:
        fields["y"] = key_of(turn["s"], turn["k"], salt, turn.get("g")).hex()
    return {**fields, "_": ""}


def tombstone_of_record(record: Fields, digest: bytes) -> Fields:
    """What stays of an erased record: its place in the log, its kind and time, the hash of its line."""
    kept: Fields = {name: record[name] for name in ("q", "d", "n", "at")}
    return {"q": kept.pop("q"), "d": kept.pop("d"), "t": "void", **kept, "h": digest.hex(), "_": ""}


def encode_tombstone(fields: Fields, length: int) -> bytes:
    """The line of a tombstone, filled up to exactly `length` bytes; `InvalidInput` when it is longer."""
    missing = length - len(encode(fields))
    if missing < 0:
        raise InvalidInput(f"record {fields['q']} is too short a line for the tombstone that would erase it")
    return encode({**fields, "_": " " * missing})


def turn_part_of(line: Line) -> TurnPart:
    """The turn a line holds, or what is left of it, on its way to a page."""
    fields = line.fields
    part, parts = fields.get("p", (1, 1))
    is_gone = fields["t"] == "gone"
    return TurnPart(
        seq=line.seq,
        turn=None if is_gone else _turn_of(fields),
        part=part,
        parts=parts,
        length=fields.get("n", 0),
        recorded_at=None if is_gone else _moment(fields, "at"),
        address=turn_address(line.seq, line.digest),
    )


def _turn_of(fields: Fields) -> Turn:
    return Turn(
        speaker=fields["sp"],
        text=fields["x"],
        said_at=_moment(fields, "ts"),
        role=fields.get("r"),
        trust=fields.get("l"),
        turn_id=fields.get("k"),
        metadata=fields.get("m", {}),
        importance=fields.get("i"),
        agent=fields.get("g"),
    )


def times_of(fields: Fields) -> TurnTimes:
    """When the turn of a line was recorded and said, where the line tells."""
    return TurnTimes(seq=fields["q"], recorded_at=_moment(fields, "at"), said_at=_moment(fields, "ts"))


def _moment(fields: Fields, name: str) -> datetime | None:
    text = fields.get(name)
    return datetime.fromisoformat(text) if text is not None else None


def key_in(fields: Fields, salt: bytes) -> bytes | None:
    """The key under which a turn's line is found again; `None` for later parts and turns without id."""
    if fields.get("p", (1, 1))[0] != 1:
        return None
    if "y" in fields:
        return bytes.fromhex(fields["y"])
    return key_of(fields["s"], fields["k"], salt, fields.get("g")) if "k" in fields else None
