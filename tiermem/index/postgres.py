"""An index in a PostgreSQL database with the extension pgvector, for all spaces of a store.

Vectors are compared exactly where a search may see few entries, else found by HNSW. BM25 is computed in SQL,
with document frequencies of what the caller may see. The tables are in the schema `tiermem_index`, and say
what they were made with. Every write is durable when it returns, and one inside `writing` when that ends.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from copy import copy
from functools import partial
from typing import Any, Literal, LiteralString, Self

from anyio import CancelScope, to_thread

from pagestore import History, SpaceId
from pagestore.errors import PageStoreError
from tiermem.embedding.interface import Embedder
from tiermem.errors import (
    IndexMismatch,
    IndexUnavailable,
    InvalidInput,
    install_command,
)
from tiermem.index.absent import open_or_explain
from tiermem.index.bm25 import Terms, rarity
from tiermem.index.encoding import key
from tiermem.index.folder import description
from tiermem.index.fusion import Ranking
from tiermem.index.interface import Index, IndexRequest
from tiermem.index.ownership import translate_database_errors
from tiermem.index.points import Point, PointFilter, PointIndex, Probe, Vector
from tiermem.index.values import COLLECTIONS, Collection

try:
    from tiermem.storage.postgres.database import (
        Row,
        Statement,
        Transaction,
        acquire_database,
        release_database,
    )
except ImportError as missing:
    raise IndexUnavailable(
        f"an index in PostgreSQL needs a package: {install_command('postgres')}"
    ) from missing

_TABLES: LiteralString = """
CREATE SCHEMA tiermem_index;
CREATE TABLE tiermem_index.description (made_with jsonb NOT NULL);
CREATE TABLE tiermem_index.marks (
  space text COLLATE "C" PRIMARY KEY, seq bigint NOT NULL, digest text NOT NULL
);
CREATE TABLE tiermem_index.points (
  space text COLLATE "C", collection text COLLATE "C", id text COLLATE "C",
  n bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  session text COLLATE "C" NOT NULL, owner text COLLATE "C" NOT NULL, state text COLLATE "C" NOT NULL,
  near text[] NOT NULL, named bigint[] NOT NULL, ranked_by text NOT NULL,
  said_at integer, event_at integer, event_until integer,
  PRIMARY KEY (space, collection, id)
);
CREATE INDEX ON tiermem_index.points USING gin (named);
CREATE TABLE tiermem_index.fields (
  space text COLLATE "C", collection text COLLATE "C", field text COLLATE "C",
  n integer GENERATED ALWAYS AS IDENTITY UNIQUE,
  PRIMARY KEY (space, collection, field)
);
CREATE TABLE tiermem_index.terms (
  field integer, term bigint, point bigint REFERENCES tiermem_index.points (n) ON DELETE CASCADE,
  weight double precision NOT NULL, owner text COLLATE "C" NOT NULL, state text COLLATE "C" NOT NULL,
  PRIMARY KEY (field, term, point) INCLUDE (weight, owner, state)
);
CREATE INDEX ON tiermem_index.terms (point);
CREATE TABLE tiermem_index.vectors (
  point bigint REFERENCES tiermem_index.points (n) ON DELETE CASCADE, n integer,
  vector vector(%d) NOT NULL,
  PRIMARY KEY (point, n)
);
"""
"""Terms and vectors, of which there are many, name their point by its number, and terms their field."""
_FORM = 6
"""The number of this form of the tables."""
_NEAR_INDEX: LiteralString = (
    "CREATE INDEX ON tiermem_index.vectors USING hnsw (vector vector_ip_ops)"
    " WITH (m = 16, ef_construction = 64)"
)
_DIMENSIONS = 2_000
"""The most numbers of a vector that HNSW takes; longer ones are compared exactly."""
EXACT = 3_000
"""Up to so many entries a search by meaning compares every one: that takes some ten milliseconds."""
_SPARE = 4
"""Vectors taken for each entry that is looked for: an entry has several."""
_FIND_TABLE: LiteralString = (
    "SELECT FROM pg_tables WHERE schemaname = 'tiermem_index' AND tablename = 'description'"
)
_ADD_POINTS: LiteralString = (
    "INSERT INTO tiermem_index.points (space, collection, id, session, owner, state, near, named,"
    " ranked_by, said_at, event_at, event_until) SELECT %s, %s, id, session, owner, state,"
    " ARRAY(SELECT jsonb_array_elements_text(near)), ARRAY(SELECT jsonb_array_elements(named)::bigint),"
    " row, said_at, event_at, event_until FROM jsonb_to_recordset(%s::jsonb) AS point("
    "id text, session text, owner text, state text, near jsonb, named jsonb,"
    " row text, said_at integer, event_at integer, event_until integer)"
    " RETURNING id, n"
)
_ADD_FIELDS: LiteralString = (
    "INSERT INTO tiermem_index.fields (space, collection, field)"
    " SELECT %s, %s, unnest(%s::text[]) EXCEPT SELECT space, collection, field FROM tiermem_index.fields"
    " WHERE space = %s AND collection = %s"
)
_FIND_FIELDS: LiteralString = "SELECT field, n FROM tiermem_index.fields WHERE space = %s AND collection = %s"
_ADD_TERMS: LiteralString = (
    "INSERT INTO tiermem_index.terms SELECT * FROM"
    " unnest(%s::integer[], %s::bigint[], %s::bigint[], %s::float8[], %s::text[], %s::text[])"
)
_ADD_VECTORS: LiteralString = (
    "INSERT INTO tiermem_index.vectors SELECT point, n, vector::vector"
    " FROM unnest(%s::bigint[], %s::integer[], %s::text[]) AS added(point, n, vector)"
)
_FIND_EXTENSION: LiteralString = (
    "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions WHERE name = 'vector'"
)
_FIND_MARK: LiteralString = (
    "SELECT made_with::text, seq, digest FROM tiermem_index.description"
    " LEFT JOIN tiermem_index.marks ON space = %s"
)
_DELETE: LiteralString = "DELETE FROM tiermem_index.points WHERE space = %s AND collection = %s"
_DELETE_SOME: LiteralString = _DELETE + " AND id = ANY(%s::text[])"
_DELETE_FIELDS: LiteralString = "DELETE FROM tiermem_index.fields WHERE space = %s AND collection = %s"
_DELETE_MARK: LiteralString = "DELETE FROM tiermem_index.marks WHERE space = %s"
_MARK: LiteralString = (
    "INSERT INTO tiermem_index.marks VALUES (%s, %s, %s)"
    " ON CONFLICT (space) DO UPDATE SET seq = excluded.seq, digest = excluded.digest"
)
# LATERAL and OFFSET 0 say in which order to read, so that speed does not rest on statistics of the tables.
_BY_MEANING: LiteralString = (
    "SELECT id, score FROM tiermem_index.points AS p CROSS JOIN LATERAL"
    " (SELECT max(-(vector <#> %s::vector)) AS score FROM tiermem_index.vectors AS v"
    " WHERE v.point = p.n) AS best"
    " WHERE score IS NOT NULL AND {seen}"
    " ORDER BY round(score::numeric, 5) DESC, id LIMIT %s"
)
"""Equal scores, to the digits that arithmetic keeps, are in the order of their ids."""
_BY_NEAREST: LiteralString = (
    "SELECT id, max(score) AS score FROM"
    " (SELECT id, -(vector <#> %s::vector) AS score FROM tiermem_index.vectors AS v CROSS JOIN LATERAL"
    " (SELECT id FROM tiermem_index.points AS p WHERE p.n = v.point AND {seen} OFFSET 0) AS point"
    " ORDER BY vector <#> %s::vector LIMIT %s) AS nearest"
    " GROUP BY id ORDER BY round(max(score)::numeric, 5) DESC, id LIMIT %s"
)
_NEAREST_SETTINGS: LiteralString = (
    "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),"
    " set_config('hnsw.ef_search', '200', true),"
    # The index gives the order; without statistics the planner may think that sorting all is as fast.
    " set_config('enable_sort', 'off', true)"
)
_FIELD_OF_PROBE: LiteralString = (
    "CROSS JOIN LATERAL (SELECT f.n AS number FROM tiermem_index.fields AS f"
    " WHERE f.space = %s AND f.collection = %s AND f.field = probe.field OFFSET 0) AS of_field"
)
"""The number of the field that a probe names."""
_BY_WORDS: LiteralString = (
    # Sums of integers: entries that are not seen do not change the order of adding, nor the last digits.
    "WITH ranked AS (SELECT n, point, sum((rarity * weight * 1e12)::bigint)::bigint AS score"
    " FROM unnest(%s::integer[], %s::text[], %s::bigint[], %s::float8[]) AS probe(n, field, term, rarity)"
    " {field}"
    " CROSS JOIN LATERAL (SELECT point, weight FROM tiermem_index.terms AS t"
    " WHERE t.field = of_field.number AND t.term = probe.term AND {seen} OFFSET 0) AS holder"
    " GROUP BY n, point),"
    " best AS (SELECT * FROM (SELECT *, rank() OVER (PARTITION BY n ORDER BY score / 10000000 DESC) AS place"
    " FROM ranked) AS placed WHERE place <= %s)"
    " SELECT n, id, score / 1e12 FROM best CROSS JOIN LATERAL (SELECT id FROM tiermem_index.points AS p"
    " WHERE p.n = best.point OFFSET 0) AS point"
    " ORDER BY n, place, id"
)
"""The entries of the best scores of several probes, numbered `n`, each term with its IDF."""
_HOLDERS: LiteralString = (
    "SELECT field, term, entries FROM unnest(%s::text[], %s::bigint[]) AS probe(field, term)"
    " {field}"
    " CROSS JOIN LATERAL (SELECT count(*) AS entries FROM tiermem_index.terms AS t"
    " WHERE t.field = of_field.number AND t.term = probe.term"
    " AND (%s::text[] IS NULL OR owner = ANY(%s)) OFFSET 0) AS holders"
)
_COUNT: LiteralString = "SELECT count(*) FROM tiermem_index.points WHERE {seen}"
_COUNT_SOME: LiteralString = (
    "SELECT count(*) FROM (SELECT FROM tiermem_index.points WHERE {seen} LIMIT %s) AS seen"
)
_LABELS: LiteralString = (
    "SELECT DISTINCT label FROM tiermem_index.points, unnest(named) AS label"
    " WHERE named && %s::bigint[] AND label = ANY(%s::bigint[]) AND {seen}"
)


class PostgresIndex(PointIndex):
    """An index in the database of a URL (`postgresql://…`). Opening blocks until the server answers.

    Raises `IndexUnavailable` where the server cannot be used or has no pgvector, `IndexMismatch` where the
    tables were made with another embedder or schema. The spaces named in `fresh` are forgotten first; tables
    that do not fit are made again then where they hold no other spaces.
    """

    def __init__(
        self, url: str, embedder: Embedder, *, read_only: bool = False, fresh: Sequence[SpaceId] = ()
    ) -> None:
        super().__init__(embedder)
        self._transaction: Transaction | None = None
        """That of `writing`, in which all that is read and written here is."""
        with translate_database_errors():
            self._database = acquire_database(url, self, read_only=read_only, create=True)
        try:
            with translate_database_errors():
                self._agree(read_only=read_only, fresh=fresh)
        except BaseException:
            self._close()
            raise

    def _agree(self, *, read_only: bool, fresh: Sequence[SpaceId]) -> None:
        """Compare what the tables were made with, or make them."""
        mine = self._made_with()
        theirs = self._description()
        if not read_only and (theirs is None or (fresh and theirs != mine)):
            with self._writing("") as transaction:
                theirs = self._description()  # another process may have made them since
                if theirs is not None and theirs != mine:
                    self._drop_tables(transaction, fresh, theirs)
                if theirs != mine:
                    self._make_tables(transaction, mine)
            theirs = self._description()
        if theirs is None:
            raise IndexUnavailable(f"there is no index in {self._database.name} yet")
        self._require_same(theirs)
        for space in fresh:
            self._drop(key(space))

    def _require_same(self, theirs: Mapping[str, Any]) -> None:
        """Raise `IndexMismatch` unless the tables were made with this embedder and schema."""
        mine = self._made_with()
        if theirs != mine:
            raise IndexMismatch(
                f"the index in {self._database.name} was built with {json.dumps(theirs)}, not "
                f"{json.dumps(mine)}; `reindex` rebuilds it from pages and ledger, without model calls"
            )

    def _made_with(self) -> dict[str, Any]:
        """What tables that this index makes are made with."""
        return {**description(self._embedder), "tables": _FORM}

    def _description(self) -> dict[str, Any] | None:
        if not self._database.rows(_FIND_TABLE):
            return None
        rows = self._database.rows("SELECT made_with::text FROM tiermem_index.description")
        return json.loads(rows[0][0]) if rows else None

    def _make_tables(self, transaction: Transaction, mine: Mapping[str, Any]) -> None:
        try:
            transaction.execute(("CREATE EXTENSION IF NOT EXISTS vector", ()))
        except PageStoreError as error:
            raise IndexUnavailable(
                f"{self._database.name} has no pgvector; have its administrator install it and execute "
                f"CREATE EXTENSION vector ({error})"
            ) from error
        tables = (_TABLES % self._embedder.dimensions).split(";\n")
        transaction.execute(*((statement, ()) for statement in tables if statement))
        if self._embedder.dimensions <= _DIMENSIONS:
            transaction.execute((_NEAR_INDEX, ()))
        transaction.execute(("INSERT INTO tiermem_index.description VALUES (%s::jsonb)", [json.dumps(mine)]))

    def _drop_tables(
        self, transaction: Transaction, fresh: Sequence[SpaceId], theirs: Mapping[str, Any]
    ) -> None:
        others = transaction.rows(
            "SELECT FROM tiermem_index.points WHERE NOT space = ANY(%s) LIMIT 1", [list(map(key, fresh))]
        )
        if others:
            raise IndexMismatch(
                f"the index in {self._database.name} was built with {json.dumps(theirs)} and is not made "
                "again: it holds other spaces; use their embedder, or another database"
            )
        transaction.execute(("DROP SCHEMA tiermem_index CASCADE", ()))

    @asynccontextmanager
    async def writing(self, space: SpaceId) -> AsyncIterator[Self]:
        """See `SupportsTransactions.writing`."""
        with translate_database_errors():
            lock = f"index {key(space)}"
            transaction = await self._call(partial(self._database.begin, lock, is_long=True))
        inside = copy(self)
        inside._transaction = transaction  # noqa: SLF001
        try:
            yield inside
            with translate_database_errors():
                await self._call(transaction.commit)
        finally:
            with CancelScope(shield=True), translate_database_errors():
                await to_thread.run_sync(transaction.close)

    @contextmanager
    def _writing(self, space: str) -> Iterator[Transaction]:
        """The transaction of `writing`, or one that is committed at the end."""
        with translate_database_errors():
            if self._transaction is not None:
                yield self._transaction
                return
            with self._database.writing(f"index {space}") as transaction:
                yield transaction

    def _rows(
        self, query: LiteralString, parameters: Sequence[object], *, settings: LiteralString = ""
    ) -> list[Row]:
        with translate_database_errors():
            return (self._transaction or self._database).rows(query, parameters, settings=settings)

    def values(self, space: SpaceId) -> Iterator[tuple[str, str, bytes]]:
        """See `HasTables.values`; without the tables that hold vectors, weights and numbers alone."""
        return self._database.values("tiermem_index", key(space), without=("terms", "vectors"))

    def _upsert(self, collection: Collection, space: str, points: Sequence[Point]) -> None:
        """Insert or replace points."""
        place = (space, collection)
        ids = [point.id for point in points]
        fields = list({field for point in points for field in point.terms})
        with self._writing(space) as transaction:
            transaction.execute(
                (_DELETE_SOME, [*place, ids]),
                (_ADD_FIELDS, [*place, fields, *place]),
            )
            numbers = {str(name): int(n) for name, n in transaction.rows(_FIND_FIELDS, place)}
            added = transaction.rows(_ADD_POINTS, [*place, json.dumps([point.payload for point in points])])
            by_id = {str(point_id): int(n) for point_id, n in added}
            terms = [
                (
                    numbers[field],
                    term,
                    by_id[point.id],
                    weight,
                    point.payload["owner"],
                    point.payload["state"],
                )
                for point in points
                for field, weights in point.terms.items()
                for term, weight in weights.items()
            ]
            vectors = [
                (by_id[point.id], n, _as_text(vector))
                for point in points
                for n, vector in enumerate(point.vectors)
            ]
            transaction.execute(
                (_ADD_TERMS, _columns(terms, 6)),
                (_ADD_VECTORS, _columns(vectors, 3)),
            )

    def _delete(self, collection: Collection, space: str, ids: Sequence[str]) -> None:
        with self._writing(space) as transaction:
            transaction.execute((_DELETE_SOME, [space, collection, list(ids)]))

    def _drop(self, space: str) -> None:
        deletions: list[Statement] = [
            (delete, [space, collection])
            for collection in COLLECTIONS
            for delete in (_DELETE, _DELETE_FIELDS)
        ]
        with self._writing(space) as transaction:
            transaction.execute((_DELETE_MARK, [space]), *deletions)

    def _rank(
        self, collection: Collection, allowed: PointFilter, probes: Sequence[Probe], limit: int
    ) -> list[Ranking]:
        by_terms = [(n, field, by) for n, (field, by) in enumerate(probes) if isinstance(by, dict)]
        found = self._by_words(collection, allowed, by_terms, limit) if by_terms else {}
        return [
            found[n] if isinstance(by, dict) else self._by_vector(collection, allowed, by, limit)
            for n, (_, by) in enumerate(probes)
        ]

    def _by_vector(self, collection: Collection, allowed: PointFilter, by: Vector, limit: int) -> Ranking:
        """The product with the nearest vector of each entry: its cosine, since both have unit length."""
        vector = _as_text(by)
        if self._sees_many(collection, allowed):
            # Fewer than `limit` are found where vectors of others lie before them.
            after = [vector, _SPARE * limit, limit]
            nearest = self._rows_seen(
                _BY_NEAREST, [vector], collection, allowed, after, settings=_NEAREST_SETTINGS
            )
            if len(nearest) == limit:
                return _as_ranking(nearest)
        return _as_ranking(self._rows_seen(_BY_MEANING, [vector], collection, allowed, [limit]))

    def _sees_many(self, collection: Collection, allowed: PointFilter) -> bool:
        """Whether a search may see more entries than are compared one by one, and they are in HNSW."""
        if self._embedder.dimensions > _DIMENSIONS:
            return False
        ((count,),) = self._rows_seen(_COUNT_SOME, [], collection, allowed, [EXACT + 1])
        return bool(count > EXACT)

    def _by_words(
        self,
        collection: Collection,
        allowed: PointFilter,
        probes: Sequence[tuple[int, str, Terms]],
        limit: int,
    ) -> Mapping[int, Ranking]:
        """BM25 of each entry that has one of the terms, for probes with their numbers."""
        asked = [(n, field, term, weight) for n, field, by in probes for term, weight in by.items()]
        terms, corpus = [(field, term) for _, field, term, _ in asked], allowed.corpus
        rarities = self._rarities_of(collection, corpus, self._tally(collection, corpus), terms)
        weighted = [
            (n, field, term, weight * rarity)
            for (n, field, term, weight), rarity in zip(asked, rarities, strict=True)
        ]
        seen, values = _condition_on_terms(collection, allowed)
        found: dict[int, list[tuple[str, float]]] = {n: [] for n, _, _ in probes}
        parameters = [*_columns(weighted, 4), allowed.space, collection, *values, limit]
        for n, entry, score in self._rows(_BY_WORDS.format(field=_FIELD_OF_PROBE, seen=seen), parameters):
            found[n].append((str(entry), float(score)))
        return {n: ranking[:limit] for n, ranking in found.items()}

    def _rarities_of(
        self, collection: Collection, corpus: PointFilter, total: int, terms: Sequence[tuple[str, int]]
    ) -> list[float]:
        """The IDF of terms of fields among all entries of a corpus, `total` in number."""
        owners = _owners(corpus)
        parameters = [*_columns(terms, 2), corpus.space, collection, owners, owners]
        rows = self._rows(_HOLDERS.format(field=_FIELD_OF_PROBE), parameters)
        holders = {(str(field), int(term)): int(count) for field, term, count in rows}
        return [rarity(total, holders.get(term, 0)) for term in terms]

    def _rows_seen(
        self,
        query: LiteralString,
        before: Sequence[object],
        collection: Collection,
        allowed: PointFilter,
        after: Sequence[object] = (),
        *,
        settings: LiteralString = "",
    ) -> list[Row]:
        """The rows of a query on the points that may be seen, with its values before and after those."""
        seen, values = _condition(collection, allowed)
        return self._rows(query.format(seen=seen), [*before, *values, *after], settings=settings)

    def _rarities(self, corpus: PointFilter, total: int, terms: Sequence[int]) -> list[float]:
        return self._rarities_of("turns", corpus, total, [("around", term) for term in terms])

    def _tally(self, collection: Collection, allowed: PointFilter) -> int:
        ((count,),) = self._rows_seen(_COUNT, [], collection, allowed)
        return int(count)

    def _payloads(self, collection: Collection, space: str, ids: Sequence[str]) -> list[Mapping[str, Any]]:
        rows = self._rows(
            "SELECT id, near, ranked_by FROM tiermem_index.points"
            " WHERE space = %s AND collection = %s AND id = ANY(%s::text[])",
            [space, collection, list(ids)],
        )
        return [{"id": id_, "near": near, "row": row} for id_, near, row in rows]

    def _find_labels(self, corpus: PointFilter, labels: Sequence[int]) -> set[int]:
        rows = self._rows_seen(_LABELS, [list(labels), list(labels)], "turns", corpus)
        return {int(label) for (label,) in rows}

    def _mark(self, space: str) -> History:
        ((made_with, seq, digest),) = self._rows(_FIND_MARK, [space])
        self._require_same(json.loads(made_with))  # another process may have made the tables again
        return History() if seq is None else History(seq=int(seq), digest=str(digest))

    def _set_mark(self, space: str, mark: History) -> None:
        with self._writing(space) as transaction:
            transaction.execute((_MARK, [space, mark.seq, mark.digest]))

    def _close(self) -> None:
        release_database(self._database, self)


class StoreIndex(PostgresIndex):
    """The index of a store in the same database. What it holds of another history than the log is useless."""

    exclusive: Literal[True] = True


async def open_database(request: IndexRequest) -> PostgresIndex:
    """`postgresql://…`: the database of this URL."""
    index = await to_thread.run_sync(_opener(PostgresIndex, request.name, request))
    request.closing.push_async_callback(index.close)
    return index


async def open_in_store(request: IndexRequest) -> Index:
    """`pgvector`: the database of the store; read-only, no index where there is none that can be used."""
    return await open_or_explain(_opener(StoreIndex, _require_database(request.database), request), request)


def find_pgvector(url: str | None) -> str:
    """Which pgvector the server of a store has; raises `IndexUnavailable` where it has none.

    Raises what `Database` raises, and `InvalidInput` for a store in no database.
    """
    user = object()
    database = acquire_database(_require_database(url), user, read_only=True, create=False)
    try:
        for (version,) in database.rows(_FIND_EXTENSION):
            return f"pgvector {version}"
    finally:
        release_database(database, user)
    raise IndexUnavailable(f"{database.name} has no pgvector")


def _require_database(url: str | None) -> str:
    if url is None:
        raise InvalidInput(
            "index='pgvector' is in the database of a store in PostgreSQL, and this store is in none: name "
            "a database (index='postgresql://…') or leave it out"
        )
    return url


def _opener(kind: type[PostgresIndex], url: str, request: IndexRequest) -> partial[PostgresIndex]:
    return partial(kind, url, request.embedder, read_only=request.read_only, fresh=request.anew or ())


def _condition(collection: Collection, allowed: PointFilter) -> tuple[LiteralString, list[object]]:
    """A condition on points and its parameters."""
    conditions: list[LiteralString] = ["collection = %s", "space = %s"]
    values: list[object] = [collection, allowed.space]
    if allowed.session is not None:
        conditions.append("session = %s")
        values.append(allowed.session)
    _add_terms_columns(allowed, conditions, values)
    if allowed.among is not None:
        conditions.append("id = ANY(%s::text[])")
        values.append(list(allowed.among))
    for first, last, periods in allowed.when:
        overlaps: LiteralString = first + " <= %s AND " + last + " >= %s"
        conditions.append("(" + " OR ".join([overlaps] * len(periods)) + ")")
        for begin, end in periods:
            values += [end.toordinal(), begin.toordinal()]
    return " AND ".join(conditions), values


def _condition_on_terms(collection: Collection, allowed: PointFilter) -> tuple[LiteralString, list[object]]:
    """A condition on terms and its parameters: by their own columns, and by those of points where needed."""
    conditions: list[LiteralString] = ["true"]
    values: list[object] = []
    _add_terms_columns(allowed, conditions, values)
    if allowed.session is not None or allowed.when or allowed.among is not None:
        seen, more = _condition(collection, allowed)
        conditions.append(
            "EXISTS (SELECT FROM tiermem_index.points AS p WHERE p.n = t.point AND " + seen + " OFFSET 0)"
        )
        values += more
    return " AND ".join(conditions), values


def _add_terms_columns(allowed: PointFilter, conditions: list[LiteralString], values: list[object]) -> None:
    """Add the conditions on state and owners, which points and terms have, and their parameters."""
    if allowed.is_active:
        conditions.append("state = 'active'")
    if allowed.owners is not None:
        conditions.append("owner = ANY(%s)")
        values.append(_owners(allowed))


def _owners(allowed: PointFilter) -> list[str] | None:
    """Whose points are seen; `None` for everybody's."""
    return None if allowed.owners is None else ["", *allowed.owners]


def _as_ranking(rows: Sequence[Row]) -> Ranking:
    return [(str(id_), float(score)) for id_, score in rows]


def _as_text(vector: Vector) -> str:
    """A vector of unit length as pgvector reads it; one of zeros stays as it is."""
    length = math.sqrt(math.fsum(number * number for number in vector)) or 1.0
    return "[" + ",".join(repr(float(number) / length) for number in vector) + "]"


def _columns(rows: Sequence[tuple[object, ...]], width: int) -> list[list[object]]:
    """Rows as columns, as `unnest` takes them."""
    return [[row[column] for row in rows] for column in range(width)]
