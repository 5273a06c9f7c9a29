"""Replies of a model that lies, breaks off and babbles, through the whole pipeline through the API.

Nothing but the errors a caller is promised may escape, no unit may rest on words that are not on its
page, and no page may change.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import tiermem
from tests.api.conftest import DIALOGUE, tell
from tests.llm.replies import generated
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import ModelError
from tiermem.llm.interface import Call
from tiermem.llm.scripted import FunctionModel
from tiermem.model import SummaryUnit
from tiermem.text import normalise

REPLIES = 1_500
"""The rest of them is a row of `tests.torture`."""
TRUTHS = ("1,450 dollars", "Oslo", "chicken", "Melanie never learned to swim")
QUESTIONS = (
    "What did the roof cost?",
    "Where does Ingrid live?",
    "What is Biscuit allergic to?",
    "Who swims?",
)
LIES = {
    "1,450": "9,999", "Melanie": "Mallory", "Biscuit": "Rex",
    "never": "always", "Oslo": "Paris", "2023": "1999",
}  # fmt: skip


_BABBLE = {"DistilReply": 0.2, "IntegrateReply": 0.2, "ComposeReply": 0.1, "SelectReply": 0.1}
"""Where babble would only keep the later steps from being reached."""


class Liar:
    """Replies that fit the schema asked for or do not, half of them about what memory really holds."""

    def __init__(self, seed: int) -> None:
        self.given: Counter[str] = Counter()
        self._chance = random.Random(seed)
        self._babble: dict[str, Iterator[str]] = {}

    def __call__(self, call: Call) -> str:
        assert call.schema is not None
        kind = call.schema["title"]
        self.given[kind] += 1
        if self._chance.random() < _BABBLE.get(kind, 0.5):
            return self._babbled(kind, call.schema)
        text = json.dumps(self._about(kind))
        return text[: self._chance.randrange(len(text))] if self._chance.random() < 0.1 else text

    def _babbled(self, kind: str, schema: Any) -> str:
        if kind not in self._babble:
            self._babble[kind] = generated(schema, count=REPLIES, seed=len(kind))
        return next(self._babble[kind])

    def _about(self, kind: str) -> Any:
        chance = self._chance
        facts = [self._fact() for _ in range(chance.randrange(4))]
        found: dict[str, Any] = {
            "DistilReply": {"facts": [self._fact() for _ in range(6)]},
            "RouteReply": {"action": chance.choice("SRX")},
            "IntegrateReply": {"linked_facts": facts, "coverage_assessment": "some"},
            "PlanReply": {
                "decision": chance.choice(["DONE", "SEARCH"]),
                "search_commands": [
                    {"type": "KEYWORD_SEARCH", "keywords": [chance.choice(["roof", "", "Oslo"])]}
                ],
            },
            "ComposeReply": {"answer": self._lied(chance.choice(TRUTHS)), "cited": [chance.randrange(-2, 6)]},
            "SelectReply": {"selected": [chance.randrange(-2, 6) for _ in range(3)]},
            "ReconcileReply": {
                "operation": chance.choice(["ADD", "UPDATE", "SKIP", "DELETE"]),
                "target": chance.randrange(-1, 4),
                "text": self._lied(chance.choice(DIALOGUE)[3]),
                "contradicts": [chance.randrange(-1, 4)],
            },
        }
        return found[kind]

    def _fact(self) -> dict[str, str]:
        _, _, speaker, said = self._chance.choice(DIALOGUE)
        words = said.split()
        cut = self._chance.randrange(len(words))
        quote = " ".join(words[cut:]) if self._chance.random() < 0.3 else said
        return {"fact": self._lied(f"{speaker}: {said}"), "evidence_quote": self._lied(quote)}

    def _lied(self, text: str) -> str:
        for word, lie in LIES.items():
            if self._chance.random() < 0.25:
                text = text.replace(word, lie)
        return text


def rests_on_its_words(memory: tiermem.Memory, unit: SummaryUnit) -> bool:
    """What the unit says, in numbers and altered names, stands where its spans point."""
    quoted = " ".join(memory.page(span.page_id).words(span) for span in unit.spans)
    said = [words for _, _, _, words in DIALOGUE]
    if not any(normalise(quoted).text in normalise(words).text for words in said) and len(unit.spans) == 1:
        return False
    return not any(lie in unit.text for lie in ("9,999", "Mallory", "Rex", "Paris", "1999"))


@pytest.mark.timeout(300)
def test_no_reply_breaks_anything_or_becomes_knowledge_it_cannot_prove() -> None:
    liar, escaped, answered, memories = Liar(seed=3), Counter[str](), 0, 0
    embedder = HashEmbedder()
    while sum(liar.given.values()) < REPLIES:
        with tiermem.open(
            ":memory:",
            model=FunctionModel(liar, name="liar"),
            engine="model",
            embedder=embedder,
            distil="inline",
            write_back="inline",
            page_tokens=50,
            idle_seal=float("inf"),
            router=("llm", "fused")[memories % 2],
        ) as memory:
            memories += 1
            tell(memory)
            for _ in range(6):
                memory.flush()
            for number in range(40):
                try:
                    memory.ask(QUESTIONS[number % 4], mode=("router", "raw")[number % 2])
                    answered += 1
                except ModelError as error:
                    escaped[type(error).__name__] += 1
            unproved = [unit for unit in memory.units() if not rests_on_its_words(memory, unit)]
            assert not unproved, unproved
            kept = " ".join(memory.page(info.id).text for info in memory.pages())
            assert all(said in kept for _, _, _, said in DIALOGUE)
            assert memory.verify().ok
            assert memory.stats().claims_rejected > 0
    assert set(escaped) <= {"MalformedReply"}
    assert answered > 20
    assert set(liar.given) >= {"DistilReply", "RouteReply", "IntegrateReply", "PlanReply", "SelectReply"}
    assert liar.given["ReconcileReply"] > 20
