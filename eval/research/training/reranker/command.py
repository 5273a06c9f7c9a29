"""`python -m eval.research rerank`: what the lead of a reader counts in the order of turns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eval.options import AsJson, Cache, PageTo


def rerank_command(
    *,
    data: Annotated[Path, typer.Option("--data", help="The folder of data, with a folder for each source.")],
    out: Annotated[Path, typer.Option("--out", help="Where the judged turns go.")],
    reader: Annotated[
        Path | None,
        typer.Option("--reader", help="The file of a reader, instead of the one that is shipped."),
    ] = None,
    measure: Annotated[
        str, typer.Option("--measure", help="Conversations: fitted on halves A, told of halves B.")
    ] = "locomo,realtalk,beam",
    every: Annotated[int, typer.Option("--every", min=1, help="Only every so many-th question.")] = 1,
    int8: Annotated[
        str, typer.Option("--int8", help="Of them those that are embedded in eight bits.")
    ] = "beam",
    cache: Cache = None,
    page: PageTo = None,
    as_json: AsJson = False,
) -> None:
    """Judge the turns that searches find by a reader, and fit what that counts beside the search."""
    from functools import partial

    import anyio

    from eval.research.reproduction import present
    from eval.research.training.reranker.run import Fitting, run

    command = f"python -m eval.research rerank --data ../shared/data --out runs/rerank --measure {measure}"
    asked = Fitting(
        data=data,
        out=out,
        reader=reader,
        measure=_names(measure),
        int8=_names(int8),
        every=every,
        cache=cache,
        command=command + (f" --every {every}" if every > 1 else ""),
    )
    present(anyio.run(partial(run, asked)), page_to=page, as_json=as_json)


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip())
