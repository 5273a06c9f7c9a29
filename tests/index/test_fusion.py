from hypothesis import given
from hypothesis import strategies as st

from tiermem.index.fusion import LEAST_BY_WORDS, fuse_meaning_and_words, rank_hits

rankings = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 4).map(float)).map(
    lambda found: list(found.items())
)


def test_the_first_of_both_rankings_scores_one() -> None:
    assert fuse_meaning_and_words([("a", 0.9), ("b", 0.2)], [("a", 12.0), ("c", 3.0)])[0] == ("a", 1.0)


def test_words_decide_where_the_rankings_disagree() -> None:
    assert [
        entry for entry, _ in fuse_meaning_and_words([("a", 0.9), ("b", 0.2)], [("b", 12.0), ("a", 3.0)])
    ] == ["b", "a"]


def test_equal_scores_share_a_rank_and_come_in_the_order_of_their_ids() -> None:
    fused = fuse_meaning_and_words([("b", 0.5000001), ("a", 0.5), ("c", 0.1)], [])
    assert [entry for entry, _ in fused] == ["a", "b", "c"]
    assert fused[0][1] == fused[1][1] > fused[2][1]


def test_a_word_that_most_entries_hold_does_not_outrank_the_meaning() -> None:
    meaning = [("dog", 0.6), ("yoga", 0.2), ("nurse", 0.1)]
    shared = [("yoga", 0.2), ("nurse", 0.18), ("dog", 0.16)]
    assert fuse_meaning_and_words(meaning, shared) == fuse_meaning_and_words(meaning, [])


@given(meaning=rankings, words=rankings)
def test_fusing_keeps_every_id_once_whatever_the_order_they_came_in(
    meaning: list[tuple[str, float]], words: list[tuple[str, float]]
) -> None:
    fused = fuse_meaning_and_words(meaning, words)
    by_words = [entry for entry, score in words if score >= LEAST_BY_WORDS]
    assert sorted(entry for entry, _ in fused) == sorted({*dict(meaning), *by_words})
    assert fused == fuse_meaning_and_words(meaning[::-1], words[::-1])
    assert fused == rank_hits(fused)
    assert all(0 < score <= 1 for _, score in fused)


@given(meaning=rankings, words=rankings)
def test_what_is_better_by_both_is_better_fused(
    meaning: list[tuple[str, float]], words: list[tuple[str, float]]
) -> None:
    one, other, total = dict(meaning), dict(words), dict(fuse_meaning_and_words(meaning, words))
    for a in one.keys() & other.keys():
        for b in one.keys() & other.keys():
            if one[a] > one[b] and other[a] > other[b]:
                assert total[a] > total[b]
