"""A block of numbered sources for somebody else's prompt, never longer than it may be.

Words from memory are data: every line of them opens with `| `, so that nothing in them can end the
block or pose as an instruction outside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pagestore import Span
from tiermem.model import Degradation, Evidence, trust_mark
from tiermem.text.dates import event_time, resolve_dates, without_dates
from tiermem.text.instructions import ASSISTANT, instruction_mark
from tiermem.text.long_runs import shorten_runs
from tiermem.text.normalise import fold_text
from tiermem.text.own_context import HEADING, without_own_context
from tiermem.text.words import stems

_ASKED = re.compile(r', asked "([^"\n]{1,400})"')
"""The question before a reply, as units of rules repeat it."""
_FIRST = "[1]"
"""How the first source begins."""
_MORE = 2
"""Tokens that the parts of a context with one source may count more than the whole."""
MOST_DATES = 5
"""Dates of one source; of more, their number is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Text ready for a prompt, its length, its sources in the order of their numbers, and what could not run
    as meant.
    """

    text: str
    tokens: int
    sources: tuple[Evidence, ...]
    degradations: tuple[Degradation, ...] = ()
    found: int = 0
    """How many units and turns were found: more than there are sources where there is no room for all.

    For a profile no more of each kind are read than might fit into `max_tokens`, but one at least.
    """
    max_tokens: int = 0
    """The tokens that were allowed."""

    @property
    def empty_reason(self) -> str | None:
        """Why there are no sources though something was found; `None` otherwise."""
        if self.sources or not self.found:
            return None
        return f"{self.found:,} found, none fits into {self.max_tokens:,} tokens"

    def __str__(self) -> str:
        return self.text


Packing = Literal["skip", "stop"]
"""What becomes of an item that does not fit: it is passed over, or nothing comes after what was kept."""


def assemble(
    items: Iterable[Evidence], *, max_tokens: int, count: Callable[[str], int], packing: Packing = "skip"
) -> Context:
    """As many items, in order, as fit in `max_tokens`; one that is too long is passed over.

    Items with the same words are one source, with the spans and dates of all. The text may be empty. Of
    words that hold an earlier context, the rest is shown.
    """
    blocks: list[str] = []
    kept: list[Evidence] = []
    tokens, parts = count(f"{HEADING}\n"), 1
    groups = _group_same(items)
    for same in groups:
        first, number = _block(1, *same), f"[{len(kept) + 1}]"
        block = number + first.removeprefix(_FIRST)
        # Counted part by part, or many items would take the square of their time. Parts may count a token
        # more each than the whole: before a close call what was kept is counted as one part.
        more = count(f"{first}\n") + count(number) - count(_FIRST)
        if 0 < tokens + more - max_tokens <= parts + 1 and parts > 1:
            tokens, parts = count(f"{_text(blocks)}\n"), 1
        over = tokens + more - max_tokens
        if over <= 0 or (over <= parts + 1 and count(_text([*blocks, block])) <= max_tokens):
            blocks.append(block)
            kept.append(replace(same[0], spans=tuple(dict.fromkeys(s for one in same for s in one.spans))))
            tokens, parts = tokens + more, parts + 1
        elif packing == "stop":
            break
    while blocks and count(_text(blocks)) > max_tokens:
        blocks.pop()
        kept.pop()
    text = _text(blocks)
    return Context(
        text=text, tokens=count(text), sources=tuple(kept), found=len(groups), max_tokens=max_tokens
    )


def _group_same(items: Iterable[Evidence]) -> list[list[Evidence]]:
    """Items with the same words together, at the place of the first; without those that are only a block."""
    groups: dict[tuple[str, str], list[Evidence]] = {}
    for item in items:
        text = without_own_context(item.text)
        if text == item.text or _says_more(item, text):
            groups.setdefault((fold_text(text), fold_text(item.quote)), []).append(item)
    return list(groups.values())


def _says_more(item: Evidence, text: str) -> bool:
    """Whether words are left in the text of an item, besides its speaker."""
    return any(map(str.isalnum, text.removeprefix(item.speaker or "")))


def without_repeats(items: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Leave out units that add nothing but a date to turns which are shown; the turn gets the date.

    A unit adds nothing if all its spans are in these turns, and all its words but dates are too. The question
    that a unit repeats (`Ann, asked "…": …`) may be in any other turn that is shown.
    """
    shown = {item: item for item in items}
    spoken = [item for item in shown if item.source == "turn"]
    for unit in [item for item in shown if item.source == "unit"]:
        turns = [turn for turn in spoken if any(_holds(turn, span) for span in unit.spans)]
        if turns and _is_said_in(_without_question(unit, spoken), turns):
            del shown[unit]
            first = shown[turns[0]]
            if len(turns) == 1 and first.event_at is None:
                shown[turns[0]] = replace(first, event_at=unit.event_at)
    return tuple(shown.values())


def _holds(turn: Evidence, span: Span) -> bool:
    return any(one.contains(span) for one in turn.spans)


def _without_question(unit: Evidence, turns: Sequence[Evidence]) -> Evidence:
    """The unit without the question that it answers, if one of the turns holds it."""
    asked = _ASKED.search(unit.text)
    if asked is None or not any(asked[1] in " ".join(turn.text.split()) for turn in turns):
        return unit
    return replace(unit, text=unit.text.replace(asked[0], "", 1))


def _is_said_in(unit: Evidence, turns: Sequence[Evidence]) -> bool:
    if not all(any(_holds(turn, span) for turn in turns) for span in unit.spans):
        return False
    plain = without_dates(unit.text, resolve_dates(unit.text, unit.said_at))
    return set(stems(plain)) <= {root for turn in turns for root in stems(turn.text)}


def _text(blocks: Sequence[str]) -> str:
    return "\n".join([HEADING, *blocks]) if blocks else ""


def shown_alone(item: Evidence) -> str:
    """The item as a context shows it, without the heading."""
    return _block(1, item)


def fits(item: Evidence, *, max_tokens: int, count: Callable[[str], int]) -> bool:
    """Whether the item alone makes a context of at most `max_tokens`."""
    block = _block(1, item)
    over = count(f"{HEADING}\n") + count(f"{block}\n") - max_tokens
    return over <= 0 or (over <= _MORE and count(_text([block])) <= max_tokens)


def _block(number: int, item: Evidence, *same: Evidence) -> str:
    """The lines of a source; `same` are others with the same words."""
    said = list(dict.fromkeys(f"{one.said_at:%Y-%m-%d}" for one in (item, *same) if one.said_at))
    more = [f"{len(said) - MOST_DATES} more days"] if len(said) > MOST_DATES + 1 else []
    times = [f"said {', '.join(said[: MOST_DATES + (not more)] + more)}"] if said else []
    times += dict.fromkeys(event_time(one.event_at, one.said_at) for one in (item, *same) if one.event_at)
    marks = [mark for mark in dict.fromkeys(trust_mark(one.trust) for one in (item, *same)) if mark]
    mark = instruction_mark(item.text, speaker=item.speaker or ASSISTANT)
    mark = mark or instruction_mark(item.quote.partition(': "')[2])
    marks += [mark] if mark else []
    kind = "noted; " if item.source == "unit" else ""
    head = f"[{number}] {kind}{'; '.join((*(times or ['undated']), *marks))}"
    texts = (shorten_runs(without_own_context(text)) for text in (item.text, item.quote))
    data = [row for text in texts for row in text.splitlines()]
    return "\n".join([head, *(f"| {row}" for row in data)])
