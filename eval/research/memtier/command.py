"""`python -m eval.research memtier`: MemTier's retrieval again, without a language model."""

from __future__ import annotations

from pathlib import Path
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


def episodes_command(
    store: Annotated[Path, typer.Argument(help="The folder of a store.")],
    folder: Annotated[Path, typer.Argument(help="A new folder: in it a folder an agent, and a file a day.")],
    *,
    space: Annotated[str, typer.Option("--space", help="Which of its spaces.")] = "default",
    agent: Annotated[
        str | None, typer.Option("--agent", help="What this agent may see, instead of all.")
    ] = None,
) -> None:
    """Write the dialogue of a store as MemTier's episodes."""
    import tiermem
    from eval.research.memtier.episodes import write_episodes

    with tiermem.open(store, space=space, engine="local", read_only=True) as memory:
        written = write_episodes(memory if agent is None else memory.as_agent(agent), folder)
    typer.echo(f"{written} episodes")
