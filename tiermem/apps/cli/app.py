"""The command line: each command parses, calls the door, prints. It decides nothing about memory.

Exit codes: 0 done, 1 an error told in one line, 2 wrong usage, 3 `verify` found damage.
What is heavy is imported by the command that needs it, so that `--help` is quick.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tiermem.apps.cli.group import EXIT_DAMAGE, EXIT_ERROR, OpenGroup, complain, remark
from tiermem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from tiermem import Budget, Memory

DEFAULT_SPACE = "default"
DEFAULT_STORE = Path("memory")


class Engine(StrEnum):
    """Who reasons."""

    AUTO = "auto"
    LOCAL = "local"
    MODEL = "model"


class Mode(StrEnum):
    """Which way an answer may take."""

    ROUTER = "router"
    SUMMARY = "summary"
    RAW = "raw"


class Kind(StrEnum):
    """What a search looks through."""

    UNITS = "units"
    PAGES = "pages"
    TURNS = "turns"


class DialogueFormat(StrEnum):
    """What a file holds."""

    AUTO = "auto"
    TURNS = "turns"
    TRANSCRIPT = "transcript"
    MARKDOWN = "markdown"
    WHATSAPP = "whatsapp"
    TELEGRAM = "telegram"
    SLACK = "slack"
    DISCORD = "discord"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    FINE_TUNING = "fine-tuning"
    CSV = "csv"
    SUBTITLES = "subtitles"
    LOCOMO = "locomo"
    LONGMEMEVAL = "longmemeval"


StoreOption = Annotated[
    Path, typer.Option("--store", envvar="TIERMEM_STORE", help="Directory of the memory.")
]
SpaceOption = Annotated[
    str | None,
    typer.Option("--space", envvar="TIERMEM_SPACE", help="Whose memory. Not needed where there is one."),
]
SessionOption = Annotated[str | None, typer.Option("--session", help="Only this session.")]
EngineOption = Annotated[
    Engine,
    typer.Option("--engine", help="Who reasons: a model where one is configured (auto), or local rules."),
]
MinTrustOption = Annotated[
    str | None, typer.Option("--min-trust", help="Leave out what rests on anybody trusted less.")
]
SpeakerOption = Annotated[
    str | None, typer.Option("--speaker", help="Only what this speaker said, in any case.")
]
RoleOption = Annotated[
    str | None, typer.Option("--role", help="Only turns of this role: user, assistant, tool, …")
]
AfterOption = Annotated[
    str | None, typer.Option("--after", help="Only what was said then or later; a day counts whole.")
]
BeforeOption = Annotated[
    str | None, typer.Option("--before", help="Only what was said then or earlier; a day counts whole.")
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="KEY=VALUE", help="Only turns whose metadata tells this; all of them."),
]
MetadataOption = Annotated[
    list[str] | None,
    typer.Option("--metadata", metavar="KEY=VALUE", help="Kept with every turn, and found by --where."),
]
BudgetOption = Annotated[
    str | None,
    typer.Option("--budget", help="Limits of this question, as calls=5,tokens=4000,seconds=20,cost=0.05."),
]
AskedAtOption = Annotated[
    str | None, typer.Option("--asked-at", help="When it is asked, for words like “yesterday” (now).")
]
ReadOnlyOption = Annotated[
    bool,
    typer.Option(
        "--read-only", help="Take no lock and write nothing. So it is anyway while another process writes."
    ),
]
LooksOption = Annotated[
    bool, typer.Option("--read-only", help="Take no lock and write nothing: this command never does.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
UnitArgument = Annotated[str, typer.Argument(help="A unit's id, or a beginning that only one has.")]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why. It stays on record.")]

app = typer.Typer(
    name="tiermem",
    cls=OpenGroup,
    help="A memory agents can prove: every answer leads to the exact words it rests on.",
    epilog="Try `tiermem demo` first. It needs no key, no server and no network.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"tiermem {version('tiermem')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    store: Annotated[
        Path | None, typer.Option("--store", help="Keep the memory here instead of throwing it away.")
    ] = None,
    engine: EngineOption = Engine.AUTO,
    as_json: JsonOption = False,
) -> None:
    """Ingest a dialogue that ships with TierMem, ask questions, and show the way to the words."""
    if as_json:
        from tiermem.apps.cli.demo.run import run_demo
        from tiermem.apps.present.as_json import print_json

        print_json(run_demo(store, engine.value))
    else:
        from tiermem.apps.cli.demo import show_demo

        show_demo(store, engine.value)


@app.command()
def ingest(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Files of dialogue; - reads standard input.")
    ],
    *,
    store: StoreOption = DEFAULT_STORE,
    space: Annotated[
        str | None,
        typer.Option(
            "--space", envvar="TIERMEM_SPACE", help="Put everything here (benchmarks: a space each)."
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", help="Name for turns that name no session.")
    ] = None,
    trust: Annotated[
        str | None,
        typer.Option("--trust", help="How far the source is trusted: web, tool, assistant, user, …"),
    ] = None,
    form: Annotated[
        DialogueFormat, typer.Option("--format", help="What the files hold.")
    ] = DialogueFormat.AUTO,
    metadata: MetadataOption = None,
    stamps: Annotated[
        bool,
        typer.Option("--stamps", help="Believe the trust that turns name: for your own exports."),
    ] = False,
    engine: EngineOption = Engine.AUTO,
    as_json: JsonOption = False,
) -> None:
    """Store dialogue and summarise it. Files are read in full first; what is known is not stored twice.

    Takes chats exported from WhatsApp, Telegram, Slack, Discord, ChatGPT and Claude, JSON lines of turns or
    of OpenAI's fine-tuning, CSV, subtitles, "Name: text" and Markdown transcripts, LoCoMo and LongMemEval
    (also .gz, .xz, .zip). Which of them a file is, is seen from what it holds.
    """
    from tiermem.apps.cli.ingest import ingest_into, ingested_view
    from tiermem.dialogue import read_dialogue

    known = _pairs("--metadata", metadata)
    conversations = [
        one for file in files for one in read_dialogue(file, form.value, session=session, stamps=True)
    ]
    results = ingest_into(
        store, conversations, space=space, engine=engine.value, trust=trust, metadata=known, stamps=stamps
    )
    _show({"store": store, "spaces": results}, lambda: ingested_view(results), as_json=as_json)
    raising = sum(result.raising for result in results)
    if raising:
        remark(f"{raising} turns name a higher trust than is theirs without; --stamps believes it")
    unfinished = [result for result in results if result.pending]
    if unfinished:
        pages = sum(result.pending for result in unfinished)
        reason = next((problem for result in unfinished for problem in result.problems), "no reason given")
        told = "1 page is" if pages == 1 else f"{pages:,} pages are"
        complain(f"{told} stored but not summarised yet: {reason} (run the same command again)")
        raise typer.Exit(EXIT_ERROR)


@app.command()
def ask(
    question: str,
    *,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    session: SessionOption = None,
    mode: Annotated[Mode, typer.Option(help="Let the router choose, or fix the route.")] = Mode.ROUTER,
    asked_at: AskedAtOption = None,
    as_of: Annotated[str | None, typer.Option(help="Ask the memory as it stood then.")] = None,
    min_trust: MinTrustOption = None,
    speaker: SpeakerOption = None,
    role: RoleOption = None,
    after: AfterOption = None,
    before: BeforeOption = None,
    where: WhereOption = None,
    budget: BudgetOption = None,
    engine: EngineOption = Engine.AUTO,
    read_only: ReadOnlyOption = False,
    as_json: JsonOption = False,
) -> None:
    """Answer a question, citing who said what and when.

    The answer is recorded, and `audit` shows it, but where the memory is opened read-only.
    """
    from tiermem.apps.present.as_json import plain
    from tiermem.apps.present.reading_cost import reading_cost

    limits, wanted = _budget(budget), _pairs("--where", where)
    with _looking(store, space, engine=engine.value, read_only=read_only) as memory:
        answer = memory.ask(
            question,
            session=session,
            mode=mode.value,
            asked_at=_moment("--asked-at", asked_at),
            as_of=_moment("--as-of", as_of),
            budget=limits,
            min_trust=min_trust,
            speaker=speaker,
            role=role,
            said_after=after,
            said_before=before,
            where=wanted,
        )
        cost = reading_cost(memory, answer)

    def view() -> Any:
        from tiermem.apps.present.answers import answer_view, next_step

        steps = []
        if answer.recorded:
            steps.append(next_step("how it came about", _command("audit", answer.id, store, space)))
        if answer.nearest:
            page = answer.nearest[0].spans[0].page_id
            steps.append(next_step("read the nearest where it stands", _command("page", page, store, space)))
        if answer.nearest and answer.trace.way == "recall":
            again = _command("ask", question, store, space) + " --mode raw"
            steps.append(next_step("have the pages read for it", again))
        told = answer_view(answer, cost)
        return (told, *steps) if steps else told

    _show({**plain(answer), "nearest": answer.nearest}, view, as_json=as_json)


@app.command()
def context(
    question: str,
    *,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    session: SessionOption = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="What the block may take at most.")] = 1000,
    asked_at: AskedAtOption = None,
    min_trust: MinTrustOption = None,
    speaker: SpeakerOption = None,
    role: RoleOption = None,
    after: AfterOption = None,
    before: BeforeOption = None,
    where: WhereOption = None,
    read_only: ReadOnlyOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print what memory holds for a question as a block for a prompt: no model is asked."""
    wanted = _pairs("--where", where)
    with _looking(store, space, read_only=read_only) as memory:
        found = memory.context(
            question,
            max_tokens=max_tokens,
            session=session,
            asked_at=_moment("--asked-at", asked_at),
            min_trust=min_trust,
            speaker=speaker,
            role=role,
            said_after=after,
            said_before=before,
            where=wanted,
        )

    def view() -> Any:
        from tiermem.apps.present.terminal import safe

        return safe(found.text) if found.sources else "nothing found"

    _show(found, view, as_json=as_json)


