"""Turn a fact whose wording is not supported into facts in the words of its speakers, for Tier 1."""

from __future__ import annotations

from collections.abc import Sequence

from pagestore import Page, PageLine, Span
from tiermem.model import LinkedFact
from tiermem.text.readings import is_only_question, speech
from tiermem.text.taken_back import GAP
from tiermem.text.words import sentences, words

_MAX_ASKED = 300
"""Characters up to which the question before a turn is included with it."""
_SHORT = 12
"""Words below which a turn may need the question before it to be understood."""


def quotations(fact: LinkedFact, pages: Sequence[Page]) -> tuple[LinkedFact, ...]:
    """One fact for each turn that `fact` quotes, in the words of its speaker.

    Whole sentences are quoted, and the whole turn where these only ask.

    The form is `Ann: words`, or `Ann, asked "question": words` where the turn answers a question put just
    before it. A turn whose words cannot be put so (a name with a colon, only questions) is left out.
    """
    by_id = {page.id: page for page in pages}
    turns = dict.fromkeys(
        (span.page_id, index) for span in fact.spans if span.page_id in by_id
        for index in _turns(by_id[span.page_id], span)
    )  # fmt: skip
    made = (_quotation(fact, by_id[page_id], index) for page_id, index in turns)
    return tuple(quotation for quotation in made if quotation is not None)


def _turns(page: Page, span: Span) -> list[int]:
    return [
        index for index, line in enumerate(page.lines)
        if line.turn is not None and line.body < span.end and span.start < line.end
    ]  # fmt: skip


def _quotation(fact: LinkedFact, page: Page, index: int) -> LinkedFact | None:
    line = page.lines[index]
    quoted = [span for span in fact.spans if span.page_id == page.id and line.touches(span)]
    start, end = _sentences(page, line, min(s.start for s in quoted), max(s.end for s in quoted))
    if is_only_question(page.text[start:end]):
        start, end = line.body, line.end
    said = page.text[start:end]
    speaker = line.turn.speaker if line.turn is not None else ""
    asked = _question_before(page, index, said)
    text = f'{speaker}, asked "{asked}": ' if asked else f"{speaker}: "
    text += " ".join(said.split())
    own = speech(text)
    if own is None or own.speaker != speaker or is_only_question(said) or GAP in said:
        return None
    return LinkedFact(
        claim=text, quotes=(said,), spans=(Span(page_id=page.id, start=start, end=end),), support="quoted",
        scene=fact.scene, importance=fact.importance,
    )  # fmt: skip


def _sentences(page: Page, line: PageLine, start: int, end: int) -> tuple[int, int]:
    """The whole sentences of the turn that hold the words from `start` to `end`."""
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
