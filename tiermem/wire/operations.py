"""The table of what a memory does, made of the signatures of its public methods: one that is new is in it.

A method is an operation if `tiermem.runtime.calls.operation` decorates it, which names the right it needs.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import GenericAlias
from typing import Any, Literal, get_type_hints

Right = Literal["read", "write", "erase", "admin"]
"""What a key may do. `admin` may do everything. A question needs `read`, though its answer is recorded."""


@dataclass(frozen=True)
class WireOperation:
    """One public method: its name, what it takes and what it gives."""

    name: str
    method: Any

    @property
    def right(self) -> Right:
        """What a key needs to call it."""
        right: Right = self.method.right
        return right

    @property
    def writes(self) -> bool:
        """Whether it changes what is stored, so that it is finished once it has begun."""
        return self.right != "read"

    @cached_property
    def signature(self) -> inspect.Signature:
        """What the method takes, without the memory itself."""
        whole = inspect.signature(self.method)
        return whole.replace(parameters=list(whole.parameters.values())[1:])

    @cached_property
    def hints(self) -> Mapping[str, Any]:
        """The type of each thing it takes."""
        known = get_type_hints(self.method)
        hints = {
            name: known.get(name, one.annotation)
            for name, one in self.signature.parameters.items()
            if one.kind is not inspect.Parameter.VAR_KEYWORD
        }
        if self.several is not None:
            hints[self.several] = GenericAlias(list, hints[self.several])
        return hints

    @cached_property
    def several(self) -> str | None:
        """The name of what it takes any number of (`*unit_ids`); by name that is one list."""
        kinds = self.signature.parameters.items()
        return next((name for name, one in kinds if one.kind is inspect.Parameter.VAR_POSITIONAL), None)

    def needs(self, name: str) -> bool:
        """Whether it cannot do without this one of the things it takes."""
        one = self.signature.parameters[name]
        return one.default is one.empty and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)

    def call_on(self, memory: object, given: Mapping[str, Any]) -> Awaitable[Any]:
        """The call of it on a memory, with what is given by name."""
        keywords = dict(given)
        spread = keywords.pop(self.several, ()) if self.several is not None else ()
        call: Awaitable[Any] = getattr(memory, self.name)(*spread, **keywords)
        return call

    @cached_property
    def gives(self) -> Any:
        """The type of what it gives."""
        return get_type_hints(self.method, include_extras=True)["return"]

    @property
    def stores(self) -> bool:
        """Whether it stores words that somebody said, and so makes the space that it is called in."""
        return self.writes and "said_at" in self.hints

    @property
    def makes_file(self) -> bool:
        """Whether it writes a file: over HTTP the file is what comes back."""
        return "to" in self.hints


def operations(kind: type) -> dict[str, WireOperation]:
    """Every public method of a memory that is awaited, once, by its first name."""
    return {one.name: one for one in _methods(kind)}


def _methods(kind: type) -> Iterator[WireOperation]:
    for name, method in vars(kind).items():
        if hasattr(method, "right") and method.__name__ == name:
            yield WireOperation(name=name, method=method)


def summary(operation: WireOperation) -> str:
    """The first paragraph of what its docstring says, on one line."""
    whole = inspect.getdoc(operation.method) or ""
    return " ".join(whole.partition("\n\n")[0].split())
