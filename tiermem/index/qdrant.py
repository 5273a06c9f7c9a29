"""A Qdrant server or cluster by URL, for more than one process or machine; or the client's local mode.

Two collections, `<prefix>-units` and `-turns`, hold all spaces and say in their metadata what they were made
with. Use a server of 1.19 or later: from then on keyword weights are computed over what the caller may see
of the space (in a cluster, over its part on each shard), before over all spaces together.
Local mode (`:memory:` or a directory) scores in Python: it is for tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import lru_cache, partial
from threading import RLock
from typing import Any
from uuid import UUID, uuid5

from anyio import to_thread

from pagestore import History, SpaceId
from tiermem.embedding.interface import Embedder
from tiermem.errors import IndexMismatch, IndexUnavailable, install_command
from tiermem.index import encoding
from tiermem.index.bm25 import Terms, rarity
from tiermem.index.encoding import key
from tiermem.index.folder import description
from tiermem.index.fusion import Ranking
from tiermem.index.interface import IndexRequest
from tiermem.index.points import TERMS, Point, PointFilter, PointIndex, Probe
from tiermem.index.values import COLLECTIONS, Collection, Period
from tiermem.llm.redaction import Redaction, secrets_of, shown_url

try:
    from qdrant_client import QdrantClient, models
    from qdrant_client.http.exceptions import ApiException, UnexpectedResponse
except ImportError as error:
    raise IndexUnavailable(
        f"a Qdrant server needs the client: {install_command('server')}; or use the embedded index"
    ) from error

_DESCRIPTION = "tiermem"
_BATCH = 64
"""Points sent in one request."""
_KEYWORDS = ("space", "session", "owner", "state")
_DAYS: Mapping[Collection, tuple[str, ...]] = {
    "units": ("said_at", "event_at", "event_until"),
    "turns": ("said_at",),
}
"""What filters see of a point."""
_LABELS = 256
"""Most labels of speakers looked at for one question."""
_POINTS = UUID("b3c1b1f6-5a3e-5d0e-9d6f-0c9a5d1f7e21")


class QdrantIndex(PointIndex):
    """An index on a Qdrant server (`http://…`, `https://…`) or in local mode (`:memory:`, a directory).

    `where` is the URL, directory or `:memory:`; the names of its collections begin with `prefix`.
    Opening blocks until the server answers. Raises `IndexUnavailable` when there is none, `IndexMismatch`
    when the collections were made with another embedder or schema. The spaces named in `fresh` are forgotten
    first, and collections that do not fit are deleted then where they hold no others: else that is
    `IndexMismatch` too. `seconds` is the time one request may take.
    """

    def __init__(
        self,
        where: str,
        embedder: Embedder,
        *,
        api_key: str | None = None,
        prefix: str = "tiermem",
        seconds: int = 20,
        fresh: Sequence[SpaceId] = (),
    ) -> None:
        super().__init__(embedder)
        self._names: dict[Collection, str] = {name: f"{prefix}-{name}" for name in COLLECTIONS}
        self._remote = where.startswith(("http://", "https://"))
        self._where = shown_url(where) if self._remote else where
        self._redaction = Redaction((api_key, *secrets_of(where)))
        # The client is safe to share between threads; its local mode is not.
        self._turn: AbstractContextManager[Any] = nullcontext() if self._remote else RLock()
        with self._translate_errors():
            self._client = _client(where, api_key, seconds, remote=self._remote)
        try:
            with self._translate_errors():
                self._agree(fresh=fresh)
        except BaseException:
            self._client.close()
            raise

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        with self._turn:
            try:
                yield
            except (ApiException, OSError, ValueError, RuntimeError) as error:
                reason = self._redaction.in_error(str(error))[:500]
                raise IndexUnavailable(f"Qdrant at {self._where!r} could not be used: {reason}") from (
                    None if self._redaction.tells(error) else error
                )

    def _agree(self, *, fresh: Sequence[SpaceId]) -> None:
        """Compare what the collections were made with, or make them."""
        mine = description(self._embedder)
        if fresh:
            self._forget(fresh, mine)
        there = self._there()
        if "units" in there and len(there) < len(COLLECTIONS):
            # The marks are with the units and speak for all collections.
            missing = [name for name in COLLECTIONS if name not in there]
            raise IndexMismatch(self._message(f"has no {' and no '.join(missing)} collection"))
        for name in reversed(COLLECTIONS):
            if name not in there:
                self._create(name, mine)
            theirs = self._description(name)
            if theirs != mine:
                raise IndexMismatch(
                    self._message(f"was built with {json.dumps(theirs)}, not {json.dumps(mine)}")
                )

    def _there(self) -> set[Collection]:
        return {name for name, full in self._names.items() if self._client.collection_exists(full)}

    def _forget(self, spaces: Sequence[SpaceId], mine: Mapping[str, Any]) -> None:
        """Forget these spaces; collections that were made with something else go if they hold no others."""
        there = self._there()
        descriptions = [self._description(name) for name in COLLECTIONS if name in there]
        if len(there) == len(COLLECTIONS) and all(theirs == mine for theirs in descriptions):
            for space in spaces:
                self._drop(key(space))
            return
        # Older schemas do not say which store a point is of, and no store can use them any more.
        usable = any(theirs.get("schema") == encoding.SCHEMA for theirs in descriptions)
        if usable and any(self._holds_others(name, spaces) for name in there):
            raise IndexMismatch(
                f"the index in {self._names['units']!r} at {self._where!r} does not fit {json.dumps(mine)} "
                "and is not made again: other stores have points there; use their embedder, or another server"
            )
        for name in self._names.values():
            self._client.delete_collection(name)

    def _holds_others(self, collection: Collection, spaces: Sequence[SpaceId]) -> bool:
        """Whether any entry is of a space other than these."""
        own = models.FieldCondition(key="space", match=models.MatchAny(any=[key(space) for space in spaces]))
        marks = models.IsEmptyCondition(is_empty=models.PayloadField(key="space"))
        others = models.Filter(must_not=[own, marks])
        return self._client.count(self._names[collection], count_filter=others, exact=True).count > 0

    def _message(self, what: str) -> str:
        return (
            f"the index in {self._names['units']!r} at {self._where!r} {what}; "
            "`reindex` rebuilds it from pages and ledger, without model calls"
        )

    def _create(self, collection: Collection, description: Mapping[str, Any]) -> None:
        dense = models.VectorParams(
            size=self._embedder.dimensions,
            distance=models.Distance.COSINE,
            multivector_config=models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM),
        )
        try:
            self._client.create_collection(
                self._names[collection],
                vectors_config={"meaning": dense},
                sparse_vectors_config={
                    name: models.SparseVectorParams(modifier=models.Modifier.IDF)
                    for name in TERMS[collection]
                },
                metadata={_DESCRIPTION: dict(description)},
            )
        except UnexpectedResponse as error:
            if error.status_code != 409:  # another process made it a moment ago
                raise
        # Local mode has no payload indexes, and warns about each.
        for field in _KEYWORDS if self._remote else ():
            params = models.KeywordIndexParams(
                type=models.KeywordIndexType.KEYWORD, is_tenant=field == "space"
            )
            self._client.create_payload_index(self._names[collection], field, params)
        for field in (*_DAYS[collection], "named") if self._remote else ():
            numbers = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER)
            self._client.create_payload_index(self._names[collection], field, numbers)

    def _description(self, collection: Collection) -> dict[str, Any]:
        metadata = self._client.get_collection(self._names[collection]).config.metadata or {}
        found = metadata.get(_DESCRIPTION)
        return found if isinstance(found, dict) else {}

    def _upsert(self, collection: Collection, space: str, points: Sequence[Point]) -> None:
        self._send(collection, [_as_point(space, point) for point in points])

    def _send(self, collection: Collection, points: Sequence[models.PointStruct]) -> None:
        for start in range(0, len(points), _BATCH):
            with self._translate_errors():
                self._client.upsert(self._names[collection], points[start : start + _BATCH], wait=True)

    def _delete(self, collection: Collection, space: str, ids: Sequence[str]) -> None:
        self._delete_points(collection, [_point_id(space, id_) for id_ in ids])

    def _delete_points(self, collection: Collection, point_ids: Sequence[str]) -> None:
        selector = models.PointIdsList(points=list(point_ids))
        with self._translate_errors():
            self._client.delete(self._names[collection], selector, wait=True)

    def _rank(
        self, collection: Collection, allowed: PointFilter, probes: Sequence[Probe], limit: int
    ) -> list[Ranking]:
        # What a graph finds depends on all that is in it, also on what may not be seen.
        exact = self._remote and bool(allowed.owners)
        requests = [_request(allowed, probe, limit, exact=exact) for probe in probes]
        with self._translate_errors():
            results = self._client.query_batch_points(self._names[collection], requests)
        return [
            [(hit.payload["id"], hit.score) for hit in result.points if hit.payload] for result in results
        ]

    def _tally(self, collection: Collection, allowed: PointFilter) -> int:
        with self._translate_errors():
            found = self._client.count(self._names[collection], count_filter=_filter(allowed), exact=True)
        return found.count

    def _payloads(self, collection: Collection, space: str, ids: Sequence[str]) -> list[Mapping[str, Any]]:
        return self._retrieve(collection, [_point_id(space, id_) for id_ in ids])

    def _retrieve(self, collection: Collection, point_ids: Sequence[str]) -> list[Mapping[str, Any]]:
        with self._translate_errors():
            found = self._client.retrieve(self._names[collection], list(point_ids), with_payload=True)
        return [point.payload for point in found if point.payload]

    def _find_labels(self, corpus: PointFilter, labels: Sequence[int]) -> set[int]:
        any_label = models.FieldCondition(key="named", match=models.MatchAny(any=list(labels)))
        if not labels:
            return set()
        with self._translate_errors():
            # A point found by one label counts all that it has.
            found = self._client.facet(
                self._names["turns"],
                "named",
                facet_filter=models.Filter(must=[_filter(corpus), any_label]),
                limit=_LABELS,
                exact=True,
            )
        return {int(hit.value) for hit in found.hits} & set(labels)

    def _rarities(self, corpus: PointFilter, total: int, terms: Sequence[int]) -> list[float]:
        # The score of the turn that a term finds first is the IDF times the weight of the term there.
        requests = [_request(corpus, ("around", {term: 1.0}), 1, with_vector=True) for term in terms]
        with self._translate_errors():
            results = self._client.query_batch_points(self._names["turns"], requests)
        unsaid = rarity(total, 0)
        first = [next(iter(result.points), None) for result in results]
        return [
            unsaid if hit is None else hit.score / _terms(hit.vector, "around")[term]
            for hit, term in zip(first, terms, strict=True)
        ]

    # The mark's point has no field `space`, so no search, count or deletion of a space ever sees it.

    def _mark(self, space: str) -> History:
        payloads = self._retrieve("units", [_mark_id(space)])
        if not payloads:
            return History()
        return History(seq=int(payloads[0]["mark"]), digest=str(payloads[0]["history"]))

    def _set_mark(self, space: str, mark: History) -> None:
        payload = {"mark_of": space, "mark": mark.seq, "history": mark.digest}
        self._send("units", [models.PointStruct(id=_mark_id(space), vector={}, payload=payload)])

    def _drop(self, space: str) -> None:
        self._delete_points("units", [_mark_id(space)])
        selector = models.FilterSelector(filter=_filter(PointFilter(space=space)))
        for collection in COLLECTIONS:
            with self._translate_errors():
                self._client.delete(self._names[collection], selector, wait=True)

    def _close(self) -> None:
        with self._turn:
            self._client.close()


async def open_server(request: IndexRequest) -> QdrantIndex:
    """`http://…` or `https://…`: a Qdrant server by its URL."""
    index = await to_thread.run_sync(
        partial(
            QdrantIndex, request.name, request.embedder, api_key=request.api_key, fresh=request.anew or ()
        )
    )
    request.closing.push_async_callback(index.close)
    return index


def _client(where: str, api_key: str | None, seconds: int, *, remote: bool) -> QdrantClient:
    if remote:
        return QdrantClient(url=where, api_key=api_key, timeout=seconds, check_compatibility=False)
    if where == ":memory:":
        return QdrantClient(":memory:", force_disable_check_same_thread=True)
    return QdrantClient(path=where, force_disable_check_same_thread=True)


@lru_cache(maxsize=2**14)
def _point_id(space: str, id_: str) -> str:
    """The server's id of an entry, the same wherever and whenever it is put."""
    return str(uuid5(uuid5(_POINTS, space), id_))


