"""Conversations in excerpts: what one does not hold is unanswerable there, and nothing is lost or twice."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from eval.datasets.excerpts import SESSIONS, Excerpts, excerpts, whole
from eval.types import Case, CaseId, Passage
from pagestore import SessionId
from tests.eval import tiny


def long_case(sessions: int, asked: list[tuple[int, int]]) -> Case:
    """So many sessions of two turns, and questions whose evidence lies in two of them."""
    said = [
        [("Ann", f"I keep the number alpha{n}."), ("Bo", f"Mine is beta{n}.")] for n in range(1, sessions + 1)
    ]
    questions = tuple(
        tiny.question("c", number, "Which numbers?", f"alpha{a} beta{b}", tiny.turn(a, 0), tiny.turn(b, 1))
        for number, (a, b) in enumerate(asked)
    )
    return Case(id=CaseId("c"), sessions=tiny.sessions(said), questions=questions)


@given(data=st.data(), sessions=st.integers(1, 20))
def test_every_session_is_in_one_excerpt_and_every_question_where_it_belongs(
    data: st.DataObject, sessions: int
) -> None:
    numbers = st.integers(1, sessions)
    case = long_case(sessions, data.draw(st.lists(st.tuples(numbers, numbers), max_size=5)))
    cut = excerpts(case)
    if sessions == 1:
        assert cut == []
        return
    assert [one.id for of in cut for one in of.sessions] == [one.id for one in case.sessions]
    assert all(len(of.sessions) in SESSIONS for of in cut[:-1])
    assert {whole(of.id) for of in cut} == {whole(case.id)} == {"c"}
    ids = [question.id for of in cut for question in of.questions]
    assert len(ids) == len(set(ids))
    for of in cut:
        there = {session.id for session in of.sessions}
        for question in of.questions:
            assert question.answerable == bool(question.gold) == bool(question.evidence)
            assert {passage.session for passage in question.evidence} <= there
    answerable = [question for of in cut for question in of.questions if question.answerable]
    within = [one for one in case.questions if any(_lies_in(one.evidence, of) for of in cut)]
    assert len(answerable) == len(within)


def _lies_in(evidence: tuple[Passage, ...], excerpt: Case) -> bool:
    there = {session.id for session in excerpt.sessions}
    return {passage.session for passage in evidence} <= there


def test_a_question_is_asked_again_where_nobody_said_it() -> None:
    first, second, third = excerpts(tiny.case("one"))
    assert [len(one.sessions) for one in (first, second, third)] == [1, 2, 1]
    assert [(one.id, one.category) for one in first.questions] == [("one#0/0", "fact"), ("one#2/0", "fact")]
    never = [one for one in second.questions if one.category == "never said"]
    assert [one.id for one in never] == ["one#0/1", "one#2/1"]
    assert not any(one.answerable or one.gold or one.evidence for one in never)


def test_where_the_answer_stands_after_all_it_is_not_asked_as_never_said() -> None:
    case = tiny.case("one")
    said = replace(case.sessions[1].turns[0], text="Biscuit hates the rain.")
    other = replace(case.sessions[1], turns=(said, *case.sessions[1].turns[1:]))
    _, second, _ = excerpts(replace(case, sessions=(case.sessions[0], other, *case.sessions[2:])))
    assert [one.id for one in second.questions if not one.answerable] == ["one#2/1"]


def test_excerpts_keep_the_names_of_their_sessions_and_the_digest_of_the_whole() -> None:
    named = replace(tiny.case("one"), official={SessionId("s001"): "D1", SessionId("s002"): "D2"})
    assert [dict(one.official) for one in excerpts(named)] == [{"s001": "D1"}, {"s002": "D2"}, {}]
    dataset = Excerpts(tiny.Tiny("one", "two"))
    assert (dataset.name, dataset.checksum) == ("tiny in excerpts", tiny.Tiny("one", "two").checksum)
    assert [one.id for one in dataset.cases()] == [
        f"{name}/{at}" for name in ("one", "two") for at in range(3)
    ]
    assert [one.id for one in excerpts(long_case(4, [(4, 4)])) if one.questions] == ["c/0", "c/2"]
