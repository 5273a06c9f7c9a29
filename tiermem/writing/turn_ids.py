"""Finds which turns of a file the session holds already, which of them were erased, and which are new.

A turn of a file is known by its place while the file stays as it was. Where the file was edited, its turns
are compared with those that were stored: what is in both in the same order, with the same words, is known
whatever its place is now. Of an erased turn no words are left to compare. It is known by where it stood and
by the room it took: a turn between the same neighbours that takes as much is held to be it, and stays away.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time
from itertools import pairwise

from pagestore import SessionId, Taken, Turn
from tiermem.dialogue import VERSION_OF, ImportedTurn, alternatives, is_placed, own_id, place_of
from tiermem.ledger import Ledger
from tiermem.writing.stored_turns import ReadTurn, Size, find_size, read_stored
from tiermem.writing.versions import (
    is_version,
    known_version,
    later_versions,
    message_of,
    versions_by_message,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedTurns:
    """Turns under the ids they are stored by, or will be, without those that were `erased` before."""

    turns: tuple[Turn, ...]
    erased: int
    edited: int = 0
    """How many are later versions that are new."""
    has_versions: bool = False
    """Whether some are versions of a message whose id is stored with other words."""


async def resolve_turn_ids(ledger: Ledger, session: SessionId, turns: Sequence[Turn]) -> ResolvedTurns:
    """The turns, those with a place for an id under the id their words have in the session, or a new one."""
    edits = await _edits(ledger, session, turns)
    how = dict(enumerate(await ledger.taken_ids(session, turns)))
    found = {n: None if how[n] == "erased" else turn for n, turn in enumerate(turns) if not is_placed(turn)}
    found |= edits.turns
    files = {n: turn for n, turn in enumerate(turns) if n not in found}
    if any(how[n] in ("free", "other") for n in files):
        stored = await read_stored(ledger, session, {turn.agent for turn in turns})
        matched, new = _match_files(files, stored, how, _ids_of(found))
        found |= matched
        found |= await _new(ledger, session, new, _ids_of(found))
    ordered = (found.get(n, None if how[n] == "erased" else turn) for n, turn in enumerate(turns))
    kept = tuple(
        turn.plain() if isinstance(turn, ImportedTurn) else turn for turn in ordered if turn is not None
    )
    return ResolvedTurns(
        turns=kept,
        erased=len(turns) - len(kept),
        edited=edits.new,
        has_versions=bool(edits.turns) or any(VERSION_OF in turn.metadata for turn in kept),
    )


def _match_files(
    files: Mapping[int, Turn],
    stored: Sequence[ReadTurn],
    how: Mapping[int, Taken],
    claimed: Collection[str | None],
) -> tuple[dict[int, Turn | None], dict[int, Turn]]:
    """Turns of files under the ids that their words have in the session, `None` if erased; and the new ones.

    `claimed` are ids of other turns that are stored.
    """
    same_order = _match_in_order(files, stored)
    matched = _match_moved(files, stored, same_order)
    found: dict[int, Turn | None] = {}
    for n, place in matched.items():
        known = stored[place].turn
        found[n] = replace(files[n], turn_id=known.turn_id if known else None)
    claimed = {*claimed, *_ids_of(found)}
    unknown = {
        n: turn
        for n, turn in files.items()
        if n not in found and (how[n] != "same" or turn.turn_id in claimed)
    }
    stays_away = _erased_before(
        _where_erased(unknown, {_time_and_speaker(files[n]) for n in files if how[n] == "erased"}),
        same_order,
        stored,
        known={*matched.values()},
        erased={n for n in unknown if how[n] == "erased"},
    )
    new = {n: turn for n, turn in unknown.items() if n not in stays_away}
    return found | dict.fromkeys(stays_away), new


def _ids_of(turns: Mapping[int, Turn | None]) -> set[str | None]:
    return {turn.turn_id for turn in turns.values() if turn is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edits:
    """Turns whose ids are stored with other words, by place, as they are to be stored; `None` if erased.

    They are later versions, of which `new` are not stored yet, or other messages.
    """

    turns: dict[int, Turn | None]
    new: int


async def _edits(ledger: Ledger, session: SessionId, turns: Sequence[Turn]) -> _Edits:
    """Find imported turns whose ids are stored with other words, and what each of them is.

    A record is the stored one, with its words. Else the same speaker at the same time makes it a version of
    the stored message; anything else is another message.
    """
    messages = {
        n: turn for n, turn in enumerate(turns) if isinstance(turn, ImportedTurn) and not is_placed(turn)
    }
    how = await ledger.taken_ids(session, tuple(messages.values()))
    taken = {n: turn for (n, turn), found in zip(messages.items(), how, strict=True) if found == "other"}
    if not taken:
        return _Edits(turns={}, new=0)
    stored = await read_stored(ledger, session, {turn.agent for turn in taken.values()})
    versions = versions_by_message(one.turn for one in stored if one.turn is not None)
    found: dict[int, Turn | None] = {}
    edited: dict[int, ImportedTurn] = {}
    others: dict[int, ImportedTurn] = {}
    for n, turn in taken.items():
        known = versions.get(message_of(turn), ())
        if turn.is_record and known:
            found[n] = known[0]
        elif is_version(turn, known):
            edited[n] = turn
        else:
            others[n] = replace(turn, turn_id=own_id(turn))
    how = await ledger.taken_ids(session, tuple(others.values()))
    for (n, turn), status in zip(others.items(), how, strict=True):
        if status == "other":
            edited[n] = turn
        else:
            found[n] = None if status == "erased" else turn
    new = 0
    for n, turn in edited.items():
        known_versions = versions.setdefault(message_of(turn), [])
        found[n] = known_version(turn, known_versions)
        if found[n] is None:
            found[n] = later = await _first_free(ledger, session, turn)
            known_versions += [] if later is None else [later]
            new += later is not None
    return _Edits(turns=found, new=new)


async def _first_free(ledger: Ledger, session: SessionId, turn: ImportedTurn) -> Turn | None:
    """The turn under the first id of a later version that is free; `None` if the next one was erased."""
    for later in later_versions(turn):
        (how,) = await ledger.taken_ids(session, (later,))
        if how in ("free", "erased"):
            return later if how == "free" else None
    return None


async def _new(
    ledger: Ledger, session: SessionId, turns: Mapping[int, Turn], claimed: Collection[str | None]
) -> dict[int, Turn | None]:
    """New turns under the first of their ids that no others have; nothing where the next one was erased."""
    found: dict[int, Turn | None] = {}
    ids = {n: alternatives(turn) for n, turn in turns.items()}
    first = True
    while left := {n: next(others) for n, others in ids.items() if n not in found}:
        taken = await ledger.taken_ids(session, tuple(left.values()))
        for (n, turn), how in zip(left.items(), taken, strict=True):
            if how == "free" or (how == "same" and turn.turn_id not in claimed):
                found[n] = turn
            elif how == "erased" and not first:
                found[n] = None
        first = False
    return found


_Words = tuple[str, datetime | None, str]


def _words(turn: Turn) -> _Words:
    return turn.speaker, turn.said_at, turn.text


def _time_and_speaker(turn: Turn) -> str:
    """The time and speaker by which a turn of a file is known, "" without a time."""
    place = place_of(turn)
    return place[0] if place is not None else ""


def _from_files(turns: Mapping[int, Turn], stored: Sequence[ReadTurn]) -> dict[int, _Words]:
    """The words of what was stored of files, by place; of a file's end alone, not those of before it."""
    first: dict[str, int] = {}
    for turn in turns.values():
        said, position = place_of(turn) or ("", 0)
        first[said] = min(position, first.get(said, position))
    places = {
        place: (place_of(one.turn), one.turn) for place, one in enumerate(stored) if one.turn is not None
    }
    return {
        place: _words(turn)
        for place, (known, turn) in places.items()
        if known is not None and known[1] >= first.get(known[0], 0)
    }


