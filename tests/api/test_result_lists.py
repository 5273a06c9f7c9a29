"""Results of a search: each statement once, all with their speaker, and names with their signs."""

from __future__ import annotations

from typing import Any

import pytest

import tiermem
from tests.api.conftest import OpenMemory
from tests.engines import quoting_engine

SIGNS = (
    ("Notepad++", "I write all my notes in Notepad++ by now.", "Which editor is for notes?"),
    ("C#", "At work we moved from Java to C# last year.", "Which language did work move to?"),
    (".NET", "The .NET course in Lund costs 90 euros.", "Which course is in Lund?"),
    ("AB-", "My blood type is AB-, says the card.", "What is the blood type?"),
    ("Canal+", "Le match passe sur Canal+ ce soir.", "Où passe le match ?"),
    ("B&B", "We sleep in the B&B on Mill Road.", "Where on Mill Road do we sleep?"),
    ("Окко+", "Я подписалась на Окко+ в мае.", "На что подписалась?"),
    ("#tides", "He posts about it under #tides.", "Under what does he post?"),
)
RELATIVE = (
    "I saw the dentist about my tooth yesterday.",
    "We fly to Oslo with Ingrid next Friday.",
    "Gestern hat Jonas das Fahrrad repariert.",
    "The roof of the shed was fixed two weeks ago.",
    "Tomorrow the plumber comes to see the boiler.",
    "Hier je suis tombée dans l'escalier du métro.",
    "Mañana firmo el contrato del piso en Cádiz.",
    "Wczoraj oddałam klucze właścicielowi mieszkania.",
)


@pytest.mark.parametrize(("name", "text", "question"), SIGNS, ids=[name for name, *_ in SIGNS])
def test_a_name_keeps_its_sign(open_memory: OpenMemory, name: str, text: str, question: str) -> None:
    memory = open_memory(engine="local")
    for number, (_, said, _) in enumerate(SIGNS):
        memory.add(said, speaker="Ann", session=f"s{number}")
    for _ in ("open", "sealed"):
        for query in (name, f'"{name}"', question):
            assert text in memory.search(query, limit=1)[0].text
        assert name in memory.context(question, max_tokens=400).text
        assert text in [line.text for line in memory.ask(question).said]
        memory.flush()
    assert any(name in unit.text for unit in memory.units())


@pytest.mark.parametrize("kind", ["any", "turns", "units"])
@pytest.mark.parametrize("engine", ["local", quoting_engine()], ids=["local", "model"])
@pytest.mark.parametrize("text", RELATIVE)
def test_a_sentence_with_a_relative_date_takes_one_place(
    open_memory: OpenMemory, text: str, engine: Any, kind: Any
) -> None:
    memory = open_memory(engine=engine)
    for number, said in enumerate(RELATIVE):
        memory.add({"role": "user", "content": said}, session=f"s{number}", said_at="2026-05-04T10:00")
    memory.flush()
    found = [item.text.removeprefix("user: ") for item in memory.search(text, kind=kind, limit=8)]
    assert found[0] == text
    assert len(found) == len(set(found))
    assert set(found) <= set(RELATIVE)
    context = memory.context(text, max_tokens=1_000).text
    assert context.count(text) == 1


STATED = (
    ("Ann", "The kiln in the yard is hot."),
    ("user", "Mittens sleeps in the boathouse."),
    ("Jörg", "Das Boot liegt seit Mai in Kiel."),
    ("Ольга", "Ключ от дачи лежит под ёлкой."),
    ("愛子", "鍵は金魚鉢の下にあります。"),
    ("Ann-Marie O'Neill", "The rent is 640 euros: due on the 3rd."),
    ("assistant", "Der Schuppen ist seit gestern grün."),
    ("tool", "La presión de la caldera es de 1,4 bar."),
)


@pytest.fixture
def stated(open_memory: OpenMemory) -> tiermem.Memory:
    """Facts that were remembered, with as many turns about the same."""
    memory = open_memory(engine="local")
    for speaker, fact in STATED:
        role = speaker if speaker in ("assistant", "tool") else None
        memory.remember(fact, speaker=speaker, role=role)
        memory.add(f"I heard of it: {fact}", speaker=speaker, role=role, session="heard")
    return memory


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("kind", ["any", "turns", "units"])
@pytest.mark.parametrize(("speaker", "fact"), STATED, ids=[speaker for speaker, _ in STATED])
def test_every_result_says_who_speaks(
    stated: tiermem.Memory, speaker: str, fact: str, kind: Any, sealed: bool
) -> None:
    if sealed:
        stated.flush()
    found = stated.search(fact, kind=kind, limit=6)
    assert f"{speaker}: {fact}" in [item.text for item in found]
    assert all(item.text.startswith(f"{item.speaker}: ") for item in found)
    assert all(item.speaker for item in found)
