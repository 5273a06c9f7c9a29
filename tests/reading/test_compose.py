"""Composing and checking: what is cited, what is refused, and when there is no answer."""

from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reading.world import ANSWER, ASKED, ESCALATE, Words, World
from tiermem.errors import BudgetExceeded, ModelUnavailable
from tiermem.model import Claim, Decision, Evidence
from tiermem.reading import ABSTENTION, Outcome, check
from tiermem.reading.check import UNCITED
from tiermem.reasoning import Draft, Integrated, Plan
from tiermem.text import Source, unsupported_literals

pytestmark = pytest.mark.anyio


def says(text: str, *cited: int) -> Draft:
    return Draft(text=text, cited=cited, abstained=False)


NOTHING = Draft(text="I would guess Tuesday", cited=(), abstained=True)


async def ask(
    world: World, question: str, decision: Decision = ANSWER, *, may_escalate: bool = True, **options: Any
) -> Outcome:
    reader = world.reader(**options)
    recalled = await reader.recall(question)
    return await reader.answer(question, recalled, decision, asked_at=ASKED, may_escalate=may_escalate)


async def cats(world: World) -> None:
    await world.linked_page("Ann: I adopted three grey cats yesterday", "Bob: my dog Rex is six years old")


def test_a_literal_the_sources_do_not_hold_fails_the_check() -> None:
    sources = [Source("I adopted three cats yesterday", ASKED, "Ann")]
    assert check("How many?", "3", sources).passed
    assert check("When?", "31 August 2023", sources).passed
    assert check("How many?", "4", sources).unsupported == ("4",)
    assert check("Who?", "It was Melanie", sources).unsupported == ("Melanie",)
    assert not check("Who?", "Ann", []).passed
    assert check("Who?", "yes", []).unsupported == (UNCITED,)


@settings(max_examples=60)
@given(answer=st.text(max_size=60), said=st.text(max_size=60))
def test_a_check_passes_exactly_when_every_literal_is_held(answer: str, said: str) -> None:
    verdict = check("", answer, [Source(said)])
    assert verdict.passed == (not unsupported_literals(answer, [Source(said)]))
    assert verdict.passed == (not verdict.unsupported)


async def test_an_answer_from_summaries_cites_unit_words_speaker_and_time() -> None:
    world = await World.new()
    await cats(world)
    world.judge.on_compose = lambda evidence: says("three", 0, 0, 7, -1)
    outcome = await ask(world, "How many cats did Ann adopt?")
    (citation,) = outcome.composed.citations
    assert (citation.number, citation.claim) == (1, "Ann says I adopted three grey cats yesterday")
    assert (citation.quote, citation.speaker) == ("I adopted three grey cats yesterday", "Ann")
    assert citation.said_at is not None
    assert citation.unit_id is not None
    assert citation.grade == "verbatim"
    assert outcome.findings is None
    assert outcome.checks[0].passed
    assert world.judge.shown == []


async def test_a_date_that_follows_from_the_cited_turn_holds() -> None:
    world = await World.new()
    await cats(world)
    world.judge.on_compose = lambda evidence: says("7 May 2023", 0)
    assert (await ask(world, "When were the grey cats adopted?")).composed.text == "7 May 2023"


@pytest.mark.parametrize("draft", [says("four", 0), says("three"), NOTHING, says("  ", 0)])
async def test_a_wording_from_summaries_that_does_not_hold_escalates_once(draft: Draft) -> None:
    world = await World.new()
    await cats(world)
    world.judge.on_integrate = lambda views: Integrated(
        claims=(Claim(text="Ann adopted three grey cats", quotes=("I adopted three grey cats yesterday",)),),
        coverage="all",
    )
    world.judge.on_compose = lambda evidence: draft if len(world.judge.composed) == 1 else says("three", 0)
    outcome = await ask(world, "How many cats?")
    assert outcome.findings is not None
    assert outcome.composed.text == "three"
    assert outcome.composed.facts[0].claim == "Ann adopted three grey cats"
    assert outcome.checks[-1].passed
    assert len(world.judge.composed) == 2


async def test_where_escalating_is_not_allowed_a_wording_that_does_not_hold_becomes_an_abstention() -> None:
    world = await World.new()
    await cats(world)
    world.judge.on_compose = lambda evidence: says("four", 0)
    outcome = await ask(world, "How many cats?", may_escalate=False)
    assert (outcome.composed.text, outcome.composed.abstained) == (ABSTENTION, True)
    assert outcome.composed.citations == ()
    assert outcome.checks[0].unsupported == ("four",) or not outcome.checks[0].passed
    assert world.judge.shown == []


def _with_facts(world: World) -> None:
    world.judge.on_integrate = lambda views: Integrated(
        claims=(Claim(text="Ann adopted three grey cats", quotes=("I adopted three grey cats yesterday",)),),
        coverage="all",
    )


async def test_research_is_worded_from_its_facts() -> None:
    world = await World.new()
    await cats(world)
    _with_facts(world)
    outcome = await ask(world, "How many cats?", ESCALATE)
    ((item,),) = world.judge.composed
    assert item.text == "Ann adopted three grey cats"
    assert outcome.composed.text == "Ann adopted three grey cats"
    (citation,) = outcome.composed.citations
    assert citation.quote == "I adopted three grey cats yesterday"
    assert outcome.composed.read_tokens == 5


