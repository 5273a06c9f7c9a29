"""A chat in LlamaIndex whose short-term memory is small: what leaves it comes back when it matters.

pip install 'tiermem[local,llama-index]'
python examples/with_llama_index.py [FOLDER]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.mock import MockLLM
from llama_index.core.memory import Memory
from sqlalchemy.ext.asyncio import create_async_engine

import tiermem
from tiermem.adapters.llama_index import TierMemBlock


async def talk(memory: tiermem.Memory) -> str:
    """Talk until the beginning has left the chat, ask about it, and give what the model was shown."""
    database = create_async_engine("sqlite+aiosqlite:///:memory:")  # of what has not left the chat
    chat = Memory.from_defaults(
        session_id="monday",
        token_limit=120,
        token_flush_size=20,
        memory_blocks=[TierMemBlock(memory=memory)],
        async_engine=database,
    )
    await chat.aput(ChatMessage("My dog Biscuit is allergic to chicken.", role="user"))
    for day in range(10):
        await chat.aput(ChatMessage(f"It rained on day {day}, and the shed is still dry.", role="assistant"))
        await chat.aput(ChatMessage("Good. And the day after that one?", role="user"))
    engine = SimpleChatEngine.from_defaults(llm=MockLLM(), memory=chat)  # it says what it is shown
    reply = await engine.achat("What is Biscuit allergic to?")
    await database.dispose()
    return str(reply)


def main(folder: Path) -> str:
    """Open a memory and talk."""
    with tiermem.open(folder, engine="local") as memory:
        return asyncio.run(talk(memory))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as passing:
        print(main(Path(sys.argv[1] if len(sys.argv) > 1 else passing) / "memory"))
