"""What every vector engine does alike: encode entries, search by meaning and words, fuse, keep marks.

An adapter says how its engine stores, finds and forgets points (blocking); here these calls are
awaited in worker threads. A mark is written only after everything before it is durable, and removed
before anything it covers, so it never claims more than the index holds.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Collection as Collection_
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from anyio import to_thread

from pagestore import History, SessionId, SpaceId
from tiermem.embedding.interface import Embedder, Lexicon
from tiermem.embedding.words import lexicon_of, pieces_of
from tiermem.errors import MemoryClosed
from tiermem.index import encoding
from tiermem.index.bm25 import Terms, dimension, query_stems, query_terms
from tiermem.index.candidates import Candidates, gather_candidates, pack_without_vectors
from tiermem.index.features import Array, Block, join_blocks, turn_features
from tiermem.index.fusion import Ranking, fuse_meaning_and_words, rank_hits
from tiermem.index.newest import Newest
from tiermem.index.question_vectors import QuestionVectors
from tiermem.index.segments import decode_segment, encode_segment
from tiermem.index.values import ALL_TIME, About, Collection, Entry, Hit, Mode, Period, Timeframe
from tiermem.text import without_possessive, words
from tiermem.text.unicode import join_surrogates

T = TypeVar("T")

COLLECTIONS: tuple[Collection, ...] = ("units", "turns")
VECTORS: Mapping[Collection, tuple[str, ...]] = {
    "units": ("meaning",),
    "turns": ("meaning", "exchange"),
}
TERMS: Mapping[Collection, tuple[str, ...]] = {
    "units": ("words",),
    "turns": ("words", "around"),
}
"""What an engine stores of an entry, by field. `meaning` holds several vectors, every other one."""

FILTERED: Mapping[Collection, tuple[str, ...]] = {
    "units": ("space", "session", "state", "owner"),
    "turns": ("space", "session", "state", "owner", "named"),
}
TIMES: Mapping[About, tuple[str, str]] = {
    "said": ("said_at", "said_at"),
    "event": ("event_at", "event_until"),
}
"""From when to when, of what a timeframe may be about."""
TIMED: Mapping[Collection, tuple[str, ...]] = {
    "units": ("said_at", *TIMES["event"]),
    "turns": ("said_at",),
}
"""What filters see: names, and moments."""

VALUES = 256
"""Most names looked at for one question: those of the speakers whom its words may mean."""

BATCH = 256
"""Entries encoded and handed to the engine at a time."""
DEPTH = 50
"""Candidates taken from each ranking before fusing, or twice the limit where that is more."""

SLACK = 10
"""Taken beyond the limit of a single ranking, so that equal scores at its end are cut by id."""

KEPT = 1024
"""Texts of turns whose vectors are kept: a turn is put when it is said, again with those after it, and again
when its page seals. A page's turns are some fifty texts."""

Vector = list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What to rank points by: a vector or term weights, in one of their fields."""

    field: str
    by: Vector | Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One stored thing: its vectors and term weights by field, and what filters see."""

    id: str
    vectors: dict[str, list[Vector]] = field(default_factory=dict)
    terms: dict[str, Terms] = field(default_factory=dict)
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PointFilter:
    """What a search may see. `match` holds the exact values the fields of a point must have."""

    space: str
    match: Mapping[str, str]
    among: tuple[str, ...] | None = None
    """Point ids to which the search is confined; `None` for no such limit."""
    when: tuple[Timeframe, ...] = ()
    """Timeframes, in each of which a point must lie."""
    owners: tuple[str, ...] | None = None
    """Whose points are seen in addition to those without an owner; `None` for all points."""

    @property
    def corpus(self) -> PointFilter:
        """All of the space that is of these owners: the rarity of words and the speakers are those of it."""
        return whole_space(self.match["space"], self.owners)