async def test_a_failing_wording_is_made_once_more_from_the_exact_words_of_proved_facts() -> None:
    world = await World.new()
    await cats(world)
    _with_facts(world)
    drafts = [says("forty cats", 0), says("three cats", 0)]
    world.judge.on_compose = lambda evidence: drafts[len(world.judge.composed) - 1]
    outcome = await ask(world, "How many cats?", ESCALATE)
    assert outcome.composed.text == "three cats"
    assert [check.passed for check in outcome.checks] == [False, True]
    assert world.judge.composed[1][0].text == "Ann: I adopted three grey cats yesterday"


async def test_a_wording_that_fails_twice_is_no_answer() -> None:
    world = await World.new()
    await cats(world)
    _with_facts(world)
    world.judge.on_compose = lambda evidence: says("forty cats", 0)
    outcome = await ask(world, "How many cats?", ESCALATE)
    assert (outcome.composed.text, outcome.composed.abstained) == (ABSTENTION, True)
    assert len(outcome.checks) == 2
    assert outcome.composed.citations == ()


async def test_without_facts_units_and_whole_pages_are_worded_and_the_closest_turn_is_cited() -> None:
    world = await World.new()
    page = await world.page("Ann: the weather is fine", "Bob: my dog Rex is six years old")

    def last(evidence: Sequence[Evidence]) -> Draft:
        return says("Rex is six", len(evidence) - 1)

    world.judge.on_compose = last
    outcome = await ask(world, "How old is the dog?", ESCALATE)
    (citation,) = outcome.composed.citations
    assert citation.grade == "page"
    assert citation.quote == citation.claim == "my dog Rex is six years old"
    assert page.words(citation.spans[0]) == citation.quote
    assert outcome.composed.text == "Rex is six"


async def test_a_fact_of_which_only_the_subject_was_found_is_no_evidence() -> None:
    world = await World.new()
    await cats(world)
    world.judge.on_integrate = lambda views: Integrated(
        claims=(
            Claim(text="Ann adopted three grey cats", quotes=("she now has got several kittens at home",)),
        ),
        coverage="",
    )
    outcome = await ask(world, "How many cats?", ESCALATE)
    assert outcome.findings is not None
    assert [fact.grade for fact in outcome.findings.facts] == ["page"]
    assert [item.source for item in world.judge.composed[0]] == ["unit", "page"]
    assert outcome.composed.facts == ()


async def test_the_open_tail_is_evidence_and_can_be_cited() -> None:
    world = await World.new()
    await world.say("Ann: my new bike is blue")
    outcome = await ask(world, "What colour is the bike?")
    (citation,) = outcome.composed.citations
    assert citation.quote == "my new bike is blue"
    assert citation.spans[0].page_id.startswith("o1:")


async def test_a_model_that_is_down_is_an_error_and_never_an_answer() -> None:
    world = await World.new()
    await cats(world)

    def down(evidence: Sequence[Evidence]) -> Draft:
        raise ModelUnavailable("down")

    world.judge.on_compose = down
    for decision in (ANSWER, ESCALATE):
        with pytest.raises(ModelUnavailable):
            await ask(world, "How many cats?", decision)


async def test_a_spent_budget_still_words_what_was_found_and_says_so() -> None:
    world = await World.new()
    await cats(world)

    def spent(evidence: Sequence[Evidence]) -> Draft:
        raise BudgetExceeded("the budget of 1 calls is used up")

    world.judge.on_compose = spent
    outcome = await ask(world, "How many grey cats did Ann adopt?", may_escalate=False)
    assert [d.fallback for d in outcome.degradations] == ["worded by local rules"]
    assert outcome.composed.abstained or outcome.checks[-1].passed


async def test_an_empty_memory_abstains_without_asking_anybody() -> None:
    world = await World.new()
    outcome = await ask(world, "What colour is the bike?")
    assert outcome.composed.abstained
    assert world.judge.composed == []


_drafts = st.builds(
    Draft,
    text=st.sampled_from(["three", "four", "Ann", "Rex is six", "\ud800", ""]) | st.text(max_size=20),
    cited=st.lists(st.integers(-3, 9), max_size=4).map(tuple),
    abstained=st.booleans(),
)


@settings(max_examples=40)
@given(drafts=st.lists(_drafts, min_size=3, max_size=3), escalate=st.booleans(), facts=st.booleans())
def test_whatever_is_worded_an_answer_holds_or_there_is_none(
    drafts: list[Draft], escalate: bool, facts: bool
) -> None:
    async def main() -> None:
        world = await World.new()
        await cats(world)
        await world.say("Ann: my new bike is blue \ud800")
        if facts:
            _with_facts(world)
        world.judge.on_plan = lambda turn: Plan(done=True, reason="enough")
        world.judge.on_compose = lambda evidence: drafts[len(world.judge.composed) - 1]
        outcome = await ask(world, "How many cats?", ESCALATE if escalate else ANSWER)
        composed = outcome.composed
        assert len(world.judge.composed) <= 3
        assert composed.abstained != composed.holds
        assert composed.abstained == (composed.citations == ())
        assert [c.number for c in composed.citations] == list(range(1, len(composed.citations) + 1))
        if composed.abstained:
            assert composed.text == ABSTENTION
        else:
            assert composed.read_tokens == sum(Words().count(item.text) for item in world.judge.composed[-1])
        for citation in composed.citations:
            parts = []
            for span in citation.spans:
                page = await world.ledger.page(span.page_id)
                parts.append(page.text[span.start : span.end].replace("\ud800", "\ufffd"))
            assert citation.quote == " … ".join(parts)

    anyio.run(main)
