"""A model of `llm` that looks into a memory, and keeps something in it.

    pip install 'tiermem[local,llm]'
    python examples/with_llm.py [FOLDER]

On the command line it is `llm -T tiermem "What is Biscuit allergic to?"`, or with all tools `llm -T TierMem`.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llm

import tiermem
from tiermem.adapters.llm import TierMem


class Scripted(llm.Model):
    """In place of a model: calls one tool, and says what it gave."""

    model_id = "scripted"
    supports_tools = True

    def __init__(self, tool: str, arguments: dict[str, Any]) -> None:
        self.call = llm.ToolCall(name=tool, arguments=arguments, tool_call_id="1")

    def execute(
        self, prompt: llm.Prompt, stream: bool, response: llm.Response, conversation: llm.Conversation | None
    ) -> Iterator[str]:
        """See `llm.Model.execute`."""
        if prompt.tool_results:
            yield prompt.tool_results[0].output
        else:
            response.add_tool_call(self.call)


def main(folder: Path) -> tuple[str, str]:
    """What a model found in memory, and what it had kept there."""
    with tiermem.open(folder) as memory:
        memory.add("My dog Biscuit is allergic to chicken.", speaker="Ann")
    tools = [TierMem(store=str(folder))]
    recalls = Scripted("TierMem_recall", {"question": "What is Biscuit allergic to?"})
    keeps = Scripted("TierMem_remember", {"fact": "The red kettle stands in the cellar."})
    found = recalls.chain("What is Biscuit allergic to?", tools=tools).text()
    return found, keeps.chain("Keep where the kettle is.", tools=tools).text()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as passing:
        print(*main(Path(sys.argv[1] if len(sys.argv) > 1 else passing) / "memory"), sep="\n")
