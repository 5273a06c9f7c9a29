"""Searching that does not fail: by meaning and words, else by words, else in the log itself.

The index is a projection and may lag behind the ledger, be emptied, or be out of reach. What it lacks is
found by its words (`reading.backlog`); that, and every other step down, is said in a `Degradation`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from typing import Literal

import numpy as np
from anyio import to_thread

from pagestore import Page, PageId, PageLine
from pagestore.errors import PageNotFound, PageStoreError
from tiermem.embedding.interface import Lexicon
from tiermem.embedding.words import Stems, pieces_of
from tiermem.errors import (
    BudgetExceeded,
    EmbedderUnavailable,
    ModelError,
    SummaryIndexError,
    TierMemError,
    unexpected,
)
from tiermem.index.bm25 import query_stems
from tiermem.index.candidates import Candidates, gather_candidates, pack_without_vectors
from tiermem.index.features import Block, have_values, turn_features
from tiermem.index.values import About, Collection, Hit, Mode, turn_id
from tiermem.model import Degradation, Evidence, SummaryUnit, UnitId
from tiermem.reading.backlog import Waiting
from tiermem.reading.exact import Exact, exact_texts, may_contain
from tiermem.reading.fusion import AGREEING, fuse, once
from tiermem.reading.options import ReadingOptions
from tiermem.reading.passages import cut_turn
from tiermem.reading.quoting import unit_evidence
from tiermem.reading.ranking import TurnQuery, cover_rows, cover_texts, rank_groups, rank_rows, turn_query
from tiermem.reading.rerank import RanksTurns, Reranker, reranked_turns
from tiermem.reading.turns import (
    FoundTurn,
    RankedTurn,
    candidates_on_pages,
    lines_by_number,
    turns_on_pages,
)
from tiermem.reading.view import View
from tiermem.text import search_stems
from tiermem.text.dates import timestamp
from tiermem.text.question import Question
from tiermem.text.unicode import replace_surrogates

UNITS = 50
"""Units taken from each ranking before they are fused, or as many as are wanted where that is more."""
Strategy = Literal["hybrid", "vector", "fulltext"]
"""How things are looked for: by all signals, by meaning alone, or by words alone (BM25)."""
MODES: Mapping[Strategy, Mode] = {"hybrid": "hybrid", "vector": "dense", "fulltext": "words"}
INDEX_LAGS = "the index has yet to take in"
"""How the reason of a degradation begins while the index lacks some of what was stored."""
EXACT = 100
"""Units and turns that hold most words of an identifier, a phrase or a query as typed: one that contains it
is looked for among them.
"""
EXACT_SCORE = 100.0
"""What an identifier that a turn or a unit contains adds to its score: more than everything else together."""
POWER = 3
"""What BM25 scores of turns are raised to before they are added up for their page."""
DEEPER = 4
"""How many times as many hits are looked through where too few of them may be seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEvidence:
    """Units or pages by rank, hits of nothing this space holds, and what could not run as meant."""

    units: tuple[Evidence, ...] = ()
    pages: tuple[Hit, ...] = ()
    dropped: int = 0
    degradations: tuple[Degradation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """Pages that were read, each with the hit that led to it; ids of no page of this space; damage."""

    read: tuple[tuple[Hit, Page], ...]
    dropped: int = 0
    degradations: tuple[Degradation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """Turns by rank; ids of no page of this space; what could not run as meant."""

    turns: tuple[FoundTurn, ...] = ()
    dropped: int = 0
    degradations: tuple[Degradation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedTurns:
    """Turns by rank, those that were read with their words; ids of no turn; what could not run as meant.

    `likely` are the numbers of those that may contain some of what is asked for letter by letter.
    """

    turns: tuple[RankedTurn | FoundTurn, ...] = ()
    likely: frozenset[int] = frozenset()
    dropped: int = 0
    degradations: tuple[Degradation, ...] = ()


NO_CANDIDATES = gather_candidates(pack_without_vectors([]), [], 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FoundCandidates:
    """Candidates of the index, the numbers of turns of which words alone are known, and what is known of the
    words of the question.
    """

    candidates: Candidates = NO_CANDIDATES
    others: tuple[int, ...] = ()
    named: frozenset[str] = frozenset()
    rarity: Mapping[str, float] = field(default_factory=dict)
    lexicon: Lexicon = field(default_factory=Stems)
    degradations: tuple[Degradation, ...] = ()

    @property
    def count(self) -> int:
        """How many turns that is."""
        return len(self.candidates) + len(self.others)


@dataclass(frozen=True, slots=True, kw_only=True)
class _VisibleCandidates:
    """Candidates that may be seen; ids of no turn; what could not be read."""

    candidates: Candidates
    dropped: int
    degradations: tuple[Degradation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hits:
    hits: tuple[Hit, ...]
    degradations: tuple[Degradation, ...] = ()


class LookUp:
    """Looks up units, turns and pages of one view, for one question, asked at some moment.

    Units and turns that contain an identifier of the question go first. With `as_typed` so do those that
    contain the query as it is. Phrases in quotation marks must be in what is found; those of a question go
    first. See `reading.exact`.

    `at_least` is how many turns are wanted: more candidates are ranked only if the usual ones are fewer, so
    that a larger limit lists the same turns first.
    """

    def __init__(
        self,
        view: View,
        options: ReadingOptions,
        *,
        strategy: Strategy = "hybrid",
        reranker: Reranker | None = None,
        as_typed: bool = False,
        at_least: int = 0,
    ) -> None:
        self.view = view
        self._at_least = at_least
        self._as_typed = as_typed
        self._mode = MODES[strategy]
        self._options = options
        judges: object = reranker if strategy == "hybrid" else None
        self._reranker = judges if isinstance(judges, RanksTurns) else None
        self._usable = True
        self._ranked: dict[Question, RankedTurns] = {}
        self._asked: dict[Question, tuple[TurnQuery, Lexicon]] = {}
        self._exact: dict[Question, Exact] = {}
        self._behind: tuple[Degradation, ...] | None = None

    async def units_or_turns(self, question: Question, *, limit: int) -> FoundEvidence:
        """Units, best first, and among them the turns of pages that are not summarised yet."""
        found, ranked = await self.units(question, limit=limit, extracts=True), await self.rank(question)
        place = {turn.seq: at for at, turn in enumerate(ranked.turns)}
        on_page = turns_on_pages(ranked.turns)
        alone = deque(turn for turn in ranked.turns if not self.view.tier1.is_distilled(turn.page_id))
        merged: list[Evidence | RankedTurn | FoundTurn] = []
        for unit in found.units:
            beside = (
                place[turn.seq]
                for span in unit.spans
                for turn in on_page.get(span.page_id, ())
                if turn.holds(span)
            )
            best = min(beside, default=len(place))
            while alone and place[alone[0].seq] < best:
                merged.append(alone.popleft())
            merged.append(unit)
        first = [*merged, *alone][:limit]  # what is cut off need not be read
        read = await self.read_turns([one for one in first if not isinstance(one, Evidence)])
        turns = {turn.seq: turn.evidence() for turn in read.turns}
        listed = (one if isinstance(one, Evidence) else turns.get(one.seq) for one in first)
        units = tuple(one for one in listed if one is not None)
        degradations = (*found.degradations, *ranked.degradations, *read.degradations)
        return replace(found, units=units, degradations=tuple(dict.fromkeys(degradations)))

    async def units(self, question: Question, *, limit: int, extracts: bool = False) -> FoundEvidence:
        """Units active in the view, best first; hits that name no such unit are dropped and counted.

        Without `extracts` those that say something which their turns do not: an extract is a part of a turn,
        and is listed where it is shared and the turn may not be seen.
        """
        pool = limit if self.view.scope.is_open else max(limit, self._options.as_of_pool)
        found, looked = await self._units(question, limit, pool, extracts)
        before = -1
        while self.view.scope.filters and len(found.units) < limit and looked > before:
            pool, before = pool * DEEPER, looked
            found, looked = await self._units(question, limit, pool, extracts)
        return found

    async def _units(
        self, question: Question, limit: int, pool: int, extracts: bool
    ) -> tuple[FoundEvidence, int]:
        """The units among `pool` hits of each kind, and how many hits there were."""
        exact = self.exact(question)
        found = await self._search("units", question.text, limit=max(pool, UNITS), mode=self._mode)
        newer, cold = await self._unindexed_units(question.text, pool)
        if self._mode != "hybrid" and not extracts:
            hits = fuse(found.hits, newer, cold)
            return await self._found_units(hits, limit, extracts, found.degradations, exact), len(hits)
        turns = await self.rank(question)
        by_turns = self._units_by_turns(turns.turns, extracts)[: max(pool, UNITS)]
        by_text = fuse(found.hits, newer, cold)
        hits = fuse(by_text, by_turns, constant=AGREEING)
        degradations = tuple(dict.fromkeys((*found.degradations, *turns.degradations)))
        return await self._found_units(hits, limit, extracts, degradations, exact), len(hits)

    def exact(self, question: Question) -> Exact:
        """What a question asks for letter by letter."""
        if question not in self._exact:
            dense = self._mode == "dense"
            self._exact[question] = Exact() if dense else exact_texts(question, as_typed=self._as_typed)
        return self._exact[question]

    async def _exact_units(self, exact: Exact) -> list[Hit]:
        """Units that may contain what is wanted, by its words."""
        hits: list[Hit] = []
        for one in exact.texts:
            if search_stems(one.text):
                hits += (await self._search("units", one.text, limit=EXACT, mode="words")).hits
                for others in await self._unindexed_units(one.text, EXACT):
                    hits += others
        return hits

    async def _exact_turns(self, exact: Exact) -> list[int]:
        """Turns that may contain what is wanted: those that hold all its words."""
        seqs: list[int] = []
        for one in exact.texts:
            if search_stems(one.text):
                found = await self._search("turns", one.text, limit=EXACT, mode="words")
                rows = await self._rows([hit.id for hit in found.hits])
                seqs += rows.rows["seq"][may_contain(rows, one)].tolist()
                seqs += [int(hit.id) for hit in await self._unindexed_turns(one.text, EXACT)]
        return list(dict.fromkeys(seqs))

    async def _rows(self, ids: Sequence[str]) -> Block:
        """The rows of turns that the index found."""
        if not ids:
            return pack_without_vectors([])
        return await (await self.view.index()).rows(self.view.ledger.indexed_as, ids)

    async def _unindexed_units(self, query: str, limit: int) -> list[list[Hit]]:
        """The best units that the index lacks, which wait for it and which are cold."""
        waiting, scope, found = await self._waiting(), self.view.scope, list[list[Hit]]()
        for words in (waiting, waiting.cold):
            hits = await words.find("units", query, limit=limit, session=scope.session, sees=scope.sees)
            units = (self.view.tier1.unit(UnitId(hit.id)) for hit in hits)
            found.append(
                [
                    hit
                    for hit, unit in zip(hits, units, strict=True)
                    if unit is not None and scope.sees.unit(unit)
                ]
            )
        return found

    async def _unindexed_turns(self, query: str, limit: int) -> tuple[Hit, ...]:
        """The best turns that wait for the index, by their words."""
        waiting, scope = await self._waiting(), self.view.scope
        return await waiting.find("turns", query, limit=limit, session=scope.session, sees=scope.sees)

    async def _found_units(
        self,
        hits: Sequence[Hit],
        limit: int,
        extracts: bool,
        degradations: tuple[Degradation, ...],
        exact: Exact,
    ) -> FoundEvidence:
        ranked, hits = {hit.id for hit in hits}, once((*hits, *await self._exact_units(exact)))
        units = await self.view.units([hit.id for hit in hits])
        known = [(hit, unit) for hit, unit in zip(hits, units, strict=True) if unit is not None]
        # Ids differ from store to store: units with equal scores are in the order in which they were said.
        known.sort(key=lambda pair: _score_and_place(*pair) if pair[0].id in ranked else _LAST)
        items = [
            unit_evidence(unit, score=hit.score, similarity=hit.similarity)
            for hit, unit in known
            if self._is_listed(unit, extracts)
        ]
        raised = (
            replace(item, score=item.score + exact.count_in(item.text) * EXACT_SCORE)
            for item in items
            if exact.is_allowed(item.text)
        )
        ordered = sorted(raised, key=lambda item: -exact.count_in(item.text))
        return FoundEvidence(
            units=tuple(ordered[:limit]),
            # Where something is not to be seen, most other hits are simply out of sight.
            dropped=len(hits) - len(known) if self.view.scope.is_open and self.view.scope.sees.all else 0,
            degradations=degradations,
        )

    def _is_listed(self, unit: SummaryUnit, extracts: bool) -> bool:
        """Whether a unit says more than a turn that may be seen."""
        return extracts or not unit.is_extract or not self.view.scope.sees.includes(unit.agents)

    def _units_by_turns(self, turns: Iterable[RankedTurn | FoundTurn], extracts: bool) -> list[Hit]:
        """Units that rest on these turns, each as good as the best of its turns."""

        @cache  # many turns are on one page
        def list_units(page_id: PageId) -> list[SummaryUnit]:
            return [
                unit for unit in self.view.tier1.units_of_page(page_id) if self._is_listed(unit, extracts)
            ]

        return [
            Hit(id=unit.id, score=turn.score)
            for turn in turns
            for unit in list_units(turn.page_id)
            if any(turn.holds(span) for span in unit.spans)
        ]

    async def turns(self, question: Question, *, limit: int) -> Turns:
        """The first `limit` turns that may hold what is asked, best first; open pages count."""
        ranked = await self.rank(question)
        found: list[FoundTurn] = []
        degradations = list(ranked.degradations)
        dropped, waiting = ranked.dropped, iter(ranked.turns)
        while batch := tuple(islice(waiting, limit - len(found))):
            read = await self.read_turns(batch)
            found += read.turns
            dropped += read.dropped
            degradations += read.degradations
        return Turns(turns=tuple(found), dropped=dropped, degradations=tuple(dict.fromkeys(degradations)))

    async def read_turns(self, turns: Iterable[RankedTurn | FoundTurn]) -> Turns:
        """The turns with their words, in this order; those that may not be read are left out."""
        turns = tuple(turns)
        ids = dict.fromkeys(turn.page_id for turn in turns if isinstance(turn, RankedTurn))
        read = await self.read([Hit(id=page_id, score=0.0) for page_id in ids], limit=len(ids))
        lines = lines_by_number(page for _, page in read.read)
        found = (turn if isinstance(turn, FoundTurn) else _found_turn(turn, lines) for turn in turns)
        return Turns(
            turns=tuple(turn for turn in found if turn is not None),
            dropped=read.dropped,
            degradations=read.degradations,
        )

    async def rank(self, question: Question) -> RankedTurns:
        """All turns that may hold what is asked, best first; open pages count."""
        if question not in self._ranked:
            by = self._rank if self._mode == "hybrid" else self._rank_by_one
            self._ranked[question] = await self._reorder(question, await by(question))
        return self._ranked[question]

    async def _reorder(self, question: Question, ranked: RankedTurns) -> RankedTurns:
        """The turns in the order of the reranker, where one judges turns; those with an identifier first."""
        exact, options = self.exact(question), self._options
        likely = [turn for turn in ranked.turns if isinstance(turn, FoundTurn) or turn.seq in ranked.likely]
        words = {turn.seq: turn.words() for turn in (await self.read_turns(likely)).turns}
        counts = {seq: count for seq, text in words.items() if (count := exact.count_in(text))}
        raised = (
            replace(turn, score=turn.score + counts[turn.seq] * EXACT_SCORE) if turn.seq in counts else turn
            for turn in ranked.turns
            if not exact.required or exact.is_allowed(words.get(turn.seq, ""))
        )
        turns = sorted(raised, key=lambda turn: -turn.score)
        if self._reranker is None:
            return replace(ranked, turns=tuple(turns))
        read = await self.read_turns(turns[: options.rerank_turns])
        seqs = {turn.seq for turn in turns[: options.rerank_turns]}
        rest = [turn for turn in turns if turn.seq not in seqs]
        reranked, degradations = await reranked_turns(
            self._reranker,
            question,
            read.turns,
            judged=options.rerank_turns,
            sure=options.sure_lead,
            protected=options.protected_similarity,
        )
        ordered = sorted(reranked, key=lambda turn: -exact.count_in(turn.words()))
        moved = (replace(turn, score=place.score) for turn, place in zip(ordered, read.turns, strict=True))
        degradations = (*ranked.degradations, *read.degradations, *degradations)
        return replace(ranked, turns=(*moved, *rest), degradations=degradations)

    async def cut(
        self, question: Question, turn: FoundTurn, fits: Callable[[Evidence], bool]
    ) -> FoundTurn | None:
        """Cut a turn to its passages that match a question, as many as fit; `None` if none fits."""
        asked, lexicon = self._asked.get(question) or (turn_query(question, (), {}), Stems())
        exact = self.exact(question)

        def score(texts: Sequence[str]) -> list[float]:
            covered = cover_texts(asked, texts, lexicon)
            return [share + exact.count_in(text) for share, text in zip(covered, texts, strict=True)]

        return await to_thread.run_sync(cut_turn, turn, score, fits)

    async def _rank(self, question: Question) -> RankedTurns:
        """By meaning, words and all else that `ranking` counts; what the index lacks by its words."""
        limit = self._options.ranking.candidates
        if not self.view.scope.is_told_by_rows:
            limit = max(limit, self._options.as_of_pool)
        wanted = self._at_least if self.view.scope.turns is None else max(limit, self._at_least)
        exact, before = self.exact(question), -1
        containing = await self._containing(exact)
        while True:
            found = await self._with_waiting(await self._candidates(question, limit), question, limit)
            seen = await self._as_seen(found, containing)
            if len(seen.candidates) >= wanted or found.count < limit or found.count <= before:
                break
            limit, before = max(limit * DEEPER, self._at_least), found.count
        asked = turn_query(question, found.named, found.rarity)
        self._asked[question] = asked, found.lexicon
        scores = await to_thread.run_sync(
            rank_rows, asked, seen.candidates, cover_rows(found.lexicon), self._options.ranking
        )
        turns = await self._ranked_turns(seen.candidates, scores)
        likely = {
            seq
            for one in exact.texts
            for seq, may in zip(
                seen.candidates.seqs, may_contain(seen.candidates.block, one).tolist(), strict=True
            )
            if may
        }
        return RankedTurns(
            turns=turns, likely=frozenset(likely), dropped=seen.dropped, degradations=seen.degradations
        )

    async def _ranked_turns(
        self, candidates: Candidates, scores: Sequence[tuple[int, float]]
    ) -> tuple[RankedTurn, ...]:
        places = [place for place, _ in scores]
        rows, meaning = candidates.block.rows[places], candidates.meaning[places].tolist()
        columns = [rows[name].tolist() for name in ("seq", "start", "end")]
        located = await self.view.ledger.locate_turns(columns[0])
        return tuple(
            RankedTurn(
                seq=seq,
                page_id=page_id,
                start=start,
                end=end,
                score=score,
                similarity=None if math.isnan(cosine) else cosine,
            )
            for seq, start, end, (_, score), cosine, page_id in zip(
                *columns, scores, meaning, located, strict=True
            )
            if page_id is not None
        )

    async def _as_seen(self, found: _FoundCandidates, containing: Sequence[int]) -> _VisibleCandidates:
        """The candidates without those that may not be seen, and as much of others as may be.

        `containing` are turns that are candidates as well; of these and of what waits only words are known.
        """
        cut = pieces_of(found.lexicon)
        known = set(found.candidates.seqs[: len(found.candidates)])
        others = [seq for seq in (*containing, *found.others) if seq not in known]
        read = await self._pages_of(others)
        by_words = candidates_on_pages(others, (page for _, page in read.read), cut)
        seqs = found.candidates.seqs
        located = await self.view.ledger.locate_turns(seqs)
        unsure = self.view.withheld({page_id for page_id in located if page_id is not None})
        pages = await self.read([Hit(id=page_id, score=0.0) for page_id in unsure], limit=len(unsure))
        lines = lines_by_number(page for _, page in pages.read)
        lacks = ~have_values(found.candidates.block, self.view.scope.values)
        lacks[len(found.candidates) :] = False
        hidden = [
            no_value or one is None or (one in unsure and seq not in lines)
            for seq, one, no_value in zip(seqs, located, lacks.tolist(), strict=True)
        ]
        candidates = found.candidates
        changed = {
            place: turn_features(page, page.lines.index(line), cut=cut)
            for place, seq in enumerate(seqs)
            if seq in lines
            for page, line in [lines[seq]]
            if self.view.taken_back(page)
        }
        if changed:
            candidates = candidates.with_rows(list(changed), list(changed.values()))
        return _VisibleCandidates(
            candidates=candidates.without(np.array(hidden, bool)).join(by_words),
            dropped=read.dropped + pages.dropped + self._count_missing(located[: len(candidates)]),
            degradations=(*found.degradations, *read.degradations, *pages.degradations),
        )

    async def _containing(self, exact: Exact) -> list[int]:
        """Turns that contain some of what is asked for letter by letter.

        Others that hold its words were looked up for these alone: they must not count for their pages.
        """
        seqs = await self._exact_turns(exact)
        read = await self._pages_of(seqs)
        lines = lines_by_number(page for _, page in read.read)
        said = ((seq, lines[seq][1].turn) for seq in seqs if seq in lines)
        return [seq for seq, turn in said if turn is not None and exact.is_any_in(turn.text)]

    async def _rank_by_one(self, question: Question) -> RankedTurns:
        """The turns by their vectors alone, or by their words alone; by these what the index lacks."""
        wanted = limit = max(self._options.ranking.candidates, self._at_least)
        exact, before = self.exact(question), -1
        containing = await self._containing(exact)
        while True:
            found = await self._search("turns", question.text, limit=limit, mode=self._mode)
            waiting = await self._unindexed_turns(question.text, limit)
            others = dict.fromkeys((*(int(hit.id) for hit in waiting), *containing))
            newer = [Hit(id=turn_id(seq), score=1 / place) for place, seq in enumerate(others, start=1)]
            hits = fuse(found.hits, newer)
            read = await self._pages_of([int(hit.id) for hit in hits])
            lines = lines_by_number(page for _, page in read.read)
            turns = tuple(
                FoundTurn(page=page, line=line, score=hit.score, similarity=hit.similarity)
                for hit in hits
                if int(hit.id) in lines
                for page, line in [lines[int(hit.id)]]
            )
            enough = self.view.scope.turns is None or len(turns) >= wanted
            if enough or len(hits) <= before:
                degradations = (*found.degradations, *read.degradations)
                return RankedTurns(turns=turns, dropped=read.dropped, degradations=degradations)
            limit, before = limit * DEEPER, len(hits)

    async def _with_waiting(
        self, found: _FoundCandidates, question: Question, limit: int
    ) -> _FoundCandidates:
        """What the index found, with the turns it lacks that share most words with the question."""
        waiting, scope = await self._waiting(), self.view.scope
        count = await waiting.count("turns", sees=scope.sees)
        if not count:
            return found
        newer = await waiting.candidates(question, limit=limit, session=scope.session, sees=scope.sees)
        named = found.named | newer.named
        # An index counts for nothing where all that it holds waits to be indexed again.
        indexed = found.candidates.total if waiting.mark >= 0 else 0
        rarities = (indexed, found.rarity), (count, newer.rarity)
        return replace(
            found,
            others=(*newer.seqs[: len(newer)], *found.others),
            named=named,
            rarity={
                stem: _join_rarities(stem, rarities) for stem in query_stems(question.text, without=named)
            },
        )

    async def _candidates(self, question: Question, limit: int) -> _FoundCandidates:
        """From the index by meaning and words; by words alone where there are no vectors."""
        try:
            return await self._from_index(question, limit)
        except (ModelError, BudgetExceeded, EmbedderUnavailable) as error:
            degraded = (_degradation(error, "keywords in the index"),)
        except Exception as error:
            if not _is_of_index(error):
                raise
            return _FoundCandidates(degradations=self._without_index(error).degradations)
        words = await self._search("turns", question.text, limit=limit, mode="words")
        others = tuple(int(hit.id) for hit in words.hits)
        return _FoundCandidates(others=others, degradations=(*degraded, *words.degradations))

    async def _from_index(self, question: Question, limit: int) -> _FoundCandidates:
        index, scope = await self.view.index(), self.view.scope
        found = await index.turns(
            self.view.ledger.indexed_as,
            replace_surrogates(question.text),
            limit=limit,
            session=scope.session,
            periods=question.periods,
            within=scope.within,
            values=scope.values,
            owners=scope.sees.owners,
        )
        return _FoundCandidates(
            candidates=found,
            named=found.named,
            rarity=found.rarity,
            lexicon=await index.lexicon(),
            degradations=await self._degradations_behind(),
        )

    async def _pages_of(self, turns: Sequence[int]) -> Pages:
        """The pages of turns; ids of no turn of this space are dropped and counted."""
        located = await self.view.ledger.locate_turns(turns)
        hits = [Hit(id=page_id, score=0.0) for page_id in dict.fromkeys(located) if page_id is not None]
        read = await self.read(hits, limit=len(hits))
        return replace(read, dropped=read.dropped + self._count_missing(located))

    def _count_missing(self, located: Sequence[PageId | None]) -> int:
        """How many turns have no page; none that shows where something is kept from the asker."""
        return located.count(None) if self.view.scope.sees.all else 0

    async def pages(self, question: Question, *, limit: int, mode: Mode) -> FoundEvidence:
        """Pages by rank, open ones among them: by the words of their turns, or (`hybrid`) by all signals."""
        if self.view.scope.turns is not None:
            # Which of them hold a turn that may be seen, only reading them shows: none is left out before.
            ledger = self.view.ledger
            limit = max(limit, len(await ledger.pages()) + len(await ledger.open_pages()))
        if self._mode == "dense":
            turns = await self.rank(question)
            return FoundEvidence(pages=tuple(_pages_by_turns(turns.turns)), degradations=turns.degradations)
        by_words = await self._pages_by_words(question, limit)
        if "words" in (mode, self._mode):
            return by_words
        turns = await self.rank(question)
        hits = (*_pages_by_turns(turns.turns), *by_words.pages)
        return FoundEvidence(
            pages=once(hits),
            dropped=max(turns.dropped, by_words.dropped),
            degradations=tuple(dict.fromkeys((*turns.degradations, *by_words.degradations))),
        )

    async def _pages_by_words(self, question: Question, limit: int) -> FoundEvidence:
        """Pages by the words of their turns; at least `limit`, where so many hold one of them."""
        wanted = DEEPER * max(limit, self._options.ranking.candidates)
        while True:
            found = await self._search("turns", question.text, limit=wanted, mode="words")
            located = await self.view.ledger.locate_turns([int(hit.id) for hit in found.hits])
            indexed = _pages_by_scores(located, found.hits)
            if len(indexed) >= limit or len(found.hits) < wanted:
                pages = fuse(indexed, await self.find_unindexed_pages(question, limit=limit))
                dropped = self._count_missing(located)
                return FoundEvidence(pages=pages, dropped=dropped, degradations=found.degradations)
            wanted *= DEEPER

    async def find_unindexed_pages(self, question: Question, *, limit: int) -> tuple[Hit, ...]:
        """The pages of which the index does not hold all that share a word with the question."""
        found = await self._unindexed_turns(
            question.text, DEEPER * max(limit, self._options.ranking.candidates)
        )
        located = await self.view.ledger.locate_turns([int(hit.id) for hit in found])
        return tuple(_pages_by_scores(located, found)[:limit])

    async def read(self, hits: Iterable[Hit], *, limit: int, skip: Container[PageId] = ()) -> Pages:
        """The first `limit` pages of `hits` in the view that are not to be skipped, each once."""
        pages: dict[PageId, tuple[Hit, Page]] = {}
        dropped = 0
        degradations: list[Degradation] = []
        waiting = iter(hits)
        while batch := tuple(islice(waiting, limit - len(pages))):
            fetched = await self.view.fetch(PageId(hit.id) for hit in batch)
            for hit in batch:
                page = fetched.pages.get(PageId(hit.id))
                if page is not None and page.id not in skip and self.view.holds(page):
                    pages.setdefault(page.id, (hit, page))
            for page_id, error in fetched.missing.items():
                if isinstance(error, PageNotFound):
                    dropped += 1
                else:
                    degradations.append(_degradation(error, f"without page {page_id}"))
        # What is kept from the asker must look like what does not exist.
        dropped = dropped if self.view.scope.sees.all else 0
        return Pages(read=tuple(pages.values()), dropped=dropped, degradations=tuple(degradations))

    async def _search(self, collection: Collection, query: str, *, limit: int, mode: Mode) -> _Hits:
        """Ask the index, without vectors where there are none; without the index where it is out of use."""
        try:
            try:
                hits = await self._ask(collection, query, limit, mode)
                return _Hits(hits=hits, degradations=await self._degradations_behind())
            except (ModelError, BudgetExceeded, EmbedderUnavailable) as error:
                degraded = (_degradation(error, "keywords in the index"),)
                return _Hits(hits=await self._ask(collection, query, limit, "words"), degradations=degraded)
        except Exception as error:
            if not _is_of_index(error):
                raise
            return self._without_index(error)

    async def _ask(self, collection: Collection, query: str, limit: int, mode: Mode) -> tuple[Hit, ...]:
        index, sees = await self.view.index(), self.view.scope.sees
        return await index.search(
            self.view.ledger.indexed_as,
            collection,
            replace_surrogates(query),
            limit=limit,
            mode=mode,
            session=self.view.scope.session,
            inactive=self.view.scope.as_of is not None,
            within=self.view.scope.within,
            values=self.view.scope.values if collection == "turns" else (),
            owners=sees.owners_of_units if collection == "units" else sees.owners,
        )

    async def undated(self) -> int | None:
        """How many turns, or units where it is asked when things happened, tell no time, so that no timeframe
        finds them; `None` where the index cannot tell, as which of them a filter would leave out.
        """
        scope = self.view.scope
        about: About = "said" if scope.happened is None else "event"
        try:
            index = await self.view.index()
            there = await index.undated(
                self.view.ledger.indexed_as,
                "turns" if about == "said" else "units",
                about=about,
                session=scope.session,
                owners=scope.sees.owners if about == "said" else scope.sees.owners_of_units,
            )
            if about == "event":
                tier1 = self.view.tier1
                others = (unit for unit in tier1.units(scope.session) if not tier1.is_indexed(unit))
                there += sum(map(scope.sees.unit, others))
            return there if not there or scope.by_times_alone else None
        except SummaryIndexError:
            return None
        except (TierMemError, PageStoreError):
            raise
        except Exception as error:  # noqa: BLE001  # logged, and reported as `None`
            unexpected(error, "counting what has no time")
            return None

    async def _waiting(self) -> Waiting:
        """What the index lacks; everything, where it is out of use."""
        return await self.view.waiting(usable=self._usable)

    async def _degradations_behind(self) -> tuple[Degradation, ...]:
        """Said where the index was asked and lacks something of what may be seen; the same all along."""
        if self._behind is None:
            waiting = await self._waiting()
            sees = self.view.scope.sees
            lacking = await waiting.in_words(self.view.scope.session, sees)
            # Whose a page is that cannot be read is not known.
            unreadable = waiting.unread.items() if sees.all else ()
            unread = [_degradation(why, f"without page {page}") for page, why in unreadable]
            self._behind = tuple(unread)
            if lacking:
                reason = f"{INDEX_LAGS} {lacking}"
                lacking_words = Degradation(stage="search", reason=reason, fallback="their words alone")
                self._behind = (lacking_words, *unread)
        return self._behind

    def _without_index(self, error: Exception) -> _Hits:
        self._usable = False
        return _Hits(hits=(), degradations=(_degradation(error, "keywords in the log"),))


_LAST = (math.inf, math.inf, math.inf)


def _join_rarities(stem: str, parts: Iterable[tuple[int, Mapping[str, float]]]) -> float:
    """How rare a stem is in parts of so many turns, each with the IDFs of its stems.

    What is said nowhere is as rare as what is said once: it would outweigh all that can be found.
    """
    turns, holders = 0, 0.0
    for count, rarities in parts:
        turns += count
        if count and stem in rarities:
            holders += (count + 1) / math.exp(rarities[stem]) - 0.5
    return math.log((turns + 1) / (max(1.0, holders) + 0.5))


def _score_and_place(hit: Hit, unit: SummaryUnit) -> tuple[float, float, float]:
    return -hit.score, timestamp(unit.said_at), unit.spans[0].start


def _found_turn(turn: RankedTurn, lines: Mapping[int, tuple[Page, PageLine]]) -> FoundTurn | None:
    """The turn with its words; `None` where it may not be read."""
    if turn.seq not in lines:
        return None
    page, line = lines[turn.seq]
    return FoundTurn(page=page, line=line, score=turn.score, similarity=turn.similarity)


def _pages_by_turns(turns: Sequence[RankedTurn | FoundTurn]) -> list[Hit]:
    """Pages by their turns together, each with the cosine of its nearest turn."""
    nearest: dict[str, float] = {}
    for turn in turns:
        if turn.similarity is not None:
            nearest[turn.page_id] = max(turn.similarity, nearest.get(turn.page_id, -1.0))
    ranked = rank_groups((turn.page_id, turn.score) for turn in turns)
    return [Hit(id=page, score=score, similarity=nearest.get(page)) for page, score in ranked]


def _pages_by_scores(located: Iterable[PageId | None], turns: Iterable[Hit]) -> list[Hit]:
    """Pages by the BM25 scores of their turns: the root of the sum of powers, so poor ones count little."""
    sums: dict[PageId, float] = {}
    for page_id, hit in zip(located, turns, strict=True):
        if page_id is not None:
            sums[page_id] = sums.get(page_id, 0.0) + hit.score**POWER
    ranked = sorted(sums.items(), key=lambda pair: -pair[1])
    return [Hit(id=page_id, score=total ** (1 / POWER)) for page_id, total in ranked]


def scored_by_turns(
    units: Iterable[Evidence], turns: Sequence[RankedTurn | FoundTurn], exact: Exact
) -> tuple[Evidence, ...]:
    """Give units the score of the best of these turns that they rest on, or of the last of all turns.

    What a unit contains of what is asked for letter by letter counts if none of its turns contains it.
    """
    on_page, least = turns_on_pages(turns), min((turn.score for turn in turns), default=0.0)
    scored: list[Evidence] = []
    for unit in units:
        scores = (t.score for s in unit.spans for t in on_page.get(s.page_id, ()) if t.holds(s))
        exactly = least + exact.count_in(unit.text) * EXACT_SCORE
        scored.append(replace(unit, score=max(max(scores, default=least), exactly)))
    return tuple(scored)


def linked_pages(items: Iterable[Evidence]) -> tuple[Hit, ...]:
    """The pages that units link to and turns are on, each once, in the order of their first item."""
    best: dict[PageId, Hit] = {}
    for item in items:
        for span in item.spans:
            best.setdefault(span.page_id, Hit(id=span.page_id, score=item.score, similarity=item.similarity))
    return tuple(best.values())


def _is_of_index(error: Exception) -> bool:
    """Whether an error puts the index out of use: one of its own, or one that nothing expects."""
    return isinstance(error, SummaryIndexError) or not isinstance(error, TierMemError | PageStoreError)


def _degradation(error: Exception, fallback: str) -> Degradation:
    expected = isinstance(error, TierMemError | PageStoreError)
    reason = f"{type(error).__name__}: {error}" if expected else unexpected(error, "searching")
    return Degradation(stage="search", reason=reason, fallback=fallback)
