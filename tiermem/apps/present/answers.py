"""What a person sees of an answer: the words, the route, the sources, the cited words in their page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from pagestore import Page, PageId, PageLine, Span
from tiermem.apps.present.reading_cost import ReadingCost
from tiermem.apps.present.tables import counted, page_ids, pairs, short
from tiermem.apps.present.terminal import safe, when
from tiermem.model import Answer, Check, Citation, Evidence, MarkedPage, Round, Way, is_proved
from tiermem.reasoning import by_rules
from tiermem.text.in_words import (
    check_in_words,
    decision_in_words,
    derivation_in_words,
    support_in_words,
)

if TYPE_CHECKING:
    from tiermem.reading import Audit
    from tiermem.reading.looking_back.audit import AuditedDerivation

MARK = "bold black on bright_yellow"
_WAYS: Mapping[Way, tuple[str, str]] = {
    "recall": ("from what was recalled", "green"),
    "widened": ("from more turns", "yellow"),
    "researched": ("from what was searched for and read", "yellow"),
}
_AROUND = 1
"""Turns shown before and after a cited one."""
_PASSAGE = 240
"""Characters shown of a passage that is near a question."""


# Answers


def answer_view(answer: Answer, cost: ReadingCost) -> Group:
    """The words, how they were come by, and their numbered sources."""
    words = Text(safe(answer.text), style="yellow" if answer.abstained else "bold")
    parts: list[RenderableType] = [Padding(words, (0, 2)), Text(), pairs(_came_by(answer, cost))]
    if answer.citations:
        parts += [Text(), sources(answer.citations)]
    return Group(*parts, *nearest(answer))


def nearest(answer: Answer) -> list[RenderableType]:
    """What comes nearest to a question that was not answered: who said it, when, on which page."""
    if not answer.nearest:
        return []
    head = Text("\nnearest to the question, but no answer was found in them:", style="dim")
    return [head, *(Padding(_passage(item), (0, 0, 0, 2)) for item in answer.nearest)]


def _passage(item: Evidence) -> Text:
    words = " ".join(item.text.split())
    told = Text(safe(words if len(words) <= _PASSAGE else f"{words[:_PASSAGE]} …"))
    where = ", ".join(map(short, page_ids(item.spans)))
    kind = "summary, " if item.source == "unit" else ""
    return told.append(f"\n{kind}{when(item.said_at)} · {where}", style="dim")


def route(answer: Answer) -> Text:
    """How far reading went, what the router decided, with its score, and why."""
    words, style = _WAYS[answer.trace.way]
    decision = answer.trace.decision
    told = Text(words, style=style)
    if answer.abstained:
        told.append(", abstained", style="yellow")
    return told.append(safe(f" · {decision_in_words(decision)}"), style="dim")


def tokens(cost: ReadingCost) -> str:
    """What was read, beside what the raw pages hold."""
    if cost.pages:
        pages = counted(cost.pages, "page")
        return f"{pages} of {cost.page_tokens:,} tokens; worded from {cost.evidence:,} tokens of evidence"
    saved = (
        f", {1 - cost.evidence / cost.linked_tokens:.0%} saved" if cost.linked_tokens > cost.evidence else ""
    )
    return f"{cost.evidence:,} tokens, in place of {cost.linked_tokens:,} in the linked pages{saved}"


def _came_by(answer: Answer, cost: ReadingCost) -> list[tuple[str, str | Text]]:
    trace, usage = answer.trace, answer.usage
    rows: list[tuple[str, str | Text]] = [("support", support(answer)), ("route", route(answer))]
    rows.append(("read", tokens(cost)))
    if trace.engine == by_rules().name:
        rows.append(("engine", "local rules, no model: extracts of what was said, or computed from it"))
    if usage.calls:
        price = "" if usage.cost is None else f", ${usage.cost:.4f}"
        said = (
            f"{counted(usage.calls, 'call')}, {usage.input_tokens:,} in, {usage.output_tokens:,} out{price}"
        )
        rows.append(("model", f"{', '.join(trace.models)}: {said}"))
    rows += [("degraded", f"{d.stage}: {d.reason}; instead: {d.fallback}") for d in trace.degradations]
    if not answer.recorded:
        return [
            *rows,
            ("recorded", "no: the memory was opened read-only; `audit` does not know it"),
        ]
    return [*rows, ("answer id", answer.id)]


def sources(citations: Sequence[Citation]) -> Table:
    """Numbered sources: who said it, when, and the exact words."""
    return _numbered([(citation.number, _source(citation)) for citation in citations])


def _numbered(items: Sequence[tuple[int, Text]]) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    for number, told in items:
        grid.add_row(f"[{number}]", told)
    return grid


def _source(citation: Citation) -> Text:
    told = Text(f"{safe(citation.speaker)}, {when(citation.said_at)}", style="cyan")
    if not is_proved(citation.support):
        told.append(" · the words are exact, what is read in them is not proved", style="yellow")
    return told.append(f"\n“{safe(citation.quote)}”", style="default")


def next_step(what: str, command: str) -> Text:
    """A command to run next. Printed with `soft_wrap`, its line can be copied whole."""
    return Text(f"\n{what}:\n", style="dim").append(f"  {command}", style="cyan not dim")


# Audits


def audit_view(audit: Audit, pages: Mapping[PageId, Page], cost: ReadingCost, console: Console) -> Group:
    """Question, answer, route, then each citation with its words marked in their page."""
    answer, trace = audit.answer, audit.answer.trace
    head: list[tuple[str, str | Text]] = [
        ("question", trace.question),
        ("answer", Text(safe(answer.text), style="bold")),
        ("asked", f"{when(trace.asked_at)}, space {answer.space}"),
        ("support", support(answer)),
        ("route", route(answer)),
        ("decided by", f"router {trace.decision.router}, engine {trace.engine}"),
        ("read", tokens(cost)),
    ]
    head += [(f"round {r.number}", _round(r)) for r in trace.rounds]
    head += [("check", _check(check)) for check in trace.checks]
    head += [("derived", _derived(one)) for one in audit.derivations]
    head += [("degraded", f"{d.stage}: {d.reason}; instead: {d.fallback}") for d in trace.degradations]
    parts: list[RenderableType] = [pairs(head)]
    for cited in audit.citations:
        parts += [Text(), _claim(cited.citation, cited.chosen_by, intact=cited.intact)]
        spans = cited.citation.spans
        kept = [pages[page_id] for page_id in page_ids(spans) if page_id in pages]
        parts += [cited_in_page(page, spans, console) for page in kept]
        parts += [Text(f"missing: {safe(what)}", style="red") for what in cited.missing]
    if not audit.citations:
        parts += [Text(), Text("No citations: nothing that was found supports an answer.", style="yellow")]
    parts += nearest(answer)
    return Group(*parts)


def _derived(one: AuditedDerivation) -> Text:
    told = Text(safe(derivation_in_words(one.derivation)))
    if one.intact:
        return told.append("; computed again: the same", style="green")
    return told.append(f"; COMPUTED AGAIN: {safe(one.now or 'nothing')}", style="bold red")


def _round(made: Round) -> str:
    told = f"{counted(len(made.pages), 'page')} read, {counted(made.facts, 'fact')} linked"
    refused = f", {made.rejected} rejected" if made.rejected else ""
    return told + refused + (f"; {made.stop}" if made.stop else "")


_STYLES: Mapping[str | None, str] = {"stated": "green", "derived": "green", "worded": "yellow"}


def _check(check: Check) -> Text:
    return Text(safe(check_in_words(check)), style=_STYLES.get(check.support, "red"))


def support(answer: Answer) -> Text:
    """How far the cited words bear the answer out, and what of it is missing."""
    told = Text(safe(support_in_words(answer)), style=_STYLES.get(answer.support, "dim"))
    if answer.support is None or answer.complete:
        return told
    return told.append(f"; incomplete: {safe(answer.missing or 'not told what')}", style="yellow")


def _claim(citation: Citation, chosen_by: str, *, intact: bool) -> Table:
    told = Text(safe(citation.claim), style="bold")
    told.append(f"\n{citation.support} · {chosen_by} · ", style="dim not bold")
    if intact:
        told.append("intact: the words still stand where they were cited", style="green not bold")
    else:
        told.append("NOT INTACT: what stands there is not what was cited", style="bold red")
    return _numbered([(citation.number, told)])


def cited_in_page(page: Page, spans: Sequence[Span], console: Console) -> Panel:
    """The turns around cited words, the words marked."""
    cited = [n for n, line in enumerate(page.lines) if any(_touches(line, span, page) for span in spans)]
    near = {n + step for n in cited for step in range(-_AROUND, _AROUND + 1)}
    return page_view(page, console, spans=spans, shown=near)


# Pages


def page_view(
    page: Page, console: Console, *, spans: Sequence[Span] = (), shown: set[int] | None = None
) -> Panel:
    """A page as it is kept, turn by turn, with `spans` marked; only the turns of `shown` when given.

    Under a turn of which words were taken back stand these and the reason.
    """
    taken = page.taken_back if isinstance(page, MarkedPage) else ()
    grid = Table.grid(padding=(0, 1))
    grid.add_column(style="dim", justify="right", no_wrap=True)
    grid.add_column(overflow="fold")
    last = -1
    for number, line in enumerate(page.lines):
        if shown is not None and number not in shown:
            continue
        if number != last + 1:
            grid.add_row("", Text("…", style="dim"))
        grid.add_row(str(number + 1), _line(page, line, spans, console))
        for one in taken:
            if _touches(line, one.span, page):
                told = f"taken back: {page.words(one.span)!r} ({one.reason})"
                grid.add_row("", Text(safe(told), style="yellow"))
        last = number
    if last + 1 < len(page.lines):
        grid.add_row("", Text("…", style="dim"))
    title = Text.assemble((short(page.id), "cyan"), f" · session {safe(page.session)}, page {page.number}")
    sealed = f"sealed {when(page.sealed_at)}" if page.sealed_at else "open, still filling"
    foot = Text(
        f"{counted(len(page.lines), 'turn')} · {counted(page.tokens, 'token')} · {sealed}", style="dim"
    )
    return Panel(grid, title=title, subtitle=foot, title_align="left", subtitle_align="left", box=box.ROUNDED)


def _touches(line: PageLine, span: Span, page: Page) -> bool:
    return span.page_id == page.id and span.start < line.end and line.start < span.end


def _line(page: Page, line: PageLine, spans: Sequence[Span], console: Console) -> Text:
    """One turn; marked words also get guillemets where there is no colour to mark them with."""
    body = page.text[line.start : line.end].rstrip("\n")
    marks = sorted(
        (max(0, span.start - line.start), min(len(body), span.end - line.start))
        for span in spans
        if _touches(line, span, page)
    )
    plain = console.no_color or console.color_system is None
    told, at = Text(), 0
    for start, end in marks:
        if start < at:
            continue
        told.append(safe(body[at:start])).append("«" if plain else "")
        told.append(safe(body[start:end]), style=MARK).append("»" if plain else "")
        at = end
    told.append(safe(body[at:]))
    told.stylize("dim", 0, line.body - line.start)
    return told
