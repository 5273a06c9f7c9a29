"""Files read in more than once, edited, grown, erased from, or beside others with the same session name."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import tiermem
from pagestore import Turn
from tests.api.conftest import OpenMemory
from tiermem.dialogue import read_dialogue

CHAT = [
    {"speaker": "Ann", "text": "My locker code is 0417."},
    {"speaker": "Bob", "text": "Noted.", "timestamp": "2023-05-08T13:56:00"},
]


@pytest.fixture
def memory(open_memory: OpenMemory) -> tiermem.Memory:
    return open_memory(path=":memory:")


def read(folder: Path, *told: dict[str, Any]) -> Sequence[Turn]:
    """The turns of a file."""
    file = folder / "chat.jsonl"
    file.write_text("".join(json.dumps(turn) + "\n" for turn in told))
    ((session,),) = (conversation.sessions for conversation in read_dialogue(file))
    return session.turns


def texts(memory: tiermem.Memory) -> list[str | None]:
    """What is stored, in order; `None` for what was erased."""
    return [
        line.turn.text if line.turn else None for page in memory.open_pages("chat") for line in page.lines
    ]


def test_a_file_that_has_grown_brings_what_is_new(memory: tiermem.Memory, tmp_path: Path) -> None:
    assert memory.add(read(tmp_path, *CHAT), session="chat").new == 2
    assert memory.add(read(tmp_path, *CHAT, {"speaker": "Ann", "text": "Bye."}), session="chat").new == 1
    assert memory.add(read(tmp_path, *CHAT, {"speaker": "Ann", "text": "Bye."}), session="chat").new == 0


@pytest.mark.parametrize(
    "change", [{"text": "My locker code is 0418."}, {"speaker": "Eve"}, {"timestamp": "2023-05-09T10:00:00"}]
)
def test_what_another_file_of_the_session_says_at_the_same_place_is_stored_once_too(
    memory: tiermem.Memory, tmp_path: Path, change: dict[str, str]
) -> None:
    other = [{**CHAT[0], **change}, *CHAT[1:]]
    third = [{**CHAT[0], **change, "text": "Hello"}]
    for file, new in ((CHAT, 2), (other, 1), (third, 1), (CHAT, 0), (other, 0), (third, 0)):
        assert memory.add(read(tmp_path, *file), session="chat").new == new


def test_a_turn_erased_does_not_come_back_with_its_file(memory: tiermem.Memory, tmp_path: Path) -> None:
    turns = read(tmp_path, *CHAT)
    memory.add(turns, session="chat")
    memory.erase(turn=turns[0].turn_id, session="chat", reason="asked to")
    assert memory.add(turns, session="chat").new == 0
    assert texts(memory) == [None, "Noted."]


TALK = [
    "Hello.",
    "ok",
    "I moved to Oslo.",
    "ok",
    "My locker code is 0417.",
    "ok",
    "See you at the pottery studio.",
]


def said(*texts: str, day: int | None = None) -> list[dict[str, Any]]:
    """The lines of a file; with `day` a minute apart."""
    times = [
        {} if day is None else {"timestamp": f"2023-05-{day:02}T10:{n % 60:02}"} for n in range(len(texts))
    ]
    return [{"speaker": "Ann", "text": text, **time} for text, time in zip(texts, times, strict=True)]


def talk(folder: Path, *texts: str) -> Sequence[Turn]:
    """The turns of a file without times."""
    return read(folder, *said(*texts))


def everything(memory: tiermem.Memory) -> list[str]:
    """The words on all pages."""
    sealed = [memory.page(info.id) for info in memory.pages("chat")]
    lines = [line for page in (*sealed, *memory.open_pages("chat")) for line in page.lines]
    return [line.turn.text for line in lines if line.turn]


@pytest.mark.parametrize(
    ("changed", "new"),
    [
        (["Before all that.", *TALK], 1),
        ([*TALK[:3], "It rained.", *TALK[3:]], 1),
        ([*TALK[:3], "ok", "ok", *TALK[3:]], 2),
        ([*TALK, "ok", "Bye."], 2),
        ([*TALK[:2], "I moved to Bergen.", *TALK[3:]], 1),
        (TALK[2:], 0),
        ([*TALK[:1], *TALK[4:]], 0),
        (["New.", *TALK[1:4], "Newer.", *TALK[5:]], 2),
    ],
)
def test_of_an_edited_file_only_what_is_new_is_stored(
    memory: tiermem.Memory, tmp_path: Path, changed: list[str], new: int
) -> None:
    memory.add(talk(tmp_path, *TALK), session="chat")
    added = memory.add(talk(tmp_path, *changed), session="chat")
    assert (added.new, added.known) == (new, len(changed) - new)
    assert memory.add(talk(tmp_path, *changed), session="chat").new == 0
    assert memory.add(talk(tmp_path, *TALK), session="chat").new == 0
    assert {*everything(memory)} == {*TALK, *changed}


def test_a_line_put_into_a_file_with_times_is_the_only_one_stored(
    memory: tiermem.Memory, tmp_path: Path
) -> None:
    lines = said(*TALK, day=8)
    memory.add(read(tmp_path, *lines), session="chat")
    memory.flush()
    late = {**lines[2], "speaker": "Bob", "text": "ok"}
    assert memory.add(read(tmp_path, *lines[:3], late, *lines[3:]), session="chat").new == 1
    assert texts(memory) == ["ok"]


def test_the_rest_of_a_file_given_alone_is_stored_whole(memory: tiermem.Memory, tmp_path: Path) -> None:
    """What comes later may repeat what was said before: that is no reason to leave it out."""
    turns = talk(tmp_path, *TALK, "ok", "Hello.", "ok")
    memory.add(turns[:7], session="chat")
    assert memory.add(turns[5:], session="chat").new == 3


@pytest.mark.parametrize("day", [None, 8])
@pytest.mark.parametrize("more", [["It rained."], ["It rained.", "And rained."]])
@pytest.mark.parametrize("where", [0, 3, 4, 5, 7])
def test_an_erased_turn_stays_away_wherever_its_file_was_edited(
    memory: tiermem.Memory, tmp_path: Path, where: int, more: list[str], day: int | None
) -> None:
    lines = said(*TALK, day=day)
    turns = read(tmp_path, *lines)
    memory.add(turns, session="chat")
    if len(more) > 1:
        memory.flush()
    memory.erase(turn=turns[4].turn_id, session="chat", reason="asked to")
    added = memory.add(read(tmp_path, *lines[:where], *said(*more), *lines[where:]), session="chat")
    assert (added.new, added.known, added.erased) == (len(more), len(TALK) - 1, 1)
    assert sorted(everything(memory)) == sorted([*TALK[:4], *TALK[5:], *more])


@pytest.mark.parametrize("day", [None, 8])
@pytest.mark.parametrize(
    ("erased", "edited"),
    [
        (4, (3, 4, 5)),
        (4, (4,)),
        (4, (2, 3, 4)),
        (4, (4, 5, 6)),
        (0, (0, 1)),
        (6, (5, 6)),
        (3, (1, 2, 3, 4, 5)),
        (4, (0, 1, 2, 3, 4, 5, 6)),
    ],
)
def test_an_erased_turn_stays_away_where_it_and_its_neighbours_were_edited(
    memory: tiermem.Memory, tmp_path: Path, erased: int, edited: tuple[int, ...], day: int | None
) -> None:
    lines = said(*TALK, day=day)
    turns = read(tmp_path, *lines)
    memory.add(turns, session="chat")
    memory.erase(turn=turns[erased].turn_id, session="chat", reason="asked to")
    changed = [
        {**line, "text": f"{line['text']} I said that on day {n} of the flood."} if n in edited else line
        for n, line in enumerate(lines)
    ]
    added = memory.add(read(tmp_path, *changed), session="chat")
    assert (added.new, added.erased) == (len(edited) - 1, 1)
    assert changed[erased]["text"] not in everything(memory)


@pytest.mark.parametrize("day", [None, 8])
@pytest.mark.parametrize(
    ("place", "stored"),
    [(0, True), (1, True), (3, True), (4, False), (5, False), (6, True), (7, True)],
    ids=["first", "second", "fourth", "right before it", "right after it", "two after it", "last"],
)
def test_an_erased_turn_stays_away_where_a_line_of_its_length_was_put_into_the_file(
    memory: tiermem.Memory, tmp_path: Path, place: int, stored: bool, day: int | None
) -> None:
    """Between the same neighbours the two cannot be told apart, so neither is stored."""
    lines = said(*TALK, day=day)
    turns = read(tmp_path, *lines)
    memory.add(turns, session="chat")
    memory.erase(turn=turns[4].turn_id, session="chat", reason="asked to")
    new = {**lines[4], "text": "My bicycle has a bell.."}
    assert len(new["text"]) == len(TALK[4])
    changed = [*lines[:place], new, *lines[place:]]
    for count in (stored, False):
        added = memory.add(read(tmp_path, *changed), session="chat")
        assert (added.new, added.erased) == (count, 1 if stored else 2)
    assert sorted(everything(memory)) == sorted([*TALK[:4], *TALK[5:], *[new["text"]] * stored])


@pytest.mark.parametrize("day", [None, 8])
@pytest.mark.parametrize("is_sealed", [False, True])
@pytest.mark.parametrize(
    "order",
    [
        (4, 0, 1, 2, 3, 5, 6),
        (0, 4, 1, 2, 3, 5, 6),
        (0, 1, 2, 4, 3, 5, 6),
        (0, 1, 2, 3, 5, 4, 6),
        (3, 0, 1, 2, 4, 5, 6),
        (0, 1, 2, 3, 4, 6, 5),
        (6, 5, 4, 3, 2, 1, 0),
    ],
)
def test_an_erased_turn_stays_away_where_its_line_or_others_were_moved(
    memory: tiermem.Memory, tmp_path: Path, order: tuple[int, ...], is_sealed: bool, day: int | None
) -> None:
    lines = said(*TALK, day=day)
    turns = read(tmp_path, *lines)
    memory.add(turns, session="chat")
    if is_sealed:
        memory.flush()
    memory.erase(turn=turns[4].turn_id, session="chat", reason="asked to")
    added = memory.add(read(tmp_path, *(lines[n] for n in order)), session="chat")
    assert (added.new, added.known, added.erased) == (0, len(TALK) - 1, 1)
    assert everything(memory) == [*TALK[:4], *TALK[5:]]


@pytest.mark.parametrize("more", [1, 2, 5])
def test_what_repeats_the_length_of_an_erased_last_turn_is_stored(
    memory: tiermem.Memory, tmp_path: Path, more: int
) -> None:
    turns = talk(tmp_path, *TALK)
    memory.add(turns, session="chat")
    memory.erase(turn=turns[6].turn_id, session="chat", reason="asked to")
    said_since = [f"{TALK[6][:-1]}{number}" for number in range(more)]
    added = memory.add(talk(tmp_path, *TALK, *said_since), session="chat")
    assert (added.new, added.known, added.erased) == (more, 6, 1)
    assert everything(memory)[-more:] == said_since


@pytest.mark.parametrize("erased", range(7))
def test_lines_of_the_length_of_an_erased_one_are_stored_where_the_file_has_grown(
    memory: tiermem.Memory, tmp_path: Path, erased: int
) -> None:
    turns = talk(tmp_path, *TALK)
    memory.add(turns, session="chat")
    memory.erase(turn=turns[erased].turn_id, session="chat", reason="asked to")
    more = [text.upper() for text in TALK]
    added = memory.add(talk(tmp_path, *TALK, *more), session="chat")
    assert (added.new, added.known, added.erased) == (7, 6, 1)
    assert everything(memory)[-7:] == more


ROUTE = [
    ("Lea", "The ferry to Texel leaves at nine."),
    ("Jan", "ok"),
    ("Lea", "Who brings the tent?"),
    ("Jan", "My pin is 5582, take cash."),
    ("Lea", "ok"),
    ("Jan", "The camp is behind the dunes."),
]


def _edits(lines: list[dict[str, Any]], at: int) -> dict[str, list[dict[str, Any]]]:
    """Nine kinds of edits of a file around the line that was erased."""
    alike = {**lines[at], "text": "x" * len(lines[at]["text"])}
    before, line, after = lines[:at], lines[at], lines[at + 1 :]
    rest = [*before, *after]
    return {
        "a line before it": [*before, {**alike, "text": "It may rain on the way."}, line, *after],
        "a line after it": [*before, line, {**alike, "text": "It may rain on the way."}, *after],
        "one of its length before it": [*before, alike, line, *after],
        "one of its length after it": [*before, line, alike, *after],
        "the line moved up": [line, *rest],
        "the line moved down": [*rest[:-1], line, rest[-1]],
        "lines above it taken out": [line, *after],
        "lines around it edited": [
            *({**one, "text": f"{one['text']} Or so."} for one in before),
            line,
            *({**one, "text": f"{one['text']} Or so."} for one in after),
        ],
        "lines in another order": [*reversed(lines)],
    }


@pytest.mark.parametrize("is_dated", [False, True])
@pytest.mark.parametrize("erased", range(len(ROUTE)))
@pytest.mark.parametrize("kind", _edits([{"text": ""}] * 2, 0))
def test_nine_kinds_of_edits_bring_no_erased_turn_back(
    memory: tiermem.Memory, tmp_path: Path, kind: str, erased: int, is_dated: bool
) -> None:
    lines: list[dict[str, Any]] = [
        {"speaker": who, "text": f"{text} ({n})"} for n, (who, text) in enumerate(ROUTE)
    ]
    if is_dated:
        lines = [{**line, "timestamp": f"2024-06-02T08:0{n}"} for n, line in enumerate(lines)]
    if erased == len(ROUTE) - 1 and not is_dated and kind == "one of its length before it":
        lines.append({"speaker": "Lea", "text": "See you there."})  # else it is as if the file had grown
    turns = read(tmp_path, *lines)
    memory.add(turns, session="chat")
    if erased % 2:
        memory.flush()
    memory.erase(turn=turns[erased].turn_id, session="chat", reason="asked to")
    for _ in range(2):
        memory.add(read(tmp_path, *_edits(lines, erased)[kind]), session="chat")
        assert lines[erased]["text"] not in everything(memory)
        assert {line["text"] for line in lines} - {*everything(memory)} == {lines[erased]["text"]}


@pytest.mark.parametrize("change", [{"timestamp": "2024-06-02T08:30"}, {"speaker": "Mo"}])
@pytest.mark.parametrize("where", [0, 2, 3, 4, 6])
@pytest.mark.parametrize("erased", [0, 3, 5])
def test_a_new_line_of_the_length_of_an_erased_one_is_stored_under_its_own_time_or_speaker(
    memory: tiermem.Memory, tmp_path: Path, erased: int, where: int, change: dict[str, str]
) -> None:
    lines: list[dict[str, Any]] = [
        {"speaker": who, "text": text, "timestamp": f"2024-06-02T08:0{n}"}
        for n, (who, text) in enumerate(ROUTE)
    ]
    turns = read(tmp_path, *lines)
    memory.add(turns, session="chat")
    memory.erase(turn=turns[erased].turn_id, session="chat", reason="asked to")
    new = {**lines[erased], "text": "x" * len(lines[erased]["text"]), **change}
    added = memory.add(read(tmp_path, *lines[:where], new, *lines[where:]), session="chat")
    assert (added.new, added.known, added.erased) == (1, len(ROUTE) - 1, 1)
    assert new["text"] in everything(memory)


def test_a_long_turn_that_was_erased_stays_away_too(memory: tiermem.Memory, tmp_path: Path) -> None:
    long = "\n".join(f"On day {day} it rained again, and nobody went out." for day in range(400))
    turns = talk(tmp_path, "Hello.", long, "Bye.")
    memory.add(turns, session="chat")
    memory.erase(turn=turns[1].turn_id, session="chat", reason="asked to")
    added = memory.add(talk(tmp_path, "First.", "Hello.", "Then.", long, "Bye."), session="chat")
    assert (added.new, added.known, added.erased) == (2, 2, 1)


def test_what_follows_an_erased_last_turn_is_stored(memory: tiermem.Memory, tmp_path: Path) -> None:
    turns = talk(tmp_path, *TALK)
    memory.add(turns, session="chat")
    memory.erase(turn=turns[6].turn_id, session="chat", reason="asked to")
    added = memory.add(talk(tmp_path, *TALK, "Bye.", "Until tomorrow."), session="chat")
    assert (added.new, added.known, added.erased) == (2, 6, 1)


def test_turns_with_ids_of_their_own_say_that_they_were_erased(memory: tiermem.Memory) -> None:
    mine = [{"speaker": "Ann", "text": text, "id": text[:2]} for text in ("Hello.", "My code is 0417.")]
    memory.add(mine, session="chat")
    memory.erase(turn="My", session="chat", reason="asked to")
    added = memory.add([*mine, "", {"role": "assistant", "content": " "}], session="chat")
    assert (added.turns, added.new, added.known, added.erased, added.empty) == (4, 0, 1, 1, 2)


def test_many_equal_lines_are_told_from_a_new_one(memory: tiermem.Memory, tmp_path: Path) -> None:
    many = ["ok"] * 400
    memory.add(talk(tmp_path, *many), session="chat")
    assert memory.add(talk(tmp_path, "Hello.", *many), session="chat").new == 1


DAYS = [*said("Fresh bread on Monday.", "ok", "ok", "The oven is at 230.", "ok", "Bring flour.", day=9)]


@pytest.mark.parametrize("lines", [DAYS, said("ok", "ok", "ok", day=3), said("Hm.", "Hm?", "Hm!", day=4)])
@pytest.mark.parametrize("before", [1, 2, 5])
def test_an_erased_day_stays_away_from_a_file_that_begins_earlier(
    memory: tiermem.Memory, tmp_path: Path, lines: list[dict[str, Any]], before: int
) -> None:
    memory.add(read(tmp_path, *lines), session="chat")
    memory.flush()
    memory.erase(session="chat", reason="asked to")
    earlier = [
        {"speaker": "Ann", "text": lines[n % len(lines)]["text"], "timestamp": f"2023-05-01T09:0{n}"}
        for n in range(before)
    ]
    added = memory.add(read(tmp_path, *earlier, *lines), session="chat")
    assert (added.new, added.known, added.erased) == (before, 0, len(lines))
    assert everything(memory) == [line["text"] for line in earlier]


@pytest.mark.parametrize("gone", [0, 2, 3, 5])
@pytest.mark.parametrize("who", ["Ann", "Bob"])
def test_an_erased_turn_stays_away_beside_a_new_one_of_equal_length(
    memory: tiermem.Memory, tmp_path: Path, gone: int, who: str
) -> None:
    turns = read(tmp_path, *DAYS)
    memory.add(turns, session="chat")
    memory.erase(turn=turns[gone].turn_id, session="chat", reason="asked to")
    new = {"speaker": who, "text": "x" * len(DAYS[gone]["text"]), "timestamp": "2023-05-09T09:00"}
    added = memory.add(read(tmp_path, *DAYS[:gone], new, *DAYS[gone:]), session="chat")
    assert (added.new, added.known, added.erased) == (1, len(DAYS) - 1, 1)


def test_two_who_speak_in_one_minute_have_places_of_their_own(memory: tiermem.Memory, tmp_path: Path) -> None:
    at = {"timestamp": "2023-05-08T13:56"}
    lines = [{"speaker": who, "text": text, **at} for who, text in (("Ann", "a"), ("Bob", "b"), ("Ann", "c"))]
    ids = [turn.turn_id for turn in read(tmp_path, *lines)]
    assert len(set(ids)) == 3
    assert [turn.turn_id for turn in read(tmp_path, lines[1], lines[0], lines[2])] == [ids[1], ids[0], ids[2]]
