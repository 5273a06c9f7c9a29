"""A retriever as a whole system: its best turns go to the same answerer that TierMem uses."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from eval.corpus import Corpus, said
from eval.types import Cited, Level, Passage, Reply, Retriever, Session
from pagestore import TokenCounter
from tiermem.llm.meter import Meter, paid_by, step
from tiermem.model import Evidence
from tiermem.reasoning import Engine
from tiermem.text.question import Question


class Answering:
    """Answers from the first `turns` turns a retriever finds; of a retriever of everything, from all."""

    def __init__(
        self, retriever: Retriever, engine: Engine, counter: TokenCounter, *, turns: int = 20
    ) -> None:
        self.name = retriever.name
        self._retriever = retriever
        self._engine = engine
        self._counter = counter
        self._limit = turns
        self._corpus = Corpus((), counter)

    async def observe(self, sessions: Sequence[Session]) -> None:
        """Let the retriever listen."""
        self._corpus = Corpus(sessions, self._counter)
        await self._retriever.observe(sessions)

    async def ask(self, question: str, *, asked_at: datetime | None = None) -> Reply:
        """Word an answer from the turns found, or abstain."""
        with paid_by(Meter()) as meter:
            with step("recall"):
                found = await self._retriever.retrieve(
                    question, level="turn", limit=self._limit, asked_at=asked_at
                )
            evidence = [self._evidence(passage) for passage in found]
            compose = self._engine.compose
            assert compose is not None  # noqa: S101  (arranged with an engine that words)
            with step("compose"):
                moment = asked_at or datetime.now().astimezone()
                draft = await compose(Question(question, moment), evidence)
        return Reply(
            text=draft.text,
            abstained=draft.abstained,
            citations=tuple(self._cited(found[at]) for at in draft.cited),
            usage=meter.total(),
            steps=meter.by_step(),
            reads={"compose": sum(self._counter.count(piece.text) for piece in evidence)},
            prompts=tuple(meter.prompts),
        )

    async def retrieve(
        self, question: str, *, level: Level, limit: int, asked_at: datetime | None = None
    ) -> tuple[Passage, ...]:
        """What the retriever finds."""
        return await self._retriever.retrieve(question, level=level, limit=limit, asked_at=asked_at)

    async def close(self) -> None:
        """Close the retriever."""
        await self._retriever.close()

    def _evidence(self, passage: Passage) -> Evidence:
        turn = self._corpus.turns_of(passage)[0]
        return Evidence(text=said(turn), spans=(), score=0.0, source="turn", said_at=turn.said_at)

    def _cited(self, passage: Passage) -> Cited:
        turn = self._corpus.turns_of(passage)[0]
        return Cited(claim=turn.text, quote=turn.text, speaker=turn.speaker, said_at=turn.said_at)
