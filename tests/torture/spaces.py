"""Rows on what must not be seen: another space's data, and words that were erased."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from string import ascii_lowercase
from tempfile import TemporaryDirectory
from typing import Any

import anyio

import tiermem
from pagestore import DiskLog, LogOptions, Page, PageId, SessionId, SpaceId, Turn
from pagestore.testing import proves
from tests.engines import quoting_engine
from tests.reading.world import ListIndex
from tests.torture.harness import Outcome, Row, Share
from tests.writing.test_erase import random_life
from tiermem import AsyncMemory
from tiermem.embedding.hashed import HashEmbedder
from tiermem.llm.interface import Call
from tiermem.llm.scripted import FunctionModel
from tiermem.text import normalise

_CANARY = re.compile(r"canary[a-z]{12}|[a-z]{12}yranac")
_LINE = re.compile(r"^\[[^\]]*\] ([^:\n]+): (.+)$", re.MULTILINE)
_NUMBERS = re.compile(rb"(?<![0-9a-z])\d{3,6}(?![0-9a-z])")
_PEOPLE = ("Spans", "Page", "Summary", "Session", "Cosine", "Mark", "Grace", "Default", "Rosalind", "Ann")
_ORDINARY = (
    "My PIN is {number}.", "{number}", "PIN {number}", "It costs {price} euros.", "{name} called.",
    "Yes, sure.", "I met {name} at the lake.", "We counted {number} boats.",
    "{name} said {number}, I said {price}.", "Ok",
)  # fmt: skip
NAMES = (
    "default", "DEFAULT", "../default", "a/b", "'; DROP TABLE units; --", "..", "x" * 10_000, "\x00",
    '{"must": []}', "space\n", "*", "\u202espace", "défaut", "de\u0301faut", " default", "index",
)  # fmt: skip
QUERIES_OF_A_LIFE = 40
"""Queries of one space's agents, between which grants, shares and erasures happen."""
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
                engine=quoting_engine(),
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


def agents(share: Share) -> Outcome:
    """Agents with hostile names in one space, in random lives; each is asked for what is kept from it."""
    outcome, chance = Outcome(), share.chance()
    while outcome.count < share.count:
        anyio.run(_live_together, chance, min(QUERIES_OF_A_LIFE, share.count - outcome.count), outcome)
    return outcome


async def _live_together(chance: random.Random, queries: int, outcome: Outcome) -> None:
    settings: dict[str, Any] = {"distil": "inline", "write_back": "inline", "page_tokens": 120}
    async with await AsyncMemory.open(
        ":memory:", engine=quoting_engine(), embedder=HashEmbedder(), **settings
    ) as memory:
        life = _Agents(memory, chance)
        for name in life.names:
            await life.say(name)
        for _ in range(queries):
            if chance.random() < 0.3:
                await life.step(outcome)
            at = chance.choice(life.names)
            shown = await _shown_to(life.views[at], _question(chance, at, chance.choice(life.codes)), chance)
            outcome.count += 1
            kept = [code for code, owner in life.owner.items() if not life.may_see(at, owner, code)]
            leaked = [code for code in kept if code in shown]
            outcome.demand(not leaked, "an agent was shown what is kept from it")
            outcome.demand(not any(code in shown for code in life.erased), "an erased word was shown")
            outcome.seen["queries that showed another agent's words by right"] += any(
                code in shown for code, owner in life.owner.items() if owner != at
            )


