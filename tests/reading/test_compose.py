"""Composing and checking: what is cited, what is refused, and when there is no answer."""

from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reading.world import (
    ANSWER,
    ASKED,
    ESCALATE,
    Words,
    World,
    distilled,
    make_question,
    make_unit,
    says,
)
from tiermem.errors import BudgetExceeded
from tiermem.model import NEAREST, AskMode, Claim, Degradation, Evidence, Search, Unproved, lines_as_text
from tiermem.reading import ReadingOptions, check
from tiermem.reading.check import UNCHECKED, UNCITED
from tiermem.reading.compose import ComposedAnswer, Composer, EvidenceItem, abstention, better
from tiermem.reading.quoting import page_evidence, turn_evidence
from tiermem.reading.request import AskRequest
from tiermem.reading.view import View
from tiermem.reasoning import Draft
from tiermem.reasoning.interface import Integrated, Planned
from tiermem.text import Source, unsupported_literals

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]

DENIED = Claim(text="Ann adopted four cats", quotes=("I adopted three cats yesterday",))
WORDED = Claim(text="Ann adores small animals", quotes=("I adopted three cats yesterday",))
STATED = Claim(text="Ann adopted three cats", quotes=("I adopted three cats yesterday",))
ABSENT = Claim(text="Ann adopted three cats", quotes=("she now has got several kittens at home",))


async def cats() -> World:
    world = await World.new()
    await world.linked_page("Ann: I adopted three cats yesterday", "Bob: my dog Rex is six years old")
    return world


def claiming(world: World, *claims: Claim) -> None:
    world.judge.on_integrate = lambda views: Integrated(claims=claims, coverage="all")


async def composer(world: World, question: str) -> Composer:
    view = await View.open(world.ledger, world.index)
    return Composer(
        AskRequest(
            question=make_question(question),
            view=view,
            engine=world.judge.engine(),
            options=ReadingOptions(),
            count=Words().count,
        )
    )


# The check


def test_an_answer_is_compared_with_the_cited_words() -> None:
    sources = [Source("I adopted three cats yesterday", ASKED, "Ann")]
    assert check("How many cats?", "3", sources)[0].support == "quoted"
    when = check("When?", "31 August 2023", sources)[0]
    assert (when.support, [one.value for one in when.derivations]) == ("computed", ["31 August 2023"])
    for answer, unsupported in (("4", "4"), ("It was Melanie", "Melanie")):
        other, grade = check("How many cats?", answer, sources)
        assert (other.support, other.unsupported, grade.is_unmarked) == ("worded", (unsupported,), False)


def test_what_is_concluded_from_the_cited_words_has_a_caution() -> None:
    sources = [Source("I adopted three cats", ASKED, "Ann")]
    assert check("How many cats?", "3", sources)[1].is_unmarked
    found, grade = check("How many cats?", "3", sources, is_inferred=True)
    assert ([each.code for each in found.cautions], grade.is_unmarked) == (["inferred"], False)


@pytest.mark.parametrize("answer", ["three cats " * 400, "so it is"])
def test_what_was_not_checked_says_so(answer: str) -> None:
    found, grade = check("How many cats?", answer, [Source("I adopted three cats", ASKED, "Ann")])
    assert (found.support, found.unsupported, found.reason) == ("worded", (), UNCHECKED)
    assert (grade.sentences, grade.is_unmarked) == ((), False)


def test_an_answer_that_cites_nothing_is_refused_whatever_it_says() -> None:
    for answer in ("Ann", "yes", ""):
        verdict = check("Who?", answer, [])[0]
        assert (verdict.support, verdict.reason) == ("contradicted", UNCITED)


_told = st.lists(
    st.sampled_from(
        ["three", "3", "four", "cats", "grey", "Ann", "Melanie", "yesterday", "2023", "May", "not"]
    ),
    max_size=7,
).map(" ".join)


@settings(max_examples=100)
@given(answer=_told | st.text(max_size=60), said=_told | st.text(max_size=60))
def test_an_answer_is_quoted_only_if_every_literal_is_in_the_source(answer: str, said: str) -> None:
    verdict, grade = check("", answer, [Source(said)])
    if verdict.support in ("quoted", "computed"):
        assert verdict.unsupported == ()
    if verdict.support == "quoted":
        assert unsupported_literals(answer, [Source(said)]) == ()
    assert not (grade.is_unmarked and verdict.unsupported)


