"""Makes the bundle of one answer from its log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pagestore.bundle.values import Bundle
from pagestore.errors import InvalidInput, PageNotFound, RecordNotFound
from pagestore.interface import PageLog, ProvingLog
from pagestore.values import Checkpoint, Page, PageId, ProvedPage, Span, TurnLine

ANSWER_KIND = "answered"
"""The kind under which answers are logged. What is read of their body is in `answer_shown`."""


def make_bundle(
    log: PageLog,
    seq: int,
    *,
    checkpoint: Checkpoint | None = None,
    whole_pages: bool = False,
    shows: Callable[[Page], bool] | None = None,
) -> Bundle:
    """The bundle of the answer logged as record `seq`.

    Of the pages it cites it holds the turns whose words are cited, and of the others a salted hash;
    with `whole_pages` every turn; of pages that `shows` is false of, no word. It is bound to the log as it
    is now; with `checkpoint`, one kept elsewhere, to that one if it is new enough, else with the proof that
    the log has only grown since.
    A bundle proves nothing of open pages: its checkpoint names the tree alone.
    Raises `PageNotFound` while a cited page is open, `Corrupt` when the log does not bear out `checkpoint`.
    """
    if not isinstance(log, ProvingLog):
        raise InvalidInput(f"{type(log).__name__} cannot prove records")
    body = log.read(seq).body
    bound = partial(_bound, log, seq, body, _quoted_pages(log, body, shows), whole_pages=whole_pages)
    if checkpoint is not None:
        try:
            return bound(checkpoint)
        except (RecordNotFound, PageNotFound):
            pass  # the checkpoint is older than what must be shown
    now = log.current_checkpoint()
    bundle = bound(now)
    return bundle if checkpoint is None else replace(bundle, growth=log.prove_growth(checkpoint, now))


def _bound(
    log: ProvingLog,
    seq: int,
    body: Mapping[str, Any],
    quoted: Mapping[PageId, Sequence[Span]],
    checkpoint: Checkpoint,
    *,
    whole_pages: bool,
) -> Bundle:
    pages = [log.prove_page(page_id, checkpoint) for page_id in quoted]
    return Bundle(
        space=checkpoint.space,
        checkpoint=checkpoint,
        answer=answer_shown(body),
        record=log.prove_record(seq, checkpoint),
        pages=tuple(
            page if whole_pages and quoted[page.id] else excerpt(page, quoted[page.id]) for page in pages
        ),
    )


_SHOWN = ("id", "text", "route", "abstained", "citations", "facts", "support", "complete", "missing")


def answer_shown(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a bundle shows of a logged answer: words, how far they hold, what they cite, the facts behind."""
    answer = body["answer"]
    return {"question": answer["trace"]["question"], **{name: answer[name] for name in _SHOWN}}


def quotations(answer: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """Everything in what `answer_shown` shows that quotes words of pages."""
    return (*answer["citations"], *answer["facts"])


def spans_of(quotation: Mapping[str, Any]) -> list[Span]:
    """The spans of one quotation, in order."""
    return [
        Span(page_id=PageId(span["page_id"]), start=span["start"], end=span["end"])
        for span in quotation["spans"]
    ]


def excerpt(page: ProvedPage, spans: Iterable[Span]) -> ProvedPage:
    """The page with only those turns in words that a span touches."""
    kept: list[TurnLine] = []
    wanted = list(spans)
    for start, turn in with_offsets(page.turns):
        touched = any(span.start < start + turn.length and start < span.end for span in wanted)
        kept.append(turn if touched else without_words(turn))
    return ProvedPage(id=page.id, seal=page.seal, turns=tuple(kept))


def without_words(turn: TurnLine) -> TurnLine:
    """The turn with its words withheld."""
    return TurnLine(digest=turn.digest, length=turn.length, erased=turn.erased)


def with_offsets(turns: Iterable[TurnLine]) -> Iterator[tuple[int, TurnLine]]:
    """Each turn with the offset at which it starts on its page."""
    start = 0
    for turn in turns:
        yield start, turn
        start += turn.length + 1


def _quoted_pages(
    log: PageLog, body: Mapping[str, Any], shows: Callable[[Page], bool] | None
) -> dict[PageId, list[Span]]:
    """The pages an answer quotes, by their sealed ids, in order, each with the spans on it; of one that is
    not to be shown there are none.
    """
    pages: dict[PageId, list[Span]] = {}
    for quotation in quotations(answer_shown(body)):
        for span in spans_of(quotation):
            page = log.page(span.page_id)
            if page.sealed_at is None:
                raise PageNotFound(
                    f"page {page.id!r} of session {page.session!r} is still filling and cannot be proved; "
                    "seal it (`flush`) first"
                )
            spans = pages.setdefault(page.id, [])
            if shows is None or shows(page):
                spans.append(span)
    return pages
