"""Plain transcripts."""

import io
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dialogue.test_files import read_one, refusal, said
from tiermem.dialogue import read_dialogue
from tiermem.dialogue.speakers import LABELS, RARE_NAMES

at = datetime.fromisoformat


def test_names_and_words_become_turns() -> None:
    assert said(read_one("Ann: Hi Bob!\nBob B. Miller: Hi: how are you?\n")) == {
        "chat": [("Ann", "Hi Bob!"), ("Bob B. Miller", "Hi: how are you?")]
    }


def test_a_line_that_opens_no_turn_continues_the_one_before() -> None:
    text = "Ann: First\nsecond\n\nafter a gap\n\tNote: indented is no speaker\n  10:30 at http://x\nBob: Ok\n"
    words = "First\nsecond\n\nafter a gap\nNote: indented is no speaker\n  10:30 at http://x"
    assert said(read_one(text)) == {"chat": [("Ann", words), ("Bob", "Ok")]}


def test_a_full_width_colon_opens_a_turn() -> None:
    text = "2025年5月4日\n李雷：钥匙在邻居那里。\n韩梅: 好的\n注意：晚上去拿。\n李雷：谢谢，时间：八点\n"
    words = [("李雷", "钥匙在邻居那里。"), ("韩梅", "好的\n注意：晚上去拿。"), ("李雷", "谢谢，时间：八点")]
    (session,) = read_one(text).sessions
    assert [(turn.speaker, turn.text) for turn in session.turns] == words
    assert {turn.said_at for turn in session.turns} == {at("2025-05-04")}


def test_moments_in_brackets_are_read() -> None:
    text = "[2024-05-08T13:56:00] Ann: Hi\n[1:57 pm on 8 May, 2024] Bob: Hi\nAnn: no moment\n"
    turns = read_one(text).sessions[0].turns
    assert [turn.said_at for turn in turns] == [
        at("2024-05-08T13:56"),
        at("2024-05-08T13:57"),
        None,
    ]


def test_a_malformed_moment_is_named_with_its_line() -> None:
    assert "line 2: 'noonish' is not a timestamp" in refusal("Ann: Hi\n[noonish] Bob: Hi\n")


def test_a_moment_without_a_speaker_is_refused() -> None:
    assert "line 2: [2024-05-08] is followed by no 'Name: text'" in refusal("Ann: Hi\n[2024-05-08] hello\n")


@pytest.mark.parametrize(
    "heading",
    [
        "# Session 2, 9 May 2024",
        "## Session 2 (2024-05-09)",
        "# 2024-05-09",
        "2024-05-09",
        "[9 May 2024]",
        "Thursday, May 9, 2024",
        "# Call with Bob on 9 May 2024",
    ],
)
def test_a_heading_starts_a_session_and_dates_its_turns(heading: str) -> None:
    conversation = read_one(f"# Session 1\nAnn: Hi\n\n{heading}\nBob: Hi\n[10:30] Ann: Hm\n")
    assert said(conversation) == {"chat": [("Ann", "Hi")], "chat-2": [("Bob", "Hi"), ("Ann", "Hm")]}
    assert [turn.said_at for turn in conversation.sessions[1].turns] == [
        at("2024-05-09"),
        at("2024-05-09T10:30"),
    ]
    assert conversation.sessions[0].turns[0].said_at is None


def test_a_heading_quoted_in_an_answer_is_not_a_session() -> None:
    assert said(read_one("Ann: Explain\nBob: Sure\n# Basics\nof it\n")) == {
        "chat": [("Ann", "Explain"), ("Bob", "Sure\n# Basics\nof it")]
    }


def test_two_blank_lines_start_a_session_and_one_is_spacing() -> None:
    assert said(read_one("\nAnn: 1\n\nBob: 2\n\n\nAnn: 3\n")) == {
        "chat": [("Ann", "1"), ("Bob", "2")],
        "chat-2": [("Ann", "3")],
    }


def test_a_time_of_day_needs_a_date() -> None:
    assert "line 1: '10:30' is a time without a date" in refusal("[10:30] Ann: Hi\n")


def test_windows_line_ends_and_strange_separators_do_not_split_turns() -> None:
    assert said(read_one("Ann: a\u2028b\x85c\x0bd\r\nBob: e\r\n")) == {
        "chat": [("Ann", "a\u2028b\x85c\x0bd"), ("Bob", "e")]
    }


def test_a_turn_of_many_lines_is_read_in_one_go() -> None:
    words = "\n".join("word " * 5 + str(n) for n in range(40_000))
    assert said(read_one(f"Ann: {words}")) == {"chat": [("Ann", words)]}


