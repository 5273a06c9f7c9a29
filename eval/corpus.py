"""A conversation as documents to rank: its turns, its pages and its sessions, the same for every system.

Pages are cut by `pagestore`, so a baseline ranks exactly the pages that TierMem seals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from eval.types import Level, Passage, Session
from pagestore import LogOptions, MemoryLog, Page, SessionId, SpaceId, TokenCounter, Turn

PAGE_TOKENS: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A passage and its words."""

    passage: Passage
    text: str


def turn_id(session: SessionId, at: int) -> str:
    """The id a turn is stored under: its place, and nothing a dataset calls it."""
    return f"{session}:{at}"


def turn_passage(stored: str) -> Passage:
    """The place a turn id names."""
    session, _, at = stored.rpartition(":")
    return Passage(session=SessionId(session), start=int(at), end=int(at) + 1)


def placed(session: Session) -> list[Turn]:
    """The session's turns with their ids, as memories store them."""
    return [replace(turn, turn_id=turn_id(session.id, at)) for at, turn in enumerate(session.turns)]


def said(turn: Turn) -> str:
    """A turn as a line: who, and what."""
    return f"{turn.speaker}: {turn.text}"


def page_passage(page: Page) -> Passage:
    """The run of turns that stand on a page; a turn cut over two pages stands on both."""
    turns = [turn_passage(line.turn.turn_id) for line in page.lines if line.turn and line.turn.turn_id]
    return Passage(session=page.session, start=turns[0].start, end=turns[-1].end)


def anybody(_: Turn) -> bool:
    """Every turn counts."""
    return True


def the_user(turn: Turn) -> bool:
    """What users said, as LongMemEval's own baselines rank it; turns without a role count."""
    return turn.role in (None, "user")


class Corpus:
    """The documents of one conversation. `speaks` chooses turns: what it leaves out is in no document."""

    def __init__(
        self,
        sessions: Sequence[Session],
        counter: TokenCounter,
        speaks: Callable[[Turn], bool] = anybody,
    ) -> None:
        self._sessions = {session.id: session for session in sessions}
        self._counter = counter
        self._speaks = speaks
        self._pages: tuple[Passage, ...] | None = None

    @cached_property
    def tokens(self) -> Mapping[SessionId, Sequence[int]]:
        """What reading each turn costs, by session."""
        return {
            session.id: [self._counter.count(turn.text) for turn in session.turns]
            for session in self._sessions.values()
        }

    def passages(self, level: Level) -> tuple[Passage, ...]:
        """Every document of a level, in the order of the conversation."""
        match level:
            case "session":
                return tuple(Passage(session=s.id, start=0, end=len(s.turns)) for s in self._all)
            case "page":
                if self._pages is None:
                    self._pages = _pages(self._all, self._counter)
                return self._pages
            case "turn":
                return tuple(
                    Passage(session=session.id, start=at, end=at + 1)
                    for session in self._all
                    for at, turn in enumerate(session.turns)
                    if self._speaks(turn)
                )

    def documents(self, level: Level) -> tuple[Document, ...]:
        """The documents of a level with their words; those without a word to rank are left out."""
        texts = ((passage, self.text(passage)) for passage in self.passages(level))
        return tuple(Document(passage=passage, text=text) for passage, text in texts if text)

    def text(self, passage: Passage) -> str:
        """The words of a passage, a line a turn."""
        return "\n".join(said(turn) for turn in self.turns_of(passage) if self._speaks(turn))

    def turns_of(self, passage: Passage) -> Sequence[Turn]:
        """The turns of a passage."""
        return self._sessions[passage.session].turns[passage.start : passage.end]

    @property
    def _all(self) -> list[Session]:
        return [session for session in self._sessions.values() if session.turns]


def _pages(sessions: Sequence[Session], counter: TokenCounter) -> tuple[Passage, ...]:
    log = MemoryLog(SpaceId("corpus"), options=LogOptions(page_tokens=PAGE_TOKENS, counter=counter))
    for session in sessions:
        log.append(session.id, placed(session))
    log.seal()
    pages = tuple(dict.fromkeys(page_passage(log.page(info.id)) for info in log.pages()))
    log.close()
    return pages
