"""An agent of the OpenAI Agents SDK: its sessions are kept in a memory, which another session reads.

pip install 'tiermem[local,openai-agents]'
python examples/with_openai_agents.py [FOLDER]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

import tiermem
from tiermem.adapters.openai_agents import TierMemSession

QUIET = RunConfig(tracing_disabled=True)


async def talk(folder: Path) -> tuple[str, str]:
    """Talk in one session, ask in another, and give what the agent's tool found and what it replied."""
    # In place of a model: what it will do, step by step.
    model = ScriptedModel(
        [
            [assistant_message("Noted: no chicken.")],
            [function_call("recall", {"question": "What is Biscuit allergic to?"}, call_id="1")],
            [assistant_message("To chicken.")],
        ]
    )
    with tiermem.open(folder, engine="local") as memory:

        @function_tool
        def recall(question: str) -> str:
            """What memory holds on a question, as numbered evidence."""
            return memory.context(question, max_tokens=300).text

        agent = Agent(name="helper", model=model, tools=[recall])
        monday, tuesday = TierMemSession("monday", memory), TierMemSession("tuesday", memory)
        said, asked = "My dog Biscuit is allergic to chicken.", "What is Biscuit allergic to?"
        await Runner.run(agent, said, session=monday, run_config=QUIET)
        reply = await Runner.run(agent, asked, session=tuesday, run_config=QUIET)
        _, _, found, _ = await tuesday.get_items()
        return str(found.get("output")), str(reply.final_output)


def main(folder: Path) -> tuple[str, str]:
    """Talk on an event loop of its own."""
    return asyncio.run(talk(folder))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as passing:
        print(*main(Path(sys.argv[1] if len(sys.argv) > 1 else passing) / "memory"), sep="\n")