def _where_erased(turns: Mapping[int, Turn], said: Collection[str]) -> dict[int, Turn]:
    """The turns that may have been erased: without a time, or said when and by whom one was erased."""
    return {
        n: turn for n, turn in turns.items() if not _time_and_speaker(turn) or _time_and_speaker(turn) in said
    }


def _match_in_order(turns: Mapping[int, Turn], stored: Sequence[ReadTurn]) -> dict[int, int]:
    """For turns of a file the places in `stored` of the same words, both in the same order.

    What both begin and end with belongs together, then what is said once in each, and so on in between.
    """
    theirs = _from_files(turns, stored)
    keys, words = list(turns), [_words(turn) for turn in turns.values()]
    pairs: dict[int, int] = {}
    ranges = [(0, len(words), 0, len(stored))]
    while ranges:
        low, high, start, end = ranges.pop()
        while low < high and start < end and words[low] == theirs.get(start):
            pairs[low] = start
            low, start = low + 1, start + 1
        while low < high and start < end and words[high - 1] == theirs.get(end - 1):
            high, end = high - 1, end - 1
            pairs[high] = end
        common = _common(
            {n: words[n] for n in range(low, high)},
            {place: theirs[place] for place in range(start, end) if place in theirs},
        )
        if common:
            marks = [(low - 1, start - 1), *sorted(common.items()), (high, end)]
            ranges += [(n + 1, m, place + 1, after) for (n, place), (m, after) in pairwise(marks)]
            pairs |= common
    return {keys[n]: place for n, place in pairs.items()}


def _common(ours: Mapping[int, _Words], theirs: Mapping[int, _Words]) -> dict[int, int]:
    """What is said once in both, in the same order; where nothing is, what is said as often in both."""
    here, there = _places(ours), _places(theirs)
    once = {
        here[said][0]: there[said][0] for said in here if len(here[said]) == len(there.get(said, ())) == 1
    }
    often = () if once else (zip(places, there.get(said, ()), strict=False) for said, places in here.items())
    return _rising(once or {n: place for pairs in often for n, place in pairs})


