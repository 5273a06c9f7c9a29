"""Measures of the source text of the library."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("tiermem", "pagestore")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

PARTICIPLES = re.compile(r"\w{2,}ed")
NOT_PARTICIPLES = frozenset({"closed", "embed", "feed", "need", "seed", "shared", "speed", "used"})
BARE = frozenset(
    (
        "alike",
        "anew",
        "aside",
        "beside",
        "by",
        "else",
        "elsewhere",
        "everybodys",
        "far",
        "found",
        "given",
        "gone",
        "held",
        "how",
        "kept",
        "known",
        "left",
        "made",
        "near",
        "nobodys",
        "of",
        "one",
        "ones",
        "only",
        "others",
        "put",
        "said",
        "seen",
        "shown",
        "sought",
        "taken",
        "to",
        "together",
        "told",
        "what",
        "who",
        "whom",
        "whose",
    )
)
IDIOMS = re.compile(
    r"\b(?:told|nobody|whoever|anew|stands|aside|beside|gives? out|lets? go of|and says so|that is said"
    r"|comes? to (?:less|more|nothing|one|the|what))\b",
    re.IGNORECASE,
)
_LAYOUT = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)
_BRANCHES = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.Assert,
    ast.match_case,
)


@dataclass(frozen=True)
class Source:
    """One file of the library."""

    path: str
    text: str
    tree: ast.Module = field(repr=False)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the syntax tree."""
        return list(ast.walk(self.tree))

    @cached_property
    def definitions(self) -> list[Definition]:
        """Every function and class."""
        return [node for node in self.nodes if isinstance(node, Definition)]

    @property
    def module(self) -> str:
        """The name that the file is imported by."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def read_sources(root: Path = ROOT, packages: Iterable[str] = PACKAGES) -> list[Source]:
    """Read every file of the packages."""
    paths = [path for package in packages for path in sorted((root / package).rglob("*.py"))]
    texts = [(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")) for path in paths]
    return [Source(path, text, ast.parse(text)) for path, text in texts]


def count_code_lines(source: Source) -> int:
    """Count the lines that hold code: no blank lines, comments or docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type not in _LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - find_docstring_lines(source.nodes))


def find_docstring_lines(nodes: Iterable[ast.AST]) -> set[int]:
    """Find the lines of docstrings, also of attributes."""
    lines: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef):
            body = node.body
        elif isinstance(node, FUNCTIONS):
            body = node.body[:1]
        else:
            continue
        for statement in body:
            match statement:
                case ast.Expr(ast.Constant(str())):
                    lines.update(range(statement.lineno, (statement.end_lineno or 0) + 1))
    return lines


def is_bare(name: str) -> bool:
    """Whether a name is a participle, preposition or pronoun without a noun or verb."""
    word = name.strip("_").lower()
    if name.startswith("__") or "_" in word or word in NOT_PARTICIPLES:
        return False
    return word in BARE or bool(PARTICIPLES.fullmatch(word))


def find_bare_names(sources: Iterable[Source]) -> list[str]:
    """Find the functions and classes that have a bare name: "file name"."""
    return sorted(
        f"{one.path} {node.name}" for one in sources for node in one.definitions if is_bare(node.name)
    )


def find_idiom_lines(sources: Iterable[Source]) -> dict[str, list[str]]:
    """Find the lines with an idiom, by file: "number: line"."""
    found = {
        one.path: [
            f"{number}: {line.strip()}"
            for number, line in enumerate(one.text.splitlines(), 1)
            if IDIOMS.search(line)
        ]
        for one in sources
    }
    return {path: lines for path, lines in found.items() if lines}


def find_duplicate_classes(sources: Iterable[Source]) -> list[str]:
    """Find the public names that several classes have."""
    classes = (node for one in sources for node in one.definitions if isinstance(node, ast.ClassDef))
    counts = Counter(node.name for node in classes if not node.name.startswith("_"))
    return sorted(name for name, count in counts.items() if count > 1)


def measure_complexity(function: ast.AST) -> int:
    """Count the branches of a function and of the functions in it, and add one: cyclomatic complexity."""
    branches = 1
    for node in ast.walk(function):
        match node:
            case ast.BoolOp(values=values):
                branches += len(values) - 1
            case ast.comprehension(ifs=ifs):
                branches += 1 + len(ifs)
            case _:
                branches += isinstance(node, _BRANCHES)
    return branches


