"""`redate` as a user meets it: units with dates of older rules have those of today's."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

import tiermem
from pagestore.errors import ReadOnly
from tests.api.conftest import OpenMemory
from tests.writing.old_dates import old_rules
from tiermem.model import Claim
from tiermem.reasoning import by_rules

DENTIST = "I have a dentist appointment on Tuesday."
EXAM = "My exam in chemistry is on Saturday, in the old hall."
LETTER = "I got the letter from the bank on Thursday."
MET = "We met Clara in Lisbon on Sunday, and I painted the gate yesterday."
SAID = {
    "dentist": ("s1", "2023-05-08T13:56", "Ann", DENTIST),
    "exam": ("s1", "2023-05-08T13:57", "Ben", EXAM),
    "letter": ("s2", "2023-05-09T10:00", "Ann", LETTER),
    "met": ("s2", "2023-05-09T10:01", "Ben", MET),
}
OLD = {
    "Ann: I have a dentist appointment on Tuesday (2 May 2023).",
    "Ben: My exam in chemistry is on Saturday (6 May 2023), in the old hall.",
    "Ann: I got the letter from the bank on Thursday (4 May 2023).",
    "Ben: We met Clara in Lisbon on Sunday (7 May 2023), and I painted the gate yesterday (8 May 2023).",
}
NEW = {
    "Ann: I have a dentist appointment on Tuesday (9 May 2023).",
    "Ben: My exam in chemistry is on Saturday (13 May 2023), in the old hall.",
    "Ann: I got the letter from the bank on Thursday.",
    "Ben: We met Clara in Lisbon on Sunday (7 May 2023), and I painted the gate yesterday (8 May 2023).",
}
QUESTION = "When is Ann's dentist appointment?"


def tell(memory: tiermem.Memory) -> None:
    for turn_id, (session, said_at, speaker, text) in SAID.items():
        memory.add({"speaker": speaker, "text": text, "timestamp": said_at, "id": turn_id}, session=session)
    memory.flush()


def open_old(open_memory: OpenMemory, **given: Any) -> tiermem.Memory:
    """A memory whose units were made by rules of before."""
    memory = open_memory(**given)
    with old_rules():
        tell(memory)
    assert texts(memory) == OLD
    return memory


def texts(memory: tiermem.Memory, **given: Any) -> set[str]:
    return {unit.text for unit in memory.units(**given)}


def unit_of(memory: tiermem.Memory, words: str) -> tiermem.SummaryUnit:
    return next(unit for unit in memory.units() if words in unit.text)


def test_units_of_rules_have_the_dates_of_todays_rules_and_keep_all_else(open_memory: OpenMemory) -> None:
    memory = open_old(open_memory)
    before = {unit.id: unit for unit in memory.units()}
    report = memory.redate()
    assert not report.proposed
    assert report.listed == ()
    assert texts(memory) == NEW
    assert {each.before for each in report.redated} == {before[each.after.id] for each in report.redated}
    assert {each.after.text for each in report.redated} == NEW - OLD
    dentist, letter = unit_of(memory, "dentist"), unit_of(memory, "letter")
    assert (dentist.event_at, letter.event_at) == ("2023-05-09", None)
    assert (dentist.support, letter.support) == ("computed", "quoted")
    assert [one.value for one in dentist.derivations] == ["9 May 2023"]
    was = before[dentist.id]
    kept = ("spans", "kind", "session", "said_at", "scene", "importance", "made_by", "trust", "agents")
    assert [getattr(dentist, name) for name in kept] == [getattr(was, name) for name in kept]
    assert dentist.revision == was.revision + 1


def test_contexts_and_searches_have_neither_date_and_answers_have_the_new_one(
    open_memory: OpenMemory,
) -> None:
    memory = open_old(open_memory)
    for _ in ("before", "after"):
        shown = memory.context(QUESTION).text
        assert "said 2023-05-08" in shown
        assert "happened" not in shown
        found = {one.text for one in memory.search(QUESTION, kind="units")}
        assert f"Ann: {DENTIST}" in found
        assert not found & (OLD | NEW - {f"Ann: {LETTER}"})
        memory.redate()
    assert memory.ask(QUESTION).text == "9 May 2023"


def test_a_second_run_changes_nothing_and_writes_nothing(open_memory: OpenMemory) -> None:
    memory = open_old(open_memory)
    memory.redate()
    before = memory.verify().records
    assert memory.redate() == tiermem.DateReport()
    assert memory.verify().records == before


def test_a_new_memory_has_nothing_to_date_again(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory)
    assert texts(memory) == NEW
    assert memory.redate() == tiermem.DateReport()


def test_a_dry_run_says_the_same_and_does_nothing_also_read_only(open_memory: OpenMemory) -> None:
    memory = open_old(open_memory)
    tried = memory.redate(dry_run=True)
    assert texts(memory) == OLD
    reader = open_memory(read_only=True)
    assert reader.redate(dry_run=True) == tried
    with pytest.raises(ReadOnly):
        reader.redate()
    assert replace(tried, proposed=False) == memory.redate()


def test_pages_done_are_reported(open_memory: OpenMemory) -> None:
    memory = open_old(open_memory)
    steps: list[tuple[int, int]] = []
    memory.redate(progress=lambda done, known: steps.append((done, known)))
    assert steps == [(1, 2), (2, 2)]


def test_the_past_and_answers_of_before_are_as_they_were(open_memory: OpenMemory) -> None:
    memory = open_old(open_memory)
    with old_rules():
        answer = memory.ask(QUESTION, mode="summary")
    assert answer.text == "2 May 2023"
    then = datetime.now(UTC)
    memory.redate()
    assert texts(memory, as_of=then) == OLD
    past = memory.ask(QUESTION, as_of=then).trace.candidates
    assert f"Ann: {DENTIST}" in {one.text for one in past}
    assert not any("May 2023" in one.text for one in past)
    audit = memory.audit(answer.id)
    assert audit.citations
    assert all(cited.intact for cited in audit.citations)
    assert [one.now for one in audit.derivations] == [None]  # today's rules do not date "Tuesday" alone
    changed = {one.what for one in memory.replay(answer.id).differences}
    assert changed == {"derivation of '2 May 2023'"}
    assert memory.verify().ok


def test_erasing_the_turn_takes_the_unit_with_both_dates(open_memory: OpenMemory) -> None:
    memory = open_old(open_memory)
    memory.redate()
    unit = unit_of(memory, "dentist")
    receipt = memory.erase(turn="dentist", session="s1", reason="asked to")
    assert unit.id in receipt.erasure.units
    assert not receipt.leftovers.found
    assert texts(memory) == {text for text in NEW if "dentist" not in text}
    assert not memory.leftover_scan(["a dentist appointment on Tuesday"]).found
    assert memory.redate() == tiermem.DateReport()
    assert memory.verify().ok


def test_erasing_another_turn_leaves_the_new_dates(open_memory: OpenMemory) -> None:
    memory = open_old(open_memory)
    memory.redate()
    memory.erase(turn="exam", session="s1", reason="asked to")
    assert texts(memory) == {text for text in NEW if "exam" not in text}


def test_a_unit_that_is_shared_withdrawn_or_judged_stays_so(open_memory: OpenMemory) -> None:
    memory = open_memory()
    with old_rules():
        planner = memory.as_agent("planner")
        planner.add(DENTIST, speaker="Ann", said_at="2023-05-08T13:56")
        memory.flush()
    unit = unit_of(memory, "dentist")
    memory.share(unit.id, reason="for all")
    memory.feedback(sources=[unit.id], outcome="success")
    weight = memory.signals(unit.id).weight
    memory.redate()
    seen = memory.as_agent("boss").units()
    assert [one.text for one in seen] == ["Ann: I have a dentist appointment on Tuesday (9 May 2023)."]
    assert memory.signals(unit.id).weight == weight != 0.0
    memory.withdraw(unit.id, reason="a joke")
    assert memory.units() == ()
    assert memory.restore(unit.id, reason="it was none").unit == seen[0]


def test_a_merged_unit_and_those_it_stands_for_are_dated_again(open_memory: OpenMemory) -> None:
    memory = open_memory()
    with old_rules():
        for hour in (10, 11):
            memory.add(DENTIST, speaker="Ann", said_at=f"2023-05-08T{hour}:00")
            memory.flush()
        (merged,) = memory.consolidate().merged
    assert len(memory.redate().redated) == 3
    new = {"Ann: I have a dentist appointment on Tuesday (9 May 2023)."}
    assert (texts(memory), len(memory.units())) == (new, 1)
    assert len(memory.units()[0].spans) == 2
    memory.withdraw(merged.unit.id, reason="two")
    assert (texts(memory), len(memory.units())) == (new, 2)


def test_where_the_dates_of_today_are_not_confirmed_the_unit_has_none(open_memory: OpenMemory) -> None:
    memory = open_memory()
    words = "I'll schedule my workouts for Monday, Wednesday, and Friday mornings, and try to stick to it."
    with old_rules():
        memory.add(words, speaker="Ann", said_at="2023-05-20T16:57")
        memory.flush()
    (unit,) = memory.units()
    assert "Wednesday (17 May 2023)" in unit.text
    (revision,) = memory.redate().redated
    assert (revision.after.text, revision.after.event_at) == (f"Ann: {words}", None)
    assert memory.redate() == tiermem.DateReport()


def test_words_that_were_taken_back_are_not_dated(open_memory: OpenMemory) -> None:
    memory = open_old(open_memory)
    unit = unit_of(memory, "dentist")
    memory.withdraw(unit.id, reason="a joke")
    assert unit.id not in {each.after.id for each in memory.redate().redated}
    memory.restore(unit.id, reason="it was none")
    assert [each.after.id for each in memory.redate().redated] == [unit.id]


async def _by_model(pages: Any, *, hints: Any = ()) -> tuple[Claim, ...]:
    there = "\n".join(page.text for page in pages)
    claims = (
        Claim(text="Ann has a dentist appointment on 2 May 2023.", quotes=(DENTIST,)),
        Claim(text="Ann got the letter from the bank.", quotes=(LETTER,), event_at="2023-05-04"),
        Claim(text="Ben met Clara in Lisbon on 7 May 2023.", quotes=(MET,)),
        Claim(text=f"Ben: {EXAM}", quotes=(EXAM,)),
    )
    return tuple(claim for claim in claims if claim.quotes[0] in there)


def test_units_of_models_are_listed_and_stay_as_they_are(open_memory: OpenMemory) -> None:
    memory = open_memory(engine=replace(by_rules(), name="some-model", distil=_by_model))
    with old_rules():
        tell(memory)
    before = memory.units()
    assert len(before) == 4
    for _ in range(2):
        report = memory.redate()
        assert report.redated == ()
        assert {unit.text for unit in report.listed} == {
            "Ann has a dentist appointment on 2 May 2023.",
            "Ann got the letter from the bank.",
        }
    assert memory.units() == before
    memory.withdraw(report.listed[0].id, reason="another day")
    assert len(memory.redate().listed) == 1
