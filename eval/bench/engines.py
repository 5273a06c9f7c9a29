"""What is measured: each stores turns in a folder, finds them by words or meaning, and erases them."""

from __future__ import annotations

import asyncio
import pickle
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np

import tiermem
from eval.bench.data import SESSION
from eval.systems.ranking import okapi
from tiermem.embedding.hashed import HashEmbedder

BEST = 5
"""Turns that a search finds."""


class Engine(Protocol):
    """Turns by number in a folder. `open` comes first; a turn is erased after it was found."""

    def open(self, folder: Path) -> None:
        """Open what is in a folder, or begin it."""
        ...

    def add(self, turns: Sequence[str]) -> None:
        """Store turns durably, in order."""
        ...

    def search(self, text: str) -> list[str]:
        """The texts of the best `BEST` turns."""
        ...

    def context(self, text: str) -> None:
        """Make a context for a prompt, if there is such a thing."""
        ...

    def erase(self, turn: int) -> None:
        """Erase one turn."""
        ...

    def close(self) -> None:
        """Write what is not written and close."""
        ...


class TierMem:
    """TierMem as it is opened by default, with the hashed embedder and the local engine."""

    def open(self, folder: Path) -> None:
        """See `Engine`."""
        self._memory = tiermem.open(folder / "memory", engine="local", embedder=HashEmbedder())

    def add(self, turns: Sequence[str]) -> None:
        """See `Engine`; pages are summarised, and the index is up to date, when this returns."""
        for start in range(0, len(turns), SESSION):
            said = turns[start : start + SESSION]
            numbered = [
                {"speaker": "Ann", "text": text, "id": f"t{start + n}"} for n, text in enumerate(said)
            ]
            self._memory.add(numbered, session=f"s{start // SESSION}")
        self._memory.flush()

    def search(self, text: str) -> list[str]:
        """See `Engine`."""
        found = self._memory.search(text, kind="turns", limit=BEST)
        return [one.text.removeprefix(f"{one.speaker}: ") for one in found]

    def context(self, text: str) -> None:
        """See `Engine`."""
        self._memory.context(text)

    def erase(self, turn: int) -> None:
        """See `Engine`."""
        self._memory.erase(turn=f"t{turn}", session=f"s{turn // SESSION}", reason="asked to")

    def close(self) -> None:
        """See `Engine`."""
        self._memory.close()


class FullText:
    """SQLite's FTS5: words alone, one file."""

    def open(self, folder: Path) -> None:
        """See `Engine`."""
        self._database = sqlite3.connect(folder / "turns.sqlite")
        self._database.execute("CREATE VIRTUAL TABLE IF NOT EXISTS turns USING fts5(text)")

    def add(self, turns: Sequence[str]) -> None:
        """See `Engine`."""
        self._database.executemany("INSERT INTO turns (rowid, text) VALUES (?, ?)", enumerate(turns, start=1))
        self._database.commit()

    def search(self, text: str) -> list[str]:
        """See `Engine`."""
        query = " OR ".join(f'"{word}"' for word in text.split())
        found = self._database.execute(
            "SELECT text FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT ?", (query, BEST)
        )
        return [found_text for (found_text,) in found]

    def context(self, text: str) -> None:
        """Search: a context is the words of what is found."""
        self.search(text)

    def erase(self, turn: int) -> None:
        """See `Engine`; what is left in free pages of the file is not looked for."""
        self._database.execute("DELETE FROM turns WHERE rowid = ?", (turn + 1,))
        self._database.commit()

    def close(self) -> None:
        """See `Engine`."""
        self._database.close()


class Tantivy:
    """tantivy, a full text search in Rust: words alone, many files."""

    def open(self, folder: Path) -> None:
        """See `Engine`."""
        import tantivy

        schema = tantivy.SchemaBuilder()
        schema.add_integer_field("number", indexed=True)
        schema.add_text_field("text", stored=True)
        self._index = tantivy.Index(schema.build(), path=str(folder))
        self._document = tantivy.Document
        self._index.reload()

    def add(self, turns: Sequence[str]) -> None:
        """See `Engine`."""
        writer = self._index.writer()
        for number, text in enumerate(turns):
            writer.add_document(self._document(number=number, text=text))
        writer.commit()
        writer.wait_merging_threads()

    def search(self, text: str) -> list[str]:
        """See `Engine`."""
        searcher = self._index.searcher()
        found = searcher.search(self._index.parse_query(text, ["text"]), BEST).hits
        return [str(searcher.doc(address)["text"][0]) for _, address in found]

    def context(self, text: str) -> None:
        """Search: a context is the words of what is found."""
        self.search(text)

    def erase(self, turn: int) -> None:
        """See `Engine`; the words stay in the files until segments are merged."""
        writer = self._index.writer()
        writer.delete_documents_by_term("number", turn)
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()

    def close(self) -> None:
        """See `Engine`."""