def _places(said: Mapping[int, _Words]) -> dict[_Words, list[int]]:
    places: dict[_Words, list[int]] = {}
    for place, words in said.items():
        places.setdefault(words, []).append(place)
    return places


def _match_moved(
    turns: Mapping[int, Turn], stored: Sequence[ReadTurn], same_order: Mapping[int, int]
) -> dict[int, int]:
    """`same_order`, and what is in both in another order."""
    taken = set(same_order.values())
    theirs = {place: words for place, words in _from_files(turns, stored).items() if place not in taken}
    left = _places(theirs)
    found = dict(same_order)
    for n, turn in turns.items():
        if n not in found and left.get(_words(turn)):
            found[n] = left[_words(turn)].pop(0)
    return found


def _rising(pairs: Mapping[int, int]) -> dict[int, int]:
    """As many of the pairs as there can be whose values rise with their keys."""
    ends: list[int] = []
    last: list[int] = []
    before: dict[int, int | None] = {}
    for key in sorted(pairs):
        length = bisect_left(ends, pairs[key])
        before[key] = last[length - 1] if length else None
        ends[length:] = [pairs[key], *ends[length + 1 :]]
        last[length:] = [key, *last[length + 1 :]]
    rising: dict[int, int] = {}
    end = last[-1] if last else None
    while end is not None:
        rising[end] = pairs[end]
        end = before[end]
    return rising


def _erased_before(
    turns: Mapping[int, Turn],
    same_order: Mapping[int, int],
    stored: Sequence[ReadTurn],
    *,
    known: Collection[int],
    erased: Collection[int],
) -> set[int]:
    """Which of the turns are held to be erased ones: they take as much room between the same neighbours.

    A turn at another place is one if it has the size of an erased turn that is not found at its own place: it
    may have moved. After the last known turn that must be one whose neighbour the file has too; `known` are
    the places of `stored` that it has. Unless every erased turn of the session is found so, what is at the
    very place of one stays away too.
    """
    gaps = _gaps(turns, same_order, len(stored))
    empty = [place for place, one in enumerate(stored) if one.turn is None]
    stays_away: set[int] = set()
    missing = Counter(stored[place].size for place in empty)
    for (low, high), numbers in gaps.items():
        between = empty[bisect_right(empty, low) : bisect_left(empty, high)]
        sizes = Counter(stored[place].size for place in between)
        in_place = _erased_in_gap(
            {n: turns[n] for n in sorted(numbers, key=lambda n: n not in erased)},
            sizes,
            is_last=high == len(stored),
        )
        missing -= Counter(in_place.values()) & sizes
        stays_away |= in_place.keys()
    near = missing & Counter(stored[place].size for place in _beside_known(stored, known))
    moved: dict[int, Size] = {}
    for (_, high), numbers in gaps.items():
        left = {n: turns[n] for n in numbers if n not in stays_away}
        is_last = high == len(stored)
        moved |= _erased_in_gap(left, near if is_last else missing, is_last=is_last)
    missing -= Counter(moved.values())
    stays_away |= moved.keys()
    return stays_away if empty and not missing else stays_away | set(erased)


def _gaps(
    numbers: Iterable[int], same_order: Mapping[int, int], end: int
) -> dict[tuple[int, int], list[int]]:
    """The numbers by the places of the stored turns that are before and after them in the file."""
    anchors = sorted(same_order)
    gaps: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for n in sorted(numbers):
        after = bisect_left(anchors, n)
        low = same_order[anchors[after - 1]] if after else -1
        high = same_order[anchors[after]] if after < len(anchors) else end
        gaps[low, high].append(n)
    return gaps


def _erased_in_gap(turns: Mapping[int, Turn], sizes: Counter[Size], *, is_last: bool) -> dict[int, Size]:
    """Which of the turns between two known ones are held to be erased ones of these sizes.

    After the last known turn at most as many are as were erased: a file grows. Before it every turn of such a
    size is: an erased turn and a new one of its size look the same. So is, everywhere, one with the speaker
    and the time of day of an erased one; others with a time are not among `turns`.
    """
    found: dict[int, Size] = {}
    count: Counter[Size] = Counter()
    for n, turn in turns.items():
        size = find_size(turn, sizes)
        if size is not None and (not is_last or _has_clock(turn) or count[size] < sizes[size]):
            count[size] += 1
            found[n] = size
    return found


def _beside_known(stored: Sequence[ReadTurn], known: Collection[int]) -> Iterator[int]:
    """The places of erased turns whose neighbour is known: the turn before, or after the first ones."""
    before: int | None = next((place for place, one in enumerate(stored) if one.turn is not None), None)
    for place, one in enumerate(stored):
        if one.turn is not None:
            before = place
        elif before in known:
            yield place


def _has_clock(turn: Turn) -> bool:
    """Whether a time of day is known; a date alone reads as midnight."""
    return turn.said_at is not None and turn.said_at.time() != time.min
