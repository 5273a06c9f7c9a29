"""Names, sentences and complexity of the library do not get worse; the measures measure what they say."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from tests.shape import code
from tests.shape.ratchet import Values, find_worse, measure, read_values, write_values

TEXT = '''
"""A file."""

import x.y  # a comment


class Held:
    """A class."""

    size: int = 1
    """An attribute."""

    def told(self, asked_at):
        """A method."""
        return [n for n in self if n or asked_at]


def _helper():
    while True:
        pass


_helper()
'''


def source(text: str, path: str = "x/y.py") -> code.Source:
    return code.Source(path, text, ast.parse(text))


def test_the_library_does_not_get_worse() -> None:
    sources = code.read_sources()
    worse = find_worse(read_values(), measure(sources), sources)
    assert not worse, "\n".join(["rename or rewrite what is new:", *worse])


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("placed", True),
        ("_announced", True),
        ("Sought", True),
        ("beside", True),
        ("seed", False),
        ("placed_turns", False),
        ("__of__", False),
        ("place", False),
        ("red", False),
    ],
)
def test_a_bare_name(name: str, bare: bool) -> None:
    assert code.is_bare(name) == bare


def test_what_a_file_measures() -> None:
    one = source(TEXT)
    assert code.count_code_lines(one) == 9
    assert code.find_bare_names([one]) == ["x/y.py Held", "x/y.py told"]
    assert code.find_most_complex([one])[:2] == [(4, "x/y.py told"), (2, "x/y.py _helper")]
    assert code.find_helpers_called_once([one]) == [("x/y.py _helper", 3)]
    assert code.measure_class([one], "Held") == (1, 4)
    assert code.count_functions_with_parameter([one], "asked_at") == 1
    assert code.count_functions_with_parameter([one], "asked_at", "str") == 0
    assert code.count_private_accesses([one]) == 0
    assert not code.is_test_contract(one)
    assert code.find_duplicate_classes([one]) == []
    assert code.find_duplicate_classes([one, one]) == ["Held"]
    assert code.find_idiom_lines([one]) == {"x/y.py": ["13: def told(self, asked_at):"]}


def test_what_is_counted_of_parameters_private_access_and_test_contracts() -> None:
    asks = source("def a(question: str): ...\ndef b(*, question: Question): ...\ndef c(question): ...")
    assert code.count_functions_with_parameter([asks], "question", "str") == 1
    assert code.count_functions_with_parameter([asks], "question") == 3
    assert code.count_private_accesses([source("x._y  # noqa: SLF001\nx._z\n")]) == 1
    assert code.is_test_contract(source("", "tiermem/index/testing.py"))


def test_a_circle_of_imports() -> None:
    first, second = source("import x.b", "x/a.py"), source("def f():\n    from x import a", "x/b.py")
    assert code.find_packages_with_circles([first, second]) == ["x"]
    assert code.find_packages_with_circles([first, source("", "x/b.py")]) == []


def test_what_got_worse_is_named_and_what_got_better_is_not(tmp_path: Path) -> None:
    sources = [source(TEXT)]
    now = measure(sources)
    write_values(now, tmp_path / "values.json")
    assert read_values(tmp_path / "values.json") == now
    assert find_worse(now, now, sources) == []
    assert find_worse(Values(["a", "b", "c"], ["D"], {"x/z.py": 1}, 5), now, sources) == []
    before = replace(now, bare_names=["x/y.py told"], duplicate_classes=[], idiom_lines={}, complexity=3)
    names, lines, complexity = find_worse(before, replace(now, duplicate_classes=[]), sources)
    assert names.endswith("2, were 1; new: x/y.py Held")
    assert lines.endswith("1, were 0; among:\n  x/y.py:13: def told(self, asked_at):")
    assert complexity == "complexity: 4, was 3; new: x/y.py told 4"
    [classes] = find_worse(now, replace(now, duplicate_classes=["Held"]), sources)
    assert classes == "class names used more than once: 1, were 0; new: Held"
