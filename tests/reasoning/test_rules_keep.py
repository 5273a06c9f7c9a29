"""Which proved facts are kept, and how one joins what is known, without a model."""

import pytest

from pagestore import PageId, SessionId, Span
from tiermem.model import LinkedFact, SummaryUnit, Support, UnitId
from tiermem.reasoning import by_rules
from tiermem.text import unsupported_literals

pytestmark = pytest.mark.anyio
LOCAL = by_rules()
BERGEN = "Ann: I visited Bergen with my sister in May 2023."
SPAN = Span(page_id=PageId("p1:x"), start=0, end=9)


def fact(text: str, *, reason: str = "") -> LinkedFact:
    support: Support = "worded" if reason else "quoted"
    return LinkedFact(claim=text, quotes=(text,), spans=(SPAN,), support=support, reason=reason)


def unit(text: str, name: str = "u1") -> SummaryUnit:
    return SummaryUnit(
        id=UnitId(name), text=text, spans=(SPAN,), kind="summary", support="quoted", session=SessionId("s")
    )


async def test_proved_specific_facts_about_the_question_are_kept_once() -> None:
    facts = [
        fact(BERGEN),
        fact("Ann: I visited Bergen with my sister."),
        fact("Ann: I visited Bergen in June.", reason="not in the quoted turns: June"),
        fact("Ben: I repaired my bicycle in the garage."),
    ]
    assert await LOCAL.select("When did Ann visit Bergen?", facts, []) == (0,)


@pytest.mark.parametrize(
    "known",
    [
        "Ann: I visited Bergen with my sister in May 2023.",
        "Ann: I visited Bergen with my dear sister in May 2023.",
    ],
)
async def test_what_is_known_is_skipped(known: str) -> None:
    operation = await LOCAL.reconcile(fact(BERGEN), [unit(known)])
    assert operation.op == "SKIP"


async def test_details_are_merged_into_a_vague_unit_and_nothing_is_invented() -> None:
    known, new = "Ann: I visited Bergen.", "Ann: I visited Bergen with Clara on 7 May 2023."
    operation = await LOCAL.reconcile(fact(new), [unit(known)])
    assert (operation.op, operation.target) == ("UPDATE", "u1")
    assert operation.text is not None
    assert unsupported_literals(operation.text, [known, new]) == ()
    assert unsupported_literals(f"{known} {new}", [operation.text]) == ()


async def test_a_clear_change_supersedes_what_was_known() -> None:
    operation = await LOCAL.reconcile(
        fact("Ann: I have 5 cats at home now."), [unit("Ann: I have 3 cats at home.")]
    )
    assert (operation.op, operation.supersedes) == ("ADD", ("u1",))


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("Ann: I visited Bergen in May 2023.", "Ben: I visited Bergen in May 2023."),
        ("Ann: I don't eat fish.", "Ann: I eat fish."),
        ("Ann: I play the clarinet.", "Ann: I adopted two cats."),
        ("Ann: I saw 5 whales near Bergen.", "Ann: I saw 3 seals near Bergen."),
    ],
)
async def test_other_people_denials_and_other_things_are_added(new: str, known: str) -> None:
    operation = await LOCAL.reconcile(fact(new), [unit(known)])
    assert (operation.op, operation.supersedes) == ("ADD", ())


async def test_without_neighbours_a_fact_is_added() -> None:
    assert (await LOCAL.reconcile(fact("Ann: I play the clarinet."), [])).op == "ADD"
