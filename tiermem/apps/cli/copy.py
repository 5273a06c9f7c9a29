"""`tiermem copy`: a memory from one store to another, with a sign of life on stderr."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from pagestore import SpaceId
from tiermem.apps.cli import options
from tiermem.apps.present.progress import progress
from tiermem.apps.present.tables import figures_table
from tiermem.errors import InvalidInput
from tiermem.storage import StorePlace, copy_space, open_store
from tiermem.text.unicode import show_controls


def copy(
    source: Annotated[
        StorePlace,
        typer.Argument(help="Directory or URL of the memory.", parser=options.parse_store, metavar="SRC"),
    ],
    dest: Annotated[
        StorePlace,
        typer.Argument(help="Directory or URL to copy it to.", parser=options.parse_store, metavar="DST"),
    ],
    *,
    space: Annotated[str | None, typer.Option("--space", help="Only this one (all of them).")] = None,
    output: options.Output,
) -> None:
    """Copy a memory to another directory or database, with ids, proofs and answers. Run again, it goes on.

    Every hash is derived again in the copy. Open it there when it is done: a copy that went on of its own
    takes nothing more. The index is made when a space is first used there.
    """
    if source.address == dest.address:
        raise InvalidInput(f"{source.shown!r} is copied to itself: name another place to copy it to")
    done = []
    with closing(open_store(source, read_only=True)) as there, closing(open_store(dest)) as made:
        for name in there.spaces() if space is None else [SpaceId(space)]:
            with progress(f"{show_controls(name)}: copying", "records") as report:
                done.append(copy_space(there, made, name, progress=report))
    shown = {"source": str(source), "copy": str(dest), "spaces": done}
    output.show(shown, lambda: figures_table(done, ("turns", "pages", "records", "new")))
