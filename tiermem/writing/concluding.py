"""Recording what was concluded from words, of which another process may have erased some meanwhile."""

from __future__ import annotations

from tiermem.errors import ErasedMeanwhile
from tiermem.ledger import Ledger, LedgerEntry, Spent
from tiermem.model import Usage


async def write_conclusion(
    ledger: Ledger, entry: LedgerEntry, *, since: int, step: str, usage: Usage
) -> None:
    """Write an entry that a step concluded; `since` is what `Ledger.erasures_by_others` was when it began.

    Raises `ErasedMeanwhile` where another process erased words since: then what it cost is recorded alone.
    """
    if await ledger.write_unless_erased(entry, since=since) is not None:
        return
    if usage.calls:
        await ledger.write(Spent(step=step, usage=usage))
    raise ErasedMeanwhile(
        f"another process erased words of space {ledger.space!r} meanwhile, and nothing of this was "
        "recorded: try again"
    )
