"""`tiermem ingest`: each conversation stored in its space and summarised, with progress on stderr."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

import tiermem
from pagestore import SessionId
from pagestore.errors import NotAStore
from tiermem.apps.cli import options
from tiermem.apps.cli.group import EXIT_ERROR, complain, remark
from tiermem.apps.cli.read_files import ChangedFiles, FilesRead, describe_left_out, read_files
from tiermem.apps.present.progress import Report, progress
from tiermem.apps.present.tables import plural, table
from tiermem.dialogue import Conversation, DateOrder, DialogueSession, Format
from tiermem.dialogue.agent_folders import CodingAgent
from tiermem.dialogue.agent_spaces import place_by_repository
from tiermem.errors import InvalidInput, TierMemError, not_one_of
from tiermem.storage import StorePlace

if TYPE_CHECKING:
    from tiermem.trust import TrustLevels


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSummary:
    """What a chat with a title brought: turns that were new, of these edits, and turns that were known."""

    chat: str
    title: str
    new: int
    edited: int
    known: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestSummary:
    """What one space got: turns read, how many were new, and what it holds now.

    Turns that were `erased` before, those without words (`empty`), and those that a session of a coding agent
    `copied` from another one, are not stored. Of the new ones `edited` are later versions of messages that
    are stored already.
    """

    space: str
    turns: int
    new: int
    edited: int
    known: int
    erased: int
    empty: int
    copied: int
    chats: tuple[ChatSummary, ...]
    raising: int
    """Turns that name a level of trust above theirs, which was not taken."""
    pages: int
    pages_new: int
    units: int
    units_new: int
    pending: int
    problems: tuple[str, ...]
    seconds: float


def ingest(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="Files of dialogue, or folders of transcripts of coding agents; - reads standard input.",
        ),
    ] = None,
    *,
    of_agent: Annotated[
        CodingAgent | None,
        typer.Option("--from", help="Read the sessions of this coding agent that are on this machine."),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    space: Annotated[
        str | None,
        typer.Option(
            "--space", envvar="TIERMEM_SPACE", help="Put everything here (benchmarks: a space each)."
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", help="Name for turns that name no session.")
    ] = None,
    role: options.SaidRole = None,
    trust: Annotated[
        str | None,
        typer.Option("--trust", help="How far the source is trusted: web, tool, assistant, user, …"),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="What the files hold.")] = "auto",
    metadata: options.Metadata = None,
    importance: options.Importance = None,
    stamps: Annotated[
        bool,
        typer.Option("--stamps", help="Believe the trust and agent that turns name: for your own exports."),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Refuse a file in which one record cannot be read."),
    ] = False,
    keep_thinking: Annotated[
        bool,
        typer.Option("--keep-thinking", help="Keep what a model thought as metadata (thinking)."),
    ] = False,
    redact: Annotated[
        list[str] | None,
        typer.Option(
            "--redact",
            metavar="REGEX",
            help="Of sessions of coding agents store no text that this matches. Known formats of secrets are "
            "redacted without it.",
        ),
    ] = None,
    skip_paths: Annotated[
        list[str] | None,
        typer.Option(
            "--skip-path",
            metavar="PATTERN",
            help="Of sessions of coding agents store no call about such a file (*.pem), and no result of it. "
            "What git ignores is left out without it.",
        ),
    ] = None,
    date_order: Annotated[
        DateOrder | None,
        typer.Option(
            "--date-order", help="Which of the numbers of a date is the day (default: see the file)."
        ),
    ] = None,
    agent: options.Agent = None,
    engine: options.Engine = "auto",
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on: store what is added to the files until interrupted.")
    ] = False,
    output: options.Output,
) -> None:
    """Store dialogue and summarise it. Files are read in full first; what is known is not stored twice.

    Takes chats exported from WhatsApp, Telegram, Slack, Discord, ChatGPT and Claude, sessions of coding
    agents (Claude Code, Codex, Gemini CLI, Copilot CLI, Cursor, OpenCode; all below a folder too), memories
    of Mem0, Zep, Graphiti, Letta, LangMem and Hindsight, JSON lines of turns or of OpenAI's fine-tuning, CSV,
    subtitles, "Name: text" and Markdown transcripts, LoCoMo and LongMemEval (also .gz, .xz, .zip). Which of
    them a file is, is seen from what it holds. Records that cannot be read are listed and skipped, as long as
    most can.
    """
    known = options.key_values("--metadata", metadata)
    if not files and of_agent is None:
        raise typer.BadParameter(
            "name files, or the coding agent whose sessions are read with --from", param_hint="'FILE...'"
        )
    if follow and "-" in (files or []):
        raise typer.BadParameter(
            "standard input ends, and is not followed: name files", param_hint="'--follow'"
        )
    changed = ChangedFiles()

    def read_and_store(*, again: bool = False) -> bool:
        """Read the files that changed, and store what is new; whether all of it was summarised.

        When it is done `again`, pages are left open, and nothing is printed where nothing is new.
        """
        read = read_files(
            files or [],
            of_agent,
            {
                "format": form,
                "session": session,
                "stamps": True,
                "keep_thinking": keep_thinking,
                "date_order": date_order,
                "redact": redact or (),
                "skip_paths": skip_paths or (),
            },
            strict=strict,
            is_wanted=changed.take,
        )
        conversations = read.conversations
        if space is None:
            conversations = tuple(place_by_repository(conversations, _spaces_of(store)))
        results = ingest_into(
            store.address,
            conversations,
            space=space,
            engine=engine,
            said={"role": role, "trust": trust, "metadata": known, "importance": importance},
            stamps=stamps,
            agent=agent,
            seals=not again,
        )
        if again and not any(result.new for result in results):
            return True
        return _show_results(str(store), read, conversations, results, output)

    if not read_and_store() and not follow:
        raise typer.Exit(EXIT_ERROR)
    if follow:
        _follow(partial(read_and_store, again=True), changed)


def _follow(read_and_store: Callable[[], object], changed: ChangedFiles) -> None:
    """Read and store again and again, until the program is interrupted; what fails is tried again."""
    remark("reading what is added; Ctrl-C ends it")
    stopping = Event()

    def stop(*_: object) -> None:
        """Let what is being stored be finished; a second Ctrl-C does not."""
        stopping.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, stop)
    last = ""
    sys.stdout.flush()
    while not stopping.wait(_FOLLOW_SECONDS):
        try:
            read_and_store()
            last = ""
        except (TierMemError, OSError) as error:  # a file may go between two looks at it
            changed.forget()  # of what was read, nothing or not all was stored
            if str(error) != last:
                remark(f"tried again later: {error}")
            last = str(error)
        sys.stdout.flush()


def _show_results(
    store: str,
    read: FilesRead,
    conversations: Sequence[Conversation],
    results: Sequence[IngestSummary],
    output: options.Output,
) -> bool:
    """Print what storing did; whether all of it was summarised."""
    notes = [note for conversation in conversations for note in conversation.notes]
    output.show(
        {
            "store": store,
            "spaces": results,
            "skipped": read.skipped,
            "notes": notes,
            "left_out": read.left_out,
        },
        lambda: _result_tables(results),
    )
    _remark_each(notes, "{:,} more notes, which --json lists")
    if read.left_out:
        remark(describe_left_out(read.left_out))
    _warn_of_skipped(read.skipped)
    raising = sum(result.raising for result in results)
    if raising:
        remark(f"{raising} turns name a higher trust than is theirs without; --stamps believes it")
    unfinished = [result for result in results if result.pending]
    if unfinished:
        pages = sum(result.pending for result in unfinished)
        reason = next((problem for result in unfinished for problem in result.problems), "no reason given")
        waiting = "1 page is" if pages == 1 else f"{pages:,} pages are"
        complain(f"{waiting} stored but not summarised yet: {reason} (run the same command again)")
    return not unfinished


def _spaces_of(store: StorePlace) -> tuple[str, ...]:
    """The spaces of a store; none where there is no store yet."""
    try:
        return tiermem.spaces(store.address)
    except NotAStore:
        return ()


_FOLLOW_SECONDS = 2.0
"""How long files that are followed are left alone between two looks at them."""
_MOST_LISTED = 20
"""Notes, skipped records and chats that are listed on a terminal; `--json` has all."""


def _remark_each(notes: Sequence[str], more: str) -> None:
    """Print the first notes, and how many more there are."""
    for note in notes[:_MOST_LISTED]:
        remark(note)
    if len(notes) > _MOST_LISTED:
        remark(more.format(len(notes) - _MOST_LISTED))


def _warn_of_skipped(skipped: Sequence[str]) -> None:
    _remark_each([f"skipped: {reason}" for reason in skipped], "skipped: {:,} more, which --json lists")
    if skipped:
        counts = "1 record was" if len(skipped) == 1 else f"{len(skipped):,} records were"
        remark(f"{counts} skipped as unreadable; --strict refuses such a file")


def ingest_into(
    store: str | Path,
    conversations: Sequence[Conversation],
    *,
    space: str | None,
    engine: options.EngineName,
    said: tiermem.Attribution | None = None,
    stamps: bool = False,
    agent: str | None = None,
    open_memory: Callable[..., tiermem.Memory] | None = None,
    seals: bool = True,
) -> tuple[IngestSummary, ...]:
    """Store every conversation in `space`, or where it asks to be, and summarise what is new.

    A level of trust that a turn brings counts where it lowers, with `stamps` always. `said` is what is kept
    with every turn, and `agent` whose all of it is. `open_memory` is `tiermem.open` by default. Pages that
    are not full are sealed, and summarised with the others, with `seals` alone. Raises
    `InvalidInput` for turns of another agent without `stamps`, and with `stamps` for a level that is not
    known, before anything is stored.

    Where conversations that ask for spaces of their own are put together, their names go in front
    of their sessions, which would otherwise be taken for one another.
    """
    if stamps:
        _refuse_unknown_levels(conversations)
    else:
        _refuse_agents(conversations, agent)
    placed: dict[str, list[Conversation]] = {}
    for conversation in conversations:
        name = (conversation.space_hint or options.DEFAULT_SPACE) if space is None else space
        placed.setdefault(name, []).append(conversation)
    return tuple(
        _ingest(
            partial(open_memory or tiermem.open, store, space=name, engine=engine, distil="deferred"),
            name,
            there,
            apart=space is not None,
            said=said or {},
            stamps=stamps,
            agent=agent,
            seals=seals,
        )
        for name, there in placed.items()
    )


def _ingest(
    open_memory: Callable[[], tiermem.Memory],
    space: str,
    conversations: Sequence[Conversation],
    *,
    apart: bool,
    said: tiermem.Attribution,
    stamps: bool,
    agent: str | None,
    seals: bool,
) -> IngestSummary:
    started = time.monotonic()
    turns = sum(conversation.turns for conversation in conversations)
    raising = 0
    if not stamps:
        conversations, raising = _drop_raising_stamps(
            conversations, trust=said.get("trust"), role=said.get("role")
        )
    with options.as_agent(open_memory(), agent) as memory:
        before = memory.stats()
        with progress(f"{space}: storing", "turns") as report:
            stored = _store(memory, conversations, report, total=turns, apart=apart, said=said)
        with progress(f"{space}: summarising", "pages", then=f"{space}: indexing") as report:
            flushed = (memory.flush if seals else memory.index_pending)(progress=report)
        after = memory.stats()
    added = [one for _, one in stored]
    return IngestSummary(
        space=space,
        turns=turns,
        new=sum(one.new for one in added),
        edited=sum(one.edited for one in added),
        known=sum(one.known for one in added),
        erased=sum(one.erased for one in added),
        empty=sum(one.empty for one in added),
        copied=turns - sum(one.turns for one in added),
        chats=_chat_summaries(conversations, stored),
        raising=raising,
        pages=after.pages,
        pages_new=after.pages - before.pages,
        units=after.units,
        units_new=after.units - before.units,
        pending=flushed.pending,
        problems=flushed.problems,
        seconds=round(time.monotonic() - started, 3),
    )


def _sessions(conversations: Sequence[Conversation]) -> Iterator[DialogueSession]:
    """The sessions of all conversations, in order."""
    return (session for conversation in conversations for session in conversation.sessions)


def _refuse_agents(conversations: Sequence[Conversation], own: str | None) -> None:
    """Raise `InvalidInput` for turns that name an agent: their words would be in its private memory."""
    turns = (turn for session in _sessions(conversations) for turn in session.turns)
    named = [turn.agent for turn in turns if turn.agent not in (None, own)]
    if named:
        raise InvalidInput(
            f"{plural(len(named), 'turn')} would go into the memory of agent {named[0]!r}, which the file "
            "names: for an export of your own give --stamps"
        )


def _refuse_unknown_levels(conversations: Sequence[Conversation]) -> None:
    """Raise `InvalidInput` for the first turn whose level of trust is not known."""
    levels = _levels()
    for session in _sessions(conversations):
        for number, turn in enumerate(session.turns, start=1):
            if turn.trust is not None and turn.trust not in levels.names:
                where = f"turn {number} of session {session.session!r}"
                raise InvalidInput(f"{where}: trust {not_one_of(turn.trust, levels.names)}")


def _levels() -> TrustLevels:
    from tiermem.trust import TrustLevels

    return TrustLevels(names=tiermem.Settings().trust_levels)


def _drop_raising_stamps(
    conversations: Sequence[Conversation], *, trust: str | None, role: str | None
) -> tuple[tuple[Conversation, ...], int]:
    """The conversations without stamps that would raise a turn, and how many turns brought such a one."""
    from tiermem.trust import lower_stamps

    levels, raising = _levels(), 0

    def drop_raising(session: DialogueSession) -> DialogueSession:
        nonlocal raising
        turns = lower_stamps(session.turns, trust, levels, role=role)
        raising += sum(
            before.trust in levels.names and after.trust is None
            for before, after in zip(session.turns, turns, strict=True)
        )
        return replace(session, turns=turns)

    found = tuple(replace(one, sessions=tuple(map(drop_raising, one.sessions))) for one in conversations)
    return found, raising


def _store(
    memory: tiermem.Memory,
    conversations: Sequence[Conversation],
    report: Report,
    *,
    total: int,
    apart: bool,
    said: tiermem.Attribution,
) -> list[tuple[SessionId, tiermem.Added]]:
    stored, done = list[tuple[SessionId, tiermem.Added]](), 0
    for conversation in conversations:
        prefix = f"{conversation.space_hint}/" if apart and conversation.space_hint else ""
        named = (replace(one, session=SessionId(prefix + one.session)) for one in conversation.sessions)
        # Sessions are given whole, however long: an edited file is compared with what is stored of it.
        stored += memory.ingest(
            replace(conversation, sessions=tuple(named)),
            progress=partial(_report_part, report, done, total),
            **said,
        )
        done += conversation.turns
    return stored


def _report_part(report: Report, before: int, total: int, part: int, _: int) -> None:
    """Report the turns of one conversation as part of all."""
    report(before + part, total)


def _chat_summaries(
    conversations: Sequence[Conversation], stored: Sequence[tuple[SessionId, tiermem.Added]]
) -> tuple[ChatSummary, ...]:
    """What each chat with a title brought; `stored` is what storing each session did."""
    chats: dict[str, list[tuple[str, tiermem.Added]]] = {}
    for session, (name, one) in zip(_sessions(conversations), stored, strict=True):
        if session.title is not None:
            chat = replace(session, session=name).chat
            chats.setdefault(chat, []).append((session.title, one))
    return tuple(
        ChatSummary(
            chat=chat,
            title=parts[-1][0],
            new=sum(one.new for _, one in parts),
            edited=sum(one.edited for _, one in parts),
            known=sum(one.known for _, one in parts),
        )
        for chat, parts in chats.items()
    )


def _chat_lines(results: Sequence[IngestSummary]) -> Iterator[str]:
    chats = [chat for result in results for chat in result.chats]
    for chat in chats[:_MOST_LISTED]:
        counts = f"{chat.new - chat.edited:,} new, {chat.edited:,} edited, {chat.known:,} known"
        yield f"{chat.title} ({chat.chat}): {counts}"
    if len(chats) > _MOST_LISTED:
        yield f"{len(chats) - _MOST_LISTED:,} more chats, which --json lists"


def _result_tables(results: Sequence[IngestSummary]) -> tuple[Table | str, ...]:
    """One row a space: new and known turns, what it holds now, what this run added.

    Below it are the chats by name, and what stayed away.
    """
    rows = [_row(result.space, [result]) for result in results]
    if len(results) > 1:
        rows.append(_row("all", results))
    columns = ("space", "new turns", "known", "pages", "units", "seconds")
    return table(columns, rows, numbers=columns[1:]), *_chat_lines(results), *_left_out(results)


def _row(space: str, results: Sequence[IngestSummary]) -> tuple[str, ...]:
    new, known = sum(one.new for one in results), sum(one.known for one in results)
    pages, pages_new = sum(one.pages for one in results), sum(one.pages_new for one in results)
    units, units_new = sum(one.units for one in results), sum(one.units_new for one in results)
    seconds = sum(one.seconds for one in results)
    grown = (f"{pages:,} ({pages_new:+,})", f"{units:,} ({units_new:+,})")
    return (space, f"{new:,}", f"{known:,}", *grown, f"{seconds:.1f}")


def _left_out(results: Sequence[IngestSummary]) -> Iterator[str]:
    edited, erased, empty, copied = (
        sum(getattr(result, name) for result in results) for name in ("edited", "erased", "empty", "copied")
    )
    if edited:
        yield f"{plural(edited, 'message')} edited since: the new words stored as later versions"
    if erased:
        yield (
            f"{plural(erased, 'turn')} erased before: not stored again "
            "(to have what was erased back, ingest it into another --space)"
        )
    if empty:
        yield f"{plural(empty, 'turn')} without words: not stored"
    if copied:
        yield f"{plural(copied, 'turn')} copied from another session: not stored twice"
