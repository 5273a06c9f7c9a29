"""How turns read as the text of a page, so that no words can pass for a turn that was not said.

    [2023-05-08T13:56:00] Caroline: I went to a support group yesterday.
        It was good.

The rule: only a header starts a line with `[`. Every further line of a turn starts with a TAB; speakers
lose `[]:` and everything that cannot be printed. The text is a pure function of the turns, each joined to
the next by a line break, so the text of the first turns is a prefix of the text of all.
An erased turn keeps its length, so that the spans of the other turns stay true.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from pagestore.errors import InvalidInput
from pagestore.values import PageLine, Turn, TurnAddress

ERASED = "[erased] _: █"
UNDATED = "undated"

_SPEAKER_LENGTH = 80
"""Characters of a speaker that a page shows; the turn keeps all of them."""
# Whatever any reader takes for the end of a line.
_BREAK = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPart:
    """One turn, or one part of a turn too long for a page, on its way to a page.

    `turn` is `None` once it was erased; then `length` tells how many characters it had.
    """

    seq: int
    turn: Turn | None
    part: int = 1
    parts: int = 1
    length: int = 0
    recorded_at: datetime | None = None
    address: TurnAddress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedTurn:
    """A turn as its page shows it: what `parse` gives back."""

    said_at: str
    speaker: str
    text: str


def as_rendered(turn: Turn, part: int = 1, parts: int = 1) -> RenderedTurn:
    """The turn as a page shows it: speaker in printable characters, line breaks of every kind as one kind."""
    return RenderedTurn(
        said_at=(UNDATED if turn.said_at is None else turn.said_at.isoformat())
        + (f", part {part} of {parts}" if parts > 1 else ""),
        speaker=_printable_speaker(turn.speaker[:_SPEAKER_LENGTH]),
        text=turn.text if turn.text.isprintable() else _BREAK.sub("\n", turn.text),
    )


@lru_cache(maxsize=1024)
def _printable_speaker(name: str) -> str:
    return "".join(c if c.isprintable() and c not in "[]:" else "_" for c in name) or "_"


def render_turn(turn: Turn, part: int = 1, parts: int = 1) -> tuple[str, int]:
    """The text of one turn on its page, and where in it the words begin."""
    shown = as_rendered(turn, part, parts)
    header = f"[{shown.said_at}] {shown.speaker}: "
    return header + shown.text.replace("\n", "\n\t"), len(header)


def render_page(turns: Iterable[TurnPart]) -> tuple[str, tuple[PageLine, ...]]:
    """The text of a page, and where on it each turn is."""
    texts: list[str] = []
    lines: list[PageLine] = []
    start = 0
    for said in turns:
        if said.turn is None:
            text, body = ERASED.ljust(said.length), len(ERASED) - 1
        else:
            text, body = render_turn(said.turn, said.part, said.parts)
        end = start + len(text)
        lines.append(
            PageLine(
                seq=said.seq,
                start=start,
                body=start + body,
                end=end,
                turn=said.turn,
                part=said.part,
                parts=said.parts,
                recorded_at=said.recorded_at,
                address=said.address,
            )
        )
        texts.append(text)
        start = end + 1
    return "\n".join(texts), tuple(lines)


def parse(text: str) -> tuple[RenderedTurn, ...]:
    """The turns a page shows; `InvalidInput` for text that `render_page` did not make."""
    found: list[tuple[str, str, list[str]]] = []
    for line in text.split("\n") if text else ():
        if line.startswith("\t") and found:
            found[-1][2].append(line[1:])
            continue
        header, colon, words = line.partition(": ")
        said_at, bracket, speaker = header[1:].partition("] ")
        if not (line.startswith("[") and colon and bracket):
            raise InvalidInput(f"no line of a page: {line[:80]!r}")
        found.append((said_at, speaker, [words]))
    return tuple(
        RenderedTurn(said_at=said_at, speaker=speaker, text="\n".join(words))
        for said_at, speaker, words in found
    )
