"""What is said at a lower trust replaces, ends and marks nothing that was said at a higher one."""

from typing import Any

import pytest

import tiermem
from tests.api.conftest import OpenMemory
from tiermem import Settings

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
def test_less_trusted_words_replace_nothing(
    open_memory: OpenMemory, case: tuple[str, str, str], less: dict[str, Any]
) -> None:
    own, other, question = case
    memory = open_memory()
    say(memory, own, "2026-05-08")
    say(memory, other, "2026-05-09", **less)
    for _ in ("open", "sealed"):
        given = memory.ask(question, asked_at=ASKED_AT)
        assert given.superseded == ()
        assert "superseded" not in {one.code for one in given.cautions}
        context = memory.context(question, asked_at=ASKED_AT).text
        assert f"[1] said 2026-05-08\n| Ann: {own}" in context
        assert "changed" not in context
        level = less.get("trust") or less.get("role")
        assert f"said 2026-05-09; trust {level}\n| Ann: {other}" in context
        memory.flush()


@pytest.mark.parametrize(("own", "other", "question"), CASES)
def test_equally_trusted_words_replace_it(
    open_memory: OpenMemory, own: str, other: str, question: str
) -> None:
    memory = open_memory()
    say(memory, own, "2026-05-08", role="tool")
    say(memory, other, "2026-05-09", role="tool")
    assert "changed 2026-05-09; trust tool" in memory.context(question, asked_at=ASKED_AT).text


@pytest.mark.parametrize(("own", "other", "question"), CASES)
def test_the_users_words_replace_what_a_tool_said(
    open_memory: OpenMemory, own: str, other: str, question: str
) -> None:
    memory = open_memory()
    say(memory, other, "2026-05-07", role="tool")
    say(memory, own, "2026-05-08")
    context = memory.context(question, asked_at=ASKED_AT)
    assert context.sources[0].text == f"Ann: {own}"


@pytest.mark.parametrize(
    "taken_back",
    [
        "No wait, I meant York.",
        "I gave that up.",
        "From now on it is another one.",
        "Ann switched it.",
        "I quit.",
    ],
)
def test_less_trusted_words_take_nothing_back(open_memory: OpenMemory, taken_back: str) -> None:
    memory = open_memory()
    say(memory, "I live in Leeds.", "2026-05-08")
    say(memory, taken_back, "2026-05-09", role="tool")
    assert "changed" not in memory.context("Where does Ann live?", asked_at=ASKED_AT).text


def test_levels_of_the_settings_decide(open_memory: OpenMemory) -> None:
    levels = ("rumour", "colleague", "owner")
    memory = open_memory(settings=Settings(trust_levels=levels))
    say(memory, "I live in Leeds.", "2026-05-08", trust="owner")
    say(memory, "I live in Paris now.", "2026-05-09", trust="colleague")
    assert "changed" not in memory.context("Where does Ann live?", asked_at=ASKED_AT).text
    say(memory, "I live in Rome now.", "2026-05-10", trust="owner")
    context = memory.context("Where does Ann live?", asked_at=ASKED_AT)
    assert context.sources[0].text == "Ann: I live in Rome now."
    assert "said 2026-05-08; changed 2026-05-10; trust owner\n| Ann: I live in Leeds." in context.text
