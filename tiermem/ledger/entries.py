"""Entries in the records of the log: their one form.

The rule: an entry is durable before anything that follows from it is done, and its form may only
grow. Fields that a newer version added are ignored, kinds that it added are skipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from pagestore import Record
from pagestore.errors import Corrupt
from tiermem.ledger.kind import Entry
from tiermem.ledger.kinds import KINDS, kind_of
from tiermem.ledger.legacy_records import in_todays_form

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def encode(entry: Entry) -> dict[str, Any]:
    """The body of the record: survives JSON unchanged, lone surrogates included."""
    kind = kind_of(entry)
    body: dict[str, Any] = _adapter(kind.name).dump_python(entry, mode="json")
    if kind.for_older is not None:
        kind.for_older(body)
    return body


def decode(record: Record) -> Entry | None:
    """The entry a record holds, `None` for a kind this version does not know; raises `Corrupt`."""
    return decode_body(record.kind, record.body, seq=record.seq)


def decode_body(name: str, body: Mapping[str, Any], *, seq: int) -> Entry | None:
    """The entry of a kind, by name, and a body, which record `seq` holds; see `decode`."""
    from pydantic import ValidationError

    kind = KINDS.get(name)
    if kind is None:
        return None
    try:
        return _adapter(name).validate_python(in_todays_form(body, kind.from_older))
    except ValidationError as error:
        raise Corrupt(f"record {seq} does not read as {name!r}: {error}") from error


@cache
def _adapter(name: str) -> TypeAdapter[Entry]:
    """Built once and late: importing pydantic is most of what importing TierMem would cost."""
    from pydantic import TypeAdapter

    return TypeAdapter(KINDS[name].entry)
