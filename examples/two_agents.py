"""Two agents share a project: each keeps its own, and gives the other what it decides to.

    python examples/two_agents.py [FOLDER]

A planner and a writer work in one space. What one says the other does not see, until the owner grants it, or
the one that knows a thing shares it; what was shared is seen without the words behind it.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import tiermem

QUESTION = "When is the launch?"


@dataclass(frozen=True)
class Heard:
    """What the writer finds, one after the other."""

    before: str
    shared: str
    withdrawn: str
    granted: str
    words: str
    """The words that the writer is shown of what was only shared."""


def found_by(agent: tiermem.Memory) -> str:
    """What an agent finds about the question: turns that it may see, and what is shared with it."""
    return "; ".join(one.text for one in agent.search(QUESTION))


def work(memory: tiermem.Memory) -> Heard:
    """One project, from secret to shared to granted."""
    planner, writer = memory.as_agent("planner"), memory.as_agent("writer")
    memory.add("The project is called Lighthouse.", speaker="Ann")  # of no agent: everybody sees it
    known = planner.remember("The launch is on 3 June 2024.", speaker="Bo")
    before = found_by(writer)

    planner.share(known.unit.id, reason="the writer needs the day")
    shared = found_by(writer)
    words = " ".join(one.quote for one in writer.search(QUESTION))

    planner.unshare(known.unit.id, reason="the day may change")
    withdrawn = found_by(writer)

    memory.grant("writer", to_see="planner")  # the owner lets the writer see all that is the planner's
    granted = found_by(writer)
    return Heard(before=before, shared=shared, withdrawn=withdrawn, granted=granted, words=words)


def main() -> None:
    """Work in a folder, a passing one if none is named, and say who heard what."""
    with tempfile.TemporaryDirectory() as passing:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else passing) / "memory"
        with tiermem.open(folder, engine="local", space="lighthouse") as memory:
            heard = work(memory)
    for name, value in vars(heard).items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
