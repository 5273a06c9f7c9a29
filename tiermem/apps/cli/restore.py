"""`tiermem restore`: what the store made of a backup holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

import tiermem
from pagestore.backup import SavedSpace
from tiermem.apps.cli import options
from tiermem.apps.present.progress import progress
from tiermem.apps.present.tables import figures_table
from tiermem.storage import StorePlace
from tiermem.text.unicode import show_controls


def restore(
    archive: Annotated[
        Path, typer.Argument(help="A file that `tiermem backup` wrote.", callback=options.expand_home)
    ],
    store: Annotated[
        StorePlace, typer.Argument(help="Directory to make.", parser=options.parse_store, metavar="STORE")
    ],
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Remove the store that is there, with everything in it.")
    ] = False,
    output: options.Output,
) -> None:
    """Make a store of a backup, every hash checked. The index is built again when a space is first used."""
    directory = store.require_directory("restore", instead="`pg_restore` reads what `pg_dump` wrote")
    with progress(f"{store}: restoring", "MB", size=1_000_000) as report:
        done = tiermem.restore(archive, directory, replace=replace, progress=report)
    words = f"Every hash agrees. {show_controls(str(store))} is a store now; its index is made at first use."
    result = {"archive": archive, "store": str(store), "spaces": done}
    output.show(result, lambda: Group(saved_spaces(done), Text(words)))


def saved_spaces(saved: Sequence[SavedSpace]) -> Table:
    """What a backup holds, one row a space."""
    return figures_table(saved, ("turns", "pages", "records", "bytes"))
