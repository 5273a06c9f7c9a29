"""A row on answers without a model: every line is words of a turn, as they were said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import tiermem
from eval.datasets import Beam, LoCoMo, LongMemEval, Newcomer, RealTalk
from eval.types import Case, Dataset
from tests.torture.data import shared
from tests.torture.harness import Outcome, Row, Share
from tiermem.embedding.hashed import HashEmbedder
from tiermem.model import CitedSentence

DATASETS: tuple[tuple[Callable[[Path], Dataset], str], ...] = (
    (LoCoMo, "data/locomo/locomo_dev7.json"),
    (LongMemEval, "data/longmemeval/longmemeval_oracle_dev100.json.xz"),
    (RealTalk, "data/realtalk/realtalk_dev5.tar.xz"),
    (Beam, "data/beam/beam_100k_dev10.tar.xz"),
    (Newcomer, "data/newcomer"),
)
OF_EACH = 40
"""Questions of each dataset; of the newcomer's there are 38."""


def said_lines(share: Share) -> Outcome:
    """Ask the questions of the datasets without a model, and look for the words of each line in its turns."""
    outcome, root = Outcome(), shared()
    for number in dict.fromkeys(case // OF_EACH for case in share.cases):
        opened, path = DATASETS[number]
        left = sum(case // OF_EACH == number for case in share.cases)
        for case in opened(root / path).cases():
            left -= _ask(case, outcome, left)
            if left <= 0:
                break
        outcome.count += max(0, left)  # a dataset with fewer questions
    return outcome


def _ask(case: Case, outcome: Outcome, most: int) -> int:
    """Ask at most so many questions of a case; returns how many it has."""
    said: dict[str, list[str]] = {}
    with (
        TemporaryDirectory() as folder,
        tiermem.open(folder, engine="local", embedder=HashEmbedder(), distil="deferred") as memory,
    ):
        for session in case.sessions:
            memory.add(list(session.turns), session=session.id)
            for turn in session.turns:
                said.setdefault(turn.speaker, []).append(_plain(turn.text))
        asked = case.questions[:most]
        for question in asked:
            answer = memory.ask(question.text, asked_at=question.asked_at)
            outcome.count += 1
            outcome.seen["lines"] += len(answer.said)
            lines = [one for line in answer.said for one in (line, line.next) if one is not None]
            printed = answer.text.splitlines()
            outcome.demand(len(printed) == len(lines) + 1 or not lines, f"{len(printed)} lines are printed")
            for line in lines:
                for part in _parts(line):
                    is_said = any(part in text for text in said.get(line.speaker, ()))
                    outcome.demand(is_said, f"{case.id}: {line.speaker} did not say {part!r}")
    return len(asked)


def _parts(line: CitedSentence) -> Iterator[str]:
    """The runs of words of a line between what is left out."""
    return filter(None, map(_plain, line.text.split("…")))


def _plain(text: str) -> str:
    return " ".join(text.replace("…", " ").split())


ROWS = (
    Row(
        name="said-lines",
        failure="words in an answer without a model that were not said",
        done="questions of LoCoMo, LongMemEval, REALTALK, BEAM and a new user, without a model; every line, "
        "and what was said next, is looked for in the turns of its speaker",
        unit="questions",
        count=OF_EACH * len(DATASETS),
        share=OF_EACH,
        work=said_lines,
        fixed=True,
        minutes=20.0,
    ),
)