@app.command()
def search(
    query: str,
    *,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    session: SessionOption = None,
    kind: Annotated[Kind, typer.Option(help="Search summaries or raw pages.")] = Kind.UNITS,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many results at most.")] = 10,
    asked_at: AskedAtOption = None,
    min_trust: MinTrustOption = None,
    speaker: SpeakerOption = None,
    role: RoleOption = None,
    after: AfterOption = None,
    before: BeforeOption = None,
    where: WhereOption = None,
    read_only: ReadOnlyOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find summaries or pages by meaning and by words."""
    wanted = _pairs("--where", where)
    with _looking(store, space, read_only=read_only) as memory:
        found = memory.search(
            query,
            limit=limit,
            kind=kind.value,
            session=session,
            asked_at=_moment("--asked-at", asked_at),
            min_trust=min_trust,
            speaker=speaker,
            role=role,
            said_after=after,
            said_before=before,
            where=wanted,
        )

    def view() -> Any:
        from tiermem.apps.present.tables import evidence_view

        return evidence_view(found) if found else "nothing found"

    _show({"query": query, "kind": kind.value, "results": found}, view, as_json=as_json)


@app.command()
def audit(
    answer_id: Annotated[str | None, typer.Argument(help="An answer's id (the newest answer).")] = None,
    *,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
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
    read_only: LooksOption = False,
    as_json: JsonOption = False,
) -> None:
    """Follow an answer to its citations and the words as they stand in their pages."""
    if bundle is not None:
        _bundle(
            store,
            space,
            answer_id,
            bundle,
            whole_pages=whole_pages,
            kept=checkpoint,
            private_key=sign,
            as_json=as_json,
        )
        return
    from tiermem.apps.present.reading_cost import reading_cost

    with _memory(store, space, read_only=True) as memory:
        trail = memory.audit(answer_id or _newest_answer(memory))
        standing = {place.page_id for cited in trail.citations for place in cited.standing}
        pages = {page_id: memory.page(page_id) for page_id in standing}
        cost = reading_cost(memory, trail.answer)

    def view() -> Any:
        from tiermem.apps.present.answers import audit_view
        from tiermem.apps.present.terminal import out

        return audit_view(trail, pages, cost, out())

    _show(
        {"intact": trail.intact, "answer": trail.answer, "citations": trail.citations}, view, as_json=as_json
    )


@app.command()
def replay(
    answer_id: Annotated[str | None, typer.Argument(help="An answer's id (the newest answer).")] = None,
    *,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    rerun: Annotated[
        bool, typer.Option("--rerun", help="Ask again over the memory as it stood, and show what differs.")
    ] = False,
    engine: EngineOption = Engine.AUTO,
    read_only: ReadOnlyOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show how a past answer came about: candidates, scores, route, prompts and checks, as they were."""
    if rerun and read_only:
        raise typer.BadParameter("what asking again costs is recorded", param_hint="--read-only")
    with _memory(store, space, read_only=not rerun, engine=engine.value) as memory:
        past = memory.replay(answer_id or _newest_answer(memory), rerun=rerun)

    def view() -> Any:
        from tiermem.apps.cli.replay import replay_view

        return replay_view(past)

    _show(past, view, as_json=as_json)


@app.command()
def answers(
    *,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    read_only: LooksOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the answers given, with the ids to audit them by."""
    with _memory(store, space, read_only=True) as memory:
        given = memory.answers()

    def view() -> Any:
        from tiermem.apps.present.tables import answers_view

        return answers_view(given) if given else "no answers yet"

    _show({"answers": given}, view, as_json=as_json)


@app.command()
def page(
    page_id: Annotated[str, typer.Argument(help="A page id, or a beginning that only one page has.")],
    *,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    read_only: LooksOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print a page: what was said, verbatim."""
    with _memory(store, space, read_only=True) as memory:
        begins = [info.id for info in memory.pages() if info.id.startswith(page_id)]
        found = memory.page(begins[0] if len(begins) == 1 else page_id)

    def view() -> Any:
        from tiermem.apps.present.answers import page_view
        from tiermem.apps.present.terminal import out

        return page_view(found, out())

    _show(found, view, as_json=as_json)


@app.command()
def pages(
    *,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    session: SessionOption = None,
    read_only: LooksOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the pages, sealed ones and those still filling."""
    with _memory(store, space, read_only=True) as memory:
        sealed, filling = memory.pages(session), memory.open_pages(session)

    def view() -> Any:
        from tiermem.apps.present.tables import pages_view

        return pages_view(sealed, filling) if sealed or filling else "no pages yet"

    _show({"pages": sealed, "open": [page.id for page in filling]}, view, as_json=as_json)


@app.command()
def units(
    *,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    session: SessionOption = None,
    as_of: Annotated[str | None, typer.Option(help="As they stood then.")] = None,
    read_only: LooksOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the summary units and the pages they rest on."""
    with _memory(store, space, read_only=True) as memory:
        listed = memory.units(session, as_of=_moment("--as-of", as_of))

    def view() -> Any:
        from tiermem.apps.present.tables import units_view

        return units_view(listed) if listed else "no summary units yet"

    _show({"units": listed}, view, as_json=as_json)


@app.command()
def stats(
    *,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    read_only: LooksOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say how a memory stands: what it holds, what waits, what the summaries lost, tokens saved."""
    with _memory(store, space, read_only=True, engine="auto") as memory:
        standing = memory.stats()

    def view() -> Any:
        from tiermem.apps.present.tables import stats_view

        return stats_view(standing)

    _show(standing, view, as_json=as_json)


@app.command()
def omissions(
    page: Annotated[str | None, typer.Option(help="Only this page (a beginning of its id).")] = None,
    *,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    session: SessionOption = None,
    read_only: LooksOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say what the summaries lost: numbers, dates, names, negations and rare words no unit keeps."""
    with _memory(store, space, read_only=True) as memory:
        report = memory.omissions(page and _page_id(memory, page), session=session)

    def view() -> Any:
        from tiermem.apps.cli.replay import omissions_view

        return omissions_view(report) if report.pages else "no summarised pages yet"

    shown = {"literals": report.literals, "lost": report.lost, "rate": report.rate, "report": report}
    _show(shown, view, as_json=as_json)


@app.command()
def redistil(
    page_id: Annotated[str, typer.Argument(help="A page id, or a beginning that only one page has.")],
    *,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    engine: EngineOption = Engine.AUTO,
    as_json: JsonOption = False,
) -> None:
    """Summarise a page again, told what its summaries lost. New units are added; nothing is removed."""
    with _memory(store, space, engine=engine.value) as memory:
        done = memory.redistil(_page_id(memory, page_id))

    def view() -> Any:
        from tiermem.apps.cli.replay import redistilled_view

        return redistilled_view(done)

    _show(done, view, as_json=as_json)


@app.command()
def verify(
    *,
    store: StoreOption = DEFAULT_STORE,
    space: Annotated[str | None, typer.Option("--space", help="Only this one (all of them).")] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            "--against",
            help="Checkpoints kept elsewhere, which must still be part of the log.",
        ),
    ] = None,
    key: Annotated[Path | None, typer.Option(help="Public key that must have signed them.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the checkpoints here, to keep elsewhere.")] = None,
    read_only: LooksOption = False,
    as_json: JsonOption = False,
) -> None:
    """Re-derive every hash and name what is damaged (exit code 3)."""
    from tiermem.apps.cli.checkpoint_files import write_checkpoints
    from tiermem.apps.cli.verify_bundle import trusted_checkpoints

    known = trusted_checkpoints(against, key)
    reports = []
    for name in _spaces(store) if space is None else (space,):
        with _memory(store, name, read_only=True) as memory:
            reports.append(memory.verify(known.get(name)))
    if save is not None:
        write_checkpoints(save, [report.checkpoint for report in reports])
    ok = all(report.ok for report in reports)

    def view() -> Any:
        from tiermem.apps.present.tables import verify_view

        return verify_view(reports)

    _show({"ok": ok, "spaces": reports}, view, as_json=as_json)
    if not ok:
        raise typer.Exit(EXIT_DAMAGE)


@app.command()
def checkpoint(
    *,
    store: StoreOption = DEFAULT_STORE,
    space: Annotated[str | None, typer.Option("--space", help="Only this one (all of them).")] = None,
    sign: Annotated[Path | None, typer.Option(help="Private key (Ed25519, PEM) to sign with.")] = None,
    to: Annotated[Path | None, typer.Option("--out", help="Write them here, to keep elsewhere.")] = None,
    read_only: LooksOption = False,
    as_json: JsonOption = False,
) -> None:
    """Commit to everything so far: size and root of each space's Merkle tree, signed if you like."""
    from tiermem.apps.cli.checkpoint_files import write_checkpoints
    from tiermem.apps.cli.verify_bundle import checkpoints_view, signatures_of

    made = []
    for name in _spaces(store) if space is None else (space,):
        with _memory(store, name, read_only=True) as memory:
            made.append(memory.checkpoint())
    signatures = signatures_of(made, sign)
    if to is not None:
        write_checkpoints(to, made, signatures=signatures)
    shown = {"checkpoints": made, "signatures": signatures}
    _show(shown, lambda: checkpoints_view(made, signatures), as_json=as_json)


@app.command()
def verify_bundle(
    file: Path,
    *,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Checkpoints kept elsewhere, one of them of the bundle's space.")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="Public key that must have signed the checkpoint.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Check an audit bundle, offline and without a store (exit code 3 when it does not hold)."""
    from tiermem.apps.cli.verify_bundle import check_bundle, report_view

    report = check_bundle(file, kept=checkpoint, public_key=key)
    _show({"ok": report.ok, "report": report}, lambda: report_view(report), as_json=as_json)
    if not report.ok:
        raise typer.Exit(EXIT_DAMAGE)


@app.command()
def reindex(
    store: StoreOption = DEFAULT_STORE,
    space: Annotated[
        str | None, typer.Option("--space", help="Only this one (the whole index is made anew).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Rebuild the index from pages and ledger, without a model call."""
    from tiermem.apps.cli.reindex import rebuild, rebuild_space, rebuilt_view

    done = rebuild(store, _spaces(store)) if space is None else (rebuild_space(store, space),)
    _show({"spaces": done}, lambda: rebuilt_view(done), as_json=as_json)


@app.command()
def erase(
    *,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    turn: Annotated[
        str | None, typer.Option("--turn", help="A turn: its number in the log, or its id (with --session).")
    ] = None,
    page: Annotated[str | None, typer.Option("--page", help="A page, or a beginning of its id.")] = None,
    session: Annotated[
        str | None, typer.Option("--session", help="A session, or the turn's session.")
    ] = None,
    whole_space: Annotated[bool, typer.Option("--whole-space", help="Everything of the space.")] = False,
    reason: ReasonOption,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Take words out of memory for ever, with all that rests on them. Exit code 3 when any may be left.

    Bundles, exports, copies and backups made before keep them.
    """
    from tiermem.apps.cli.erase import named, receipt_view

    with _memory(store, space) as memory:
        where = str(memory.space)
        what = named(turn, page, session, space=where if whole_space else None)
        if not yes:
            typer.confirm(f"Erase {what} from space {where!r} for ever?", abort=True, err=True)
        receipt = memory.erase(
            turn=int(turn) if turn is not None and turn.isdecimal() and session is None else turn,
            page=None if page is None else _page_id(memory, page),
            session=session,
            space=whole_space,
            reason=reason,
        )
    _show(receipt, lambda: receipt_view(receipt), as_json=as_json)
    if not receipt.residual.clean:
        raise typer.Exit(EXIT_DAMAGE)


@app.command()
def withdraw(
    unit_id: UnitArgument,
    *,
    reason: ReasonOption,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take back a unit: it is recalled no more, nor are its words; what it superseded returns."""
    from tiermem.apps.cli.erase import withdrawn_view

    with _memory(store, space) as memory:
        done = memory.withdraw(_unit_id(memory, unit_id), reason=reason)
    _show(done, lambda: withdrawn_view(done), as_json=as_json)


@app.command()
def reinstate(
    unit_id: UnitArgument,
    *,
    reason: ReasonOption,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Undo `withdraw`: the unit holds again, and so do its words."""
    from tiermem.apps.cli.erase import restored_view

    with _memory(store, space) as memory:
        done = memory.restore(_unit_id(memory, unit_id), reason=reason)
    _show(done, lambda: restored_view(done), as_json=as_json)


@app.command()
def remember(
    fact: Annotated[str, typer.Argument(help="What to remember, in a sentence.")],
    *,
    speaker: Annotated[str | None, typer.Option(help="Who states it (user).")] = None,
    session: Annotated[str, typer.Option("--session", help="The session it is said in.")] = "main",
    trust: Annotated[str | None, typer.Option(help="How far to trust it.")] = None,
    metadata: MetadataOption = None,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep a fact word for word, as a turn and a unit of its own; without a model call."""
    from tiermem.apps.cli.erase import remembered_view

    known = _pairs("--metadata", metadata)
    with _memory(store, space) as memory:
        done = memory.remember(fact, session=session, speaker=speaker, trust=trust, metadata=known)
    _show(done, lambda: remembered_view(done), as_json=as_json)


@app.command()
def correct(
    unit_id: UnitArgument,
    text: Annotated[str, typer.Argument(help="What holds in its place, in a sentence.")],
    *,
    speaker: Annotated[str | None, typer.Option(help="Who states it (user).")] = None,
    session: Annotated[str | None, typer.Option("--session", help="Said in this one (the unit's).")] = None,
    trust: Annotated[str | None, typer.Option(help="How far to trust it.")] = None,
    metadata: MetadataOption = None,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remember a fact in place of a unit, which it supersedes."""
    from tiermem.apps.cli.erase import remembered_view

    known = _pairs("--metadata", metadata)
    with _memory(store, space) as memory:
        unit = _unit_id(memory, unit_id)
        done = memory.correct(unit, text, session=session, speaker=speaker, trust=trust, metadata=known)
    _show(done, lambda: remembered_view(done), as_json=as_json)


@app.command()
def trail(
    unit_id: UnitArgument,
    *,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    read_only: LooksOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show what a unit superseded and what superseded it, each with the words it rests on."""
    from tiermem.apps.cli.erase import trail_view

    with _memory(store, space, read_only=True) as memory:
        standing = memory.trail(_unit_id(memory, unit_id))
    _show({"trail": standing}, lambda: trail_view(standing), as_json=as_json)


@app.command()
def backup(
    store: Annotated[Path, typer.Argument(help="Directory of the memory.")],
    dest: Annotated[Path, typer.Argument(help="The file to write, say memory.tar.gz.")],
    *,
    space: Annotated[str | None, typer.Option("--space", help="Only this one (all of them).")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the file if it exists.")] = False,
    read_only: LooksOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write one file of a store: every page and everything concluded, without the index.

    It may be made while another process writes. What is erased from the memory later stays in the file.
    """
    from tiermem.apps.cli.backup import back_up, backed_up_view

    done = back_up(store, dest, space=space, replace=replace)
    _show(done, lambda: backed_up_view(done), as_json=as_json)


@app.command()
def restore(
    archive: Annotated[Path, typer.Argument(help="A file that `tiermem backup` wrote.")],
    store: Annotated[Path, typer.Argument(help="Directory to make.")],
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Remove the store that is there, with everything in it.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Make a store of a backup, every hash checked. The index is made anew when a space is first used."""
    from tiermem.apps.cli.backup import restored, restored_view

    done = restored(archive, store, replace=replace)
    shown = {"archive": archive, "store": store, "spaces": done}
    _show(shown, lambda: restored_view(done, store), as_json=as_json)


@app.command()
def export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to; - writes to standard output.")],
    *,
    store: StoreOption = DEFAULT_STORE,
    space: SpaceOption = None,
    session: SessionOption = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the file if it exists.")] = False,
    read_only: LooksOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write the dialogue of a space as JSON lines, which `tiermem ingest` reads back.

    What was erased is not in it, and what is erased later stays in it.
    """
    from tiermem.apps.cli.backup import exported, exported_in_words

    with _memory(store, space, read_only=True) as memory:
        done = exported(memory, file, session=session, replace=replace)
    told = exported_in_words(done, file)
    if file == "-":
        remark(told)
    else:
        _show(done, lambda: told, as_json=as_json)


@app.command()
def doctor(
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Look at what a memory needs here: weights, model, index, store, room (exit code 1: some is missing)."""
    from tiermem.apps.cli.doctor import doctor_view, examined

    findings = examined(store)
    ok = all(finding.verdict != "missing" for finding in findings)
    _show({"ok": ok, "findings": findings}, lambda: doctor_view(findings), as_json=as_json)
    if not ok:
        raise typer.Exit(EXIT_ERROR)


@app.command()
def spaces(
    *, store: StoreOption = DEFAULT_STORE, read_only: LooksOption = False, as_json: JsonOption = False
) -> None:
    """List the spaces of a store."""
    names = _spaces(store)
    _show({"store": store, "spaces": names}, lambda: "\n".join(names) or "no spaces yet", as_json=as_json)


def _bundle(
    store: Path,
    space: str | None,
    answer_id: str | None,
    to: Path,
    *,
    whole_pages: bool,
    kept: Path | None,
    private_key: Path | None,
    as_json: bool,
) -> None:
    """What `audit --bundle` does: write the file, say what it holds."""
    from tiermem.apps.cli.verify_bundle import bundle_view, write_bundle

    with _memory(store, space, read_only=True) as memory:
        made = write_bundle(
            memory,
            answer_id or _newest_answer(memory),
            to,
            whole_pages=whole_pages,
            kept=kept,
            private_key=private_key,
        )
    shown = {"file": to, "answer": made.answer, "checkpoint": made.checkpoint, "signature": made.signature}
    _show(shown, lambda: bundle_view(made, to), as_json=as_json)


def _spaces(store: Path) -> tuple[str, ...]:
    import tiermem

    return tuple(tiermem.spaces(store))


def _memory(
    store: Path,
    space: str | None,
    *,
    engine: Literal["auto", "local", "model"] = "local",
    read_only: bool = False,
) -> Memory:
    """The memory of a space that exists. Without a name: the only space, or the default one."""
    import tiermem

    return tiermem.open(
        store, space=space or _only_space(store), engine=engine, read_only=read_only, create=False
    )


def _looking(
    store: Path,
    space: str | None,
    *,
    engine: Literal["auto", "local", "model"] = "local",
    read_only: bool,
) -> Memory:
    """A memory to look into. While another process has it open for writing, and where asked to, read-only."""
    from pagestore.errors import Locked
    from tiermem.errors import IndexLocked

    if not read_only:
        try:
            return _memory(store, space, engine=engine)
        except (Locked, IndexLocked):
            remark("another process has this memory open for writing: looking read-only, nothing is recorded")
    return _memory(store, space, engine=engine, read_only=True)


def _only_space(store: Path) -> str:
    names = _spaces(store)
    if DEFAULT_SPACE in names or not names:
        return DEFAULT_SPACE
    if len(names) == 1:
        return names[0]
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    raise InvalidInput(f"{store} holds {len(names)} spaces: name one with --space ({shown})")


def _newest_answer(memory: Memory) -> str:
    given = memory.answers()
    if not given:
        raise InvalidInput(f"space {memory.space!r} has given no answer yet: `tiermem ask` gives one")
    return given[-1].id


def _page_id(memory: Memory, written: str) -> str:
    """The id of the one page whose id begins so; as it is written where none or several do."""
    begins = [info.id for info in memory.pages() if info.id.startswith(written)]
    return begins[0] if len(begins) == 1 else written


def _unit_id(memory: Memory, written: str) -> str:
    """The unit whose id this is, or the only one, active or taken back, whose id begins so."""
    taken = (one.unit_id for page in memory.pages() for one in page.taken_back)
    known = dict.fromkeys((*(unit.id for unit in memory.units()), *taken))
    begins = [unit_id for unit_id in known if unit_id.startswith(written)]
    return begins[0] if len(begins) == 1 else written


def _moment(option: str, written: str | None) -> datetime | None:
    """The moment an option writes, in the local time zone where it names none."""
    from tiermem.dialogue import parse_time, until

    try:
        moment = (until if option == "--as-of" else parse_time)(written)
        return moment if moment is None or moment.tzinfo else moment.astimezone()
    except InvalidInput as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def _budget(written: str | None) -> Budget | None:
    """The limits an option writes: names and numbers of `Budget`, comma-separated."""
    if written is None:
        return None
    import math

    from tiermem.model import Budget

    whole: dict[str, Callable[[str], float]] = {"calls": int, "tokens": int, "seconds": float, "cost": float}
    limits: dict[str, Any] = {}
    for part in written.split(","):
        name, _, number = part.strip().partition("=")
        try:
            limits[name] = whole[name](number)
        except (KeyError, ValueError):
            limits[name] = -1
        if not 0 <= limits[name] < math.inf:
            told = f"{part.strip()!r} is no limit; write calls=5,tokens=4000,seconds=20,cost=0.05"
            raise typer.BadParameter(told, param_hint="--budget")
    return Budget(**limits)


def _pairs(option: str, written: list[str] | None) -> dict[str, str | float | bool] | None:
    """What options of KEY=VALUE tell; `true`, `false` and numbers are what they say, all else is text."""
    if not written:
        return None
    import json

    told: dict[str, str | float | bool] = {}
    for pair in written:
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise typer.BadParameter(f"{pair!r} is no KEY=VALUE", param_hint=option)
        try:
            read = json.loads(value)
        except ValueError:
            read = value
        told[key] = read if isinstance(read, str | int | float) else value
    return told


def _command(name: str, argument: str, store: Path, space: str | None) -> str:
    """A command line that leads to the same store and space, as short as it may be."""
    import os
    import shlex

    from tiermem.apps.present.terminal import program

    usual = os.environ.get("TIERMEM_STORE", str(DEFAULT_STORE))
    where = [] if str(store) == usual else ["--store", str(store)]
    if space is not None and space != os.environ.get("TIERMEM_SPACE"):
        where += ["--space", space]
    return f"{program()} {shlex.join([name, argument, *where])}"


def _show(value: object, view: Any, *, as_json: bool) -> None:
    """Print `value` as JSON, or what `view` makes of it for a person."""
    if as_json:
        from tiermem.apps.present.as_json import print_json

        print_json(value)
        return
    from tiermem.apps.present.terminal import out

    shown = view()
    console = out()
    for part in shown if isinstance(shown, tuple) else (shown,):
        console.print(part, soft_wrap=part is not shown)
