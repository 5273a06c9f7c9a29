"""`python -m eval`: measure TierMem and what it is compared with, and report on what was measured."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from eval.bench.command import bench_command
from eval.options import AsJson, Bits, Cache, Threads
from eval.types import DatasetName, EngineName
from tiermem.apps.cli.group import CommandGroup
from tiermem.errors import InvalidInput, TierMemError

if TYPE_CHECKING:
    from eval.arrange import Extension, Request
    from eval.datasets import Choice
    from eval.judge import Style

_WIDE = 160
"""Columns where there is no terminal that knows its width."""

app = typer.Typer(
    name="eval",
    cls=CommandGroup,
    help="Measure retrieval and answers on LoCoMo, LongMemEval, REALTALK and BEAM, with baselines.\n\n"
    "A run is a folder; reports are computed from it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Dataset = Annotated[DatasetName, typer.Argument(help="Which benchmark the file holds.")]
Data = Annotated[
    Path,
    typer.Option(
        "--data",
        help="Its JSON, plain, .gz or .xz; of realtalk, beam and languages the folder, or a tar of it; "
        "of newcomer the folder.",
    ),
]

Systems = Annotated[
    str, typer.Option("--systems", help="Comma-separated; `tiermem eval systems` lists them.")
]
Out = Annotated[Path | None, typer.Option("--out", help="Folder of the run (runs/<dataset>-<kind>-<time>).")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run in --out, if there is one.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first conversations.")]
Questions = Annotated[
    int | None,
    typer.Option("--questions", min=1, help="Only so many, of every category its share; see --seed."),
]
Categories = Annotated[
    str | None, typer.Option("--categories", help="Only these categories, comma-separated.")
]
Conversations = Annotated[
    str | None, typer.Option("--conversations", help="Only these conversations, by id, comma-separated.")
]
Seed = Annotated[int, typer.Option("--seed", help="Another sample, and other names, for another number.")]
Rename = Annotated[
    bool,
    typer.Option(
        "--rename",
        help="Give people and places other names first: knowing the public data then helps nobody.",
    ),
]
Pile = Annotated[
    int | None,
    typer.Option(
        "--pile",
        min=0,
        metavar="SESSIONS",
        help="Put so many sessions of all conversations into one memory, 0 for all, and ask there.",
    ),
]
PrecisionOption = Annotated[
    Bits,
    typer.Option(
        "--precision", help="Of the local embedder: int8 is two to four times as fast, nearly as exact."
    ),
]
EngineOption = Annotated[
    EngineName,
    typer.Option(
        "--engine",
        help="local: lines as they were said, as in a memory without a model; the model of TIERMEM_MODEL; "
        "or recorded facts, with lines.",
    ),
]
Facts = Annotated[
    Path | None,
    typer.Option(
        "--facts", help="Directory of recorded facts, which are distilled in place of the engine's."
    ),
]
Units = Annotated[
    Literal["engine", "extract"],
    typer.Option("--units", help="What units are made by: the engine, or extract, without a model."),
]
JudgeOption = Annotated[
    str | None, typer.Option("--judge", help="Model that judges answers (without: by words).")
]
JudgeStyle = Annotated[
    str | None,
    typer.Option(
        "--judge-style", help="strict (without), generous (same topic or time), or both, comma-separated."
    ),
]
Prices = Annotated[Path | None, typer.Option("--prices", help="JSON of prices a million tokens, by model.")]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", min=1, help="Questions at once (1; 8 with a model).")
]
Keep = Annotated[
    bool,
    typer.Option(
        "--keep",
        help="Keep the memories in the run's folder: for `tiermem audit` and `python -m eval audit`.",
    ),
]


@app.command("retrieval")
def retrieval_command(
    context: typer.Context,
    dataset: Dataset,
    data: Data,
    *,
    systems: Systems = "bm25,dense,hybrid,tiermem",
    out: Out = None,
    resume: Resume = False,
    limit: Limit = None,
    questions: Questions = None,
    categories: Categories = None,
    conversations: Conversations = None,
    seed: Seed = 0,
    rename: Rename = False,
    pile: Pile = None,
    engine: EngineOption = "local",
    facts: Facts = None,
    concurrency: Concurrency = None,
    precision: PrecisionOption = "fp32",
    threads: Threads = 2,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Rank sessions, pages and turns for every question. Needs no key and no network."""
    from eval.arrange import Request

    request = Request(
        kind="retrieval",
        dataset=dataset,
        data=data,
        systems=_names(systems),
        out=_out(out, dataset, "retrieval", resume=resume),
        resume=resume,
        choice=_choice(
            limit=limit,
            questions=questions,
            categories=categories,
            conversations=conversations,
            seed=seed,
        ),
        rename=rename,
        pile=pile,
        engine=engine,
        facts=facts,
        concurrency=concurrency,
        precision=precision,
        threads=threads,
        cache=cache,
    )
    _run(_extension(context).change(request), as_json=as_json)


