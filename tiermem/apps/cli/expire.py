"""`tiermem expire`: erases old turns of one kind out of the sessions of coding agents."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from tiermem.apps.cli import options
from tiermem.apps.cli.erase import displayed_turns, show_receipt
from tiermem.apps.present.tables import plural
from tiermem.apps.present.terminal import err
from tiermem.dialogue import AgentTurnKind


def expire(
    *,
    place: options.SpaceOptions,
    kind: Annotated[AgentTurnKind, typer.Option("--kind", help="What the turns are.")],
    older: Annotated[
        str, typer.Option("--older", metavar="AGE", help="In hours, days or weeks: 12h, 30d, 4w.")
    ],
    reason: Annotated[str, typer.Option("--reason", help="Why. It stays on record (kind and age).")] = "",
    dry_run: options.DryRun = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    output: options.Output,
) -> None:
    """Erase old turns of one kind out of the sessions of coding agents. Exit code 3 as for `erase`.

    It is one erasure with one receipt. Turns without a time stay, and so do those of other sessions.
    """
    with place.open(read_only=dry_run) as memory:
        run = partial(memory.expire, kind=kind, older=older, reason=reason)
        if not (yes or dry_run):
            plan = run(dry_run=True)
            if plan.erasure.turns:
                err().print(*displayed_turns(plan), sep="\n")
                what = f"{plural(len(plan.erasure.turns), 'turn')} from space {str(memory.space)!r}"
                typer.confirm(f"Erase {what} for ever?", abort=True, err=True)
        receipt = run(dry_run=dry_run)
    if receipt.erasure.turns:
        show_receipt(receipt, output)
    else:
        nothing = f"nothing: no {kind} in a session of a coding agent is older than {older}"
        output.show(receipt, lambda: nothing)
