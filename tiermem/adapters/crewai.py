"""A memory for CrewAI: what `Crew(memory=…)` and `Agent(memory=…)` keep things in and recall them from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NoReturn

from pydantic import Field

import tiermem
from tiermem.adapters.finding import Kind, as_filters, id_of, known_of
from tiermem.adapters.items import Items
from tiermem.errors import InvalidInput, install_command
from tiermem.model import Evidence

try:
    from crewai.memory.types import MemoryMatch, MemoryRecord
    from crewai.memory.unified_memory import Memory
    from crewai.memory.utils import join_scope_paths, normalize_scope_path
except ImportError as error:
    raise InvalidInput(f"CrewAI needs an extra: {install_command('crewai')} ({error})") from error

__all__ = ["TierMemMemory"]


class _NoVectors:
    """In place of CrewAI's vector store: what is asked of it here, a memory of TierMem does not do."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_") or name in ("close", "touch_records"):
            raise AttributeError(name)
        raise InvalidInput(
            f"CrewAI's {name!r} is not to be had of a memory of TierMem: use the methods of tiermem.Memory"
        )


class TierMemMemory(Memory):
    """A memory in CrewAI's terms, without a model or vectors of CrewAI's.

    What is remembered is a turn of `session`, word for word, by the agent's role, with the whole record in
    its metadata; nothing is inferred, and what an agent did is kept whole. `kind` is what is recalled: `any`,
    `units`, `turns` or `pages`, of all sessions unless `only` (filters of `Memory.recall`) says otherwise.
    `forget` and `reset` erase what was remembered through CrewAI, with all that rests on it.
    """

    memory: tiermem.Memory = Field(exclude=True)
    session: str = "crew"
    kind: Kind = "any"
    only: Mapping[str, Any] = Field(default_factory=dict)
    storage: Any = Field(default_factory=_NoVectors, exclude=True)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> TierMemMemory:
        return self

    @property
    def _items(self) -> Items:
        return Items(memory=self.memory, session=self.session, key="crewai", speakers={})

    def remember(
        self,
        content: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        agent_role: str | None = None,
        root_scope: str | None = None,
    ) -> MemoryRecord | None:
        """Store one thing; durable when this returns. `None` where this memory is read-only.

        Raises `InvalidInput` with `private`: give each agent a memory of its own by `Memory.as_agent`.
        """
        kept = self.remember_many(
            [content], scope, categories, metadata, importance, source, private, agent_role, root_scope
        )
        return kept[0] if kept else None

    def remember_many(
        self,
        contents: list[str],
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        agent_role: str | None = None,
        root_scope: str | None = None,
    ) -> list[MemoryRecord]:
        """Store several things, and give their records, when all are durable; see `remember`."""
        if private:
            raise InvalidInput(
                "what is private to an agent is kept in memory.as_agent(name): give it that one"
            )
        if self.read_only:
            return []
        root = self.root_scope if root_scope is None else root_scope
        records = [
            MemoryRecord(
                content=content,
                scope=join_scope_paths(root, scope),
                categories=categories or [],
                metadata=metadata or {},
                importance=self.default_importance if importance is None else importance,
                source=source,
            )
            for content in contents
        ]
        self._items.add(self._turn(record, agent_role, importance) for record in records)
        return records

    def _turn(self, record: MemoryRecord, role: str | None, importance: float | None) -> tiermem.Turn:
        return tiermem.Turn(
            speaker=role or "agent",
            text=record.content,
            said_at=datetime.now().astimezone(),
            role="assistant",
            turn_id=record.id,
            importance=importance,
            metadata={
                "crewai": record.model_dump(mode="json"),
                "scopes": _within(record.scope),
                "categories": record.categories,
            },
        )

    def extract_memories(self, content: str) -> list[str]:
        """What an agent did, whole: what of it matters is decided when it is summarised, with its words."""
        return [content]

    def recall(
        self,
        query: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        limit: int = 10,
        depth: Literal["shallow", "deep"] = "deep",
        source: str | None = None,
        include_private: bool = False,
    ) -> list[MemoryMatch]:
        """What fits a query best, best first: at most `limit`; in a scope, or of any of some categories, only
        what was remembered so. `depth` changes nothing, and private is nothing here.
        """
        wanted = query.strip()
        path = scope if self.root_scope is None else join_scope_paths(self.root_scope, scope)
        within = {} if path is None else {"scopes": normalize_scope_path(path)}
        found: dict[str, Evidence] = {}
        wheres = [{**within, "categories": category} for category in categories or ()] or [within]
        for where in wheres:
            only = as_filters({**self.only, "where": where} if where else self.only)
            for one in (
                self.memory.recall(wanted, limit=limit, kind=self.kind, **only).items if wanted else ()
            ):
                found.setdefault(id_of(one), one)
        best = (
            sorted(found.values(), key=lambda one: one.score, reverse=True) if categories else found.values()
        )
        return [MemoryMatch(record=self._record(one), score=one.score) for one in list(best)[:limit]]

    def _record(self, found: Evidence) -> MemoryRecord:
        """The record of a turn that was remembered here; of all else one made of what is known of it."""
        if found.source == "turn":
            page = self.memory.page(found.spans[0].page_id)
            turn = page.line_at(found.spans[0].start).turn
            if turn is not None and "crewai" in turn.metadata:
                return MemoryRecord.model_validate(turn.metadata["crewai"])
        made = MemoryRecord(id=id_of(found), content=found.text, metadata=known_of(found))
        return made if found.said_at is None else made.model_copy(update={"created_at": found.said_at})

    def list_records(self, scope: str | None = None, limit: int = 200, offset: int = 0) -> list[MemoryRecord]:
        """What was remembered through CrewAI in a scope, newest first."""
        path = normalize_scope_path(join_scope_paths(self.root_scope, scope))
        kept = [MemoryRecord.model_validate(one.item) for one in reversed(self._items.newest())]
        return [one for one in kept if path in _within(one.scope)][offset : offset + limit]

    def forget(
        self,
        scope: str | None = None,
        categories: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
        record_ids: list[str] | None = None,
    ) -> int:
        """Erase what is all of this, with all that rests on its words, and say how many records that were."""
        going = [
            one
            for one in self.list_records(scope, limit=len(self._items.newest()))
            if (record_ids is None or one.id in record_ids)
            and (not categories or set(categories) & set(one.categories))
            and (older_than is None or _utc(one.created_at) < _utc(older_than))
            and (metadata_filter or {}).items() <= one.metadata.items()
        ]
        for one in going:
            self.memory.erase(turn=one.id, session=self.session, reason="forgotten by CrewAI")
        return len(going)

    def reset(self, scope: str | None = None) -> None:
        """Erase what was remembered through CrewAI in a scope."""
        self.forget(scope)

    def reset_all(self) -> None:
        """Erase the session, in which CrewAI remembers."""
        self._items.clear()


def _within(scope: str) -> Sequence[str]:
    """A scope and all that it lies in: `/a/b` lies in `/a` and in `/`."""
    parts = normalize_scope_path(scope).strip("/").split("/")
    return ["/", *("/" + "/".join(parts[: n + 1]) for n in range(len(parts)) if parts[n])]


def _utc(moment: datetime) -> datetime:
    """CrewAI's times without a zone are in UTC."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
