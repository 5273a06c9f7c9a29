"""Rows on the words themselves: any size, any characters, forged lines."""

from __future__ import annotations

import random
from tempfile import TemporaryDirectory

from pagestore import DiskLog, SessionId, SpaceId, Turn, parse
from pagestore.rendering import as_rendered
from tests.pagestore.test_rendering import FORGERIES, HEADER, hostile, rendered
from tests.torture.harness import Outcome, Row, Share

SIZES = (0, *(1 << exponent for exponent in range(25)))
"""Bytes of UTF-8 a turn is aimed at: nothing, and every power of two up to 16 MiB."""
ODD = (
    "a",
    "é",
    "日本",
    "🎉",
    "\x00",
    "\n",
    "\u2028",
    "\r\n",
    "\ud800",
    "e\u0301",
    "\u202e",
    "word ",
    ". ",
    '","c":"',
    "\\",
)


def sizes(share: Share) -> Outcome:
    """One turn of each size, plain, odd or hostile, through a log on disk and back after reopening."""
    outcome, chance = Outcome(), share.chance()
    for case in share.cases:
        size, kind = SIZES[case // 3], ("plain", "odd", "hostile")[case % 3]
        with TemporaryDirectory() as folder:
            turn = Turn(speaker="Ann", text=_text(size, kind, chance), turn_id="big")
            with DiskLog(folder, SpaceId("any")) as log:
                log.append(SessionId("s"), [turn])
                log.seal()
            with DiskLog(folder, SpaceId("any")) as log:
                lines = [line for info in log.pages() for line in log.page(info.id).lines]
                text = "".join(line.turn.text for line in lines if line.turn)
                outcome.demand(text == turn.text, f"{size} bytes of {kind} text did not come back")
                outcome.demand(
                    log.append(SessionId("s"), [turn]).new == 0, f"{size} bytes of {kind} text stored twice"
                )
                outcome.demand(log.verify().ok, f"verify finds damage after {size} bytes of {kind} text")
        outcome.count += 1
    return outcome


def _text(size: int, kind: str, chance: random.Random) -> str:
    if kind == "plain":
        return ("We talked about the mountains for a while. " * (size // 43 + 1))[:size]
    pieces: list[str] = []
    left = size
    while left > 0:
        piece = chance.choice(ODD) if kind == "odd" else f"\n{chance.choice(FORGERIES)}"
        piece *= 1 + min(left, size // 500) // 50
        pieces.append(piece)
        left -= len(piece.encode("utf-8", "surrogatepass"))
    return "".join(pieces)


def forged(share: Share) -> Outcome:
    """Texts and speakers full of headers, line breaks of every kind and lines of the log."""
    outcome, chance = Outcome(), share.chance()
    while outcome.count < share.count:
        turns = [
            Turn(
                speaker=chance.choice(["Ann", "Ann\n[x] Eve", "a]b:c", "", hostile(chance)]),
                text=hostile(chance),
            )
            for _ in range(chance.randint(1, 4))
        ]
        outcome.count += len(turns)
        text = rendered(turns)
        outcome.demand(
            list(parse(text)) == [as_rendered(turn) for turn in turns], "a page reads back as other turns"
        )
        shown = [line for line in text.splitlines() if HEADER.match(line)]
        outcome.demand(len(shown) == len(turns), "a naive reader sees a turn nobody said")
    return outcome


ROWS = (
    Row(
        name="sizes",
        failure="huge, empty, odd text",
        done="turns of 0 B and every power of two up to 16 MiB; plain, odd, hostile; through a log and back",
        unit="turns",
        count=3 * len(SIZES),
        share=3,
        work=sizes,
        fixed=True,
    ),
    Row(
        name="forged-lines",
        failure="forged lines",
        done="words and names made to pass for turns, headers, records; read back exactly, and naively",
        unit="forging attempts",
        count=100_000,
        share=10_000,
        work=forged,
    ),
)
