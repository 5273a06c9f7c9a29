"""Research: linked pages first, bounded rounds, nothing read or searched twice, facts by code alone."""

from collections.abc import Sequence

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import Page, PageId, Span
from tests.reading.world import DONE, SPACE, World, make_unit, page_ids
from tiermem.errors import (
    BudgetExceeded,
    IndexUnavailable,
    MalformedReply,
    ModelError,
    ModelRefused,
    ModelUnavailable,
)
from tiermem.index.values import Entry
from tiermem.ledger import WroteBack
from tiermem.llm.meter import Meter, check_budget, paid_by, pay
from tiermem.model import Budget, Claim, Evidence, FindingId, Search, Usage, WriteBack
from tiermem.reading import Scope
from tiermem.reading.look_further import new_searches
from tiermem.reading.rerank import FoundPage, order_pages
from tiermem.reading.search import linked_pages
from tiermem.reasoning import PageView
from tiermem.reasoning.interface import Integrated, Planned
from tiermem.text.question import Question

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]

ANIMALS = ("cat", "dog", "fish", "bird", "horse", "mouse", "snake", "frog")


def keyword(query: str) -> Search:
    return Search(kind="KEYWORD", query=query)


def semantic(query: str) -> Search:
    return Search(kind="SEMANTIC", query=query)


def look_for(*searches: Search) -> Planned:
    return Planned(done=False, reason="more", searches=searches)


def claims(*told: tuple[str, str]) -> Integrated:
    return Integrated(claims=tuple(Claim(text=t, quotes=(q,)) for t, q in told), coverage="some of it")


async def zoo(world: World, *animals: str) -> list[Page]:
    return [await world.page(f"Ann: I once saw a {animal} in the park") for animal in animals]


async def test_round_0_reads_the_linked_pages_in_the_order_of_their_best_unit_with_their_units() -> None:
    world = await World.new()
    car, _ = await world.linked_page("Bob: my car is red", "Bob: I like it")
    cat, (unit,) = await world.linked_page("Ann: my grey cat likes red fish")
    findings = await world.research("grey cat red")
    ((first, second),) = world.judge.shown
    assert page_ids([first.page, second.page]) == page_ids([cat, car])
    assert first.units == (unit,)
    assert [u.text for u in second.units] == ["Bob says my car is red"]
    (only,) = findings.rounds
    assert (only.number, only.searches, only.pages) == (0, (), (cat.id, car.id))
    assert only.stop == "enough was found"


async def test_claims_become_facts_by_code_alone() -> None:
    world = await World.new()
    page, _ = await world.linked_page("Ann: I adopted three grey cats in spring")
    world.judge.on_integrate = lambda views: claims(
        ("Ann adopted three grey cats", "I adopted three grey cats in spring"),
        ("Ann adopted four grey cats", "I adopted three grey cats in spring"),
        ("Ann has a dog", "my dog is called Rex"),
    )
    findings = await world.research("How many cats?")
    assert [fact.is_supported for fact in findings.facts] == [True, False]
    assert page.words(findings.facts[0].spans[0]) == "I adopted three grey cats in spring"
    assert len(findings.rejected) == 1
    assert (findings.rounds[0].facts, findings.rounds[0].rejected) == (2, 1)
    assert findings.rounds[0].coverage == "some of it"


async def test_the_same_words_on_two_pages_link_to_the_page_that_was_read_first() -> None:
    world = await World.new()
    await world.linked_page("Bob: I adopted a grey cat today")
    second, _ = await world.linked_page("Ann: I adopted a grey cat today", "Ann: her name is Luna")
    world.judge.on_integrate = lambda views: claims(("A grey cat was adopted", "I adopted a grey cat today"))
    findings = await world.research("Luna")
    assert findings.pages_read[0] == second.id
    assert findings.facts[0].spans[0].page_id == second.id


