"""A small version of `rules_on_real_text`: one conversation, answers from the annotated turns alone."""

from pathlib import Path

import pytest

from tests.reasoning.rules_on_real_text import Scores, answer_from_gold
from tests.text.dialogue import conversations
from tiermem.reasoning import by_rules

pytestmark = pytest.mark.anyio


@pytest.mark.shared
async def test_dates_are_mostly_right_and_unanswerable_questions_mostly_declined(shared: Path) -> None:
    talk = next(talk for talk in conversations(shared / "data" / "locomo") if talk.name == "conv-30")
    scores = Scores()
    await answer_from_gold(talk, by_rules(), scores)
    assert scores.mean_f1("gold", 2) >= 0.65
    assert scores.share_abstained("gold", 5) >= 0.75
