"""Erasing for a caller: the log and the index, recorded calls, and a look for words that are left."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from anyio import to_thread

from tiermem.api.caller import SpaceCaller
from tiermem.api.leftovers import LEFT_TO_THE_OWNER, LeftoverScan, leftover_scan, not_looked, scan_tables
from tiermem.api.results import NOT_REACHED, NOT_REACHED_OF_A_DATABASE, Receipt, redact_receipt
from tiermem.llm.interface import CountsKept, Forgets
from tiermem.runtime.components import Components
from tiermem.storage import HasTables
from tiermem.text.fingerprints import Fingerprints
from tiermem.writing import Erasure, Selection


async def erase(caller: SpaceCaller, selection: Selection, reason: str) -> Receipt:
    """Erase what is selected, with the words of it that were kept elsewhere in the store.

    Nothing else may use the space meanwhile. Raises `ReadOnly`.
    """
    components, opened = caller.writable, caller.opened
    before = components.ledger.tier1
    erasure, words = await components.writer.eraser.erase(selection, reason)
    await opened.drop_revoked_items()
    calls = await _forget_calls(components, words)
    opened.jobs.forget(words.are_in)
    scan = await scan_leftovers(caller, words) if caller.agent is None else LEFT_TO_THE_OWNER
    receipt = _receipt(components, reason, erasure, calls, scan)
    return receipt if caller.agent is None else redact_receipt(receipt, before, caller.sees)


async def plan_erasure(caller: SpaceCaller, selection: Selection, reason: str) -> Receipt:
    """What `erase` would do now, with the words of the turns; nothing is done."""
    components = caller.components
    proposal = await components.writer.eraser.propose(selection, reason)
    scan = not_looked(proposal.fingerprints, "every file: nothing was erased")
    calls = await _count_calls(components, proposal.fingerprints)
    receipt = replace(
        _receipt(components, reason, proposal.erasure, calls, scan), proposed=True, words=proposal.words
    )
    return receipt if caller.agent is None else redact_receipt(receipt, components.ledger.tier1, caller.sees)


async def scan_leftovers(caller: SpaceCaller, words: Fingerprints) -> LeftoverScan:
    """Look for words in every file or table of the store, without other spaces."""
    components = caller.components
    store: object = components.store
    index: object = components.index
    if isinstance(store, HasTables):
        values = store.values(components.ledger.space)
        if isinstance(index, HasTables):
            values = chain(values, index.values(components.ledger.indexed_as))
        return await to_thread.run_sync(scan_tables, values, words)
    return await to_thread.run_sync(leftover_scan, components.directory, components.ledger.space, words)


def _receipt(
    components: Components, reason: str, erasure: Erasure, calls: int | None, leftovers: LeftoverScan
) -> Receipt:
    store: object = components.store
    return Receipt(
        space=components.ledger.space,
        reason=reason,
        erasure=erasure,
        recorded_calls=calls,
        leftovers=leftovers,
        not_reached=NOT_REACHED_OF_A_DATABASE if isinstance(store, HasTables) else NOT_REACHED,
    )


async def _count_calls(components: Components, words: Fingerprints) -> int | None:
    """Calls with the words in them that `_forget_calls` would destroy; `None` where the model cannot tell."""
    model: object = components.model
    if not words or not isinstance(model, Forgets):
        return 0
    return await model.count_kept(words.are_in) if isinstance(model, CountsKept) else None


async def _forget_calls(components: Components, words: Fingerprints) -> int:
    """Destroy calls with the words in them in the recording of a model that keeps one."""
    model: object = components.model
    if not words or not isinstance(model, Forgets):
        return 0
    return await model.forget(words.are_in)