class ProjectedIndex(ABC):
    """An `Index` over an engine of points. Awaited methods may be called concurrently."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._closed = False
        self._questions = QuestionVectors(embedder)
        self._kept: Newest[tuple[str, str, str]] = Newest()
        """By space, owner and text: the last digits of a vector depend on what was embedded with it."""

    @abstractmethod
    def _upsert(self, collection: Collection, points: Sequence[Point]) -> None: ...

    @abstractmethod
    def _delete(self, collection: Collection, space: str, point_ids: Sequence[str]) -> None: ...

    @abstractmethod
    def _clear(self, collection: Collection, space: str) -> None: ...

    @abstractmethod
    def _find(
        self, collection: Collection, allowed: PointFilter, probes: Sequence[Probe], limit: int
    ) -> list[Ranking]:
        """One ranking of entry keys for each probe; terms have the IDF of `allowed.corpus`."""

    @abstractmethod
    def _tally(self, collection: Collection, scope: PointFilter) -> int:
        """How many points a search may see."""

    @abstractmethod
    def _payloads(
        self, collection: Collection, space: str, point_ids: Sequence[str]
    ) -> list[Mapping[str, Any]]: ...

    @abstractmethod
    def _values(
        self, collection: Collection, corpus: PointFilter, field: str, wanted: Sequence[str]
    ) -> Iterable[str]:
        """Which of the wanted values a field has on any point of the corpus."""

    @abstractmethod
    def _rarities(self, corpus: PointFilter, terms: Sequence[int]) -> list[float]:
        """The IDF of each term among what was said around the turns of a corpus."""

    def _sync(self) -> None:  # noqa: B027  # many engines have nothing to do
        """Make everything put so far durable, where writing does not."""

    @abstractmethod
    def _shut(self) -> None: ...

    async def put(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
        """Insert or replace by id; of entries with one id the last counts."""
        latest = {entry.id: entry for entry in entries}
        by_owner: dict[str, list[Entry]] = {}
        for entry in latest.values():
            by_owner.setdefault(entry.owner, []).append(entry)
        # Each owner's alone: the last digits of a vector depend on what is embedded with it.
        for owner, theirs in by_owner.items():
            for start in range(0, len(theirs), BATCH):
                points = await self._points(space, collection, owner, theirs[start : start + BATCH])
                await self._call(self._upsert, collection, points)

    async def _points(
        self, space: str, collection: Collection, owner: str, entries: Sequence[Entry]
    ) -> list[Point]:
        found = [encoding.encode_entry(entry, collection) for entry in entries]
        rows = await self._rows_of(entries) if collection == "turns" else [{} for _ in entries]
        texts = list(dict.fromkeys(text for one in found for text in (*one.meaning, *one.exchange)))
        once = collection == "turns"
        vectors = await (self._embedded_once(space, owner, texts) if once else self._embed(texts))
        return [
            Point(
                id=encoding.point_id(space, entry.id),
                vectors=_vectors_of(one, vectors),
                terms={name: terms for name, terms in one.terms.items() if terms},
                payload=_payload_of(space, entry) | row,
            )
            for entry, one, row in zip(entries, found, rows, strict=True)
        ]

    async def _rows_of(self, turns: Sequence[Entry]) -> list[dict[str, str]]:
        """What is stored of turns for ranking them."""
        cut = pieces_of(await self.lexicon())
        contexts = [(turn.owner, turn.context) for turn in turns if turn.context is not None]
        rows = (turn_features(one.page, one.line, owner=owner, cut=cut) for owner, one in contexts)
        return [
            {"row": b64encode(encode_segment(pack_without_vectors([row]), 0)).decode("ascii")} for row in rows
        ]

    async def _embed(self, texts: Sequence[str]) -> dict[str, Vector]:
        embedded = await self._embedder.embed(texts) if texts else []
        return dict(zip(texts, embedded, strict=True))

    async def _embedded_once(self, space: str, owner: str, texts: Sequence[str]) -> dict[str, Vector]:
        """Vectors of an owner's texts, kept ones where there are; the newest are kept."""
        keys = {(space, owner, text): text for text in texts}
        kept = {keys[key]: vector for key, vector in self._kept.of(keys).items()}
        vectors = kept | await self._embed([text for text in texts if text not in kept])
        self._kept.put({key: vectors[text] for key, text in keys.items()}, most=KEPT)
        return vectors

    async def remove(self, space: SpaceId, collection: Collection, ids: Sequence[str]) -> None:
        """Forget ids; unknown ids are ignored."""
        if ids:
            points = [encoding.point_id(space, entry) for entry in ids]
            await self._call(self._delete, collection, encoding.key(space), points)

    async def search(
        self,
        space: SpaceId,
        collection: Collection,
        query: str,
        *,
        limit: int,
        mode: Mode = "hybrid",
        session: SessionId | None = None,
        inactive: bool = False,
        within: Timeframe | None = None,
        owners: Collection_[str] | None = None,
    ) -> tuple[Hit, ...]:
        """Best first; equal scores in the order of their ids.

        `score` is the cosine in `dense` mode, BM25 in `words` mode, the fused rank score (0 to 1)
        in `hybrid`; `similarity` is the cosine of the entry's best piece in the modes with meaning.
        """
        query = join_surrogates(query).strip()
        terms = query_terms(query) if mode != "dense" else {}
        if limit < 1 or not query or (mode == "words" and not terms) or _is_empty(within):
            return ()
        allowed = _point_filter(space, session, inactive=inactive, within=within, owners=owners)
        vector = await self._questions.embed(query) if mode != "words" else None
        rank = self._by_one if mode != "hybrid" else self._by_both
        return await self._call(rank, collection, allowed, vector, terms, limit)

    def _by_one(
        self, collection: Collection, allowed: PointFilter, vector: Vector | None, terms: Terms, limit: int
    ) -> tuple[Hit, ...]:
        probe = Probe(field="words", by=terms) if vector is None else Probe(field="meaning", by=vector)
        order = rank_hits(self._find(collection, allowed, [probe], limit + SLACK)[0])[:limit]
        return _hits(order, {} if vector is None else dict(order))

    def _by_both(
        self, collection: Collection, allowed: PointFilter, vector: Vector, terms: Terms, limit: int
    ) -> tuple[Hit, ...]:
        probes = [Probe(field="meaning", by=vector), *([Probe(field="words", by=terms)] if terms else [])]
        meaning, *words = self._find(collection, allowed, probes, max(DEPTH, 2 * limit))
        order = fuse_meaning_and_words(meaning, words[0] if words else ())[:limit]
        similarity = dict(meaning)
        unseen = [entry for entry, _ in order if entry not in similarity]
        if unseen:
            similarity |= self._similarities(collection, allowed, vector, unseen)
        return _hits(order, similarity)

    def _similarities(
        self, collection: Collection, allowed: PointFilter, vector: Vector, entries: Sequence[str]
    ) -> dict[str, float]:
        """Cosines of entries that words found and meaning ranked too low to be a candidate."""
        ids = tuple(_point(allowed, entry) for entry in entries)
        confined = replace(allowed, among=ids)
        return dict(self._find(collection, confined, [Probe(field="meaning", by=vector)], len(ids))[0])

    async def turns(
        self,
        space: SpaceId,
        question: str,
        *,
        limit: int,
        session: SessionId | None = None,
        periods: Sequence[Period] = (),
        within: Timeframe | None = None,
        owners: Collection_[str] | None = None,
    ) -> Candidates:
        """The best `limit` turns in each of three ways and those beside them, with all their scores."""
        question = join_surrogates(question).strip()
        if limit < 1 or not question or _is_empty(within):
            return gather_candidates(pack_without_vectors([]), [], 0)
        vector = await self._questions.embed(question)
        allowed = _point_filter(space, session, inactive=False, within=within, owners=owners)
        then = replace(allowed, when=(*allowed.when, Timeframe(periods=tuple(periods))))
        filters = (allowed, then) if periods else (allowed,)
        return await self._call(self._turns, filters, vector, question, limit)

    def _turns(self, filters: Sequence[PointFilter], vector: Vector, question: str, limit: int) -> Candidates:
        allowed = filters[0]
        asked = {without_possessive(word) for word in words(question)}
        named = frozenset(self._values("turns", allowed.corpus, "named", sorted(asked)))
        stems = query_stems(question, without=named)
        terms = dict.fromkeys(sorted(map(dimension, stems)), 1.0)
        by_words = [Probe(field="words", by=terms), Probe(field="around", by=terms)] if terms else []
        probes = [Probe(field="meaning", by=vector), *by_words]
        rankings = (
            ranking for seen in filters for ranking in self._find("turns", seen, probes, limit + SLACK)
        )
        found = {entry for ranking in rankings for entry, _ in rank_hits(ranking)[:limit]}
        best = self._turn_payloads(allowed, sorted(found))
        best |= self._turn_payloads(allowed, _adjacent(best))
        beyond = self._turn_payloads(allowed, _adjacent(best))
        everything = best | beyond
        confined = replace(allowed, among=tuple(_point(allowed, entry) for entry in everything))
        probes = [Probe(field="meaning", by=vector), Probe(field="exchange", by=vector), *by_words[1:]]
        rarities = self._rarities(allowed.corpus, list(map(dimension, stems)))
        rarity = dict(zip(stems, rarities, strict=True))
        rankings_seen = self._find("turns", confined, probes, len(everything)) if everything else []
        scores = [dict(ranking) for ranking in rankings_seen]
        seen = {entry for ranking in scores for entry in ranking}
        candidates, others = [sorted(some.keys() & seen, key=int) for some in (best, beyond)]
        return gather_candidates(
            _join_rows(everything[entry]["row"] for entry in (*candidates, *others)),
            [[int(near) for near in everything[entry]["near"]] for entry in (*candidates, *others)],
            len(candidates),
            scores=_turn_scores(scores, candidates) if scores else None,
            named=named,
            rarity=rarity,
        )

    def _turn_payloads(self, allowed: PointFilter, entries: Iterable[str]) -> dict[str, Mapping[str, Any]]:
        """What is stored of turns, by their names."""
        points = {_point(allowed, entry): entry for entry in entries}
        found = self._payloads("turns", allowed.match["space"], list(points))
        return {str(payload["id"]): payload for payload in found}

    async def rows(self, space: SpaceId, ids: Sequence[str]) -> Block:
        """The rows of these turns; ids that there are not are left out."""
        points = [encoding.point_id(space, entry) for entry in ids]
        found = await self._call(self._payloads, "turns", encoding.key(space), points)
        return _join_rows(payload["row"] for payload in found)

    async def lexicon(self) -> Lexicon:
        """The embedder's words, or stems."""
        return await lexicon_of(self._embedder)

    async def count(
        self, space: SpaceId, collection: Collection, *, owners: Collection_[str] | None = None
    ) -> int:
        """How many entries of a space are stored, inactive ones included."""
        scope = whole_space(encoding.key(space), _keys_of(owners))
        return await self._call(self._tally, collection, scope)

    async def undated(
        self,
        space: SpaceId,
        collection: Collection,
        *,
        about: About = "said",
        session: SessionId | None = None,
        owners: Collection_[str] | None = None,
    ) -> int:
        """How many active entries have no such time."""
        allowed = _point_filter(space, session, inactive=False, owners=owners)
        dated = replace(allowed, when=(Timeframe(periods=(ALL_TIME,), about=about),))
        there, dated_ones = [await self._call(self._tally, collection, seen) for seen in (allowed, dated)]
        return there - dated_ones

    async def mark(self, space: SpaceId) -> History:
        """The log that this index reflects, up to which record; `History()` when it holds nothing."""
        return await self._call(self._mark, space)

    async def set_mark(self, space: SpaceId, mark: History) -> None:
        """Say what the index reflects of the space: what was put before is made durable first."""
        await self._call(self._set_mark, space, mark)

    async def drop(self, space: SpaceId) -> None:
        """Forget everything of a space, its mark first."""
        self._kept.clear()
        await self._call(self._drop, space)

    def _drop(self, space: str) -> None:
        self._forget_mark(space)
        for collection in COLLECTIONS:
            self._clear(collection, encoding.key(space))

    # The mark's point has no field `space`, so no search, count or clearing of a space ever sees it.

    def _mark(self, space: str) -> History:
        payloads = self._payloads("units", encoding.key(space), [encoding.mark_id(space)])
        if not payloads:
            return History()
        return History(seq=int(payloads[0]["mark"]), digest=str(payloads[0]["history"]))

    def _set_mark(self, space: str, mark: History) -> None:
        self._sync()
        self._upsert("units", [mark_point(space, mark)])
        self._sync()

    def _forget_mark(self, space: str) -> None:
        self._delete("units", encoding.key(space), [encoding.mark_id(space)])
        self._sync()

    async def flush(self) -> None:
        """Make everything put so far durable."""
        await self._call(self._sync)

    async def close(self) -> None:
        """Make everything durable and close the engine. Repeating it does nothing."""
        if not self._closed:
            self._closed = True
            await to_thread.run_sync(self._shut)

    async def _call(self, function: Callable[..., T], *args: object) -> T:
        if self._closed:
            raise MemoryClosed("this index was closed")
        return await to_thread.run_sync(function, *args)


