import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiermem.index import encoding
from tiermem.index.bm25 import AVERAGE_STEMS, weigh_terms
from tiermem.index.encoding import (
    PIECE,
    PIECES,
    key,
    name_of,
    pieces,
    turn_pieces,
)
from tiermem.index.features import count_terms
from tiermem.text import search_stems, stems

anything = st.text(st.characters(codec=None, categories=None), max_size=60)


def test_stems_that_are_stored_do_not_change_unnoticed() -> None:
    """When this fails, stored indexes no longer fit: raise `SCHEMA`, then correct the numbers here."""
    assert encoding.SCHEMA == 11
    assert search_stems("Her 草莓蛋糕 🎂 was baked") == ["bake", "草莓", "莓蛋", "蛋糕", "🎂"]
    assert stems("Ann's runners ran 3.5 miles; they re-run it, naïve café") == [
        "ann",
        "runner",
        "run",
        *"35",
        "mile",
        "run",
        "naïv",
        "café",
    ]
    shop = count_terms("the bicycle shop, a bicycle")
    for average, weights in (
        ("units", {414909675: 1.7546, 2892647586: 1.4592}),
        ("around", {414909675: 1.8854, 2892647586: 1.6495}),
    ):
        assert weigh_terms(shop, AVERAGE_STEMS[average]) == pytest.approx(weights, abs=1e-4)  # type: ignore[index]  # a key


def test_a_turn_is_embedded_sentence_by_sentence_with_its_speaker() -> None:
    text = "Wow! I moved to Lisbon last May. It rains there all the time, doesn't it? Yes."
    assert turn_pieces(text, "Ann") == [
        "Ann: Wow! I moved to Lisbon last May.",
        "Ann: It rains there all the time, doesn't it? Yes.",
    ]
    assert turn_pieces("Hello there.", None) == ["Hello there."]
    assert turn_pieces(" ", "Ann") == []


@given(text=st.text("ab .!?\n", max_size=4000))
def test_a_long_turn_costs_few_vectors_and_loses_no_letter(text: str) -> None:
    found = turn_pieces(text, None)
    assert len(found) <= encoding.TURN_PIECES + 1
    assert "".join("".join(found).split()) == "".join(text.split())


@given(left=anything, right=anything)
def test_keys_are_reversible_and_differ_where_names_differ(left: str, right: str) -> None:
    assert name_of(key(left)) == left
    assert (key(left) == key(right)) == (left == right)
    assert key(left).isascii()


@given(lines=st.lists(st.text("ab c😀", max_size=40).map(lambda part: part * 20), max_size=12))
def test_pieces_are_short_and_lose_no_word(lines: list[str]) -> None:
    text = "\n".join(lines)
    cut = pieces(text)
    assert all(0 < len(piece) <= PIECE for piece in cut)
    assert "".join("".join(cut).split()) == "".join(text.split())


def test_a_page_is_cut_at_lines_without_its_times() -> None:
    lines = [f"[2023-05-08T13:{n:02}:00] Ann: we talked about the garden at length" for n in range(20)]
    cut = pieces("\n".join(lines))
    assert len(cut) == 2
    assert all(line.startswith("Ann: ") for piece in cut for line in piece.splitlines())


def test_a_short_text_is_one_piece_and_a_blank_one_none() -> None:
    assert pieces("Ann planted tomatoes.\nThey grow.") == ["Ann planted tomatoes.\nThey grow."]
    assert pieces(" \n\t ") == []


def test_the_number_of_pieces_is_bounded() -> None:
    assert len(pieces("word " * 200_000)) == PIECES


@given(st.text(st.characters(exclude_categories=()), max_size=8))
def test_a_stored_name_is_that_of_one_name_alone(name: str) -> None:
    assert encoding.name_of(encoding.key(name)) == name
    assert encoding.key("é") != encoding.key("%C3%A9")
