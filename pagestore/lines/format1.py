"""What lines of format 1 say of places in files, said in numbers of records."""

from __future__ import annotations

from collections.abc import Callable

from pagestore.line import Fields


def by_number(fields: Fields, number_at: Callable[[int, int], int]) -> Fields:
    """The fields of a seal or an intent as they are today; any other fields as they are.

    A seal named its turns by runs of bytes, `[segment, offset, length, turns]`; an intent said beside each
    tombstone where it was to be put. `number_at` tells the number of the line at a segment and offset.
    """
    if fields["t"] == "page" and any(len(run) == 4 for run in fields["u"]):
        runs = [[number_at(segment, offset), turns] for segment, offset, _, turns in fields["u"]]
        return {**fields, "u": runs}
    if fields["t"] == "erase":
        return {**fields, "e": [target.get("stub", target) for target in fields["e"]]}
    return fields
