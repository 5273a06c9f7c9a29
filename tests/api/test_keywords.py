"""The keywords written once: a type checker and `help` know each by name, and a misspelt one is refused."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from pydantic import SecretStr

import tiermem
from tests.api.conftest import OpenMemory
from tiermem.api.requests import Attribution, Filters, Overrides
from tiermem.embedding import Embedder
from tiermem.index.interface import Index
from tiermem.llm import LanguageModel
from tiermem.llm.endpoint import Price
from tiermem.llm.scripted import ModelFunction
from tiermem.reading import Reranker
from tiermem.settings import Settings

PARTS: dict[str, set[Any]] = {
    "model": {LanguageModel, ModelFunction},
    "embedder": {Embedder},
    "index": {Index},
    "reranker": {Reranker},
}
"""Settings that are names, in place of which a ready part may be given."""
ALSO = {SecretStr: str, Path: str, dict[str, Price]: dict[str, dict[str, float]]}
"""What is made of a text, or of plain values."""


def kinds(hint: Any) -> Iterator[Any]:
    """What a hint is a choice of."""
    if get_origin(hint) in (UnionType, Union):
        for one in get_args(hint):
            yield from kinds(one)
    elif get_origin(hint) is Literal:
        yield from get_args(hint)
    else:
        yield hint


def test_open_takes_each_setting_and_no_other_keyword() -> None:
    assert set(Overrides.__annotations__) == {*Settings.model_fields}


@pytest.mark.parametrize("name", Settings.model_fields)
def test_open_takes_for_a_setting_what_the_setting_takes(name: str) -> None:
    setting, taken = (set(kinds(get_type_hints(one)[name])) for one in (Settings, Overrides))
    also = {ALSO[kind] for kind in setting if kind in ALSO} | PARTS.get(name, set())
    assert taken == setting | also


@pytest.mark.parametrize("method", ["ask", "search", "recall", "context", "add", "remember", "correct"])
@pytest.mark.parametrize("kind", [tiermem.Memory, tiermem.AsyncMemory])
def test_keywords_that_methods_share_are_named_one_by_one(kind: type, method: str) -> None:
    shared = Filters if method in ("ask", "search", "recall", "context") else Attribution
    taken = inspect.signature(getattr(kind, method)).parameters
    assert set(shared.__annotations__) <= set(taken)
    assert not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken.values())


def test_a_misspelt_keyword_is_refused_and_says_what_is_meant(open_memory: OpenMemory) -> None:
    memory = open_memory()
    for asked in (memory.ask, memory.search, memory.context):
        with pytest.raises(TypeError, match=r"'sesion'.*did you mean 'session'\?"):
            asked("Where is the boat?", sesion="harbour")  # type: ignore[call-arg]
    for said in (memory.add, memory.remember):
        with pytest.raises(TypeError, match=r"'speeker'.*did you mean 'speaker'\?"):
            said("The boat is in the harbour.", speeker="Ann")  # type: ignore[call-arg]
    assert memory.stats().turns == 0


def test_two_names_of_one_method_are_one_method() -> None:
    for kind in (tiermem.Memory, tiermem.AsyncMemory):
        assert kind.history is kind.trail