def find_most_complex(sources: Iterable[Source], count: int = 10) -> list[tuple[int, str]]:
    """Find the most complex functions: the complexity and "file name"."""
    measured = [
        (measure_complexity(node), f"{one.path} {node.name}")
        for one in sources
        for node in one.definitions
        if isinstance(node, FUNCTIONS)
    ]
    return sorted(measured, key=lambda one: (-one[0], one[1]))[:count]


def find_helpers_called_once(sources: Iterable[Source]) -> list[tuple[str, int]]:
    """Find the private functions that are called once, in their file: "file name" and the code lines of each.

    The lines are those of signature and body, without docstring, comments and blank lines.
    """
    found = []
    for one in sources:
        names = [node.id for node in one.nodes if isinstance(node, ast.Name)]
        names += [node.attr for node in one.nodes if isinstance(node, ast.Attribute)]
        uses = Counter(names)
        called = {
            ast.unparse(node.func).rpartition(".")[2] for node in one.nodes if isinstance(node, ast.Call)
        }
        for node in one.definitions:
            private = node.name.startswith("_") and not node.name.startswith("__")
            if private and isinstance(node, FUNCTIONS) and uses[node.name] == 1 and node.name in called:
                found.append((f"{one.path} {node.name}", _count_lines_of(node)))
    return found


def _count_lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    text = ast.unparse(function)
    return count_code_lines(Source("", text, ast.parse(text)))


def measure_class(sources: Iterable[Source], name: str) -> tuple[int, int]:
    """Measure a class: its methods, and its lines without blank lines, comments and docstrings."""
    for one in sources:
        for node in one.definitions:
            if isinstance(node, ast.ClassDef) and node.name == name:
                methods = [each for each in node.body if isinstance(each, FUNCTIONS)]
                lines = one.text.splitlines()[node.lineno - 1 : node.end_lineno]
                text = "\n".join([*(["if True:"] if lines[0][:1] == " " else []), *lines])
                part = Source(one.path, text, ast.parse(text))
                return len(methods), count_code_lines(part)
    raise ValueError(f"no class {name}")


def count_functions_with_parameter(sources: Iterable[Source], name: str, annotation: str = "") -> int:
    """Count the functions that have a parameter of this name, with this annotation if one is given."""
    functions = (node for one in sources for node in one.definitions if isinstance(node, FUNCTIONS))
    return sum(
        any(
            each.arg == name and annotation in ("", each.annotation and ast.unparse(each.annotation))
            for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        )
        for node in functions
    )


def count_private_accesses(sources: Iterable[Source]) -> int:
    """Count the lines on which the linter allows access to a private member of another class."""
    return sum(one.text.count("noqa: SLF001") for one in sources)


def is_test_contract(source: Source) -> bool:
    """Whether a file holds tests that backends of others subclass."""
    return source.path.endswith("/testing.py")


def find_packages_with_circles(sources: Iterable[Source]) -> list[str]:
    """Find the packages whose files import each other in a circle, inside functions too."""
    sources = list(sources)
    modules = {one.module for one in sources}
    graphs: dict[str, dict[str, set[str]]] = defaultdict(dict)
    for one in sources:
        package = one.path.rpartition("/")[0]
        imported = {found for found in find_imports(one, modules) if found != one.module}
        graphs[package][one.module] = imported
    return sorted(package for package, graph in graphs.items() if has_circle(graph))


def find_imports(source: Source, modules: set[str]) -> Iterator[str]:
    """Find the modules that a file imports, anywhere in it."""
    for node in source.nodes:
        match node:
            case ast.Import(names=names):
                yield from (each.name for each in names)
            case ast.ImportFrom(module=str(module), names=names):
                for each in names:
                    whole = f"{module}.{each.name}"
                    yield whole if whole in modules else module


def has_circle(graph: dict[str, set[str]]) -> bool:
    """Whether modules of a graph import each other in a circle."""
    try:
        TopologicalSorter({one: found & graph.keys() for one, found in graph.items()}).prepare()
    except CycleError:
        return True
    return False
