"""What a planted bug is, and how it is planted: an edit of the syntax of one function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import dedent, indent
from typing import NamedTuple

_HOLD_FUNCTIONS = (ast.stmt, ast.ExceptHandler, ast.match_case)
"""Nodes in which a function may be defined."""


class Place(NamedTuple):
    """A place in a syntax tree: the field of a node and, where the field is a list, a position in it."""

    node: ast.AST
    field: str
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """One change of the code that makes it wrong.

    `file` is the path of a Python file from the root of the repository. `function` is the qualified name of
    the function or class in it that holds the code: `Eraser.erase`, or "" for code outside of all of them.

    `before` is replaced by `after`: an expression by an expression, consecutive statements by statements, or
    consecutive cases of a `match` by cases. An empty `after` deletes. Syntax is compared, so line breaks,
    indentation, quotes, redundant parentheses and comments do not matter. `before` occurs exactly once in the
    function. Decorators and defaults are part of a function; functions and classes inside it are not.

    `found_by` names what must find the bug: test files, folders or single tests as pytest takes them.
    `excuse` is for a bug that nothing finds: why it does no harm. `slow_reason` is for a bug that only the
    whole suite finds: why no test of the quick tier does.
    """

    name: str
    file: str
    function: str
    before: str
    after: str
    found_by: tuple[str, ...]
    excuse: str = ""
    slow_reason: str = ""

    def planted(self, code: str) -> str:
        """Return the code with the bug in it, formatted by `ast.unparse`: comments are lost.

        Raises:
            ValueError: The code has no such function, or `before` does not occur exactly once in it.
            SyntaxError: The code, `before` or `after` is not Python.
        """
        tree = ast.parse(code, self.file)
        before, after = self._parse_edit()
        nodes = list(walk_function(tree, self.function))
        if not nodes:
            raise ValueError(
                f"planted bug {self.name!r}: {self.file} has no function or class {self.function!r}; "
                "set `file` and `function` of the bug to where its code is now"
            )
        places = [place for node in nodes for place in find_places(node, before)]
        if len(places) != 1:
            raise ValueError(
                f"planted bug {self.name!r}: {self.before!r} occurs {len(places)} times in "
                f"{self.function or 'the top level'} of {self.file}, not once; set `before` of the bug to "
                "the code as it is now, with more of the code around it if it occurs more than once, and "
                "`function` to where that code is"
            )
        replace_code(places[0], len(before), after)
        return ast.unparse(tree)

    def _parse_edit(self) -> tuple[Sequence[ast.AST], Sequence[ast.AST]]:
        """Parse `before` and `after`: as expressions if both are, and otherwise as statements or cases."""
        before, after = self._parse(self.before), self._parse(self.after)
        match before, after:
            case [ast.Expr(old)], [ast.Expr(new)]:
                return [old], [new]
        return before, after

    def _parse(self, text: str) -> Sequence[ast.AST]:
        text, source = dedent(text).strip(), f"planted bug {self.name!r}"
        if text.startswith("case "):
            [match] = ast.parse("match _:\n" + indent(text, " "), source).body
            assert isinstance(match, ast.Match)
            return match.cases
        return ast.parse(text, source).body


def walk_function(tree: ast.AST, function: str) -> Iterator[ast.AST]:
    """Yield every node of a function or class, by its qualified name, without the functions inside it.

    An empty name stands for the code outside of all functions and classes.
    """
    pending = [("", tree)]
    while pending:
        name, node = pending.pop()
        if name == function:
            yield node
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = f"{name}.{child.name}".removeprefix(".")
                if f"{function}.".startswith(f"{inner}."):
                    pending.append((inner, child))
            elif name == function or isinstance(child, _HOLD_FUNCTIONS):
                pending.append((name, child))


def find_places(node: ast.AST, code: Sequence[ast.AST]) -> Iterator[Place]:
    """Find the fields of a node, and the positions in them, that hold the consecutive nodes of `code`."""
    wanted = [ast.dump(one) for one in code]
    types = [type(one) for one in code]
    for field, value in ast.iter_fields(node):
        parts = value if isinstance(value, list) else [value]
        for start in range(len(parts) - len(wanted) + 1):
            run = parts[start : start + len(wanted)]
            if [type(part) for part in run] == types and [ast.dump(part) for part in run] == wanted:
                yield Place(node, field, start)


def replace_code(place: Place, length: int, code: Sequence[ast.AST]) -> None:
    """Replace `length` nodes from a place on by those of `code`, and an empty body by `pass`."""
    value = getattr(place.node, place.field)
    if isinstance(value, list):
        value[place.start : place.start + length] = code
        if not value and place.field == "body":
            value.append(ast.Pass())
    else:
        [only] = code
        setattr(place.node, place.field, only)
