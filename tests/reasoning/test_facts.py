"""Answers from statements of a fact, and answers that a later turn makes untrue."""

from dataclasses import replace
from datetime import UTC, datetime

from tiermem.model import Evidence
from tiermem.reasoning import Draft
from tiermem.reasoning.interface import ABSTAINED
from tiermem.reasoning.rules.facts import answer_fact, require_current

NOW = datetime(2024, 12, 1, tzinfo=UTC)


def _said(month: int, text: str) -> Evidence:
    return Evidence(
        text=text, spans=(), score=1.0, source="turn", said_at=datetime(2024, month, 1, tzinfo=UTC)
    )


def test_the_latest_value_is_answered_with_its_turn() -> None:
    evidence = [_said(1, "Ann: My rent is 640."), _said(5, "Ann: My rent went up to 680.")]
    assert answer_fact("What is Ann's rent?", evidence, NOW) == Draft(text="680", cited=(1,), abstained=False)


def test_other_questions_are_left_to_other_rules() -> None:
    assert answer_fact("What does Ann like?", [_said(1, "Ann: My rent is 640.")], NOW) is None


def test_an_answer_is_withheld_if_its_speaker_says_later_that_something_changed() -> None:
    evidence = [
        _said(1, "Ann: Granny picks Emmy up."),
        _said(4, "Ann: Leo fetches Emmy from now on."),
    ]
    first, second = (
        Draft(text=text, cited=(at,), abstained=False) for at, text in enumerate(("Granny", "Leo"))
    )
    assert require_current("Who picks Emmy up?", first, evidence) == ABSTAINED
    assert require_current("Who picks Emmy up?", second, evidence) == second
    assert require_current("Who used to pick Emmy up?", first, evidence) == first


def test_an_answer_stays_if_its_speaker_says_later_that_something_changed_for_another_person() -> None:
    evidence = [
        _said(1, "Ann: My sister Maja has the spare key. I see Dr Lee on 3 May."),
        _said(4, "Ann: Tom quit. Maja gave up the flat."),
    ]
    key, doctor, day = (Draft(text=text, cited=(0,), abstained=False) for text in ("Maja", "Dr Lee", "3/5"))
    assert require_current("Who does Ann see?", doctor, evidence) == doctor
    assert require_current("When does Ann see Dr Lee?", day, evidence) == day
    assert require_current("Who has the spare key?", replace(key, text="spare key"), evidence) == ABSTAINED
