"""What frameworks keep of a conversation, without a framework."""

import pytest

import tiermem
from tiermem.adapters.items import Items


def items_in(memory: tiermem.Memory, session: str = "chat") -> Items:
    return Items(memory=memory, session=session, key="test", speakers={})


def test_a_message_that_fills_several_parts_of_a_page_comes_back_once() -> None:
    with tiermem.open(":memory:", engine="local", embedder="hashed", page_tokens=50) as memory:
        items = items_in(memory)
        text = " ".join(f"harbour{number}" for number in range(120))
        items.add([items.turn({"type": "human", "content": text}, text=text, role="human")])
        memory.flush()
        pages = [*map(memory.page, (info.id for info in memory.pages())), *memory.open_pages()]
        assert sum(len(page.lines) for page in pages) > 1
        assert [kept.item["content"] for kept in items.newest()] == [text]


def test_clearing_a_session_without_messages_leaves_what_else_was_said_in_it(memory: tiermem.Memory) -> None:
    memory.add("The red kettle is in the cellar.", speaker="Ann", session="chat")
    items_in(memory).clear()
    (page,) = memory.open_pages("chat")
    assert "The red kettle" in page.text


@pytest.mark.parametrize(
    ("role", "stored"),
    [
        ("human", "user"),
        ("ai", "assistant"),
        ("developer", "system"),
        ("function", "tool"),
        ("user", "user"),
        ("assistant", "assistant"),
        ("tool", "tool"),
    ],
)
def test_a_role_of_a_framework_is_stored_as_the_role_it_means(
    memory: tiermem.Memory, role: str, stored: str
) -> None:
    items = items_in(memory)
    items.add([items.turn({"role": role}, text="The ferry leaves at noon.", role=role)])
    (page,) = memory.open_pages("chat")
    (line,) = page.lines
    assert line.turn is not None
    assert (line.turn.role, line.turn.speaker) == (stored, stored)
