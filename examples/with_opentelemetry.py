"""Spans of what a memory does, shown on the terminal.

pip install 'tiermem[local,opentelemetry]' opentelemetry-sdk
python examples/with_opentelemetry.py [FOLDER]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import tiermem
from tiermem.adapters.opentelemetry import instrument


def main(folder: Path) -> list[str]:
    """Ask a memory, and give the names of the spans; where yours go is for your exporter to say."""
    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    end = instrument(provider)
    with tiermem.open(folder, engine="local") as memory:
        memory.add("My dog Biscuit is allergic to chicken.", speaker="Ann")
        memory.ask("What is Biscuit allergic to?")
    end()
    return [span.name for span in spans.get_finished_spans()]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as passing:
        print(*main(Path(sys.argv[1] if len(sys.argv) > 1 else passing) / "memory"), sep="\n")
