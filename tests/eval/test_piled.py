"""One memory with the sessions of many conversations."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import pytest

from eval.datasets import Piled
from eval.types import Case, CaseId, LabelledQuestion, Passage, QuestionId, Session
from pagestore.values import SessionId, Turn
from tiermem.errors import InvalidInput


class Haystacks:
    """Five conversations of four sessions; the third of each holds the evidence, the last is in all."""

    name, checksum = "haystacks", "0" * 64
    defects: Mapping[str, int] = {}

    def cases(self) -> Iterator[Case]:
        for number in range(5):
            names = [f"other-{number}-1", f"other-{number}-2", f"answer-{number}", "in-all"]
            sessions = tuple(
                Session(
                    id=SessionId(f"s{at}"),
                    turns=(Turn(speaker="Ann", text=f"{name}, first"), Turn(speaker="Bob", text=name)),
                    started_at=datetime(2024, 1 + at, 20 - number, tzinfo=UTC),
                )
                for at, name in enumerate(names)
            )
            question = LabelledQuestion(
                id=QuestionId(f"q{number}"),
                text=f"Which is {number}?",
                category="one",
                gold=(names[2],),
                evidence=(Passage(session=SessionId("s2"), start=1, end=2),),
                evidence_sessions=(SessionId("s2"),),
            )
            official = {one.id: name for one, name in zip(sessions, names, strict=True)}
            yield Case(id=CaseId(f"c{number}"), sessions=sessions, questions=(question,), official=official)


@pytest.mark.parametrize(("sessions", "size", "asked"), [(None, 16, 5), (6, 6, 3), (99, 16, 5), (2, 2, 1)])
def test_a_pile_has_so_many_sessions_in_order_of_time_and_the_questions_about_them(
    sessions: int | None, size: int, asked: int
) -> None:
    (case,) = Piled(Haystacks(), sessions=sessions).cases()
    assert len(case.sessions) == len({one.id for one in case.sessions}) == size
    assert len(set(case.official.values())) == size
    began = [one.started_at for one in case.sessions if one.started_at is not None]
    assert began == sorted(began)
    assert [one.id for one in case.questions] == [f"q{number}" for number in range(asked)]
    for question in case.questions:
        assert [case.turn(at).text for at in question.evidence] == list(question.gold)
        assert [case.official[one] for one in question.evidence_sessions] == list(question.gold)


def test_the_other_sessions_are_drawn_by_the_seed() -> None:
    def names(seed: int) -> set[str]:
        (case,) = Piled(Haystacks(), sessions=8, seed=seed).cases()
        return set(case.official.values())

    assert names(0) == names(0)
    assert len({frozenset(names(seed)) for seed in range(5)}) > 1


def test_a_pile_too_small_for_any_evidence_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least two sessions, not 1"):
        Piled(Haystacks(), sessions=1)