@app.command("qa")
def qa_command(
    context: typer.Context,
    dataset: Dataset,
    data: Data,
    *,
    systems: Systems = "tiermem,tiermem:summary,tiermem:raw,tiermem:no-links,bm25,dense,hybrid",
    out: Out = None,
    resume: Resume = False,
    limit: Limit = None,
    questions: Questions = None,
    categories: Categories = None,
    conversations: Conversations = None,
    seed: Seed = 0,
    rename: Rename = False,
    engine: EngineOption = "local",
    facts: Facts = None,
    units: Units = "engine",
    judge: JudgeOption = None,
    judge_style: JudgeStyle = None,
    prices: Prices = None,
    concurrency: Concurrency = None,
    precision: PrecisionOption = "fp32",
    threads: Threads = 2,
    cache: Cache = None,
    keep: Keep = False,
    as_json: AsJson = False,
) -> None:
    """Ask every question once; correctness, routing, tokens and latency side by side."""
    from eval.arrange import Request

    request = Request(
        kind="qa",
        dataset=dataset,
        data=data,
        systems=_names(systems),
        out=_out(out, dataset, "qa", resume=resume),
        resume=resume,
        choice=_choice(
            limit=limit,
            questions=questions,
            categories=categories,
            conversations=conversations,
            seed=seed,
        ),
        rename=rename,
        engine=engine,
        facts=facts,
        units=None if units == "engine" else "extract",
        judge=judge,
        judge_styles=_styles(judge_style),
        prices=prices,
        concurrency=concurrency,
        precision=precision,
        threads=threads,
        cache=cache,
        keep=keep,
    )
    _run(_extension(context).change(request), as_json=as_json)


@app.command("replay")
def replay_command(
    context: typer.Context,
    dataset: Dataset,
    data: Data,
    *,
    systems: Systems = "tiermem:no-recall,tiermem",
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="How often everything is asked.")] = 3,
    out: Out = None,
    resume: Resume = False,
    limit: Limit = None,
    questions: Questions = None,
    categories: Categories = None,
    conversations: Conversations = None,
    seed: Seed = 0,
    rename: Rename = False,
    engine: EngineOption = "local",
    facts: Facts = None,
    units: Units = "engine",
    judge: JudgeOption = None,
    judge_style: JudgeStyle = None,
    prices: Prices = None,
    concurrency: Concurrency = None,
    precision: PrecisionOption = "fp32",
    threads: Threads = 2,
    cache: Cache = None,
    keep: Keep = False,
    as_json: AsJson = False,
) -> None:
    """Ask everything several times; findings are written back between the epochs."""
    from eval.arrange import Request

    request = Request(
        kind="replay",
        dataset=dataset,
        data=data,
        systems=_names(systems),
        out=_out(out, dataset, "replay", resume=resume),
        resume=resume,
        choice=_choice(
            limit=limit,
            questions=questions,
            categories=categories,
            conversations=conversations,
            seed=seed,
        ),
        rename=rename,
        epochs=epochs,
        engine=engine,
        facts=facts,
        units=None if units == "engine" else "extract",
        judge=judge,
        judge_styles=_styles(judge_style),
        prices=prices,
        concurrency=concurrency,
        precision=precision,
        threads=threads,
        cache=cache,
        keep=keep,
    )
    _run(_extension(context).change(request), as_json=as_json)


@app.command("report")
def report_command(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs.")],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where report.md and report.html go (the first run).")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Print every table, with intervals.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compute the report again from what runs recorded."""
    _show(runs, out or runs[0], full=full, as_json=as_json)


@app.command("official")
def official_command(
    folder: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a run of qa or retrieval over longmemeval.")
    ],
    *,
    out: Annotated[Path, typer.Option("--out", help="The file to write.")],
    data: Annotated[
        Path | None, typer.Option("--data", help="The data of the run; for a run of retrieval.")
    ] = None,
    system: Annotated[str, typer.Option(help="Whose results.")] = "tiermem",
    documents: Annotated[
        Literal["turn", "session"], typer.Option(help="What of a run of retrieval is read.")
    ] = "turn",
) -> None:
    """Write what LongMemEval's own scripts read: answers for its judge, or what was found for its reader."""
    from eval.folder import RunFolder
    from eval.official import write_answers, write_found
    from tiermem.errors import InvalidInput

    run = RunFolder.open(folder)
    if run.manifest.kind != "retrieval":
        typer.echo(f"written: {out} ({write_answers(run, system, out)} answers)")
    elif data is None:
        raise InvalidInput("a run of retrieval needs --data, into which what was found is written")
    else:
        typer.echo(f"written: {out} ({write_found(run, data, system, documents, out)} questions)")


