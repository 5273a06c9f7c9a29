"""The local engine with a learned reader as composer: it answers in words of the turns that were found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from tiermem.embedding.weights import weights_here
from tiermem.errors import InvalidInput
from tiermem.model import Evidence
from tiermem.reasoning.interface import ABSTAINED, Draft, Engine, PointedTurns
from tiermem.reasoning.learned.answering import PointedAt, point
from tiermem.reasoning.learned.calibration import (
    DEFAULT_RISK,
    FARTHEST,
    Calibration,
    Signals,
    read_calibration,
)
from tiermem.reasoning.learned.factors import SHIPPED, read_head, texts_of
from tiermem.reasoning.learned.first_line import FirstLineCalibration, read_first_line, score_turns
from tiermem.reasoning.learned.fitting import NOTHING, ExpectedAnswer, expected_answer
from tiermem.reasoning.rules import by_rules
from tiermem.reasoning.rules.assertion import require_assertion
from tiermem.reasoning.rules.compose import extract_answer
from tiermem.reasoning.rules.distil import without_computed_dates
from tiermem.reasoning.rules.engine import NAME_WITH_READER
from tiermem.reasoning.rules.facts import answer_fact, require_current
from tiermem.text import is_negated, sentences, stems
from tiermem.text.histories import SaidTurn
from tiermem.trust import DEFAULT_TRUST, TrustLevels

if TYPE_CHECKING:
    from tiermem.reasoning.learned.graph import LearnedReader

MINILM: Final = "all-MiniLM-L6-v2"
_RULES_FIRST: Final = frozenset({"when", "yes-no", "whose"})
"""Kinds of question that rules answer first, where no date is asked for: times of day, yes or no, owners."""
_SPOKEN: Final = re.compile(r"(?P<speaker>[^\n:]{1,80}): (?P<words>.*)", re.DOTALL)
_ASKED: Final = re.compile(r'(?P<speaker>[^\n:"]{1,80}), asked "[^\n"]{1,400}": (?P<words>.*)', re.DOTALL)
"""A reply as rules write it down, with the question that it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedAnswer:
    """An answer before it is decided whether it is given, and what is known of it."""

    draft: Draft
    signals: Signals


def propose(
    reader: LearnedReader,
    question: str,
    evidence: Sequence[Evidence],
    trust: TrustLevels = DEFAULT_TRUST,
) -> ProposedAnswer | None:
    """The likeliest answer: of rules where these are better, else the words that the reader points at; `None`
    where neither has any, or it is unclear which words hold at the time that is asked for.
    """
    spoken = turns_of(evidence, trust)
    turns = [turn for _, turn in spoken]
    asked = expected_answer(question, [turn.speaker for turn in turns])
    ruled = _meant(asked, extract_answer(question, evidence, trust), turns)
    found = point(reader, question, turns)
    if found is not None and not found.is_clear:
        return None
    by_rules = not ruled.abstained and (
        found is None or (_rules_first(asked, ruled, turns) and not found.is_replacing)
    )
    draft = ruled if by_rules or found is None else _read(asked, found, spoken)
    if draft.abstained:
        return None
    return ProposedAnswer(draft=draft, signals=_signals(asked, evidence, draft, ruled, found))


def _meant(asked: ExpectedAnswer, ruled: Draft, turns: Sequence[SaidTurn]) -> Draft:
    """What rules answer, unless it says no more than the question or a pronoun ("he")."""
    name = ruled.text.lower() in {turn.speaker.lower() for turn in turns}
    free = ruled.abstained or name or asked.kind == "yes-no"
    return ruled if free or asked.against(ruled.text, 0, len(ruled.text)) < NOTHING else ABSTAINED


