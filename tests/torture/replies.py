"""Rows on what comes in from outside: what a model replies, what a file of dialogue holds."""

from __future__ import annotations

import io
import itertools
import json
import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import anyio
from pydantic import BaseModel

import tiermem
from pagestore import MemoryLog, SpaceId, parse
from pagestore.rendering import as_rendered
from tests.api.conftest import tell
from tests.api.test_hostile_replies import QUESTIONS, Liar, rests_on_its_words
from tests.dialogue.mutations import documents, mutated
from tests.llm.replies import generated
from tests.reasoning.test_by_model import EVIDENCE, NOW
from tests.reasoning.test_by_model_fuzz import CASES
from tests.torture.data import shared
from tests.torture.harness import Missing, Outcome, Row, Share
from tiermem.dialogue import read_dialogue
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import InvalidInput, MalformedReply, ModelError, NotDialogue
from tiermem.ledger import Ledger
from tiermem.llm.interface import Call
from tiermem.llm.scripted import FunctionModel
from tiermem.llm.typed import reply_schema
from tiermem.reasoning import by_model
from tiermem.reasoning.model.distil import DistilReply
from tiermem.reasoning.model.route import RouteByModel, RouteReply
from tiermem.text.question import Question
from tiermem.writing.turn_ids import resolve_turn_ids

ASKS_OF_A_LIAR = 150


def typed(share: Share) -> Outcome:
    """Generated replies to each typed question; a quarter of those to `distil` are damaged real ones."""
    outcome = Outcome()
    anyio.run(_ask_typed, share, outcome)
    return outcome