async def test_a_search_brings_new_pages_and_what_it_brings_is_integrated() -> None:
    world = await World.new()
    first, _ = await world.linked_page("Ann: I adopted a grey cat")
    (dog, fish) = await zoo(world, "dog", "fish")
    plans = [look_for(keyword("dog")), look_for(semantic("fish")), DONE]
    world.judge.on_plan = lambda turn: plans[turn - 1]
    findings = await world.research("cat")
    assert [r.pages for r in findings.rounds] == [(first.id,), (dog.id,), (fish.id,)]
    assert [r.searches for r in findings.rounds] == [(), (keyword("dog"),), (semantic("fish"),)]
    shown = [page_ids([view.page for view in views]) for views in world.judge.shown]
    assert shown == [[page.id] for page in (first, dog, fish)]
    assert ("turns", "words", "dog") in world.index.queries
    assert {("units", "hybrid", "fish"), ("turns", "hybrid", "fish")} <= set(world.index.queries)


async def test_pages_read_before_do_not_hide_new_ones() -> None:
    world = await World.new()
    pages = [await world.page("Ann: a dog " + "and more " * number) for number in range(4)]
    queries = ["dog dog", "a dog please", "dogs"]
    world.judge.on_plan = lambda turn: look_for(keyword(queries[turn - 1]))
    findings = await world.research("dog", pages_per_round=1)
    assert sorted(findings.pages_read) == sorted(page_ids(pages))


async def test_the_last_search_is_integrated_before_anything_is_answered() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat")
    await zoo(world, *ANIMALS[1:6])
    world.judge.on_plan = lambda turn: look_for(keyword(ANIMALS[turn]))
    findings = await world.research("cat")
    assert len(findings.rounds) == 4
    assert len(world.judge.planned) == 3
    assert len(world.judge.shown) == 4
    assert findings.rounds[-1].stop == "no rounds left"
    assert [views[0].page.id for views in world.judge.shown] == list(findings.pages_read)


async def test_the_planner_is_told_every_look_up_and_the_judge_every_fact() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat today")
    await zoo(world, "dog", "fish")
    world.judge.on_integrate = lambda views: claims(("Ann adopted a grey cat", "I adopted a grey cat today"))
    world.judge.on_plan = lambda turn: look_for(keyword(ANIMALS[turn]))
    findings = await world.research("cat")
    assert world.judge.planned == [(), (keyword("dog"),), (keyword("dog"), keyword("fish"))]
    assert [len(known) for known in world.judge.known] == [0, 1, 1]
    assert len(findings.facts) == 1
    assert findings.rounds[-1].stop == "nothing new turned up"
    # What the round before was said to cover is not said of a round that read nothing.
    assert [one.coverage for one in findings.rounds] == ["some of it", "some of it", "some of it", ""]


async def test_nothing_linked_searches_for_the_question_itself() -> None:
    world = await World.new()
    (dog, _) = await zoo(world, "dog", "fish")
    findings = await world.research("dog")
    assert findings.rounds[0].searches == (semantic("dog"), keyword("dog"))
    assert findings.pages_read == (dog.id,)


async def test_without_links_keywords_over_all_pages_come_first() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat", "Ann: she sleeps")
    dog = await world.page("Ann: the dog sleeps, the dog eats, she sleeps")
    findings = await world.research("dog sleeps", links=False)
    assert findings.rounds[0].searches == (keyword("dog sleeps"),)
    assert findings.pages_read[0] == dog.id


async def test_an_open_page_is_read_as_a_page() -> None:
    world = await World.new()
    cat, _ = await world.linked_page("Ann: I adopted a grey cat")
    await world.say("Ann: the cat is called Luna, I think it fits")
    (opened,) = await world.ledger.open_pages()
    world.judge.on_integrate = lambda views: claims(("The cat is called Luna", "the cat is called Luna"))
    findings = await world.research("What is the cat called?")
    assert findings.pages_read == (cat.id, opened.id)
    assert findings.facts[0].spans[0].page_id == opened.id


