"""Running a past question again, over the memory as it stood then. Nothing of it is recorded but its cost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from tiermem.ledger import Ledger, Visibility
from tiermem.llm.meter import Meter
from tiermem.model import Answer, AnswerId
from tiermem.reading import Reader, Replay, Scope, differences_between, replay_answer
from tiermem.runtime.components import Components
from tiermem.text.question import Question
from tiermem.writing import Projection


async def replay(components: Components, answer_id: AnswerId) -> Replay:
    """A past answer as the ledger keeps it."""
    return await replay_answer(components.ledger, answer_id)


async def rerun(components: Components, answer_id: AnswerId, sees: Visibility) -> Replay:
    """The same, asked again over the memory as it stood, with today's engine, prompts and embedder.

    Where the memory has changed since, a temporary index of the memory of then is made for it: the time
    this takes grows with the memory (embedding every unit and page once), and no model is called for it.
    It is asked by whom it was asked then; where `sees` is an agent, of what that one may see now.
    """
    past = await replay_answer(components.ledger, answer_id)
    then = await components.ledger.as_it_stood(answer_id)
    trace = past.answer.trace
    components.meter.check()
    meter = Meter(budget=trace.budget)
    with components.paying(meter):
        async with _reader(components, then, trace.head) as reader:
            asks = then.tier1.sees(trace.agent, all_units=components.shares_all) if sees.all else sees
            again = await _ask(reader.seen_by(asks), past.answer, meter)
    await components.writer.spent("replay", meter.total())
    return replace(past, rerun=again, differences=differences_between(past.answer, again))


async def _ask(reader: Reader, answer: Answer, meter: Meter) -> Answer:
    trace = answer.trace
    outcome = await reader.ask(
        Question(trace.question, trace.asked_at),
        mode=trace.mode,
        scope=Scope(session=trace.session, as_of=trace.as_of, min_trust=trace.min_trust, turns=trace.turns),
    )
    again, _ = reader.make_answer(outcome, meter=meter, recorded=False)
    return again


@asynccontextmanager
async def _reader(components: Components, then: Ledger, head: int) -> AsyncIterator[Reader]:
    """A reader of the memory as it stood: with the index there is, where it holds nothing newer."""
    changes = await components.ledger.changes(head)
    if not changes.units and not changes.pages and not changes.filling:
        yield components.reader.over(then)
        return
    index = components.scratch()
    try:
        await Projection(then, index, unsearched=components.settings.unsearched_roles).project()
        yield components.reader.over(then, index)
    finally:
        await index.close()
