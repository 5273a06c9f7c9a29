"""Records: anonymous rankings score as the named ones do, and lines read back as they were written."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.corpus import Corpus
from eval.folder import RunFolder
from eval.metrics.retrieval import score, session_labels
from eval.records import Begun, Ranking, Retrieved, from_line, rankings, to_line
from eval.types import Case, CaseId, LabelledQuestion, Level, Passage, QuestionId, Result
from pagestore import EstimateCounter, SessionId, Turn
from tests.eval import tiny
from tests.eval.test_retrieval_metrics import at, case, question, session
from tiermem.model import Usage

NAMES = st.sampled_from(["answer_a", "answer_b", "x", "y", "z"])


def judged(
    asked: LabelledQuestion, of: Case, found: Mapping[Level, tuple[Passage, ...]]
) -> dict[str, Ranking]:
    corpus = Corpus(of.sessions, EstimateCounter())
    return {f"{one.level}/{one.labels}": one for one in rankings(of, asked, corpus, found)}


@given(
    names=st.lists(NAMES, min_size=2, max_size=6),
    ranking=st.permutations(range(6)),
    evidence=st.sets(st.integers(1, 6), max_size=3),
    k=st.sampled_from([1, 3, 5]),
)
def test_a_ranking_without_names_scores_as_the_named_one(
    names: list[str], ranking: list[int], evidence: set[int], k: int
) -> None:
    numbers = range(1, len(names) + 1)
    targets = [n for n in numbers if n in evidence and names[n - 1].startswith("answer")]
    asked = question(*(at(n, 0) for n in targets))
    of = case(
        asked,
        *(session(n, "user", "assistant") for n in numbers),
        official={f"s{n}": name for n, name in zip(numbers, names, strict=True)},
    )
    found = tuple(at(n + 1, 0, 2) for n in ranking if n < len(names))
    labels = session_labels(of, asked)
    named = score(labels.ranked(found), labels.targets, labels.corpus, k=k)
    kept = judged(asked, of, {"session": found, "page": (), "turn": ()})
    assert ("session/official" in kept) is bool(targets)
    if targets:
        assert kept["session/official"].scores(k) == named


def test_a_session_that_stands_twice_counts_as_officially() -> None:
    asked = question(at(1, 0))
    of = case(
        asked,
        session(1, "user"),
        session(2, "user"),
        session(3, "user"),
        official={"s1": "answer_a", "s2": "answer_a", "s3": "x"},
    )
    found = (at(2, 0, 1), at(1, 0, 1), at(3, 0, 1))
    kept = judged(asked, of, {"session": found, "page": (), "turn": ()})["session/official"]
    assert (kept.targets, kept.copies, kept.hits) == (1, 2, (0, 0, -1))
    assert kept.scores(1).recall_all == 1.0
    assert kept.scores(3).ndcg_any == 1.0


def test_evidence_in_assistant_turns_only_is_no_official_target_and_still_evidence() -> None:
    asked = question(at(1, 1))
    of = case(
        asked, session(1, "user", "assistant"), session(2, "user"), official={"s1": "answer_a", "s2": "x"}
    )
    found: dict[Level, tuple[Passage, ...]] = {
        "session": (at(1, 0, 2),),
        "page": (at(1, 0, 2),),
        "turn": (at(1, 1),),
    }
    kept = judged(asked, of, found)
    assert "session/official" not in kept
    assert kept["session/vendor"].scores(1).recall_any == 1.0
    assert "turn/official" not in kept
    assert kept["turn/evidence"].scores(1).recall_all == 1.0


def test_an_abstention_question_is_in_no_official_score() -> None:
    asked = question(at(1, 0), answerable=False)
    of = case(asked, session(1, "user"), official={"s1": "answer_a"})
    kept = judged(asked, of, {"session": (at(1, 0, 1),), "page": (), "turn": ()})
    assert "session/official" not in kept
    assert kept["session/vendor"].scores(1).recall_any == 1.0


def test_tokens_count_a_turn_once_however_often_it_was_found() -> None:
    asked = question(at(1, 0))
    of = case(asked, session(1, "user", "user"), official={})
    page, turn = at(1, 0, 2), at(1, 0)
    kept = judged(asked, of, {"session": (page,), "page": (page,), "turn": (turn, at(1, 1))})
    first, both = kept["turn/evidence"].tokens
    assert 0 < first < both == kept["page/evidence"].tokens[0]


def test_a_record_reads_back_as_it_was_written() -> None:
    begun = Begun(system="bm25", case=CaseId("c"), attempt=2, seconds=0.1 + 0.2, usage=Usage(cost=None))
    ranking = Ranking(level="turn", labels="evidence", targets=1, copies=1, hits=(-1, 0), tokens=(3, 9))
    retrieved = Retrieved(
        system="bm25",
        case=CaseId("c"),
        question=QuestionId("q"),
        category="fact",
        text='Who said "kind":"answer"?\n',
        gold=("x",),
        answerable=True,
        flags=(),
        rankings=(ranking,),
        evidence=("Ann: x",),
        shown=(),
        seconds=1 / 3,
    )
    for record in (begun, retrieved):
        line = to_line(record)
        assert line.count(b"\n") == 1
        assert from_line(line) == record


def test_a_run_from_before_there_were_samples_and_profiles_is_still_opened(tmp_path: Path) -> None:
    file = tiny.new_folder(tmp_path, "qa").path / "manifest.json"
    written = json.loads(file.read_text())
    del written["sample"], written["profile"]
    file.write_text(json.dumps(written))
    manifest = RunFolder.open(tmp_path).manifest
    assert (manifest.sample, manifest.profile) == ({}, None)
    assert RunFolder.resume(tmp_path, tiny.manifest("qa")).manifest == manifest


def test_an_answer_recorded_before_there_were_styles_is_still_read() -> None:
    line = (
        b'{"kind":"answer","system":"tiermem","case":"c","question":"q","category":"fact","text":"?","gold":["x"],'
        b'"answerable":true,"flags":[],"evidence":[],"epoch":1,"attempt":1,"reply":{"text":"x","abstained":false,'
        b'"route":"ESCALATE","reason":"","citations":[],"usage":{"input_tokens":0},"steps":[],"reads":{},'
        b'"prompts":[],"degraded":[],"answer_id":null},"grade":{"f1":1.0,"exact":true,"soft":true,"correct":true,'
        b'"judge":"words"},"seconds":0.1}\n'
    )
    record = from_line(line)
    assert isinstance(record, Result)
    assert (record.grade.correct, record.grade.verdicts) == (True, {})


@pytest.mark.parametrize("line", [b"{}", b'{"kind":"other","x":1}', b"not json", b'{"kind":"begun",'])
def test_a_line_that_is_no_record_is_an_error(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_line(line)


def test_a_tiny_case_has_the_turns_its_evidence_names() -> None:
    one = tiny.case("one")
    assert one.turn(tiny.turn(1, 2)) == Turn(
        speaker="Ann", text="Biscuit is allergic to chicken.", said_at=one.sessions[0].started_at
    )
    assert one.sessions[0].id == SessionId("s001")
