"""From sealed pages to the units they prove: an engine asserts, code links, the rest is kept apart.

Without an engine that summarises, units are sentences of the page (`writing.extract`).

Of a claim whose wording code cannot confirm the words it quotes become a unit, in their speaker's own
words; the wording does not. Pages that are read in one call are one ground: a claim may quote several.
What only another memory says is a unit too, and `worded`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from anyio import to_thread

from pagestore import Page, PageId, PageLine
from pagestore.codec import opened_as
from tiermem.errors import InvalidInput
from tiermem.ledger import DistilledEntry, Redistilled, summary_unit_id
from tiermem.llm.meter import count_spending, step
from tiermem.model import (
    EXTRACT,
    IMPORTED,
    Claim,
    LinkedFact,
    Rejected,
    SummaryUnit,
    UnitId,
    UnitKind,
    Usage,
    merge_owners,
)
from tiermem.proof import link, only_concluded, proof_rank
from tiermem.reasoning.interface import Engine
from tiermem.text import omissions_and_count
from tiermem.trust import DEFAULT_TRUST, TrustLevels
from tiermem.writing.extract import extract, extract_turn, imported_facts
from tiermem.writing.importance import importance_of
from tiermem.writing.quotation import quotations


@dataclass(slots=True)
class UnitsMade:
    """What claims about some pages come to: units by id, rejected claims, and how many were only worded."""

    units: dict[UnitId, SummaryUnit] = field(default_factory=dict)
    rejected: list[Rejected] = field(default_factory=list)
    worded: int = 0

    def units_on(self, page_id: PageId) -> tuple[SummaryUnit, ...]:
        """The units whose first span is on a page."""
        return tuple(unit for unit in self.units.values() if unit.spans[0].page_id == page_id)


async def distil(
    pages: Sequence[Page], engine: Engine, trust: TrustLevels = DEFAULT_TRUST
) -> tuple[DistilledEntry, ...]:
    """Ask for the facts of pages in one call and prove each; an entry a page, in order.

    The first entry has the cost of the call, what was rejected and how many claims were only worded.
    Raises what the engine raises. Of an engine that does not summarise the entries are extracts.
    """
    claims: Sequence[Claim] | None = None
    with count_spending() as meter, step("distil"):
        if engine.distil is not None:
            claims = await engine.distil(pages)

    def link_claims() -> tuple[DistilledEntry, ...]:
        if claims is None:
            made = extract_units(pages, trust=trust)
        else:
            made = prove_claims(pages, claims, made_by=engine.name, trust=trust)
        return tuple(
            DistilledEntry(
                page_id=page.id,
                units=made.units_on(page.id),
                rejected=tuple(made.rejected) if at == 0 else (),
                worded=made.worded if at == 0 else 0,
                omissions=lost,
                made_by=EXTRACT if claims is None else engine.name,
                prompts=tuple(meter.prompts),
                usage=meter.total() if at == 0 else Usage(),
                literals=count,
                beside=tuple(other.id for other in pages if other is not page),
                open_id=opened_as(page.space, page),
            )
            for at, page in enumerate(pages)
            for lost, count in [omissions_and_count(page, [unit.text for unit in made.units_on(page.id)])]
        )

    # Linking is pure and takes milliseconds a claim: questions asked meanwhile do not wait for a whole page.
    return await to_thread.run_sync(link_claims)


async def redistil(
    page: Page,
    engine: Engine,
    trust: TrustLevels = DEFAULT_TRUST,
    *,
    hints: tuple[str, ...],
    kept: Sequence[SummaryUnit],
) -> Redistilled:
    """Ask again, with what was lost; only units that say what none of `kept` says are in the entry.

    Raises `InvalidInput` where the engine does not summarise: an extract is the same each time.
    """
    if engine.distil is None:
        raise InvalidInput(
            "a page is summarised again by a language model, and none is named: pass model='…' when the "
            "memory is opened, or set TIERMEM_MODEL"
        )
    with count_spending() as meter, step("distil"):
        claims = await engine.distil([page], hints=hints)

    def link_claims() -> Redistilled:
        made = prove_claims([page], claims, made_by=engine.name, trust=trust)
        lost, count = omissions_and_count(page, [unit.text for unit in (*kept, *made.units.values())])
        return Redistilled(
            page_id=page.id,
            units=tuple(made.units.values()),
            rejected=tuple(made.rejected),
            worded=made.worded,
            hints=hints,
            omissions=lost,
            literals=count,
            made_by=engine.name,
            prompts=tuple(meter.prompts),
            usage=meter.total(),
        )

    return await to_thread.run_sync(link_claims)


def prove_claims(
    pages: Sequence[Page], claims: Iterable[Claim], *, made_by: str, trust: TrustLevels = DEFAULT_TRUST
) -> UnitsMade:
    """The units that the words of these pages prove, each once, and the claims they contradict."""
    made = UnitsMade()
    for claim in claims:
        fact = link(claim, pages)
        if isinstance(fact, Rejected):
            made.rejected.append(fact)
        elif fact.is_supported:
            _add_unit(made, _unit(fact, "summary", pages, made_by, trust))
        else:
            made.worded += 1
            for quoted in quotations(fact, pages):
                unit = _unit(quoted, "quote", pages, made_by, trust)
                _add_unit(made, replace(unit, paraphrase=fact.claim))
    return made


def extract_units(pages: Sequence[Page], *, trust: TrustLevels = DEFAULT_TRUST) -> UnitsMade:
    """Sentences of these pages as units, and all that another memory stated there, each once."""
    made = UnitsMade()
    for page in pages:
        for fact in extract(page):
            _add_unit(made, _unit(fact, "summary", (page,), EXTRACT, trust))
        for fact in imported_facts(page):
            _add_unit(made, _unit(fact, "summary", (page,), IMPORTED, trust))
    return made


def turn_unit(page: Page, line: PageLine, *, trust: TrustLevels) -> SummaryUnit:
    """All words of a turn as a unit, which can be withdrawn and corrected."""
    return _unit(extract_turn(page, line), "summary", (page,), EXTRACT, trust)


def _add_unit(made: UnitsMade, unit: SummaryUnit) -> None:
    made.units.setdefault(unit.id, unit)


def _unit(
    fact: LinkedFact, kind: UnitKind, pages: Sequence[Page], made_by: str, trust: TrustLevels
) -> SummaryUnit:
    page = next(page for page in pages if page.id == fact.spans[0].page_id)
    turn = page.line_at(fact.spans[0].start).turn
    claim = Claim(text=fact.claim, quotes=fact.quotes, event_at=fact.event_at)
    rank = proof_rank(claim, fact.spans, tuple(pages), trust.rank_of)
    return SummaryUnit(
        id=summary_unit_id(page.space, page.id, fact.claim, fact.spans),
        text=fact.claim,
        spans=fact.spans,
        kind=kind,
        session=page.session,
        said_at=turn.said_at if turn is not None else None,
        event_at=fact.event_at,
        scene=fact.scene,
        importance=importance_of(fact.importance, fact.spans, pages),
        made_by=made_by,
        trust=trust.names[rank],
        support="worded" if only_concluded(fact.spans, pages) else fact.support,
        derivations=fact.derivations,
        agents=merge_owners(one.agent for one in pages),
    )
