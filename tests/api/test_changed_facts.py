"""Facts that changed: the statement that is asked for is first, and the others are marked as earlier."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest

import tiermem
from tests.api.conftest import OpenMemory
from tiermem.errors import UnknownId
from tiermem.model import Evidence
from tiermem.reasoning import Draft, Engine, by_rules

ASKED_AT = "2024-12-01"
SAID = [
    ("2024-01-05", "Ann", "My sister Maja lives in Porto."),
    ("2024-01-20", "Ann", "My rent is 640 a month."),
    ("2024-02-03", "Ann", "My boss Nadia wants a report every Monday."),
    ("2024-02-10", "Ann", "I work at Siemens."),
    ("2024-03-01", "Ben", "My rent is 900, and my boss is Karl."),
    ("2024-03-07", "Ann", "The landlord wants 720 from May."),
    ("2024-04-11", "Ann", "Maja moved to Bergen last week!"),
    ("2024-05-02", "Ann", "We visited Larkfield with her."),
    ("2024-06-15", "Ann", "My rent went up to 680."),
    ("2024-07-01", "Ann", "Nadia left, Tom's my boss now."),
    ("2024-08-20", "Ann", "I joined Acme Robotics today."),
]


def add_all(memory: tiermem.Memory) -> None:
    for day, speaker, text in SAID:
        memory.add(text, speaker=speaker, said_at=day, session=day)
    memory.flush()


def citing(text: str, words: str) -> Engine:
    """An engine that answers with a text, from the first piece of evidence that holds some words."""

    async def compose(question: str, evidence: Sequence[Evidence], *, asked_at: datetime) -> Draft:
        cited = next(at for at, item in enumerate(evidence) if words in item.text)
        return Draft(text=text, cited=(cited,), abstained=False)

    return replace(by_rules(), compose=compose)


def codes_of(answer: tiermem.Answer) -> set[str]:
    return {one.code for one in answer.cautions}


@pytest.fixture
def memory(open_memory: OpenMemory) -> tiermem.Memory:
    memory = open_memory(engine=citing("Tom", "Tom's my boss"))
    add_all(memory)
    return memory


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where does Ann's sister live?", "Bergen"),
        ("Where did Ann's sister live before?", "Porto"),
        ("Where did Ann's sister live in February 2024?", "Porto"),
        ("How much rent does Ann pay?", "680"),
        ("What was Ann's rent at first?", "640"),
        ("What is Ben's rent?", "900"),
        ("Who is Ann's boss?", "Tom"),
        ("Who was Ann's boss before?", "Nadia"),
        ("Who is Ben's boss?", "Karl"),
        ("Where does Ann work?", "Acme Robotics"),
        ("What was Ann's previous employer?", "Siemens"),
    ],
)
def test_the_latest_statement_is_first_in_a_context_or_the_earlier_one_that_is_asked_for(
    memory: tiermem.Memory, question: str, expected: str
) -> None:
    context = memory.context(question, asked_at=ASKED_AT)
    assert expected in context.sources[0].text


def test_a_context_has_the_latest_statement_first_and_marks_the_earlier_one(memory: tiermem.Memory) -> None:
    context = memory.context("Who is Ann's boss?", asked_at=ASKED_AT)
    first, second = context.sources[:2]
    assert "Tom's my boss now" in first.text
    assert first.superseded_at is None
    earlier = next(item for item in context.sources if "Nadia wants" in item.text)
    assert earlier.superseded_at is not None
    assert "said 2024-02-03; changed 2024-07-01" in context.text
    assert second in context.sources
    assert "Karl" in context.text


def test_an_answer_has_the_turns_that_stated_earlier_values(memory: tiermem.Memory) -> None:
    answer = memory.ask("Who is Ann's boss?", asked_at=ASKED_AT)
    (earlier,) = answer.superseded
    ((start, end),) = earlier.marks
    assert earlier.text[start:end] == "Nadia"
    assert earlier.span is not None
    page = memory.page(earlier.span.page_id)
    assert page.text[earlier.span.start : earlier.span.end] == earlier.text
    assert "earlier: Ann, 2024-02-03: “My boss «Nadia» wants" in str(answer)
    assert memory.audit(answer.id).answer.superseded == answer.superseded


def test_an_answer_to_a_question_about_the_past_has_none(open_memory: OpenMemory) -> None:
    memory = open_memory(engine=citing("Nadia", "Nadia wants"))
    add_all(memory)
    before = memory.ask("Who was Ann's boss before?", asked_at=ASKED_AT)
    assert before.superseded == ()
    assert "superseded" not in codes_of(before)


def test_erasing_an_earlier_statement_erases_the_answer_that_shows_it(memory: tiermem.Memory) -> None:
    answer = memory.ask("Who is Ann's boss?", asked_at=ASKED_AT)
    memory.erase(session="2024-02-03", reason="asked to")
    with pytest.raises(UnknownId):
        memory.audit(answer.id)
    assert memory.ask("Who is Ann's boss?", asked_at=ASKED_AT).superseded == ()


def test_an_answer_that_cites_an_earlier_statement_has_a_caution(open_memory: OpenMemory) -> None:
    memory = open_memory(engine=citing("Nadia", "Nadia wants"))
    add_all(memory)
    answer = memory.ask("Who is Ann's boss?", asked_at=ASKED_AT)
    caution = next(one for one in answer.cautions if one.code == "superseded")
    (span,) = caution.spans
    page = memory.page(span.page_id)
    assert page.text[span.start : span.end] == "Nadia left, Tom's my boss now."


def test_an_erased_statement_replaces_nothing(open_memory: OpenMemory) -> None:
    memory = open_memory(engine=citing("Nadia", "Nadia wants"))
    add_all(memory)
    memory.erase(session="2024-07-01", reason="asked to")
    answer = memory.ask("Who is Ann's boss?", asked_at=ASKED_AT)
    assert answer.text == "Nadia"
    assert "superseded" not in codes_of(answer)
    assert "changed" not in memory.context("Who is Ann's boss?", asked_at=ASKED_AT).text


def test_a_statement_that_an_agent_may_not_see_replaces_nothing(open_memory: OpenMemory) -> None:
    memory = open_memory(engine=citing("Siemens", "Siemens"))
    memory.add("I work at Siemens.", speaker="Ann", said_at="2024-02-10")
    memory.as_agent("planner").add("I joined Acme Robotics.", speaker="Ann", said_at="2024-08-20")
    memory.flush()
    asked = {name: memory.as_agent(name).ask("Where does Ann work?") for name in ("planner", "other")}
    assert {name: "superseded" in codes_of(answer) for name, answer in asked.items()} == {
        "planner": True,
        "other": False,
    }
