"""What a framework keeps of a conversation, item by item, as turns of one session.

The words of an item are the turn's, so that they are searched, summarised and cited like all that was said.
The whole item, as the framework writes it in JSON, is sealed in the turn's metadata and comes back as it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import uuid4

import tiermem

_OF_ROLES = {"human": "user", "ai": "assistant", "developer": "system", "function": "tool"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredItem:
    """An item as it was given, and the id of its turn."""

    item: Any
    turn_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """The items of one framework in one session; `key` is what they are known by in the metadata of turns.

    Turns of the session that somebody else added are none of them. `speakers` name who speaks in a role.
    """

    memory: tiermem.Memory
    session: str
    key: str
    speakers: Mapping[str, str]

    def turn(self, item: Any, *, text: str, role: str) -> tiermem.Turn:
        """An item as a turn, said now; one that says nothing says of what type it is."""
        role = _OF_ROLES.get(role, role)
        return tiermem.Turn(
            speaker=self.speakers.get(role, role),
            text=text if text.strip() else f"({_type_of(item)})",
            said_at=datetime.now().astimezone(),
            role=role,
            turn_id=uuid4().hex,
            metadata={self.key: json.loads(json.dumps(item))},
        )

    def add(self, turns: Iterable[tiermem.Turn]) -> None:
        """Store turns that `turn` made; durable when this returns."""
        self.memory.add(list(turns), session=self.session)

    def newest(self, limit: int | None = None) -> list[StoredItem]:
        """The newest items, all without a limit, oldest first; no other page is read than it takes."""
        found = list(islice(self._backwards(), limit))
        return found[::-1]

    def pop(self) -> Any:
        """Erase the newest item, with all that rests on its words, and give it; `None` without any."""
        for kept in self.newest(1):
            self.memory.erase(turn=kept.turn_id, session=self.session, reason=f"taken back by {self.key}")
            return kept.item
        return None

    def clear(self) -> None:
        """Erase the session, with all that rests on its words; without items nothing is done."""
        if self.newest(1):
            self.memory.erase(session=self.session, reason=f"cleared by {self.key}")

    def _backwards(self) -> Iterator[StoredItem]:
        for page in self._pages_backwards():
            for line in reversed(page.lines):
                turn = line.turn
                if turn is not None and line.part == 1 and turn.turn_id and self.key in turn.metadata:
                    yield StoredItem(item=turn.metadata[self.key], turn_id=turn.turn_id)

    def _pages_backwards(self) -> Iterator[tiermem.Page]:
        filling = self.memory.open_pages(self.session)  # first: what seals meanwhile comes once
        sealed = self.memory.pages(self.session)
        known = {(info.agent, info.number) for info in sealed}
        yield from (page for page in reversed(filling) if (page.agent, page.number) not in known)
        for info in reversed(sealed):
            yield self.memory.page(info.id)


def _type_of(item: Any) -> str:
    return str(item.get("type", "item")) if isinstance(item, Mapping) else "item"
