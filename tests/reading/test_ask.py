"""The way of a question: each step only where the one before it was not enough, and nothing read twice."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import Page, PageId
from tests.reading.world import (
    ANSWER,
    ASKED,
    DONE,
    ESCALATE,
    MAIN,
    Words,
    World,
    make_question,
    says,
    silence,
)
from tiermem.errors import (
    BudgetExceeded,
    IndexUnavailable,
    MalformedReply,
    ModelError,
    ModelRefused,
    ModelUnavailable,
)
from tiermem.ledger import Around, Changes, Ledger, Tier1, Unread
from tiermem.llm.meter import Meter, check_budget, paid_by, pay
from tiermem.model import NEAREST, Answer, AskMode, Budget, Claim, Evidence, Search, Usage, lines_as_text
from tiermem.reading import Scope
from tiermem.reading.answer import Outcome
from tiermem.reading.compose import ABSTENTION
from tiermem.reading.neighbours import with_neighbours
from tiermem.reading.turns import FoundTurn
from tiermem.reasoning import Draft, PageView
from tiermem.reasoning.fixed import always, never
from tiermem.reasoning.interface import Integrated, Planned

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]

SPEECH = tuple(f"{'Ann' if n % 2 else 'Bob'}: thing {n} is told here" for n in range(12))


def keyword(query: str) -> Search:
    return Search(kind="KEYWORD", query=query)


def look_for(*queries: str) -> Planned:
    return Planned(done=False, reason="more", searches=tuple(map(keyword, queries)))


async def cats() -> World:
    """A page of two turns and a unit for each."""
    world = await World.new()
    await world.linked_page("Ann: I adopted three cats yesterday", "Bob: my dog Rex is six years old")
    return world


async def zoo(*animals: str) -> World:
    """A page for each animal, and a unit that tells of cats."""
    world = await World.new()
    page = await world.page("Ann: I adopted three cats yesterday")
    await world.units(page, ("Ann adopted three cats in town", "I adopted three cats"))
    for animal in animals:
        await world.page(f"Ann: I once saw a {animal} in the park", f"Bob: a {animal}, really?")
    return world


def texts(evidence: Sequence[Evidence]) -> list[str]:
    return [item.text for item in evidence]


def partly(text: str, *cited: int, missing: str = "their names") -> Draft:
    return says(text, *cited, complete=False, missing=missing)


def abstains_first(world: World) -> None:
    """Nothing is known at first, and of what is found later something is missing."""
    world.judge.on_compose = lambda evidence: (
        silence("how many") if len(world.judge.composed) == 1 else partly("three", 0)
    )


# Fused: nobody decides beforehand.


async def test_a_complete_first_wording_is_one_call_and_nothing_more_is_read() -> None:
    world = await cats()
    world.judge.drafts(says("three", 0))
    outcome = await world.ask("How many cats did Ann adopt?")
    assert len(world.judge.composed) == 1
    assert (world.judge.planned, world.judge.shown) == ([], [])
    assert (outcome.way, outcome.composed.text, outcome.composed.complete) == ("recall", "three", True)
    assert (outcome.decision.action, outcome.decision.router) == ("ANSWER", "fused")
    assert outcome.findings is None
    assert outcome.evidence == outcome.recalled.items == world.judge.composed[0]


@pytest.mark.parametrize("first", [silence("what they eat"), says("  ", 0), says("three")])
async def test_a_first_wording_that_is_no_complete_answer_is_worded_again_from_more_turns(
    first: Draft,
) -> None:
    world = await cats()
    world.judge.drafts(first, says("three cats", 0))
    outcome = await world.ask("How many cats?")
    assert (outcome.way, outcome.composed.text) == ("widened", "three cats")
    assert (outcome.decision.action, outcome.decision.router) == ("ESCALATE", "fused")
    assert len(world.judge.composed) == 2
    assert world.judge.planned == []


async def test_what_a_part_of_an_answer_misses_is_looked_for_among_turns_at_once() -> None:
    world = await zoo("dog", "fish", "bird")
    world.judge.on_plan = lambda turn: look_for(("dog", "fish", "bird")[turn - 1])
    world.judge.on_compose = lambda evidence: partly("three", 0, missing="the dog")
    outcome = await world.ask("How many cats?", recall_turns=1)
    assert (outcome.decision.action, outcome.way) == ("ESCALATE", "researched")
    assert outcome.findings is not None
    assert [one.searches for one in outcome.findings.rounds] == [(keyword("dog"),), (keyword("fish"),)]
    assert world.judge.missing == ["the dog", "the dog"]
    assert len(world.judge.composed) == 3
    assert world.judge.shown == [], "no page is read"


async def test_where_more_turns_cannot_be_worded_it_goes_on_from_what_was_recalled() -> None:
    world = await zoo("dog", "fish")

    def word(_: Sequence[Evidence]) -> Draft:
        if len(world.judge.composed) == 2:
            raise MalformedReply("no JSON in 'hm'")
        return silence("the dog") if len(world.judge.composed) == 1 else says("a dog", 0)

    world.judge.on_compose = word
    world.judge.on_plan = lambda turn: look_for("dog")
    outcome = await world.ask("Which animals besides her cats did Ann see?", recall_turns=1, widen_turns=1)
    assert (outcome.way, outcome.composed.text) == ("researched", "a dog")
    assert world.judge.missing == ["the dog"]
    assert set(world.judge.composed[0]) <= set(world.judge.composed[2])
    assert any("MalformedReply" in one.reason for one in outcome.all_degradations)


async def test_more_turns_are_the_best_ones_with_those_beside_them_in_the_order_they_were_said() -> None:
    world = await World.new()
    await world.page(*SPEECH[:6])
    await world.page(*SPEECH[6:])
    world.judge.drafts(silence(), says("thing 3", 0))
    outcome = await world.ask("thing 3 and thing 8?", recall_turns=1, widen_turns=2)
    assert texts(world.judge.composed[1]) == [SPEECH[n] for n in (2, 3, 4, 7, 8, 9)]
    assert outcome.way == "widened"


async def test_where_the_pages_tell_nothing_more_turns_are_read_in_the_order_they_were_said() -> None:
    world = await World.new()
    await world.page(*SPEECH[:6])
    await world.page(*SPEECH[6:])
    world.judge.on_route = lambda evidence: ESCALATE
    world.judge.drafts(says("thing 8", 0))
    outcome = await world.ask("is thing 8 told?", recall_turns=1, widen_turns=2)
    assert outcome.way == "researched"
    shown = texts(world.judge.composed[0])
    assert len(shown) == len(set(shown)) > 2
    numbers = [SPEECH.index(text) for text in shown]
    assert numbers == sorted(numbers)


async def test_units_that_were_recalled_stand_before_the_turns() -> None:
    world = await zoo("dog")
    world.judge.drafts(silence(), says("three", 0))
    await world.ask("How many cats?")
    assert [item.source for item in world.judge.composed[1]] == ["unit", "turn"]


async def test_no_piece_of_evidence_is_put_before_the_engine_twice() -> None:
    world = await zoo("dog", "fish")
    world.judge.on_plan = lambda turn: look_for("dog") if turn == 1 else look_for("fish")
    abstains_first(world)
    outcome = await world.ask("How many cats?")
    assert len(world.judge.composed) == 4
    for evidence in (*world.judge.composed, outcome.evidence):
        assert max(Counter((item.source, item.spans) for item in evidence).values()) == 1


async def found(world: World, question: str) -> tuple[FoundTurn, ...]:
    return (await (await world.look_up()).turns(make_question(question), limit=999)).turns


@settings(max_examples=40)
@given(
    limit=st.integers(0, 14),
    tokens=st.integers(0, 90),
    query=st.sampled_from(["thing 3", "thing 8 told", "thing", "here 0 11"]),
)
def test_more_turns_keep_their_limits_their_neighbours_and_the_order_of_the_log(
    limit: int, tokens: int, query: str
) -> None:
    async def main() -> None:
        world = await World.new()
        await world.page(*SPEECH[:5])
        await world.say(*SPEECH[5:])
        await world.project()
        turns = await found(world, query)
        wide = with_neighbours(turns, limit=limit, tokens=tokens, count=Words().count)
        assert sum(Words().count(item.text) for item in wide) <= tokens
        numbers = [SPEECH.index(item.text) for item in wide]
        assert numbers == sorted(set(numbers))
        best = [SPEECH.index(turn.evidence().text) for turn in turns[:limit]]
        assert all(any(abs(number - other) <= 1 for other in best) for number in numbers)
        if tokens >= 6 and best:
            assert best[0] in numbers
        if tokens >= 6 * len(SPEECH):
            assert set(best) <= set(numbers)

    anyio.run(main)


async def test_what_is_still_missing_is_planned_and_looked_up_among_turns() -> None:
    world = await zoo("dog", "fish")
    world.judge.on_plan = lambda turn: [look_for("dog"), look_for("fish")][turn - 1]
    world.judge.drafts(
        silence("the dog"),
        silence("the dog"),
        partly("a dog", 0, missing="the fish"),
        says("a dog, a fish", 0, 1),
    )
    outcome = await world.ask("Which animals besides her cats did Ann see?", recall_turns=1, widen_turns=1)
    assert (outcome.way, outcome.composed.text) == ("researched", "a dog, a fish")
    assert world.judge.planned == [(), (keyword("dog"),)]
    assert world.judge.missing == ["the dog", "the fish"]
    assert outcome.findings is not None
    assert [(r.number, r.searches, r.stop) for r in outcome.findings.rounds] == [
        (1, (keyword("dog"),), None),
        (2, (keyword("fish"),), None),
    ]
    assert [len(r.pages) for r in outcome.findings.rounds] == [1, 1]
    third, fourth = world.judge.composed[2:]
    assert texts(third)[:2] == ["Ann: I once saw a dog in the park", "Bob: a dog, really?"]
    assert fourth[0] == third[0]  # what was cited stands first
    assert "Ann: I once saw a fish in the park" in texts(fourth)
    assert world.judge.shown == []


def meaning(*queries: str) -> tuple[Search, ...]:
    return tuple(Search(kind="SEMANTIC", query=query) for query in queries)


async def test_a_part_of_an_answer_that_names_look_ups_is_completed_without_a_plan() -> None:
    world = await zoo("dog", "fish")
    world.judge.drafts(
        replace(partly("cats", 0, missing="others"), searches=meaning("a dog")),
        replace(partly("cats, a dog", 0, 1, missing="others"), searches=meaning("A  DOG", "a fish")),
        says("cats, a dog, a fish", 0, 1, 2),
    )
    outcome = await world.ask("How many cats?", recall_turns=1, look_turns=1)
    assert outcome.findings is not None
    assert [r.searches for r in outcome.findings.rounds] == [meaning("a dog"), meaning("a fish")]
    assert outcome.composed.text == "cats, a dog, a fish"
    assert (world.judge.planned, world.judge.known) == ([], [])
    assert "Ann: I once saw a dog in the park" in texts(world.judge.composed[1])
    assert "Ann: I once saw a fish in the park" in texts(world.judge.composed[2])


async def test_an_abstention_that_names_look_ups_looks_for_the_question_too_and_is_not_widened_first() -> (
    None
):
    world = await zoo("dog", "fish")
    world.judge.drafts(replace(silence("the fish"), searches=meaning("a fish")), says("a fish, really?", 0))
    question = "What did Bob say of the dog?"
    outcome = await world.ask(question, recall_turns=1, look_turns=1)
    assert (outcome.way, len(outcome.checks)) == ("researched", 1)
    assert outcome.findings is not None
    assert [r.searches for r in outcome.findings.rounds] == [meaning("a fish", question)]
    assert {"fish", "dog"} <= {word for text in texts(world.judge.composed[1]) for word in text.split()}


async def test_a_part_for_which_no_look_up_would_help_is_the_answer() -> None:
    world = await zoo("dog")
    world.judge.drafts(replace(partly("some cats", 0, missing="how many"), searches=()))
    outcome = await world.ask("How many cats?", recall_turns=1)
    assert (outcome.composed.text, len(world.judge.composed)) == ("some cats", 1)
    assert outcome.findings is not None
    assert [r.stop for r in outcome.findings.rounds] == ["nothing new to look up"]


async def test_the_first_turns_of_all_look_ups_come_before_the_second_of_any() -> None:
    world = await zoo("dog", "fish")
    world.judge.drafts(
        replace(partly("cats", 0, missing="more"), searches=meaning("dog", "fish")), says("cats", 0)
    )
    await world.ask("How many cats?", recall_turns=1, look_turns=2, widen_tokens=24)
    first = {f"Ann: I once saw a {animal} in the park" for animal in ("dog", "fish")}
    assert first <= set(texts(world.judge.composed[1]))


async def test_it_is_looked_further_only_as_often_as_allowed() -> None:
    world = await zoo("dog", "fish", "bird", "horse")
    animals = ("dog", "fish", "bird", "horse")
    world.judge.on_plan = lambda turn: look_for(animals[turn - 1])
    abstains_first(world)
    question = "How many cats?"
    assert len((await world.ask(question, recall_turns=1, widen_turns=1)).checks) == 3
    assert len(world.judge.planned) == 2
    world.judge.planned.clear()
    world.judge.composed.clear()
    outcome = await world.ask(question, recall_turns=1, widen_turns=1, looks=0)
    assert (world.judge.planned, outcome.way) == ([], "widened")


async def test_a_look_up_that_was_made_is_not_made_again_and_ends_the_search() -> None:
    world = await zoo("dog", "fish")
    world.judge.on_plan = lambda turn: look_for("dog", " DOG ")
    abstains_first(world)
    outcome = await world.ask("How many cats?", recall_turns=1, widen_turns=1)
    assert outcome.findings is not None
    first, second = outcome.findings.rounds
    assert first.searches == (keyword("dog"),)
    assert (second.searches, second.pages, second.stop) == ((), (), "nothing new to look up")
    assert len(world.judge.composed) == 3


async def test_a_look_up_that_brings_only_what_was_shown_ends_the_search() -> None:
    world = await cats()
    world.judge.on_plan = lambda turn: look_for("dog Rex")
    abstains_first(world)
    outcome = await world.ask("How many cats?")
    assert outcome.findings is not None
    (only,) = outcome.findings.rounds
    assert (only.searches, only.pages) == ((keyword("dog Rex"),), ())
    assert only.stop
    assert len(world.judge.composed) == 2


_words = st.sampled_from(["dog", "fish", "bird", "dog park", "park", "cats", "really", "", "\ud800"])
_plan = st.builds(
    Planned,
    done=st.sampled_from([False, False, False, True]),
    reason=st.just("so"),
    searches=st.lists(
        st.builds(Search, kind=st.sampled_from(["SEMANTIC", "KEYWORD"]), query=_words), max_size=7
    ).map(tuple),
)


@settings(max_examples=30)
@given(
    plans=st.lists(_plan, min_size=3, max_size=3),
    looks=st.integers(0, 3),
    turns=st.integers(1, 3),
    tokens=st.integers(5, 80),
)
def test_whatever_is_planned_no_look_up_and_no_new_turn_comes_twice_and_every_limit_holds(
    plans: list[Planned], looks: int, turns: int, tokens: int
) -> None:
    async def main() -> None:
        world = await zoo("dog", "fish", "bird")
        world.judge.on_plan = lambda turn: plans[turn - 1]
        abstains_first(world)
        outcome = await world.ask(
            "How many cats?",
            recall_turns=1,
            widen_turns=1,
            looks=looks,
            look_turns=turns,
            widen_tokens=tokens,
        )
        assert outcome.findings is not None
        rounds = outcome.findings.rounds
        assert len(rounds) <= looks
        made = [(s.kind, s.query.casefold()) for r in rounds for s in r.searches]
        assert len(set(made)) == len(made)
        assert all(len(r.searches) <= 5 and len(r.pages) <= turns * len(r.searches) for r in rounds)
        new = [item.spans for item in outcome.findings.evidence if item.source == "turn"]
        assert len(set(new)) == len(new)
        for evidence in world.judge.composed[2:]:
            assert sum(Words().count(item.text) for item in evidence[1:]) <= tokens
        assert len(world.judge.composed) <= 2 + looks

    anyio.run(main)


async def test_an_incomplete_answer_that_nothing_improves_stands_and_says_what_is_missing() -> None:
    world = await cats()
    world.judge.drafts(partly("three", 0), silence("everything"))
    world.judge.on_plan = lambda turn: look_for("dog")
    outcome = await world.ask("How many cats, and what are they called?", recall_turns=1)
    composed = outcome.composed
    assert (composed.text, composed.complete, composed.missing) == ("three", False, "their names")
    assert (outcome.way, composed.support) == ("researched", "quoted")
    answer = answered_of(world, outcome)
    assert (answer.abstained, answer.complete, answer.missing) == (False, False, "their names")
    assert answer.route == "ESCALATE"


async def test_the_best_of_several_look_ups_stands_where_the_last_finds_no_answer() -> None:
    world = await zoo("dog", "fish")
    world.judge.on_plan = lambda turn: [look_for("dog"), look_for("fish")][turn - 1]
    world.judge.drafts(silence(), silence(), partly("a dog", 0, missing="more animals"), silence())
    outcome = await world.ask("Which animals besides her cats did Ann see?", recall_turns=1, widen_turns=1)
    assert (outcome.composed.text, outcome.composed.missing) == ("a dog", "more animals")


async def test_every_wording_is_checked_once_and_kept_the_one_that_counts_last() -> None:
    world = await zoo("dog", "fish")
    world.judge.on_plan = lambda turn: [look_for("dog"), look_for("fish")][turn - 1]
    world.judge.drafts(
        silence("how many"), says("four cats"), partly("Melanie saw a dog", 0), says("five cats")
    )
    outcome = await world.ask("How many cats?", recall_turns=1, widen_turns=1)
    assert [one.text for one in outcome.attempts] == [ABSTENTION, "four cats", "five cats"]
    assert outcome.composed.text == "Melanie saw a dog"
    assert len(outcome.checks) == 3
    assert outcome.checks[-1].unsupported == ("Melanie",)


async def test_where_no_step_finds_an_answer_there_is_none() -> None:
    world = await cats()
    world.judge.on_compose = lambda evidence: silence("what the cats eat")
    outcome = await world.ask("What do the cats eat?")
    assert outcome.composed.abstained
    assert outcome.composed.text == lines_as_text(NEAREST, outcome.composed.said)
    assert outcome.composed.missing == "what the cats eat"
    assert outcome.decision.reason == "what the cats eat"
    answer = answered_of(world, outcome)
    assert (answer.abstained, answer.support, answer.citations) == (True, None, ())


@pytest.mark.parametrize("mode", ["router", "summary", "raw"])
async def test_a_question_whose_first_reply_is_malformed_is_an_error_and_no_abstention(mode: AskMode) -> None:
    world = await cats()

    def babble(*given: object) -> Any:
        raise MalformedReply("no JSON in 'hm'")

    world.judge.on_compose = world.judge.on_integrate = babble
    with pytest.raises(MalformedReply, match="no JSON in 'hm'"):
        await world.ask("How many cats?", mode=mode)
    assert len(world.judge.composed) + len(world.judge.shown) == 1


async def test_a_malformed_reply_after_a_decision_of_the_router_is_an_error() -> None:
    world = await cats()

    def babble(*given: object) -> Any:
        raise MalformedReply("no JSON in 'hm'")

    world.judge.on_route = lambda evidence: ESCALATE
    world.judge.on_compose = world.judge.on_integrate = babble
    with pytest.raises(MalformedReply):
        await world.ask("How many cats?")
    assert (len(world.judge.shown), world.judge.composed) == (1, [])


async def test_an_empty_memory_abstains_without_asking_for_a_wording() -> None:
    world = await World.new()
    outcome = await world.ask("What colour is the bike?")
    assert outcome.composed.abstained
    assert world.judge.composed == []


# A router that decides beforehand.


async def test_a_router_that_answers_leaves_it_at_what_was_recalled() -> None:
    world = await cats()
    world.judge.on_route = lambda evidence: ANSWER
    world.judge.drafts(says("three", 0))
    outcome = await world.ask("How many cats?")
    assert (outcome.decision, outcome.way) == (ANSWER, "recall")
    assert world.judge.routed == [outcome.recalled.items]
    assert world.judge.shown == []


async def test_a_router_that_escalates_has_the_pages_read_before_anything_is_worded() -> None:
    world = await cats()
    world.judge.on_route = lambda evidence: ESCALATE
    proves(world)
    outcome = await world.ask("How many cats?")
    assert (outcome.decision, outcome.way) == (ESCALATE, "researched")
    assert len(world.judge.shown) == len(world.judge.composed) == 1
    assert world.judge.composed[0][0].text == "Ann adopted three cats"


@pytest.mark.parametrize("first", [partly("three", 0), silence(), says("three")])
async def test_the_decision_stays_what_it_was_where_the_answer_it_led_to_does_not_suffice(
    first: Draft,
) -> None:
    world = await cats()
    world.judge.on_route = lambda evidence: ANSWER
    proves(world)
    world.judge.drafts(first, says("three cats", 0))
    outcome = await world.ask("How many cats?")
    assert (outcome.decision, outcome.way) == (ANSWER, "researched")
    assert outcome.composed.text == "three cats"
    trace = answered_of(world, outcome).trace
    assert (trace.decision, trace.way) == (ANSWER, "researched")
    assert answered_of(world, outcome).route == "ESCALATE"


async def test_routes_that_never_look_are_routes_as_any_other() -> None:
    world = await cats()
    question = "How many cats did Ann adopt?"
    reader = world.reader()
    for route, way in ((always, "researched"), (never, "recall")):
        reader._engine = replace(world.judge.engine(), route=route)
        outcome = await reader.ask(make_question(question))
        assert (outcome.way, outcome.decision.router) == (way, route.name)


async def test_the_gate_of_rules_decides_in_front_of_an_engine() -> None:
    from tiermem.reasoning import with_router

    world = await cats()
    reader = world.reader()
    reader._engine = with_router(world.judge.engine(), "gate")
    outcome = await reader.ask(make_question("How many cats did Ann adopt?"))
    assert outcome.decision.router == "gate"
    assert len(world.judge.composed) == 1


# Modes.


@pytest.mark.parametrize("first", [partly("three", 0), silence(), says("three")])
@pytest.mark.parametrize("routed", [False, True])
async def test_asked_for_summaries_nothing_more_is_read_whatever_the_wording(
    first: Draft, routed: bool
) -> None:
    world = await cats()
    world.judge.on_route = (lambda evidence: ESCALATE) if routed else None
    world.judge.drafts(first)
    outcome = await world.ask("How many cats?", mode="summary")
    assert (outcome.way, outcome.decision.router, outcome.decision.action) == ("recall", "mode", "ANSWER")
    assert len(world.judge.composed) == 1
    assert (world.judge.routed, world.judge.planned, world.judge.shown) == ([], [], [])
    assert outcome.composed.abstained == (not first.cited)


@pytest.mark.parametrize("routed", [False, True])
async def test_asked_for_the_pages_they_are_always_read(routed: bool) -> None:
    world = await cats()
    world.judge.on_route = (lambda evidence: ANSWER) if routed else None
    outcome = await world.ask("How many cats?", mode="raw")
    assert (outcome.way, outcome.decision.router, outcome.decision.action) == (
        "researched",
        "mode",
        "ESCALATE",
    )
    assert (len(world.judge.shown), len(world.judge.composed)) == (1, 1)
    assert world.judge.routed == []


# What gives out on the way.


def spends(world: World, *drafts: Draft) -> None:
    """Every wording is a call that is paid."""

    def reply(evidence: Sequence[Evidence]) -> Draft:
        check_budget()
        pay(Usage(calls=1))
        return drafts[len(world.judge.composed) - 1]

    world.judge.on_compose = reply


async def test_a_budget_spent_on_the_way_keeps_the_answer_there_is_and_says_so() -> None:
    world = await cats()
    spends(world, partly("three", 0))
    with paid_by(Meter(budget=Budget(calls=1))):
        outcome = await world.ask("How many cats did Ann adopt?")
    composed = outcome.composed
    assert (composed.text, composed.complete, composed.missing) == ("three", False, "their names")
    reasons = [degraded.reason for degraded in outcome.all_degradations]
    assert reasons
    assert all("budget of 1 call is used up" in reason for reason in reasons)
    assert len(outcome.checks) >= 1
    assert outcome.attempts == () or all(one is not composed for one in outcome.attempts)


async def test_a_budget_spent_while_looking_further_keeps_what_was_found_until_then() -> None:
    world = await zoo("dog", "fish")
    spends(world, silence(), silence(), partly("a dog", 0, missing="more animals"))
    world.judge.on_plan = lambda turn: look_for("dog")
    with paid_by(Meter(budget=Budget(calls=3))):
        outcome = await world.ask(
            "Which animals besides her cats did Ann see?", recall_turns=1, widen_turns=1
        )
    assert (outcome.composed.text, outcome.composed.missing) == ("a dog", "more animals")
    assert (outcome.way, len(outcome.checks)) == ("researched", 1)
    (degraded,) = outcome.all_degradations
    assert "budget of 3 calls is used up" in degraded.reason
    assert outcome.findings is not None
    assert [one.searches for one in outcome.findings.rounds] == [(keyword("dog"),)]


async def test_a_budget_spent_before_the_first_wording_displays_lines_as_they_were_said() -> None:
    world = await cats()
    spends(world)
    with paid_by(Meter(budget=Budget(calls=0))):
        outcome = await world.ask("How many cats did Ann adopt?")
    assert "lines as they were said" in [degraded.fallback for degraded in outcome.all_degradations]
    assert outcome.composed.abstained
    assert outcome.composed.said[0].text == "I adopted three cats yesterday"


async def test_a_budget_spent_before_the_route_answers_from_what_was_recalled() -> None:
    world = await cats()

    def spent(evidence: Sequence[Evidence]) -> None:
        raise BudgetExceeded("the budget of 1 call is used up")

    world.judge.on_route = spent  # type: ignore[assignment]  # it never gives a decision
    outcome = await world.ask("How many cats?")
    assert (outcome.decision.action, outcome.decision.router, outcome.way) == ("ANSWER", "budget", "recall")
    assert [degraded.stage for degraded in outcome.all_degradations] == ["route"]


@pytest.mark.parametrize(
    "error", [ModelUnavailable("down"), MalformedReply("no JSON"), ModelRefused("no key")]
)
async def test_a_model_that_gives_out_later_leaves_the_answer_there_is(error: ModelError) -> None:
    world = await cats()

    def reply(evidence: Sequence[Evidence]) -> Draft:
        if len(world.judge.composed) > 1:
            raise error
        return partly("three", 0)

    world.judge.on_compose = reply
    world.judge.on_plan = lambda turn: look_for("dog")
    outcome = await world.ask("How many cats?")
    assert (outcome.composed.text, outcome.way) == ("three", "recall")
    assert len(outcome.checks) == 1
    assert {degraded.stage for degraded in outcome.all_degradations} <= {"widened", "researched"}
    assert type(error).__name__ in outcome.all_degradations[0].reason


@pytest.mark.parametrize("error", [ModelUnavailable("down"), ModelRefused("no key")])
@pytest.mark.parametrize("routed", [None, ANSWER, ESCALATE])
async def test_a_model_that_is_down_is_an_error_where_there_is_no_answer(
    error: ModelError, routed: object
) -> None:
    world = await cats()

    def down(evidence: Sequence[Evidence]) -> Draft:
        raise error

    world.judge.on_route = None if routed is None else lambda evidence: routed  # type: ignore[assignment,return-value]
    world.judge.on_compose = down
    with pytest.raises(type(error)):
        await world.ask("How many cats?")


async def test_an_index_that_breaks_on_the_way_is_searched_around_and_that_is_said() -> None:
    world = await zoo("dog", "fish")

    def plan(turn: int) -> Planned:
        world.index.broken = IndexUnavailable("gone")
        return look_for("dog")

    world.judge.on_plan = plan
    world.judge.drafts(silence(), silence(), says("a dog", 0))
    outcome = await world.ask("Which animal besides her cats did Ann see?", recall_turns=1, widen_turns=1)
    assert outcome.composed.text == "a dog"
    assert [degraded.fallback for degraded in outcome.all_degradations] == ["keywords in the log"]


async def test_a_second_look_keeps_what_the_first_one_found() -> None:
    world = await zoo("dog", "fish")
    world.judge.on_plan = lambda turn: look_for("dog" if turn == 1 else "fish")
    world.judge.on_compose = lambda evidence: silence("which animals")
    await world.ask("How many cats?", recall_turns=1, widen_turns=1)
    last = texts(world.judge.composed[-1])
    assert {"Ann: I once saw a dog in the park", "Ann: I once saw a fish in the park"} <= set(last)


async def test_what_had_no_room_was_not_read_and_can_be_found_again() -> None:
    world = await cats()
    await world.page(*(f"Ann: dog number {n} ran in the park" for n in range(12)))
    world.judge.on_plan = lambda turn: look_for("dog" if turn == 1 else "dog park")
    world.judge.on_compose = lambda evidence: silence("which dogs")
    outcome = await world.ask("How many cats?", recall_turns=1, widen_turns=1, widen_tokens=30)
    shown = {text for evidence in world.judge.composed for text in texts(evidence)}
    assert shown == set(texts(outcome.evidence))


async def test_where_the_budget_gives_out_while_looking_what_was_read_is_on_record() -> None:
    world = await zoo("dog", "fish")

    def plan(turn: int) -> Planned:
        if turn == 2:
            raise BudgetExceeded("the budget of 5 calls is used up")
        return look_for("dog")

    world.judge.on_plan = plan
    world.judge.on_compose = lambda evidence: silence("which animals")
    outcome = await world.ask("How many cats?", recall_turns=1, widen_turns=1)
    assert outcome.findings is not None
    shown = {text for evidence in world.judge.composed for text in texts(evidence)}
    assert shown <= set(texts(outcome.evidence))
    assert "BudgetExceeded" in outcome.all_degradations[-1].reason


async def test_what_research_proved_is_kept_where_the_model_is_down_for_the_wording() -> None:
    world = await cats()
    told = Claim(text="Bob has a dog called Rex", quotes=("my dog Rex is six years old",))
    world.judge.on_integrate = lambda views: Integrated(claims=(told,), coverage="the dog")

    def reply(evidence: Sequence[Evidence]) -> Draft:
        if len(world.judge.composed) > 1:
            raise ModelUnavailable("down")
        return partly("three", 0)

    world.judge.on_compose = reply
    outcome = await world.ask("How many cats and dogs?")
    assert outcome.composed.text == "three"
    assert outcome.findings is not None
    assert outcome.findings.rounds


@pytest.mark.parametrize("step", ["widening", "planning"])
async def test_a_reply_that_cannot_be_read_ends_a_step_and_not_the_question(step: str) -> None:
    world = await cats()

    def reply(evidence: Sequence[Evidence]) -> Draft:
        if step == "widening" and len(world.judge.composed) == 2:
            raise MalformedReply("no JSON")
        return silence("their names")

    def plan(turn: int) -> Planned:
        if step == "planning":
            raise MalformedReply("no JSON")
        return DONE

    world.judge.on_compose, world.judge.on_plan = reply, plan
    outcome = await world.ask("How many cats?")
    assert outcome.composed.abstained
    assert any("MalformedReply" in degraded.reason for degraded in outcome.all_degradations)
    shown = {text for evidence in world.judge.composed for text in texts(evidence)}
    assert shown <= set(texts(outcome.evidence))


async def test_pages_that_were_read_are_on_record_where_the_wording_cannot_be_read() -> None:
    world = await cats()

    def reply(evidence: Sequence[Evidence]) -> Draft:
        raise MalformedReply("no JSON in 'the dog'")

    world.judge.on_compose = reply
    outcome = await world.ask("How many cats?", mode="raw")
    assert outcome.composed.abstained
    assert {view.page.id for views in world.judge.shown for view in views}
    read = {page for one in answered_of(world, outcome).trace.rounds for page in one.pages}
    assert {view.page.id for views in world.judge.shown for view in views} <= read


async def test_turns_read_beside_pages_without_facts_are_on_record() -> None:
    world = await cats()
    await world.page("Ann: cats, cats again", "Bob: tell me more")
    world.judge.on_compose = lambda evidence: says(evidence[-1].text, len(evidence) - 1)
    outcome = await world.ask("How many cats?", mode="raw", recall_turns=1, recall_tokens=8)
    assert set(texts(world.judge.composed[-1])) <= set(texts(outcome.evidence))


async def test_pages_of_which_nothing_may_be_seen_take_no_place() -> None:
    world = await World.new()
    for number in range(6):
        await world.say(f"Web: cats eat fish number {number}", role="tool")
        await world.ledger.seal(MAIN)
    await world.page("Ann: we have seven cats")
    seen = await world.reader().search(
        make_question("cats eat fish"), kind="pages", limit=6, scope=Scope(min_trust="user")
    )
    assert len(seen) == 1
    await world.ask("What do cats eat?", mode="raw", scope=Scope(min_trust="user"), max_rounds=0)
    assert [["seven cats" in view.page.text for view in views] for views in world.judge.shown] == [[True]]


async def test_a_page_is_cited_for_every_turn_the_answer_needs_and_checked_by_those_alone() -> None:
    world = await World.new()
    await world.page("Ann: I live in Rome", "Ann: the weather is fine", "Bob: I adopted three cats")
    world.index.broken = IndexUnavailable("gone")
    world.judge.on_compose = lambda evidence: says("Rome, and Bob adopted three cats", 0)
    outcome = await world.ask("Where does Ann live, and who adopted cats?", recall_turns=0)
    (citation,) = outcome.composed.citations
    assert citation.quote == "I live in Rome … I adopted three cats"


# Nothing is read twice.


class Counting(Ledger):
    """Counts what is read of it."""

    reads: Counter[str]
    folds: int
    looked: int

    async def read(self, page_ids: Sequence[PageId], *, kept: bool = False) -> tuple[Page | Unread, ...]:
        found = await super().read(page_ids, kept=kept)
        self.reads.update(page_ids)
        self.reads.update(page.id for page in found if isinstance(page, Page) and page.id not in page_ids)
        return found

    async def page(self, page_id: PageId, *, kept: bool = False) -> Page:
        raise AssertionError(f"page {page_id!r} was read by itself")

    async def as_of(self, moment: datetime) -> tuple[Tier1, Around]:
        self.folds += 1
        return await super().as_of(moment)

    async def changes(self, after: int, *, besides: Collection[PageId] = ()) -> Changes:
        self.looked += 1
        return await super().changes(after, besides=besides)


async def counting(world: World) -> Counting:
    counted = await Counting.open(world.ledger._log)
    assert isinstance(counted, Counting)
    counted.reads, counted.folds, counted.looked = Counter(), 0, 0
    world.ledger = counted
    return counted


@pytest.mark.parametrize("past", [False, True])
@pytest.mark.parametrize("floor", [None, "user"])
@pytest.mark.parametrize("routed", [False, True])
@pytest.mark.parametrize("sealed", [False, True])
async def test_an_escalated_question_reads_each_page_once_and_folds_the_ledger_once(
    past: bool, floor: str | None, routed: bool, sealed: bool
) -> None:
    world = await zoo("dog", "fish", "bird")
    await world.say("Ann: the park is open")
    await world.project()
    if sealed:
        await world.ledger.seal()
    moment = datetime.now(ASKED.tzinfo)
    await world.linked_page("Ann: I walked home") if past else None
    counted = await counting(world)
    reader = world.reader(recall_turns=2, widen_turns=2)
    await reader.search(make_question("park"))  # what waits for the index is read once for all questions
    counted.reads, counted.folds, counted.looked = Counter(), 0, 0
    proves(world)
    world.judge.on_route = (lambda evidence: ESCALATE) if routed else None
    world.judge.on_plan = lambda turn: [look_for("dog", "park"), look_for("fish park", "bird"), DONE][
        turn - 1
    ]
    world.judge.on_compose = lambda evidence: partly("three", 0)
    scope = Scope(as_of=moment if past else None, min_trust=floor)
    outcome = await reader.ask(make_question("How many cats did Ann adopt?"), scope=scope)
    assert (outcome.way, outcome.composed.text) == ("researched", "three")
    assert outcome.findings is not None
    assert len(outcome.findings.rounds) >= 2
    assert counted.reads
    assert max(counted.reads.values()) == 1, counted.reads
    assert (counted.folds, counted.looked) == (int(past), 1)


# The ladder.


@pytest.mark.parametrize("answer", ["3", "4"])
async def test_a_number_that_no_cited_turn_holds_is_unsupported(answer: str) -> None:
    world = await World.new()
    for plant in ("tomato", "pepper", "basil"):
        await world.page(f"Ann: I planted a {plant}")
    world.judge.on_compose = lambda evidence: says(answer, *range(len(evidence)))
    outcome = await world.ask("How many plants did Ann plant?")
    given = answered_of(world, outcome)
    assert (given.text, given.support, given.derivations) == (answer, "worded", ())
    assert given.unsupported == (answer,)


async def test_a_date_is_counted_from_when_it_was_told() -> None:
    world = await World.new()
    await world.page("Ann: I moved to Boston a year ago", at=datetime(2023, 10, 19, 12, tzinfo=ASKED.tzinfo))
    world.judge.drafts(says("October 2022", 0))
    outcome = await world.ask("When did Ann move to Boston?")
    assert (outcome.composed.text, outcome.composed.support) == ("October 2022", "computed")
    assert outcome.composed.check is not None
    (derivation,) = outcome.composed.check.derivations
    assert (derivation.kind, derivation.value) == ("date", "October 2022")
    assert derivation.terms[0].text == "a year ago"


async def test_what_the_engine_knows_besides_is_answered_and_marked_as_worded() -> None:
    world = await World.new()
    await world.page("Ann: I grew up in Lyon")
    world.judge.on_compose = lambda evidence: says("France", 0)
    outcome = await world.ask("In which country did Ann grow up?")
    assert (outcome.composed.text, outcome.composed.support, outcome.way) == ("France", "worded", "recall")
    assert outcome.checks[-1].unsupported == ("France",)
    assert outcome.composed.citations[0].quote == "I grew up in Lyon"


async def test_an_answer_with_unsupported_words_is_withheld_where_that_is_asked_for() -> None:
    world = await World.new()
    await world.page("Ann: I grew up in Lyon")
    world.judge.on_compose = lambda evidence: says("France", 0)
    outcome = await world.ask("In which country did Ann grow up?", unproved="abstain")
    assert outcome.composed.abstained
    assert outcome.composed.text == lines_as_text(NEAREST, outcome.composed.said)
    assert outcome.composed.support is None
    assert {check.support for check in outcome.checks} == {"worded"}
    assert "not in the cited words: France" in outcome.composed.missing


# Helpers


def proves(world: World) -> None:
    """Research finds one fact."""
    claim = Claim(text="Ann adopted three cats", quotes=("I adopted three cats yesterday",))

    def told(views: Sequence[PageView]) -> Integrated:
        first = not world.judge.known[-1]
        return Integrated(claims=(claim,) if first else (), coverage="some of it")

    world.judge.on_integrate = told


def answered_of(world: World, outcome: Outcome) -> Answer:
    return world.reader().make_answer(outcome, meter=Meter())[0]