# What is cited


async def test_an_answer_from_a_unit_cites_its_words_their_speaker_and_time() -> None:
    world = await cats()
    world.judge.on_compose = lambda evidence: says("three", 0, 0, 7, -1)
    outcome = await world.ask("How many cats did Ann adopt?", recall_turns=0)
    (citation,) = outcome.composed.citations
    assert (citation.number, citation.claim) == (1, "Ann says I adopted three cats yesterday")
    assert (citation.quote, citation.speaker) == ("I adopted three cats yesterday", "Ann")
    assert citation.said_at is not None
    assert citation.unit_id is not None
    assert citation.support == "stated"
    assert outcome.composed.cited == (world.judge.composed[0][0],)


async def test_an_answer_from_a_turn_cites_the_turn() -> None:
    world = await cats()
    world.judge.on_compose = lambda evidence: says("three", 0)
    (citation,) = (await world.ask("How many cats did Ann adopt?")).composed.citations
    assert citation.claim == citation.quote == "I adopted three cats yesterday"
    assert (citation.unit_id, citation.support, citation.speaker) == (None, "quoted", "Ann")


async def test_a_turn_of_an_open_page_can_be_cited() -> None:
    world = await World.new()
    await world.say("Ann: my new bike is blue")
    (citation,) = (await world.ask("What colour is the bike?")).composed.citations
    assert citation.quote == "my new bike is blue"
    assert citation.spans[0].page_id.startswith("o1:")


async def test_a_date_that_follows_from_the_cited_turn_is_computed() -> None:
    world = await cats()
    world.judge.on_compose = lambda evidence: says("7 May 2023", 0)
    composed = (await world.ask("When were the cats adopted?")).composed
    assert (composed.text, composed.support) == ("7 May 2023", "computed")


async def test_a_whole_page_is_cited_for_the_turn_that_comes_closest() -> None:
    world = await World.new()
    page = await world.page("Ann: the weather is fine", "Bob: my dog Rex is six years old")
    world.judge.on_compose = lambda evidence: says("Rex is six", 0)
    composing = await composer(world, "How old is the dog?")
    composed = await composing.word([EvidenceItem(evidence=page_evidence(page))])
    (citation,) = composed.citations
    assert citation.quote == citation.claim == "my dog Rex is six years old"
    assert page.words(citation.spans[0]) == citation.quote


async def test_a_citation_has_the_trust_of_its_least_trusted_turn() -> None:
    world = await World.new()
    await world.say("page: the cat is black", trust="web")
    await world.say("Ann: my cat is grey")
    world.judge.on_compose = lambda evidence: says("black and grey", *range(len(evidence)))
    citations = (await world.ask("Which cat?")).composed.citations
    assert {citation.quote: citation.trust for citation in citations} == {
        "the cat is black": "web",
        "my cat is grey": "user",
    }


async def test_a_unit_is_cited_with_the_trust_of_its_turn_where_that_is_lower() -> None:
    world = await World.new()
    await world.say("page: the cat is grey", trust="web")
    (page_id,) = await world.ledger.seal()
    page = await world.ledger.page(page_id)
    unit = replace(make_unit(page, "The cat is grey", "the cat is grey"), trust="user")
    await world.ledger.write(distilled(page, unit))
    composed = await (await composer(world, "What is the cat like?")).word(
        [
            EvidenceItem(
                evidence=Evidence(
                    text=unit.text, spans=unit.spans, score=1.0, source="unit", unit_id=unit.id, trust="user"
                )
            )
        ]
    )
    assert [citation.trust for citation in composed.citations] == ["web"]


async def test_the_words_of_a_page_that_cannot_be_read_are_missed_and_that_is_said() -> None:
    world = await cats()
    page = (await world.ledger.pages())[0]
    read = await world.ledger.page(page.id)
    gone = turn_evidence(read, read.lines[0])
    gone = replace(gone, spans=tuple(replace(span, page_id="p1:gone") for span in gone.spans))  # type: ignore[arg-type]
    world.judge.on_compose = lambda evidence: says("three", 0)
    composed = await (await composer(world, "How many cats?")).word([EvidenceItem(evidence=gone)])
    assert [degraded.fallback for degraded in composed.degradations] == ["without the words of p1:gone"]
    assert composed.citations[0].quote == ""


# Wordings


