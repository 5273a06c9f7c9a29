"""`tiermem redistil`: what a second look at a page added, and what is lost even now."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.tables import pairs, plural, short
from tiermem.text.unicode import show_controls


def redistil(
    page_id: options.PageId,
    *,
    place: options.SpaceOptions,
    engine: options.Engine = "auto",
    output: options.Output,
) -> None:
    """Have a language model summarise a page again, given what its units leave out. Units are only added."""
    with place.open(engine=engine) as memory:
        done = memory.redistil(options.page_named(memory, page_id))
    output.show(done, lambda: _redistil_view(done))


def _redistil_view(done: tiermem.Redistilled) -> Group:
    rows: list[tuple[str, str | Text]] = [
        ("page", short(done.page_id)),
        ("in no unit before", f"{len(done.hints):,} literals and rare words"),
        ("in no unit now", f"{len(done.omissions):,} of {done.literals:,}"),
        ("added", f"{plural(len(done.units), 'unit')} by {done.made_by}"),
    ]
    rows += [("", Text(show_controls(unit.text), style="green")) for unit in done.units]
    if done.rejected:
        rows.append(("rejected", f"{plural(len(done.rejected), 'claim')} that the page does not prove"))
    return Group(pairs(rows))