async def test_a_sealed_page_that_nothing_indexes_yet_is_read() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat")
    await world.say("Ann: the cat is called Luna")
    (fresh,) = await world.ledger.seal()
    assert fresh in (await world.research("What is the cat called?")).pages_read


async def test_a_unit_that_names_its_page_by_the_open_id_brings_that_page_once() -> None:
    world = await World.new()
    await world.say("Ann: I adopted a grey cat")
    (opened,) = await world.ledger.open_pages()
    unit = make_unit(opened, "Ann has a grey cat", "I adopted a grey cat")
    decision = WriteBack(finding_id=FindingId("f1:x"), op="ADD", reason="new", unit_id=unit.id)
    await world.ledger.write(WroteBack(write_back=decision, unit=unit, shown=()))
    (sealed,) = await world.ledger.seal()
    for _ in range(2):
        assert (await world.research("grey cat")).pages_read == (sealed,)
        await world.project()


async def test_an_empty_memory_asks_nobody() -> None:
    world = await World.new()
    findings = await world.research("cat")
    assert findings.rounds[0].stop == "nothing new turned up"
    assert (world.judge.shown, world.judge.planned) == ([], [])


async def test_a_turn_that_no_log_holds_is_dropped_and_counted() -> None:
    world = await World.new()
    (dog,) = await zoo(world, "dog")
    entry = Entry(id="999", session=dog.session, text="dog dog dog")
    await world.index.put(SPACE, "turns", [entry])
    findings = await world.research("dog")
    assert findings.pages_read == (dog.id,)
    assert findings.dropped == 2, "one by each of two look-ups"


async def test_a_broken_index_is_searched_around_and_said_once() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat")
    (dog, _) = await zoo(world, "dog", "fish")
    world.index.broken = IndexUnavailable("gone")
    world.judge.on_plan = lambda turn: look_for(semantic("dog"), keyword("dogs")) if turn == 1 else look_for()
    findings = await world.research("cat")
    assert dog.id in findings.pages_read
    assert [d.fallback for d in findings.degradations] == ["keywords in the log"]


async def test_a_past_question_reads_no_page_sealed_later() -> None:
    world = await World.new()
    early, _ = await world.linked_page("Ann: I adopted a grey cat")
    moment = await world.now()
    await world.linked_page("Bob: I bought a red car")
    await world.page("Ann: the cat ran away")
    await world.say("Ann: the cat came back")
    world.judge.on_plan = lambda turn: look_for(keyword("cat"))
    findings = await world.research("cat", Scope(as_of=moment))
    assert findings.pages_read == (early.id,)


FAILURES = [ModelUnavailable("down"), MalformedReply("no JSON"), BudgetExceeded("spent")]


@pytest.mark.parametrize("error", FAILURES)
async def test_what_was_found_before_a_failure_is_kept_and_the_failure_is_said(
    error: ModelError | BudgetExceeded,
) -> None:
    world = await World.new()
    page, _ = await world.linked_page("Ann: I adopted a grey cat today")
    world.judge.on_integrate = lambda views: claims(("Ann adopted a grey cat", "I adopted a grey cat today"))

    def fail(turn: int) -> Planned:
        raise error

    world.judge.on_plan = fail
    findings = await world.research("cat")
    assert len(findings.facts) == 1
    assert findings.pages_read == (page.id,)
    (degraded,) = findings.degradations
    assert degraded.stage == "research"
    assert type(error).__name__ in degraded.reason
    assert findings.rounds[-1].stop == degraded.reason


@pytest.mark.parametrize("error", [ModelUnavailable("down"), ModelRefused("bad key")])
async def test_a_model_that_is_down_reaches_the_caller_when_there_is_nothing_to_answer_from(
    error: ModelError,
) -> None:
    world = await World.new()
    await zoo(world, "dog")

    def fail(views: Sequence[PageView]) -> Integrated:
        raise error

    world.judge.on_integrate = fail
    with pytest.raises(type(error)):
        await world.research("dog")


