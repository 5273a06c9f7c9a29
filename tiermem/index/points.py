"""An index whose rows are points on a server, which ranks them: what is the same for every server.

An adapter says how its server stores, ranks and returns points (blocking). A point has the vectors and the
weights of terms by which it is found, and the row by which it is ranked, with the same numbers as in an index
that is searched in memory. It holds no words and no names but the id of its entry and the name of its space.

A mark is written only after everything before it, and removed before anything that it covers.
"""

from __future__ import annotations

from abc import abstractmethod
from base64 import b64decode, b64encode
from collections.abc import Collection as Collection_
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, LiteralString

import numpy as np

from pagestore import History, SpaceId
from tiermem.embedding.interface import Embedder
from tiermem.errors import IndexMismatch
from tiermem.index.base import DEPTH, BaseIndex
from tiermem.index.bm25 import AVERAGE_STEMS, Terms, dimension, query_stems, weigh_terms
from tiermem.index.candidates import Candidates, gather_candidates
from tiermem.index.encoding import key, name_of
from tiermem.index.features import (
    HAS_WHOLE,
    Block,
    RowFeatures,
    count_terms,
    hash_name,
    join_blocks,
    name_label,
    pack,
)
from tiermem.index.fusion import Ranking, fuse_meaning_and_words, rank_hits
from tiermem.index.newest import Newest
from tiermem.index.rows import RowFilter, RowQuery, Rows
from tiermem.index.segments import decode_segment, encode_segment
from tiermem.index.values import Collection, Entry, Hit, Period, turn_id
from tiermem.text import without_possessive, words
from tiermem.text.long_runs import shorten_runs

TERMS: Mapping[Collection, tuple[str, ...]] = {"units": ("words",), "turns": ("words", "around")}
"""The terms of an entry, by field."""

SLACK = 10
"""Taken beyond the limit of a single ranking, so that equal scores at its end are cut by id."""

KEPT = 1024
"""Texts of turns whose vectors are kept: a turn is put when it is said, and again with those after it."""

Vector = list[float]

Probe = tuple[str, Vector | Terms]
"""What to rank points by: a vector (`meaning`), or the weights of terms of one of their fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One stored thing: its vectors, its terms by field, and what filters see, without names.

    `payload` has `id`, `session`, `owner` (empty for none), `state`, `near` (the ids of the adjacent turns),
    `named` (the labels of the speaker), `row`, and as days `said_at`, `event_at` and `event_until`, `None`
    where not known.
    """

    id: str
    vectors: list[Vector] = field(default_factory=list)
    terms: dict[str, Terms] = field(default_factory=dict)
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PointFilter:
    """Which points of a space may be seen, with sessions and owners as points have them.

    A point is of one of `owners`, or of none. Of each of `when` it lies in one of the periods, by the names
    of its first and its last day.
    """

    space: str
    session: str | None = None
    owners: tuple[str, ...] | None = None
    is_active: bool = False
    when: tuple[tuple[LiteralString, LiteralString, tuple[Period, ...]], ...] = ()
    among: tuple[str, ...] | None = None
    """Ids to which the search is confined; `None` for no such limit."""

    @property
    def corpus(self) -> PointFilter:
        """All of the space that is of these owners: the rarity of words and the speakers are those of it."""
        return PointFilter(space=self.space, owners=self.owners)


