"""How material is written down for a model: numbered, dated, one entry a block that no text can forge.

Entries open with their number at the start of a line and everything of an entry after its first line
is indented, so that words inside one cannot pretend to be the next. No ids are shown: the model names
things by number, and code knows which is which.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import repeat

from pagestore import Page, PageId, PageLine, Span
from tiermem.model import Evidence, LinkedFact, Search, SummaryUnit, trust_mark
from tiermem.reasoning.interface import PageView
from tiermem.text.dates import event_time
from tiermem.text.instructions import ASSISTANT, instruction_mark
from tiermem.text.long_runs import shorten_runs
from tiermem.text.taken_back import readable
from tiermem.trust import DEFAULT_TRUST

NOTHING = "(none)"


def moment(at: datetime) -> str:
    """A time with its weekday, which "last Friday" is counted from."""
    return f"{at:%Y-%m-%d %H:%M}, {at:%A}"


def numbered_list(entries: Iterable[str]) -> str:
    """Entries as `[0] …`, `[1] …`."""
    return "\n".join(f"[{n}] {_indent(entry)}" for n, entry in enumerate(entries)) or NOTHING


def bullet_list(entries: Iterable[str]) -> str:
    """Entries as a list without numbers."""
    return "\n".join(f"- {_indent(entry)}" for entry in entries) or NOTHING


def _indent(text: str) -> str:
    return "\n  ".join(text.splitlines())


def with_dates(
    text: str,
    said_at: datetime | None,
    event_at: str | None,
    trust: str | None = None,
    *,
    speaker: str = ASSISTANT,
) -> str:
    """Text with when it was said, when it happened or is planned for, and its trust, where that is known."""
    times = [f"said {said_at:%Y-%m-%d}"] if said_at else []
    times += [event_time(event_at, said_at)] if event_at else []
    times += filter(None, (trust_mark(trust), instruction_mark(text, speaker=speaker)))
    return f"({'; '.join(times)}) {text}" if times else text


def evidence(pieces: Sequence[Evidence]) -> str:
    """Evidence by number, with its dates and, where it is a claim, the words it rests on."""
    return numbered_list(map(_piece, pieces))


def known_list(pieces: Sequence[Evidence]) -> str:
    """What is known already, as a list, with its dates and the words it rests on."""
    return bullet_list(map(_piece, pieces))


def _piece(piece: Evidence) -> str:
    """A turn as `Mon 2023-05-08, trust tool, Ann: words`, a note with dates and words, a page whole."""
    speaker = piece.speaker or ASSISTANT
    if piece.source == "turn" and not piece.quote:
        mark = ", ".join(
            filter(None, (trust_mark(piece.trust), instruction_mark(piece.text, speaker=speaker)))
        )
        return f"{day(piece.said_at)}{mark}{', ' if mark else ''}{piece.text}"
    noted = "noted: " if piece.source == "unit" else ""
    text = noted + with_dates(piece.text, piece.said_at, piece.event_at, piece.trust, speaker=speaker)
    return _with_words(text, [piece.quote]) if piece.quote else text


def day(said_at: datetime | None) -> str:
    """The day something was said, with its weekday, as an opening; nothing where it is unknown."""
    return f"{said_at:%a %Y-%m-%d}, " if said_at else ""


def _with_words(claim: str, quotes: Iterable[str]) -> str:
    """A claim, and under it each of its quotes; one line each, so that none can pass for another."""
    return "\n".join((_on_one_line(claim), *(f"words: {_on_one_line(quote)}" for quote in quotes)))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def units(entries: Sequence[SummaryUnit]) -> str:
    """Summary units by number, with their dates."""
    return numbered_list(with_dates(unit.text, unit.said_at, unit.event_at, unit.trust) for unit in entries)


def fact(found: LinkedFact) -> str:
    """One fact with its words."""
    return bullet_list([_proof(found)])


def _proof(found: LinkedFact) -> str:
    return _with_words(with_dates(found.claim, None, found.event_at), found.quotes)


def searches(done: Sequence[Search]) -> str:
    """Look-ups made before."""
    return bullet_list(f"{search.kind}: {search.query}" for search in done)


def pages(texts: Sequence[Page]) -> str:
    """Pages one after another, separated by headings that also say which belong to one session.

    A page's own lines start with `[` or a tab, so its words cannot forge these headings.
    """
    return views([PageView(page=page) for page in texts])


def views(shown_pages: Sequence[PageView]) -> str:
    """Pages as `pages` shows them, each with the summaries that already point to it."""
    sessions = list(dict.fromkeys(view.page.session for view in shown_pages))
    return (
        "\n\n".join(
            _page(number, sessions.index(view.page.session) + 1, view)
            for number, view in enumerate(shown_pages, start=1)
        )
        or NOTHING
    )


def _page(number: int, session: int, view: PageView) -> str:
    ends = [line.start for line in view.page.lines[1:]] + [len(view.page.text)]
    entries = "".join(map(_entry, repeat(view.page), view.page.lines, ends)).rstrip()
    text = f"--- page {number}, session {session} ---\n{entries}"
    if not view.units:
        return text
    summaries = bullet_list(unit.text for unit in view.units)
    return f"{text}\n--- summaries of page {number} ---\n{summaries}"


def facts_in_context(facts: Sequence[LinkedFact], pages_read: Sequence[Page]) -> str:
    """Facts by number, each with the whole turns that hold its words and the turns before them."""
    by_id = {page.id: page for page in pages_read}
    return numbered_list(_in_context(found, by_id) for found in facts)


def _in_context(found: LinkedFact, pages_by_id: dict[PageId, Page]) -> str:
    turns = [line for span in found.spans for line in _turns_around(span, pages_by_id.get(span.page_id))]
    where = "\n".join(dict.fromkeys(turns)) or "\n".join(found.quotes)
    return f"{_proof(found)}\nstanding in:\n{where}"


def _turns_around(span: Span, page: Page | None) -> list[str]:
    if page is None:
        return []
    touched = [n for n, line in enumerate(page.lines) if line.touches(span)]
    if not touched:
        return []
    lines = page.lines[max(touched[0] - 1, 0) : touched[-1] + 1]
    return [_entry(page, line, line.end).rstrip("\n") for line in lines]


def _entry(page: Page, line: PageLine, end: int) -> str:
    """An entry of a page up to `end`, with its trust after the time: `[time; trust tool] speaker: words`."""
    text = readable(shorten_runs(page.text[line.start : end]))
    trust = "" if line.turn is None else trust_mark(DEFAULT_TRUST.of(line.turn))
    mark = "; ".join(filter(None, (trust, instruction_mark(text[line.body - line.start :]))))
    return text.replace("]", f"; {mark}]", 1) if mark else text
