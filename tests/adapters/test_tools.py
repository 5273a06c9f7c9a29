"""The tools that adapters offer to a model, without a framework."""

import json

import pytest

import tiermem
from tiermem.adapters.tools import MemoryTools
from tiermem.errors import InvalidInput

FACT = "The red kettle is in the cellar."


def attribution(memory: tiermem.Memory) -> tuple[str, str | None]:
    """Return the speaker and the role of the turn that is stored."""
    (line,) = memory.page(memory.pages("main")[0].id).lines
    assert line.turn is not None
    return line.turn.speaker, line.turn.role


def test_what_a_model_remembers_is_the_assistant_s(memory: tiermem.Memory) -> None:
    tools = MemoryTools(memory, session="main", only={})
    assert FACT in tools.remember(FACT)
    assert attribution(memory) == ("assistant", "assistant")


def test_a_speaker_is_refused_and_nothing_is_stored(memory: tiermem.Memory) -> None:
    tools = MemoryTools(memory, session="main", only={})
    with pytest.raises(InvalidInput, match="as_user"):
        tools.remember(FACT, speaker="user")
    assert memory.stats().turns == 0


@pytest.mark.parametrize("speaker", [None, "Bo"])
def test_tools_made_for_the_user_store_words_of_the_user_or_of_a_speaker(
    memory: tiermem.Memory, speaker: str | None
) -> None:
    tools = MemoryTools(memory, session="main", only={}, as_user=True)
    tools.remember(FACT, speaker)
    assert attribution(memory) == (speaker or "user", None)


def test_a_question_is_answered_from_what_the_tools_may_find(memory: tiermem.Memory) -> None:
    memory.add(FACT, speaker="Ann", session="house")
    memory.flush()
    answers = [
        json.loads(MemoryTools(memory, session="main", only={"session": session}).ask("Where is the kettle?"))
        for session in ("house", "garden")
    ]
    assert [FACT in answer["text"] for answer in answers] == [True, False]
