"""Every system behind one protocol: what it retrieves, what it answers, and that it shares nothing."""

from pathlib import Path

import pytest

from eval.corpus import Corpus, the_user
from eval.records import LEVELS
from eval.systems import candidates, names
from eval.types import CaseId, Consolidates, Passage, Retriever, System
from pagestore import EstimateCounter, SessionId, Turn
from tests.eval import tiny
from tiermem.errors import InvalidInput, TierMemError

pytestmark = pytest.mark.anyio

# Mem0 has a file of its own: it is an extra.
NAMES = [name for name in names() if name != "mem0"]


async def opened(name: str, where: Path) -> System | Retriever:
    (candidate,) = candidates([name], tiny.setup())
    return await candidate.open(CaseId("one"), where)


@pytest.mark.parametrize("name", NAMES)
async def test_a_system_finds_the_turn_that_says_it_at_every_level(name: str, tmp_path: Path) -> None:
    system = await opened(name, tmp_path)
    assert isinstance(system, Retriever)
    await system.observe(tiny.sessions())
    corpus = Corpus(tiny.sessions(), EstimateCounter())
    for level in LEVELS:
        found = await system.retrieve("What is Biscuit allergic to?", level=level, limit=3)
        assert len(found) == len(set(found))
        assert set(found) <= set(corpus.passages(level))
        if name != "full":
            assert len(found) <= 3
            assert found[0].holds(tiny.turn(1, 2))
    await system.close()


@pytest.mark.parametrize("name", NAMES)
async def test_a_system_answers_and_says_what_it_read(name: str, tmp_path: Path) -> None:
    system = await opened(name, tmp_path)
    assert isinstance(system, System)
    await system.observe(tiny.sessions())
    reply = await system.ask("How much did the new roof cost?")
    assert "1,450" in reply.text
    assert "1,450 dollars" in reply.citations[0].quote
    assert sum(reply.reads.values()) > 0
    assert reply.usage.calls == 0
    await system.close()


@pytest.mark.parametrize("name", NAMES)
async def test_a_conversation_without_a_word_is_no_failure(name: str, tmp_path: Path) -> None:
    system = await opened(name, tmp_path)
    assert isinstance(system, Retriever)
    await system.observe(tiny.sessions([[("Ann", "")]]))
    await system.retrieve("What?", level="page", limit=5)
    await system.close()


async def test_stems_find_what_the_words_as_they_stand_do_not(tmp_path: Path) -> None:
    talk = [[("Ann", "It rained."), ("Bo", "She was running marathons."), ("Ann", "The run of the mill.")]]
    for name, at in (("bm25", 2), ("hybrid:stemmed", 1)):
        system = await opened(name, tmp_path)
        assert isinstance(system, Retriever)
        await system.observe(tiny.sessions(talk))
        (first,) = await system.retrieve("Who runs a marathon of the city?", level="turn", limit=1)
        assert first.start == at, name
        await system.close()


async def test_modes_of_one_memory_share_it_and_ask_for_no_second_distilling(tmp_path: Path) -> None:
    first, second = candidates(["tiermem", "tiermem:raw"], tiny.setup())
    assert first.home == second.home
    units = []
    for candidate in (first, second):
        system = await candidate.open(CaseId("one"), tmp_path)
        await system.observe(tiny.sessions())
        assert isinstance(system, Consolidates)
        units.append(await system.units())
        await system.close()
    assert units[0] == units[1] > 0


async def test_ways_of_deciding_share_one_memory() -> None:
    named = candidates(["tiermem", "tiermem:llm", "tiermem:fused", "tiermem:always"], tiny.setup())
    assert {candidate.home for candidate in named} == {"tiermem"}


async def test_no_recall_writes_to_a_memory_of_its_own() -> None:
    routed, no_recall = candidates(["tiermem", "tiermem:no-recall"], tiny.setup())
    assert routed.home != no_recall.home


async def test_a_memory_that_observed_nothing_says_so(tmp_path: Path) -> None:
    system = await opened("tiermem", tmp_path)
    assert isinstance(system, System)
    with pytest.raises(TierMemError, match="before it observed"):
        await system.ask("What?")


async def test_a_reply_tells_the_decision_the_way_its_depth_and_what_was_brought(tmp_path: Path) -> None:
    for name, decided, way in (
        ("tiermem:raw", "ESCALATE", "researched"),
        ("tiermem:summary", "ANSWER", "recall"),
    ):
        system = await opened(name, tmp_path)
        assert isinstance(system, System)
        await system.observe(tiny.sessions())
        reply = await system.ask("How much did the new roof cost?")
        assert (reply.decided, reply.way) == (decided, way)
        assert reply.hits["unit" if name == "tiermem:summary" else "turn"] > 0
        assert (reply.hits.get("linked page", 0) > 0) is (way == "researched")
        assert reply.depth <= 3
        await system.close()


@pytest.mark.parametrize(("name", "reads"), [("tiermem:always", False), ("tiermem:gate", True)])
async def test_only_a_router_that_looks_reads(name: str, reads: bool, tmp_path: Path) -> None:
    system = await opened(name, tmp_path)
    assert isinstance(system, System)
    await system.observe(tiny.sessions())
    assert ("route" in (await system.ask("How much did the new roof cost?")).reads) is reads
    await system.close()


async def test_an_unknown_system_is_named_with_those_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"no system 'elastic'.*bm25"):
        candidates(["bm25", "elastic"], tiny.setup())


def test_pages_of_the_corpus_cover_every_turn_once_and_in_order() -> None:
    long = [[("Ann", f"Sentence number {n} about boats. " * 20) for n in range(30)]]
    corpus = Corpus(tiny.sessions(long), EstimateCounter())
    pages = corpus.passages("page")
    assert len(pages) > 2
    covered = [at for page in pages for at in range(page.start, page.end)]
    assert covered == list(range(30))


def test_a_turn_too_long_for_a_page_stands_on_each_of_its_pages_once() -> None:
    long = [[("Ann", "Boats are made of wood. " * 2000), ("Bo", "I see.")]]
    pages = Corpus(tiny.sessions(long), EstimateCounter()).passages("page")
    assert Passage(session=SessionId("s001"), start=0, end=1) in pages
    assert len(pages) == len(set(pages))


def test_only_what_users_said_is_ranked_where_that_is_asked_for() -> None:
    assert the_user(Turn(speaker="user", text="x", role="user"))
    assert the_user(Turn(speaker="Ann", text="x"))
    assert not the_user(Turn(speaker="assistant", text="x", role="assistant"))
