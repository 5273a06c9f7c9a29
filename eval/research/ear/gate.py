"""Whether what was recalled suffices, by the nearest of it alone: how near it is, what it names (HTM-EAR).

It looks at no other piece: what is nearest in meaning must itself name what the question names. How near is
near depends on the embedder, so a threshold belongs to one, and is kept here with how it was chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from eval.research.entities import entities, entities_missing
from tiermem.errors import InvalidInput
from tiermem.model import Decision, Evidence
from tiermem.reasoning import Engine
from tiermem.text.literals import Source
from tiermem.text.question import Question

NAME = "nearest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """The cosine from which what is nearest counts as near, and how that was chosen."""

    tau: float
    chosen: str


THRESHOLDS: Mapping[str, Threshold] = {
    "all-MiniLM-L6-v2": Threshold(
        tau=0.8,
        chosen="the lowest of .35, .40, … .85 at which, of what is answered, at most 5 % lack some evidence "
        "among what was recalled (LoCoMo half A, conv-26 and conv-42: 24 of 175 questions answered, 0 of "
        "them; at .75 it is 7 of 52); on half B, conv-30 and conv-43: 7 of 130 answered, 1 of them",
    ),
}
"""By the name of the embedder, as its index has it."""


def with_nearest(engine: Engine, embedder: str) -> Engine:
    """The engine with the gate as its route; `InvalidInput` where the embedder has no threshold."""
    if embedder not in THRESHOLDS:
        raise InvalidInput(
            f"router {NAME!r}: no similarity was chosen for the embedder {embedder!r}; there are "
            f"some for {', '.join(map(repr, THRESHOLDS))}. Give an "
            f"engine whose route is a SimilarityEntityGate(tau=…)"
        )
    return replace(engine, route=SimilarityEntityGate(tau=THRESHOLDS[embedder].tau))


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityEntityGate:
    """ANSWER where the nearest piece has a cosine of at least `tau` and names what the question names.

    `coverage` is the share of the question's names, numbers and dates that it must name, all where it is 1.
    """

    tau: float
    coverage: float = 1.0

    async def __call__(self, question: Question, evidence: Sequence[Evidence]) -> Decision:
        """What has no cosine is not looked at; where nothing has one, ESCALATE."""
        near = [(one.similarity, one) for one in evidence if one.similarity is not None]
        if not near:
            return _escalate(None, "nothing that was recalled has a similarity")
        cosine, nearest = max(near, key=lambda pair: pair[0])
        if cosine < self.tau:
            return _escalate(cosine, f"the nearest piece is {cosine:.2f} near, {self.tau:.2f} is needed")
        asked = entities(question.text, question.asked_at)
        missing = entities_missing(question.text, _sources(nearest), question.asked_at)
        if len(asked) - len(missing) < self.coverage * len(asked):
            return _escalate(cosine, f"the nearest piece does not name {', '.join(missing)}")
        return Decision(
            action="ANSWER",
            score=_rounded_cosine(cosine),
            reason=f"the nearest piece is {cosine:.2f} near and names what the question names",
            router=NAME,
        )


def _sources(piece: Evidence) -> tuple[Source, ...]:
    """What the piece says, and the words that it rests on with who said them."""
    return Source(piece.text, piece.said_at), Source(piece.quote, piece.said_at)


def _escalate(cosine: float | None, reason: str) -> Decision:
    return Decision(action="ESCALATE", score=_rounded_cosine(cosine), reason=reason, router=NAME)


def _rounded_cosine(cosine: float | None) -> float | None:
    return None if cosine is None else round(min(max(cosine, 0.0), 1.0), 2)
