"""`python -m eval.research memtier`: MemTier's retrieval again, without a language model."""

from __future__ import annotations

from typing import Annotated

import typer

from eval.options import AsJson, Cache, Haystacks, PageTo, Threads

Meaning = Annotated[
    bool, typer.Option("--meaning", help="Embed as well, for the rows that need it (minutes; needs weights).")
]


def memtier_command(
    *,
    data: Haystacks,
    meaning: Meaning = False,
    threads: Threads = 1,
    cache: Cache = None,
    page: PageTo = None,
    as_json: AsJson = False,
) -> None:
    """MemTier on LongMemEval: what is found, how many sessions, which signals have a say."""
    from functools import partial

    import anyio

    from eval.research.memtier.asking import ask_file
    from eval.research.memtier.page import found
    from eval.research.reproduction import present

    asked = anyio.run(partial(ask_file, data, meaning=meaning, threads=threads, cache=cache))
    command = f"python -m eval.research memtier --data {data.name}{' --meaning' * meaning}"
    present(found(asked, command=command, data=data.name), page_to=page, as_json=as_json)
