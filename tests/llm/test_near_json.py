"""Nearly-JSON is read with every word that it has, or not at all."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiermem.llm.json_reply import JsonInReply, json_or_nearly
from tiermem.llm.near_json import find_end, repair_json

FACTS = {
    "facts": [
        {"fact": "Mia's cat is called “Tom”.", "evidence_quotes": ["my cat, Tom: he's 3!"], "scene": None},
        {"fact": "See https://x.org/a#b // now", "evidence_quotes": ["{not} [a] list"], "importance": -0.25},
    ]
}
PLAN = {"decision": "SEARCH", "reasoning": 'a "quoted"\nword \\ é 🎉', "search_commands": [], "done": False}
VALUES: list[Any] = [
    FACTS,
    PLAN,
    {"selected": [0, 2], "all": True, "missing": None},
    [{"a": "b", "c": ""}, [7], {"d": []}],
]


def with_trailing_commas(value: Any) -> str:
    return re.sub(
        r"(?<![\[{,\s])(\s*)\n(\s*[\]}])", r",\1\n\2", json.dumps(value, indent=1, ensure_ascii=False)
    )


def with_comments(value: Any) -> str:
    lines = json.dumps(value, indent=1).split("\n")
    lines[1:1] = ['// it\'s "the" {first}', "# and: this]", "/* a\nblock's */"]
    return "\n".join(lines)


def in_single_quotes(value: Any) -> str:
    match value:
        case str():
            return "'" + json.dumps(value)[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"
        case dict():
            return (
                "{"
                + ", ".join(f"{in_single_quotes(k)}: {in_single_quotes(v)}" for k, v in value.items())
                + "}"
            )
        case list():
            return "[" + ",".join(map(in_single_quotes, value)) + "]"
        case _:
            return json.dumps(value)


def with_bare_keys(value: Any) -> str:
    return re.sub(r'"(\w+)":', r"\1:", json.dumps(value))


def is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except ValueError:
        return False
    return True


def without_a_comma(value: Any) -> str:
    return json.dumps(value, indent=1).replace(",\n", "\n", 1)


DAMAGES: list[Callable[[Any], str]] = [
    with_trailing_commas,
    repr,
    with_comments,
    in_single_quotes,
    with_bare_keys,
    without_a_comma,
]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_punctuation_is_repaired_and_every_word_kept(
    damage: Callable[[Any], str], value: Any
) -> None:
    text = damage(value)
    (found,) = json_or_nearly(f"Sure, {{this}}:\n```json\n{text}\n```\nDone.")
    assert found.value == value
    assert found.is_repaired == (not is_json(text))


@pytest.mark.parametrize(
    "text",
    [
        "{'fact': 'it's here'}",
        "{'facts': ['Ann's 3 dogs', 'a']}",
        '{"fact": undefined}',
        '{"fact": NaN, "a": 1,}',
        '{"fact": chicken}',
        '{"fact": "a", ...}',
        '{"facts": [1, 2, ...,]}',
        '{"fact": , "other": 1}',
        '{"fact": "a" and more}',
        '{"a": 1, "a": 2,}',
        '{"fact": "say "no" to it"}',
        '{"fact": ["a", "b"}',
        "{'fact': 9**9**9}",
        "{this}",
        "[sic]",
    ],
)
def test_words_that_would_be_lost_or_guessed_are_refused(text: str) -> None:
    assert [found.value for found in json_or_nearly(text) if found.is_repaired] == []


def test_equal_pieces_of_different_values_are_told_apart() -> None:
    assert repair_json("{'a': ['b c', 'd',],}") == {"a": ["b c", "d"]}
    assert repair_json("[True, 'True', None, 'None', 1, '1', 1.50,]") == [
        True,
        "True",
        None,
        "None",
        1,
        "1",
        1.5,
    ]


@pytest.mark.parametrize("value", VALUES[:3])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_reply_cut_off_in_the_middle_is_not_repaired(damage: Callable[[Any], str], value: Any) -> None:
    text = damage(value).rstrip()
    for cut in range(len(text)):
        assert not [found for found in json_or_nearly(text[:cut]) if found.is_repaired], text[:cut]


def test_parts_of_a_broken_value_are_marked() -> None:
    found = list(json_or_nearly('{"a": oops, "b": [{"c": 1}]} [{"d": 2,}] {"e": 3}'))
    assert found == [
        JsonInReply([{"c": 1}], is_inner=True),
        JsonInReply([{"d": 2}], is_repaired=True),
        JsonInReply({"e": 3}),
    ]
    assert list(json_or_nearly('{"a": [{"c": 1,}], "d": "cut')) == []


def test_a_value_ends_with_its_own_bracket() -> None:
    text = "x {'a}': [1] // }\n } {}"
    assert find_end(text, 2) == text.index("} {}") + 1
    for start, broken in [(0, "[1, 2}"), (0, "{/* }"), (0, '{"a'), (0, "{'a': 1"), (0, "[" * 10)]:
        assert find_end(broken, start) is None


def test_a_value_of_more_than_200_000_characters_is_not_repaired() -> None:
    assert list(json_or_nearly("[" + "1," * 99_000 + "]"))
    assert not list(json_or_nearly("[" + "1," * 100_000 + "]"))


keys = st.text(st.characters(codec="utf-8"), max_size=6)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | keys
replies = st.dictionaries(
    keys, st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=6)
)


@given(replies, st.sampled_from(DAMAGES))
def test_what_is_read_of_a_damaged_value_is_the_value(
    value: dict[str, Any], damage: Callable[[Any], str]
) -> None:
    text = damage(value)
    for found in json_or_nearly(text):
        assert not found.is_repaired or found.value == json.loads(json.dumps(value))


@given(st.text(st.sampled_from("{}[]'\",:/*#\\ \n1aTrue“”")))
def test_anything_at_all_is_read_without_an_error(text: str) -> None:
    for found in json_or_nearly(text):
        json.dumps(found.value, ensure_ascii=False).encode()
