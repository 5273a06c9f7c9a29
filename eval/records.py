"""What a run writes down, one JSON object a line: rankings, answers, and what became of findings.

A ranking is kept without names: for each rank, which target stands there (-1: none of them), and how
many tokens reading this far costs. Every retrieval score can be computed from that again.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from eval.corpus import Corpus, said
from eval.metrics.retrieval import (
    Labels,
    Scores,
    evidence_documents,
    reciprocal_rank,
    score,
    session_labels,
    turn_labels,
    vendor_sessions,
)
from eval.types import Case, CaseId, Consolidated, LabelledQuestion, Level, Passage, QuestionId, Result
from pagestore import SessionId
from tiermem.model import Usage

Labelling = Literal["official", "vendor", "evidence"]
Names = Mapping[Passage, Hashable]

DEPTH: Final = 20
"""Ranks kept."""
NO_TARGET: Final = -1
LEVELS: Final[tuple[Level, ...]] = ("session", "page", "turn")
_WORDS_SHOWN: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """One question's ranking at one level, judged by one set of labels, without names.

    `hits` holds the target at each rank, `copies` how often targets stand in the haystack, `tokens`
    the tokens read up to each rank.
    """

    level: Level
    labels: Labelling
    targets: int
    copies: int
    hits: tuple[int, ...]
    tokens: tuple[int, ...]

    def scores(self, k: int) -> Scores:
        """The scores at a cutoff, in the official definitions."""
        return score(self.hits, frozenset(range(self.targets)), [0] * self.copies, k=k)

    def reciprocal_rank(self) -> float:
        """One over the rank of the first target."""
        return reciprocal_rank(self.hits, frozenset(range(self.targets)))

    def tokens_at(self, k: int) -> int:
        """Tokens of the first `k` passages."""
        return self.tokens[min(k, len(self.tokens)) - 1] if self.tokens else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """Where one system looked for the answer to one question."""

    system: str
    case: CaseId
    question: QuestionId
    category: str
    text: str
    gold: tuple[str, ...]
    answerable: bool
    flags: tuple[str, ...]
    rankings: tuple[Ranking, ...]
    evidence: tuple[str, ...]
    shown: tuple[str, ...]
    seconds: float
    """One search, averaged over the levels."""
    lines: tuple[bool, ...] = ()
    """Whether each of the first three turns shows the answer (`eval.metrics.lines`)."""
    found: Mapping[Level, tuple[Passage, ...]] = field(default_factory=dict)
    """The first twenty turns, pages and sessions, in the order they were found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """What happened to Tier 1 of one case between two epochs, or after the last."""

    system: str
    case: CaseId
    epoch: int
    attempt: int
    before: int
    consolidated: Consolidated
    seconds: float
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A system began a case: which attempt it is, and how long it took to observe."""

    system: str
    case: CaseId
    attempt: int
    seconds: float
    usage: Usage = field(default_factory=Usage)


Record = Retrieved | Result | Epoch | Begun
_KINDS: Final = {"retrieved": Retrieved, "answer": Result, "epoch": Epoch, "begun": Begun}
_NAMES: Final = {kind: name for name, kind in _KINDS.items()}
_ADAPTERS: Final[Mapping[str, TypeAdapter[Any]]] = {name: TypeAdapter(kind) for name, kind in _KINDS.items()}


def to_line(record: Record) -> bytes:
    """A record as one line of JSON that opens with its kind."""
    name = _NAMES[type(record)]
    return b'{"kind":"%s",' % name.encode() + _ADAPTERS[name].dump_json(record)[1:] + b"\n"


def from_line(line: bytes) -> Record:
    """The record of a line; `ValueError` when it is none."""
    kind = line.partition(b'"kind":"')[2].partition(b'"')[0].decode()
    if kind not in _ADAPTERS or not line.startswith(b'{"kind":'):
        raise ValueError(f"not a record: {line[:80]!r}")
    rest = b"{" + line.partition(b",")[2]
    record: Record = _ADAPTERS[kind].validate_json(rest)
    return record


def rankings(
    case: Case,
    question: LabelledQuestion,
    corpus: Corpus,
    found: Mapping[Level, Sequence[Passage]],
) -> tuple[Ranking, ...]:
    """Every judged ranking of a question: by LongMemEval's labels where it has them, and by evidence."""
    judged: list[Ranking] = []

    def judge(level: Level, labels: Labelling, names: Names, targets: Set[Hashable]) -> None:
        judged.append(_ranking(found[level], names, targets, corpus.tokens, level=level, labels=labels))

    if case.official:
        official: tuple[tuple[Level, Labelling, Labels], ...] = (
            ("session", "official", session_labels(case, question)),
            ("session", "vendor", vendor_sessions(case, question)),
            ("turn", "official", turn_labels(case, question)),
        )
        for level, labels, given in official:
            if given.scored:
                judge(level, labels, given.names, given.targets)
    for level in LEVELS:
        documents = corpus.passages(level)
        targets = evidence_documents(question, documents)
        if targets:
            judge(level, "evidence", {document: document for document in documents}, targets)
    return tuple(judged)


def _ranking(
    found: Sequence[Passage],
    names: Names,
    targets: Set[Hashable],
    prices: Mapping[SessionId, Sequence[int]],
    *,
    level: Level,
    labels: Labelling,
) -> Ranking:
    """A ranking with its documents replaced by numbers; what is no document of these labels is left out."""
    present = dict.fromkeys(name for name in names.values() if name in targets)
    numbers = {name: number for number, name in enumerate(present)}
    ranked = [passage for passage in found if passage in names][:DEPTH]
    read: set[tuple[SessionId, int]] = set()
    tokens: list[int] = []
    for passage in ranked:
        read |= {(passage.session, at) for at in range(passage.start, passage.end)}
        tokens.append(sum(prices[session][at] for session, at in read))
    return Ranking(
        level=level,
        labels=labels,
        targets=len(targets),
        copies=sum(name in targets for name in names.values()),
        hits=tuple(numbers.get(names[passage], NO_TARGET) for passage in ranked),
        tokens=tuple(tokens),
    )


def words_shown(case: Case, turns: Sequence[Passage]) -> tuple[str, ...]:
    """The beginnings of some turns, for a person who looks at what was found."""
    return tuple(said(case.turn(turn))[:_WORDS_SHOWN] for turn in turns)
