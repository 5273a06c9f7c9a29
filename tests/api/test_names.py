"""What `import tiermem` offers by name: every type that a memory takes or gives, listed and complete."""

import dataclasses
import inspect
import pydoc
import re
import types
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import pytest

import tiermem

METHODS = [name for name in vars(tiermem.Memory) if not name.startswith("_")]


def classes(hint: Any) -> Iterator[type]:
    """Ours, among the types a hint is made of."""
    if inspect.isclass(hint) and hint.__module__.partition(".")[0] in ("tiermem", "pagestore"):
        yield hint
    for part in get_args(hint):
        if not isinstance(part, str):
            yield from classes(part)


def mentioned(method: str) -> set[type]:
    """Our types that a method takes or gives."""
    found = inspect.unwrap(inspect.getattr_static(tiermem.Memory, method), stop=lambda f: False)
    function = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
    return {one for hint in get_type_hints(function).values() for one in classes(hint)}


@pytest.mark.parametrize("method", METHODS)
def test_every_type_that_a_memory_takes_or_gives_has_a_name_in_tiermem(method: str) -> None:
    for one in mentioned(method):
        assert getattr(tiermem, one.__name__, None) is one, f"export {one.__name__}, which {method} has"


def test_every_part_of_what_a_memory_gives_has_a_name_in_tiermem() -> None:
    met: set[type] = set()
    left = [one for method in METHODS for one in mentioned(method) if dataclasses.is_dataclass(one)]
    while left:
        one = left.pop()
        met.add(one)
        for hint in get_type_hints(one).values():
            left += [part for part in classes(hint) if dataclasses.is_dataclass(part) and part not in met]
    assert {one.__name__ for one in met} <= set(tiermem.__all__)


def test_names_are_listed_and_documented_and_nothing_else_is() -> None:
    assert set(tiermem.__all__) | {"__version__", "errors"} <= set(dir(tiermem))
    public = [name for name in dir(tiermem) if not name.startswith("_")]
    assert sorted(public) == sorted([*tiermem.__all__, "errors"])
    for name in public:
        value = getattr(tiermem, name)
        assert isinstance(value, types.ModuleType) or value.__doc__, name
    assert "class Memory(" in re.sub(".\b", "", pydoc.render_doc(tiermem))
