"""An assistant of AutoGen that reads a memory before it replies.

pip install 'tiermem[local,autogen]' autogen-agentchat autogen-ext
python examples/with_autogen.py [FOLDER]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import MemoryQueryEvent, TextMessage
from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_ext.models.replay import ReplayChatCompletionClient

import tiermem
from tiermem.adapters.autogen import TierMemMemory


async def talk(memory: tiermem.Memory) -> tuple[str, str]:
    """Keep something, ask about it, and give what the assistant was shown and what it replied."""
    kept = TierMemMemory(memory, session="facts")
    said = "My dog Biscuit is allergic to chicken."
    await kept.add(MemoryContent(content=said, mime_type=MemoryMimeType.TEXT))
    model = ReplayChatCompletionClient(["To chicken."])  # in place of a model's client
    assistant = AssistantAgent("helper", model_client=model, memory=[kept])
    result = await assistant.run(task="What is Biscuit allergic to?")
    shown = next(one for one in result.messages if isinstance(one, MemoryQueryEvent))
    (reply,) = (one for one in result.messages if isinstance(one, TextMessage) and one.source == "helper")
    return str(shown.content[0].content), reply.content


def main(folder: Path) -> tuple[str, str]:
    """Open a memory and talk."""
    with tiermem.open(folder, engine="local") as memory:
        return asyncio.run(talk(memory))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as passing:
        print(*main(Path(sys.argv[1] if len(sys.argv) > 1 else passing) / "memory"), sep="\n")