async def test_without_evidence_nobody_is_asked() -> None:
    world = await World.new()
    composed = await (await composer(world, "How many cats?")).word([])
    assert composed == abstention()
    assert world.judge.composed == []


@pytest.mark.parametrize(
    "draft",
    [says("three"), says("three", 9), says("  ", 0), Draft(text="Tuesday?", cited=(), abstained=True)],
)
async def test_a_wording_without_words_or_without_sources_is_no_answer(draft: Draft) -> None:
    world = await cats()
    world.judge.on_compose = lambda evidence: draft
    composed = (await world.ask("How many cats?", mode="summary")).composed
    assert (composed.abstained, composed.holds) == (True, False)
    assert composed.text == lines_as_text(NEAREST, composed.said)
    assert (composed.citations, composed.support, composed.check) == ((), None, None)


@pytest.mark.parametrize(
    ("cited", "reason"),
    [
        ((), "compose cites none of its evidence"),
        ((9,), "compose cites none of its evidence: (9,) are not among 0 to 1"),
    ],
)
async def test_that_a_wording_cites_nothing_is_said(cited: tuple[int, ...], reason: str) -> None:
    world = await cats()
    world.judge.on_compose = lambda evidence: says("three", *cited)
    composed = (await world.ask("How many cats?", mode="summary")).composed
    (degradation,) = composed.degradations
    assert degradation == Degradation(stage="compose", reason=reason, fallback="no answer")


async def test_what_a_refused_wording_was_refused_for_is_what_is_missing() -> None:
    world = await World.new()
    await world.page("Ann: I adopted three cats yesterday")
    world.judge.on_compose = lambda evidence: says("three cats")
    outcome = await world.ask("How many cats?", mode="summary")
    (verdict,) = outcome.checks
    assert verdict.refused
    assert outcome.composed.missing == verdict.reason


async def test_a_statement_that_the_cited_turns_prove_is_kept_as_a_fact() -> None:
    world = await World.new()
    await world.page("Ann: I adopted three cats yesterday")
    statements = ["Ann adopted three cats", "Ann adopted four cats", "Ann adores small animals", ""]
    kept = []
    for statement in statements:
        draft = says("three", 0, statement=statement)
        world.judge.composed.clear()
        world.judge.drafts(draft)
        kept.append((await world.ask("How many cats?", mode="summary")).composed.statement)
    assert [fact is not None for fact in kept] == [True, False, False, False]
    assert kept[0] is not None
    assert kept[0].claim == "Ann adopted three cats"


async def test_a_spent_budget_displays_lines_as_they_were_said() -> None:
    world = await cats()

    def spent(evidence: Sequence[Evidence]) -> Draft:
        raise BudgetExceeded("the budget of 1 call is used up")

    world.judge.on_compose = spent
    outcome = await world.ask("How many cats did Ann adopt?", mode="summary")
    assert [degraded.fallback for degraded in outcome.all_degradations] == ["lines as they were said"]
    assert outcome.composed.abstained
    assert outcome.composed.said[0].text == "I adopted three cats yesterday"
    assert "the budget of 1 call is used up" in outcome.all_degradations[0].reason
    assert outcome.composed.missing == ""


async def test_a_wording_that_is_no_answer_betters_none_that_is_one() -> None:
    one = ComposedAnswer(text="three", abstained=False)
    other = replace(one, text="four")
    assert better(other, [one]) is other
    assert better(abstention(), [abstention(), one]) is one
    assert better(replace(other, declined="no"), [one]) is one


# Research


async def test_research_is_worded_from_its_facts_with_their_words_beside_them() -> None:
    world = await cats()
    claiming(world, STATED)
    outcome = await world.ask("How many cats?", mode="raw", recall_turns=0)
    fact, *besides = world.judge.composed[0]
    assert (fact.text, fact.quote) == ("Ann adopted three cats", 'Ann: "I adopted three cats yesterday"')
    assert outcome.composed.text == "Ann adopted three cats"
    assert [one.claim for one in outcome.composed.facts] == ["Ann adopted three cats"]
    assert outcome.composed.citations[0].quote == "I adopted three cats yesterday"
    assert outcome.composed.citations[0].claim == "Ann adopted three cats"
    # A unit that rests on the very words of a fact is not shown beside it.
    assert all(item.spans != fact.spans for item in besides)