def test_brackets_and_blanks_by_the_hundred_thousand_do_not_stall() -> None:
    for text in ("Ann: Hi\n[" + "1" * 300_000, "Ann: Hi\n# " + " #" * 200_000, "Ann: Hi\n" + "a " * 200_000):
        assert read_dialogue(io.StringIO(text))[0].turns == 1


_names = st.from_regex(r"[A-Z][a-z]{1,9}( [A-Z][a-z]{1,9})?", fullmatch=True).filter(
    lambda name: name.lower() not in LABELS | RARE_NAMES
)
_words = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])).map(str.strip)


@given(st.lists(st.tuples(_names, _words), min_size=1))
def test_what_is_written_as_a_transcript_reads_back(told: list[tuple[str, str]]) -> None:
    text = "".join(f"{who}: {words}\n" for who, words in told)
    assert said(read_one(text)) == {"chat": told}


@pytest.mark.parametrize(
    "heading",
    ["# 4. Mai", "## June 7", "# 31. April 2026", "### le 9 juillet", "# 2. Juni (Di)", "# 30 February 2026"],
)
def test_what_follows_a_heading_with_a_day_that_is_not_read_has_no_date_of_another_day(heading: str) -> None:
    text = f"# 3 March 2026\nYlva: The fence is red.\n{heading}\nBo: The roof is tight.\n"
    (conversation,) = read_dialogue(io.StringIO(text))
    first, second = conversation.sessions
    assert [(turn.text, turn.said_at and f"{turn.said_at:%Y-%m-%d}") for turn in first.turns] == [
        ("The fence is red.", "2026-03-03")
    ]
    assert [(turn.text, turn.said_at) for turn in second.turns] == [("The roof is tight.", None)]
    assert [note for note in conversation.notes if f"line 3: {heading!r}" in note]


@pytest.mark.parametrize(
    "heading",
    [
        "=== Sonntag, 4. Mai 2025 ===",
        "--- 4 May 2025 ---",
        "-- 2025-05-04 --",
        "——— 04.05.2025 ———",
        "~~4 mai 2025~~",
    ],
)
@pytest.mark.parametrize("above", ["", "Ylva: The fence is red.\n"])
def test_a_date_between_rules_is_a_heading(heading: str, above: str) -> None:
    conversation = read_one(f"{above}{heading}\nBo: The roof is tight.\n")
    assert [turn.said_at for turn in conversation.sessions[-1].turns] == [at("2025-05-04")]
    assert len(conversation.sessions) == 1 + bool(above)


@pytest.mark.parametrize(
    "line",
    [
        "-----BEGIN CERTIFICATE-----",
        "--- a/tiermem/model.py",
        "--verbose",
        "== 4 ==",
        "**4 May 2025**",
        "---",
        "=== call me ===",
    ],
)
def test_other_lines_with_rules_stay_part_of_what_was_said(line: str) -> None:
    (session,) = read_one(f"Ylva: It says:\n{line}\nBo: Fine.\n").sessions
    assert [turn.text for turn in session.turns] == [f"It says:\n{line}", "Fine."]


def test_a_date_between_rules_that_is_not_read_is_listed() -> None:
    (conversation,) = read_dialogue(
        io.StringIO("--- 4 May ---\nYlva: It is red.\n=== 5 May ===\nBo: Fine.\n")
    )
    assert [turn.said_at for session in conversation.sessions for turn in session.turns] == [None, None]
    assert [note.split("line ")[1][:2] for note in conversation.notes] == ["1:", "3:"]


@pytest.mark.parametrize(
    "heading", ["# Shopping", "## May I ask", "# Top 5", "# Step 2 of 3", "# 12 monkeys"]
)
def test_a_heading_without_a_day_stays_part_of_what_was_said(heading: str) -> None:
    text = f"# 3 March 2026\nYlva: The fence is red.\n{heading}\nBo: The roof is tight.\n"
    (conversation,) = read_dialogue(io.StringIO(text))
    (session,) = conversation.sessions
    assert [turn.text for turn in session.turns] == [f"The fence is red.\n{heading}", "The roof is tight."]


def test_moments_without_brackets_are_read() -> None:
    text = (
        "Chat: Familie\n2025-03-02 19:04 Heike: Hallo Jörg\nwie geht es\n"
        "2025-03-02T19:05:10 Jörg: Gut. 2025-03-03 10:00 Uhr: Treffen\n"
    )
    turns = read_one(text).sessions[0].turns[1:]
    assert [(turn.speaker, turn.said_at, turn.text) for turn in turns] == [
        ("Heike", at("2025-03-02T19:04"), "Hallo Jörg\nwie geht es"),
        ("Jörg", at("2025-03-02T19:05:10"), "Gut. 2025-03-03 10:00 Uhr: Treffen"),
    ]
