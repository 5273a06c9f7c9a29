"""Answers to questions about facts that changed, in dialogues that outsiders wrote.

`python -m tests.reading.changed_facts [FILE …]` asks every question of each file (of `changed_facts.jsonl`,
if none is named) of the model of the settings, prints how many are right, wrong and not answered, and which
are not right. Nothing is distilled, so a question is a call or a few.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import tiermem
from tiermem.text import stems
from tiermem.text.literals import numbers
from tiermem.text.words import word_list

Verdict = Literal["right", "wrong", "not answered"]
OPEN = Path(__file__).with_name("changed_facts.jsonl")
"""The dialogues that are asked where no file is named."""
_TITLES = frozenset(word_list("dr prof mr mr mrs ms st mg microgram with under in at the dose number"))
"""Stems that an answer may leave out: titles, units, and words of place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFact:
    """A question about a dialogue, its expected answer, and values that are wrong."""

    dialogue: str
    question: str
    expected: str
    wrong: tuple[str, ...]
    answer: str
    """The answer that was given, "" if none was."""

    @property
    def verdict(self) -> Verdict:
        """What the answer is; one with neither the expected value nor a wrong one is wrong too."""
        if not self.answer:
            return "not answered"
        is_right = self._holds(self.expected)
        return "wrong" if not is_right or any(map(self._holds, self.wrong)) else "right"

    def _holds(self, value: str) -> bool:
        """Whether the answer holds a value: its numbers, and its words that are not in the question."""
        asked = {*stems(self.question), *_TITLES}
        if value in ("yes", "no"):
            return self.answer.lower().startswith(value)
        values = set(numbers(value)) | {one for one in stems(value) if not one[:1].isdigit()}
        shared = {*stems(self.expected), *numbers(self.expected)} if value != self.expected else set()
        needed = (values - asked - shared) or values
        return needed <= {*stems(self.answer), *numbers(self.answer)}


def ask_questions(file: Path = OPEN) -> Iterator[AskedFact]:
    """Ask every question of a file, each dialogue in a store of its own."""
    for line in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        with (
            TemporaryDirectory() as folder,
            tiermem.open(folder, engine="model", distil="deferred") as memory,
        ):
            for turn in line["turns"]:
                memory.add(
                    turn["text"],
                    speaker=turn["speaker"],
                    said_at=turn["said_at"],
                    session=turn["said_at"][:10],
                )
            asked_at = datetime.fromisoformat(line["turns"][-1]["said_at"]) + timedelta(days=2)
            for asked in line["questions"]:
                answer = memory.ask(asked["question"], asked_at=asked_at)
                yield _asked(line["id"], asked, "" if answer.abstained else answer.text)


def _asked(dialogue: str, asked: dict[str, Any], answer: str) -> AskedFact:
    return AskedFact(
        dialogue=dialogue,
        question=asked["question"],
        expected=asked["expected"],
        wrong=tuple(asked["not"]),
        answer=answer,
    )


def _print_figures(file: Path) -> None:
    asked = list(ask_questions(file))
    counts = Counter(item.verdict for item in asked)
    for item in asked:
        if item.verdict != "right":
            sys.stdout.write(
                f"{item.dialogue} {item.verdict}: {item.question} {item.answer!r}, not {item.expected!r}\n"
            )
    shares = ", ".join(
        f"{verdict} {counts[verdict] / len(asked):.1%}" for verdict in ("right", "wrong", "not answered")
    )
    sys.stdout.write(f"{file.name}: {len(asked)} questions, {shares}\n")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("files", nargs="*", type=Path, default=[OPEN])
    for file in arguments.parse_args().files:
        _print_figures(file)
