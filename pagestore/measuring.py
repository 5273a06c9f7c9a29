"""Gets turns ready to be stored: counted in tokens, and cut into parts where too long for any page."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pagestore.codec import Part, key_of_turn
from pagestore.options import LogOptions
from pagestore.pager import cut
from pagestore.rendering import render_turn
from pagestore.values import SessionId, Turn

Words = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTurn:
    """A turn ready to be stored: the part or parts it is stored as, and its key, if it has an id."""

    turn: Turn
    key: bytes | None
    parts: tuple[Part, ...]

    @property
    def words(self) -> Words:
        """What must agree when the same turn id comes again."""
        return self.turn.speaker, self.turn.text


def measure(session: SessionId, turn: Turn, options: LogOptions, *, salt: bytes) -> MeasuredTurn:
    """Count what the turn takes on a page, header included."""
    return MeasuredTurn(turn=turn, key=key_of_turn(session, turn, salt), parts=_parts(turn, options))


def _parts(turn: Turn, options: LogOptions) -> tuple[Part, ...]:
    count, target = options.counter.count, options.page_tokens
    whole = Part(turn=turn, number=1, of=1, tokens=count(render_turn(turn)[0]))
    if whole.tokens <= target * options.hard_limit:
        return (whole,)
    texts = cut(turn.text, target, count)
    if len(texts) == 1:
        return (whole,)
    parts = []
    for number, text in enumerate(texts, start=1):
        part = replace(turn, text=text)
        tokens = count(render_turn(part, number, len(texts))[0])
        parts.append(Part(turn=part, number=number, of=len(texts), tokens=tokens))
    return tuple(parts)