def _rules_first(asked: ExpectedAnswer, ruled: Draft, turns: Sequence[SaidTurn]) -> bool:
    """Whether rules answer first: for the name of a speaker, which is not among the words of a turn, and for
    a kind of `_RULES_FIRST` without a date.
    """
    speakers = {turn.speaker.lower() for turn in turns} - asked.speakers
    names_speaker = asked.kind == "who" and ruled.text.lower() in speakers
    return names_speaker or (asked.kind in _RULES_FIRST and not asked.day)


def _read(asked: ExpectedAnswer, found: PointedAt, spoken: Sequence[tuple[int, SaidTurn]]) -> Draft:
    """The answer in the words pointed at: of several turns where several things are asked for, and yes where
    words answer what is asked, their sentence denies nothing, and their turn has most words of the question.
    """
    at, turn = spoken[found.best.turn]
    if asked.kind == "list":
        listed = found.listed
        text = ", ".join(words.text for words in listed)
        return Draft(text=text, cited=tuple(spoken[words.turn][0] for words in listed), abstained=False)
    if asked.kind == "yes-no" and not asked.either:
        said = next((piece.text for piece in sentences(turn.text) if found.best.start < piece.end), turn.text)
        has_most = len(asked.known & set(stems(f"{turn.speaker} {turn.text}"))) > len(asked.known) / 2
        yes = found.margin > 0 and has_most and not is_negated(said)
        return Draft(text="Yes", cited=(at,), abstained=False) if yes else ABSTAINED
    return Draft(text=found.text, cited=(at,), abstained=False)


def _signals(
    asked: ExpectedAnswer, evidence: Sequence[Evidence], draft: Draft, ruled: Draft, found: PointedAt | None
) -> Signals:
    answer = set(stems(draft.text))
    cited = " ".join(evidence[at].quote or evidence[at].text for at in draft.cited)
    other = found.text if draft is ruled and found is not None else ruled.text
    leads = (found.margin, found.ahead, found.own) if found is not None else (-FARTHEST, -FARTHEST, 0.0)
    margin, ahead, own = (max(-FARTHEST, min(FARTHEST, one)) for one in leads)
    return Signals(
        margin=margin,
        ahead=ahead,
        covered=len(asked.known & set(stems(cited))) / max(1, len(asked.known)),
        agrees=float(not answer.isdisjoint(stems(other))),
        silent=float(ruled.abstained),
        by_rules=float(draft is ruled),
        day=float(asked.day),
        several=float(asked.kind == "list"),
        yes=float(asked.kind == "yes-no"),
        own=own,
        theirs=found.theirs if found is not None else 0.0,
        place=float(found.best.turn) if found is not None else 0.0,
        unheard=_unheard(asked, evidence),
    )


def _unheard(asked: ExpectedAnswer, evidence: Sequence[Evidence]) -> float:
    """The share of the question's words, without names of speakers, that nothing found holds."""
    words = asked.known.difference(*(stems(name) for name in asked.speakers))
    left = words.difference(*(stems(f"{item.text} {item.quote}") for item in evidence))
    return len(left) / max(1, len(words))


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposeByReader:
    """Answers in words of the best turns, or not at all where that is too likely to be wrong.

    `risk` is the share of given answers that may be wrong, by the calibration in the reader's file; without
    one for this `embedder` it abstains where "no answer" leads. If the caller `named` no reader and the
    weights of the shipped one are not on this machine, rules answer.
    """

    opened: _LazyReader
    risk: float
    embedder: str
    named: bool
    trust: TrustLevels = DEFAULT_TRUST

    async def __call__(self, question: str, evidence: Sequence[Evidence], *, asked_at: datetime) -> Draft:
        """The stated value of a fact, else the words of one turn or the day they mean; or an abstention."""
        known = answer_fact(question, evidence, asked_at, self.trust)
        return known if known is not None else await to_thread.run_sync(self._draft, question, evidence)

    def _draft(self, question: str, evidence: Sequence[Evidence]) -> Draft:
        if not self.named and not self.opened.possible:
            extracted = extract_answer(question, evidence, self.trust)
            return require_assertion(question, extracted, evidence)
        reader = self.opened.get()
        try:
            proposed = self._draft_from(propose(reader, question, evidence, self.trust))
            draft = require_current(question, proposed, evidence, self.trust)
            return require_assertion(question, draft, evidence)
        except FloatingPointError as error:
            raise _refusal(self.opened.factors, error) from error

    def _draft_from(self, proposed: ProposedAnswer | None) -> Draft:
        """The proposed draft where it is likely enough to be right, else an abstention."""
        if proposed is None:
            return ABSTAINED
        calibration = self.opened.calibration
        if calibration is None or not calibration.holds_for(self.embedder):
            sure = proposed.signals.by_rules > 0 or proposed.signals.margin > 0
            return proposed.draft if sure else ABSTAINED
        probability = calibration.probability(proposed.signals)
        sure = probability >= calibration.threshold(self.risk)
        return replace(proposed.draft, probability=probability) if sure else ABSTAINED


