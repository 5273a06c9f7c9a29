"""Which turns may count: who said them, in which role, and when; in search, context and ask alike."""

from typing import Any

import pytest

import tiermem
from pagestore import Turn
from tests.api.conftest import OpenMemory, tell
from tests.reading.world import ListIndex
from tiermem.errors import InvalidInput

ANN = "My sister Ingrid moved from Lisbon to Oslo in March."
BOB = "My sister Petra moved from Lisbon to Turin in June."
BOT = "The sister of somebody moved from Lisbon to Cairo, the register says."
QUESTION = "Where did the sister from Lisbon move?"
NAMES = ("Oslo", "Turin", "Cairo")

TURNS = (
    Turn(
        speaker="Ann",
        text=ANN,
        role="user",
        said_at=tiermem.dialogue.parse_time("2024-03-01T10:00"),
        metadata={"channel": "family", "tags": ["north", 7], "pinned": True},
    ),
    Turn(
        speaker="Bob",
        text=BOB,
        role="user",
        said_at=tiermem.dialogue.parse_time("2024-06-01T23:30"),
        metadata={"channel": "family", "tags": ["south"], "pinned": 1},
    ),
    Turn(speaker="helper", text=BOT, role="assistant", metadata={"channel": "Family", "tags": "north"}),
)

FILTERS: tuple[tuple[dict[str, Any], set[str]], ...] = (
    ({"speaker": "Ann"}, {"Oslo"}),
    ({"speaker": "bOB"}, {"Turin"}),
    ({"role": "user"}, {"Oslo", "Turin"}),
    ({"role": "ASSISTANT"}, {"Cairo"}),
    ({"said_after": "2024-06-01"}, {"Turin"}),
    ({"said_before": "2024-06-01"}, {"Oslo", "Turin"}),
    ({"said_after": "2024-03-01T10:00", "said_before": "2024-03-01T10:00"}, {"Oslo"}),
    ({"said_before": "2024-06-01T23:29"}, {"Oslo"}),
    ({"speaker": "Ann", "role": "assistant"}, set[str]()),
    ({"speaker": "nobody"}, set[str]()),
    ({"where": {"channel": "family"}}, {"Oslo", "Turin"}),
    ({"where": {"channel": "family", "tags": "south"}}, {"Turin"}),
    ({"where": {"tags": "north"}}, {"Oslo", "Cairo"}),
    ({"where": {"tags": 7.0}}, {"Oslo"}),
    ({"where": {"pinned": True}}, {"Oslo"}),
    ({"where": {"pinned": 1}}, {"Turin"}),
    ({"where": {"tags": "north"}, "role": "user"}, {"Oslo"}),
    ({"where": {"colour": "red"}}, set[str]()),
    ({"where": {}}, set(NAMES)),
)


def told(memory: tiermem.Memory, **only: Any) -> list[set[str]]:
    """Which of the three names each of the calls brings."""
    shown = (
        memory.search(QUESTION, **only),
        memory.search(QUESTION, kind="turns", **only),
        memory.search(QUESTION, kind="pages", **only),
        memory.context(QUESTION, **only),
        memory.ask(QUESTION, mode="raw", **only).trace.candidates,
        memory.ask(QUESTION, **only).trace.candidates,
    )
    return [{name for name in NAMES if name in repr(one)} for one in shown]


@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize(("only", "names"), FILTERS)
def test_what_is_not_asked_for_is_nowhere_and_what_is_everywhere(
    open_memory: OpenMemory, only: dict[str, Any], names: set[str], *, sealed: bool
) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    memory.add(TURNS)
    if sealed:
        memory.flush()
        assert memory.units()
    assert told(memory) == [set(NAMES)] * 6
    assert told(memory, **only) == [names] * 6


@pytest.mark.parametrize("vectors", [True, False])
def test_a_turn_is_found_however_many_others_come_before_it(
    open_memory: OpenMemory, *, vectors: bool
) -> None:
    index = ListIndex()
    index.without_vectors = None if vectors else tiermem.errors.EmbedderUnavailable("no weights")
    memory = open_memory(path=":memory:", index=index, distil="deferred")
    others = (f"Where did the sister from Lisbon move? Number {n} asks." for n in range(400))
    said = [Turn(speaker="crowd", text=text) for text in others]
    said[200:200] = [Turn(speaker="Ann", text="She is in Oslo, my sister.")]
    memory.add(said)
    memory.flush()
    assert "Oslo" not in repr(memory.search(QUESTION, kind="turns"))
    for found in told(memory, speaker="Ann"):
        assert found == {"Oslo"}


def test_without_an_index_the_words_in_the_log_are_filtered_too(open_memory: OpenMemory) -> None:
    index = ListIndex()
    memory = open_memory(path=":memory:", index=index)
    memory.add(TURNS)
    index.broken = tiermem.errors.SummaryIndexError("gone")
    assert told(memory, speaker="Ann") == [{"Oslo"}] * 6


def test_a_real_index_is_filtered_as_well(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory)
    memory.flush()
    found = memory.search("What did Melanie tell of the roof and the dog?", speaker="Caroline")
    assert found
    assert "1,450" not in repr(found)
    assert "1,450" not in memory.context("What was paid for the roof?", speaker="Caroline").text
    assert "1,450" in memory.context("What was paid for the roof?", speaker="Melanie").text


def test_an_answer_keeps_what_was_asked_of_turns_and_is_run_again_so(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory)
    answer = memory.ask("Where did Ingrid move?", speaker="Caroline", said_after="2023-06-01")
    turns = answer.trace.turns
    assert turns is not None
    assert (turns.speaker, str(turns.said_after)) == ("Caroline", "2023-06-01 00:00:00")
    again = memory.replay(answer.id, rerun=True).rerun
    assert again is not None
    assert again.trace.turns == turns
    assert memory.ask("Where did Ingrid move?").trace.turns is None
    asked = memory.ask("Where did Ingrid move?", where={"channel": "family", "year": 2023}).trace.turns
    kept = memory.get(memory.answers()[-1].id)
    assert isinstance(kept, tiermem.Answer)
    assert kept.trace.turns == asked
    assert asked is not None
    assert [(one.key, one.value) for one in asked.where] == [("channel", "family"), ("year", 2023)]


@pytest.mark.parametrize(
    ("only", "name"),
    [
        ({"speaker": ""}, "speaker"),
        ({"speaker": 5}, "speaker"),
        ({"role": ["user"]}, "role"),
        ({"said_after": "soon"}, "said_after"),
        ({"said_before": {}}, "said_before"),
        ({"said_before": " "}, "said_before"),
        ({"where": "channel"}, "where"),
        ({"where": {"channel": None}}, "where"),
        ({"where": {"channel": ["general"]}}, "where"),
        ({"where": {"channel": float("nan")}}, "where"),
        ({"where": {5: "general"}}, "a key of where"),
    ],
)
def test_what_cannot_be_asked_of_turns_is_refused_by_name(
    open_memory: OpenMemory, only: dict[str, object], name: str
) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    for call in (memory.search, memory.context, memory.ask):
        with pytest.raises(InvalidInput, match=f"^{name}"):
            call(QUESTION, **only)  # type: ignore[arg-type]  # that is what is tested