class Bm25AndDense:
    """rank-bm25 and dense vectors by reciprocal rank: in memory, written as a pickle."""

    def open(self, folder: Path) -> None:
        """Read the pickle and build BM25, which has no form on the disk."""
        self._file = folder / "turns.pickle"
        self._texts: list[str | None] = []
        self._vectors = np.zeros((0, HashEmbedder().dimensions), np.float32)
        if self._file.exists():
            self._texts, self._vectors = pickle.loads(self._file.read_bytes())  # noqa: S301  # written below
            self._build()

    def _build(self) -> None:
        self._words = okapi([(text or "").split() or [""] for text in self._texts])

    def add(self, turns: Sequence[str]) -> None:
        """See `Engine`."""
        self._texts += turns
        added = asyncio.run(HashEmbedder().embed(list(turns)))
        self._vectors = np.concatenate([self._vectors, np.asarray(added, np.float32)])
        self._write()
        self._build()

    def _write(self) -> None:
        self._file.write_bytes(pickle.dumps((self._texts, self._vectors)))

    def search(self, text: str) -> list[str]:
        """See `Engine`."""
        (vector,) = asyncio.run(HashEmbedder().embed([text]))
        places: dict[int, float] = {}
        for scores in (self._words.get_scores(text.split()), self._vectors @ np.asarray(vector, np.float32)):
            for place, at in enumerate(np.argsort(-scores, kind="stable")[:50]):
                places[int(at)] = places.get(int(at), 0.0) + 1 / (60 + place)
        return [self._texts[at] or "" for at in sorted(places, key=lambda at: -places[at])[:BEST]]

    def context(self, text: str) -> None:
        """Search: a context is the words of what is found."""
        self.search(text)

    def erase(self, turn: int) -> None:
        """See `Engine`: everything is written and built again."""
        self._texts[turn] = None
        self._vectors[turn] = 0
        self._write()
        self._build()

    def close(self) -> None:
        """See `Engine`."""


class _ForMem0:
    """The hashed embedder with the methods that Mem0 calls."""

    config = SimpleNamespace(embedding_dims=HashEmbedder().dimensions)

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return asyncio.run(HashEmbedder().embed(texts))


class Mem0Store:
    """Mem0's own store (Qdrant's local mode), turns as they are (`infer=False`), with the hashed embedder."""

    def open(self, folder: Path) -> None:
        """See `Engine`."""
        from eval.systems.mem0 import open_store

        self._memory = open_store(folder, _ForMem0())
        self._ids: dict[int, str] = {}

    def add(self, turns: Sequence[str]) -> None:
        """See `Engine`."""
        for number, text in enumerate(turns):
            message = {"role": "user", "content": text}
            self._memory.add([message], user_id="ann", metadata={"turn": number}, infer=False)

    def _find(self, text: str) -> list[dict[str, Any]]:
        found = self._memory.search(text, filters={"user_id": "ann"}, top_k=BEST, threshold=0.0)
        results: list[dict[str, Any]] = found["results"]
        self._ids |= {one["metadata"]["turn"]: one["id"] for one in results}
        return results

    def search(self, text: str) -> list[str]:
        """See `Engine`."""
        return [str(one["memory"]) for one in self._find(text)]

    def context(self, text: str) -> None:
        """Search: a context is the words of what is found."""
        self._find(text)

    def erase(self, turn: int) -> None:
        """Delete the memory of a turn that was found before."""
        self._memory.delete(self._ids[turn])

    def close(self) -> None:
        """See `Engine`."""
        self._memory.vector_store.client.close()


ENGINES: dict[str, type[Engine]] = {
    "tiermem": TierMem,
    "bm25+dense": Bm25AndDense,
    "fts5": FullText,
    "tantivy": Tantivy,
    "mem0": Mem0Store,
}
