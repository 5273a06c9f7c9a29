"""A memory in LlamaIndex: a block of its `Memory`, and a retriever of a query engine."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="LlamaIndex is not installed: `make test-adapters` brings it")

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.mock import MockLLM
from llama_index.core.memory import Memory
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode
from sqlalchemy.ext.asyncio import create_async_engine

import tiermem
from tiermem.adapters.llama_index import TierMemBlock, TierMemRetriever

pytestmark = pytest.mark.anyio


async def test_what_leaves_the_chat_is_kept_and_comes_back_as_evidence(memory: tiermem.Memory) -> None:
    block = TierMemBlock(memory=memory, speakers={"user": "Ann"})
    database = create_async_engine("sqlite+aiosqlite:///:memory:")
    chat = Memory.from_defaults(
        async_engine=database,
        session_id="monday",
        token_limit=60,
        token_flush_size=10,
        chat_history_token_ratio=0.5,
        memory_blocks=[block],
    )
    await chat.aput(ChatMessage("My dog Biscuit is allergic to chicken.", role="user"))
    for number in range(6):
        await chat.aput(ChatMessage(f"We also spoke about the weather of day {number}.", role="assistant"))
        await chat.aput(ChatMessage(f"And what of day {number + 1}?", role="user"))
    await chat.aput(ChatMessage("What is Biscuit allergic to?", role="user"))
    shown, *rest = await chat.aget()
    await database.dispose()
    assert shown.role == "system"
    assert "My dog Biscuit is allergic to chicken." in str(shown.content)
    assert "My dog Biscuit is allergic to chicken." not in {one.content for one in rest}
    turns = [line.turn for page in memory.open_pages("monday") for line in page.lines]
    assert turns[0] is not None
    assert turns[0].speaker == "Ann"
    assert turns[0].metadata["llama_index"]["blocks"][0]["text"] == "My dog Biscuit is allergic to chicken."
    assert turns[0].said_at is not None
    assert turns[0].metadata["llama_index"]["additional_kwargs"] == {}


async def test_a_block_keeps_to_its_session_and_its_filters(dogs: tiermem.Memory) -> None:
    block = TierMemBlock(memory=dogs, session="nights", only={"session": "nights"})
    question = [ChatMessage("Where does Biscuit bark?", role="user")]
    assert await block.aget(question) == ""
    await block.aput([ChatMessage("Biscuit barks in the cellar.", role="user")], session_id="another")
    found = await block.aget(question)
    assert "cellar" in found
    assert "chicken" not in found
    assert await block.aget([]) == ""
    assert await block.aget([ChatMessage("  ", role="user")]) == ""


def test_nodes_are_what_a_query_engine_reads(dogs: tiermem.Memory) -> None:
    retriever = TierMemRetriever(dogs, similarity_top_k=2, kind="turns")
    first, _ = retriever.retrieve("What is Biscuit allergic to?")
    assert "allergic to chicken" in first.get_content(MetadataMode.LLM)
    assert "page_id" not in first.get_content(MetadataMode.LLM)
    (span,) = first.metadata["spans"]
    assert "Biscuit" in dogs.page(span["page_id"]).text[span["start"] : span["end"]]
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
    reply = engine.query("What is Biscuit allergic to?")
    assert reply.source_nodes[0].node.node_id == first.node.node_id
    assert "allergic to chicken" in str(reply)  # the model says its prompt again


async def test_a_retriever_is_awaited_too(dogs: tiermem.Memory) -> None:
    found = await TierMemRetriever(dogs, only={"speaker": "Bo"}).aretrieve("What is Biscuit allergic to?")
    assert found == []


def test_the_example_runs(example: Callable[[str], Any]) -> None:
    assert "My dog Biscuit is allergic to chicken." in example("with_llama_index.py")
