"""Move from Mem0: its facts, and of the words behind them what Mem0 still has.

    python examples/from_mem0.py memory ~/.mem0/history.db
    python examples/from_mem0.py memory memories.json      # json.dump(mem0.get_all(filters=…), file)

Mem0 keeps facts and no words, but for the last messages of each user, agent and run, in `history.db`. What
somebody said is read as theirs. A fact is kept as what Mem0 says: it is found like everything else, and is
displayed with the trust of a tool. Read your logs in as well, and the words themselves are displayed too.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import tiermem
from tiermem.dialogue import read_dialogue


@dataclass(frozen=True)
class Moved:
    """What was read: turns that somebody said, and facts that Mem0 says."""

    said: int
    facts: int


def move(memory: tiermem.Memory, *files: Path) -> Moved:
    """Store what files of Mem0 hold; read again, nothing is stored twice."""
    sessions = [one for file in files for found in read_dialogue(file, "mem0") for one in found.sessions]
    for session in sessions:
        memory.add(session.turns, session=session.session)
    memory.flush()
    turns = [turn for session in sessions for turn in session.turns]
    facts = sum(turn.role == "memory" for turn in turns)
    return Moved(said=len(turns) - facts, facts=facts)


def main() -> None:
    """Move, and say how many units rest on words and how many on what Mem0 says."""
    if len(sys.argv) < 3:
        print("usage: python examples/from_mem0.py MEMORY FILE...", file=sys.stderr)
        sys.exit(2)
    store, *files = map(Path, sys.argv[1:])
    with tiermem.open(store, engine="local") as memory:
        moved = move(memory, *files)
        without_words = [unit for unit in memory.units() if unit.support == "worded"]
        print(f"{moved.said} turns that somebody said, {moved.facts} facts that Mem0 says")
        print(f"{len(without_words)} units rest on what Mem0 says alone:")
        for unit in without_words:
            print(f"  {unit.text}")


if __name__ == "__main__":
    main()