async def test_a_budget_of_calls_is_never_passed() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat")
    await zoo(world, *ANIMALS)
    spent = []

    def call() -> None:
        check_budget()
        spent.append(1)
        pay(Usage(calls=1))

    def integrate(views: Sequence[PageView]) -> Integrated:
        call()
        return claims()

    def plan(turn: int) -> Planned:
        call()
        return look_for(*(keyword(animal) for animal in ANIMALS))

    world.judge.on_integrate, world.judge.on_plan = integrate, plan
    with paid_by(Meter(budget=Budget(calls=2))):
        findings = await world.research("cat")
    assert len(spent) == 2
    assert "BudgetExceeded" in findings.degradations[-1].reason


@pytest.mark.parametrize(("seconds", "integrated", "planned"), [(0.0, 0, 0), (60.0, 1, 0)])
async def test_time_runs_out_between_two_judgements(seconds: float, integrated: int, planned: int) -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat")

    def slow(views: Sequence[PageView]) -> Integrated:
        meter.started -= 60
        return claims()

    world.judge.on_integrate = slow
    with paid_by(Meter(budget=Budget(seconds=seconds))) as meter:
        findings = await world.research("cat")
    assert (len(world.judge.shown), len(world.judge.planned)) == (integrated, planned)
    assert "BudgetExceeded" in findings.degradations[-1].reason


async def test_a_claim_told_twice_is_one_fact() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat today")
    twice = ("Ann adopted a grey cat", "I adopted a grey cat today")
    world.judge.on_integrate = lambda views: claims(twice, twice)
    assert len((await world.research("cat")).facts) == 1


_queries = st.text("acdgost ", max_size=8) | st.sampled_from(ANIMALS)
_searches = st.builds(Search, kind=st.sampled_from(["SEMANTIC", "KEYWORD"]), query=_queries)
_plan = st.builds(
    Planned,
    done=st.booleans(),
    reason=st.text(max_size=5),
    searches=st.lists(_searches, max_size=12).map(tuple),
)
_plans = st.lists(_plan, min_size=4, max_size=4)
_quotes = st.sampled_from(["I once saw a dog", "park", "", "\ud800"])
_claims = st.lists(st.builds(Claim, text=st.text(max_size=30), quotes=st.tuples(_quotes)), max_size=3)


@settings(max_examples=40)
@given(plans=_plans, told=_claims, linked=st.booleans(), links=st.booleans())
def test_whatever_is_planned_no_page_and_no_look_up_comes_twice_and_no_limit_is_passed(
    plans: list[Planned], told: list[Claim], linked: bool, links: bool
) -> None:
    async def main() -> None:
        world = await World.new()
        if linked:
            await world.linked_page("Ann: I adopted a grey cat in the park")
        await zoo(world, *ANIMALS)
        await world.say("Ann: we sat in the park")
        world.judge.on_integrate = lambda views: Integrated(claims=tuple(told), coverage="\udfff")
        world.judge.on_plan = lambda turn: plans[turn - 1]
        findings = await world.research("the park", links=links, pages_per_round=2)
        assert len(set(findings.pages_read)) == len(findings.pages_read)
        assert len(findings.rounds) <= 4
        assert all(len(r.pages) <= 2 for r in findings.rounds)
        made = [(s.kind, s.query.casefold()) for r in findings.rounds for s in r.searches]
        assert len(set(made)) == len(made)
        assert all(len(r.searches) <= 5 for r in findings.rounds)
        integrated = [view.page.id for views in world.judge.shown for view in views]
        assert integrated == list(findings.pages_read)
        assert findings.rounds[-1].stop
        for fact in findings.facts:
            for span in fact.spans:
                assert (await world.ledger.page(span.page_id)).words(span)

    anyio.run(main)


