"""What is said at a lower trust is beside what was said at a higher one, and its trust is named."""

from typing import Any

import pytest

import tiermem
from tests.api.conftest import OpenMemory

ASKED_AT = "2026-06-01"
LESS_TRUSTED: tuple[dict[str, Any], ...] = ({"role": "tool"}, {"trust": "web"}, {"role": "assistant"})
CASES = (
    ("I live in Leeds.", "I live in Paris now.", "Where does Ann live?"),
    ("My rent is 640 a month.", "My rent went up to 980.", "How much rent does Ann pay?"),
    ("I work at Siemens.", "I joined Acme Robotics today.", "Where does Ann work?"),
    ("My boss is Nadia.", "Nadia left, Tom's my boss now.", "Who is Ann's boss?"),
    ("My sister Maja lives in Porto.", "Maja moved to Bergen.", "Where does Ann's sister live?"),
    ("I drive a Volvo.", "I switched to a Tesla, I drive a Tesla now.", "What car does Ann drive?"),
)


def say(memory: tiermem.Memory, text: str, said_at: str, *, role: str = "user", trust: Any = None) -> None:
    turn = {"role": role, "name": "Ann", "content": text}
    memory.add(turn, session=said_at, said_at=said_at, trust=trust)


@pytest.mark.parametrize("less", LESS_TRUSTED, ids=str)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[2])
def test_contexts_have_both_and_name_the_lower_trust(
    open_memory: OpenMemory, case: tuple[str, str, str], less: dict[str, Any]
) -> None:
    own, other, question = case
    memory = open_memory()
    say(memory, own, "2026-05-08")
    say(memory, other, "2026-05-09", **less)
    for _ in ("open", "sealed"):
        context = memory.context(question, asked_at=ASKED_AT).text
        assert f"said 2026-05-08\n| Ann: {own}" in context
        level = less.get("trust") or less.get("role")
        assert f"said 2026-05-09; trust {level}\n| Ann: {other}" in context
        memory.flush()
