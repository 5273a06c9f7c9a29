"""`tiermem reindex`: build the index again, of a whole store or of one space, with progress on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.progress import progress, show_activity
from tiermem.apps.present.tables import figures_table
from tiermem.storage import StorePlace


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """What the index holds of one space."""

    space: str
    units: int
    pages: int


def reindex(
    *,
    store: options.Store = options.DEFAULT_STORE,
    space: Annotated[
        str | None, typer.Option("--space", help="Only this one (by default the whole index).")
    ] = None,
    output: options.Output,
) -> None:
    """Rebuild the index from pages and ledger, without a model call."""
    done = (
        _rebuilt(store, tiermem.spaces(store.address)) if space is None else (_rebuilt_space(store, space),)
    )
    output.show({"spaces": done}, lambda: figures_table(done, ("units", "pages")))


def _rebuilt(store: StorePlace, spaces: Sequence[str]) -> tuple[Rebuilt, ...]:
    """Delete the index and put every space into a new one: also after a change of embedder or damage.

    Opening a space that the index does not hold puts it in, so nothing is asked for twice.
    """
    done = []
    for number, space in enumerate(spaces):
        with (
            progress(f"{space}: indexing", "spaces") as report,
            tiermem.open(
                store.address, space=space, engine="local", create=False, reindex=number == 0
            ) as memory,
        ):
            report(number + 1, len(spaces))
            stats = memory.stats()
        done.append(Rebuilt(space=space, units=stats.units, pages=stats.pages))
    return tuple(done)


def _rebuilt_space(store: StorePlace, space: str) -> Rebuilt:
    """Take one space out of the index and put it in again."""
    with (
        show_activity(f"{space}: indexing"),
        tiermem.open(store.address, space=space, engine="local", create=False) as memory,
    ):
        stats = memory.reindex()
    return Rebuilt(space=space, units=stats.units, pages=stats.pages)
