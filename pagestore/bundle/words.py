"""The words of a page as a bundle shows them: turns with the hashes they were sealed with, and no others."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pagestore.codec import turn_part_of
from pagestore.line import Fields, decode, line_of
from pagestore.prover import as_bytes
from pagestore.rendering import render_turn
from pagestore.unicode import replace_surrogates
from pagestore.values import Span, TurnLine

_HEAD = re.compile(r"^[^\S\n]{0,8}\[[^\]\n]{0,40}\][^\S\n]{0,8}(?:[^:\n]{0,80}:)?", re.MULTILINE)
"""The head of a page's line (when, who), which a model may have copied into its quote."""


class Wrong(Exception):
    """Something in the bundle contradicts its proofs."""


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn of a checked page: where it starts on it, and its text there (`None`: not shown)."""

    number: int
    start: int
    evidence: TurnLine
    fields: Fields | None
    text: str | None


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page whose seal and turns were checked."""

    number: int
    session: str
    turns: tuple[ShownTurn, ...]

    def touched_turns(self, span: Span) -> list[ShownTurn]:
        """The turns that have a character of the span."""
        ends = ((turn, turn.start + turn.evidence.length) for turn in self.turns)
        return [turn for turn, end in ends if turn.start < span.end and span.start < end]


@dataclass(frozen=True, slots=True)
class Words:
    """Words that were found where a quotation says, and the turns they are of."""

    pieces: tuple[str, ...]
    turns: tuple[tuple[ShownPage, ShownTurn], ...]

    @property
    def text(self) -> str:
        """All of them, what lies between left out."""
        return " … ".join(self.pieces)

    def spelled_by(self, quotes: Sequence[str]) -> bool:
        """Whether the quotes are these words and no others, letters and digits alone.

        Quotes may share words, which are found in one place then: each quote is some of the pieces, and
        each piece is in a quote.
        """
        pieces = [letters_and_digits(piece) for piece in self.pieces]
        quoted = [letters_and_digits(_HEAD.sub(" ", quote)) for quote in quotes]
        if "".join(pieces) == "".join(quoted):
            return True
        return all(_made_of(quote, pieces) for quote in quoted) and all(
            any(piece in quote for quote in quoted) for piece in pieces
        )

    def said_by(self) -> tuple[str | None, str | None]:
        """Speaker and time of the first turn."""
        fields = self.turns[0][1].fields
        return (None, None) if fields is None else (replace_surrogates(fields["sp"]), fields.get("ts"))

    def turn_in_words(self) -> str:
        """The turn, in words."""
        page, turn = self.turns[0]
        speaker, said_at = self.said_by()
        when = f", {said_at}" if said_at else ""
        return f"{speaker}{when} (session {page.session!r}, page {page.number}, turn {turn.number})"


def shown_turn(number: int, start: int, turn: TurnLine, session: str) -> ShownTurn:
    """A turn whose line, where it is shown, has the hash its page was sealed with."""
    if turn.line is None:
        return ShownTurn(number, start, turn, None, None)
    if turn.erased:
        raise Wrong(f"turn {number} is said to be erased, and is there")
    raw = as_bytes(turn.line)
    if hashlib.sha256(raw).hexdigest() != turn.digest:
        raise Wrong(f"turn {number} does not have the hash its page was sealed with")
    fields = decode(raw)
    if fields is None or fields["t"] != "turn" or fields["s"] != session:
        raise Wrong(f"turn {number} is no turn of session {session!r}")
    said = turn_part_of(line_of(raw, fields))
    if said.turn is None:
        raise Wrong(f"turn {number} has no words")
    text, _ = render_turn(said.turn, said.part, said.parts)
    if len(text) != turn.length:
        raise Wrong(f"turn {number} has {len(text)} characters, not {turn.length}")
    return ShownTurn(number, start, turn, fields, text)


def cut_out(turns: list[ShownTurn], span: Span) -> str:
    """The characters of a span from the turns it touches, which follow each other on the page."""
    texts = []
    for turn in turns:
        if turn.text is None:
            raise Wrong(f"its words are withheld (turn {turn.number})")
        texts.append(turn.text)
    first = turns[0].start if turns else 0
    words = "\n".join(texts)[max(0, span.start - first) : span.end - first] if turns else ""
    if not words or len(words) != span.end - span.start:
        raise Wrong(f"characters {span.start} to {span.end} are not on its page")
    return words


def cut(text: str, length: int = 80) -> str:
    """The beginning of a text that is long."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _made_of(quote: str, pieces: Sequence[str]) -> bool:
    """Whether the quote is some of the pieces, one after another."""
    ends = {0}
    for at in range(len(quote)):
        if at in ends:
            ends |= {at + len(piece) for piece in pieces if piece and quote.startswith(piece, at)}
    return len(quote) in ends


def letters_and_digits(text: str) -> str:
    """Return only the letters and digits of a text, case-folded and decomposed (NFKD), to compare quotes."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if c.isalnum())


def same_moment(one: str | None, other: str | None) -> bool:
    """Whether two moments are one, however they are written."""
    if one is None or other is None:
        return one is other
    return datetime.fromisoformat(one) == datetime.fromisoformat(other)
