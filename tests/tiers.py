"""Two tiers of tests: `--quick` leaves out those that need a server, and the slow ones of `tests/slow.txt`.

The list is written from measured processor time: `make test-times` measures every test and writes it.
"""

from __future__ import annotations

import resource
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "tests" / "slow.txt"
BUDGET = 175.0
"""Processor seconds that the tests of the quick tier may take in all, without collection."""

EXAMPLES = 10
"""The most examples that a property is tried on in the quick tier."""

KEPT = frozenset({"tests/shape/test_shape.py", "tests/test_words.py"})
"""Tests that the quick tier keeps whatever they take: rules for names and sentences."""

LEFT_OUT = frozenset(
    {
        "tests/apps/test_demo.py",
        "tests/index/test_qdrant.py::TestQdrantLocalMode",
        "tests/index/test_qdrant.py::TestQdrantServer",
    }
)
"""What the quick tier leaves out, whatever each test takes.

Contracts that it holds other backends to; and the demo, whose tests share two runs of four seconds each.
"""

SERVERS = frozenset({"postgres"})
"""Fixtures that start a server: the quick tier leaves out every test that needs one, listed or not."""

_HEADER = """\
# Tests that the quick tier leaves out: files, classes of them, and functions with all their parameters.
# `make test-times` measures the processor time of every test and writes this list; see tests/tiers.py.
"""


def add_options(parser: pytest.Parser) -> None:
    """Add the options `--quick` and `--times`."""
    group = parser.getgroup("tiers")
    group.addoption(
        "--quick", action="store_true", help="run the quick tier: not the tests of tests/slow.txt"
    )
    group.addoption("--times", metavar="FILE", help="write the processor time of each test to FILE")


def read_list(path: Path | None = None) -> frozenset[str]:
    """Read the listed files, classes and functions."""
    lines = (path or LIST).read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def name_function(nodeid: str) -> str:
    """Return the id of a test without its parameters."""
    return nodeid.partition("[")[0]


def list_names(nodeid: str) -> list[str]:
    """List what an entry can name to name this test: its file, its class if it has one, and its function."""
    parts = name_function(nodeid).split("::")
    return ["::".join(parts[:count]) for count in range(1, len(parts) + 1)]


def is_listed(nodeid: str, listed: frozenset[str]) -> bool:
    """Whether the list names the test's function, class or file."""
    return not listed.isdisjoint(list_names(nodeid))


def needs_server(item: pytest.Item) -> bool:
    """Whether the test needs a fixture of `SERVERS`."""
    return not SERVERS.isdisjoint(getattr(item, "fixturenames", ()))


def choose_slow(seconds: Mapping[str, float], budget: float = BUDGET) -> list[str]:
    """Choose the functions to leave out: the quickest are kept as long as they fit into the budget.

    `seconds` is the processor time of each test by its id. A file or class is one entry if none of it fits.
    """
    functions: dict[str, list[float]] = defaultdict(list)
    for nodeid, spent in seconds.items():
        functions[name_function(nodeid)].append(spent)
    kept: set[str] = set()
    used = 0.0
    for function, each in sorted(functions.items(), key=_rank):
        if used + sum(each) <= budget and not is_listed(function, LEFT_OUT):
            used += sum(each)
            kept.add(function)
    in_use = {name for function in kept for name in list_names(function)}
    slow = functions.keys() - kept
    return sorted({next(name for name in list_names(one) if name not in in_use) for one in slow})


def _rank(function: tuple[str, list[float]]) -> tuple[bool, float, str]:
    name, seconds = function
    return not is_listed(name, KEPT), fmean(seconds), name


def write_list(times: Path, path: Path) -> None:
    """Write the list from a file of times."""
    listed = choose_slow(read_times(times))
    path.write_text(_HEADER + "".join(f"{one}\n" for one in listed), encoding="utf-8")


def read_times(path: Path) -> dict[str, float]:
    """Read the processor time of each test, as `--times` writes it."""
    rows = (line.partition("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {nodeid: float(spent) for spent, _, nodeid in rows}


def limit_examples(items: Iterable[pytest.Item]) -> None:
    """Limit the examples of each property, also of one that asks for more."""
    for item in items:
        test = getattr(item, "obj", None)
        function, machine = getattr(test, "__func__", test), getattr(item, "cls", None)
        if isinstance(own := getattr(function, "_hypothesis_internal_use_settings", None), settings):
            function._hypothesis_internal_use_settings = _limit(own)  # type: ignore[union-attr]
        if isinstance(own := getattr(machine, "settings", None), settings):
            machine.settings = _limit(own)  # type: ignore[union-attr]


def _limit(own: settings) -> settings:
    return settings(own, max_examples=min(own.max_examples, EXAMPLES))


class Tiers:
    """The hooks behind the two options."""

    def __init__(self, config: pytest.Config) -> None:
        self._quick: bool = config.getoption("--quick")
        times: str | None = config.getoption("--times")
        self._times = Path(times).absolute() if times else None
        self._listed = read_list() if self._quick else frozenset[str]()
        if self._times and not hasattr(config, "workerinput"):
            self._times.parent.mkdir(parents=True, exist_ok=True)
            self._times.write_text("")

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out files that are listed as a whole without importing them."""
        if self._listed and collection_path.is_relative_to(ROOT):
            return collection_path.relative_to(ROOT).as_posix() in self._listed or None
        return None

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect listed tests and limit examples; times are measured with examples limited."""
        slow = [item for item in items if is_listed(item.nodeid, self._listed) or needs_server(item)]
        if self._quick and slow:
            config.hook.pytest_deselected(items=slow)
            items[:] = [item for item in items if item not in set(slow)]
        if self._quick or self._times:
            limit_examples(items)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Write the processor time of a test, with that of its fixtures and child processes."""
        before = _measure_time()
        result = yield
        if self._times and not needs_server(item):
            with self._times.open("a", encoding="utf-8") as file:
                file.write(f"{_measure_time() - before:.3f}\t{item.nodeid}\n")
        return result


def _measure_time() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    write_list(Path(sys.argv[1]), LIST)
