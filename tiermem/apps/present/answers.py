"""What several commands show of an answer and of a page: route, support, cited words in their page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from pagestore import Page, PageLine, Span
from tiermem.apps.present.reading_cost import ReadingCost
from tiermem.apps.present.tables import plural, short
from tiermem.apps.present.terminal import when
from tiermem.apps.present.titles import title_suffix
from tiermem.model import Answer, CitedSentence, MarkedPage, Way
from tiermem.text.unicode import show_controls

MARK = "bold black on bright_yellow"
_WAYS: Mapping[Way, tuple[str, str]] = {
    "recall": ("from what was recalled", "green"),
    "widened": ("from more turns", "yellow"),
    "researched": ("from what was searched for and read", "yellow"),
}
_AROUND = 1
"""Turns shown before and after a cited one."""
_EDGES = 6
"""Columns of a frame besides its title."""


def said_lines(answer: Answer, titles: Mapping[str, str] | None = None) -> list[RenderableType]:
    """The lines that were said about a question, each with its turn and page, and what was said next."""
    if not answer.said:
        return []
    heading = answer.text.partition("\n")[0]
    return [
        Text(f"\n{heading}", style="yellow" if answer.abstained else "bold"),
        *(Padding(_said_line(line, titles or {}), (0, 0, 0, 2)) for line in answer.said),
    ]


def _said_line(line: CitedSentence, titles: Mapping[str, str]) -> Text:
    shown = Text(show_controls(str(line)))
    if line.next is not None:
        shown.append(f"\nthen {show_controls(str(line.next))}", style="dim")
    pages = [short(line.span.page_id)] if line.span is not None else []
    where = ", ".join([*([line.turn] if line.turn is not None else []), *pages])
    chat = title_suffix(line.session, titles, separator=" · ")
    return shown.append(f"\n{where}{chat}", style="dim")


def route(answer: Answer) -> Text:
    """How far reading went, what the router decided, with its score, and why."""
    from tiermem.proof.in_words import decision_in_words

    words, style = _WAYS[answer.trace.way]
    decision = answer.trace.decision
    shown = Text(words, style=style)
    if answer.abstained:
        shown.append(", abstained", style="yellow")
    return shown.append(show_controls(f" · {decision_in_words(decision)}"), style="dim")


def tokens(cost: ReadingCost) -> str:
    """What was read, and what the raw pages hold."""
    if cost.pages:
        pages = plural(cost.pages, "page")
        return f"{pages} of {cost.page_tokens:,} tokens; worded from {cost.evidence:,} tokens of evidence"
    if cost.linked_tokens is None:
        return f"{cost.evidence:,} tokens, which are displayed"
    saved = (
        f", {1 - cost.evidence / cost.linked_tokens:.0%} saved" if cost.linked_tokens > cost.evidence else ""
    )
    return f"{cost.evidence:,} tokens, in place of {cost.linked_tokens:,} in the linked pages{saved}"


def next_step(what: str, command: str) -> Text:
    """A command to run next. Printed with `soft_wrap`, its line can be copied whole."""
    return Text(f"\n{what}:\n", style="dim").append(f"  {command}", style="cyan not dim")


STYLES: Mapping[str | None, str] = {
    "said": "green",
    "quoted": "green",
    "computed": "green",
    "worded": "yellow",
}


def support(answer: Answer) -> Text:
    """How far the cited words bear the answer out."""
    from tiermem.proof.in_words import support_in_words

    return Text(show_controls(support_in_words(answer)), style=STYLES.get(answer.support, "dim"))


def caution_rows(answer: Answer) -> list[tuple[str, str | Text]]:
    """A row for each caution: what may turn the meaning of the answer."""
    return [("caution", Text(show_controls(line), style="yellow")) for line in answer.caution_lines]


def missing_rows(answer: Answer) -> list[tuple[str, str | Text]]:
    """A row with what is missing, and one with what a model that abstains says; each where there is any."""
    parts = [
        ("missing" if answer.abstained else "incomplete", answer.missing_part),
        ("model said", f"“{answer.explanation}”, which was not checked" if answer.explanation else ""),
    ]
    return [(name, Text(show_controls(part), style="yellow")) for name, part in parts if part]


def answer_rows(answer: Answer, console: Console) -> list[tuple[str, str | Text]]:
    """How far an answer is borne out, by which sentences, what may turn its meaning, and its route.

    Cited sentences have the words of the answer marked.
    """
    return [
        ("support", support(answer)),
        *(("said", _sentence(each, console)) for each in answer.sentences),
        *caution_rows(answer),
        *missing_rows(answer),
        *how_likely(answer),
        ("route", route(answer)),
    ]


def _sentence(sentence: CitedSentence, console: Console) -> Text:
    shown = Text(
        f"{show_controls(sentence.speaker or 'a summary')}, {when(sentence.said_at)}: “", style="dim"
    )
    shown.append_text(_mark_characters(sentence.text, sentence.marks, console))
    return shown.append("”")


def how_likely(answer: Answer) -> list[tuple[str, str | Text]]:
    """A row with the probability that the first line holds what is asked for; none where it is not known."""
    if answer.probability is None:
        return []
    return [("probability", f"{answer.probability:.0%} that the first line holds it, by its calibration")]


def cited_in_page(page: Page, spans: Sequence[Span], console: Console) -> Panel:
    """The turns around cited words, the words marked."""
    cited = [n for n, line in enumerate(page.lines) if any(_touches(line, span, page) for span in spans)]
    near = {n + step for n in cited for step in range(-_AROUND, _AROUND + 1)}
    return page_view(page, console, spans=spans, shown=near)


def page_view(
    page: Page,
    console: Console,
    *,
    spans: Sequence[Span] = (),
    shown: set[int] | None = None,
    session: str | None = None,
) -> Panel:
    """A page as it is kept, turn by turn, with `spans` marked; only the turns of `shown` when given.

    The first column is the address of the turn. Words that were taken back are listed under their turn,
    with the reason. `session` names the session; its id by default.
    """
    taken = page.taken_back if isinstance(page, MarkedPage) else ()
    grid = Table.grid(padding=(0, 1))
    grid.add_column(style="dim", justify="right", no_wrap=True)
    grid.add_column(overflow="fold")
    named = f"session {show_controls(session or page.session)}, page {page.number}"
    title = Text.assemble((short(page.id), "cyan"), f" · {named}")
    if title.cell_len > console.width - _EDGES:
        grid.add_row("", Text(named, style="dim"))
        title = Text(short(page.id), "cyan")
    last = -1
    for number, line in enumerate(page.lines):
        if shown is not None and number not in shown:
            continue
        if number != last + 1:
            grid.add_row("", Text("…", style="dim"))
        grid.add_row(line.address or "", _line(page, line, spans, console))
        for one in taken:
            if _touches(line, one.span, page):
                mark = f"taken back: {page.words(one.span)!r} ({one.reason})"
                grid.add_row("", Text(show_controls(mark), style="yellow"))
        last = number
    if last + 1 < len(page.lines):
        grid.add_row("", Text("…", style="dim"))
    sealed = f"sealed {when(page.sealed_at)}" if page.sealed_at else "open, still filling"
    foot = Text(f"{plural(len(page.lines), 'turn')} · {plural(page.tokens, 'token')} · {sealed}", style="dim")
    return Panel(grid, title=title, subtitle=foot, title_align="left", subtitle_align="left", box=box.ROUNDED)


def _touches(line: PageLine, span: Span, page: Page) -> bool:
    return span.page_id == page.id and line.touches(span)


def _line(page: Page, line: PageLine, spans: Sequence[Span], console: Console) -> Text:
    """One turn; marked words also get guillemets where there is no colour to mark them with."""
    body = page.text[line.start : line.end].rstrip("\n")
    marks = sorted(
        (max(0, span.start - line.start), min(len(body), span.end - line.start))
        for span in spans
        if _touches(line, span, page)
    )
    shown = _mark_characters(body, marks, console)
    shown.stylize("dim", 0, line.body - line.start)
    return shown


def _mark_characters(text: str, marks: Iterable[tuple[int, int]], console: Console) -> Text:
    """A text with the characters of `marks` marked, which are in order."""
    plain = console.no_color or console.color_system is None
    shown, at = Text(), 0
    for start, end in marks:
        if start < at:
            continue
        shown.append(show_controls(text[at:start])).append("«" if plain else "")
        shown.append(show_controls(text[start:end]), style=MARK).append("»" if plain else "")
        at = end
    return shown.append(show_controls(text[at:]))
