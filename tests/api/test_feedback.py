"""Saying how an answer turned out: whom it credits, what it changes, and what it does not."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tiermem
from pagestore.errors import ReadOnly
from tests.api.conftest import OpenMemory, tell
from tests.reading.world import ListIndex
from tiermem.apps.cli.app import app
from tiermem.errors import InvalidInput, UnknownId
from tiermem.ledger import Feedback
from tiermem.ledger.entries import decode

ASKED = "What is Biscuit allergic to?"


@pytest.fixture
def memory(open_memory: OpenMemory) -> tiermem.Memory:
    opened = open_memory(path=":memory:", index=ListIndex())
    tell(opened)
    opened.flush()
    return opened


def recorded(memory: tiermem.Memory) -> list[Feedback]:
    log = memory._async._caller.components.ledger._log
    found = [decode(record) for record in log.records(kinds=frozenset({"feedback"}))]
    return [one for one in found if isinstance(one, Feedback)]


def test_an_answer_is_judged_by_itself_or_by_its_id(memory: tiermem.Memory) -> None:
    answer = memory.ask(ASKED)
    (credit,) = memory.feedback(answer, outcome="success").credits
    assert "Biscuit" in str(memory.get(credit.unit_id))
    assert (credit.share, credit.before, credit.after) == (1.0, 0.0, 0.1)
    again = memory.feedback(answer.id, outcome="failure", by="assistant")
    assert [(one.before, one.after) for one in again.credits] == [(0.1, -0.05)]
    assert [(one.outcome, one.by, one.answer_id) for one in recorded(memory)] == [
        ("success", "user", answer.id),
        ("failure", "assistant", answer.id),
    ]


def test_sources_are_a_context_or_what_search_gave_or_ids_of_units(memory: tiermem.Memory) -> None:
    context = memory.context(ASKED)
    made = memory.feedback(sources=context, outcome="success", output="Biscuit is allergic to chicken.")
    best = max(made.credits, key=lambda credit: credit.share)
    assert "Biscuit" in str(memory.get(best.unit_id))
    found = memory.search(ASKED, kind="units", limit=2)
    assert {one.unit_id for one in found} == {
        credit.unit_id for credit in memory.feedback(sources=found, outcome="neutral").credits
    }
    unit = memory.units()[0].id
    assert [one.share for one in memory.feedback(sources=[unit, unit], outcome="neutral").credits] == [1.0]


def test_a_turn_that_was_cited_before_its_page_sealed_stands_for_its_units(open_memory: OpenMemory) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    memory.add("My rescue dog Biscuit is allergic to chicken. No treats.", speaker="Ann")
    answer = memory.ask(ASKED)
    assert answer.citations
    judged = memory.feedback(answer, outcome="success")
    assert (judged.credits, [one.share for one in judged.turns]) == ((), [1.0])
    memory.flush()
    (unit,) = [one for one in memory.units() if "Biscuit" in one.text]
    assert (memory.signals(unit.id).weight, memory.signals(unit.id).uses) == (0.1, 1)
    again = memory.feedback(answer, outcome="success")
    assert [(one.before, one.after) for one in again.credits] == [(0.1, 0.1)]
    assert again.turns == ()
    assert memory.feedback(answer, outcome="failure").credits[0].after == -0.05


def test_a_chat_without_a_model_promotes_what_helped_before_it_was_summarised(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    memory.add("My rescue dog Biscuit is allergic to chicken.", speaker="Ann")
    for _ in range(3):
        memory.feedback(memory.ask(ASKED), outcome="success")
    memory.flush()
    (unit,) = memory.units()
    assert (memory.signals(unit.id).uses, memory.signals(unit.id).weight) == (3, 0.3)
    memory.feedback(memory.ask(ASKED), outcome="neutral")
    assert memory.signals(unit.id).uses == 4
    assert len(memory.trail(unit.id)[0].outcomes) == 4


def test_the_credit_of_a_turn_goes_when_the_turn_is_erased_and_counts_by_output(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    memory.add("My rescue dog Biscuit is allergic to chicken.", speaker="Ann", session="dogs")
    memory.add("The lighthouse keeper plays the oboe.", speaker="Bob", session="isle")
    sources = (*memory.search("Biscuit chicken"), *memory.search("lighthouse oboe"))
    judged = memory.feedback(sources=sources, outcome="success", output="Chicken is bad for Biscuit.")
    assert [one.share for one in judged.turns] == [1.0]
    log = memory._async._caller.components.ledger._log
    assert len(list(log.records(kinds=frozenset({"feedback"})))) == 1
    memory.erase(session="dogs", reason="asked to")
    assert list(log.records(kinds=frozenset({"feedback"}))) == []


def test_an_agent_credits_no_turn_that_it_may_not_see(open_memory: OpenMemory) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    memory.as_agent("cook").add("My rescue dog Biscuit is allergic to chicken.", speaker="Ann")
    sources = memory.search("Biscuit chicken")
    assert sources
    assert memory.as_agent("pilot").feedback(sources=sources, outcome="failure").turns == ()
    assert len(memory.as_agent("cook").feedback(sources=sources, outcome="success").turns) == 1


def test_where_nothing_was_answered_nobody_is_credited(memory: tiermem.Memory) -> None:
    answer = memory.ask("Which instrument does Zoltan play?")
    assert answer.abstained
    assert memory.feedback(answer, outcome="failure").credits == ()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "name what is judged: answer .*, or sources"),
        ({"answer": "a1:x", "sources": []}, "name what is judged"),
        ({"answer": 5}, "answer must be a text"),
        ({"sources": "u1:x"}, "sources must be a Context, or a list"),
        ({"sources": 5}, "sources must be a Context, or a list"),
        ({"sources": [5]}, "sources: each must be a text"),
        ({"answer": "a1:x", "outcome": "great"}, "outcome 'great' is not known: give 'success'"),
        ({"answer": "a1:x", "outcome": None}, "outcome"),
        ({"answer": "a1:x", "output": 5}, "output must be a text"),
        (
            {"answer": "a1:x", "by": "web"},
            "by must be trusted enough to judge .'assistant', 'user', 'system'",
        ),
        ({"answer": "a1:x", "by": "tool"}, "by must be trusted enough"),
        ({"answer": "a1:x", "by": None}, "by must be trusted enough"),
        ({"answer": "a1:x", "by": "friend"}, "by 'friend' is not known"),
    ],
)
def test_what_cannot_be_judged_is_refused_and_not_recorded(
    memory: tiermem.Memory, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(InvalidInput, match=told):
        memory.feedback(**{"outcome": "success", **given})
    with pytest.raises(UnknownId):
        memory.feedback("a1:nobody", outcome="success")
    with pytest.raises(UnknownId):
        memory.feedback(sources=["u1:nobody"], outcome="success")
    with pytest.raises(UnknownId):
        memory.signals("u1:nobody")
    assert recorded(memory) == []


def test_with_levels_of_ones_own_the_lowest_may_not_judge(open_memory: OpenMemory) -> None:
    memory = open_memory(path=":memory:", index=ListIndex(), trust_levels=("stranger", "friend", "me"))
    memory.add("My rescue dog Biscuit is allergic to chicken.", trust="me")
    memory.flush()
    unit = memory.units()[0].id
    with pytest.raises(InvalidInput, match="'friend', 'me'"):
        memory.feedback(sources=[unit], outcome="success", by="stranger")
    assert memory.feedback(sources=[unit], outcome="success", by="friend").credits


def test_looking_changes_no_signal_and_judging_no_trust(memory: tiermem.Memory) -> None:
    units = memory.units()
    before = [memory.signals(unit.id) for unit in units]
    for _ in range(3):
        memory.search(ASKED)
        memory.context(ASKED)
        memory.signals(units[0].id)
    assert [memory.signals(unit.id) for unit in units] == before
    memory.feedback(sources=[unit.id for unit in units], outcome="success")
    assert memory.units() == units


def test_signals_and_trail_tell_what_came_of_it_now_and_then(memory: tiermem.Memory) -> None:
    (credit,) = memory.feedback(memory.ask(ASKED), outcome="success").credits
    then = datetime.now(UTC)
    memory.feedback(sources=[credit.unit_id], outcome="failure")
    now, past = memory.signals(credit.unit_id), memory.signals(credit.unit_id, as_of=then)
    assert (now.weight, past.weight) == (0.05, 0.1)
    assert now.tier == "semantic"
    (standing,) = memory.trail(credit.unit_id)
    assert [one.outcome for one in standing.outcomes] == ["success", "failure"]


def test_a_unit_that_rests_on_what_a_tool_said_is_procedural(open_memory: OpenMemory) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    said = "The deployment of Atlas takes 45 minutes and needs 3 servers in Vienna."
    memory.add({"role": "tool", "name": "deploy", "content": said})
    memory.flush()
    assert {memory.signals(unit.id).tier for unit in memory.units()} == {"procedural"}


def test_a_memory_that_is_only_read_records_no_outcome(open_memory: OpenMemory, tmp_path: Path) -> None:
    with open_memory() as writing:
        tell(writing)
        answer = writing.ask(ASKED)
    reading = open_memory(read_only=True)
    with pytest.raises(ReadOnly):
        reading.feedback(answer, outcome="success")


def test_erasing_the_words_takes_outcome_and_weight(open_memory: OpenMemory) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    tell(memory)
    memory.flush()
    other = next(unit for unit in memory.units() if "Biscuit" not in unit.text)
    memory.feedback(memory.ask(ASKED), outcome="success")
    memory.feedback(sources=[other.id], outcome="success")
    memory.erase(turn="t2", session="s1", reason="asked for")
    assert [one.answer_id for one in recorded(memory)] == [None]
    assert memory.signals(other.id).weight == 0.1


def test_on_the_command_line(tmp_path: Path) -> None:
    store = str(tmp_path / "store")

    def run(*words: str, code: int = 0, as_json: bool = True) -> Any:
        done = CliRunner().invoke(app, [*words, "--store", store, *(["--json"] if as_json else [])])
        assert done.exit_code == code, done.output
        return json.loads(done.stdout) if as_json and not code else done.output

    file = tmp_path / "dogs.txt"
    file.write_text("Ann: My rescue dog Biscuit is allergic to chicken.\n", encoding="utf-8")
    run("ingest", str(file))
    run("ask", ASKED)
    (credit,) = run("feedback", "--outcome", "success")["credits"]
    assert (credit["before"], credit["after"]) == (0.0, 0.1)
    unit = credit["unit_id"]
    assert run("feedback", "--outcome", "failure", "--unit", unit[:12])["credits"][0]["after"] == 0.05
    told = run("signals", unit[:12])
    assert (told["weight"], told["tier"]) == (0.05, "semantic")
    shown = run("signals", unit, as_json=False) + run("trail", unit, as_json=False)
    assert all(word in shown for word in ("+0.05", "success", "failure"))
    shown = run("feedback", "--outcome", "neutral", "--unit", unit, as_json=False)
    assert "+0.05 → +0.05" in shown
    assert "great" in run("feedback", "--outcome", "great", code=2, as_json=False)
    assert "trusted enough" in run("feedback", "--outcome", "success", "--by", "web", code=1, as_json=False)
