"""What a router learns from: one question a line, with what was recalled for it and what became of both ways.

Labels are the paper's (B.2): S where the answer from what was recalled is right; R where it is wrong and the
one from the raw pages right; none where both fail. Conversations are parted before anything is drawn.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from eval.research.training.data.examples import Part
from eval.research.training.data.splits import Leak, parts_of, same_question
from eval.research.training.router.router_reward import Choice
from eval.types import CaseId, QuestionId
from tiermem.errors import InvalidInput
from tiermem.llm.interface import Message
from tiermem.model import Evidence

PARTS: Final[tuple[Part, ...]] = ("train", "dev", "test")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Of the conversations, by number: those looked at while learning, and those measured on."""

    dev: float = 0.15
    test: float = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The run it is from: its data and their digest, which of it was asked (`sample`), who reasoned and who
    judged, the systems of both ways, the embedder, the prompt.
    """

    dataset: str
    checksum: str
    sample: Mapping[str, Any]
    engine: str
    judge: str
    summary: str
    raw: str
    embedder: str
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One question: what was recalled (the paper's Z0), whether either way was right (`None`: undecided), the
    tokens of evidence either way read, and the chat that a language model learns from.
    """

    question: QuestionId
    case: CaseId
    part: Part
    category: str
    text: str
    answerable: bool
    asked_at: datetime
    recalled: tuple[Evidence, ...]
    c_s: bool | None
    c_r: bool | None
    label: Choice | None
    s_tokens: int
    r_tokens: int
    recalled_tokens: int
    messages: tuple[Message, ...]
    origin: Origin


_ROW: Final = TypeAdapter(Row)


def label_of(c_s: bool | None, c_r: bool | None) -> Choice | None:
    """What a router should have done; `None` where neither way is right, or the judge could not say."""
    if c_s:
        return "S"
    return "R" if c_s is False and c_r else None


def by_conversation(rows: Sequence[Row], shares: Shares) -> list[Row]:
    """The rows in parts, a conversation in one; no question that is measured on is asked elsewhere."""
    parts = parts_of({row.case for row in rows}, dev=shares.dev, test=shares.test)
    parted = [replace(row, part=parts[row.case]) for row in rows]
    measured_on = {same_question(row.text) for row in parted if row.part == "test"} - {""}
    return [row for row in parted if row.part == "test" or same_question(row.text) not in measured_on]


def check_parts(rows: Iterable[Row]) -> None:
    """Raise `Leak` for a conversation in two parts, or a question of the test that is learned from too."""
    part_of: dict[CaseId, Part] = {}
    asked: dict[str, Row] = {}
    for row in rows:
        if part_of.setdefault(row.case, row.part) != row.part:
            raise Leak(
                f"{row.case!r} is in {part_of[row.case]!r} and, with {row.question!r}, in {row.part!r}"
            )
        other = asked.setdefault(same_question(row.text) or row.question, row)
        if "test" in {row.part, other.part} and row.part != other.part:
            raise Leak(f"{row.question!r} ({row.part}) asks what {other.question!r} ({other.part}) asks")


def sft(rows: Iterable[Row], part: Part) -> list[dict[str, Any]]:
    """The labelled questions of a part as ms-swift reads them: `messages`, and nothing else."""
    return [_chat(row) for row in rows if row.part == part and row.label is not None]


def grpo(rows: Iterable[Row], part: Part, *, hard: int = 1) -> list[dict[str, Any]]:
    """The questions of a part that reward teaches something about, with the columns that the reward reads.

    B.8: none where the raw pages do not help, hard ones (summaries wrong, pages right) `hard` times.
    """
    prompts: list[dict[str, Any]] = []
    for row in rows:
        if row.part == part and row.c_s is not None and row.c_r:
            asked = {**_chat(row, answered=False), "c_s": row.c_s, "c_r": row.c_r}
            prompts += [asked] * (1 if row.c_s else hard)
    return prompts


def _chat(row: Row, *, answered: bool = True) -> dict[str, Any]:
    shown = row.messages if answered else row.messages[:1]
    return {"messages": [{"role": one.role, "content": one.content} for one in shown]}


def write_rows(rows: Sequence[Row], out: Path, *, hard: int) -> dict[str, int]:
    """Write every row to `out`, and beside it what ms-swift reads, of train and dev alone; how many of each.

    Raises `Leak` where a part holds something of another.
    """
    check_parts(rows)
    written = {out.name: len(rows)}
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(b"".join(_ROW.dump_json(row) + b"\n" for row in rows))
    for part in PARTS[:2]:
        prompts = grpo(rows, part, hard=hard if part == "train" else 1)
        for kind, lines in (("sft", sft(rows, part)), ("grpo", prompts)):
            file = out.with_name(f"{out.stem}-{kind}-{part}.jsonl")
            file.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines), "utf-8")
            written[file.name] = len(lines)
    return written


def read_rows(file: Path) -> list[Row]:
    """The rows of a file that `write_rows` wrote; `InvalidInput` names the line that is none."""
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise InvalidInput(f"no data of a router in {str(file)!r}: {error}") from error
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            rows.append(_ROW.validate_json(line))
        except ValueError as error:
            raise InvalidInput(
                f"line {number} of {str(file)!r} is no question of a router: {error}"
            ) from error
    if not rows:
        raise InvalidInput(f"{str(file)!r} is empty")
    return rows


def counted(rows: Iterable[Row]) -> Mapping[str, int]:
    """How many questions have each label, and how many none."""
    return Counter(row.label or ("undecided" if None in {row.c_s, row.c_r} else "neither") for row in rows)
