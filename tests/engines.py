"""Engines for tests: one whose judgements fail unless they are given, and one that repeats what was said."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, TypeVar

from pagestore import Page, PageLine
from tiermem.model import Claim, Evidence, LinkedFact, Search, SummaryUnit
from tiermem.reasoning import Draft, Engine, PageView
from tiermem.reasoning.interface import ABSTAINED, Integrated, Operation, Planned
from tiermem.reasoning.rules.sufficiency import gate
from tiermem.text import normalise, search_stems, sentences, words
from tiermem.text.question import Question
from tiermem.text.readings import is_only_question, speech

T = TypeVar("T")
JUDGEMENTS = ("distil", "route", "integrate", "plan", "compose", "select", "reconcile")
_STATEMENT = 4
"""Words from which on a sentence states something."""


def engine(*, name: str = "test", free: bool = True, **judgements: Any) -> Engine:
    """The judgements given (`route=None`: nobody is asked beforehand); the others fail when asked."""
    given = {judgement: _unasked(judgement) for judgement in JUDGEMENTS} | judgements
    return Engine(name=name, free=free, **given)


def quoting_engine() -> Engine:
    """Repeats what was said: a unit for each sentence, sentences of pages as facts, one as the answer.

    The gate routes. One look at pages is enough; every fact is kept, but one that a unit says already.
    """
    return Engine(
        name="local",
        free=True,
        distil=quote_sentences,
        route=gate,
        integrate=quote_pages,
        plan=stop,
        compose=quote_best_sentence,
        select=select_supported,
        reconcile=add_new,
    )


async def quote_sentences(pages: Sequence[Page], *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
    """A claim for each sentence that states something, in its words."""
    return tuple(claim for page in pages for line in page.lines for claim in _claims(page, line))


async def quote_pages(question: Question, pages: Sequence[PageView], known: Sequence[Evidence]) -> Integrated:
    """A claim for each sentence that has half of the words of the question and is not known, best first."""
    asked = set(search_stems(question.text))
    known_texts = {item.text for item in known}
    found = [
        (len(asked & set(search_stems(claim.text))), claim)
        for view in pages
        for line in view.page.lines
        for claim in _claims(view.page, line)
        if claim.text not in known_texts
    ]
    best = sorted((one for one in found if one[0] and 2 * one[0] >= len(asked)), key=lambda one: -one[0])
    return Integrated(claims=tuple(claim for _, claim in best), coverage=f"{len(best)} sentences")


async def stop(
    question: Question,
    known: Sequence[Evidence],
    missing: str,
    done: Sequence[Search],
) -> Planned:
    """Nothing further is looked up."""
    return Planned(done=True, reason="one look is enough")


async def select_supported(
    question: str, facts: Sequence[LinkedFact], pages: Sequence[Page]
) -> tuple[int, ...]:
    """The facts that code has confirmed."""
    return tuple(at for at, fact in enumerate(facts) if fact.is_supported)


async def add_new(fact: LinkedFact, neighbours: Sequence[SummaryUnit]) -> Operation:
    """ADD, but SKIP what a unit says already."""
    said = normalise(fact.claim).text
    same = next((unit for unit in neighbours if said in normalise(unit.text).text), None)
    if same is not None:
        return Operation(op="SKIP", reason=f"entailed by {same.id}", target=same.id)
    return Operation(op="ADD", reason="new")


async def quote_best_sentence(question: Question, evidence: Sequence[Evidence]) -> Draft:
    """The best sentence of the evidence, of a turn where one is as good, with the piece it is from as source.

    An abstention where no sentence has at least half of the words of the question, stop words apart.
    """
    asked = set(search_stems(question.text))
    best, shared, source = "", 0, -1
    for at in sorted(range(len(evidence)), key=lambda at: evidence[at].source != "turn"):
        said = speech(evidence[at].text)
        speaker, text = (said.speaker, said.said) if said is not None else ("", evidence[at].text)
        for piece in sentences(text):
            count = len(asked & {*search_stems(speaker), *search_stems(piece.text)})
            if count > shared:
                best, shared, source = piece.text, count, at
    if 2 * shared < max(1, len(asked)):
        return ABSTAINED
    return Draft(text=best, cited=(source,), abstained=False)


def given(judgement: T | None) -> T:
    """A judgement of an engine that has it."""
    assert judgement is not None
    return judgement


def _claims(page: Page, line: PageLine) -> Iterator[Claim]:
    """The sentences of a turn that state something, questions and greetings apart."""
    if line.turn is None:
        return
    for piece in sentences(page.text[line.body : line.end]):
        if len(words(piece.text)) >= _STATEMENT and not is_only_question(piece.text):
            said = " ".join(piece.text.split())
            yield Claim(text=f"{line.turn.speaker}: {said}", quotes=(piece.text,))


def _unasked(judgement: str) -> Callable[..., Awaitable[Any]]:
    async def fail(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError(f"{judgement!r} was asked, and this test gives no such judgement")

    return fail
