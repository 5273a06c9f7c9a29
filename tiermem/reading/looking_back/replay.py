"""A past answer as the ledger kept it: candidates, scores, route, prompts and checks, and what differs today.

The rule: what is shown of the past is read from the ledger, never worked out again. A second run is
only compared with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from tiermem.ledger import Tier1
from tiermem.llm.prompts import load
from tiermem.model import Action, Answer, AnswerId, Check, Evidence, Round
from tiermem.proof.in_words import check_in_words, decision_in_words, derivation_in_words
from tiermem.reading.interface import ReadsLedger
from tiermem.reading.looking_back.recomputing import recompute

_SAME = 1e-4
"""Scores closer than this are one score: embedders round differently in batches of other sizes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that is not as it was: what it is, how it was recorded, how it is found now."""

    what: str
    then: str
    now: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A past answer with its trace, as record `record` keeps it, and what differs.

    Without a second run, differences are between the trace and the ledger as it stood then, and between
    the prompts then and today's. `rerun` is the answer of a second run; it is not recorded anywhere.
    """

    answer: Answer
    record: int
    differences: tuple[Difference, ...]
    rerun: Answer | None = None

    @property
    def candidates(self) -> tuple[Evidence, ...]:
        """What was found, best first, with the scores it had."""
        return self.answer.trace.candidates

    @property
    def route(self) -> Action:
        """Which tier answered."""
        return self.answer.route

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds of research."""
        return self.answer.trace.rounds

    @property
    def prompts(self) -> tuple[str, ...]:
        """The prompts that were used, each as `name@hash`."""
        return self.answer.trace.prompts

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks of every wording."""
        return self.answer.trace.checks


async def replay_answer(ledger: ReadsLedger, answer_id: AnswerId) -> Replay:
    """The past answer, held against the ledger as it stood then; raises `UnknownId`."""
    answer = await ledger.answer(answer_id)
    then = await ledger.as_it_stood(answer_id)
    differences = (
        *_unlike_the_ledger(answer, then.tier1),
        *_other_prompts(answer),
        *_other_values(answer),
    )
    return Replay(answer=answer, record=ledger.tier1.answers[answer_id].seq, differences=differences)


def differences_between(then: Answer, now: Answer) -> tuple[Difference, ...]:
    """Everything by which a second run differs from the first, in the order things happened."""
    return (
        *_candidates(then.trace.candidates, now.trace.candidates),
        *_plain(then, now),
        *_rounds(then.trace.rounds, now.trace.rounds),
        *_compare_citations(then, now),
    )


def _unlike_the_ledger(answer: Answer, tier1: Tier1) -> Iterator[Difference]:
    """Units among the candidates that the ledger as it stood does not hold in these words."""
    for rank, item in enumerate(answer.trace.candidates, start=1):
        if item.unit_id is None:
            continue
        unit = tier1.unit(item.unit_id)
        if unit is None:
            now = "not in the ledger of then (erased since)"
            yield Difference(what=f"candidate {rank}", then=item.text, now=now)
        elif item.spans != unit.spans or item.text not in (unit.text, f"{item.speaker}: {unit.text}"):
            yield Difference(what=f"candidate {rank}", then=item.text, now=unit.text)


def _other_prompts(answer: Answer) -> Iterator[Difference]:
    """Prompts whose words are not today's."""
    for prompt in answer.trace.prompts:
        name = prompt.partition("@")[0]
        try:
            today = load(name).id
        except FileNotFoundError:
            today = "no such prompt"
        if today != prompt:
            yield Difference(what=f"prompt {name}", then=prompt, now=today)


def _other_values(answer: Answer) -> Iterator[Difference]:
    """Derivations that give another value when they are computed again from their recorded terms."""
    for one in answer.derivations:
        now = recompute(one)
        if now != one.value:
            yield Difference(what=f"derivation of {one.value!r}", then=one.value, now=now or "nothing")


def _candidates(then: Sequence[Evidence], now: Sequence[Evidence]) -> Iterator[Difference]:
    for rank, (old, new) in enumerate(zip_longest(then, now), start=1):
        if old is None or new is None or _identity(old) != _identity(new):
            yield Difference(what=f"candidate {rank}", then=_evidence_text(old), now=_evidence_text(new))
        elif not _close(old.score, new.score) or not _close(old.similarity, new.similarity):
            yield Difference(what=f"score of candidate {rank}", then=_scores(old), now=_scores(new))


def _plain(then: Answer, now: Answer) -> Iterator[Difference]:
    for what, old, new in (
        ("engine", then.trace.engine, now.trace.engine),
        ("decision", decision_in_words(then.trace.decision), decision_in_words(now.trace.decision)),
        ("route", then.route, now.route),
        ("prompts", ", ".join(then.trace.prompts), ", ".join(now.trace.prompts)),
        ("checks", _checks(then.trace.checks), _checks(now.trace.checks)),
        ("answer", then.text, now.text),
        ("abstained", str(then.abstained), str(now.abstained)),
        ("support", then.support or "none", now.support or "none"),
        ("derivations", _derivations(then), _derivations(now)),
        ("unsupported", ", ".join(then.unsupported), ", ".join(now.unsupported)),
        ("way", then.trace.way, now.trace.way),
    ):
        if old != new:
            yield Difference(what=what, then=old or "none", now=new or "none")


def _rounds(then: Sequence[Round], now: Sequence[Round]) -> Iterator[Difference]:
    for number, (old, new) in enumerate(zip_longest(then, now)):
        shown = [_round(one) for one in (old, new)]
        if shown[0] != shown[1]:
            yield Difference(what=f"round {number}", then=shown[0], now=shown[1])


def _compare_citations(then: Answer, now: Answer) -> Iterator[Difference]:
    old, new = ([citation.quote for citation in answer.citations] for answer in (then, now))
    if old != new:
        yield Difference(what="citations", then=" | ".join(old) or "none", now=" | ".join(new) or "none")


def _identity(item: Evidence) -> tuple[object, ...]:
    return item.source, item.unit_id, item.text, item.spans


def _evidence_text(item: Evidence | None) -> str:
    return "none" if item is None else f"{item.text} ({_scores(item)})"


def _scores(item: Evidence) -> str:
    cosine = "" if item.similarity is None else f", cosine {item.similarity:.4f}"
    return f"score {item.score:.4f}{cosine}"


def _close(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) < _SAME


def _checks(checks: Sequence[Check]) -> str:
    return "; ".join(check_in_words(check) for check in checks)


def _derivations(answer: Answer) -> str:
    return "; ".join(derivation_in_words(one) for one in answer.derivations)


def _round(one: Round | None) -> str:
    if one is None:
        return "none"
    searches = ", ".join(f"{search.kind} {search.query!r}" for search in one.searches) or "linked pages"
    pages = ", ".join(page_id[:15] for page_id in one.pages) or "no page"
    return f"{searches}: {pages}; {one.facts} facts, {one.rejected} rejected"