async def _ask_typed(share: Share, outcome: Outcome) -> None:
    chance = share.chance()
    for number, (reply_type, ask, check) in enumerate(CASES):
        texts = _replies(reply_type, share.seed + number, chance)
        engine = by_model(FunctionModel(_saying(texts)))
        for _ in range(share.count // len(CASES) + (number < share.count % len(CASES))):
            outcome.count += 1
            try:
                check(await ask(engine))
            except MalformedReply:
                outcome.seen["refused"] += 1
            except Exception as error:  # noqa: BLE001 - an error nobody promised is what is looked for
                outcome.violations[f"{reply_type.__name__}: {type(error).__name__}: {str(error)[:80]}"] += 1


def _saying(texts: Iterator[str]) -> Callable[[Call], str]:
    return lambda call: next(texts)


def _replies(reply_type: type[BaseModel], seed: int, chance: random.Random) -> Iterator[str]:
    made = generated(reply_schema(reply_type), count=10**9, seed=seed)
    real = _real_replies() if reply_type is DistilReply else ()
    while True:
        yield _damaged(chance, chance.choice(real)) if real and chance.random() < 0.25 else next(made)


@cache
def _real_replies() -> tuple[str, ...]:
    """Facts that a language model wrote, a page's worth at a time, as the reply they would be."""
    try:
        files = sorted((shared() / "data" / "locomo" / "model_facts").glob("*.jsonl"))
    except Missing:
        return ()
    facts = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    told = [{"fact": fact["fact"], "evidence_quotes": [fact["quote"]]} for fact in facts]
    return tuple(json.dumps({"facts": told[at : at + 8]}) for at in range(0, len(told), 8))


def _damaged(chance: random.Random, text: str) -> str:
    for _ in range(chance.randint(1, 4)):
        at, end = sorted((chance.randrange(len(text) + 1), chance.randrange(len(text) + 1)))
        match chance.randrange(4):
            case 0:
                text = text[:at] + text[min(end, at + 9) :]
            case 1:
                text = text[:at] + chance.choice('{}[]",:\\\x00\ud800\u2028') + text[at:]
            case 2:
                text = text[:end]
            case _:
                text = text[:at] + text[at:end] * 2 + text[end:]
    return text


def router(share: Share) -> Outcome:
    """Replies in which nowhere stands a well-formed S; every one must send the question to the pages."""
    outcome = Outcome()
    anyio.run(_ask_router, share, outcome)
    return outcome


_SAYS_SUFFICIENT = re.compile(r"""(["'])action\1\s*:\s*(["'])S\2""")


async def _ask_router(share: Share, outcome: Outcome) -> None:
    for text in generated(reply_schema(RouteReply), count=10**9, seed=share.seed):
        if _SAYS_SUFFICIENT.search(text):
            continue
        outcome.count += 1
        route = RouteByModel(FunctionModel(_saying(itertools.repeat(text))))
        decision = await route(Question("How many dogs?", NOW), [EVIDENCE])
        outcome.demand(decision.action == "ESCALATE", f"answered on {text[:60]!r}")
        if outcome.count == share.count:
            return


def api(share: Share) -> Outcome:
    """A model that lies, breaks off and babbles, through every step of one memory after the other."""
    liar, outcome = Liar(share.seed), Outcome()
    while liar.given.total() < share.count:
        _life_with(liar, outcome, share.count)
    outcome.count = liar.given.total()
    return outcome


def _life_with(liar: Liar, outcome: Outcome, count: int) -> None:
    with tiermem.open(
        ":memory:",
        model=FunctionModel(liar, name="liar"),
        engine="model",
        embedder=HashEmbedder(),
        distil="inline",
        write_back="inline",
        page_tokens=50,
    ) as memory:
        tell(memory)
        said = {turn.text for page in memory.open_pages() for line in page.lines if (turn := line.turn)}
        said |= {t.text for i in memory.pages() for line in memory.page(i.id).lines if (t := line.turn)}
        for _ in range(6):
            memory.flush()
        for number in range(ASKS_OF_A_LIAR):
            try:
                memory.ask(QUESTIONS[number % 4], mode=("router", "raw")[number % 2])
                outcome.seen["answers"] += 1
            except MalformedReply:
                outcome.seen["refused"] += 1
            except ModelError as error:
                outcome.violations[f"{type(error).__name__}: {str(error)[:80]}"] += 1
            if liar.given.total() >= count:
                break
        for unit in memory.units():
            outcome.seen["units"] += 1
            outcome.demand(rests_on_its_words(memory, unit), f"unproved unit: {unit.text[:60]}")
        kept = {turn.text for i in memory.pages() for line in memory.page(i.id).lines if (turn := line.turn)}
        outcome.demand(kept == said, "a page changed")
        outcome.demand(memory.verify().ok, "verify finds damage")


def files(share: Share) -> Outcome:
    """Mutated files of every format; each is read whole or refused, and what is read survives a page."""
    outcome, chance, real = Outcome(), share.chance(), documents(_real_document())
    for _ in range(share.count):
        outcome.count += 1
        name, data = mutated(chance, *chance.choice(real))
        try:
            _read_one(name, data, chance, outcome)
        except NotDialogue:
            outcome.seen["refused"] += 1
        except Exception as error:  # noqa: BLE001 - an error nobody promised is what is looked for
            outcome.violations[f"{name}: {type(error).__name__}: {str(error)[:80]}"] += 1
    return outcome


def _read_one(name: str, data: bytes, chance: random.Random, outcome: Outcome) -> None:
    stream = io.BytesIO(data)
    stream.name = name
    told = read_dialogue(stream)
    outcome.seen["read"] += 1
    sessions = [session for conversation in told for session in conversation.sessions]
    outcome.demand(all(turn.turn_id for s in sessions for turn in s.turns), "a turn without an id")
    if chance.random() < 0.1:
        log = MemoryLog(SpaceId("fuzz"))
        ledger = anyio.run(Ledger.open, log)
        for session in sessions:
            try:
                given = anyio.run(resolve_turn_ids, ledger, session.session, session.turns)
                log.append(session.session, given.turns)
            except InvalidInput:
                continue
            page = log.open_page(session.session)
            if page is not None and all(line.parts == 1 for line in page.lines):
                shown = [as_rendered(line.turn) for line in page.lines if line.turn]
                outcome.demand(list(parse(page.text)) == shown, "a page shows what nobody said")


@cache
def _real_document() -> Any:
    """One real conversation, cut short."""
    try:
        path = shared() / "data" / "locomo" / "locomo_dev7.json"
    except Missing:
        return None
    sample = json.loads(path.read_text(encoding="utf-8"))[0]
    kept = {
        key: value[:12] if isinstance(value, list) else value
        for key, value in itertools.islice(sample["conversation"].items(), 8)
    }
    return [{**sample, "conversation": kept, "qa": sample["qa"][:4], "event_summary": {}, "observation": {}}]


ROWS = (
    Row(
        name="typed-replies",
        failure="malformed, truncated, mistyped, empty, refusing, hostile replies",
        done="generated from each reply's schema and damaged, and real ones, to the seven typed questions",
        unit="replies",
        count=105_000,
        share=3_500,
        work=typed,
    ),
    Row(
        name="api-replies",
        failure="the same through the whole pipeline: nothing unhandled, no unproved unit, no altered page",
        done="a model that lies about what memory holds, breaks off and babbles, behind the API",
        unit="replies",
        count=35_000,
        share=1_750,
        work=api,
        minutes=10,
    ),
    Row(
        name="dialogue-files",
        failure="malformed, hostile files of dialogue",
        done="files of every format, real ones among them, damaged as bytes and as JSON",
        unit="files",
        count=60_000,
        share=3_000,
        work=files,
    ),
    Row(
        name="router-replies",
        failure="bad router reply",
        done="replies in which no well-formed decision for the summaries stands; all must escalate",
        unit="replies",
        count=10_000,
        share=1_000,
        work=router,
    ),
)
