"""A crew whose agent reads a memory before its task, and leaves in it what it did.

pip install 'tiermem[local,crewai]'
python examples/with_crewai.py [FOLDER]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from pydantic import Field

import tiermem
from tiermem.adapters.crewai import TierMemMemory


class Scripted(BaseLLM):
    """In place of a model: gives one answer, and keeps what it was shown."""

    shown: list[str] = Field(default_factory=list)

    def call(self, messages: Any, *rest: Any, **named: Any) -> str:
        """See `BaseLLM.call`."""
        self.shown.append(str(messages))
        return "To chicken."


def main(folder: Path) -> tuple[str, str]:
    """Let a crew answer, and give what its model was shown and what the crew left in memory."""
    model = Scripted(model="scripted")
    with tiermem.open(folder, engine="local") as memory:
        memory.add("My dog Biscuit is allergic to chicken.", session="monday")
        helper = Agent(role="helper", goal="Help Ann", backstory="Knows her dogs", llm=model)
        task = Task(description="What is Biscuit allergic to?", expected_output="One word", agent=helper)
        Crew(agents=[helper], tasks=[task], memory=TierMemMemory(memory=memory)).kickoff()
        (left,) = memory.open_pages("crew")
        return "\n".join(model.shown), left.text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as passing:
        print(*main(Path(sys.argv[1] if len(sys.argv) > 1 else passing) / "memory"), sep="\n")