@dataclass(frozen=True, slots=True, kw_only=True)
class PointByReader:
    """Scores turns by the search and by how likely their words are to answer.

    `risk` is the share of first lines that may not hold what is asked for, where they are called likely. It
    scores none where the calibration in the reader's file is not for this `embedder`, and where the caller
    `named` no reader and the weights of the shipped one are not on this machine.
    """

    opened: _LazyReader
    risk: float
    embedder: str
    named: bool

    async def __call__(
        self, question: str, turns: Sequence[SaidTurn], found: Sequence[float]
    ) -> PointedTurns | None:
        """See `PointAtTurns`; `InvalidInput` where the file of the reader is none."""
        if not turns or (not self.named and not self.opened.possible):
            return None
        return await to_thread.run_sync(self._point, question, turns, found)

    def _point(self, question: str, turns: Sequence[SaidTurn], found: Sequence[float]) -> PointedTurns | None:
        reader = self.opened.get()
        calibration = self.opened.first_line
        if calibration is None or not calibration.holds_for(self.embedder):
            return None
        try:
            scored = score_turns(reader, question, turns, found)
            probability = calibration.probability(scored.signals)
        except FloatingPointError as error:
            raise _refusal(self.opened.factors, error) from error
        return PointedTurns(
            words=scored.words,
            scores=scored.scores,
            probability=probability,
            is_likely=probability >= calibration.threshold(self.risk),
        )


class _LazyReader:
    """A reader that is loaded when it is first asked, once."""

    def __init__(self, factors: Path, weights: Path | None) -> None:
        self.factors = factors
        self._weights = weights
        self._lock = Lock()
        self._reader: LearnedReader | None = None
        self.calibration: Calibration | None = None
        self.first_line: FirstLineCalibration | None = None

    @property
    def possible(self) -> bool:
        """Whether it is loaded, or could be with what this machine has."""
        return self._reader is not None or weights_here(self._weights) is not None

    def get(self) -> LearnedReader:
        """The reader; `InvalidInput` where the file is none, `EmbedderUnavailable` without weights."""
        from tiermem.reasoning.learned.shared import shared_reader

        with self._lock:
            if self._reader is None:
                try:
                    reader = shared_reader(self.factors, self._weights)
                    self.calibration = read_calibration(reader.header)
                    self.first_line = read_first_line(reader.header)
                    self._reader = reader
                except (OSError, KeyError, ValueError) as error:
                    raise _refusal(self.factors, error) from error
            return self._reader


def _refusal(file: Path, error: Exception) -> InvalidInput:
    """The error for a file that is no reader; it says what to do."""
    return InvalidInput(
        f"{str(file)!r} cannot be opened as a reader ({error}): name the file that "
        "`python -m eval.research train` writes, or choose reader='none'"
    )


def _reader_file(factors: str | Path) -> Path:
    file = Path(factors).expanduser()
    if not file.is_file():
        raise InvalidInput(
            f"no reader at {str(file)!r}: `python -m eval.research train`, in a checkout, makes one; "
            "without it, choose reader='none'"
        )
    return file