class PointIndex(BaseIndex):
    """An `Index` over a server of points. Ids are as `key` makes them."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._kept: Newest[tuple[SpaceId, str, str]] = Newest()
        """By space, owner and text: the last digits of a vector depend on what was embedded with it."""

    @abstractmethod
    def _upsert(self, collection: Collection, space: str, points: Sequence[Point]) -> None: ...

    @abstractmethod
    def _delete(self, collection: Collection, space: str, ids: Sequence[str]) -> None: ...

    @abstractmethod
    def _rank(
        self, collection: Collection, allowed: PointFilter, probes: Sequence[Probe], limit: int
    ) -> list[Ranking]:
        """One ranking of ids for each probe; terms have the IDF of `allowed.corpus`."""

    @abstractmethod
    def _tally(self, collection: Collection, allowed: PointFilter) -> int:
        """How many points may be seen."""

    @abstractmethod
    def _payloads(self, collection: Collection, space: str, ids: Sequence[str]) -> list[Mapping[str, Any]]:
        """`id`, `near` and `row` of points; ids that there are not are left out."""

    @abstractmethod
    def _find_labels(self, corpus: PointFilter, labels: Sequence[int]) -> Iterable[int]:
        """Which of the labels a speaker of the turns of a corpus has."""

    @abstractmethod
    def _rarities(self, corpus: PointFilter, total: int, terms: Sequence[int]) -> list[float]:
        """The IDF of each term among what was said around the turns of a corpus, `total` in number."""

    @abstractmethod
    def _mark(self, space: str) -> History: ...

    @abstractmethod
    def _set_mark(self, space: str, mark: History) -> None: ...

    @abstractmethod
    def _drop(self, space: str) -> None:
        """Delete the mark of a space, then its points."""

    async def _put_batch(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
        rows = await self._features(collection, entries)
        texts = list(dict.fromkeys(text for row in rows for text in row.texts))
        is_put_again = collection == "turns"
        vectors = await (
            self._embed_once(space, entries[0].owner, texts) if is_put_again else self._embed(texts)
        )
        points = [
            _point(collection, entry, row, vectors, self._embedder.dimensions)
            for entry, row in zip(entries, rows, strict=True)
        ]
        await self._call(self._upsert, collection, key(space), points)

    async def _embed_once(
        self, space: SpaceId, owner: str, texts: Sequence[str]
    ) -> Mapping[str, Sequence[float]]:
        """Vectors of texts of an owner, kept ones where there are; the newest are kept."""
        keys = {(space, owner, text): text for text in texts}
        kept = {keys[one]: vector for one, vector in self._kept.of(keys).items()}
        vectors = {**kept, **await self._embed([text for text in texts if text not in kept])}
        self._kept.put({one: vectors[text] for one, text in keys.items()}, most=KEPT)
        return vectors

    async def remove(self, space: SpaceId, collection: Collection, ids: Sequence[str]) -> None:
        """Forget ids; unknown ids are ignored."""
        if ids:
            await self._call(self._delete, collection, key(space), list(map(key, ids)))

    def _find(
        self,
        space: SpaceId,
        collection: Collection,
        query: RowQuery,
        allowed: RowFilter,
        limit: int,
    ) -> tuple[Hit, ...]:
        vector, probes = query.vector, _probes(query.vector, query_stems(query.text), ("words",))
        depth = max(DEPTH, 2 * limit) if len(probes) > 1 else limit + SLACK
        rankings = self._rank(collection, _point_filter(space, allowed), probes, depth)
        fused = fuse_meaning_and_words(*rankings) if len(rankings) > 1 else rank_hits(rankings[0])
        ids = [id_ for id_, _ in fused[:limit]]
        cosines: dict[str, float | None] = {}
        if vector is not None:
            near: dict[str, float | None] = dict(rankings[0])
            block, order, _ = self._read(collection, space, [id_ for id_ in ids if id_ not in near])
            rows = self._rows_of(collection, block)
            cosines = near | dict(zip(order, rows.similarities(vector, range(len(rows))), strict=True))
        return tuple(
            Hit(id=name_of(id_), score=score, similarity=cosines.get(id_)) for id_, score in fused[:limit]
        )

    def _candidates(self, space: SpaceId, query: RowQuery, allowed: RowFilter, limit: int) -> Candidates:
        allowed = replace(allowed, values=())  # a server ranks all
        seen = _point_filter(space, allowed)
        asked = {name_label(word): word for word in map(without_possessive, words(query.text))}
        labels = self._find_labels(seen.corpus, list(asked))
        named = frozenset(asked[label] for label in labels)
        stems = query_stems(query.text, without=named)
        total = self._tally("turns", seen.corpus)
        rarities = self._rarities(seen.corpus, total, list(map(dimension, stems)))
        then = replace(seen, when=(*seen.when, ("said_at", "said_at", query.periods)))
        filters = (seen, then) if query.periods else (seen,)
        probes = _probes(query.vector, stems, ("words", "around"))
        rankings = (ranking for one in filters for ranking in self._rank("turns", one, probes, limit + SLACK))
        found = {id_ for ranking in rankings for id_, _ in rank_hits(ranking)[:limit]}
        candidates = self._gather(space, query, allowed, found)
        count, around = len(candidates), np.zeros(len(candidates))
        if stems and count:
            among = tuple(map(turn_id, candidates.seqs[:count]))
            probes = _probes(None, stems, ("around",))
            scores = dict(self._rank("turns", replace(seen, among=among), probes, count)[0])
            around = np.array([scores.get(id_, 0.0) for id_ in among])
        rarity = dict(zip(stems, rarities, strict=True))
        return replace(candidates, around=around, named=named, rarity=rarity, total=total)

    def _gather(
        self, space: SpaceId, query: RowQuery, allowed: RowFilter, found: Collection_[str]
    ) -> Candidates:
        """The turns of these ids, those adjacent to them, and those adjacent to these, as far as seen."""
        parts = [self._read("turns", space, sorted(found))]
        for _ in range(2):
            known = {id_ for _, ids, _ in parts for id_ in ids}
            adjacent = dict.fromkeys(id_ for _, _, near in parts for some in near for id_ in some)
            parts.append(self._read("turns", space, [id_ for id_ in adjacent if id_ not in known]))
        block = join_blocks([one for one, _, _ in parts])
        near = [list(map(int, some)) for _, _, all_near in parts for some in all_near]
        is_candidate = np.arange(len(near)) < len(parts[0][1]) + len(parts[1][1])
        order = np.lexsort((block.rows["seq"], ~is_candidate))
        order = order[self._rows_of("turns", block).visible(allowed)[order]]
        block, numbers = block.select(order), np.arange(is_candidate[order].sum())
        candidates = gather_candidates(
            block.without_vectors(), [near[place] for place in order], len(numbers)
        )
        if query.vector is None:
            return candidates
        rows = self._rows_of("turns", block)
        meaning, exchange = rows.score_near(query.vector, numbers, candidates.before)
        return replace(candidates, meaning=meaning, exchange=exchange)

    def _rows_of(self, collection: Collection, block: Block) -> Rows:
        rows = Rows(self._embedder.dimensions, kind=collection)
        rows.append(block)
        return rows

    def _read(
        self, collection: Collection, space: str, ids: Sequence[str]
    ) -> tuple[Block, list[str], list[Sequence[str]]]:
        """The rows of points, their ids, and the ids of the turns adjacent to each."""
        found = self._payloads(collection, key(space), ids) if ids else []
        try:
            blocks = [decode_segment(b64decode(one["row"]), 0, self._embedder.dimensions) for one in found]
        except ValueError as error:
            raise IndexMismatch(
                f"a row of the index is damaged ({error}); `reindex` rebuilds it, without model calls"
            ) from error
        nothing = pack([], {}, self._embedder.dimensions)
        return (
            join_blocks([nothing, *blocks]),
            [str(one["id"]) for one in found],
            [one["near"] for one in found],
        )

    def _select(self, space: SpaceId, ids: Sequence[str]) -> Block:
        return self._read("turns", space, list(map(key, ids)))[0].without_vectors()

    def _count(self, space: SpaceId, collection: Collection, allowed: RowFilter) -> int:
        return self._tally(collection, _point_filter(space, allowed))

    async def mark(self, space: SpaceId) -> History:
        """The log that this index reflects, up to which record; `History()` when it holds nothing."""
        return await self._call(self._mark, key(space))

    async def set_mark(self, space: SpaceId, mark: History) -> None:
        """Say what the index reflects of the space."""
        await self._call(self._set_mark, key(space), mark)

    async def drop(self, space: SpaceId) -> None:
        """Forget everything of a space, its mark first."""
        self._kept.clear()
        await self._call(self._drop, key(space))

    async def flush(self) -> None:
        """Do nothing: what is put is durable."""
        await self._call(lambda: None)


def _point(
    collection: Collection, entry: Entry, row: RowFeatures, vectors: Mapping[str, Sequence[float]], width: int
) -> Point:
    context = entry.context if collection == "turns" else None
    terms = {"words": weigh_terms(row.terms, AVERAGE_STEMS[collection])}
    if context is not None:
        around = count_terms(shorten_runs(context.around))
        terms["around"] = weigh_terms(around, AVERAGE_STEMS["around"])
    event = row.event or (None, None)
    payload = {
        "id": key(entry.id),
        "session": _hex(entry.session),
        "owner": _hex(entry.owner) if entry.owner else "",
        "state": "active" if entry.active else "inactive",
        "near": [] if context is None else list(map(key, context.near)),
        "named": list(row.labels),
        "said_at": row.day or None,
        "event_at": event[0],
        "event_until": event[1],
        "row": b64encode(encode_segment(pack([row], vectors, width), 0)).decode("ascii"),
    }
    sentences = row.texts[1:] if row.flags & HAS_WHOLE else row.texts
    return Point(
        id=key(entry.id),
        vectors=[list(vectors[text]) for text in sentences],
        terms={name: some for name, some in terms.items() if some},
        payload=payload,
    )


def _hex(name: str) -> str:
    """The hash of a name, as points have it."""
    return f"{hash_name(name):016x}"


def _probes(vector: Sequence[float] | None, stems: Sequence[str], fields: Sequence[str]) -> list[Probe]:
    terms = dict.fromkeys(sorted(map(dimension, stems)), 1.0)
    by_vector: list[Probe] = [] if vector is None else [("meaning", list(vector))]
    return [*by_vector, *((name, terms) for name in fields if terms)]


def _point_filter(space: SpaceId, allowed: RowFilter) -> PointFilter:
    said = () if allowed.said is None else (("said_at", "said_at", allowed.said),)
    events = () if allowed.events is None else (("event_at", "event_until", allowed.events),)
    return PointFilter(
        space=key(space),
        session=None if allowed.session is None else _hex(allowed.session),
        owners=None if allowed.owners is None else tuple(sorted(map(_hex, allowed.owners))),
        is_active=not allowed.inactive,
        when=(*said, *events),
    )
