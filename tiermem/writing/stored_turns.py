"""Reads the turns of a session as they are stored, those in parts whole, and of erased ones their size."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from pagestore import Page, PageLine, SessionId, Turn
from pagestore.rendering import render_turn
from tiermem.ledger import Ledger

Size = tuple[int, int]
"""The number of parts of a turn, and the characters it takes on its pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTurn:
    """A turn of the session, `None` once it was erased."""

    turn: Turn | None
    size: Size


async def read_stored(ledger: Ledger, session: SessionId, agents: Collection[str | None]) -> list[ReadTurn]:
    """The turns of these agents in the session in order, each whole."""
    filling = await ledger.open_pages(session)  # before the sealed ones: one that seals meanwhile is in both
    infos = [info for info in await ledger.pages(session) if info.agent in agents]
    sealed = await ledger.read([info.id for info in infos])
    opened = (page for page in filling if page.agent in agents)
    pages = (*(page for page in sealed if isinstance(page, Page)), *opened)
    lines = {line.seq: line for page in pages for line in page.lines}
    turns: list[list[PageLine]] = []
    for _, line in sorted(lines.items()):
        if line.part == 1 or not turns:
            turns.append([])
        turns[-1].append(line)
    return [_whole(parts) for parts in turns]


def find_size(turn: Turn, sizes: Collection[Size]) -> Size | None:
    """The first of some sizes that a turn has, stored in so many parts; `None` if it has none of them."""
    rooms = {parts: _room(turn, parts) for parts, _ in sizes}
    return next((size for size in sizes if rooms[size[0]] == size[1]), None)


def _whole(lines: Sequence[PageLine]) -> ReadTurn:
    room, turn = sum(line.end - line.start for line in lines), lines[0].turn
    said = [line.turn.text for line in lines if line.turn is not None]
    whole = replace(turn, text="".join(said)) if turn is not None and len(said) == len(lines) else None
    return ReadTurn(turn=whole, size=(lines[0].parts, room))


def _room(turn: Turn, parts: int) -> int:
    """The characters a turn takes on its pages, stored in so many parts."""
    text, header = render_turn(turn)
    return len(text) - header + sum(render_turn(turn, part, parts)[1] for part in range(1, parts + 1))
