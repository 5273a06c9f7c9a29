"""From a sealed page to the units it proves: a reasoner asserts, code links, the rest is kept apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from anyio import to_thread

from pagestore import Page
from tiermem.ledger import Distilled, summary_unit_id
from tiermem.llm.meter import Meter, check_budget, metered, pay, step
from tiermem.model import Claim, LinkedFact, Rejected, SummaryUnit, Usage
from tiermem.reasoning.interface import Reasoner
from tiermem.text import link, omissions


async def distil(page: Page, reasoner: Reasoner) -> Distilled:
    """Ask for the facts of a page and prove each; raises what the reasoner raises."""
    with _counted() as meter, step("distil"):
        claims = await reasoner.distil(page)

    def linked() -> Distilled:
        units, rejected = proved(page, claims, made_by=reasoner.name)
        return Distilled(
            page_id=page.id,
            units=units,
            rejected=rejected,
            omissions=omissions(page, [unit.text for unit in units]),
            made_by=reasoner.name,
            prompts=tuple(meter.prompts),
            usage=meter.total(),
        )

    # Linking is pure and takes milliseconds a claim: questions asked meanwhile do not wait for a whole page.
    return await to_thread.run_sync(linked)


def proved(
    page: Page, claims: Sequence[Claim], *, made_by: str
) -> tuple[tuple[SummaryUnit, ...], tuple[Rejected, ...]]:
    """The units that the words of this page prove, each once, and the claims they do not."""
    units: dict[str, SummaryUnit] = {}
    rejected: list[Rejected] = []
    for claim in claims:
        fact = link(claim, (page,))
        if isinstance(fact, Rejected):
            rejected.append(fact)
        elif fact.grade != "verbatim":
            reason = f"quote not on the page word for word ({fact.grade} match)"
            rejected.append(Rejected(claim=claim.text, quote=claim.quote, reason=reason))
        else:
            unit = _unit(page, fact, made_by)
            units[unit.id] = unit
    return tuple(units.values()), tuple(rejected)


def bounded(importance: float) -> float:
    """`importance` within 0 and 1; a value that is no number counts as ordinary."""
    return min(max(importance, 0.0), 1.0) if math.isfinite(importance) else 0.5


def _unit(page: Page, fact: LinkedFact, made_by: str) -> SummaryUnit:
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
    )


@contextmanager
def _counted() -> Iterator[Meter]:
    """Count what is spent inside by itself; the meter outside, if there is one, pays for it as well."""
    check_budget()
    inner = Meter()
    try:
        with metered(inner):
            yield inner
    finally:
        for name, usage in inner.steps.items():
            with step(name):
                pay(usage)
        for prompt in inner.prompts:
            pay(Usage(), prompt=prompt)
        for model in inner.models:
            pay(Usage(), model=model)
