"""Lessons from articles: made-up files in the published formats, and the real ones where they are."""

import json
import lzma
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.research.training.data.articles import (
    clapnq,
    friendsqa,
    joined,
    natural_questions,
    qamr,
    squad,
    squad_test,
)
from eval.research.training.data.company import among_rivals, in_turns, of_a_scene, side_by_side
from eval.research.training.data.derived import ablated, claims, sentence_ranks, swapped
from eval.research.training.data.examples import GRADES, Example
from eval.research.training.data.mix import checksum, lessons
from eval.research.training.data.sources import SOURCES
from eval.research.training.data.splits import check
from tiermem.errors import InvalidInput

TEXT = "The mill was built in 1840. Its owner was Ada Brook. It burned down twice."
QUESTION = {"id": "q1", "question": "Who owned the mill?", "answers": ["Ada Brook"], "is_impossible": False}
UNASKED = {"id": "q2", "question": "Who bought the mill?", "answers": [], "is_impossible": True}


def packed(file: Path, content: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    file.write_bytes(lzma.compress(text.encode()) if file.suffix == ".xz" else text.encode())
    return file


def squad_file(folder: Path, articles: Mapping[str, str]) -> Path:
    made = {
        title: [{"context": text, "qas": [{**QUESTION, "id": f"{title} 1"}, {**UNASKED, "id": f"{title} 2"}]}]
        for title, text in articles.items()
    }
    return packed(folder / "squad.json.xz", {"1.1": made, "2.0": made})


def held(lesson: Example) -> list[str]:
    return [lesson.second[start:end] for start, end in lesson.spans]


def test_squad_has_every_question_once_with_its_answer_where_it_stands(tmp_path: Path) -> None:
    answered, other = squad(squad_file(tmp_path, {"Old_Mill": TEXT}))
    assert (held(answered), answered.label, answered.group) == (["Ada Brook"], 1, "wikipedia:old_mill")
    assert (other.spans, other.label) == ((), 0)


def test_the_test_of_squad_has_places_of_its_own(tmp_path: Path) -> None:
    answers = [{"text": "Ada Brook", "answer_start": TEXT.index("Ada")}]
    paragraph = {"context": TEXT, "qas": [{**QUESTION, "answers": answers}]}
    file = packed(tmp_path / "t.json", {"data": [{"title": "Old Mill", "paragraphs": [paragraph]}]})
    (lesson,) = squad_test(file)
    assert (held(lesson), lesson.group) == (["Ada Brook"], "wikipedia:old_mill")
    with pytest.raises(InvalidInput, match="holds no 'data'"):
        list(squad_test(packed(tmp_path / "u.json", {})))


def test_a_scene_is_read_around_what_answers_and_its_speakers_are_no_answers(tmp_path: Path) -> None:
    said = [
        {"uid": n, "speakers": ["Jo", "Di"][n % 2 : n % 2 + 1], "utterance": f"Line {n} ."} for n in range(20)
    ]
    answer = {
        "answer_text": "Line 12",
        "utterance_id": 12,
        "inner_start": 0,
        "inner_end": 1,
        "is_speaker": False,
    }
    who = {**answer, "answer_text": "Jo", "is_speaker": True}
    qas = [
        {"id": "a", "question": "What ?", "answers": [answer]},
        {"id": "b", "question": "Who ?", "answers": [who]},
    ]
    scene = {"title": "s01", "paragraphs": [{"utterances:": said, "qas": qas}]}
    (lesson,) = friendsqa(packed(tmp_path / "f.json", {"data": [scene]}))
    assert held(lesson) == ["Line 12"]
    assert "Jo: Line 8.\n" in lesson.second
    assert "Line 7" not in lesson.second


def test_answers_of_single_sentences_are_the_tokens_named(tmp_path: Path) -> None:
    texts = packed(tmp_path / "s.tsv", "Wiki1k:wikipedia:7:1:0\tThe owner -LRB- Ada Brook -RRB- sold it .\n")
    row = ["Wiki1k:wikipedia:7:1:0", "1", "9", "0", "1", "Who sold it?", "3 4", "5:3 4", "6:1 3"]
    (lesson,) = qamr(texts, [packed(tmp_path / "q.tsv", "\t".join(row) + "\n")])
    assert lesson.second == "The owner (Ada Brook) sold it."
    assert (held(lesson), lesson.group) == (["Ada Brook"], "qamr:wikipedia:7")


def test_questions_typed_into_a_search_engine(tmp_path: Path) -> None:
    row = {"question": "who owned it", "answers": ["ada brook"], "ctxs": [{"title": "Mill", "text": TEXT}]}
    (lesson,) = natural_questions(packed(tmp_path / "n.jsonl", json.dumps(row) + "\n"))
    assert held(lesson) == ["Ada Brook"]
    row = {"id": "1", "input": "who", "passages": [{"title": "Mill", "text": TEXT}]}
    file = packed(tmp_path / "c.jsonl", json.dumps(row))
    assert [one.label for one in clapnq(file, file)] == [1, 0]
    with pytest.raises(InvalidInput, match="line 1 of"):
        list(natural_questions(packed(tmp_path / "bad.jsonl", "{")))


@pytest.fixture
def mill(tmp_path: Path) -> Example:
    return next(squad(squad_file(tmp_path, {"Old_Mill": TEXT})))


def test_without_its_sentence_a_text_does_not_answer(mill: Example) -> None:
    left = ablated(mill)
    assert left is not None
    assert (left.second, left.label, left.spans) == (
        "The mill was built in 1840. It burned down twice.",
        0,
        (),
    )
    assert left.group == mill.group


def test_as_turns_an_answer_stands_where_it_stood(mill: Example) -> None:
    other = Example(id="o", source="qamr", group="g", task="read", first="?", second="It rained.", label=0)
    turns = in_turns([other, mill], mill)
    assert held(turns) == ["Ada Brook"]
    assert turns.second.count("\n") == 2


def test_sentences_in_company_keep_their_answers_and_are_drawn_the_same(mill: Example) -> None:
    def one(number: int) -> Example:
        text = f"Barn {number} has a red roof."
        at = text.index("a red")
        return Example(
            id=f"h{number}",
            source="qamr",
            group=f"g{number}",
            task="read",
            first="What is it?",
            second=text,
            label=1,
            spans=((at, at + 10),),
            answers=(text[at : at + 10],),
        )

    several = [one(number) for number in range(30)]
    made = list(side_by_side(several, 20))
    assert made == list(side_by_side(several, 20))
    assert {text for lesson in made for text in held(lesson)} == {"a red roof"}
    assert {lesson.id.rpartition(":")[2] for lesson in made} == {"turns", "stitched"}
    assert all(lesson.label == 0 for lesson in swapped(several))


def test_as_a_search_shows_it_the_sentence_that_answers_is_among_its_rivals(mill: Example) -> None:
    (made,) = among_rivals([mill])
    assert held(made) == ["Ada Brook"]
    assert len(made.second.splitlines()) == 3
    unanswered = replace(mill, spans=(), label=0, answers=())
    (empty,) = among_rivals([unanswered])
    assert (empty.spans, empty.label) == ((), 0)
    elsewhere = replace(mill, id="x", second="It was Ada Brook. The mill is red.", spans=())
    assert "It was Ada" not in next(iter(among_rivals([mill, elsewhere]))).second


def test_a_scene_as_a_search_shows_it_keeps_who_says_what() -> None:
    lines = [
        "Ross: Hi.",
        "Joey: The duck is in the tub.",
        "Ross: A duck?",
        *(f"Joey: {n}." for n in range(9)),
    ]
    text = "\n".join(lines) + "\n"
    at = text.index("in the tub")
    scene = Example(id="s", source="friendsqa", group="g", task="read", first="Where is the duck?",
                    second=text, label=1, spans=((at, at + 10),), answers=("in the tub",))  # fmt: skip
    (made,) = of_a_scene([scene])
    assert held(made) == ["in the tub"]
    assert len(made.second.splitlines()) == 5
    assert "Joey" in next(line for line in made.second.splitlines() if "tub" in line).partition(": ")[0]
    assert "A duck?" in made.second


def test_what_tokenizing_put_apart_is_joined_and_answers_stay_in_their_place() -> None:
    text = "Joey: I did n't , ( really ) see Ross 's duck ."
    at = text.index("Ross 's duck")
    lesson = Example(id="s", source="friendsqa", group="g", task="read", first="Whose duck ?", second=text,
                     label=1, spans=((at, at + 12),), answers=("Ross 's duck",))  # fmt: skip
    made = joined(lesson)
    assert (made.first, made.second) == ("Whose duck?", "Joey: I didn't, (really) see Ross's duck.")
    assert (held(made), made.answers) == (["Ross's duck"], ("Ross's duck",))


def test_claims_are_stated_contradicted_or_unclear(mill: Example) -> None:
    made = {GRADES[one.label]: one for one in claims(mill, "Tom Hill")}
    assert made["stated"].first == "Who owned the mill? Ada Brook"
    assert made["contradicted"].first == "Who owned the mill? Tom Hill"
    assert "Ada Brook" not in made["unclear"].second
    assert "contradicted" not in {GRADES[one.label] for one in claims(mill, "Brook")}


def test_sentences_to_rank_hold_the_answer_or_do_not(mill: Example) -> None:
    yes, no = sentence_ranks(mill)
    assert (yes.label, yes.second) == (1, "Its owner was Ada Brook.")
    assert (no.label, "Ada" in no.second) == (0, False)


def test_a_test_article_is_learned_by_nobody(tmp_path: Path) -> None:
    (name,), (tested,) = SOURCES["squad"].files, SOURCES["squad2"].files
    titles = ["Old_Mill", "Lighthouse", "Harbour"]
    squad_file(tmp_path, {title: f"{title} {TEXT}" for title in titles}).rename(_made(tmp_path / name))
    answers = [{"text": "Ada Brook", "answer_start": TEXT.index("Ada")}]
    paragraph = {"context": TEXT, "qas": [{**QUESTION, "id": "t", "answers": answers}]}
    packed(tmp_path / "t.json", {"data": [{"title": "Old Mill", "paragraphs": [paragraph]}]}).rename(
        _made(tmp_path / tested)
    )
    made = lessons(tmp_path, ["squad"], found={})
    learned = {one.group for part in ("train", "dev") for one in made.parts[part]}
    assert "wikipedia:old_mill" not in learned
    assert {one.group for one in made.parts["test"]} == {"wikipedia:old_mill"}
    assert made.checksums == {name: checksum(tmp_path, name) for name in ("squad", "squad2")}


def _made(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


@pytest.mark.shared
def test_the_real_files_are_read_and_nothing_leaks(shared: Path) -> None:
    data = shared / "data"
    made = lessons(data, ["friendsqa", "clapnq"], found={})
    check(made.parts)
    counts = {name: sum(one.source == name for one in made.parts["train"]) for name in made.trained_on}
    assert counts["friendsqa"] > 2000
    assert counts["clapnq"] > 500
    assert len(made.parts["test"]) == 6078