def test_letter_case_and_spacing_make_no_new_look_up() -> None:
    done = [keyword("grey  Cat")]
    wanted = [keyword(" GREY cat"), semantic("grey cat"), semantic("grey cat"), keyword(" ")]
    wanted.append(keyword("x" * 900))
    new = new_searches(wanted, done, limit=5)
    assert new == (semantic("grey cat"), keyword("x" * 400))
    assert len(new_searches([keyword(str(n)) for n in range(99)], [], limit=5)) == 5


@given(pages=st.lists(st.tuples(st.none() | st.floats(-1, 1), st.floats(0, 9)), max_size=12))
def test_reranking_keeps_sure_pages_ahead_and_loses_none(pages: list[tuple[float | None, float]]) -> None:
    similarities = [similarity for similarity, _ in pages]
    scores = [score for _, score in pages]
    order = order_pages(similarities, scores, protected=0.6)
    assert sorted(order) == list(range(len(similarities)))
    sure = [i for i, s in enumerate(similarities) if s is not None and s >= 0.6]
    assert order[: len(sure)] == sure
    rest = [scores[i] for i in order[len(sure) :]]
    assert rest == sorted(rest, reverse=True)


class ByLength:
    """Prefers long pages."""

    def __init__(self, error: ModelError | None = None) -> None:
        self.error = error

    async def score(self, question: Question, found: Sequence[FoundPage]) -> Sequence[float]:
        if self.error is not None:
            raise self.error
        return [float(len(one.page.text)) for one in found]


async def test_a_reranker_reorders_what_a_search_found() -> None:
    world = await World.new()
    await world.page("Ann: a dog and a cow")
    long = await world.page("Ann: a dog and " + "something else, " * 20)
    findings = await world.research(
        "dog cow", reranker=ByLength(), pages_per_round=1, protected_similarity=2.0
    )
    assert findings.pages_read[0] == long.id


async def test_a_reranker_sees_a_pool_and_a_round_reads_no_more_than_before() -> None:
    world = await World.new()
    for number in range(8):
        await world.page("Ann: a dog " + "and more " * number)
    findings = await world.research("dog", reranker=ByLength(), pages_per_round=2, protected_similarity=2.0)
    infos = await world.ledger.pages()
    assert findings.pages_read == (infos[7].id, infos[6].id)


async def test_a_page_found_with_high_similarity_is_protected_from_reranking() -> None:
    world = await World.new()
    sure = await world.page("Ann: a dog and a cow")
    await world.page("Ann: a dog and " + "something else, " * 20)
    findings = await world.research("dog cow", reranker=ByLength(), pages_per_round=1)
    assert findings.pages_read[0] == sure.id


async def test_a_reranker_that_is_down_leaves_the_order_and_is_said() -> None:
    world = await World.new()
    (dog,) = await zoo(world, "dog")
    findings = await world.research("dog", reranker=ByLength(ModelUnavailable("down")))
    assert findings.pages_read == (dog.id,)
    assert findings.degradations[0].stage == "rerank"


def test_a_reranker_that_forgets_a_page_is_told() -> None:
    with pytest.raises(ValueError, match="1 scores for 2 pages"):
        order_pages([None, None], [1.0], protected=0.6)


def test_linked_pages_are_in_the_order_of_their_best_unit_each_once() -> None:
    def unit(*pages: str) -> Evidence:
        spans = tuple(Span(page_id=PageId(p), start=0, end=1) for p in pages)
        return Evidence(text="x", spans=spans, score=1.0, source="unit")

    assert [hit.id for hit in linked_pages([unit("b", "a"), unit("a", "c"), unit("b")])] == ["b", "a", "c"]


def test_a_round_limit_of_zero_reads_the_linked_pages_alone() -> None:
    async def main() -> None:
        world = await World.new()
        await world.linked_page("Ann: I adopted a grey cat")
        findings = await world.research("cat", max_rounds=0)
        assert (len(findings.rounds), world.judge.planned) == (1, [])

    anyio.run(main)
