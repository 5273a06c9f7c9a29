"""Route and research without a model."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import PageId, Span, Turn
from tests.text.dialogue import page_of
from tiermem.model import Evidence, LinkedFact, Search
from tiermem.proof import link
from tiermem.reasoning import PageView, by_rules
from tiermem.reasoning.rules import sufficiency
from tiermem.reasoning.rules.questions import Kind, parse_question
from tiermem.reasoning.rules.route import gate
from tiermem.reasoning.rules.sufficiency import Features, assess

pytestmark = pytest.mark.anyio
SAID = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
NOW = datetime(2023, 6, 1, tzinfo=UTC)
SPAN = Span(page_id=PageId("p1:x"), start=0, end=9)
LOCAL = by_rules()


def unit(text: str, *, similarity: float | None = None) -> Evidence:
    return Evidence(text=text, spans=(SPAN,), score=1.0, source="unit", said_at=SAID, similarity=similarity)


GROUP = unit("Caroline: I went to a LGBTQ support group yesterday (7 May 2023).")
MOVE = unit('Caroline, asked "Where did you move from?": I moved here from Sweden four years ago (2019).')
CATS = unit("Melanie: We adopted two cats at the shelter in Oslo last week (1 to 7 May 2023).")
PAINTING = unit("Melanie: My daughter loves painting horses, and I play the clarinet.")
EVERYTHING = [GROUP, MOVE, CATS, PAINTING]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did Ann move?", "when"),
        ("What year did she move?", "when"),
        ("How long has she lived here?", "how long"),
        ("How many cats does she have?", "how many"),
        ("Who came along?", "who"),
        ("Where does she live?", "where"),
        ("Which city is she from?", "where"),
        ("Did Ann move?", "yes-no"),
        ("Why did Ann move?", "why"),
        ("What hobbies does Ann have?", "list"),
        ("What does Ann do?", "what"),
        ("", "what"),
    ],
)
def test_a_question_shows_what_kind_of_answer_it_wants(question: str, kind: str) -> None:
    assert parse_question(question).kind == kind


async def test_units_that_state_the_answer_are_enough() -> None:
    enough = await gate("When did Caroline go to the LGBTQ support group?", EVERYTHING, asked_at=NOW)
    assert enough.action == "ANSWER"


@pytest.mark.parametrize(
    ("question", "units", "why"),
    [
        ("When did Caroline go to the support group?", [], "no unit"),
        ("When did Melanie go to the LGBTQ support group?", EVERYTHING, "somebody else"),
        ("What instruments does Melanie play besides painting?", EVERYTHING, "cover"),
        ("Who is Priscilla?", EVERYTHING, "no unit"),
        ("When did Caroline visit Bergen?", EVERYTHING, "name|no unit"),
        ("When did Caroline go to the LGBTQ support group with Priscilla?", EVERYTHING, "a name of the"),
        ("How many paintings did Melanie play?", [PAINTING], "detail"),
    ],
)
async def test_in_doubt_the_pages_are_read(question: str, units: Sequence[Evidence], why: str) -> None:
    doubt = await gate(question, units, asked_at=NOW)
    assert doubt.action == "ESCALATE"
    assert any(part in doubt.reason for part in why.split("|"))


def test_far_away_units_are_not_trusted_whatever_words_they_share() -> None:
    question = "When did Caroline go to the LGBTQ support group?"
    near = Evidence(text=GROUP.text, spans=(SPAN,), score=1, source="unit", said_at=SAID, similarity=0.8)
    far = Evidence(text=GROUP.text, spans=(SPAN,), score=1, source="unit", said_at=SAID, similarity=0.1)
    assert assess(question, [near]).action == "ANSWER"
    assert assess(question, [far]).action == "ESCALATE"


@pytest.mark.parametrize(
    ("kind", "action"), [("what", "ANSWER"), ("list", "ESCALATE"), ("how many", "ESCALATE")]
)
def test_a_list_or_a_count_is_only_answered_where_nearly_all_of_the_question_is_told(
    kind: Kind, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Features(
        kind=kind, coverage=0.8, right_person=True, names_held=True, detail_held=True, similarity=None
    )
    monkeypatch.setattr(sufficiency, "features", lambda question, units: seen)
    assert assess("What did she paint?", [GROUP]).action == action


PAGE = page_of(
    [
        Turn(
            speaker="Ann",
            text="I finally visited Bergen last week. The market was lovely.",
            said_at=SAID,
        ),
        Turn(speaker="Ben", text="Great! How did you get there?", said_at=SAID),
        Turn(speaker="Ann", text="By train, it took 7 hours.", said_at=SAID),
        Turn(speaker="Ben", text="I stayed at home and repaired my old bicycle.", said_at=SAID),
    ]
)


async def test_integrating_quotes_the_sentences_that_match_and_they_link() -> None:
    found = await LOCAL.integrate("When did Ann visit Bergen?", [PageView(page=PAGE)], [], asked_at=NOW)
    facts = [link(claim, [PAGE]) for claim in found.claims]
    assert all(isinstance(fact, LinkedFact) and fact.is_supported for fact in facts)
    assert found.claims[0].text.startswith("Ann: I finally visited Bergen last week (1 to 7 May 2023).")
    assert found.coverage.endswith("missing: nothing")


async def test_what_is_known_is_not_found_again() -> None:
    question = "When did Ann visit Bergen?"
    first = await LOCAL.integrate(question, [PageView(page=PAGE)], [], asked_at=NOW)
    known = [unit(claim.text) for claim in first.claims]
    assert known
    assert (await LOCAL.integrate(question, [PageView(page=PAGE)], known, asked_at=NOW)).claims == ()


def fact(text: str) -> LinkedFact:
    return LinkedFact(claim=text, quotes=(text,), spans=(SPAN,), support="quoted")


async def test_what_is_known_and_covers_the_question_ends_the_search() -> None:
    planned = await LOCAL.plan(
        "When did Ann visit Bergen?", [unit("Ann: I visited Bergen in May 2023.")], "", [], asked_at=NOW
    )
    assert planned.done


async def test_searches_name_what_is_missing_and_never_repeat() -> None:
    question = "Which museum did Ann visit in Bergen with her sister?"
    done: list[Search] = []
    for _ in range(10):
        planned = await LOCAL.plan(question, [unit("Ben: I stayed at home.")], "", done, asked_at=NOW)
        if planned.done:
            break
        assert not {(s.kind, s.query) for s in planned.searches} & {(s.kind, s.query) for s in done}
        done += planned.searches
    assert planned.done
    assert {search.kind for search in done} == {"SEMANTIC", "KEYWORD"}
    assert any("museum" in search.query for search in done)


async def test_a_turn_is_read_as_it_stands_on_its_page() -> None:
    said = Evidence(
        text="[2023-05-08T13:56:00] Ann: I finally visited Bergen last week.\n\tThe market was lovely.",
        spans=(SPAN,),
        score=1.0,
        source="turn",
        said_at=SAID,
    )
    assert (await gate("When did Ann visit Bergen?", [GROUP, said], asked_at=NOW)).action == "ANSWER"
    planned = await LOCAL.plan("When did Ann visit Bergen?", [said], "", [], asked_at=NOW)
    assert planned.done


async def test_pages_are_distilled_one_after_the_other() -> None:
    other = page_of([Turn(speaker="Ben", text="We moved to Oslo in March.", said_at=SAID)])
    one, two = await LOCAL.distil([PAGE]), await LOCAL.distil([other])
    assert await LOCAL.distil([PAGE, other]) == (*one, *two)
    assert one
    assert two


any_text = st.text(st.characters(), max_size=60) | st.sampled_from(
    [GROUP.text, "When did Ann go?", "How many?", "Who"]
)


@settings(max_examples=150)
@given(any_text, st.lists(any_text, max_size=3))
async def test_no_question_and_no_evidence_raises(question: str, texts: list[str]) -> None:
    evidence = [unit(text) for text in texts]
    await gate(question, evidence, asked_at=NOW)
    await LOCAL.plan(question, evidence, "", [], asked_at=NOW)
    await LOCAL.integrate(question, [PageView(page=PAGE)], [], asked_at=NOW)
    await LOCAL.select(question, [fact(text) for text in texts], [])


def test_the_engine_of_rules_says_its_name_and_costs_nothing() -> None:
    assert (LOCAL.name, LOCAL.free) == ("local", True)
