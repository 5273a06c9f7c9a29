"""Mem0 as a baseline: the vendor's package, with our embedder in it and without its telemetry.

Without a model it stores every turn as it is (`infer=False`), so what is measured is its retrieval.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Literal

from anyio import from_thread, to_thread

from eval.corpus import Corpus, said, turn_id, turn_passage
from eval.types import Level, Passage, Session
from pagestore import TokenCounter
from tiermem.embedding.interface import Embedder
from tiermem.errors import InvalidInput

if TYPE_CHECKING:
    from mem0 import Memory

_USER: Final = "case"
_POOL: Final = 200


def description() -> str:
    """What of Mem0 is measured: it searches by words only with extras that are not asked for here."""
    try:
        release = version("mem0ai")
    except PackageNotFoundError:
        return "not installed"
    words = "with" if find_spec("fastembed") else "without"
    return f"{release}, turns stored as they are (infer=False), {words} keyword search (fastembed)"


class Mem0:
    """Turns in Mem0's own vector store (Qdrant's local mode), found by its own search.

    Pages and sessions stand where their best turn stands. Raises `InvalidInput` when the package is
    not installed.
    """

    def __init__(self, directory: Path, embedder: Embedder, counter: TokenCounter) -> None:
        self.name = "mem0"
        self._directory = directory
        self._embedder = embedder
        self._counter = counter
        self._memory: Memory | None = None
        self._corpus = Corpus((), counter)

    async def observe(self, sessions: Sequence[Session]) -> None:
        """Store every turn, with its place as metadata."""
        self._corpus = Corpus(sessions, self._counter)
        # One call embeds the lot; Mem0 then asks for one text at a time and is served from here.
        texts = [said(turn) for session in sessions for turn in session.turns]
        vectors = dict(zip(texts, await self._embedder.embed(texts), strict=True))
        self._memory = await to_thread.run_sync(
            open_store, self._directory, _InProcess(self._embedder, vectors)
        )
        await to_thread.run_sync(self._store, sessions)

    def _store(self, sessions: Sequence[Session]) -> None:
        assert self._memory is not None  # noqa: S101  (set by the only caller)
        for session in sessions:
            for at, turn in enumerate(session.turns):
                self._memory.add(
                    [{"role": turn.role or "user", "content": said(turn)}],
                    user_id=_USER,
                    metadata={"place": turn_id(session.id, at)},
                    infer=False,
                )

    async def retrieve(
        self, question: str, *, level: Level, limit: int, asked_at: datetime | None = None
    ) -> tuple[Passage, ...]:
        """Turns as Mem0 ranks them; pages and sessions by their first turn in that ranking."""
        turns = await to_thread.run_sync(self._search, question, limit if level == "turn" else _POOL)
        if level == "turn":
            return tuple(turns[:limit])
        documents = self._corpus.passages(level)
        holding = (document for turn in turns for document in documents if document.holds(turn))
        return tuple(dict.fromkeys(holding))[:limit]

    def _search(self, question: str, limit: int) -> list[Passage]:
        if self._memory is None:
            return []
        found = self._memory.search(question, filters={"user_id": _USER}, top_k=limit, threshold=0.0)
        return [turn_passage(one["metadata"]["place"]) for one in found["results"]]

    async def close(self) -> None:
        """Close its vector store, which it leaves open."""
        memory, self._memory = self._memory, None
        if memory is not None:
            await to_thread.run_sync(_closed, memory)


class _InProcess:
    """Our embedder in the place of one of Mem0's."""

    def __init__(self, embedder: Embedder, known: dict[str, list[float]]) -> None:
        self._embedder = embedder
        self._known = known
        self.config = SimpleNamespace(embedding_dims=embedder.dimensions)

    def embed(
        self, text: str, memory_action: Literal["add", "search", "update"] | None = None
    ) -> list[float]:
        if text in self._known:
            return self._known[text]
        (vector,) = from_thread.run(self._embedder.embed, [text])
        return vector

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text) for text in texts]


def open_store(directory: Path, embedder: Any) -> Memory:
    """Open Mem0 on a directory, with an embedder of ours in the place of its own."""
    memory_type, config_type = _package(directory)
    config = config_type(
        vector_store={
            "provider": "qdrant",
            "config": {
                "collection_name": "eval",
                "path": str(directory / "qdrant"),
                "embedding_model_dims": embedder.config.embedding_dims,
                "on_disk": True,
            },
        },
        # Never asked: its constructors want a key, and what they make is replaced or unused.
        llm={"provider": "openai", "config": {"api_key": "unused"}},
        embedder={"provider": "openai", "config": {"api_key": "unused"}},
        history_db_path=str(directory / "history.db"),
    )
    memory: Memory = memory_type(config)
    memory.embedding_model = embedder
    return memory


def _package(directory: Path) -> tuple[Any, Any]:
    """Mem0's classes, imported once it has been told to send nothing and to keep to its directory."""
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mem0-"))
    directory.mkdir(parents=True, exist_ok=True)
    # It warns of extras it does not find; `description` says so where results are reported.
    logging.getLogger("mem0").setLevel(logging.ERROR)
    try:
        from mem0 import Memory
        from mem0.configs.base import MemoryConfig
    except ImportError as error:
        raise InvalidInput(
            f"the system 'mem0' needs its extra, in the checkout: pip install -e '.[mem0]' ({error})"
        ) from error
    return Memory, MemoryConfig


def _closed(memory: Memory) -> None:
    with suppress(AttributeError):  # older releases have no close of their own
        memory.close()
    memory.vector_store.client.close()