def mark_point(space: str, mark: History) -> Point:
    """The point that holds a space's mark."""
    payload = {"mark_of": encoding.key(space), "mark": mark.seq, "history": mark.digest}
    return Point(id=encoding.mark_id(space), payload=payload)


def _payload_of(space: str, entry: Entry) -> dict[str, Any]:
    """What is stored with the vectors: names and times, never words."""
    context = (
        {
            "near": [encoding.key(turn) for turn in entry.context.near],
            "named": [encoding.key(word) for word in words(entry.context.speaker or "")],
        }
        if entry.context
        else {}
    )
    return {
        **context,
        "space": encoding.key(space),
        "session": encoding.key(entry.session),
        "id": encoding.key(entry.id),
        "state": "active" if entry.active else "inactive",
        **({"owner": encoding.key(entry.owner)} if entry.owner else {}),
        **_times(entry),
    }


def _times(entry: Entry) -> dict[str, str]:
    """When it was said, and from when to when what it says happened; nothing of what is not known."""
    times: dict[str, str] = {}
    if entry.said_at is not None:
        # As the clock on the wall said: engines would turn it into another day.
        times["said_at"] = entry.said_at.replace(tzinfo=None).isoformat()
    if entry.event is not None:
        times |= zip(TIMES["event"], (day.isoformat() for day in entry.event), strict=True)
    return times


