"""How well memory does on your own logs: your dialogue, your questions, your answers.

    python examples/evaluate_own_logs.py logs.jsonl questions.jsonl

A question is a line of JSON: {"question": "…", "answer": "…", "words": "…"}. `words` stand in the turn that
tells it; without an `answer` the question is one that nothing in the logs answers. For each it is counted
whether the words are among the lines or the citations, whether what is displayed has what you expect, and
what it cost.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import tiermem
from tiermem.dialogue import read_dialogue


@dataclass(frozen=True)
class Row:
    """What became of one question."""

    question: str
    given: str
    found: bool
    """Whether the words that tell it are among the citations or the lines."""
    right: bool
    """Whether the expected answer is in what is displayed; of a question without one, whether it abstains."""
    tokens: int


def evaluate(memory: tiermem.Memory, questions: Iterable[Mapping[str, str]]) -> list[Row]:
    """Ask each question once."""
    return [_row(memory, one) for one in questions]


def _row(memory: tiermem.Memory, expected: Mapping[str, str]) -> Row:
    given = memory.ask(expected["question"])
    shown = [*(one.quote for one in given.citations), *(one.text for one in given.said)]
    wanted = expected.get("answer", "")
    return Row(
        question=expected["question"],
        given=given.text,
        found=any(expected.get("words", "") in one for one in shown),
        right=wanted.lower() in given.text.lower() if wanted else given.abstained,
        tokens=sum(step.usage.input_tokens + step.usage.output_tokens for step in given.trace.usage),
    )


def table(rows: list[Row]) -> str:
    """One line a question, and the shares below."""
    measures = ("found", "right")
    marks = ["".join(f"{name if getattr(row, name) else '-':11}" for name in measures) for row in rows]
    shares = (f"{name} {sum(getattr(row, name) for row in rows) / len(rows):.0%}" for name in measures)
    below = f"{len(rows)} questions: {', '.join(shares)}; {sum(row.tokens for row in rows)} tokens of a model"
    return "\n".join((*(f"{mark}{row.question}" for mark, row in zip(marks, rows, strict=True)), below))


def main() -> None:
    """Read the logs into a memory that ends with the program, and ask."""
    if len(sys.argv) != 3:
        print("usage: python examples/evaluate_own_logs.py LOGS QUESTIONS.jsonl", file=sys.stderr)
        sys.exit(2)
    questions = [json.loads(line) for line in Path(sys.argv[2]).read_text().splitlines() if line.strip()]
    with tempfile.TemporaryDirectory() as folder, tiermem.open(folder, engine="auto") as memory:
        for conversation in read_dialogue(sys.argv[1]):
            for session in conversation.sessions:
                memory.add(session.turns, session=session.session)
        memory.flush()
        print(table(evaluate(memory, questions)))


if __name__ == "__main__":
    main()