def _mark_id(space: str) -> str:
    """The server's id of the point that holds the mark of a space; no entry can have it."""
    return str(uuid5(_POINTS, "mark of " + space))


def _as_point(space: str, point: Point) -> models.PointStruct:
    vectors: dict[str, Any] = {"meaning": point.vectors} if point.vectors else {}
    for name, terms in point.terms.items():
        vectors[name] = models.SparseVector(indices=list(terms), values=list(terms.values()))
    known = {name: value for name, value in point.payload.items() if value is not None}
    if not known["owner"]:
        del known["owner"]
    return models.PointStruct(
        id=_point_id(space, point.id), vector=vectors, payload={**known, "space": space}
    )


def _terms(vectors: Any, field: str) -> Terms:
    return dict(zip(vectors[field].indices, vectors[field].values, strict=True))


def _request(
    allowed: PointFilter, probe: Probe, limit: int, *, exact: bool = False, with_vector: bool = False
) -> models.QueryRequest:
    field, by = probe
    query: models.SparseVector | list[list[float]]
    if isinstance(by, dict):
        query = models.SparseVector(indices=list(by), values=list(by.values()))
        # IDF over what may be seen: what others store neither shows in a score nor moves a rank.
        params = models.SearchParams(idf=models.IdfCorpusParams(corpus=_filter(allowed.corpus)))
    else:
        query = [by]
        params = models.SearchParams(exact=True) if exact else models.SearchParams()
    return models.QueryRequest(
        query=models.NearestQuery(nearest=query),
        using=field,
        filter=_filter(allowed),
        params=params,
        limit=limit,
        with_payload=["id"],
        with_vector=[field] if with_vector else False,
    )


