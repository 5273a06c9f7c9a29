"""Rows on what must not be seen: another space's data, and words that were erased."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

import tiermem
from pagestore import DiskLog, LogOptions, Page, PageId, SessionId, SpaceId, Turn
from pagestore.testing import proves
from tests.torture.harness import Outcome, Row, Share
from tests.writing.test_erase import random_life
from tiermem import AsyncMemory
from tiermem.index.testing import HashEmbedder

NAMES = (
    "default", "DEFAULT", "../default", "a/b", "'; DROP TABLE units; --", "..", "x" * 10_000, "\x00",
    '{"must": []}', "space\n", "*", "\u202espace", "défaut", "de\u0301faut", " ", "index",
)  # fmt: skip
ASKS = (
    "{code}",
    "What is the code of {name}?",
    "code {code} {name}",
    '{{"space": "{name}"}}',
    "{name} OR 1=1",
    "vault",
)


def isolation(share: Share) -> Outcome:
    """Spaces with hostile names in one store and one index; each is asked for what the others hold."""
    outcome = Outcome()
    with TemporaryDirectory() as folder:
        anyio.run(_ask_all, Path(folder, "store"), share, outcome)
    return outcome


async def _ask_all(store: Path, share: Share, outcome: Outcome) -> None:
    chance = share.chance()
    names = chance.sample(NAMES, 6)
    codes = [f"{chance.randrange(10**9, 10**10)}" for _ in names]
    async with AsyncExitStack() as stack:
        memories = []
        for name, code in zip(names, codes, strict=True):
            memory = await AsyncMemory.open(
                store,
                space=name,
                engine="local",
                embedder=HashEmbedder(),
                distil="inline",
                write_back="inline",
            )
            memories.append(await stack.enter_async_context(memory))
            await memory.add(f"The vault code of the blue house is {code}.", speaker="Ann", session="one")
            await memory.add(f"I told nobody that it is {code}.", speaker="Ann", session=names[0][:50])
            if chance.random() < 0.7:
                await memory.flush()
        for case in share.cases:
            at = case % len(names)
            other = chance.choice([n for n in range(len(names)) if n != at])
            shown = await _shown(memories[at], _question(chance, names[other], codes[other]), chance)
            outcome.count += 1
            leaked = [n for n, code in enumerate(codes) if n != at and code in shown]
            outcome.demand(not leaked, "another space's words were shown")
            outcome.seen["queries that showed the space's own words"] += codes[at] in shown


def _question(chance: random.Random, name: str, code: str) -> str:
    return chance.choice(ASKS).format(name=name[:200], code=code) + " blue house"


async def _shown(memory: AsyncMemory, question: str, chance: random.Random) -> str:
    """What one way of asking shows, without the question itself."""
    session = chance.choice([None, None, "one", "elsewhere"])
    match chance.randrange(40):
        case 0:
            answer = await memory.ask(question, mode=chance.choice(["router", "raw", "summary"]))
            shown = repr((answer.text, answer.citations, answer.facts, answer.trace.candidates))
        case 1:
            shown = (await memory.context(question, session=session)).text
        case 2:
            shown = repr((await memory.units(), await memory.open_pages(), await memory.pages()))
        case number if number < 20:
            shown = repr(await memory.search(question, kind="pages", session=session))
        case _:
            shown = repr(await memory.search(question, limit=chance.choice([1, 10, 100]), session=session))
    return shown


def canaries(share: Share) -> Outcome:
    """Turns of a log erased one by one and together, open and sealed, then looked for in every file."""
    outcome, chance = Outcome(), share.chance()
    while outcome.count < share.count:
        with TemporaryDirectory() as folder:
            _erase_some(Path(folder), chance, min(40, share.count - outcome.count), outcome)
    return outcome


def _erase_some(folder: Path, chance: random.Random, wanted: int, outcome: Outcome) -> None:
    options = LogOptions(page_tokens=100, segment_bytes=8_000)
    words = [f"canary{chance.randrange(10**12):012}" for _ in range(80)]
    with DiskLog(str(folder), SpaceId("any"), options=options) as log:
        seqs: list[int] = []
        for number, word in enumerate(words):
            text = f"{word} " + chance.choice(["", "日本 ", "\u2028", "so " * 60]) + word[::-1]
            seqs += log.append(
                SessionId(f"s{number % 2}"), [Turn(speaker=word[:9], text=text, turn_id=word)]
            ).seqs
        checkpoint = log.checkpoint()
        sealed = {info.id for info in log.pages()}
        place = {line.seq: page.id for page in _pages(log) for line in page.lines}
        gone = chance.sample(range(len(words)), wanted)
        together = [(place[seqs[n]], seqs[n]) for n in gone[::2]]
        for number in gone[1::2]:
            log.erase(place[seqs[number]], seqs[number], "asked to")
        log.erase_together(together, reason="asked to")
        if chance.random() < 0.5:
            log.seal()
    with DiskLog(str(folder), SpaceId("any"), options=options) as log:
        found = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
        for number in gone:
            outcome.count += 1
            left = words[number].encode() in found or words[number][::-1].encode() in found
            outcome.demand(not left, "an erased word is in a file")
        kept = [line.turn.turn_id for page in _pages(log) for line in page.lines if line.turn]
        outcome.demand(
            set(kept) == {w for n, w in enumerate(words) if n not in gone}, "a turn not erased is gone"
        )
        outcome.demand(log.verify(checkpoint).ok, "the old checkpoint no longer verifies")
        for page_id in sealed:
            outcome.seen["proofs"] += 1
            outcome.demand(
                proves(log.prove(PageId(page_id), checkpoint), checkpoint), "a proof no longer holds"
            )


def erased_lives(share: Share) -> Outcome:
    """Random lives of ledger, writer and index; a promise that is broken is an assertion that fails."""
    outcome = Outcome()
    for life in share.cases:
        try:
            outcome.count += anyio.run(random_life, life)
        except AssertionError as error:
            outcome.violations[f"life {life}: {str(error)[:80]}"] += 1
    return outcome


def erased_memories(share: Share) -> Outcome:
    """Turns, pages and sessions erased at the door, beside answers and the embedded index."""
    outcome, chance = Outcome(), share.chance()
    while outcome.count < share.count:
        with TemporaryDirectory() as folder:
            _erase_at_the_door(Path(folder, "store"), chance, outcome)
    return outcome


def _erase_at_the_door(store: Path, chance: random.Random, outcome: Outcome) -> None:
    words = {f"s{n}": [f"canary{chance.randrange(10**12):012}" for _ in range(12)] for n in range(5)}
    with tiermem.open(
        store, engine="local", embedder=HashEmbedder(), distil="inline", write_back="inline", page_tokens=120
    ) as memory:
        for session, canaries_of in words.items():
            for number, word in enumerate(canaries_of):
                said = {"speaker": "Ann", "text": f"We moved the {word} to shed {number + 20}.", "id": word}
                memory.add(said, session=session)
        memory.flush("s0")
        memory.flush("s1")
        for word in (words["s0"][3], words["s2"][5], words["s3"][0]):
            memory.ask(f"Where did we move the {word}?")
        checkpoint = memory.checkpoint()
        page = memory.page(memory.pages("s0")[0].id)
        gone = {*words["s2"], words["s1"][0], words["s3"][0]}
        gone |= {line.turn.turn_id for line in page.lines if line.turn and line.turn.turn_id}
        for named in (
            {"session": "s2"},
            {"page": page.id},
            {"turn": words["s1"][0], "session": "s1"},
            {"turn": words["s3"][0], "session": "s3"},
        ):
            receipt = memory.erase(**named, reason="asked to")
            outcome.demand(receipt.residual.clean, "the receipt tells of words left behind")
        outcome.demand(memory.verify(checkpoint).ok, "the old checkpoint no longer verifies")
        told = repr((memory.units(), memory.open_pages(), [memory.page(i.id) for i in memory.pages()]))
        _count_gone(words, gone, told, store, outcome)
    _count_gone(words, gone, told, store, outcome)
    outcome.count += len(gone)
    outcome.seen["canaries kept"] += sum(map(len, words.values())) - len(gone)


def _count_gone(
    words: dict[str, list[str]], gone: set[str], told: str, store: Path, outcome: Outcome
) -> None:
    found = b"".join(path.read_bytes() for path in store.rglob("*") if path.is_file())
    outcome.demand(not any(word.encode() in found for word in gone), "an erased word is in a file")
    outcome.demand(not any(word in told for word in gone), "an erased word is shown")
    kept = [word for each in words.values() for word in each if word not in gone]
    outcome.demand(all(word.encode() in found for word in kept), "a word nobody erased is gone from the log")


def _pages(log: DiskLog) -> Iterator[Page]:
    yield from (log.page(info.id) for info in log.pages())
    yield from (page for session in log.sessions() if (page := log.open_page(session)) is not None)


ROWS = (
    Row(
        name="isolation",
        failure="other space's data",
        done="six spaces with hostile names in one store and index, each asked for what the others hold",
        unit="queries",
        count=100_000,
        share=2_500,
        work=isolation,
        minutes=12,
    ),
    Row(
        name="erased-turns",
        failure="erasure in the log",
        done="turns erased one by one and together, open and sealed; every file searched for their words, "
        "old proofs and checkpoints held",
        unit="canaries",
        count=10_000,
        share=400,
        work=canaries,
    ),
    Row(
        name="erased-lives",
        failure="erasure with all that was made of the words",
        done="random lives, units merged and superseded; log and index searched, the rest held to its words",
        unit="canaries",
        count=2_000,
        share=40,
        work=erased_lives,
    ),
    Row(
        name="erased-memory",
        failure="erasure at the door",
        done="turns, pages and sessions erased beside answers and the embedded index; every file searched, "
        "open and after closing",
        unit="canaries",
        count=200,
        share=17,
        work=erased_memories,
    ),
)
