"""Recorded facts: each goes to the page that holds its words, and everything else to the other engine."""

import json
from pathlib import Path

import pytest

from eval.datasets import LoCoMo
from eval.recorded import read_facts, recorded
from eval.systems import candidates
from eval.types import CaseId, Passage, Retriever
from tests.engines import quoting_engine
from tests.eval import tiny
from tiermem import AsyncMemory
from tiermem.errors import InvalidInput

pytestmark = pytest.mark.anyio

PLACES = {f"D{session}:{at + 1}": tiny.turn(session, at) for session in (1, 2) for at in range(3)}


def facts_file(where: Path, *facts: tuple[list[str], str, str]) -> Path:
    lines = [json.dumps({"dia_ids": ids, "fact": fact, "quote": quote}) for ids, fact, quote in facts]
    where.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return where


def test_a_fact_belongs_to_the_turn_that_holds_its_quote(tmp_path: Path) -> None:
    file = facts_file(
        tmp_path / "one.jsonl",
        (["D1:1", "D1:3"], "Biscuit cannot eat chicken.", "Biscuit is allergic to chicken."),
        (["D9:9", "D2:1"], "The roof cost 1,450 dollars.", "not there"),
        (["D9:9"], "Nobody said so.", "nothing"),
    )
    facts = read_facts(file, tiny.case("one"), PLACES)
    assert {turn: [fact.text for fact in found] for turn, found in facts.items()} == {
        "s001:2": ["Biscuit cannot eat chicken."],
        "s002:0": ["The roof cost 1,450 dollars."],
    }


def test_a_line_that_is_no_fact_is_named(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text('{"fact": "x"}\n')
    with pytest.raises(InvalidInput, match="line 1"):
        read_facts(file, tiny.case("one"), PLACES)
    with pytest.raises(InvalidInput, match="cannot read"):
        read_facts(tmp_path / "absent.jsonl", tiny.case("one"), PLACES)


async def test_units_are_the_recorded_facts_linked_to_their_words(tmp_path: Path) -> None:
    quote = "Biscuit is allergic to chicken."
    file = facts_file(tmp_path / "one.jsonl", (["D1:3"], "The dog Biscuit is allergic to chicken.", quote))
    engine = recorded(read_facts(file, tiny.case("one"), PLACES), quoting_engine())
    (candidate,) = candidates(["tiermem"], tiny.setup(lambda _: engine))
    system = await candidate.open(CaseId("one"), tmp_path / "memory")
    assert isinstance(system, Retriever)
    await system.observe(tiny.sessions())
    assert (await system.retrieve("allergic", level="turn", limit=5))[0] == tiny.turn(1, 2)
    await system.close()
    async with await AsyncMemory.open(tmp_path / "memory", space="case", read_only=True) as memory:
        (unit,) = await memory.units()
        page = await memory.page(unit.spans[0].page_id)
        assert page.words(unit.spans[0]) == quote
        assert unit.made_by.startswith("recorded")


def test_real_facts_find_their_turns(shared: Path) -> None:
    dataset = LoCoMo(shared / "data" / "locomo" / "locomo_dev7.json")
    case = next(case for case in dataset.cases() if case.id == "conv-26")
    facts = read_facts(
        shared / "data" / "locomo" / "model_facts" / "conv-26.jsonl", case, dataset.places(case.id)
    )
    assert sum(map(len, facts.values())) == 273
    texts = {
        f"{session.id}:{at}": turn.text for session in case.sessions for at, turn in enumerate(session.turns)
    }
    held = sum(fact.quotes[0] in texts[turn] for turn, found in facts.items() for fact in found)
    assert held == 273


def test_places_name_every_turn_once(shared: Path) -> None:
    dataset = LoCoMo(shared / "data" / "locomo" / "locomo_dev7.json")
    for case in dataset.cases():
        places = list(dataset.places(case.id).values())
        assert len(places) == len(set(places)) == sum(len(session.turns) for session in case.sessions)
        assert all(isinstance(place, Passage) for place in places)
