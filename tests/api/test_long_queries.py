"""Search, recall and contexts take messages of any length; of a long one the end is searched for."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import tiermem
from tests.api.conftest import OpenMemory
from tiermem.errors import InvalidInput
from tiermem.reading import LONGEST_QUESTION

FACTS = (
    "The kiln is hot.",
    "Mittens sleeps in the boathouse.",
    "鍵は金魚鉢の下にあります。",
    "Das Boot liegt in Kiel.",
)
MESSAGES = {
    "log": ("2024-05-08 ERROR worker 3 stopped\n" * 400 + "Is the kiln hot?", FACTS[0]),
    "table": ("name;size;day\n" + "bolt;12;Monday\n" * 600 + "\n\nwhere does Mittens sleep", FACTS[1]),
    "json": (json.dumps({"rows": [[n, "x" * 20] for n in range(400)]}) + " Wo liegt das Boot?", FACTS[3]),
    "without blanks": ("a" * 90_000 + "\n金魚鉢", FACTS[2]),
    "blanks at the end": ("word " * 2_000 + "kiln hot" + " \n" * 5_000, FACTS[0]),
    "Windows lines": ("one\r\n" * 3_000 + "Mittens?\r\n", FACTS[1]),
}
SEARCHES: dict[str, Callable[[tiermem.Memory, str], object]] = {
    "search": lambda memory, text: memory.search(text),
    "recall": lambda memory, text: memory.recall(text).items,
    "workspace": lambda memory, text: memory.workspace().recall(text).items,
    "context": lambda memory, text: memory.context(text, max_tokens=200).text,
}


@pytest.fixture
def memory(open_memory: OpenMemory) -> tiermem.Memory:
    """A memory of the facts."""
    memory = open_memory()
    memory.add([{"role": "user", "content": fact} for fact in FACTS])
    return memory


@pytest.mark.parametrize(("text", "fact"), MESSAGES.values(), ids=MESSAGES)
def test_the_end_of_a_long_message_finds_by_its_words(memory: tiermem.Memory, text: str, fact: str) -> None:
    assert len(text) > LONGEST_QUESTION
    assert fact in memory.recall(text, strategy="fulltext").items[0].text
    assert fact in memory.workspace().recall(text, strategy="fulltext").items[0].text


@pytest.mark.parametrize("text", [text for text, _ in MESSAGES.values()], ids=MESSAGES)
@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_a_long_message_finds_what_its_end_finds(
    memory: tiermem.Memory, search: Callable[[tiermem.Memory, str], object], text: str
) -> None:
    found = search(memory, text)
    assert found
    assert found == search(memory, text.strip()[-LONGEST_QUESTION:])


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_what_holds_no_words_is_refused_at_any_length(
    memory: tiermem.Memory, search: Callable[[tiermem.Memory, str], object]
) -> None:
    with pytest.raises(InvalidInput, match="must be a text with words in it"):
        search(memory, "\n \t" * 40_000)


def test_a_long_question_to_answer_is_refused(memory: tiermem.Memory) -> None:
    with pytest.raises(InvalidInput, match="may be 4,000 characters long"):
        memory.ask(MESSAGES["log"][0])
