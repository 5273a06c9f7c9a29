"""Ask a LoCoMo conversation, then replay, rerun and prove: `python -m tests.api.audit_on_real_dialogue`.

Answers in quotes, hash embedder, no network. Ends with exit code 1 when an answer is replayed otherwise than
it was given, or a bundle does not hold.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import tiermem
from pagestore.bundle import encode, verify_bundle
from tests.engines import quoting_engine
from tiermem.dialogue import read_dialogue
from tiermem.embedding.hashed import HashEmbedder

DATA = Path("data", "locomo", "locomo_dev7.json")


@dataclass(frozen=True)
class Figures:
    """What became of the answers of one conversation."""

    answers: int
    replayed_the_same: int
    reruns: int
    rerun_the_same: int
    bundles_that_hold: int
    citations: int
    citations_proved: int

    @property
    def ok(self) -> bool:
        return (
            self.replayed_the_same == self.bundles_that_hold == self.answers
            and self.reruns == self.rerun_the_same
            and self.citations == self.citations_proved
        )


def measure(
    file: Path, *, questions: int, reruns: int, sessions: int | None = None, seed: int = 0
) -> Figures:
    """Ask `questions` of the first conversation of a file, and look back at every answer."""
    conversation = read_dialogue(str(file), "locomo")[0]
    asked = [qa["question"] for qa in json.loads(file.read_text(encoding="utf-8"))[0]["qa"]]
    random.Random(seed).shuffle(asked)
    with (
        TemporaryDirectory() as folder,
        tiermem.open(
            Path(folder) / "store",
            engine=quoting_engine(),
            embedder=HashEmbedder(),
            distil="inline",
            write_back="inline",
        ) as memory,
    ):
        for session in conversation.sessions[:sessions]:
            memory.add(list(session.turns), session=session.session)
        memory.flush()
        kept = memory.checkpoint()
        answers = [memory.ask(question) for question in asked[:questions]]
        replays = [memory.replay(answer.id) for answer in answers]
        again = [memory.replay(answer.id, rerun=True) for answer in answers[:reruns]]
        bundles = [memory.bundle(answer.id, checkpoint=kept) for answer in answers]
    reports = [verify_bundle(encode(bundle), kept) for bundle in bundles]
    return Figures(
        answers=len(answers),
        replayed_the_same=sum(
            past.answer == answer and not past.differences
            for past, answer in zip(replays, answers, strict=True)
        ),
        reruns=len(again),
        rerun_the_same=sum(not past.differences for past in again),
        bundles_that_hold=sum(report.ok for report in reports),
        citations=sum(len(answer.citations) for answer in answers),
        citations_proved=sum("are the words of" in line for report in reports for line in report.proved),
    )


def main() -> int:
    """Run what the command line asks for; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path, help="the folder of evaluation data")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--reruns", type=int, default=10)
    given = parser.parse_args()
    figures = measure(given.shared / DATA, questions=given.questions, reruns=given.reruns)
    print(figures)  # noqa: T201 - a command
    return 0 if figures.ok else 1


if __name__ == "__main__":
    sys.exit(main())
