"""Pages are found by what stands on them as if each had been read."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore import DiskLog, FindsPages, LogOptions, MemoryLog, Page, PageId, SessionId, SpaceId, Turn
from pagestore.lines.files import FileLines
from pagestore.log import Log
from tests.pagestore.memoryfiles import MemoryFiles

MOMENT = datetime(2024, 3, 1, tzinfo=UTC)
WORDS = (
    "strasse",
    "kiosk",
    "straße",
    "KIOSK",
    "ﬁnd",
    "find",
    "fjord",
    "søster",
    "SØSTER",
    "7",
    '"',
    "\n",
    "\ud800",
)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
turns = st.lists(
    st.tuples(
        st.sampled_from(["s1", "s2"]),
        st.sampled_from(["Ann", 'B"ø\nb']),
        texts,
        st.none() | st.sampled_from(WORDS),
    ),
    max_size=12,
)


def log_of(said: list[tuple[str, str, str, str | None]]) -> DiskLog:
    """A log of several parts."""
    options = LogOptions(page_tokens=12, segment_bytes=600, clock=lambda: MOMENT)
    log = DiskLog("log", SpaceId("any"), options=options, files=MemoryFiles())
    taken = set()
    for session, speaker, text, name in said:
        turn_id = None if (session, name) in taken else name
        taken.add((session, name))
        log.append(SessionId(session), [Turn(speaker=speaker, text=text, turn_id=turn_id)])
    return log


def all_pages(log: Log) -> Iterator[Page]:
    yield from (log.page(info.id) for info in log.pages())
    yield from (log.page(info.id) for info in log.filling())


def read(log: Log, holds: Callable[[int, Turn], bool]) -> set[PageId]:
    """The pages with a turn of which something is true, found by reading all."""
    return {
        page.id for page in all_pages(log) for line in page.lines if line.turn and holds(line.seq, line.turn)
    }


@given(said=turns, word=st.sampled_from(["strasse", "kiosk", "find", "fjord", "søster", "7"]))
def test_pages_that_say_a_word_are_found(said: list[tuple[str, str, str, str | None]], word: str) -> None:
    log = log_of(said)
    assert isinstance(log, FindsPages)

    def says(text: str) -> bool:
        return word in text.casefold().split()

    found = log.pages_with([(word,), ("unheard",)], says)
    assert len(found) == len(set(found))
    assert set(found) == read(log, lambda _, turn: says(turn.text) or says(turn.turn_id or ""))


@given(said=turns, group=st.lists(st.sampled_from(["strasse", "kiosk", "find", "fjord", "7"]), min_size=1))
def test_turns_are_asked_about_where_they_hold_all_words_of_a_group(
    said: list[tuple[str, str, str, str | None]], group: list[str]
) -> None:
    asked: list[str] = []

    def says(text: str) -> bool:
        asked.append(text)
        return all(word in text.casefold() for word in group)

    found = log_of(said).pages_with([group, ("unheard", *group)], says)
    together = [text for _, _, text, name in said if all(word in text.casefold() for word in group)]
    assert set(together) <= set(asked)
    assert bool(found) >= bool(together)


@given(said=turns)
def test_pages_of_a_turn_are_found_by_its_id(said: list[tuple[str, str, str, str | None]]) -> None:
    log = log_of(said)
    for name in WORDS:
        assert set(log.pages_of_turn(name)) == read(log, lambda _, turn: turn.turn_id == name)  # noqa: B023


def test_metadata_is_searched_and_passes_for_no_field() -> None:
    log = MemoryLog(options=LogOptions(page_tokens=12, clock=lambda: MOMENT))
    session, odd = (
        SessionId("s1"),
        {"k": "b", "q": 1, "sp": "Bob", "x": "fjord", "t": "turn", "s": ["kiosk", 7]},
    )
    log.append(session, [Turn(speaker="Ann", text="one " * 9, turn_id="a", metadata=odd)])
    log.append(session, [Turn(speaker="Ann", text="two " * 9, turn_id="b")])
    (first, second) = (page.id for page in all_pages(log))
    assert log.pages_of_turn("b") == (second,)
    assert log.pages_of_turn("1") == ()
    assert log.speakers() == {"Ann": 2}
    for word in ("fjord", "kiosk", "7"):
        assert log.pages_with([(word,)], lambda text: word in text.split()) == (first,)  # noqa: B023


@given(said=turns)
def test_who_spoke_is_counted(said: list[tuple[str, str, str, str | None]]) -> None:
    log = log_of(said)
    spoke = Counter(line.turn.speaker for page in all_pages(log) for line in page.lines if line.turn)
    assert log.speakers() == spoke


def test_a_turn_that_waited_for_the_next_page_is_found_there() -> None:
    log = MemoryLog(options=LogOptions(page_tokens=30, clock=lambda: MOMENT))
    session = SessionId("s1")
    for number in range(20):
        log.append(session, [Turn(speaker="Ann", text=f"word{number} " + "and more " * 8)])
    assert len(log.pages()) > 2
    for number in range(20):
        (found,) = log.pages_with([(f"word{number}", "and")], lambda text: f"word{number}" in text.split())  # noqa: B023
        assert f"word{number} " in log.page(found).text


def test_what_was_erased_is_found_no_more() -> None:
    log = log_of([("s1", "Ann", "fjord", "7"), ("s1", "Ann", "kiosk", None)])
    (page,) = log.pages_of_turn("7")
    (line,) = [line for line in log.page(page).lines if line.turn and line.turn.turn_id == "7"]
    log.erase(page, line.seq, "asked to")
    assert log.pages_of_turn("7") == ()
    assert log.pages_with([("fjord",)], lambda text: True) == ()
    assert log.speakers() == {"Ann": 1}


@pytest.mark.parametrize("reading", ["pages_with", "pages_of_turn", "speakers"])
def test_damaged_lines_hide_their_own_page_alone(reading: str) -> None:
    log = log_of([("s1", "Ann", "fjord", "a"), ("s2", "Ann", "fjord", "b")])
    whole = (log.pages_with([("fjord",)], lambda text: True), log.pages_of_turn("b"), log.speakers())
    lines = log._lines
    assert isinstance(lines, FileLines)
    lines._segments.write(1, lines.data(1).index(b'"k":"a"') + 5, b"x")
    if reading == "pages_with":
        assert set(log.pages_with([("fjord",)], lambda text: True)) == set(whole[0][1:])
    elif reading == "pages_of_turn":
        assert log.pages_of_turn("b") == whole[1]
        assert log.pages_of_turn("a") == ()
    else:
        assert log.speakers() == whole[2]
