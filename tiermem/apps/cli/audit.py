"""`tiermem audit`: an answer, its citations, and the cited words in their pages; or a bundle of all this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

import tiermem
from pagestore import Page, PageId
from pagestore.bundle import Bundle, encode
from tiermem.apps.cli import options
from tiermem.apps.cli.checkpoint_files import read_checkpoint, signatures_of, write_whole
from tiermem.apps.present.answers import STYLES, answer_rows, cited_in_page, said_lines, tokens
from tiermem.apps.present.reading_cost import ReadingCost, reading_cost
from tiermem.apps.present.tables import numbered_table, page_ids, pairs, plural
from tiermem.apps.present.terminal import out, when
from tiermem.model import Check, Citation, Round
from tiermem.text.unicode import show_controls

if TYPE_CHECKING:
    from tiermem import AuditedDerivation


def audit(
    answer_id: options.AnswerId = None,
    *,
    place: options.SpaceOptions,
    bundle: Annotated[
        Path | None, typer.Option(help="Write a file that proves it to others, for `verify-bundle`.")
    ] = None,
    whole_pages: Annotated[
        bool, typer.Option("--whole-pages", help="Bundle the cited pages whole, not just the cited turns.")
    ] = False,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Bind the bundle to the checkpoint kept in this file.")
    ] = None,
    sign: Annotated[Path | None, typer.Option(help="Sign the bundle's checkpoint with this key.")] = None,
    looking: options.Looking,
) -> None:
    """Follow an answer to its citations and the words as they stand in their pages."""
    with place.open(read_only=True) as memory:
        answer_id = options.answer_named(memory, answer_id)
        if bundle is None:
            _show_audit(memory, answer_id, looking)
            return
        kept = read_checkpoint(checkpoint, memory.space) if checkpoint is not None else None
        made = memory.bundle(answer_id, checkpoint=kept, whole_pages=whole_pages)
    made = replace(made, signature=signatures_of([made.checkpoint], sign).get(made.checkpoint.space))
    write_whole(bundle, encode(made))
    shown = {
        "file": bundle,
        "answer": made.answer,
        "checkpoint": made.checkpoint,
        "signature": made.signature,
    }
    looking.show(shown, lambda: _bundle(made, str(bundle)))


def _show_audit(memory: tiermem.Memory, answer_id: str, looking: options.Looking) -> None:
    trail = memory.audit(answer_id)
    ids = {place.page_id for cited in trail.citations for place in cited.words_on_page}
    pages = {page_id: memory.page(page_id) for page_id in ids}
    cost = reading_cost(memory, trail.answer)
    shown = {"intact": trail.intact, "answer": trail.answer, "citations": trail.citations}
    looking.show(shown, lambda: _trail(trail, pages, cost, out()))


def _trail(trail: tiermem.Audit, pages: Mapping[PageId, Page], cost: ReadingCost, console: Console) -> Group:
    """Question, answer, route, then each citation with its words marked in their page."""
    answer, trace = trail.answer, trail.answer.trace
    head: list[tuple[str, str | Text]] = [
        ("question", trace.question),
        ("answer", Text(show_controls(answer.text.partition("\n")[0]), style="bold")),
        ("asked", f"{when(trace.asked_at)}, space {answer.space}"),
        *answer_rows(answer, console),
        ("decided by", f"router {trace.decision.router}, engine {trace.engine}"),
        ("read", tokens(cost)),
    ]
    head += [(f"round {r.number}", _round(r)) for r in trace.rounds]
    head += [("check", _check(check)) for check in trace.checks]
    head += [("derived", _derivation_text(one)) for one in trail.derivations]
    head += [("degraded", f"{d.stage}: {d.reason}; instead: {d.fallback}") for d in trace.degradations]
    parts: list[RenderableType] = [pairs(head), *said_lines(answer)]
    for cited in trail.citations:
        parts += [Text(), _claim(cited.citation, cited.chosen_by, intact=cited.intact)]
        spans = cited.citation.spans
        kept = [pages[page_id] for page_id in page_ids(spans) if page_id in pages]
        parts += [cited_in_page(page, spans, console) for page in kept]
        parts += [Text(f"missing: {show_controls(what)}", style="red") for what in cited.missing]
    if not trail.citations:
        parts += [Text(), Text("No citations: nothing that was found supports an answer.", style="yellow")]
    return Group(*parts)


def _round(made: Round) -> str:
    read = f"{plural(len(made.pages), 'page')}, {plural(made.facts, 'fact')} linked"
    refused = f", {made.rejected} rejected" if made.rejected else ""
    return read + refused + (f"; {made.stop}" if made.stop else "")


def _check(check: Check) -> Text:
    from tiermem.proof.in_words import check_in_words

    return Text(show_controls(check_in_words(check)), style=STYLES.get(check.support, "red"))


def _derivation_text(one: AuditedDerivation) -> Text:
    from tiermem.proof.in_words import derivation_in_words

    words = Text(show_controls(derivation_in_words(one.derivation)))
    if one.intact:
        return words.append("; computed again: the same", style="green")
    now = show_controls(one.now or "nothing")
    return words.append(f"; COMPUTED AGAIN by the rules of today: {now}", style="bold red")


def _claim(citation: Citation, chosen_by: str, *, intact: bool) -> Table:
    claim = Text(show_controls(citation.claim), style="bold")
    claim.append(f"\n{citation.support} · {chosen_by} · ", style="dim not bold")
    if intact:
        claim.append("intact: the words still stand where they were cited", style="green not bold")
    else:
        claim.append("NOT INTACT: the text there is not what was cited", style="bold red")
    return numbered_table([(citation.number, claim)])


def _bundle(made: Bundle, file: str) -> Group:
    """What a bundle that was written holds."""
    shown = sum(turn.line is not None for page in made.pages for turn in page.turns)
    turns = sum(len(page.turns) for page in made.pages)
    point = made.checkpoint
    rows = [
        ("bundle", f"{file}, {len(encode(made)):,} bytes"),
        ("answer", str(made.answer["text"])),
        ("support", str(made.answer.get("support") or "none recorded")),
        ("pages", f"{len(made.pages):,}, with {shown:,} of {turns:,} turns in words, the others as hashes"),
        ("bound to", f"{point.size:,} records of space {point.space!r}, root {point.root}"),
    ]
    if made.signature is not None:
        rows.append(("signed by", made.signature.key))
    return Group(pairs(rows))
