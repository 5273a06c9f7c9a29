"""An agent that talks for 200 turns, and holds 2,000 tokens of all that was said in mind.

What leaves its mind stays in memory: a question brings it back. What it used is judged, what was said twice
becomes one when nothing else is to be done, and each line that its model was shown leads to who said it.

    python examples/agent.py [FOLDER]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import tiermem

Complete = Callable[[str], str]
"""A language model: a prompt in, words out."""

TURNS = 200
MOST_TOKENS = 2_000
BEGAN = datetime(2024, 5, 1, 9, tzinfo=UTC)
THINGS = ("ladder", "red kettle", "spare key", "tent", "sewing box", "bicycle pump", "globe", "chess board")
PLACES = ("under the stairs", "in the shed", "behind the piano", "on the balcony", "in the cellar")
ASKED = "Where did I put the ladder on day 0?"


@dataclass
class Happened:
    """What the agent lived through."""

    turns: int = 0
    evicted: int = 0
    asked_about: str = ""
    held_before: bool = True
    held_after: bool = False
    reply: str = ""
    most_tokens: int = 0
    merged: int = 0
    weights: list[float] = field(default_factory=list)
    line: str = ""
    said_by: str = ""
    intact: bool = False


def said_on(day: int) -> str:
    """What Ann says on a day: where she put something, and every tenth day what she has said before."""
    if day % 10 == 9:
        return "The rent of our flat is 1,150 euros."
    return f"On day {day} I put the {THINGS[day % len(THINGS)]} {PLACES[day % len(PLACES)]}."


def reads_its_prompt(prompt: str) -> str:
    """In place of a model: to a question, Ann's first line that shares five words with it, her name too."""
    *sources, said, _ = prompt.splitlines()
    if not said.endswith("?"):
        return "I see."
    wanted = set(said.lower().strip("?.").split())
    for line in sources:
        if line.startswith("| Ann:") and len(wanted & set(line.lower().strip("?.").split())) > 4:
            return f"You said: {line.removeprefix('| Ann: ')}"
    return "I see."


def live(memory: tiermem.Memory, complete: Complete) -> Happened:
    """Talk, forget nothing, learn what helped, tidy up, and show where a line came from."""
    happened, mind = Happened(), memory.workspace(session="flat", max_tokens=MOST_TOKENS)
    for day in range(TURNS // 2):
        said = said_on(day)
        if day == 0:  # what must not be missed is stated: it becomes a unit at once
            memory.remember(said, speaker="Ann", session="flat", said_at=BEGAN)
        else:
            held = mind.add(said, speaker="Ann", said_at=BEGAN + timedelta(days=day))
            happened.evicted += len(held.evicted)
        known = mind.context("recent", max_tokens=300)
        reply = complete(f"{known}\nAnn: {said}\nYou:")
        replied = mind.add(
            reply,
            speaker="agent",
            role="assistant",
            sources=known,
            said_at=BEGAN + timedelta(days=day, minutes=1),
        )
        happened.turns += 2
        happened.evicted += len(replied.evicted)
        happened.most_tokens = max(happened.most_tokens, mind.tokens)
        if day == TURNS // 4:
            memory.flush()  # the first half is summarised by itself

    happened.asked_about = said_on(0)
    happened.held_before = any(said_on(0) in item.text for item in mind.items)
    memory.flush()
    found = mind.recall(ASKED, limit=3)
    happened.held_after = any(said_on(0) in item.text for item in mind.items)

    shown = mind.context("recent", max_tokens=500)
    happened.reply = complete(f"{shown}\nAnn: {ASKED}\nYou:")
    judged = memory.feedback(sources=found.items, outcome="success", output=happened.reply)
    happened.weights = [credit.after for credit in judged.credits]

    happened.merged = len(memory.consolidate().merged)

    source = next(one for one in shown.sources if said_on(0) in one.text)
    span, checkpoint = source.spans[0], memory.checkpoint()
    page = memory.page(span.page_id)
    line = page.line_at(span.start)
    happened.line = page.text[line.body : line.end]
    happened.said_by = line.turn.speaker if line.turn is not None else ""
    happened.intact = memory.verify(checkpoint).ok
    return happened


def main() -> None:
    """Live in a folder, a passing one if none is named, and say what happened."""
    with tempfile.TemporaryDirectory() as passing:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else passing) / "memory"
        with tiermem.open(folder, engine="local", space="agent") as memory:
            happened = live(memory, reads_its_prompt)
    print(
        f"{happened.turns} turns, at most {happened.most_tokens} tokens in mind, {happened.evicted} left it"
    )
    print(f"{happened.asked_about!r} was held: {happened.held_before}; after recall: {happened.held_after}")
    print(f"reply: {happened.reply}")
    print(f"units said twice, merged: {happened.merged}; weights after praise: {happened.weights}")
    print(f"the line: {happened.said_by}: {happened.line} (every hash holds: {happened.intact})")


if __name__ == "__main__":
    main()
