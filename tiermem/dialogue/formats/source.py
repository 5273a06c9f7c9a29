"""A source that was opened, and what a reader of one format is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pagestore import Turn
from tiermem.dialogue.date_order import DateOrder
from tiermem.dialogue.identity import identify_turns
from tiermem.dialogue.interface import Conversation, DialogueSession, Format
from tiermem.dialogue.turns_file import load_json
from tiermem.errors import InvalidInput
from tiermem.text.secrets import SecretFilter

PACKED = (".gz", ".xz", ".zip")
"""Endings of packed files; the ending before them says what is packed."""


@dataclass(frozen=True, kw_only=True)
class DialogueSource:
    """The text of a source, its name, and how the session of turns that name none is called.

    `own_session` is that name if the caller gave it, `None` if it is that of the file. `date_order` is that
    of dates in numbers, `None` to decide it. With `stamps` the levels of trust that turns name are read. With
    `keep_thinking` what a model thought is kept as metadata. `secrets` are taken out of transcripts of coding
    agents, and what they have of files of `skip_paths` is left out.
    """

    name: str
    text: str
    session: str
    own_session: str | None = None
    date_order: DateOrder | None = None
    stamps: bool = False
    keep_thinking: bool = False
    secrets: SecretFilter = field(default_factory=SecretFilter)
    skip_paths: tuple[str, ...] = ()

    @property
    def ending(self) -> str:
        """What the name ends with (".csv"), in small letters and without the ending of a packed file."""
        path = Path(self.name)
        return (Path(path.stem).suffix if path.suffix in PACKED else path.suffix).lower()

    @cached_property
    def looks_like_json(self) -> bool:
        """Whether it opens as a JSON document. A transcript may open with `[` too: `[2024-05-08] Ann: …`."""
        opening = self.text.lstrip()
        return opening.startswith("{") or (opening.startswith("[") and opening[1:].lstrip()[:1] in ("{", "]"))

    @cached_property
    def document(self) -> Any:
        """The JSON document; `InvalidInput` says why it is none."""
        return load_json(self.text)

    @cached_property
    def first_line(self) -> Mapping[str, Any] | None:
        """The JSON object that the first line is by itself; `None` where it is none."""
        first = self.text.lstrip().partition("\n")[0]
        try:
            value = load_json(first) if first.startswith("{") else None
        except InvalidInput:
            return None
        return value if isinstance(value, Mapping) else None

    @property
    def elements(self) -> list[Any]:
        """The elements of a JSON list, or the document alone."""
        return self.document if isinstance(self.document, list) else [self.document]

    @cached_property
    def first(self) -> Mapping[str, Any]:
        """The first element of a JSON list, or the document itself; nothing where that is no object."""
        if not self.looks_like_json:
            return {}
        try:
            first = next(iter(self.elements), None)
        except InvalidInput:
            return {}
        return first if isinstance(first, Mapping) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatReader:
    """One format: how a source of it is known, and how it is read."""

    name: Format
    knows: Callable[[DialogueSource], bool]
    read: Callable[[DialogueSource], tuple[Conversation, ...]]


def alone(sessions: Iterable[DialogueSession], notes: tuple[str, ...] = ()) -> tuple[Conversation, ...]:
    """One conversation that asks for no space of its own; sessions without turns are left out."""
    kept = tuple(one for one in sessions if one.turns)
    return (Conversation(space_hint=None, sessions=kept, notes=notes),)


def by_day(chat: str, turns: Iterable[Turn], title: str | None) -> tuple[DialogueSession, ...]:
    """A chat that never ends, as one session a day, whose id is that of the chat and the day.

    A later export of the same chat has the same sessions, with more turns. Turns without a time belong
    to the day before them.
    """
    days: dict[str, list[Turn]] = {}
    day = ""
    for turn in turns:
        day = f" {turn.said_at:%Y-%m-%d}" if turn.said_at is not None else day
        days.setdefault(day, []).append(turn)
    return tuple(identify_turns(chat + day, said, title=title) for day, said in days.items())


def join_texts(parts: Iterable[object]) -> str:
    """What a message holds, a line a piece: those of the parts that are texts, and not empty."""
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def title_of(value: object) -> str | None:
    """The title that an export gives a chat, `None` where there is none."""
    return value if isinstance(value, str) and value.strip() else None
