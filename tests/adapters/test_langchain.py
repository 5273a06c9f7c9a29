"""A memory in LangChain, held to LangChain's own standard tests and to what histories promise."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="LangChain is not installed: `make test-adapters` brings it")
pytest.importorskip("langchain_tests", reason="LangChain's standard tests are not installed")

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

import tiermem
from tiermem.adapters.langchain import TierMemChatMessageHistory, TierMemRetriever

pytestmark = pytest.mark.anyio


class TestStandard(RetrieversIntegrationTests):
    """LangChain's suite, as it is."""

    @pytest.fixture(autouse=True)
    def _memory(self, dogs: tiermem.Memory) -> None:
        self.memory = dogs

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return TierMemRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.memory}

    @property
    def retriever_query_example(self) -> str:
        return "What is Biscuit allergic to?"


def test_a_document_says_where_its_words_stand(dogs: tiermem.Memory) -> None:
    dogs.flush()
    found = TierMemRetriever(memory=dogs, k=1).invoke("What is Biscuit allergic to?")[0]
    assert "allergic to chicken" in found.page_content
    (span,) = found.metadata["spans"]
    assert "Biscuit" in dogs.page(span["page_id"]).text[span["start"] : span["end"]]
    assert found.id == TierMemRetriever(memory=dogs, k=1).invoke("Who is allergic, Biscuit?")[0].id


def test_what_is_found_can_be_confined(dogs: tiermem.Memory) -> None:
    dogs.add("Biscuit barks at night.", speaker="Bo", session="nights")
    by_bo = TierMemRetriever(memory=dogs, kind="turns", only={"speaker": "Bo"}).invoke("Biscuit")
    assert [one.page_content for one in by_bo] == ["Bo: Biscuit barks at night."]
    with pytest.raises(TypeError, match="colour"):
        TierMemRetriever(memory=dogs, only={"colour": "red"}).invoke("Biscuit")


MESSAGES = [
    SystemMessage("You are a helper."),
    HumanMessage("How warm is it in Rome?"),
    AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Rome"}, "id": "c1"}]),
    ToolMessage("21 degrees", tool_call_id="c1"),
    AIMessage([{"type": "text", "text": "It is 21 degrees in Rome."}], id="m5"),
    HumanMessage("How warm is it in Rome?"),
    AIMessage("word " * 30_000),
]


def test_messages_come_back_as_they_were_also_by_another_history(memory: tiermem.Memory) -> None:
    history = TierMemChatMessageHistory(memory, "rome", speakers={"user": "Ann"})
    history.add_messages(MESSAGES[:3])
    memory.flush()
    history.add_messages(MESSAGES[3:])
    assert history.messages == MESSAGES
    assert TierMemChatMessageHistory(memory, "rome").messages == MESSAGES
    assert TierMemChatMessageHistory(memory, "oslo").messages == []
    said = memory.recall("How warm is it in Rome?", kind="turns", speaker="Ann").items
    assert "How warm is it in Rome?" in said[0].text


async def test_a_history_is_awaited_too_and_cleared_for_ever(memory: tiermem.Memory) -> None:
    history = TierMemChatMessageHistory(memory, "rome")
    await history.aadd_messages(MESSAGES[:2])
    assert await history.aget_messages() == MESSAGES[:2]
    await history.aclear()
    await history.aclear()
    assert history.messages == []
    assert not memory.recall("How warm is it in Rome?").items
    history.add_message(MESSAGES[1])
    assert history.messages == MESSAGES[1:2]


def test_the_example_runs(example: Callable[[str], Any]) -> None:
    assert example("with_langchain.py") == "You said: My dog Biscuit is allergic to chicken."
