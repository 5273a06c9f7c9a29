"""Ranking documents without memory: keywords (rank-bm25), meaning (MiniLM), and both.

These are baselines and stay plain on purpose: rank-bm25 as it comes or over stems, one vector a turn, a page
or a session as good as its best turn, and fusion by rank with the usual constant or by standard scores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from anyio import to_thread

from eval.corpus import Corpus, Document, anybody
from eval.types import Level, Passage, Retriever, Session
from pagestore import TokenCounter, Turn
from tiermem.embedding.interface import Embedder
from tiermem.errors import InvalidInput, install_command
from tiermem.text import stems

RRF: Final = 60
_POOL: Final = 100
Speaks = Callable[[Turn], bool]
_WORD: Final = re.compile(r"\w+")
_LEVELS: Final[tuple[Level, ...]] = ("turn", "page", "session")


class Bm25System:
    """BM25 (Okapi) as `rank-bm25` ships it, over lower-cased words; one index a level."""

    def __init__(self, counter: TokenCounter, *, name: str = "bm25", speaks: Speaks = anybody) -> None:
        self.name = name
        self._counter = counter
        self._speaks = speaks
        self._ranked: dict[Level, tuple[Sequence[Document], Any]] = {}

    async def observe(self, sessions: Sequence[Session]) -> None:
        """Index the conversation at every level."""
        corpus = Corpus(sessions, self._counter, self._speaks)
        for level in _LEVELS:
            documents = corpus.documents(level)
            if documents:
                self._ranked[level] = documents, okapi([words(document.text) for document in documents])

    async def retrieve(
        self, question: str, *, level: Level, limit: int, asked_at: datetime | None = None
    ) -> tuple[Passage, ...]:
        """Documents that share a word with the question, best first."""
        if level not in self._ranked:
            return ()
        documents, index = self._ranked[level]
        scores = index.get_scores(words(question))
        order = sorted(range(len(documents)), key=lambda at: (-scores[at], at))
        return tuple(documents[at].passage for at in order[:limit])

    async def close(self) -> None:
        """Nothing is held open."""


def words(text: str) -> list[str]:
    """The words that keywords are looked up in, in small letters."""
    return _WORD.findall(text.lower())


def okapi(documents: Sequence[Sequence[str]]) -> Any:
    """`rank-bm25`'s Okapi index of documents that are lists of words: k1 1.5, b .75, raw scores."""
    try:
        from rank_bm25 import BM25Okapi
    except ImportError as error:
        needs = f"BM25 needs an extra: {install_command('eval')}"
        raise InvalidInput(f"{needs} ({error})") from error
    return BM25Okapi(documents, k1=1.5, b=0.75)


class Meaning:
    """One vector a turn; pages and sessions are as near to a question as their nearest turn."""

    def __init__(
        self, embedder: Embedder, counter: TokenCounter, *, name: str = "dense", speaks: Speaks = anybody
    ) -> None:
        self.name = name
        self._embedder = embedder
        self._counter = counter
        self._speaks = speaks
        self._turns: tuple[Document, ...] = ()
        self._groups: Mapping[Level, Sequence[tuple[Passage, Sequence[int]]]] = {}
        self._vectors: Any = None

    async def observe(self, sessions: Sequence[Session]) -> None:
        """Embed every turn once."""
        import numpy as np

        corpus = Corpus(sessions, self._counter, self._speaks)
        self._turns = corpus.documents("turn")
        self._vectors = np.asarray(
            await self._embedder.embed([turn.text for turn in self._turns]), np.float32
        )
        self._groups = {level: _grouped(corpus.passages(level), self._turns) for level in _LEVELS}

    async def retrieve(
        self, question: str, *, level: Level, limit: int, asked_at: datetime | None = None
    ) -> tuple[Passage, ...]:
        """Documents by cosine, best first."""
        import numpy as np

        if not self._turns:
            return ()
        (query,) = await self._embedder.embed([question])
        scores = self._scores(question, self._vectors @ np.asarray(query, np.float32))
        groups = self._groups[level]
        best = [max(scores[at] for at in members) for _, members in groups]
        order = sorted(range(len(groups)), key=lambda at: (-best[at], at))
        return tuple(groups[at][0] for at in order[:limit])

    def _scores(self, question: str, near: Any) -> Any:
        """What each turn scores, given its nearness to the question."""
        return near

    async def close(self) -> None:
        """Nothing is held open."""


class Stemmed(Meaning):
    """Meaning, and keywords over stems without stop words, as the sum of their standard scores.

    Standardised over all turns for each question, so that each of the two counts as much as it tells turns
    apart: a stronger baseline than fusion by rank.
    """

    _keywords: Any = None

    async def observe(self, sessions: Sequence[Session]) -> None:
        """Embed every turn once, and index the stems of all."""
        await super().observe(sessions)
        self._keywords = okapi([stems(turn.text) for turn in self._turns]) if self._turns else None

    def _scores(self, question: str, near: Any) -> Any:
        return _standard(self._keywords.get_scores(stems(question))) + _standard(near)


def _standard(scores: Any) -> Any:
    """Scores less their mean, over their standard deviation; zero where they do not differ."""
    spread = scores.std()
    return (scores - scores.mean()) / spread if spread else scores * 0.0


def _grouped(passages: Sequence[Passage], turns: Sequence[Document]) -> list[tuple[Passage, Sequence[int]]]:
    places = {(turn.passage.session, turn.passage.start): at for at, turn in enumerate(turns)}
    groups: list[tuple[Passage, Sequence[int]]] = []
    for passage in passages:
        inside = ((passage.session, at) for at in range(passage.start, passage.end))
        members = [places[place] for place in inside if place in places]
        if members:
            groups.append((passage, members))
    return groups


class Fused:
    """Several retrievers as one, by reciprocal rank fusion."""

    def __init__(self, *retrievers: Retriever, name: str = "hybrid") -> None:
        self.name = name
        self._retrievers = retrievers

    async def observe(self, sessions: Sequence[Session]) -> None:
        """Let each of them listen."""
        for retriever in self._retrievers:
            await retriever.observe(sessions)

    async def retrieve(
        self, question: str, *, level: Level, limit: int, asked_at: datetime | None = None
    ) -> tuple[Passage, ...]:
        """What stands high in their rankings, each counted equally."""
        scores: dict[Passage, float] = {}
        for retriever in self._retrievers:
            found = await retriever.retrieve(
                question, level=level, limit=max(limit, _POOL), asked_at=asked_at
            )
            for rank, passage in enumerate(found, start=1):
                scores[passage] = scores.get(passage, 0.0) + 1 / (RRF + rank)
        return tuple(sorted(scores, key=lambda passage: (-scores[passage], passage))[:limit])

    async def close(self) -> None:
        """Close each of them."""
        for retriever in self._retrievers:
            await retriever.close()


class Everything:
    """No choice at all: the whole conversation, oldest first."""

    name = "full"

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._corpus = Corpus((), counter)

    async def observe(self, sessions: Sequence[Session]) -> None:
        """Keep it all."""
        self._corpus = Corpus(sessions, self._counter)

    async def retrieve(
        self, question: str, *, level: Level, limit: int, asked_at: datetime | None = None
    ) -> tuple[Passage, ...]:
        """Everything there is; `limit` is not heeded, which is the point."""
        return await to_thread.run_sync(self._corpus.passages, level)

    async def close(self) -> None:
        """Nothing is held open."""
