"""Nothing that is measured on can be learned from: each way of leaking is planted, and caught."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from eval.research.training.data.examples import Example, Part, digest
from eval.research.training.data.mix import without_leaks
from eval.research.training.data.splits import Leak, article, check, parts_of

ASKED = datetime(2023, 6, 1, tzinfo=UTC)
LONG = "The keeper of the old lighthouse wrote down every evening which ships had passed the point and when."


def lesson(name: str, group: str, *, first: str = "Who?", second: str = "Ann did.") -> Example:
    return Example(
        id=name, source="squad", group=group, task="read", first=first, second=second, label=0, asked_at=ASKED
    )


def apart() -> dict[Part, list[Example]]:
    return {
        "train": [lesson("a", "wikipedia:normans")],
        "dev": [lesson("b", "wikipedia:warsaw")],
        "test": [lesson("c", "wikipedia:force")],
    }


def test_lessons_apart_are_let_through() -> None:
    check(apart())


def test_a_test_article_among_what_is_learned_is_caught() -> None:
    parts = apart()
    parts["train"].append(lesson("d", article("Force")))
    with pytest.raises(Leak, match="wikipedia:force"):
        check(parts)


def test_a_test_article_under_another_name_is_caught_by_its_words() -> None:
    parts = apart()
    parts["test"].append(lesson("e", "wikipedia:force", second=LONG))
    parts["train"].append(lesson("f", "copied:1", second=f"It says: {LONG.lower()} So it goes."))
    with pytest.raises(Leak, match="'f' holds words of 'e'"):
        check(parts)


def test_a_question_that_is_asked_in_both_is_caught() -> None:
    parts = apart()
    asked = "Which lighthouse did the old keeper tend?"
    parts["test"].append(lesson("e", "wikipedia:force", first=asked))
    parts["train"].append(lesson("f", "other:1", first=asked.upper()))
    with pytest.raises(Leak, match="'f' asks what 'e' asks"):
        check(parts)


def test_a_conversation_across_halves_is_caught() -> None:
    parts = apart()
    parts["train"].append(lesson("g", "locomo:conv-26"))
    parts["test"].append(lesson("h", "locomo:conv-26"))
    with pytest.raises(Leak, match="locomo:conv-26"):
        check(parts)


@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_a_label_from_after_the_question_is_caught(part: Part) -> None:
    parts = apart()
    parts[part].append(replace(lesson("i", "locomo:conv-30"), latest=datetime(2023, 6, 2, tzinfo=UTC)))
    with pytest.raises(Leak, match="after it was asked"):
        check(parts)


def test_what_stands_in_both_is_set_aside_and_counted() -> None:
    parts = apart()
    parts["test"].append(lesson("e", "wikipedia:force", second=LONG))
    parts["train"].append(lesson("f", "copied:1", second=LONG))
    kept, aside = without_leaks(parts)
    assert [one.id for one in kept["train"]] == ["a"]
    assert aside == {"squad": 1}
    check(kept)


def test_parts_depend_on_names_alone_and_have_their_shares() -> None:
    names = [f"article {number}" for number in range(20)]
    parts = parts_of(names, dev=0.1, test=0.5)
    assert parts == parts_of(reversed(names), dev=0.1, test=0.5)
    assert [list(parts.values()).count(part) for part in ("train", "dev", "test")] == [8, 2, 10]
    with pytest.raises(ValueError, match="no shares"):
        parts_of(names, dev=0.6, test=0.5)


def test_titles_of_one_article_are_one_group() -> None:
    assert article("French_and_Indian_War") == article("French and Indian War") != article("War")


def test_the_digest_tells_lessons_apart() -> None:
    one, other = lesson("a", "x"), lesson("a", "x", second="Ann did not.")
    assert digest([one]) == digest([one]) != digest([other])