async def test_of_a_fact_that_is_only_worded_the_words_are_evidence_and_the_claim_is_not() -> None:
    world = await cats()
    claiming(world, WORDED)
    world.judge.on_compose = lambda evidence: says("three cats", 0)
    outcome = await world.ask("What did Ann adopt?", mode="raw", recall_turns=0)
    shown = world.judge.composed[0][0]
    assert (shown.text, shown.quote) == ('Ann: "I adopted three cats yesterday"', "")
    assert all("adores" not in f"{item.text} {item.quote}" for item in world.judge.composed[0])
    assert outcome.findings is not None
    assert [fact.support for fact in outcome.findings.facts] == ["worded"]
    assert outcome.facts == ()
    assert outcome.composed.citations[0].support == "worded"


async def test_the_words_of_worded_facts_are_known_to_what_is_read_next() -> None:
    world = await cats()
    await world.page("Ann: a bird sang")
    claiming(world, WORDED)
    searches = (Search(kind="KEYWORD", query="bird"),)
    world.judge.on_plan = lambda turn: Planned(done=False, reason="more", searches=searches)
    await world.ask("How many cats?", mode="raw", recall_turns=0)
    assert world.judge.known[0] == ()
    assert [item.text for item in world.judge.known[1]] == ['Ann: "I adopted three cats yesterday"']


async def test_a_claim_that_the_page_never_says_is_no_evidence_and_of_one_it_denies_the_words_are() -> None:
    world = await cats()
    claiming(world, DENIED, ABSENT)
    outcome = await world.ask("How many cats?", mode="raw", recall_turns=0)
    assert outcome.findings is not None
    (fact,) = outcome.findings.facts
    assert fact.reason == "not in the quoted turns: four cats"
    assert len(outcome.findings.rejected) == 1
    assert all("four" not in item.text for item in world.judge.composed[0])


async def test_where_research_finds_no_fact_units_and_turns_are_worded() -> None:
    world = await cats()
    outcome = await world.ask("How many cats?", mode="raw")
    sources = [item.source for item in world.judge.composed[0]]
    assert sources == ["unit", "turn", "turn"]
    assert outcome.composed.holds


_drafts = st.builds(
    Draft,
    text=st.sampled_from(["three", "four", "Ann", "Rex is six", "\ud800", ""]) | st.text(max_size=20),
    cited=st.lists(st.integers(-3, 9), max_size=4).map(tuple),
    abstained=st.booleans(),
    complete=st.booleans(),
    missing=st.sampled_from(["", "names", "\ud800"]),
    statement=st.sampled_from(["", "Ann adopted three cats", "\ud800"]),
)


@settings(max_examples=60)
@given(
    drafts=st.lists(_drafts, min_size=4, max_size=4),
    route=st.sampled_from([None, ANSWER, ESCALATE]),
    mode=st.sampled_from(["router", "summary", "raw"]),
    facts=st.booleans(),
    unproved=st.sampled_from(["mark", "abstain"]),
)
def test_whatever_is_worded_an_answer_holds_or_there_is_none(
    drafts: list[Draft], route: object, mode: AskMode, facts: bool, unproved: Unproved
) -> None:
    async def main() -> None:
        world = await cats()
        await world.say("Ann: my new bike is blue \ud800")
        if facts:
            claiming(world, STATED, WORDED, DENIED)
        world.judge.on_route = None if route is None else lambda evidence: route  # type: ignore[assignment,return-value]
        world.judge.on_compose = lambda evidence: drafts[len(world.judge.composed) - 1]
        outcome = await world.ask("How many cats?", mode=mode, unproved=unproved)
        composed = outcome.composed
        assert composed.abstained != composed.holds
        assert composed.abstained == (composed.citations == ())
        assert (composed.support is None) == composed.abstained
        assert [c.number for c in composed.citations] == list(range(1, len(composed.citations) + 1))
        assert len(outcome.checks) <= len(world.judge.composed)
        if composed.abstained:
            assert composed.text == lines_as_text(NEAREST, composed.said)
        else:
            assert not outcome.checks[-1].refused
            assert unproved == "mark" or composed.support in ("quoted", "computed")
        for citation in composed.citations:
            parts = []
            for span in citation.spans:
                page = await world.ledger.page(span.page_id)
                parts.append(page.text[span.start : span.end].replace("\ud800", "\ufffd"))
            assert citation.quote == " … ".join(parts)

    anyio.run(main)
