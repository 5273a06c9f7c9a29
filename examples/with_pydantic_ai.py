"""An agent of Pydantic AI whose conversations are kept, and whose requests bring what memory knows.

pip install 'tiermem[local,pydantic-ai]'
python examples/with_pydantic_ai.py [FOLDER]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.models.function import AgentInfo, FunctionModel

import tiermem
from tiermem.adapters.pydantic_ai import TierMemHistory, memory_toolset


def says_what_it_is_shown(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """In place of a model: replies with the newest request."""
    return ModelResponse([TextPart("\n".join(str(part.content) for part in messages[-1].parts))])


async def talk(memory: tiermem.Memory) -> str:
    """Talk in one session, ask in another, and give what the model was shown."""
    reply = ""
    for session, said in {
        "monday": "My dog Biscuit is allergic to chicken.",
        "tuesday": "What is Biscuit allergic to?",
    }.items():
        history = TierMemHistory(memory, session, keep=20)
        agent = Agent(
            FunctionModel(says_what_it_is_shown),
            toolsets=[memory_toolset(memory)],
            capabilities=[ProcessHistory(history.process)],
        )
        result = await agent.run(said, message_history=await history.messages())
        await history.add(result.new_messages())
        reply = result.output
    return reply


def main(folder: Path) -> str:
    """Open a memory and talk."""
    with tiermem.open(folder, engine="local") as memory:
        return asyncio.run(talk(memory))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as passing:
        print(main(Path(sys.argv[1] if len(sys.argv) > 1 else passing) / "memory"))
