"""`python -m eval memtier`: MemTier's retrieval again, without a language model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[Path, typer.Option("--data", help="LongMemEval's JSON, plain, .gz or .xz.")]
Meaning = Annotated[
    bool, typer.Option("--meaning", help="Embed as well, for the rows that need it (minutes; needs weights).")
]
Threads = Annotated[int, typer.Option("--threads", min=1, help="Threads of the local embedder.")]
Cache = Annotated[Path | None, typer.Option("--cache", help="Where embeddings are kept between runs.")]
Page = Annotated[Path | None, typer.Option("--page", help="Write what was found to this file, as Markdown.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]


def memtier_command(
    *,
    data: Data,
    meaning: Meaning = False,
    threads: Threads = 1,
    cache: Cache = None,
    page: Page = None,
    as_json: JsonOption = False,
) -> None:
    """MemTier on LongMemEval: what is found, how many sessions, which signals have a say."""
    from functools import partial

    import anyio

    from eval.memtier.asking import ask_file
    from eval.memtier.page import found
    from eval.reproduction import present

    asked = anyio.run(partial(ask_file, data, meaning=meaning, threads=threads, cache=cache))
    command = f"python -m eval memtier --data {data.name}{' --meaning' * meaning}"
    present(found(asked, command=command, data=data.name), page_to=page, as_json=as_json)
