"""`python -m eval learn`: MemTier's weights by PPO, and why they change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[Path, typer.Option("--data", help="LongMemEval's JSON, plain, .gz or .xz.")]
Meaning = Annotated[
    bool, typer.Option("--meaning", help="Embed as well, and learn a weight of meaning (needs weights).")
]
Threads = Annotated[int, typer.Option("--threads", min=1, help="Threads of the local embedder.")]
Cache = Annotated[Path | None, typer.Option("--cache", help="Where embeddings are kept between runs.")]
Page = Annotated[Path | None, typer.Option("--page", help="Write what was found to this file, as Markdown.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]


def learn_command(
    *,
    data: Data,
    meaning: Meaning = False,
    threads: Threads = 1,
    cache: Cache = None,
    page: Page = None,
    as_json: JsonOption = False,
) -> None:
    """Learn the weights of MemTier's score by PPO, and diagnose what came of it."""
    from functools import partial

    import anyio

    from eval.memtier.asking import ask_file
    from eval.reproduction import present
    from eval.training.page import found
    from eval.training.study import learn, trap, variants

    asked = anyio.run(partial(ask_file, data, meaning=meaning, threads=threads, cache=cache, variants=False))
    learned = [learn(one, asked.pools) for one in variants(meaning=meaning)]
    command = f"python -m eval learn --data {data.name}{' --meaning' * meaning}"
    present(
        found(learned, trap(asked.pools), command=command, data=data.name, checksum=asked.checksum),
        page_to=page,
        as_json=as_json,
    )
