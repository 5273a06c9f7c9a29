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
    ("Ich wohne in Leipzig.", "Ich wohne jetzt in Bremen.", "Wo wohnt Ann?"),
    ("Mi médico es el doctor Ruiz.", "Mi médico es ahora la doctora Vega.", "¿Quién es el médico de Ann?"),
    ("Je travaille chez Orange.", "Je ne travaille plus chez Orange.", "Où travaille Ann ?"),
    ("我住在南京。", "我现在住在苏州。", "安住在哪里？"),
    ("Мой банк — Альфа.", "Теперь мой банк — Омега.", "Какой у Энн банк?"),
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


@pytest.mark.parametrize("less", LESS_TRUSTED, ids=str)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[2])
def test_lines_have_the_users_words_without_a_mark(
    open_memory: OpenMemory, case: tuple[str, str, str], less: dict[str, Any]
) -> None:
    own, other, question = case
    memory = open_memory(engine="local")
    say(memory, own, "2026-05-08")
    say(memory, other, "2026-05-09", **less)
    for _ in ("open", "sealed"):
        lines = {line.text: line for line in memory.ask(question, asked_at=ASKED_AT).said}
        assert own in lines
        assert {line.order for line in lines.values()} <= {None}
        assert all(lines[text].trust not in ("user", None) for text in lines.keys() - {own})
        memory.flush()


@pytest.mark.parametrize(
    ("own", "other", "question"),
    [
        ("Our boat lies in Kiel.", "The boat Heron is moored in Rostock.", "Where is the boat Heron moored?"),
        (
            "My vet: Dr Lind.",
            "Ann's vet for the dog Biscuit is Dr Roe.",
            "Who is Ann's vet for the dog Biscuit?",
        ),
        (
            "Das WLAN heißt Igel.",
            "Das WLAN der Hütte am See heißt Wolf.",
            "Wie heißt das WLAN der Hütte am See?",
        ),
        (
            "Ma banque est à Lyon.",
            "La banque du club de voile est à Nice.",
            "Où est la banque du club de voile ?",
        ),
        (
            "The key is with Bo.",
            "The key of the garden shed is with Cy.",
            "Who has the key of the garden shed?",
        ),
    ],
)
@pytest.mark.parametrize("less", LESS_TRUSTED, ids=str)
def test_a_line_of_lower_trust_leaves_no_older_words_of_the_user_out(
    open_memory: OpenMemory, own: str, other: str, question: str, less: dict[str, Any]
) -> None:
    memory = open_memory(engine="local")
    say(memory, own, "2026-05-08")
    say(memory, other, "2026-05-09", **less)
    first, *others = memory.ask(question, asked_at=ASKED_AT).said
    assert first.text == other
    assert [(line.text, line.order) for line in others] == [(own, None)]
