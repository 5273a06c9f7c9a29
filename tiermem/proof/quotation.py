"""Turn a fact whose wording is not confirmed into claims in the words of its speakers, for Tier 1."""

from __future__ import annotations

from collections.abc import Sequence

from pagestore import Page, PageLine, Span
from tiermem.model import Claim, LinkedFact
from tiermem.proof.link import link
from tiermem.proof.support import ADDED_WORDS
from tiermem.text.words import sentences, words

_MAX_ASKED = 300
"""Characters up to which the question before a turn is told with it."""
_SHORT = 12
"""Words below which a turn may need the question before it to be understood."""


def quotations(fact: LinkedFact, pages: Sequence[Page]) -> tuple[Claim, ...]:
    """One claim for each turn `fact` quotes, each of which `link` grades `stated` on the same pages.

    `Ann: words`, or `Ann, asked "question": words` where the turn answers a question put just before it. A
    turn whose words cannot be put so (a name with a colon, words that read like orders) is left out. A
    wording that only adds words becomes part of the scene: it is searched with little weight and not
    displayed.
    """
    by_id = {page.id: page for page in pages}
    found: list[Claim] = []
    for page_id, index in dict.fromkeys(
        (span.page_id, index) for span in fact.spans if span.page_id in by_id
        for index in _turns(by_id[span.page_id], span)
    ):  # fmt: skip
        page = by_id[page_id]
        claim = _quotation(fact, page, index, [span for span in fact.spans if span.page_id == page_id])
        found += [claim] if claim is not None else []
    return tuple(found)


def _turns(page: Page, span: Span) -> list[int]:
    return [
        index for index, line in enumerate(page.lines)
        if line.turn is not None and line.body < span.end and span.start < line.end
    ]  # fmt: skip


def _quotation(fact: LinkedFact, page: Page, index: int, spans: Sequence[Span]) -> Claim | None:
    line = page.lines[index]
    quoted = [span for span in spans if line.body < span.end and span.start < line.end]
    start, end = min(span.start for span in quoted), max(span.end for span in quoted)
    for first, last in dict.fromkeys(
        ((start, end), _sentences(page, line, start, end), (line.body, line.end))
    ):
        said = page.text[max(first, line.body) : min(last, line.end)].strip()
        for asked in dict.fromkeys((_question_before(page, index, said), "")):
            claim = _claim(fact, line, said, asked)
            linked = link(claim, (page,))
            if isinstance(linked, LinkedFact) and linked.support == "stated":
                return claim
    return None


def _claim(fact: LinkedFact, line: PageLine, said: str, asked: str) -> Claim:
    speaker = line.turn.speaker if line.turn is not None else ""
    head = f'{speaker}, asked "{asked}"' if asked else speaker
    return Claim(
        text=f"{head}: {' '.join(said.split())}",
        quotes=(said,),
        scene=_scene_of(fact),
        importance=fact.importance,
    )


def _scene_of(fact: LinkedFact) -> str | None:
    """Return the scene of the fact, with its wording if that only adds words."""
    if not fact.reason.startswith(ADDED_WORDS):
        return fact.scene
    return f"{fact.scene} {fact.claim}" if fact.scene else fact.claim


def _sentences(page: Page, line: PageLine, start: int, end: int) -> tuple[int, int]:
    """The whole sentences of the turn that the words from `start` to `end` stand in."""
    body = page.text[line.body : line.end]
    within = [
        piece for piece in sentences(body) if piece.start < end - line.body and start - line.body < piece.end
    ]
    return (line.body + within[0].start, line.body + within[-1].end) if within else (start, end)


def _question_before(page: Page, index: int, said: str) -> str:
    """The last question of the turn before, where `said` opens its turn or is short."""
    before = page.lines[index - 1].turn if index else None
    here = page.lines[index].turn
    if before is None or here is None or before.speaker == here.speaker:
        return ""
    opens = words(here.text)[:3] == words(said)[:3]
    asked = [piece.text for piece in sentences(before.text) if piece.text.endswith("?")]
    if not asked or not (opens or len(words(said)) < _SHORT) or len(asked[-1]) > _MAX_ASKED:
        return ""
    return "" if '"' in asked[-1] else " ".join(asked[-1].split())
