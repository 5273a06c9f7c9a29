"""Entries in the records of the log: their one form.

The rule: an entry is durable before anything that follows from it is done, and its form may only
grow. Fields that a newer version added are ignored, kinds that it added are skipped. A field that has its
default is not written, but for kinds that bundles show, so a default never changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from pagestore import Record
from pagestore.errors import Corrupt
from tiermem.ledger.kind import LedgerEntry
from tiermem.ledger.kinds import KINDS, kind_of

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def encode(entry: LedgerEntry) -> dict[str, Any]:
    """The body of the record: survives JSON unchanged, lone surrogates included."""
    kind = kind_of(entry)
    body: dict[str, Any] = _adapter(kind.name).dump_python(
        entry, mode="json", exclude_defaults=not kind.is_in_bundles
    )
    return body


def decode(record: Record) -> LedgerEntry | None:
    """The entry a record holds, `None` for a kind this version does not know; raises `Corrupt`."""
    return decode_body(record.kind, record.body, seq=record.seq)


def decode_body(name: str, body: Mapping[str, Any], *, seq: int) -> LedgerEntry | None:
    """The entry of a kind, by name, and a body, which record `seq` holds; see `decode`."""
    from pydantic import ValidationError

    if name not in KINDS:
        return None
    try:
        return _adapter(name).validate_python(body)
    except ValidationError as error:
        places = ", ".join(".".join(map(str, one["loc"])) for one in error.errors()[:_MOST_SHOWN])
        raise Corrupt(
            f"record {seq} does not read as {name!r} ({places}): it is damaged or of another version; make a "
            "new store of the files that its turns came from"
        ) from error


_MOST_SHOWN = 3
"""Fields that are named of a record that does not read."""


@cache
def _adapter(name: str) -> TypeAdapter[LedgerEntry]:
    """Built once and late: importing pydantic is most of what importing TierMem would cost."""
    from pydantic import TypeAdapter

    return TypeAdapter(KINDS[name].entry)
