"""The fact that a question asks for, as evidence states it."""

from datetime import UTC, datetime

from tiermem.model import Evidence
from tiermem.reasoning.rules.facts import find_stated_fact

NOW = datetime(2024, 12, 1, tzinfo=UTC)


def _said(month: int, text: str) -> Evidence:
    return Evidence(
        text=text, spans=(), score=1.0, source="turn", said_at=datetime(2024, month, 1, tzinfo=UTC)
    )


def test_the_latest_value_is_found_with_its_turn_and_those_before_it() -> None:
    evidence = [_said(1, "Ann: My rent is 640."), _said(5, "Ann: My rent went up to 680.")]
    fact = find_stated_fact("What is Ann's rent?", evidence, NOW)
    assert fact is not None
    assert fact.answer is not None
    assert (fact.answer.at, fact.answer.statement.value) == (1, "680")
    assert [one.statement.value for one in fact.values] == ["640", "680"]


def test_no_fact_is_found_for_other_questions() -> None:
    assert find_stated_fact("What does Ann like?", [_said(1, "Ann: My rent is 640.")], NOW) is None
