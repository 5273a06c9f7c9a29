"""Finding JSON in what a model wrote."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiermem.llm import json_reply
from tiermem.llm.json_reply import json_or_nearly


def values_as_written(text: str) -> list[Any]:
    """The values of a reply that needed no repair."""
    return [found.value for found in json_or_nearly(text) if not found.is_repaired]


plain_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(st.characters(codec="utf-8")), plain_json, min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('\ufeff {"a": 1}\n', [{"a": 1}]),
        ('```json\n{"a": 1}\n```', [{"a": 1}]),
        ('Sure, {this} one:\n{"a": 1}\nfine?', [{"a": 1}]),
        ('<think>maybe {"a": 2}</think>{"a": 1}', [{"a": 1}]),
        ('maybe {"a": 2} so\n</think>\n{"a": 1}', [{"a": 1}]),
        ('{"a": 1}<think>or {"a": 2}', [{"a": 1}]),
        ('{"a": "</think>"}', [{"a": "</think>"}]),
        ('{"a": 1} and {"a": 2}', [{"a": 1}, {"a": 2}]),
        ('{"a": "line\nbreak"}', [{"a": "line\nbreak"}]),
        ('{"a": "\\ud800"}', [{"a": "\ufffd"}]),
        ('{"\\ud83c\\udf89": 1}', [{"🎉": 1}]),
        ("[0, 2]", [[0, 2]]),
        ('{"fact": "he wrote [0, 2] and', []),
        ('{"fact": "he wrote {} and', []),
        ("{'a': 1}", []),
        ('{"a": NaN}', []),
        ("[" * 50_000, []),
        ("[" + "9" * 10_000 + "]", []),
        ("", []),
        ("no", []),
    ],
)
def test_the_values_of_a_reply_are_found_whatever_surrounds_them(text: str, values: list[Any]) -> None:
    assert values_as_written(text) == values


ANALYSIS = '<|channel|>analysis<|message|>maybe {"a": 2}<|end|><|start|>assistant'


@pytest.mark.parametrize(
    "text",
    [
        '<thought>maybe {"a": 2}</thought>{"a": 1}',
        '<THOUGHTS>\n{"a": 2}\n</THOUGHTS>\n```json\n{"a": 1}\n```',
        '<seed:think>{"a": 2}<seed:cot_budget_reflect>3</seed:cot_budget_reflect></seed:think>{"a": 1}',
        '<vendor:thinking>{"a": 2}</vendor:thinking>\n{"a": 1}',
        '{"a": 2} so\n</seed:think>{"a": 1}',
        '{"a": 1}\n<scratchpad>or {"a": 2}',
        '[THINK]maybe [{"a": 2}][/THINK]{"a": 1}',
        '[think]{"a": 2}[/think]{"a": 1}[THINK]or {"a": 3}',
        '◁think▷{"a": 2}◁/think▷{"a": 1}',
        '<|begin_of_thought|>{"a": 2}<|end_of_thought|>{"a": 1}',
        '<|START_THINKING|>{"a": 2}<|END_THINKING|><|START_RESPONSE|>{"a": 1}<|END_RESPONSE|>',
        '<|inner_prefix|>{"a": 2}<|inner_suffix|>{"a": 1}',
        '<|channel>thought\n{"a": 2}<channel|>{"a": 1}',
        ANALYSIS + '<|channel|>final<|message|>{"a": 1}<|return|>',
        ANALYSIS + '<|channel|>final <|constrain|>json<|message|>{"a": 1}',
        ANALYSIS + '<|channel|>commentary to=functions.reply <|constrain|>json<|message|>{"a": 1}<|call|>',
        'analysisWe could say {"a": 2}.assistantfinal{"a": 1}',
        'analysisNot [2].assistantfinal ```json\n{"a": 1}\n```',
        "<thought>{'a': 2}</thought>{'a': 1,}",
    ],
)
def test_thinking_is_left_out_as_each_family_of_models_marks_it(text: str) -> None:
    assert [found.value for found in json_or_nearly(text)] == [{"a": 1}]


@pytest.mark.parametrize(
    "text",
    [
        '<|channel|>analysis<|message|>{"a": 2}',
        'analysisIt may be {"a": 2}',
        '<thought>{"a": 2}',
        '[THINK]{"a": 2}',
        '<|START_THINKING|>{"a": 2}',
    ],
)
def test_thinking_without_a_reply_after_it_has_no_value(text: str) -> None:
    assert values_as_written(text) == []


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "<thought> and [/THINK]"}',
        '{"a": "<|channel|>analysis"}',
        '{"a": "assistantfinal {"}',
        '{"a": "</seed:think>"}',
        '{"a": "◁/think▷"}',
    ],
)
def test_marks_in_the_words_of_a_whole_reply_are_words(text: str) -> None:
    assert values_as_written(text) == [json.loads(text)]


@pytest.mark.parametrize(
    "text", ['analysis: {"a": 1}', 'Analysis {"a": 1}', '[thinker] {"a": 1}', '<i>{"a": 1}']
)
def test_words_that_are_no_marks_are_prose(text: str) -> None:
    assert values_as_written(text) == [{"a": 1}]


@given(objects)
def test_a_whole_value_reads_back(value: dict[str, Any]) -> None:
    (found,) = values_as_written(json.dumps(value))
    assert json.dumps(found) == json.dumps(json.loads(json.dumps(value)))


@given(objects, st.data())
def test_no_piece_of_a_truncated_value_is_taken_for_the_value(
    value: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps({"outer": [{"inner": value}, {"inner": value}]})
    cut = data.draw(st.integers(0, len(text) - 1))
    assert values_as_written(text[:cut]) == []


@given(st.text())
def test_anything_at_all_can_be_read_without_an_error(text: str) -> None:
    for value in values_as_written(text):
        json.dumps(value, ensure_ascii=False).encode()


class Counting:
    """Counts the calls of the methods of what it stands for."""

    def __init__(self, counted: Any, calls: Counter[str]) -> None:
        self._counted = counted
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        self._calls[name] += 1
        return getattr(self._counted, name)


@pytest.mark.parametrize("text", ["{" * 300_000, "<think>" * 50_000, "</think>" * 50_000, '{"a":[' * 100_000])
def test_a_hostile_reply_is_searched_and_decoded_few_times(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time costs at most time in the length of the reply, which tests/growth checks."""
    calls: Counter[str] = Counter()
    for name in ("_decoder", "_OPENING", "_THOUGHT", "_END_OF_THOUGHT"):
        monkeypatch.setattr(json_reply, name, Counting(getattr(json_reply, name), calls))
    assert values_as_written(text) == []
    assert 0 < calls.total() < 1_100
