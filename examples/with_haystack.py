"""A pipeline of Haystack that reads a memory before its chat generator replies.

pip install 'tiermem[local,haystack]'
python examples/with_haystack.py [FOLDER]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from haystack import Pipeline, component
from haystack.components.builders import ChatPromptBuilder
from haystack.dataclasses import ChatMessage

import tiermem
from tiermem.adapters.haystack import TierMemRetriever

PROMPT = """Memory:
{% for one in documents %}{{ one.content }}
{% endfor %}Question: {{ question }}"""


@component
class SaysItsPrompt:
    """In place of a chat generator: replies with what it is shown."""

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, list[ChatMessage]]:
        """See `OpenAIChatGenerator.run`."""
        return {"replies": [ChatMessage.from_assistant(messages[-1].text or "")]}


def main(folder: Path) -> str:
    """Talk, ask by the pipeline, and give what it replies."""
    question = "What is Biscuit allergic to?"
    template = [ChatMessage.from_user(PROMPT)]
    with tiermem.open(folder, engine="local") as memory:
        memory.add("My dog Biscuit is allergic to chicken.")
        pipeline = Pipeline()
        pipeline.add_component("memory", TierMemRetriever(memory, top_k=3))
        pipeline.add_component("prompt", ChatPromptBuilder(template, required_variables="*"))
        pipeline.add_component("model", SaysItsPrompt())
        pipeline.connect("memory.documents", "prompt.documents")
        pipeline.connect("prompt.prompt", "model.messages")
        result = pipeline.run({"memory": {"query": question}, "prompt": {"question": question}})
        return str(result["model"]["replies"][0].text)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as passing:
        print(main(Path(sys.argv[1] if len(sys.argv) > 1 else passing) / "memory"))
