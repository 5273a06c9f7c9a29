"""Files of turns without a session, stored, erased from and read in again under other names."""

import csv
import io
import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tiermem
from tiermem.dialogue import Conversation, read_dialogue

Line = tuple[str, str, str]
"""The time, the speaker and the words of a message."""
CHAT: list[Line] = [
    ("2024-05-14T09:00", "Noor", "The kiln is booked for Friday"),
    ("2024-05-14T09:00", "Emil", "I bring the cobalt glaze"),
    ("2024-05-14T09:01", "Noor", "ok"),
    ("2024-05-15T18:30", "Emil", "The wheel squeaks"),
    ("2024-05-15T18:31", "Noor", "ok"),
    ("2024-05-16T07:15", "Noor", "My studio code is 7741"),
]
OTHER: list[Line] = [
    ("2024-05-14T09:00", "Noor", "Two crates of clay came"),
    ("2024-05-14T09:00", "Emil", "The invoice is missing"),
    ("2024-05-15T18:30", "Emil", "Found it in the van"),
    ("2024-05-16T07:15", "Noor", "ok"),
]


def lines(chat: Sequence[Line], **more: Any) -> str:
    rows = [{"speaker": who, "text": text, "timestamp": when, **more} for when, who, text in chat]
    return "".join(json.dumps(row) + "\n" for row in rows)