def by_reader(
    factors: str | Path,
    *,
    weights: str | Path | None = None,
    risk: float = DEFAULT_RISK,
    embedder: str = MINILM,
    trust: TrustLevels = DEFAULT_TRUST,
) -> Engine:
    """Judges by rules, and words answers by a reader: `factors` is the file that its training wrote.

    `weights` is the directory of MiniLM's weights, where they are not to be looked for. `risk` is the share
    of given answers that may be wrong (0 to 1): what is less sure is left unanswered. It is kept only with
    the `embedder` (its name) the reader was calibrated with. Raises `InvalidInput` where there is no file.
    """
    file = _reader_file(factors)
    return _engine(file, weights, risk=risk, embedder=embedder, named=True, trust=trust)


def _engine(
    file: Path,
    weights: str | Path | None,
    *,
    risk: float,
    embedder: str,
    named: bool,
    trust: TrustLevels,
) -> Engine:
    opened = _LazyReader(file, None if weights is None else Path(weights).expanduser())
    compose = ComposeByReader(opened=opened, risk=risk, embedder=embedder, named=named, trust=trust)
    point = PointByReader(opened=opened, risk=risk, embedder=embedder, named=named)
    has_reader = named or opened.possible
    return replace(by_rules(), name=NAME_WITH_READER, compose=compose, best_first=has_reader, point=point)


def with_reader(
    engine: Engine,
    reader: str,
    *,
    risk: float,
    embedder: str,
    weights: str | Path | None = None,
) -> Engine:
    """The engine with the reader that was chosen to order lines: `none`; `auto`, the one that comes with the
    package, where it is there and its calibration holds for this `embedder`; or the file of one
    (`InvalidInput` where it is not).
    """
    if reader == "none":
        return engine
    named = reader != "auto"
    file = _reader_file(reader) if named else SHIPPED
    if not file.is_file():
        return engine
    try:
        calibration = read_first_line(texts_of(read_head(file)))
    except (OSError, ValueError) as error:
        raise _refusal(file, error) from error
    if calibration is None or not calibration.holds_for(embedder):
        return engine
    opened = _LazyReader(file, None if weights is None else Path(weights).expanduser())
    return replace(engine, point=PointByReader(opened=opened, risk=risk, embedder=embedder, named=named))


def turns_of(evidence: Sequence[Evidence], trust: TrustLevels = DEFAULT_TRUST) -> list[tuple[int, SaidTurn]]:
    """The turns of the evidence, in its order, with their places in it. A part of another turn is left out;
    the whole turn takes its position if the part comes first.
    """
    found: list[tuple[int, SaidTurn]] = []
    for at, item in enumerate(evidence):
        turn = spoken_turn(item, trust)
        if turn is None or any(_within(turn, other) for _, other in found):
            continue
        part = next((place for place, (_, other) in enumerate(found) if _within(other, turn)), None)
        if part is None:
            found.append((at, turn))
        else:
            found[part] = (at, turn)
    return found


def _within(one: SaidTurn, other: SaidTurn) -> bool:
    plain = without_computed_dates(one.text)
    return one.speaker == other.speaker and one.said_at == other.said_at and plain in other.text


def spoken_turn(item: Evidence, trust: TrustLevels = DEFAULT_TRUST) -> SaidTurn | None:
    """Evidence as a turn: a turn itself, or the words a unit rests on; `None` for what is neither."""
    text = item.quote or item.text
    found = (_ASKED.fullmatch(text) or _SPOKEN.fullmatch(text)) if item.source != "page" else None
    if found is None:
        return None
    words = found["words"]
    if item.quote and words.startswith('"') and words.endswith('"'):
        words = words[1:-1]
    return SaidTurn(speaker=found["speaker"], text=words, said_at=item.said_at, rank=trust.rank(item.trust))
