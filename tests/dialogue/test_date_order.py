"""The order of day and month is decided from all dates of a file, said, and given by the caller."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.apps.test_commands import as_json, tiermem
from tests.dialogue.test_chats import opened
from tiermem.dialogue import Conversation, read_dialogue
from tiermem.errors import InvalidInput


def read(text: str, name: str = "chat.txt", **options: Any) -> Conversation:
    (conversation,) = read_dialogue(opened(text, name), **options)
    return conversation


def days(conversation: Conversation) -> list[date | None]:
    turns = [turn for session in conversation.sessions for turn in session.turns]
    return [None if turn.said_at is None else turn.said_at.date() for turn in turns]


def whatsapp(*stamps: str) -> str:
    return "".join(f"{stamp} - Ines: Message {number}\n" for number, stamp in enumerate(stamps))


@pytest.mark.parametrize(
    ("stamps", "first", "reason"),
    [
        (["5/4/25, 09:31"], date(2025, 5, 4), "as in the USA"),
        (["5/4/25, 19:31", "5/6/25, 08:02"], date(2025, 5, 4), "far apart"),
        (["3/4/25, 9:31", "4/4/25, 9:32", "5/4/25, 10:00"], date(2025, 4, 3), "far apart"),
        (["5/4/25, 9:31 PM"], date(2025, 5, 4), "am and pm"),
        (["05/04/2025, 09:31"], date(2025, 4, 5), "--date-order mdy"),
        (["5/4/25, 9:31"], date(2025, 4, 5), "--date-order mdy"),
        (["5.4.25, 09:31"], date(2025, 4, 5), "--date-order mdy"),
        (["12/4/25, 9:31", "12/14/25, 9:31"], date(2025, 12, 4), "12/14/25 has no other reading"),
        (["1/12/25, 9:31", "13/12/25, 9:31"], date(2025, 12, 1), "13/12/25 does not begin with a month"),
        (["2/3/25, 10:31", "1/4/25, 10:31"], date(2025, 3, 2), "run backwards"),
        (["11/28/26, 07:15", "11/29/26, 22:40"], date(2026, 11, 28), "11/28/26 has no other reading"),
        (["7/4/26, 09:05", "7/12/26, 21:30"], date(2026, 7, 4), "far apart"),
        (["1/30/26, 08:00", "2/1/26, 08:10"], date(2026, 1, 30), "1/30/26 has no other reading"),
        (["9/5/25, 08:00", "10/2/25, 23:59"], date(2025, 9, 5), "in the other order the dates run backwards"),
        (["4/7/26, 07:15"], date(2026, 4, 7), "as in the USA"),
        (["26/7/30, 21:05", "26/8/1, 21:06"], date(2026, 7, 30), "other orders the days are far apart"),
        (["18/8/26, 18:54", "18/9/2, 07:00", "18/9/3, 07:00"], date(2018, 8, 26), "days are far apart"),
        (["26/07/09, 21:05", "26/08/10, 7:00"], date(2026, 7, 9), "other orders the days are far apart"),
        (["26/7/4, 21:05"], date(2004, 7, 26), "26/7/4 does not begin with a month"),
        (["12/3/21, 9:00", "12/3/22, 9:00"], date(2021, 3, 12), "leaves it open"),
        (["15/11/24, 8:00", "15/12/24, 8:00", "15/1/25, 8:00"], date(2024, 11, 15), "begin with a month"),
        (["24/12/24, 8:00", "1/1/25, 8:00"], date(2024, 12, 24), "begin with a month"),
        (["1/5/20, 8:00", "1/5/24, 8:00", "2/6/24, 8:00"], date(2020, 5, 1), "leaves it open"),
        (["3/2/25, 10:31", "4/1/25, 10:31"], date(2025, 3, 2), "run backwards"),
    ],
)
def test_all_dates_of_a_chat_decide(stamps: list[str], first: date, reason: str) -> None:
    conversation = read(whatsapp(*stamps))
    assert days(conversation)[0] == first
    (note,) = conversation.notes
    assert note.startswith("'chat.txt': dates are read ")
    assert reason in note


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("[3/12/2025 10:00] Ann: Hi\n[3/13/2025 10:00] Bob: Hi\n", date(2025, 3, 12)),
        ("[12.3.2025 10:00] Ann: Hi\n[13.3.2025 10:00] Bob: Hi\n", date(2025, 3, 12)),
        ("# 12.3.2025\nAnn: Hi\n", date(2025, 3, 12)),
        ("3/12/25\nAnn: Hi\n\n3/14/25\nAnn: Hm\n", date(2025, 3, 12)),
        ("# Call on 12-03-2025\nAnn: Hi\n# Call on 15-03-2025\nBob: Hm\n", date(2025, 3, 12)),
        ("[3/12/25, 9:05 pm] Ann: Hi\n", date(2025, 3, 12)),
    ],
)
def test_all_dates_of_a_transcript_decide(text: str, first: date) -> None:
    conversation = read(text, format="transcript")
    assert days(conversation)[0] == first
    assert "dates are read" in conversation.notes[0]


@pytest.mark.parametrize(
    ("stamps", "first", "notes"),
    [
        (["5/4/2025 10:00 AM", "5/13/2025 11:00 AM"], date(2025, 5, 4), ["5/13/2025 has no other reading"]),
        (
            ["04.05.2025 10:00", "13.05.2025 11:00"],
            date(2025, 5, 4),
            ["13.5.2025 does not begin with a month"],
        ),
        (["5/4/25 10:00 PM"], date(2025, 5, 4), ["am and pm"]),
        (["05/04/2025"], date(2025, 4, 5), ["--date-order mdy"]),
        (["2025-04-05 10:00", "2025-04-06 10:00:30"], date(2025, 4, 5), []),
        (["2025/04/05 10:00", ""], date(2025, 4, 5), []),
        (["1743847200", "5 April 2025"], date(2025, 4, 5), []),
    ],
)
def test_all_dates_of_a_table_decide(stamps: list[str], first: date, notes: list[str]) -> None:
    rows = "".join(f"{stamp};Ines;Message {number}\n" for number, stamp in enumerate(stamps))
    conversation = read(f"date;sender;message\n{rows}", "chat.csv")
    assert days(conversation)[0] == first
    assert len(conversation.notes) == len(notes)
    assert all(part in note for part, note in zip(notes, conversation.notes, strict=True))


def test_the_caller_decides_for_a_table_and_what_is_no_date_is_named() -> None:
    table = "date,time,name,text\n05/04/2025,10:00,Ann,Hi\n05/44/2025,10:00,Bo,Hm\n05/05/2025,11:30,Bo,Ok\n"
    skipped: list[str] = []
    conversation = read(table, "chat.csv", date_order="mdy", on_skipped=skipped.append)
    assert days(conversation) == [date(2025, 5, 4), date(2025, 5, 5)]
    (reason,) = skipped
    assert "line 3: '05/44/2025 10:00' is not a timestamp" in reason


@pytest.mark.parametrize(
    ("order", "stamp", "expected"),
    [
        ("mdy", "05/04/2025, 19:31", date(2025, 5, 4)),
        ("dmy", "5/4/25, 09:31", date(2025, 4, 5)),
        ("dmy", "5/4/25, 9:31 PM", date(2025, 4, 5)),
        ("ymd", "25/04/05, 19:31", date(2025, 4, 5)),
        ("mdy", "5.4.25, 19:31", date(2025, 5, 4)),
    ],
)
def test_the_caller_decides(tmp_path: Path, order: Any, stamp: str, expected: date) -> None:
    assert days(read(whatsapp(stamp), date_order=order)) == [expected]
    file = tmp_path / "chat.txt"
    file.write_text(whatsapp(stamp))
    as_json(tmp_path / "memory", "ingest", str(file), "--date-order", order)
    assert f"{expected:%Y-%m-%d}" in tiermem(tmp_path / "memory", "pages", "--json").stdout


def test_another_order_is_refused() -> None:
    with pytest.raises(InvalidInput, match="date_order"):
        read(whatsapp("5/4/25, 09:31"), date_order="myd")


def test_ingest_says_which_order_was_taken(tmp_path: Path) -> None:
    file = tmp_path / "chat.txt"
    file.write_text(whatsapp("5/4/25, 09:31"))
    assert "dates are read month first" in tiermem(tmp_path / "memory", "ingest", str(file)).stderr
    (note,) = as_json(tmp_path / "memory", "ingest", str(file))["notes"]
    assert "as in the USA" in note


@pytest.mark.parametrize(
    "heading",
    [
        "# 3. März 2026",
        "# Dienstag, 3. März 2026",
        "## 3 mars 2026",
        "# 3 de marzo de 2026",
        "# 3 março 2026",
        "# 3 maart 2026",
        "# 3 marca 2026",
        "3. marts 2026",
        "# 2026年3月3日",
        "# 2026년 3월 3일",
        "# 3. Mär. 2026",
    ],
)
def test_headings_in_other_languages_are_dates(heading: str) -> None:
    conversation = read(f"# 2 March 2026\nAnn: Hi\n\n{heading}\nAnn: Hm\n", format="transcript")
    assert days(conversation) == [date(2026, 3, 2), date(2026, 3, 3)]
    assert len(conversation.sessions) == 2
    assert not conversation.notes


@pytest.mark.parametrize(
    "heading",
    [
        "# 3. Brumaire 2026",
        "# 3 березня 2026",
        "3 березня 2026",
        "## 2026 Nisan 14",
        "# 31 февраля 2026 г.",
    ],
)
def test_a_heading_that_looks_like_a_date_and_is_not_read_is_noted_with_its_line(heading: str) -> None:
    (note,) = read(f"# 2 March 2026\nAnn: Hi\n\n{heading}\nAnn: Hm\n").notes
    assert f"line 4: {heading!r}" in note


@pytest.mark.parametrize(
    "line",
    [
        "# Basics",
        "# Top 10 of all",
        "## 1.2.34",
        "1.2.34",
        "# Chapter 3",
        "It was 2026 or so",
        "# Version 2026",
    ],
)
def test_other_lines_are_no_dates(line: str) -> None:
    conversation = read(f"Ann: Hi\n{line}\nof it\n", format="transcript")
    assert (days(conversation), conversation.notes) == ([None], ())