def _vectors_of(one: encoding.EncodedEntry, vectors: Mapping[str, Vector]) -> dict[str, list[Vector]]:
    fields = {"meaning": [vectors[text] for text in one.meaning]}
    if one.exchange:
        # The engine brings the sum to unit length.
        together = [math.fsum(parts) for parts in zip(*(vectors[text] for text in one.exchange), strict=True)]
        fields["exchange"] = [together] if any(together) else []
    return {name: found for name, found in fields.items() if found}


def _point(allowed: PointFilter, entry: str) -> str:
    return encoding.point_id(allowed.space, encoding.name_of(entry))


def _adjacent(turns: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The names of turns right before and after some, which are not among these."""
    near = (entry for payload in turns.values() for entry in payload["near"])
    return [entry for entry in dict.fromkeys(near) if entry not in turns]


def _join_rows(rows: Iterable[str]) -> Block:
    return join_blocks([pack_without_vectors([]), *(decode_segment(b64decode(row), 0, 1) for row in rows)])


def _turn_scores(scores: Sequence[Mapping[str, float]], turns: Sequence[str]) -> list[Array]:
    """Meaning, exchange and, where there were keywords, around, of each turn."""
    meaning, exchange, *by_words = scores
    around = by_words[0] if by_words else {}
    near = [meaning.get(turn, 0.0) for turn in turns]
    together = [exchange.get(turn, cosine) for turn, cosine in zip(turns, near, strict=True)]
    return [np.array(one) for one in (near, together, [around.get(turn, 0.0) for turn in turns])]


def _hits(order: Ranking, similarity: Mapping[str, float]) -> tuple[Hit, ...]:
    return tuple(
        Hit(id=encoding.name_of(entry), score=score, similarity=similarity.get(entry))
        for entry, score in order
    )


def _is_empty(within: Timeframe | None) -> bool:
    """Whether nothing can lie in it."""
    return within is not None and not within.periods


def whole_space(space: str, owners: tuple[str, ...] | None = None) -> PointFilter:
    """All unowned entries of a space and those of these owners; names are as engines know them."""
    return PointFilter(space=space, match={"space": space}, owners=owners)


def _point_filter(
    space: str,
    session: str | None,
    *,
    inactive: bool,
    within: Timeframe | None = None,
    owners: Collection_[str] | None = None,
) -> PointFilter:
    match = {"space": encoding.key(space)}
    if session is not None:
        match["session"] = encoding.key(session)
    if not inactive:
        match["state"] = "active"
    return PointFilter(
        space=space,
        match=match,
        when=(within,) if within is not None else (),
        owners=_keys_of(owners),
    )


def _keys_of(owners: Collection_[str] | None) -> tuple[str, ...] | None:
    return None if owners is None else tuple(map(encoding.key, sorted(owners)))