@app.command("audit")
def audit_command(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run made with --keep.")],
    *,
    rerun: Annotated[
        int | None,
        typer.Option("--rerun", min=0, help="Ask so many again over the memory of then (all; seconds each)."),
    ] = None,
    threads: Threads = 2,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Replay every answer of a kept run: the same candidates, scores, route and words. Exit code 1 if not."""
    from functools import partial

    import anyio

    from eval.arrange import audited
    from eval.folder import RunFolder

    opened = RunFolder.open(folder)
    variants = _extension(context).variants
    asked = partial(audited, opened, rerun=rerun, threads=threads, cache=cache, variants=variants)
    found = anyio.run(asked)
    if as_json:
        from tiermem.apps.present.as_json import print_json

        print_json(found)
    else:
        typer.echo(
            f"{found.answers} answers looked up, {found.asked_again} asked again, "
            f"{len(found.differing)} differ"
        )
        for one in found.differing:
            typer.echo(f"{one.system}, {one.case}, {one.answer_id}: {one.question}")
            for differs in one.differences:
                typer.echo(f"  {differs.what}: {differs.then!r} then, {differs.now!r} now")
    raise typer.Exit(int(bool(found.differing)))


app.command("bench")(bench_command)


@app.command("transcripts")
def transcripts_command(
    folder: Annotated[
        Path, typer.Argument(help="Samples with expected readings beside them, a folder an agent.")
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Count whose words are found, missed and invented in transcripts of coding agents."""
    import json
    from dataclasses import asdict

    from eval.transcripts import compare_readings, readings_page

    readings = compare_readings(folder)
    typer.echo(json.dumps([asdict(one) for one in readings]) if as_json else readings_page(readings))


@app.command("hooks")
def hooks_command(
    *,
    turns: Annotated[int, typer.Option(min=1, help="Turns of the repository's space.")] = 10_000,
    runs: Annotated[int, typer.Option(min=1, help="Of a new session, the end of a turn, a profile.")] = 20,
    appends: Annotated[int, typer.Option(min=1, help="Runs of a prompt.")] = 200,
    as_json: AsJson = False,
) -> None:
    """Measure the time of hooks of coding agents, to keep an event and to give a new session its block, and
    of a profile.
    """
    import json
    from dataclasses import asdict

    from eval.hooks import costs_page, measure_hooks

    costs = list(measure_hooks(turns, runs=runs, appends=appends))
    typer.echo(json.dumps([asdict(one) for one in costs]) if as_json else costs_page(costs))


@app.command("systems")
def systems_command() -> None:
    """List the systems that can take part."""
    from eval.systems import names

    for name in names():
        typer.echo(name)


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip())


def _styles(listed: str | None) -> tuple[Style, ...]:
    """As typed; what there is not is refused where the judge is made."""
    return () if listed is None else cast("tuple[Style, ...]", _names(listed))


def _choice(
    *,
    limit: int | None,
    questions: int | None,
    categories: str | None,
    conversations: str | None,
    seed: int,
) -> Choice:
    from eval.datasets import Choice

    return Choice(
        conversations=None if conversations is None else _names(conversations),
        limit=limit,
        categories=None if categories is None else _names(categories),
        questions=questions,
        seed=seed,
    )


def _out(given: Path | None, dataset: DatasetName, kind: str, *, resume: bool) -> Path:
    if given is None and resume:
        raise InvalidInput("--resume needs --out: the folder of the run to go on with")
    return given or Path("runs") / f"{dataset}-{kind}-{datetime.now(UTC):%Y%m%d-%H%M%S}"


def _extension(context: typer.Context) -> Extension:
    from eval.arrange import Extension

    return context.obj if isinstance(context.obj, Extension) else Extension()


def _run(request: Request, *, as_json: bool) -> None:
    import anyio

    from eval.arrange import run

    try:
        anyio.run(run, request)
    except BaseExceptionGroup as group:
        raise _one_cause(group) from group
    _show([request.out], request.out, full=False, as_json=as_json)


def _one_cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What went wrong among things done at once: the first of the errors that are told in one line."""
    expected, other = group.split(TierMemError)
    if expected is None or other is not None:
        return group
    first: BaseException = expected
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first


def _show(runs: list[Path], where: Path, *, full: bool, as_json: bool) -> None:
    from eval.arrange import write_reports
    from eval.folder import RunFolder
    from eval.report import report, terminal

    folders = [RunFolder.open(path) for path in runs]
    reports = [report(folder) for folder in folders]
    written = write_reports(folders, where)
    if as_json:
        from tiermem.apps.present.as_json import print_json

        print_json([_figures(one, path) for one, path in zip(reports, runs, strict=True)])
        return
    from tiermem.apps.present.terminal import out

    console = out()
    if not console.is_terminal:
        console.width = _WIDE
    for one in reports:
        console.rule(one.title)
        for part in terminal(one, full=full):
            console.print(part)
    for path in written:
        console.print(f"written: {path}")


def _figures(one: Any, path: Path) -> dict[str, Any]:
    return {"run": path, "title": one.title, "facts": one.facts, "numbers": one.numbers}
