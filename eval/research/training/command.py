"""`python -m eval.research learn`: MemTier's weights by PPO, and why they change nothing."""

from __future__ import annotations

from typing import Annotated

import typer

from eval.options import AsJson, Cache, Haystacks, PageTo, Threads

Meaning = Annotated[
    bool, typer.Option("--meaning", help="Embed as well, and learn a weight of meaning (needs weights).")
]


def learn_command(
    *,
    data: Haystacks,
    meaning: Meaning = False,
    threads: Threads = 1,
    cache: Cache = None,
    page: PageTo = None,
    as_json: AsJson = False,
) -> None:
    """Learn the weights of MemTier's score by PPO, and diagnose what came of it."""
    from functools import partial

    import anyio

    from eval.research.memtier.asking import ask_file
    from eval.research.reproduction import present
    from eval.research.training.page import found
    from eval.research.training.study import learn, trap, variants

    asked = anyio.run(partial(ask_file, data, meaning=meaning, threads=threads, cache=cache, variants=False))
    learned = [learn(one, asked.pools) for one in variants(meaning=meaning)]
    command = f"python -m eval.research learn --data {data.name}{' --meaning' * meaning}"
    present(
        found(learned, trap(asked.pools), command=command, data=data.name, checksum=asked.checksum),
        page_to=page,
        as_json=as_json,
    )
