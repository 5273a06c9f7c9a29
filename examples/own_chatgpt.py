"""Ask your own ChatGPT export, offline: no model, no key, no network. What was said is displayed.

    python examples/own_chatgpt.py conversations.json "What did I want to plant on the balcony?"

ChatGPT sends the export by mail (*Settings*, *Data controls*, *Export data*); its zip is read too.
Exports of Claude, WhatsApp, Telegram, Slack and Discord are read in the same way.
"""

from __future__ import annotations

import sys
from pathlib import Path

import tiermem
from tiermem.dialogue import read_dialogue


def read_into(memory: tiermem.Memory, export: Path) -> int:
    """Store what is new in an export, and say how many turns that is. Read again, nothing is stored twice."""
    new = 0
    for conversation in read_dialogue(export):
        for session in conversation.sessions:
            new += memory.add(session.turns, session=session.session).new
    memory.flush()
    return new


def answer_of(memory: tiermem.Memory, question: str) -> str:
    """What was said about the question, or what comes nearest."""
    return memory.ask(question, min_trust="user").text  # only what you said yourself


def main() -> None:
    """Read the export, ask the question."""
    if len(sys.argv) != 3:
        print("usage: python examples/own_chatgpt.py EXPORT QUESTION", file=sys.stderr)
        sys.exit(2)
    export, question = Path(sys.argv[1]), sys.argv[2]
    with tiermem.open(export.with_suffix(".memory"), engine="local") as memory:
        print(f"{read_into(memory, export)} turns are new")
        print(answer_of(memory, question))


if __name__ == "__main__":
    main()
