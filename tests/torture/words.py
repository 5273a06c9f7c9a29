"""Rows on the words themselves: any size, any characters, forged lines."""

from __future__ import annotations

import random
from tempfile import TemporaryDirectory

import tiermem
from pagestore import DiskLog, SessionId, SpaceId, Turn, parse
from pagestore.rendering import as_rendered
from tests.pagestore.test_rendering import FORGERIES, HEADER, hostile, rendered
from tests.torture.harness import Outcome, Row, Share
from tiermem.embedding.hashed import HashEmbedder

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


KINDS = ("plain", "odd", "hostile", "digits", "blanks")
SUMMARISED = 1 << 18
"""Bytes up to which a turn is also summarised, asked about and erased."""
BEES = "Bob: I keep 7 hives of bees behind the old mill."


def sizes(share: Share) -> Outcome:
    """One turn of each size and kind: through a log and back after reopening, and through a memory."""
    outcome, chance = Outcome(), share.chance()
    for case in share.cases:
        size, kind = SIZES[case // len(KINDS)], KINDS[case % len(KINDS)]
        turn = Turn(speaker="Ann", text=_text(size, kind, chance), turn_id="big")
        _stored(outcome, turn, f"{size} bytes of {kind} text")
        if size <= SUMMARISED:
            _lived_through(outcome, turn, f"{size} bytes of {kind} text")
        outcome.count += 1
    return outcome


def _stored(outcome: Outcome, turn: Turn, told: str) -> None:
    """The turn through a log on disk and back after reopening."""
    with TemporaryDirectory() as folder:
        with DiskLog(folder, SpaceId("any")) as log:
            log.append(SessionId("s"), [turn])
            log.seal()
        with DiskLog(folder, SpaceId("any")) as log:
            lines = [line for info in log.pages() for line in log.page(info.id).lines]
            text = "".join(line.turn.text for line in lines if line.turn)
            outcome.demand(text == turn.text, f"{told} did not come back")
            outcome.demand(log.append(SessionId("s"), [turn]).new == 0, f"{told} stored twice")
            outcome.demand(log.verify().ok, f"verify finds damage after {told}")


def _lived_through(outcome: Outcome, turn: Turn, told: str) -> None:
    """The turn summarised, asked about and erased, beside a turn of another session."""
    with (
        TemporaryDirectory() as folder,
        tiermem.open(folder, engine="local", embedder=HashEmbedder(), index="memory") as memory,
    ):
        memory.add(BEES, session="bees")
        if memory.add(turn, session="big").empty:
            outcome.demand(not turn.text.strip(), f"{told} is not stored")
            return
        flushed, stats = memory.flush(), memory.stats()
        outcome.seen["turns summarised, asked about and erased"] += 1
        outcome.demand(not (flushed.pending or flushed.problems or stats.problems), f"{told} is set aside")
        asked = memory.ask("What did Ann say?")
        outcome.demand(not asked.trace.degradations, f"{told} is left out of an answer")
        outcome.demand(_hives(memory), f"another page waits behind {told}")
        receipt = memory.erase(session="big", reason="asked for")
        outcome.demand(len(receipt.erasure.turns) >= 1, f"{told} is not erased")
        # Forged lines of the log stand in every log.
        forges = any(forgery in turn.text for forgery in FORGERIES)
        outcome.demand(receipt.leftovers.clean or forges, f"{told} is erased and found in a file")
        outcome.demand(all(unit.session == "bees" for unit in memory.units()), f"units are left of {told}")
        outcome.demand(_hives(memory), f"another page went with {told}")
        outcome.demand(memory.verify().ok, f"verify finds damage after erasing {told}")


def _hives(memory: tiermem.Memory) -> bool:
    return "7" in memory.ask("How many hives does Bob keep?").text


def _text(size: int, kind: str, chance: random.Random) -> str:
    if kind == "digits":
        return f"I counted {'7' * size} steps to the mill."[:size]
    if kind == "blanks":
        return " " * size
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
        done=(
            "turns of 0 B and every power of two up to 16 MiB; plain, odd, hostile, digits, blanks; through "
            "a log and back, and up to 256 KiB summarised, asked about and erased beside another page"
        ),
        unit="turns",
        count=len(KINDS) * len(SIZES),
        share=len(KINDS),
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