class _Agents:
    """A space of several agents, and what each of them may see by what was done so far."""

    def __init__(self, memory: AsyncMemory, chance: random.Random) -> None:
        self.memory = memory
        self.chance = chance
        usable = [name for name in NAMES if name.strip() and name != "*"]
        # An agent whose name looks like that of another is refused.
        different = {normalise(name).text: name for name in chance.sample(usable, len(usable))}
        self.names = list(different.values())[:4]
        self.views = {name: memory.as_agent(name) for name in self.names}
        self.owner: dict[str, str] = {}
        self.grants: set[tuple[str, str]] = set()
        self.shared: dict[str, str] = {}
        self.erased: set[str] = set()

    @property
    def codes(self) -> list[str]:
        return list(self.owner)

    def may_see(self, agent: str, owner: str, code: str) -> bool:
        granted = (agent, owner) in self.grants or (agent, "*") in self.grants
        return agent == owner or granted or code in self.shared

    async def say(self, name: str) -> None:
        code = f"{self.chance.randrange(10**9, 10**10)}"
        self.owner[code] = name
        session = self.chance.choice(["one", name[:50]])
        text = f"The vault code of the blue house is {code}."
        await self.views[name].add(text, speaker="Ann", session=session)
        if self.chance.random() < 0.7:
            await self.views[name].flush()

    async def step(self, outcome: Outcome) -> None:
        name, other = self.chance.sample(self.names, 2)
        other = self.chance.choice([other, other, "*"])
        does = self.chance.choice([self._grant, self._revoke, self._share, self._unshare, self._erase])
        outcome.seen[does.__name__.strip("_")] += 1
        await does(name, other)
        if not any(owner == name for owner in self.owner.values()):
            await self.say(name)

    async def _grant(self, name: str, other: str) -> None:
        await self.memory.grant(name, to_see=other)
        self.grants.add((name, other))

    async def _revoke(self, name: str, other: str) -> None:
        await self.memory.revoke(name, to_see=other)
        self.grants.discard((name, other))

    async def _share(self, name: str, _: str) -> None:
        for unit in await self.views[name].units():
            if unit.agents == (name,) and self.chance.random() < 0.5:
                await self.views[name].share(unit.id, reason="asked to")
                self.shared |= {code: unit.id for code in self.owner if code in unit.text}

    async def _unshare(self, name: str, _: str) -> None:
        theirs = {unit_id for code, unit_id in self.shared.items() if self.owner[code] == name}
        for unit_id in theirs:
            await self.views[name].unshare(unit_id, reason="asked to")
        self.shared = {code: unit_id for code, unit_id in self.shared.items() if unit_id not in theirs}

    async def _erase(self, name: str, _: str) -> None:
        """One of the agent's pages, sealed or filling."""
        view = self.views[name]
        filling = [(page.id, page.text) for page in await view.open_pages() if page.agent == name]
        sealed = [(one.id, (await view.page(one.id)).text) for one in await view.pages() if one.agent == name]
        if filling or sealed:
            page_id, text = self.chance.choice([*filling, *sealed])
            await view.erase(page=page_id, reason="asked to")
            gone = {code for code, owner in self.owner.items() if owner == name and code in text}
            self.erased |= gone
            self.owner = {code: owner for code, owner in self.owner.items() if code not in gone}
            self.shared = {code: unit_id for code, unit_id in self.shared.items() if code not in gone}


async def _shown_to(agent: AsyncMemory, question: str, chance: random.Random) -> str:
    """What one way of asking shows to an agent, its own past answers too; without the question."""
    if chance.random() < 0.9:
        return await _shown(agent, question, chance)
    answers = await agent.answers()
    seen: list[object] = [await agent.stats()]
    for given in answers[-3:]:
        seen += [given.text, (await agent.audit(given.id)).answer.text]
    return repr(seen)


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
    """Turns, pages and sessions erased through the API, beside answers and the embedded index.

    Every second memory has a model that repeats in each text of each reply, back to front, what it was shown.
    """
    outcome, chance = Outcome(), share.chance()
    while outcome.count < share.count:
        with TemporaryDirectory() as folder:
            model = FunctionModel(repeats) if chance.random() < 0.5 else None
            outcome.seen["memories of a model that repeats"] += model is not None
            _erase_through_the_api(Path(folder, "store"), chance, outcome, model)
    return outcome


def repeats(call: Call) -> Any:
    """A reply of the kind that is asked for, with all it was shown in each of its texts."""
    assert call.schema is not None
    given = "\n".join(message.content for message in call.messages)
    words = dict.fromkeys(_CANARY.findall(given))
    shown = " ".join(word if word.endswith("yranac") else word[::-1] for word in words) or "nothing"
    told = [{"fact": f"{who}: {words}", "evidence_quote": words} for who, words in _LINE.findall(given)]
    worded = [{**one, "fact": f"{one['fact'][:-1]}, {shown}.", "scene": shown} for one in told]
    astray = {"fact": f"We moved {shown}", "evidence_quote": f"they moved the {shown}"}
    replies: dict[str, Any] = {
        "DistilReply": {"facts": [*told[::2], *worded, astray]},
        "RouteReply": {"thinking": shown, "action": "R"},
        "IntegrateReply": {"linked_facts": [*worded[:4], *told[:4], astray], "coverage_assessment": shown},
        "PlanReply": {
            "decision": "SEARCH",
            "reasoning": shown,
            "search_commands": [{"type": "KEYWORD_SEARCH", "keywords": shown.split()[:8]}],
        },
        "ComposeReply": {"answer": shown, "cited": [0, 1], "complete": False, "missing": shown},
        "SelectReply": {"selected": [0, 1]},
        "ReconcileReply": {"operation": "ADD", "reason": shown, "contradicts": [1]},
    }
    return replies[call.schema["title"]]


