"""What an agent may not see has no part in what it gets: the same turns give the same, to the last digit."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

import tiermem
from pagestore import Turn
from tests.api.conftest import OpenMemory
from tests.stores import NewAddress
from tiermem.errors import IndexUnavailable
from tiermem.index.postgres import PostgresIndex
from tiermem.index.row_index import RowIndex, SegmentIndex
from tiermem.model import Evidence
from tiermem.reading import Kind
from tiermem.reading.search import MODES

WORDS = [f"{first}{last}" for first in ("bar", "kel", "mon", "tav", "rud", "sil") for last in (
    "ban", "dor", "fen", "gat", "hul", "jin", "lam", "nok", "pur", "sek", "tov", "wiz"
)]  # fmt: skip
HIDDEN = 2_000
ASKED = "What is the PIN of the barban keldor?"


def said(chance: random.Random, lengths: Iterable[int], speaker: str) -> list[Turn]:
    texts = (" ".join(chance.choices(WORDS, k=length)) for length in lengths)
    return [
        Turn(
            speaker=speaker,
            text=f"The PIN of {text} is {chance.randrange(10**4)}.",
            said_at=datetime(2023, 5, chance.randrange(1, 29), tzinfo=UTC),
        )
        for text in texts
    ]


def add_turns(owner: tiermem.Memory, hidden: int) -> tiermem.Memory:
    """The memory of agent `planner`: its own turns, those of `friend` which it may see, and of no agent.

    Of `other` there are so many `hidden` ones, before, between and after them.
    """
    chance, unseen = random.Random(1), random.Random(2)
    lengths = chance.sample(
        range(6, 66, 2), 30
    )  # all different: equal scores are ordered by ids, which are salted
    planner, friend, other = (owner.as_agent(name) for name in ("planner", "friend", "other"))
    owner.grant("planner", to_see="friend")
    for number, memory in enumerate((planner, owner, friend, planner, owner)):
        if hidden:
            other.add(said(unseen, [9] * (hidden // 5), "Keldor"), session="main")
        memory.add(said(chance, lengths[6 * number : 6 * number + 6], "Ann"), session="main")
        if number == 2:
            owner.flush()
    if hidden:
        other.add(said(unseen, [9] * 3, "Keldor"), session="main")
    return planner


def search_all(memory: tiermem.Memory) -> tuple[dict[str, Any], list[float]]:
    """All that tells of scores and order, without ids, which are salted: texts, and numbers."""
    chance, texts, numbers = random.Random(3), dict[str, Any](), list[float]()

    def note(what: str, items: Sequence[Evidence], *beside: object) -> None:
        texts[what] = ([one.text for one in items], *beside)
        numbers.extend(n for one in items for n in (one.score, one.similarity or 0.0))

    for query in (ASKED, *(f"What is the PIN of {' '.join(chance.choices(WORDS, k=4))}?" for _ in range(3))):
        kinds: tuple[Kind, ...] = ("units", "turns", "pages")
        for kind in kinds:
            note(f"{kind}: {query}", memory.search(query, kind=kind, limit=20))
        for strategy in MODES:
            recalled = memory.recall(query, strategy=strategy, limit=20)
            note(f"{strategy}: {query}", recalled.items, recalled.degradations)
        of_may = memory.recall(query, timeframe="May 2023", limit=20)
        note(f"May: {query}", of_may.items, of_may.undated)
        context = memory.context(query, max_tokens=600)
        note(f"context: {query}", context.sources, context.text, context.tokens)
        answer = memory.ask(query)
        note(f"answer: {query}", answer.trace.candidates, answer.text, answer.support)
    return texts, numbers


def hold_alike(one: tuple[dict[str, Any], list[float]], other: tuple[dict[str, Any], list[float]]) -> None:
    """Both are the same, their numbers to the last digit."""
    assert one == other


@pytest.mark.parametrize("given", [{}, {"hot_units": 12}, {"index": "memory"}])
def test_private_turns_of_another_agent_change_nothing_of_what_is_found(
    open_memory: OpenMemory, new_address: NewAddress, given: dict[str, Any]
) -> None:
    without_others, with_others = (
        search_all(add_turns(open_memory(path=new_address(f"{hidden}"), **given), hidden))
        for hidden in (0, HIDDEN)
    )
    hold_alike(without_others, with_others)
    assert len(without_others[0][f"turns: {ASKED}"][0]) == 20


def test_private_turns_change_nothing_where_the_index_is_out_of_use(
    open_memory: OpenMemory, new_address: NewAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    memories = [add_turns(open_memory(path=new_address(f"{hidden}")), hidden) for hidden in (0, 300)]

    async def fails(*_: object) -> None:
        raise IndexUnavailable("out of use")

    for index in (RowIndex, SegmentIndex, PostgresIndex):
        monkeypatch.setattr(index, "mark", fails)
    without_others, with_others = map(search_all, memories)
    hold_alike(without_others, with_others)
    assert "keywords in the log" in repr(without_others)


@pytest.mark.parametrize(
    "question",
    [
        ASKED,
        "Who pays the ransom of the duke?",
        "When does the ferry leave?",
        "What did Ann say of the barn?",
        "Is the roof new?",
        "How many hens are there?",
    ],
)
def test_usage_does_not_show_what_others_asked(open_memory: OpenMemory, question: str) -> None:
    owner, elsewhere = (open_memory(share="semantic", space=space) for space in ("here", "elsewhere"))
    for memory in (owner, elsewhere):
        memory.add("The ferry leaves at nine.", speaker="Ann")
    used = [
        memory.ask(question).usage.embedding_tokens
        for memory in (owner.as_agent("planner"), owner, owner.as_agent("other"), elsewhere)
    ]
    assert used == [used[0]] * 4
    assert used[0] > 0
