"""Print the shape of the code, and write the values that must not get worse if none of them did."""

import asyncio
import sys

from tests.shape.calls import Passage, trace_requests
from tests.shape.code import (
    Source,
    count_code_lines,
    count_functions_with_parameter,
    count_private_accesses,
    find_bare_names,
    find_duplicate_classes,
    find_helpers_called_once,
    find_idiom_lines,
    find_most_complex,
    find_packages_with_circles,
    is_test_contract,
    measure_class,
    read_sources,
)
from tests.shape.ratchet import find_worse, measure, read_values, write_values

SHORT_HELPER = 3
"""Code lines of a helper that is worth inlining where it is called once."""


def list_figures(sources: list[Source], add: Passage, ask: Passage) -> list[tuple[str, str]]:
    """List each figure with its name."""
    helpers = find_helpers_called_once(sources)
    short = [name for name, lines in helpers if lines <= SHORT_HELPER]
    contracts = [one for one in sources if is_test_contract(one)]
    library = [one for one in sources if not is_test_contract(one)]
    methods, lines = measure_class(sources, "AsyncMemory")
    (worst, name), *_ = find_most_complex(sources)
    circles = find_packages_with_circles(sources)
    return [
        (
            "code lines of tiermem and pagestore, without test contracts",
            f"{sum(map(count_code_lines, library)):,}",
        ),
        ("code lines of test contracts (testing.py)", f"{sum(map(count_code_lines, contracts)):,}"),
        ("private functions called once, in their file", f"{len(helpers)}"),
        (f"of these with at most {SHORT_HELPER} code lines", f"{len(short)}"),
        ("lines with access to private members of other classes", f"{count_private_accesses(sources)}"),
        ("AsyncMemory: methods, code lines", f"{methods}, {lines}"),
        ("names that are a bare participle, preposition or pronoun", f"{len(find_bare_names(sources))}"),
        ("class names used more than once", f"{len(find_duplicate_classes(sources))}"),
        ("lines with idioms", f"{sum(map(len, find_idiom_lines(sources).values()))}"),
        ("one ask: files, functions", f"{len(ask.files)}, {len(ask.functions)}"),
        ("one add: files, functions", f"{len(add.files)}, {len(add.functions)}"),
        ("one ask: value types", f"{len(ask.values)}"),
        ("functions with a parameter asked_at", f"{count_functions_with_parameter(sources, 'asked_at')}"),
        (
            "functions that get the question as text",
            f"{count_functions_with_parameter(sources, 'question', 'str')}",
        ),
        ("worst cyclomatic complexity", f"{worst} ({name})"),
        ("packages whose files import in a circle", ", ".join(circles) or "0"),
    ]


def main() -> int:
    """Print the figures, then what got worse or that the values are written."""
    sources = read_sources()
    figures = list_figures(sources, *asyncio.run(trace_requests()))
    now = measure(sources)
    worse = find_worse(read_values(), now, sources)
    if not worse:
        write_values(now)
    lines = [*(f"{name:60}{figure}" for name, figure in figures), *worse]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