def _filter(allowed: PointFilter) -> models.Filter:
    state = "active" if allowed.is_active else None
    values = {"space": allowed.space, "session": allowed.session, "state": state}
    conditions: list[Any] = [
        models.FieldCondition(key=name, match=models.MatchValue(value=value))
        for name, value in values.items()
        if value is not None
    ]
    if allowed.owners is not None:
        unowned = models.IsEmptyCondition(is_empty=models.PayloadField(key="owner"))
        owned = models.FieldCondition(key="owner", match=models.MatchAny(any=list(allowed.owners)))
        conditions.append(models.Filter(should=[unowned, *([owned] if allowed.owners else [])]))
    if allowed.among is not None:
        ids = [_point_id(allowed.space, id_) for id_ in allowed.among]
        conditions.append(models.HasIdCondition(has_id=list(ids)))
    conditions += [
        models.Filter(should=[_overlap(first, last, period) for period in periods])
        for first, last, periods in allowed.when
    ]
    return models.Filter(must=conditions)


def _overlap(first: str, last: str, period: Period) -> models.Filter:
    """Whether it begins before the period ends, and ends after it begins."""
    begins = models.Range(lte=period[1].toordinal())
    ends = models.Range(gte=period[0].toordinal())
    return models.Filter(
        must=[models.FieldCondition(key=first, range=begins), models.FieldCondition(key=last, range=ends)]
    )


def check_server(url: str, *, api_key: str | None = None, seconds: int = 5) -> None:
    """Ask a Qdrant server for its collections; raises `IndexUnavailable` where that fails. Blocking."""
    with closing(_client(url, api_key, seconds, remote=True)) as client:
        try:
            client.get_collections()
        except (ApiException, OSError, ValueError) as error:
            raise IndexUnavailable(
                f"Qdrant at {shown_url(url)!r} cannot be reached ({type(error).__name__})"
            ) from None
