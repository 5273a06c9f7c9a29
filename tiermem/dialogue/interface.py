"""What every reader of dialogue gives: conversations, each a run of sessions, each a run of turns.

Readers are all or nothing: a source that cannot be read in full raises before a caller has seen any of
it, so a bad line never leaves half a session behind.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, get_args

from pagestore import SessionId, Turn

Format = Literal[
    "auto",
    "turns",
    "transcript",
    "markdown",
    "whatsapp",
    "telegram",
    "slack",
    "discord",
    "chatgpt",
    "claude",
    "fine-tuning",
    "csv",
    "subtitles",
    "mem0",
    "zep",
    "letta",
    "langmem",
    "hindsight",
    "claude-code",
    "codex",
    "gemini-cli",
    "copilot-cli",
    "cursor",
    "opencode",
    "locomo",
    "longmemeval",
]
"""What a file may hold; `auto` finds out."""


FORKS_KEEP_IDS: frozenset[Format] = frozenset({"claude-code"})
"""The formats whose forks repeat records under their ids, which no other records have.

Ids of other formats may be counted (`m1`, the number of a line): two sessions have them, and are no copies.
"""

VERSION_OF = "version_of"
"""The key of the metadata of a version of a message under which the id of the message is."""
_LINE = "line-"
_DAY = re.compile(r" \d{4}-\d{2}-\d{2}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTurn(Turn):
    """A turn of a file, as importers give it to `add`.

    If its id is stored with other words, the turn is stored as a later version; with `is_record` it is known
    all the same, since a record of a transcript never changes. `title` is that of its chat.
    """

    title: str | None = None
    is_record: bool = False

    def plain(self) -> Turn:
        """Return the turn as any other."""
        return Turn(**{one.name: getattr(self, one.name) for one in fields(Turn)})


def imported_turn(turn: Turn, *, title: str | None = None, is_record: bool = False) -> ImportedTurn:
    """Return a turn as importers give it to `add`, with the title of its chat."""
    values = {one.name: getattr(turn, one.name) for one in fields(Turn)}
    return ImportedTurn(**values, title=title, is_record=is_record)


def line_id(number: int) -> str:
    """The id of a record without one: the number of its line, on which another record may be later."""
    return f"{_LINE}{number}"


def is_of_format(session: str) -> bool:
    """Whether the id of a session is that of a format, `telegram:9`."""
    form, colon, _ = session.partition(":")
    return bool(colon) and form in get_args(Format)


def chat_of(session: str) -> str:
    """The id of a session of a format without its day; that of any other session as it is."""
    return without_day(session) if is_of_format(session) else session


def without_day(session: str) -> str:
    """The id of a session without the day at its end."""
    return _DAY.sub("", session)


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueSession:
    """What was said in one go: its turns in the order they were said. Every turn has a `turn_id`.

    `title` is what the chat is called, or the name of its file. With `is_file_name` the session has the name
    of its file, which may change, for an id. With `has_records` its turns are records of a transcript, each
    known by its id alone, whatever its words are; a turn without an id but the number of its line is known
    by its words too.
    """

    session: SessionId
    turns: tuple[Turn, ...]
    title: str | None = None
    is_file_name: bool = False
    has_records: bool = False

    @property
    def chat(self) -> str:
        """The id of the chat: that of the session without its day."""
        return self.session if self.is_file_name else without_day(self.session)

    def imported_turns(self) -> tuple[ImportedTurn, ...]:
        """Return the turns as importers give them to `add`."""
        return tuple(
            imported_turn(
                turn,
                title=self.title,
                is_record=self.has_records and not (turn.turn_id or "").startswith(_LINE),
            )
            for turn in self.turns
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Sessions that belong together. `space_hint` names the space they ask for, `None` for none.

    `notes` say how the file was read where it might be read otherwise. `left_out` counts by kind what of a
    transcript is no turn of it: hidden reasoning, for example.
    """

    space_hint: str | None
    sessions: tuple[DialogueSession, ...]
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def turns(self) -> int:
        """How many turns the conversation has in all."""
        return sum(len(session.turns) for session in self.sessions)
