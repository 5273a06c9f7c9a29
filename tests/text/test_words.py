from hypothesis import given, settings
from hypothesis import strategies as st

from tiermem.text import sentences, stems, words


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
