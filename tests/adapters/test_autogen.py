"""A memory in AutoGen: by itself, and read by an agent."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("autogen_core", reason="AutoGen is not installed: `make test-adapters` brings it")

from autogen_core.memory import Memory, MemoryContent, MemoryMimeType
from autogen_core.model_context import BufferedChatCompletionContext
from autogen_core.models import AssistantMessage, SystemMessage, UserMessage

import tiermem
from tiermem.adapters.autogen import TierMemMemory
from tiermem.errors import InvalidInput

pytestmark = pytest.mark.anyio


def text(content: str, **metadata: Any) -> MemoryContent:
    return MemoryContent(content=content, mime_type=MemoryMimeType.TEXT, metadata=metadata or None)


async def test_what_is_added_is_found_with_where_its_words_stand(memory: tiermem.Memory) -> None:
    kept = TierMemMemory(memory, session="dogs", speaker="Ann", k=1, kind="turns")
    assert isinstance(kept, Memory)
    await kept.add(text("My dog Biscuit is allergic to chicken.", source="chat"))
    (found,) = (await kept.query("What is Biscuit allergic to?")).results
    assert found.content == "Ann: My dog Biscuit is allergic to chicken."
    assert found.metadata is not None
    (span,) = found.metadata["spans"]
    page = memory.page(span["page_id"])
    assert "Biscuit" in page.text[span["start"] : span["end"]]
    turn = page.lines[0].turn
    assert turn is not None
    assert turn.metadata["autogen"]["metadata"] == {"source": "chat"}
    assert (await kept.query(text("Biscuit"), speaker="Bo")).results == []
    confined = TierMemMemory(memory, kind="turns", only={"speaker": "Bo"})
    assert (await confined.query(text("Biscuit"), session="dogs")).results == []


async def test_a_reply_is_stored_in_the_role_that_its_metadata_names(memory: tiermem.Memory) -> None:
    kept = TierMemMemory(memory, session="dogs", speaker="Ann")
    await kept.add(text("Is Biscuit a terrier?"))
    await kept.add(text("Biscuit is a beagle.", role="assistant"))
    (page,) = memory.open_pages("dogs")
    turns = [line.turn for line in page.lines if line.turn is not None]
    assert [(turn.speaker, turn.role) for turn in turns] == [("Ann", "user"), ("assistant", "assistant")]


async def test_json_is_kept_and_what_has_no_words_is_refused(memory: tiermem.Memory) -> None:
    kept = TierMemMemory(memory, k=1)
    await kept.add(MemoryContent(content={"colour": "red"}, mime_type=MemoryMimeType.JSON))
    assert "red" in str((await kept.query("colour")).results[0].content)
    with pytest.raises(InvalidInput, match="describe it"):
        await kept.add(MemoryContent(content=b"\x00", mime_type=MemoryMimeType.BINARY))


async def test_a_context_gets_what_bears_on_what_the_user_said(dogs: tiermem.Memory) -> None:
    context = BufferedChatCompletionContext(buffer_size=10)
    kept = TierMemMemory(dogs, max_tokens=200)
    assert (await kept.update_context(context)).memories.results == []
    await context.add_message(UserMessage(content="What is Biscuit allergic to?", source="user"))
    await context.add_message(AssistantMessage(content="Let me see.", source="helper"))
    (found,) = (await kept.update_context(context)).memories.results
    added = (await context.get_messages())[-1]
    assert isinstance(added, SystemMessage)
    assert added.content == found.content
    assert "| Ann: My dog Biscuit is allergic to chicken." in added.content


async def test_clearing_erases_its_session_alone(dogs: tiermem.Memory) -> None:
    kept = TierMemMemory(dogs, session="nights")
    await kept.add(text("Biscuit barks in the cellar."))
    await kept.clear()
    await kept.clear()
    await kept.close()
    found = [str(one.content) for one in (await kept.query("Where does Biscuit bark?")).results]
    assert any("chicken" in one for one in found)
    assert not any("cellar" in one for one in found)


def test_the_example_runs(example: Callable[[str], Any]) -> None:
    shown, reply = example("with_autogen.py")
    assert "| user: My dog Biscuit is allergic to chicken." in shown
    assert reply == "To chicken."
