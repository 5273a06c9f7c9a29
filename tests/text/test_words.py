import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiermem.text import search_words, sentences, stems, words


@settings(max_examples=200)
@given(st.text(st.sampled_from("aB .!?\n\t\"')…。é1"), max_size=80))
def test_sentences_stand_where_they_say_and_lose_only_white_space(text: str) -> None:
    pieces = sentences(text)
    assert all(text[piece.start : piece.end] == piece.text for piece in pieces)
    kept = "".join("".join(piece.text.split()) for piece in pieces)
    assert kept == "".join(text.split())


def test_sentences_end_at_their_marks_and_not_at_abbreviations_or_numbers() -> None:
    text = 'Dr. Smith paid 3.50 for it. "Really?" Yes!\nNext line'
    assert [piece.text for piece in sentences(text)] == [
        "Dr. Smith paid 3.50 for it.",
        '"Really?"',
        "Yes!",
        "Next line",
    ]


def test_stems_leave_out_stop_words_and_endings() -> None:
    assert stems("She was painting the neighbours' paintings") == ["paint", "neighbour", "paint"]
    assert words("Don’t STOP") == ["don't", "stop"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Plain words stay.", ["plain", "words", "stay"]),
        ("猫が魚を食べた", ["猫が", "が魚", "魚を", "を食", "食べ", "べた"]),
        ("水", ["水"]),
        ("2024年3月に家", ["2024", "3", "年", "月に", "に家"]),
        ("Anna 住在巴黎 now", ["anna", "now", "住在", "在巴", "巴黎"]),
        ("ปลาแห้ง", ["ปล", "ลา", "าแ", "แห", "ห้", "้ง"]),
        ("カフェ ｶﾌｪ", ["カフ", "フェ", "ｶﾌ", "ﾌｪ"]),
        ("cafe\N{COMBINING ACUTE ACCENT} 👍🏽 ok", ["café", "ok", "👍"]),
        ("Der Schlüssel🔑7", ["der", "schlüssel", "7", "🔑"]),
        ("", []),
    ],
)
def test_a_text_is_found_by_words_emoji_and_pairs_of_unspaced_characters(text: str, found: list[str]) -> None:
    assert search_words(text) == found


@given(st.text(st.sampled_from("aB 猫が水ปล1é🔑.\n"), max_size=40))
def test_what_is_searched_for_is_in_the_text(text: str) -> None:
    plain = unicodedata.normalize("NFC", text)
    assert all(word in plain.lower() for word in search_words(text))
    assert search_words(text) if any(c.isalnum() or c == "🔑" for c in text) else not search_words(text)
