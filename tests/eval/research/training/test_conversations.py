"""Lessons from conversations: what is found is labelled by evidence, and nothing is shown from the future."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from eval.progress import watching
from eval.research.training.data.conversations import (
    UNKNOWN,
    answers_in,
    closest,
    groups_of,
    ranking,
    reading,
    window_of,
    without_evidence,
)
from eval.research.training.data.examples import GRADES, Example
from eval.research.training.data.facts import alterations, supporting
from eval.research.training.data.found import Found, find_all, read_found
from eval.research.training.data.splits import Leak, check
from eval.types import Case, CaseId, LabelledQuestion, Passage, QuestionId
from tests.eval.tiny import Tiny, question, sessions, turn
from tiermem.embedding.hashed import HashEmbedder
from tiermem.embedding.interface import Embedder
from tiermem.errors import InvalidInput
from tiermem.model import Claim
from tiermem.reasoning.interface import SaidTurn

CASE = "case-1"


def case(*questions: LabelledQuestion, official: dict[str, str] | None = None, name: str = CASE) -> Case:
    return Case(
        id=CaseId(name),
        sessions=sessions(),
        questions=questions,
        official={
            session.id: (official or {}).get(session.id, f"{name} {session.id}") for session in sessions()
        },
    )


def found(of: Case, *turns: Passage) -> dict[QuestionId, Found]:
    return {one.id: Found(case=of.id, question=one.id, turns=turns) for one in of.questions}


def spans(lesson: Example) -> list[str]:
    return [lesson.second[start:end] for start, end in lesson.spans]


MOVED = question(CASE, 0, "Where did Ingrid move?", "Oslo", turn(1, 1))


def test_a_found_turn_that_answers_is_a_span_and_suffices() -> None:
    of = case(MOVED)
    (lesson,) = reading("locomo", [of], found(of, turn(1, 0), turn(1, 1)), groups_of("locomo", [of]))
    assert (spans(lesson), lesson.label, lesson.group) == (["Oslo"], 1, f"locomo:{CASE}")
    assert lesson.second.startswith("Ann (8 May 2023): I adopted")


def test_what_was_not_found_does_not_suffice_and_half_of_it_is_not_known() -> None:
    of = case(MOVED, question(CASE, 1, "What did they do?", "things", turn(1, 1), turn(2, 1)))
    groups = groups_of("locomo", [of])
    assert [one.label for one in reading("locomo", [of], found(of, turn(1, 0)), groups)] == [0, 0]
    assert [one.label for one in reading("locomo", [of], found(of, turn(1, 1)), groups)] == [1, UNKNOWN]


def test_a_question_without_an_answer_has_no_span_whatever_is_found() -> None:
    asked = replace(MOVED, answerable=False)
    of = case(asked)
    (lesson,) = reading("locomo", [of], found(of, turn(1, 1)), groups_of("locomo", [of]))
    assert (lesson.spans, lesson.label) == ((), 0)


def test_turns_of_the_future_are_shown_to_nobody() -> None:
    said = sessions()[0].turns[0].said_at
    assert said is not None
    early = replace(MOVED, asked_at=said - timedelta(days=1))
    of = case(early)
    groups = groups_of("locomo", [of])
    (lesson,) = reading("locomo", [of], found(of, turn(1, 1)), groups)
    assert (lesson.second, lesson.latest, lesson.spans) == ("", None, ())
    assert list(ranking("locomo", [of], found(of, turn(1, 1), turn(2, 0)), groups)) == []
    check({"train": [lesson]})
    with pytest.raises(Leak, match="after it was asked"):
        check({"train": [replace(lesson, latest=said)]})


def test_without_the_evidence_the_next_turns_are_read_and_do_not_suffice() -> None:
    of = case(MOVED)
    turns = [turn(1, 1), turn(1, 0), turn(1, 2), turn(2, 0), turn(2, 1), turn(2, 2)]
    (lesson,) = without_evidence("locomo", [of], found(of, *turns), groups_of("locomo", [of]))
    assert ("Oslo" in lesson.second, lesson.label, lesson.spans) == (False, 0, ())


def test_evidence_is_ranked_above_what_else_was_found() -> None:
    of = case(MOVED)
    lessons = list(
        ranking("locomo", [of], found(of, turn(1, 1), turn(2, 0), turn(3, 0)), groups_of("x", [of]))
    )
    assert [one.label for one in lessons] == [1, 0, 0]
    assert lessons[0].second.splitlines() == [
        "Bo (8 May 2023): My sister Ingrid moved from Lisbon to Oslo.",
        "before: Ann (8 May 2023): I adopted a rescue dog called Biscuit.",
        "after: Ann (8 May 2023): Biscuit is allergic to chicken.",
    ]


def test_cases_that_share_a_session_are_one_group() -> None:
    cases = [
        case(name="a", official={"s001": "shared"}),
        case(name="b", official={"s001": "shared", "s002": "other"}),
        case(name="c", official={"s004": "other"}),
        case(name="d"),
    ]
    groups = groups_of("longmemeval", cases)
    assert len({groups[name] for name in ("a", "b", "c")}) == 1
    assert groups["d"] == "longmemeval:d"


@pytest.mark.parametrize(
    ("text", "gold", "wanted"),
    [
        ("We went to the old harbour in Oslo.", "the old harbour", "the old harbour"),
        ("It rained all day.", "harbour", None),
        ("She plays the violin and sings.", "plays violin", "plays the violin"),
    ],
)
def test_the_closest_words_are_the_answer_or_none(text: str, gold: str, wanted: str | None) -> None:
    place = closest(text, gold)
    assert (text[slice(*place)] if place else None) == wanted


def test_a_date_answers_by_the_days_it_means() -> None:
    said = datetime(2023, 5, 8, tzinfo=UTC)
    text = "I went on 2 May, and yesterday again."
    assert [text[a:b] for a, b in answers_in(text, said, ("7 May 2023",))] == ["yesterday"]


def test_what_is_altered_says_something_else() -> None:
    made = alterations("Ann bought 2 lamps in May and was glad.", ["Ann", "Bo"])
    assert made == [
        "Ann bought 4 lamps in May and was glad.",
        "Ann bought 2 lamps in October and was glad.",
        "Bo bought 2 lamps in May and was glad.",
        "Ann bought 2 lamps in May and was not glad.",
    ]
    assert alterations("Ann has not slept.", ["Ann"]) == ["Ann has slept."]


def test_facts_are_stated_by_their_turn_contradicted_when_altered_and_unclear_elsewhere() -> None:
    facts: dict[str, Sequence[Claim]] = {
        "s001:1": [Claim(text="Bo's sister Ingrid moved to Oslo.", quotes=("moved from Lisbon to Oslo",))],
        "s003:0": [Claim(text="The concert was loud.", quotes=("was loud",))],
    }
    made = list(supporting(case(), facts, "locomo:x"))
    graded = {GRADES[one.label]: one for one in made if "Ingrid" in one.first or "Ann's" in one.first}
    assert graded["stated"].second == "Bo (8 May 2023): My sister Ingrid moved from Lisbon to Oslo.\n"
    assert graded["contradicted"].first == "Ann's sister Ingrid moved to Oslo."
    assert {one.source for one in made} == {"locomo-facts"}


def hashing() -> nullcontext[Embedder]:
    return nullcontext(HashEmbedder())


async def find(dataset: Tiny, file: Path) -> dict[QuestionId, Found]:
    with watching() as watcher:
        return await find_all(dataset, file, embedder=hashing, watcher=watcher)


def test_several_processes_find_what_one_finds_in_the_same_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = Tiny(*(f"case-{number:02}" for number in range(17)))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    several = anyio.run(find, dataset, tmp_path / "several.jsonl")
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert anyio.run(find, dataset, tmp_path / "one.jsonl") == several
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "several.jsonl").read_bytes()
    assert {one.case for one in several.values()} == {of.id for of in dataset.cases()}


def test_what_the_product_finds_is_asked_once_and_kept(tmp_path: Path) -> None:
    dataset, file = Tiny(), tmp_path / "found.jsonl"
    first = anyio.run(find, dataset, file)
    written = file.read_bytes()
    assert anyio.run(find, dataset, file) == first == read_found(file, dataset.checksum)
    assert file.read_bytes() == written
    asked = [one for of in dataset.cases() for one in of.questions]
    assert first.keys() == {one.id for one in asked}
    assert sum(bool(set(first[one.id].turns[:5]) & set(one.evidence)) for one in asked if one.evidence) > 0
    with pytest.raises(InvalidInput, match="made otherwise \\(data\\)"):
        read_found(file, "another")
    file.write_text("{}")
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_found(file, dataset.checksum)


def test_a_window_has_the_turns_beside() -> None:
    day = datetime(2023, 5, 8, tzinfo=UTC)
    turns = [
        SaidTurn(speaker=name, text=text, said_at=day)
        for name, text in (("Ann", "I adopted a cat."), ("Bo", "A cat?"))
    ]
    assert window_of(turns, 0) == "Ann (8 May 2023): I adopted a cat.\nafter: Bo (8 May 2023): A cat?"
    assert window_of(turns, 1).splitlines()[1] == "before: Ann (8 May 2023): I adopted a cat."
