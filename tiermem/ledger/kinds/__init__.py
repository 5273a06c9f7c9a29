"""The kinds of records that the ledger writes, one file each: a new one is a file here and its line below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiermem.ledger.kind import Kind, LedgerEntry
from tiermem.ledger.kinds import (
    answered,
    bounded,
    chat_title,
    consolidated,
    distilled,
    erased,
    erasing,
    feedback,
    granted,
    redistilled,
    reinstated,
    retired,
    set_aside,
    shared,
    spent,
    stated,
    wrote_back,
)

KINDS: Mapping[str, Kind[Any]] = {
    kind.name: kind
    for kind in (
        distilled.KIND,
        answered.KIND,
        wrote_back.KIND,
        retired.KIND,
        reinstated.KIND,
        stated.KIND,
        redistilled.KIND,
        spent.KIND,
        erasing.KIND,
        erased.KIND,
        set_aside.KIND,
        bounded.KIND,
        consolidated.KIND,
        feedback.KIND,
        granted.KIND,
        shared.KIND,
        chat_title.KIND,
    )
}
"""Every kind by what the log calls it. Records of others are skipped: a newer version wrote them."""


def kind_of(entry: LedgerEntry) -> Kind[Any]:
    """The kind of an entry; raises `TypeError` for one that is none of `KINDS`."""
    for kind in KINDS.values():
        if kind.entry is type(entry):
            return kind
    raise TypeError(f"{type(entry).__name__} is of no kind that {__name__} lists")
