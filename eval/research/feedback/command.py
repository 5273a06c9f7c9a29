"""`python -m eval.research feedback`: what outcomes of half of the questions do for the other half."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eval.options import AsJson, Bits, Cache, Threads

if TYPE_CHECKING:
    from eval.datasets import Choice
    from eval.research.feedback.halves import Halves

_WIDE = 160
"""Columns where there is no terminal that knows its width."""


def feedback_command(
    data: Annotated[Path, typer.Option("--data", help="LoCoMo's JSON, plain, .gz or .xz.")],
    *,
    facts: Annotated[
        Path | None,
        typer.Option(
            "--facts", help="Directory of recorded facts, which are distilled in place of the engine's."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first conversations.")] = None,
    conversations: Annotated[
        str | None, typer.Option("--conversations", help="Only these conversations, by id, comma-separated.")
    ] = None,
    swap: Annotated[bool, typer.Option("--swap", help="Judge the half that is looked up else.")] = False,
    precision: Annotated[
        Bits,
        typer.Option(
            "--precision", help="Of the local embedder: int8 is two to four times as fast, nearly as exact."
        ),
    ] = "fp32",
    threads: Threads = 2,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Judge half of LoCoMo's questions by their evidence: does that find more for the other half?"""
    from functools import partial

    import anyio

    from eval.datasets import Choice

    names = None if conversations is None else tuple(filter(None, map(str.strip, conversations.split(","))))
    choice = Choice(conversations=names, limit=limit)
    measure = partial(_judged_halves, data, facts=facts, choice=choice, swapped=swap)
    found = anyio.run(partial(measure, precision=precision, threads=threads, cache=cache))
    if as_json:
        from tiermem.apps.present.as_json import print_json

        print_json(found)
        return
    from eval.research.feedback.report import terminal
    from tiermem.apps.present.terminal import out

    console = out()
    if not console.is_terminal:
        console.width = _WIDE
    for part in terminal(found):
        console.print(part)


async def _judged_halves(
    data: Path,
    *,
    facts: Path | None,
    choice: Choice,
    swapped: bool,
    precision: Bits,
    threads: int,
    cache: Path | None,
) -> Halves:
    from eval.arrange import Request, dataset_of, engines_of, opened_embedder
    from eval.research.feedback.halves import halves_of, learnt

    request = Request(
        kind="retrieval",
        dataset="locomo",
        data=data,
        systems=(),
        out=Path(),
        choice=choice,
        engine="local" if facts is None else "recorded",
        facts=facts,
    )
    dataset, engine = dataset_of(request), engines_of(request)
    with opened_embedder(precision, threads, cache) as cached:
        learnt_cases = [
            await learnt(case, engine=engine.of(case.id), embedder=cached, swapped=swapped)
            for case in dataset.cases()
        ]
    return halves_of(learnt_cases, data=dataset.checksum, engine=engine.name)
