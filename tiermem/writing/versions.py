"""Versions of a turn that was edited between two exports of the same chat.

The first version has the id of the message. A later one is stored under `ID~2`, `ID~3`, … and names the id of
the message under `version_of` in its metadata, so that it is distinguished from a message of that very id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from pagestore import Page, PageId, PageLine, Turn
from tiermem.dialogue import VERSION_OF, ImportedTurn


def version_id(turn_id: str, number: int) -> str:
    """The id under which version `number` of a message is stored."""
    return f"{turn_id}~{number}"


def is_version_of(turn: Turn, turn_id: object) -> bool:
    """Whether a turn is the message of this id, or a later version of it."""
    return bool(turn.metadata.get(VERSION_OF, turn.turn_id) == turn_id)


Message = tuple[str | None, str]
"""A message of a session: whose it is, and its id."""


def message_of(turn: Turn) -> Message:
    """The message that a turn is, or is a version of."""
    return turn.agent, str(turn.metadata.get(VERSION_OF, turn.turn_id))


def is_version(turn: ImportedTurn, versions: Sequence[Turn]) -> bool:
    """Whether a turn is of the message with these versions: said at the same time, by the same speaker.

    A speaker who was renamed has the same words.
    """
    if not versions or versions[0].said_at != turn.said_at:
        return False
    return versions[0].speaker == turn.speaker or known_version(turn, versions) is not None


def known_version(turn: ImportedTurn, versions: Iterable[Turn]) -> Turn | None:
    """The version with the words of `turn`; `None` without.

    A speaker who was renamed does not make another version.
    """
    return next((one for one in versions if one.text == turn.text), None)


def later_versions(turn: ImportedTurn) -> Iterator[Turn]:
    """The turn under every id that a later version of it may have, in order."""
    of = turn.turn_id or ""
    later = replace(turn.plain(), metadata={**turn.metadata, VERSION_OF: of})
    return (replace(later, turn_id=version_id(of, number)) for number in count(2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Older:
    """Lines of a page with an older version of a message, and the id of the newest version."""

    page_id: PageId
    line: PageLine
    newest_id: str


def older_versions(pages: Sequence[Page]) -> tuple[Older, ...]:
    """The lines of versions that a newer one supersedes: of the same speaker, with the same trust.

    `pages` are all pages of one session.
    """
    lines = sorted(
        ((page, line, line.turn) for page in pages for line in page.lines if line.turn is not None),
        key=lambda found: found[1].seq,
    )
    newest: dict[Message, Turn] = {}
    for _, _, turn in lines:
        if VERSION_OF in turn.metadata:
            newest[message_of(turn)] = turn
    found = []
    for page, line, turn in lines:
        later = newest.get(message_of(turn))
        if later is not None and later.turn_id != turn.turn_id and supersedes(later, turn):
            found.append(Older(page_id=page.id, line=line, newest_id=later.turn_id or ""))
    return tuple(found)


def supersedes(later: Turn, older: Turn) -> bool:
    """Whether a later version supersedes an older one: the same speaker said it, with the same trust."""
    return (later.speaker, later.trust) == (older.speaker, older.trust)


def versions_by_message(turns: Iterable[Turn]) -> dict[Message, list[Turn]]:
    """The versions of each message in order."""
    versions: dict[Message, list[Turn]] = {}
    for turn in turns:
        if turn.turn_id is not None:
            versions.setdefault(message_of(turn), []).append(turn)
    return versions
