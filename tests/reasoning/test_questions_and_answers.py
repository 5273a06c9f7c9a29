"""Every case of the table: read off a page, worded, and cited; the same from the units of that page."""

from datetime import UTC, datetime, timedelta

import pytest

from pagestore import Page, Turn
from tests.engines import compose_of
from tests.reasoning.questions_and_answers import CASES
from tests.text.dialogue import page_of
from tiermem.model import Evidence, LinkedFact
from tiermem.proof import link
from tiermem.reasoning import PageView, by_rules

pytestmark = pytest.mark.anyio
SAID = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def page_with(dialogue: str) -> Page:
    said = [line.strip().partition(": ") for line in dialogue.split("|")]
    return page_of(
        [
            Turn(speaker=speaker, text=text, said_at=SAID + timedelta(minutes=minute))
            for minute, (speaker, _, text) in enumerate(said)
        ]
    )


async def answer(dialogue: str, question: str) -> str:
    page, engine = page_with(dialogue), by_rules()
    found = await engine.integrate(question, [PageView(page=page)], [], asked_at=SAID)
    facts = [link(claim, [page]) for claim in found.claims]
    assert all(isinstance(fact, LinkedFact) and fact.is_supported for fact in facts)
    evidence = [
        Evidence(text=fact.claim, spans=fact.spans, score=1, source="unit", said_at=_said_at(page, fact))
        for fact in facts
        if isinstance(fact, LinkedFact)
    ]
    draft = await compose_of(engine)(question, evidence, asked_at=SAID)
    return draft.text


def _said_at(page: Page, fact: LinkedFact) -> datetime | None:
    turn = page.line_at(fact.spans[0].start).turn
    return turn.said_at if turn else None


@pytest.mark.parametrize(("dialogue", "question", "expected"), CASES)
async def test_the_answer_is_right_or_there_is_none(dialogue: str, question: str, expected: str) -> None:
    assert await answer(dialogue, question) == expected
