"""`tiermem backup`: what a backup holds, and what it means for what is erased later."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text

import tiermem
from pagestore import SpaceId
from pagestore.backup import write_backup
from tiermem.apps.cli import options
from tiermem.apps.cli.restore import saved_spaces
from tiermem.apps.present.progress import progress
from tiermem.storage import StorePlace
from tiermem.text.unicode import show_controls


def backup(
    store: Annotated[
        StorePlace,
        typer.Argument(help="Directory of the memory.", parser=options.parse_store, metavar="STORE"),
    ],
    dest: Annotated[
        Path, typer.Argument(help="The file to write, say memory.tar.gz.", callback=options.expand_home)
    ],
    *,
    space: Annotated[str | None, typer.Option("--space", help="Only this one (all of them).")] = None,
    replace: options.Replace = False,
    looking: options.Looking,
) -> None:
    """Write one file of a store: every page and everything concluded, without the index.

    It may be made while another process writes. What is erased from the memory later stays in the file.
    """
    instead = "`pg_dump --schema tiermem` writes all of it"
    directory = store.require_directory("backup", instead=instead)
    spaces = None if space is None else [SpaceId(space)]
    with progress(f"{directory}: copying", "MB", size=1_000_000) as report:
        saved = write_backup(directory, dest, spaces=spaces, replace=replace, progress=report)
    done = tiermem.BackedUp(file=dest, bytes=dest.stat().st_size, spaces=saved)
    words = f"{show_controls(str(done.file))}: {done.bytes:,} bytes; {done.keeps}."
    looking.show(done, lambda: Group(saved_spaces(done.spaces), Text(words)))
