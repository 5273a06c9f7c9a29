"""Every regular expression of the code, and texts made from an expression to make it try in vain."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

from tests.growth.texts import KINDS, Text
from tiermem.errors import InvalidInput

ROOTS = ("tiermem", "pagestore", "eval")
_SAMPLES = " a1A.,:;!?\"'()[]-/\n\t_\\x#$%é’"
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
_LONG = 30
"""Repetitions from which on a piece is worth repeating for long."""


def modules(*roots: str) -> Iterator[ModuleType]:
    """The packages and every module of theirs."""
    for root in roots:
        package = importlib.import_module(root)
        yield package
        for found in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{root}."):
            if not found.name.endswith("__main__") and (made := _module(found.name)) is not None:
                yield made


def _module(name: str) -> ModuleType | None:
    """The module; `None` for one that trains or adapts, where what it does that with is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
    except InvalidInput:
        if not name.startswith("tiermem.adapters."):
            raise
    return None


def expressions() -> dict[str, re.Pattern[str]]:
    """The expressions that modules hold, each under the first name it has."""
    found: dict[re.Pattern[str], str] = {}
    for module in modules(*ROOTS):
        for name, value in vars(module).items():
            for number, pattern in enumerate(_patterns(value)):
                found.setdefault(pattern, f"{module.__name__}.{name}" + (f"[{number}]" if number else ""))
    return {name: pattern for pattern, name in found.items() if isinstance(pattern.pattern, str)}


def _patterns(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _patterns(each)


def made_inside() -> set[str]:
    """Where a function makes or uses an expression of its own: "file:function"."""
    found: set[str] = set()
    for root in ROOTS:
        for path in Path(root).rglob("*.py"):
            for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                    found |= {f"{path}:{function.name}" for node in ast.walk(function) if _calls_re(node)}
    return found


def _calls_re(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr != "escape"
    )


def texts_against(pattern: re.Pattern[str]) -> list[Text]:
    """Hostile texts of every kind, and those that repeat what the expression itself repeats."""
    found = dict.fromkeys(KINDS.values())
    for before, piece in _pumped(_parser.parse(pattern.pattern, pattern.flags)):
        for repeated in (
            Text(before, piece, "\0"),
            Text("", before + piece, "\0"),
            Text("", before + piece + " ", "\0"),
        ):
            found[repeated] = None
    return list(found)


def _pumped(parsed: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """For each repetition, what leads to it and what it repeats."""
    for kind, value in parsed:
        if kind in _REPEATS:
            least, most, inner = value
            if most > _LONG:
                yield before, _sample(inner) or " "
            yield from _pumped(inner, before)
            before += _sample(inner) * least
        elif kind is op.SUBPATTERN:
            yield from _pumped(value[3], before)
            before += _sample(value[3])
        elif kind is op.BRANCH:
            for branch in value[1]:
                yield from _pumped(branch, before)
            before += _sample(value[1][0])
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            yield from _pumped(value[1], before)
        else:
            before += _character(kind, value)


def _sample(parsed: Any) -> str:
    """Some text that a part of an expression matches, as short as it goes."""
    found = ""
    for kind, value in parsed:
        if kind in _REPEATS:
            found += _sample(value[2]) * value[0]
        elif kind is op.SUBPATTERN:
            found += _sample(value[3])
        elif kind is op.BRANCH:
            found += _sample(value[1][0])
        else:
            found += _character(kind, value)
    return found


def _character(kind: Any, value: Any) -> str:
    if kind is op.LITERAL:
        return chr(value)
    if kind is op.NOT_LITERAL:
        return next(char for char in _SAMPLES if ord(char) != value)
    if kind is op.ANY:
        return "a"
    if kind is op.IN:
        held = [char for char in _SAMPLES if any(_is_one(char, *each) for each in value)]
        if value[0][0] is op.NEGATE:
            return next((char for char in _SAMPLES if char not in held), "a")
        return held[0] if held else chr(value[0][1] if value[0][0] is op.LITERAL else value[0][1][0])
    return ""


def _is_one(char: str, kind: Any, value: Any) -> bool:
    if kind is op.LITERAL:
        return bool(ord(char) == value)
    if kind is op.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    is_word = char.isalnum() or char == "_"
    kinds: dict[Any, bool] = {
        op.CATEGORY_DIGIT: char.isdigit(),
        op.CATEGORY_SPACE: char.isspace(),
        op.CATEGORY_WORD: is_word,
        op.CATEGORY_NOT_DIGIT: not char.isdigit(),
        op.CATEGORY_NOT_SPACE: not char.isspace(),
        op.CATEGORY_NOT_WORD: not is_word,
    }
    return kinds.get(value, False)


def tried(pattern: re.Pattern[str], text: str) -> None:
    """Let the expression look for itself everywhere."""
    for _ in pattern.finditer(text):
        pass
