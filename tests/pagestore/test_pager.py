"""Paging and counting: nothing lost, nothing split without need."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore import EstimateCounter
from pagestore.pager import cut, full_page
from pagestore.testing import odd_text

count = EstimateCounter().count


def pages_of(tokens: list[int], target: int) -> list[list[int]]:
    pages = []
    while taken := full_page(tokens, target):
        pages.append(tokens[:taken])
        tokens = tokens[taken:]
    return [*pages, tokens]


@given(st.lists(st.integers(1, 150)), st.integers(1, 100))
def test_paging_keeps_every_turn_in_order(tokens: list[int], target: int) -> None:
    assert [size for page in pages_of(tokens, target) for size in page] == tokens


@given(st.lists(st.integers(1, 150)), st.integers(1, 100))
def test_a_page_goes_past_the_target_only_with_a_single_turn_and_is_closed_only_when_full(
    tokens: list[int], target: int
) -> None:
    *closed, still_open = pages_of(tokens, target)
    assert all(len(page) == 1 or sum(page) <= target for page in closed)
    assert sum(still_open) < target
    for page, following in pairwise([*closed, still_open]):
        assert sum(page) >= target or sum(page) + following[0] > target


@given(st.lists(odd_text, max_size=8).map("".join), st.integers(1, 60))
def test_the_parts_of_a_cut_text_join_to_it(text: str, limit: int) -> None:
    assert "".join(cut(text, limit, count)) == text


@pytest.mark.parametrize(
    "text", ["x" * 9_000, "word " * 3_000, "One. " * 2_000, "好。" * 2_000, "\n" * 5_000, ""]
)
def test_the_parts_of_a_cut_text_keep_to_the_limit(text: str) -> None:
    assert all(count(part) <= 120 for part in cut(text, 100, count))


def test_a_text_is_cut_behind_sentences() -> None:
    parts = cut("We went home. It rained all day. " * 40, 50, count)
    assert all(part.rstrip().endswith(".") for part in parts)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("", 0, 0),
        ("Hello, world!", 4, 4),
        ("I went to a support group yesterday.", 8, 8),
        ("It's 2023-05-08 and we've paid $1,234.56.", 20, 23),
        ("Je suis allé à la plage avec ma sœur.", 10, 17),
        ("Я люблю читать книги по вечерам.", 8, 18),
        ("我昨天去了图书馆。", 8, 14),
        ("🎉🎉", 3, 7),
        ("a" * 40, 5, 15),
    ],
)
def test_the_estimate_is_plausible_in_every_script(text: str, low: int, high: int) -> None:
    assert low <= count(text) <= high


@given(st.lists(odd_text, max_size=6))
def test_the_counts_of_turns_add_up_to_nearly_the_count_of_the_page(texts: list[str]) -> None:
    whole = count("\n".join(texts))
    assert abs(sum(map(count, texts)) - whole) <= 3 * len(texts) + 2


def test_real_dialogue_is_about_one_token_a_word_and_a_third(shared: Path) -> None:
    conversation = json.loads((shared / "data/locomo/locomo_dev7.json").read_text())[0]["conversation"]
    texts = [turn["text"] for value in conversation.values() if isinstance(value, list) for turn in value]
    words = sum(len(text.split()) for text in texts)
    assert 1.15 < sum(map(count, texts)) / words < 1.4
