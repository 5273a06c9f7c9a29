"""From a sealed page to the units it proves: an engine asserts, code links, the rest is kept apart."""

from __future__ import annotations

import math
from collections.abc import Sequence

from anyio import to_thread

from pagestore import Page
from tiermem.dialogue.trust import DEFAULT_TRUST, TrustLevels
from tiermem.ledger import Distilled, Redistilled, summary_unit_id
from tiermem.llm.meter import counted, step
from tiermem.model import Claim, LinkedFact, Rejected, SummaryUnit, is_proved
from tiermem.reasoning.interface import Engine
from tiermem.text import link, omissions, page_literals, proof_rank


async def distil(page: Page, engine: Engine, trust: TrustLevels = DEFAULT_TRUST) -> Distilled:
    """Ask for the facts of a page and prove each; raises what the engine raises."""
    with counted() as meter, step("distil"):
        claims = await engine.distil([page])

    def linked() -> Distilled:
        units, rejected = proved(page, claims, made_by=engine.name, trust=trust)
        return Distilled(
            page_id=page.id,
            units=units,
            rejected=rejected,
            omissions=omissions(page, [unit.text for unit in units]),
            made_by=engine.name,
            prompts=tuple(meter.prompts),
            usage=meter.total(),
            literals=len(page_literals(page)),
        )

    # Linking is pure and takes milliseconds a claim: questions asked meanwhile do not wait for a whole page.
    return await to_thread.run_sync(linked)


async def redistil(
    page: Page,
    engine: Engine,
    trust: TrustLevels = DEFAULT_TRUST,
    *,
    hints: tuple[str, ...],
    kept: Sequence[SummaryUnit],
) -> Redistilled:
    """Ask again, told what was lost; only units that say what none of `kept` says are in the entry."""
    with counted() as meter, step("distil"):
        claims = await engine.distil([page], hints=hints)

    def linked() -> Redistilled:
        units, rejected = proved(page, claims, made_by=engine.name, trust=trust)
        texts = [unit.text for unit in (*kept, *units)]
        return Redistilled(
            page_id=page.id,
            units=units,
            rejected=rejected,
            hints=hints,
            omissions=omissions(page, texts),
            literals=len(page_literals(page)),
            made_by=engine.name,
            prompts=tuple(meter.prompts),
            usage=meter.total(),
        )

    return await to_thread.run_sync(linked)


def proved(
    page: Page, claims: Sequence[Claim], *, made_by: str, trust: TrustLevels = DEFAULT_TRUST
) -> tuple[tuple[SummaryUnit, ...], tuple[Rejected, ...]]:
    """The units that the words of this page prove, each once, and the claims they do not."""
    units: dict[str, SummaryUnit] = {}
    rejected: list[Rejected] = []
    for claim in claims:
        fact = link(claim, (page,))
        if isinstance(fact, Rejected):
            rejected.append(fact)
        elif not is_proved(fact.support):
            rejected.append(Rejected(claim=claim.text, quotes=claim.quotes, reason=unproved(fact)))
        else:
            rank = proof_rank(claim, fact.spans, (page,), trust.rank_of)
            unit = _unit(page, fact, made_by, trust=trust.names[rank])
            units[unit.id] = unit
    return tuple(units.values()), tuple(rejected)


def unproved(fact: LinkedFact) -> str:
    """Why the fact is no proof of what it claims, in words."""
    return fact.reason or "no rule could confirm the wording from the words it cites"


def bounded(importance: float) -> float:
    """`importance` within 0 and 1; a value that is no number counts as ordinary."""
    return min(max(importance, 0.0), 1.0) if math.isfinite(importance) else 0.5


def _unit(page: Page, fact: LinkedFact, made_by: str, *, trust: str) -> SummaryUnit:
    turn = page.line_at(fact.spans[0].start).turn
    return SummaryUnit(
        id=summary_unit_id(page.space, page.id, fact.claim, fact.spans),
        text=fact.claim,
        spans=fact.spans,
        kind="summary",
        session=page.session,
        said_at=turn.said_at if turn is not None else None,
        event_at=fact.event_at,
        scene=fact.scene,
        importance=bounded(fact.importance),
        made_by=made_by,
        trust=trust,
        support=fact.support,
        derivations=fact.derivations,
    )