def _erase_through_the_api(
    store: Path, chance: random.Random, outcome: Outcome, model: FunctionModel | None
) -> None:
    words = {
        f"s{n}": ["canary" + "".join(chance.choices(ascii_lowercase, k=12)) for _ in range(12)]
        for n in range(5)
    }
    with tiermem.open(
        store,
        engine=quoting_engine() if model is None else "model",
        model=model,
        embedder=HashEmbedder(),
        distil="inline",
        write_back="inline",
        page_tokens=120,
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
        before = _everything(store)
        outcome.seen["canaries told back to front"] += sum(word[::-1].encode() in before for word in gone)
        for named in (
            {"session": "s2"},
            {"page": page.id},
            {"turn": words["s1"][0], "session": "s1"},
            {"turn": words["s3"][0], "session": "s3"},
        ):
            receipt = memory.erase(**named, reason="asked to")
            outcome.demand(receipt.leftovers.clean, "the receipt tells of words left behind")
        outcome.demand(memory.verify(checkpoint).ok, "the old checkpoint no longer verifies")
        told = repr((memory.units(), memory.open_pages(), [memory.page(i.id) for i in memory.pages()]))
        _count_gone(words, gone, told, store, outcome)
    _count_gone(words, gone, told, store, outcome)
    outcome.count += len(gone)
    outcome.seen["canaries kept"] += sum(map(len, words.values())) - len(gone)


def _everything(store: Path) -> bytes:
    return b"".join(path.read_bytes() for path in store.rglob("*") if path.is_file())


def _count_gone(
    words: dict[str, list[str]], gone: set[str], told: str, store: Path, outcome: Outcome
) -> None:
    found = _everything(store)
    outcome.demand(not any(word.encode() in found for word in gone), "an erased word is in a file")
    outcome.demand(
        not any(word[::-1].encode() in found for word in gone), "what a model made of it is in a file"
    )
    outcome.demand(not any(word in told or word[::-1] in told for word in gone), "an erased word is shown")
    kept = [word for each in words.values() for word in each if word not in gone]
    outcome.demand(all(word.encode() in found for word in kept), "a word nobody erased is gone from the log")


def receipts(share: Share) -> Outcome:
    """Turns of ordinary words and short numbers, some also said by others, some the log's own numbers.

    Every second one is left in a file that a program forgot in the store.
    """
    outcome, chance = Outcome(), share.chance()
    while outcome.count < share.count:
        with TemporaryDirectory() as folder:
            _take_receipts(Path(folder, "store"), chance, outcome)
    return outcome


def _take_receipts(store: Path, chance: random.Random, outcome: Outcome) -> None:
    left = store / "left.txt"
    with tiermem.open(
        store, engine=quoting_engine(), embedder=HashEmbedder(), index=ListIndex(), page_tokens=120
    ) as memory:
        for number in range(30):
            memory.add({"speaker": "Ann", "text": _ordinary(chance, b""), "id": f"o{number}"}, session="s0")
        memory.flush()
        log = _everything(store)
        for number in range(10):
            text = _ordinary(chance, log)
            memory.add({"speaker": "Bob", "text": text, "id": f"t{number}"}, session="s1")
            memory.flush()
            planted = chance.random() < 0.5
            if planted:
                left.write_text(f"... {text} ...")
            scan = memory.erase(turn=f"t{number}", session="s1", reason="asked to").leftovers
            left.unlink(missing_ok=True)
            outcome.count += 1
            files = [leftover.file for leftover in scan.found]
            outcome.seen["turns known by nothing, and the receipt says so"] += scan.silent == 1
            outcome.seen["leftovers found"] += planted and files == ["left.txt"]
            outcome.demand(not set(files) - {"left.txt"}, "false alarm: what is left holds no word of it")
            missed = planted and not files
            outcome.demand(not missed or scan.silent == 1, "miss: words are left and the receipt is clean")


def _ordinary(chance: random.Random, log: bytes) -> str:
    """A short text; with a log, its number is one that stands there."""
    numbers = [found.decode() for found in _NUMBERS.findall(log)] or [str(chance.randrange(100, 10**5))]
    number, name = chance.choice(numbers), chance.choice(_PEOPLE)
    price = f"{chance.randrange(60)}.{chance.randrange(60):02}"
    return chance.choice(_ORDINARY).format(number=number, name=name, price=price)


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
        name="agents",
        failure="another agent's data",
        done="four agents with hostile names in one space, in lives of grants, revokes, shares and erasures; "
        "each asked for what the others hold",
        unit="queries",
        count=100_000,
        share=2_500,
        work=agents,
        minutes=20,
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
        done="random lives, units merged and superseded by judges that repeat in every text, back to front, "
        "what they were shown; log and index searched, the rest held to its words",
        unit="canaries",
        count=2_000,
        share=40,
        work=erased_lives,
    ),
    Row(
        name="erased-memory",
        failure="erasure through the API",
        done="turns, pages and sessions erased beside answers and the embedded index, half of "
        "it by a model that repeats all it is shown; every file searched, open and after closing",
        unit="canaries",
        count=200,
        share=17,
        work=erased_memories,
    ),
    Row(
        name="receipts",
        failure="a receipt that cries wolf, or misses",
        done="turns of ordinary words and short numbers, also the log's own, erased one by one; half of them "
        "left in a file",
        unit="turns",
        count=2_000,
        share=50,
        work=receipts,
    ),
)
