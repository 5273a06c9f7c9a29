"""A turn that is too long for a context is cut to the passages that match; repeated words are one source."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiermem
from pagestore import Turn
from pagestore.testing import odd_text
from tests.engines import quoting_engine
from tests.text.dialogue import page_of
from tiermem.embedding.hashed import HashEmbedder
from tiermem.model import Evidence
from tiermem.reading.passages import LONGEST_PIECE, cut_turn
from tiermem.reading.turns import FoundTurn
from tiermem.text import stems

SETTINGS: dict[str, Any] = {"engine": quoting_engine(), "index": "memory", "distil": "inline"}
BEFORE = " ".join(f"On day {n} we walked {n} kilometres along the coast." for n in range(1, 120))
AFTER = " ".join(f"In week {n} the cook baked bread with seeds." for n in range(1, 120))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[tiermem.Memory]:
    with tiermem.open(tmp_path / "memory", embedder=HashEmbedder(), **SETTINGS) as opened:
        yield opened


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("The locker combination is 5502.", "What is the locker combination?"),
        ("Our ferry leaves from pier nine.", "From which pier does our ferry leave?"),
        ("My aunt Frieda repairs violins.", "What does aunt Frieda repair?"),
        ("- allergies: walnuts, celery\n- blood group: AB", "Which allergies did I list?"),
        ("Ticket KX-881 was closed by Omar.", "Who closed KX-881?"),
    ],
)
@pytest.mark.parametrize("max_tokens", [200, 600, 1500])
def test_the_passage_of_a_long_turn_that_matches_is_in_the_context(
    memory: tiermem.Memory, said: str, question: str, max_tokens: int
) -> None:
    memory.add(f"{BEFORE}\n{said}\n{AFTER}", speaker="Ann")
    memory.add("What lovely weather.", speaker="Bob")
    memory.flush()
    context = memory.context(question, max_tokens=max_tokens)
    assert all(line in context.text for line in said.splitlines())
    assert context.tokens <= max_tokens
    (turn,) = (one for one in context.sources if one.source == "turn" and said.splitlines()[0] in one.text)
    page = memory.page(turn.spans[0].page_id)
    assert "…" in turn.text
    shown = [page.text[span.start : span.end].replace("\n\t", "\n") for span in turn.spans]
    assert [part.strip() for part in turn.text.removeprefix("Ann: ").strip("… ").split(" … ")] == shown


def test_a_turn_that_fits_is_not_cut(memory: tiermem.Memory) -> None:
    memory.add("The key is under the mat. The gate code is 3380.", speaker="Ann")
    memory.flush()
    assert "The key is under the mat. The gate code is 3380." in memory.context("gate code").text


def test_what_was_taken_back_is_in_no_passage(memory: tiermem.Memory) -> None:
    memory.add(f"{BEFORE} {AFTER}", speaker="Ann")
    memory.flush()
    (unit,) = (one for one in memory.units() if "In week 30 " in one.text)
    memory.withdraw(unit.id, reason="It was wrong.")
    context = memory.context("What did the cook bake in week 30, and in week 70?", max_tokens=800)
    assert "In week 70 the cook baked bread" in context.text
    assert "In week 30 " not in context.text


def found_turn(text: str) -> FoundTurn:
    """A turn of a page with these words."""
    page = page_of([Turn(speaker="Ann", text=text)])
    (line,) = (one for one in page.lines if one.turn is not None)
    return FoundTurn(page=page, line=line, score=1.0)


@settings(max_examples=60, deadline=None)
@given(
    text=st.lists(odd_text.filter(str.strip), min_size=1, max_size=8).map(" ".join), room=st.integers(1, 80)
)
def test_a_cut_turn_fits_and_has_its_words_in_order(text: str, room: int) -> None:
    turn = found_turn(text)

    def fits(item: Evidence) -> bool:
        return len(item.text.split()) <= room

    cut = cut_turn(turn, lambda texts: [float(len(set(stems(one)))) for one in texts], fits)
    if cut is None:
        return
    assert fits(cut.evidence())
    ends = [turn.line.body]
    for part in cut.parts:
        assert ends[-1] <= part.start < part.end <= turn.line.end
        ends.append(part.end)


def test_a_sentence_without_an_end_is_cut_into_pieces() -> None:
    turn = found_turn("word " * 500 + "target " + "word " * 500)
    cut = cut_turn(
        turn, lambda texts: [float("target" in one) for one in texts], lambda item: len(item.text) < 700
    )
    assert cut is not None
    assert "target" in cut.evidence().text
    assert max(part.end - part.start for part in cut.parts) <= 3 * LONGEST_PIECE


def test_the_same_words_are_one_source_with_their_dates(memory: tiermem.Memory) -> None:
    days = ("2024-01-08", "2024-02-12", "2024-03-18", "2024-05-20")
    for day in days:
        for text in ("I swim in the lake every Monday.", f"Today I also bought a stamp, number {day[-2:]}."):
            memory.add(text, speaker="Ann", session=day, said_at=f"{day}T09:00:00")
    memory.add("I swim in the lake every Monday!", speaker="Bob", session="b", said_at="2024-03-19T09:00:00")
    memory.flush()
    context = memory.context("When does Ann swim in the lake?")
    assert context.text.count("I swim in the lake every Monday.") == 1
    assert f"said {', '.join(days)}" in context.text
    assert "Bob: I swim in the lake every Monday!" in context.text
    (source,) = (one for one in context.sources if "every Monday." in one.text)
    assert len({span.page_id for span in source.spans}) == len(days)


def test_of_many_dates_of_the_same_words_their_number_is_given(memory: tiermem.Memory) -> None:
    for month in range(1, 11):
        memory.add("The rent is due.", speaker="Ann", session=f"s{month}", said_at=f"2024-{month:02}-01")
    memory.flush()
    said = "said 2024-01-01, 2024-02-01, 2024-03-01, 2024-04-01, 2024-05-01, 5 more days"
    assert said in memory.context("Is the rent due?").text
