"""A benchmark small enough to know by heart: two conversations, a few questions, systems without weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from eval.folder import Kind, Manifest, RunFolder
from eval.runner import Participant, RunPlan
from eval.systems import Setup, candidates
from eval.types import Case, CaseId, LabelledQuestion, Passage, QuestionId, Session
from pagestore import EstimateCounter, SessionId, Turn
from tests.engines import quoting_engine
from tiermem.embedding.hashed import HashEmbedder
from tiermem.reasoning import Engine

SAID = (
    (
        ("Ann", "I adopted a rescue dog called Biscuit."),
        ("Bo", "My sister Ingrid moved from Lisbon to Oslo."),
        ("Ann", "Biscuit is allergic to chicken."),
    ),
    (
        ("Bo", "The new roof of the pottery studio cost 1,450 dollars."),
        ("Ann", "I painted a lake sunrise for my mother."),
        ("Bo", "I never learned to swim."),
    ),
    (("Ann", "The concert in the park was loud."), ("Bo", "We ate lentil soup afterwards.")),
    (("Bo", "My bicycle has a flat tyre again."), ("Ann", "Take the tram then.")),
)


def sessions(said: Sequence[Sequence[tuple[str, str]]] = SAID) -> tuple[Session, ...]:
    when = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    return tuple(
        Session(
            id=SessionId(f"s{number:03d}"),
            turns=tuple(Turn(speaker=who, text=words, said_at=when) for who, words in turns),
            started_at=when,
        )
        for number, turns in enumerate(said, start=1)
    )


def turn(session: int, at: int) -> Passage:
    return Passage(session=SessionId(f"s{session:03d}"), start=at, end=at + 1)


def question(
    case: str, number: int, text: str, gold: str, *evidence: Passage, category: str = "fact"
) -> LabelledQuestion:
    return LabelledQuestion(
        id=QuestionId(f"{case}#{number}"),
        text=text,
        category=category,
        gold=(gold,) if gold else (),
        asked_at=datetime(2023, 6, 1, tzinfo=UTC),
        evidence=evidence,
        evidence_sessions=tuple(dict.fromkeys(one.session for one in evidence)),
        answerable=bool(gold),
    )


def case(name: str) -> Case:
    return Case(
        id=CaseId(name),
        sessions=sessions(),
        questions=(
            question(name, 0, "What is the rescue dog called?", "Biscuit", turn(1, 0)),
            question(name, 1, "How much did the new roof cost?", "1,450 dollars", turn(2, 0)),
            question(name, 2, "What is Biscuit allergic to?", "chicken", turn(1, 2)),
            question(name, 3, "Which car does Ann drive?", "", category="adversarial"),
        ),
    )


class Tiny:
    """A dataset of cases given by name."""

    name = "tiny"
    checksum = "0" * 64
    defects: Mapping[str, int] = {}

    def __init__(self, *names: str) -> None:
        self._names = names or ("one", "two")

    def cases(self) -> Iterator[Case]:
        return iter([case(name) for name in self._names])


class Quiet:
    """Watches and says nothing."""

    def __init__(self) -> None:
        self.total = 0
        self.steps: list[tuple[str, CaseId]] = []

    def starts(self, what: str, total: int) -> None:
        self.total = total

    def step(self, system: str, case: CaseId) -> None:
        self.steps.append((system, case))


def setup(engine: Callable[[CaseId], Engine] | None = None) -> Setup:
    quoting = quoting_engine()
    return Setup(embedder=HashEmbedder(), engine=engine or (lambda _: quoting), counter=EstimateCounter())


def manifest(kind: Kind, systems: Sequence[str] = ("bm25",), *, judge: str = "words") -> Manifest:
    return Manifest(
        kind=kind,
        dataset="tiny",
        checksum="0" * 64,
        defects={},
        systems=tuple(systems),
        judge=judge,
        engine="local",
        models={},
        embedder="hash-0",
        token_counter="estimate",  # noqa: S106  (counts tokens of text)
        settings={},
        prompts=(),
        seed=0,
        limit=None,
        epochs=1,
        questions=8,
        concurrency=1,
        commit="unknown",
        machine="a machine",
        started_at="2023-06-01T00:00:00+00:00",
    )


def plan(
    folder: RunFolder,
    systems: Sequence[str] = ("bm25",),
    *,
    dataset: Tiny | None = None,
    taking_part: Sequence[Participant] | None = None,
    given: Setup | None = None,
    observer: Quiet | None = None,
    concurrency: int = 1,
) -> RunPlan:
    return RunPlan(
        dataset=dataset or Tiny(),
        candidates=taking_part if taking_part is not None else candidates(systems, given or setup()),
        folder=folder,
        counter=EstimateCounter(),
        observer=observer or Quiet(),
        concurrency=concurrency,
    )


def new_folder(path: Path, kind: Kind, systems: Sequence[str] = ("bm25",)) -> RunFolder:
    return RunFolder.create(path, manifest(kind, systems))
