"""Small real parts: an index in a dict, an engine of plain rules, and dialogue that links without doubt."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from pagestore import History, Page, PageId, SessionId, SpaceId, Turn
from tests.engines import engine
from tests.logs import new_log
from tiermem.embedding.interface import Lexicon
from tiermem.index.candidates import Candidates, pack_without_vectors
from tiermem.index.features import Block, turn_features
from tiermem.index.values import About, Collection, Entry, Hit, Mode, Period, Timeframe
from tiermem.ledger import Ledger, finding_id
from tiermem.model import (
    AnswerId,
    Claim,
    Finding,
    LinkedFact,
    SummaryUnit,
)
from tiermem.proof import link
from tiermem.reasoning import Engine
from tiermem.reasoning.interface import Operation
from tiermem.text import sentences, stems

SPACE = SpaceId("space")
S1 = SessionId("s1")
MOMENT = datetime(2024, 3, 1, 9, 30, tzinfo=UTC)


def turn(text: str, *, speaker: str = "Ann", role: str | None = None, day: int = 1) -> Turn:
    return Turn(
        speaker=speaker, text=text, said_at=datetime(2024, 3, day, tzinfo=UTC), role=role, turn_id=text
    )


GARDEN = (
    turn("Ann planted 12 tomatoes in the garden."),
    turn("Ann bought a red bicycle from Marco."),
    turn("Ann never eats peanuts because of her allergy."),
    turn("Ann visited Lisbon with her sister Clara."),
)


def name_of(space: SpaceId) -> SpaceId:
    """The name of a space in the log, of the one it has in an index."""
    return SpaceId(space.partition("@")[0])


class DictIndex:
    """An index that keeps its entries in dicts and ranks by the words they share with the query.

    It is of one store, and knows spaces by their names alone.
    """

    exclusive: Literal[True] = True

    def __init__(self) -> None:
        self.entries: dict[tuple[SpaceId, Collection], dict[str, Entry]] = {}
        self.marks: dict[SpaceId, History] = {}
        self.fail: Exception | None = None

    def of(self, collection: Collection, space: SpaceId = SPACE) -> dict[str, Entry]:
        return self.entries.setdefault((name_of(space), collection), {})

    async def put(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self._check()
            entry.text.encode()
            self.of(collection, space)[entry.id] = entry

    async def remove(self, space: SpaceId, collection: Collection, ids: Sequence[str]) -> None:
        for entry_id in ids:
            self.of(collection, space).pop(entry_id, None)

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
        values: tuple[int, ...] = (),
        owners: Iterable[str] | None = None,
    ) -> tuple[Hit, ...]:
        self._check()
        wanted = Counter(stems(query))
        hits = [
            Hit(id=entry.id, score=_cosine(wanted, Counter(stems(entry.text))))
            for entry in self.of(collection, space).values()
            if (entry.active or inactive) and session in (None, entry.session)
        ]
        ranked = sorted((hit for hit in hits if hit.score > 0), key=lambda hit: -hit.score)
        return tuple(ranked[:limit])

    async def turns(
        self,
        space: SpaceId,
        question: str,
        *,
        limit: int,
        session: SessionId | None = None,
        periods: Sequence[Period] = (),
        within: Timeframe | None = None,
        values: tuple[int, ...] = (),
        owners: Iterable[str] | None = None,
    ) -> Candidates:
        raise AssertionError("writing looks up no turns")

    async def rows(self, space: SpaceId, ids: Sequence[str]) -> Block:
        contexts = [one.context for one in map(self.of("turns", space).get, ids) if one and one.context]
        return pack_without_vectors([turn_features(context.page, context.line) for context in contexts])

    async def lexicon(self) -> Lexicon:
        raise AssertionError("writing compares no words")

    async def undated(
        self,
        space: SpaceId,
        collection: Collection,
        *,
        about: About = "said",
        session: SessionId | None = None,
        owners: Iterable[str] | None = None,
    ) -> int:
        raise AssertionError("nobody asks for it here")

    async def count(
        self, space: SpaceId, collection: Collection, *, owners: Iterable[str] | None = None
    ) -> int:
        return len(self.entries.get((name_of(space), collection), {}))

    async def mark(self, space: SpaceId) -> History:
        self._check()
        return self.marks.get(name_of(space), History())

    async def set_mark(self, space: SpaceId, mark: History) -> None:
        self._check()
        self.marks[name_of(space)] = mark

    async def drop(self, space: SpaceId) -> None:
        self.entries.pop((name_of(space), "units"), None)
        self.entries.pop((name_of(space), "turns"), None)
        self.marks.pop(name_of(space), None)

    async def flush(self) -> None:
        self._check()

    async def close(self) -> None: ...

    def _check(self) -> None:
        if self.fail is not None:
            raise self.fail


def _cosine(left: Counter[str], right: Counter[str]) -> float:
    shared = sum(left[word] * right[word] for word in left)
    size = math.sqrt(sum(n * n for n in left.values()) * sum(n * n for n in right.values()))
    return shared / size if size else 0.0


@dataclass
class Rules:
    """Judges for writing that keep every sentence as it stands; each can be replaced by a test's own."""

    distils: Callable[[Page], Sequence[Claim]] | None = None
    selects: Callable[[Sequence[LinkedFact]], Sequence[int]] | None = None
    reconciles: Callable[[LinkedFact, Sequence[SummaryUnit]], Operation] | None = None
    calls: Counter[str] = field(default_factory=Counter)

    @property
    def engine(self) -> Engine:
        """These judgements; whatever else is asked for fails."""
        return engine(name="rules", distil=self.distil, select=self.select, reconcile=self.reconcile)

    async def distil(self, pages: Sequence[Page], *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
        self.calls["distil"] += 1
        read = self.distils or claims_of
        return tuple(claim for page in pages for claim in read(page))

    async def select(
        self, question: str, facts: Sequence[LinkedFact], pages: Sequence[Page]
    ) -> tuple[int, ...]:
        self.calls["select"] += 1
        return tuple(self.selects(facts)) if self.selects is not None else tuple(range(len(facts)))

    async def reconcile(self, fact: LinkedFact, neighbours: Sequence[SummaryUnit]) -> Operation:
        self.calls["reconcile"] += 1
        if self.reconciles is not None:
            return self.reconciles(fact, neighbours)
        return Operation(op="ADD", reason="new")


def claims_of(page: Page) -> tuple[Claim, ...]:
    """Every sentence of every turn, said of itself."""
    said = [line.turn.text for line in page.lines if line.turn is not None]
    return tuple(Claim(text=piece.text, quotes=(piece.text,)) for text in said for piece in sentences(text))


async def finding_on(
    ledger: Ledger, text: str, *, answer_id: str = "a1", quote: str | None = None, page: int = 0
) -> Finding:
    """A supported finding whose words are on a page of the ledger, open ones included, from this page on."""
    pages = [await ledger.page(info.id) for info in (await ledger.pages())[page:]]
    fact = link(Claim(text=text, quotes=(quote or text,)), [*pages, *await ledger.open_pages()])
    assert isinstance(fact, LinkedFact), fact
    return Finding(
        id=finding_id(ledger.space, AnswerId(answer_id), fact.claim, fact.spans),
        answer_id=AnswerId(answer_id),
        question="What about Ann?",
        fact=fact,
        session=S1,
    )


async def opened(space: SpaceId = SPACE) -> Ledger:
    return await Ledger.open(new_log(space))


async def pages_in(ledger: Ledger, index: DictIndex) -> set[PageId | None]:
    """The pages of the turns that an index holds; `None` for turns that there are not."""
    return set(await ledger.locate_turns([int(id_) for id_ in index.of("turns")]))