def lines_with_ids(chat: Sequence[Line]) -> str:
    rows = [
        {"speaker": who, "text": text, "timestamp": when, "id": str(n)}
        for n, (when, who, text) in enumerate(chat, start=1)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def array(chat: Sequence[Line]) -> str:
    rows = [{"role": who, "content": text, "date": when} for when, who, text in chat]
    return json.dumps({"messages": rows})


def table(chat: Sequence[Line]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([("sender", "body", "sent_at"), *((who, said, at) for at, who, said in chat)])
    return text.getvalue()


def transcript(chat: Sequence[Line]) -> str:
    return "".join(f"[{when.replace('T', ' ')}] {who}: {text}\n" for when, who, text in chat)


def headings(chat: Sequence[Line]) -> str:
    """A session a day, each under a heading with its date."""
    text, day = "", ""
    for when, who, said in chat:
        text += f"# {when[:10]}\n" if when[:10] != day else ""
        day = when[:10]
        text += f"{who}: {said}\n"
    return text


Write = Callable[[Sequence[Line]], str]
FORMATS: list[tuple[Write, str]] = [
    (lines, ".jsonl"),
    (lines_with_ids, ".jsonl"),
    (array, ".json"),
    (table, ".csv"),
    (transcript, ".txt"),
    (headings, ".txt"),
]
in_all_formats = pytest.mark.parametrize(("write", "ending"), FORMATS, ids=[w.__name__ for w, _ in FORMATS])


@pytest.fixture
def memory(address: Path | str) -> Iterator[tiermem.Memory]:
    with tiermem.open(address, engine="local") as opened:
        yield opened


def read(text: str, name: str, **options: Any) -> Conversation:
    stream = io.BytesIO(text.encode())
    stream.name = name
    (conversation,) = read_dialogue(stream, **options)
    return conversation


def ingest(memory: tiermem.Memory, text: str, name: str, **options: Any) -> tuple[int, int, list[str]]:
    """How many turns were new and how many erased before, and the sessions."""
    stored = memory.ingest(read(text, name, **options))
    memory.flush()
    added = [one for _, one in stored]
    return sum(a.new for a in added), sum(a.erased for a in added), [session for session, _ in stored]


def erase_sessions(memory: tiermem.Memory, sessions: Sequence[str]) -> None:
    for session in sessions:
        memory.erase(session=session, reason="asked for")


def words(memory: tiermem.Memory) -> list[str]:
    pages = [memory.page(info.id) for info in memory.pages()]
    return sorted(line.turn.text for page in pages for line in page.lines if line.turn is not None)


def texts(chat: Sequence[Line]) -> list[str]:
    return sorted(text for _, _, text in chat)


@in_all_formats
@pytest.mark.parametrize("name", ["pottery (1)", "Copy of pottery", "x"])
def test_a_dated_file_under_another_name_is_stored_once(
    memory: tiermem.Memory, write: Write, ending: str, name: str
) -> None:
    new, _, sessions = ingest(memory, write(CHAT), f"pottery{ending}")
    assert new == len(CHAT)
    assert ingest(memory, write(CHAT), name + ending) == (0, 0, sessions)
    assert ingest(memory, write(CHAT), f"pottery{ending}") == (0, 0, sessions)
    assert words(memory) == texts(CHAT)


@in_all_formats
def test_a_file_that_has_grown_under_another_name_brings_what_is_new(
    memory: tiermem.Memory, write: Write, ending: str
) -> None:
    _, _, sessions = ingest(memory, write(CHAT[:5]), f"a{ending}")
    new, _, again = ingest(memory, write(CHAT), f"b{ending}")
    assert new == 1
    assert again[0] == sessions[0]
    assert ingest(memory, write(CHAT), f"c{ending}")[0] == 0
    assert words(memory) == texts(CHAT)


@in_all_formats
@pytest.mark.parametrize("is_whole", [False, True])
def test_what_was_erased_stays_away_under_another_file_name(
    memory: tiermem.Memory, write: Write, ending: str, is_whole: bool
) -> None:
    _, _, sessions = ingest(memory, write(CHAT), f"pottery{ending}")
    if is_whole:
        erase_sessions(memory, sessions)
    else:
        found = memory.search("studio code", kind="turns")[0]
        memory.erase(turn=found.turn, reason="asked for")
    gone = len(CHAT) if is_whole else 1
    assert ingest(memory, write(CHAT), f"other{ending}") == (0, gone, sessions)
    assert words(memory) == ([] if is_whole else texts(CHAT[:5]))


@in_all_formats
@pytest.mark.parametrize("is_erased", [False, True])
def test_another_chat_of_the_same_people_and_minutes_is_another_session(
    memory: tiermem.Memory, write: Write, ending: str, is_erased: bool
) -> None:
    _, _, sessions = ingest(memory, write(CHAT), f"kiln{ending}")
    if is_erased:
        erase_sessions(memory, sessions)
    new, erased, others = ingest(memory, write(OTHER), f"clay{ending}")
    assert (new, erased) == (len(OTHER), 0)
    assert not {*sessions} & {*others}
    assert ingest(memory, write(OTHER), f"mud{ending}") == (0, 0, others)


@pytest.mark.parametrize(
    ("first", "second"),
    [(lines, table), (table, transcript), (transcript, lines), (array, table), (lines, lines_with_ids)],
)
def test_a_dated_chat_in_another_format_is_stored_once(
    memory: tiermem.Memory, first: Write, second: Write
) -> None:
    endings = dict(FORMATS)
    _, _, sessions = ingest(memory, first(CHAT), f"a{endings[first]}")
    assert ingest(memory, second(CHAT), f"b{endings[second]}") == (0, 0, sessions)


@pytest.mark.parametrize("write", [lines, table, transcript])
def test_a_file_named_after_a_day_is_known_under_the_name_of_another_day(
    memory: tiermem.Memory, write: Write
) -> None:
    ending = dict(FORMATS)[write]
    _, _, sessions = ingest(memory, write(CHAT), f"notes 2024-05-16{ending}")
    assert ingest(memory, write(CHAT), f"notes 2024-06-01{ending}") == (0, 0, sessions)
    assert sessions == ["notes 2024-05-16"]


@pytest.mark.parametrize("name", ["log.txt", "longer.txt"])
def test_days_above_those_that_are_stored_become_sessions_of_their_own(
    memory: tiermem.Memory, name: str
) -> None:
    ingest(memory, headings(CHAT[3:]), "log.txt")
    earlier = [("2024-05-12", "Noor", "We open at ten"), ("2024-05-12", "Emil", "I have the key")]
    new, _, sessions = ingest(memory, headings([*earlier, *CHAT]), name)
    assert new == len(earlier) + 3
    assert len(set(sessions)) == 4
    assert ingest(memory, headings([*earlier, *CHAT]), "again.txt") == (0, 0, sessions)


@pytest.mark.parametrize(
    "chat",
    [CHAT[:1], CHAT[:2], [("2024-05-14T09:00", "Noor", "ok")], OTHER[:1], OTHER[2:4]],
)
@pytest.mark.parametrize("who", ["Noor", "Priya"])
def test_a_short_file_is_known_by_its_speakers_too(
    memory: tiermem.Memory, chat: list[Line], who: str
) -> None:
    ingest(memory, lines(chat), "a.jsonl")
    renamed = [(when, who if speaker == "Noor" else speaker, text) for when, speaker, text in chat]
    assert ingest(memory, lines(renamed), "b.jsonl")[0] == (0 if who == "Noor" else len(chat))


@pytest.mark.parametrize("write", [lines, table, transcript, array, lines_with_ids])
def test_a_session_that_the_caller_or_the_file_names_is_not_compared(
    memory: tiermem.Memory, write: Write
) -> None:
    ending = dict(FORMATS)[write]
    ingest(memory, write(CHAT), f"a{ending}")
    assert ingest(memory, write(CHAT), f"b{ending}", session="kiln") == (len(CHAT), 0, ["kiln"])
    assert ingest(memory, lines(CHAT, session="clay"), "c.jsonl") == (len(CHAT), 0, ["clay"])


def undated_lines(chat: Sequence[Line], dated: int = 0) -> str:
    rows = [
        {"speaker": who, "text": text, **({"timestamp": when} if n < dated else {})}
        for n, (when, who, text) in enumerate(chat)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def undated_array(chat: Sequence[Line]) -> str:
    return json.dumps({"messages": [{"role": who, "content": text} for _, who, text in chat]})


def undated_table(chat: Sequence[Line]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([("sender", "body"), *((who, said) for _, who, said in chat)])
    return text.getvalue()


def undated_transcript(chat: Sequence[Line]) -> str:
    return "".join(f"{who}: {text}\n" for _, who, text in chat)


def undated_headings(chat: Sequence[Line]) -> str:
    return "# Kiln\n\n" + "".join(f"**{who}**: {text}\n\n" for _, who, text in chat)


UNDATED: dict[str, tuple[Write, str]] = {
    "lines": (undated_lines, ".jsonl"),
    "one dated line": (partial(undated_lines, dated=1), ".jsonl"),
    "two dated lines": (partial(undated_lines, dated=2), ".jsonl"),
    "array": (undated_array, ".json"),
    "table": (undated_table, ".csv"),
    "transcript": (undated_transcript, ".txt"),
    "transcript with a heading": (undated_headings, ".md"),
}


@pytest.mark.parametrize(("write", "ending"), UNDATED.values(), ids=UNDATED)
def test_undated_text_under_another_name_is_another_session(
    memory: tiermem.Memory, write: Write, ending: str
) -> None:
    text = write(CHAT)
    assert ingest(memory, text, f"a{ending}") == (len(CHAT), 0, ["a"])
    assert ingest(memory, text, f"a{ending}") == (0, 0, ["a"])
    assert ingest(memory, text, f"b{ending}") == (len(CHAT), 0, ["b"])


@pytest.mark.parametrize(("write", "ending"), UNDATED.values(), ids=UNDATED)
def test_erased_undated_text_stays_away_under_its_own_name_alone(
    memory: tiermem.Memory, write: Write, ending: str
) -> None:
    ingest(memory, write(CHAT), f"a{ending}")
    memory.erase(session="a", reason="asked for")
    assert ingest(memory, write(CHAT), f"a{ending}") == (0, len(CHAT), ["a"])
    assert ingest(memory, write(CHAT), f"b{ending}") == (len(CHAT), 0, ["b"])


@pytest.mark.parametrize("ids", [["1", "2", "3"], ["m-1", "m-2"], ["7"]])
def test_few_ids_of_an_erased_file_do_not_keep_another_file_away(
    memory: tiermem.Memory, ids: list[str]
) -> None:
    def numbered(words: str) -> str:
        rows = [
            {"speaker": "Noor", "text": words * (n + 1), "timestamp": f"2024-05-0{n + 1}T10:00", "id": one}
            for n, one in enumerate(ids)
        ]
        return "".join(json.dumps(row) + "\n" for row in rows)

    ingest(memory, numbered("Glaze. "), "a.jsonl")
    memory.erase(session="a", reason="asked for")
    assert ingest(memory, numbered("The rent went up. "), "b.jsonl") == (len(ids), 0, ["b"])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("write", [lines_with_ids, headings, transcript])
def test_ids_and_lengths_of_an_erased_file_do_not_keep_another_file_away(
    memory: tiermem.Memory, write: Write, seed: int
) -> None:
    """Numbers are in many files, and so are days; lengths of short messages repeat."""
    chance = random.Random(seed)

    def talk(count: int) -> list[Line]:
        said = ["x" * chance.choice((2, 2, 3, 5, 9, 14, 20, 21, 30)) for _ in range(count)]
        return [
            (
                f"2024-05-14T09:{n % 60:02}" if seed % 2 else "2024-05-14T00:00",
                chance.choice(("N", "E")),
                text,
            )
            for n, text in enumerate(said)
        ]

    ending = dict(FORMATS)[write]
    _, _, sessions = ingest(memory, write(talk(120)), f"a{ending}")
    erase_sessions(memory, sessions)
    assert ingest(memory, write(talk(40)), f"b{ending}") == (40, 0, ["b"])


def test_what_a_caller_added_is_no_file(memory: tiermem.Memory) -> None:
    for when, who, text in CHAT:
        memory.add(text, speaker=who, said_at=when, session="main")
    assert ingest(memory, lines(CHAT), "a.jsonl") == (len(CHAT), 0, ["a"])


def test_an_agent_does_not_continue_the_file_of_another(memory: tiermem.Memory) -> None:
    for agent in (memory.as_agent("potter"), memory.as_agent("clerk")):
        assert sum(added.new for _, added in agent.ingest(read(lines(CHAT), "a.jsonl"))) == len(CHAT)
        assert sum(added.new for _, added in agent.ingest(read(lines(CHAT), "b.jsonl"))) == 0


def whatsapp(chat: Sequence[Line]) -> str:
    rows = ((f"{at[8:10]}/{at[5:7]}/{at[:4]}, {at[11:]}", who, said) for at, who, said in chat)
    return "".join(f"{at} - {who}: {said}\n" for at, who, said in rows)


@pytest.mark.parametrize(
    ("write", "ending"),
    [(lines, ".jsonl"), (table, ".csv"), (transcript, ".txt"), (whatsapp, ".txt")],
    ids=lambda value: value.__name__ if callable(value) else "",
)
@pytest.mark.parametrize("gone", [1, 2, 3, 5])
@pytest.mark.parametrize("name", ["same", "other"])
def test_an_erased_message_stays_away_when_its_contact_is_renamed(
    memory: tiermem.Memory, write: Write, ending: str, gone: int, name: str
) -> None:
    ingest(memory, write(CHAT), f"same{ending}")
    when, who, text = CHAT[gone]
    found = [one for one in memory.search(f'"{text}"', kind="turns", limit=9) if one.speaker == who]
    said = [one for one in found if one.said_at is not None and f"{one.said_at:%Y-%m-%dT%H:%M}" == when]
    assert len(said) == 1
    memory.erase(turn=said[0].turn, reason="asked to")
    left = words(memory)
    for renamed in (f"{who} Berg", f"{who[:2]} \N{PINE DECORATION}"):
        file = [(at, renamed if speaker == who else speaker, text) for at, speaker, text in CHAT]
        new, erased, _ = ingest(memory, write(file), f"{name}{ending}")
        assert (new, erased) == (0, 1)
        assert words(memory) == left
    grown = [*file, ("2024-05-17T08:00", renamed, "The kiln is free again")]
    assert ingest(memory, write(grown), f"{name}{ending}")[:2] == (1, 1)
    assert words(memory) == sorted([*left, "The kiln is free again"])
    assert ingest(memory, write(grown), f"{name}{ending}")[:2] == (0, 1)
