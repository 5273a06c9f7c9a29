"""Dialogues as pages and as rows, and how an index that computes otherwise ranks their turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise
from typing import Any

import numpy as np

from pagestore import Page, PageId, SessionId, SpaceId, Turn
from pagestore.rendering import TurnPart, render_page
from tiermem.embedding.hashed import HashEmbedder
from tiermem.embedding.interface import Lexicon
from tiermem.embedding.words import Stems
from tiermem.index.entries import turn_entries
from tiermem.index.features import Block, RowFeatures, join_blocks, pack, quantise, turn_features
from tiermem.index.row_index import RowIndex
from tiermem.index.rows import ALL_ROWS, RowFilter, RowQuery, Rows
from tiermem.index.values import Timeframe
from tiermem.ledger import owner_of
from tiermem.reading.ranking import (
    CoverRows,
    RankingOptions,
    cover_by_stems,
    cover_rows,
    rank_rows,
    turn_query,
)
from tiermem.text.question import Question

SPACE = SpaceId("rows")
OPTIONS = RankingOptions()

Ranked = list[tuple[int, float]]
"""Sequence numbers of turns with their scores, best first."""


class RoundedEmbedder(HashEmbedder):
    """The hashed embedder with the vectors that rows keep."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        levels, scales = quantise(
            np.array(await super().embed(texts), np.float32).reshape(-1, self.dimensions)
        )
        rounded: list[list[float]] = (levels * scales[:, None].astype(np.float64)).tolist()
        return rounded


EMBEDDER = RoundedEmbedder(64)


@dataclass(frozen=True)
class Said:
    """A turn and where it was said."""

    turn: Turn
    session: str = "main"


def owner_name(agent: str | None) -> str:
    return owner_of([agent]) if agent else ""


def pages_of(said: Iterable[Said], *, turns: int = 4, first: int = 0) -> list[Page]:
    """Pages of so many turns, each of one session and agent; sequence numbers in the order given."""
    threads: dict[tuple[str, str | None], list[TurnPart]] = {}
    for seq, one in enumerate(said, first):
        threads.setdefault((one.session, one.turn.agent), []).append(TurnPart(seq=seq, turn=one.turn))
    return [
        _page(session, agent, number, parts[start : start + turns])
        for (session, agent), parts in threads.items()
        for number, start in enumerate(range(0, len(parts), turns))
    ]


def _page(session: str, agent: str | None, number: int, parts: Sequence[TurnPart]) -> Page:
    text, lines = render_page(parts)
    return Page(
        id=PageId(f"p1:{session}-{agent}-{number}"),
        space=SPACE,
        session=SessionId(session),
        number=number,
        text=text,
        lines=lines,
        tokens=len(text) // 4,
        token_counter="quarter",  # noqa: S106  # it counts tokens
        sealed_at=datetime(2023, 5, 8),  # noqa: DTZ001  # no time zone is needed
        agent=agent,
    )


def features_of(
    pages: Iterable[Page], cut: Callable[[str], Iterable[int]] | None = None
) -> list[RowFeatures]:
    """The rows of all turns in the order of their sequence numbers."""
    rows = [
        turn_features(page, number, owner=owner_name(page.agent), cut=cut)
        for page in pages
        for number, line in enumerate(page.lines)
        if line.turn is not None
    ]
    return sorted(rows, key=lambda row: row.seq)


async def blocks_of(features: Iterable[RowFeatures], embedder: HashEmbedder = EMBEDDER) -> list[Block]:
    """A block of one row for each."""
    features = list(features)
    texts = list(dict.fromkeys(text for row in features for text in row.texts))
    vectors = dict(zip(texts, await embedder.embed(texts), strict=True))
    return [pack([row], vectors, embedder.dimensions) for row in features]


async def rows_of(
    pages: Iterable[Page],
    embedder: HashEmbedder = EMBEDDER,
    *,
    blocks: int = 1,
    cut: Callable[[str], Iterable[int]] | None = None,
) -> Rows:
    """The rows of pages, appended so many at a time; all at once for 0."""
    rows, single = Rows(embedder.dimensions), await blocks_of(features_of(pages, cut), embedder)
    size = blocks or max(1, len(single))
    for start in range(0, len(single), size):
        rows.append(join_blocks(single[start : start + size]))
    return rows


async def query_of(question: Question, embedder: HashEmbedder = EMBEDDER) -> RowQuery:
    vector = (await embedder.embed([question.text]))[0]
    return RowQuery(text=question.text, vector=vector, periods=question.periods)


async def ranked_by_rows(
    rows: Rows,
    question: str,
    allowed: RowFilter = ALL_ROWS,
    *,
    limit: int = OPTIONS.candidates,
    embedder: HashEmbedder = EMBEDDER,
    cover: CoverRows = cover_by_stems,
) -> Ranked:
    read = Question(question, datetime(2023, 6, 1))  # noqa: DTZ001
    found = rows.candidates(await query_of(read, embedder), allowed, limit=limit)
    asked = turn_query(read, found.named, found.rarity)
    ranked = rank_rows(asked, found, cover, OPTIONS)
    return [(int(found.block.rows["seq"][place]), score) for place, score in ranked]


@dataclass
class RankedByIndex:
    """Ranks the turns of pages by the candidates of an index."""

    index: RowIndex

    @classmethod
    async def open(cls, pages: Sequence[Page], embedder: HashEmbedder = EMBEDDER) -> RankedByIndex:
        index, before = RowIndex(embedder), dict[Any, Page]()
        for page in sorted(pages, key=lambda page: page.number):
            entries = turn_entries(page, before.get((page.session, page.agent)), owner=owner_name(page.agent))
            await index.put(SPACE, "turns", entries)
            before[page.session, page.agent] = page
        return cls(index)

    async def rank(
        self,
        question: str,
        *,
        limit: int = OPTIONS.candidates,
        session: str | None = None,
        owners: Sequence[str] | None = None,
        said: tuple[tuple[date, date], ...] | None = None,
        lexicon: Lexicon | None = None,
    ) -> Ranked:
        read = Question(question, datetime(2023, 6, 1))  # noqa: DTZ001
        found = await self.index.turns(
            SPACE,
            question,
            limit=limit,
            session=None if session is None else SessionId(session),
            periods=read.periods,
            within=None if said is None else Timeframe(periods=said),
            owners=owners,
        )
        asked = turn_query(read, found.named, found.rarity)
        ranked = rank_rows(asked, found, cover_rows(lexicon or Stems()), OPTIONS)
        return [(found.seqs[place], score) for place, score in ranked]


def differences(before: Ranked, now: Ranked, *, tolerance: float = 1e-4) -> list[str]:
    """What of a ranking is not in another in the same order; equal scores may be in any order."""
    scores, now_seqs = dict(now), [seq for seq, _ in now]
    found = [f"{seq} is missing" for seq, _ in before if seq not in scores]
    found += [
        f"{seq}: {score} was {then}"
        for seq, then in before
        if (score := scores.get(seq)) is not None and abs(score - then) > tolerance
    ]
    kept = [seq for seq in now_seqs if seq in dict(before)]
    then = dict(before)
    found += [
        f"{one} is before {other}" for one, other in pairwise(kept) if then[one] < then[other] - tolerance
    ]
    return found
