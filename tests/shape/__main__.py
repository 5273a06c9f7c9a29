"""Print the shape of the code, and write the values that must not get worse if none of them did."""

import asyncio
import sys

from tests.shape.calls import Passage, trace_requests
from tests.shape.code import (
    Source,
    count_code_lines,
    count_functions_with_parameter,
    find_bare_names,
    find_duplicate_classes,
    find_helpers_called_once,
    find_idiom_lines,
    find_most_complex,
    find_packages_with_circles,
    measure_class,
    read_sources,
)
from tests.shape.ratchet import find_worse, measure, read_values, write_values


def list_figures(sources: list[Source], add: Passage, ask: Passage) -> list[tuple[str, str]]:
    """List each figure with its name."""
    helpers = find_helpers_called_once(sources)
    methods, lines = measure_class(sources, "AsyncMemory")
    (worst, name), *_ = find_most_complex(sources)
    circles = find_packages_with_circles(sources)
    return [
        ("code lines of tiermem and pagestore", f"{sum(map(count_code_lines, sources)):,}"),
        (
            "private functions called once, in their file",
            f"{len(helpers)} ({sum(n for _, n in helpers):,} lines)",
        ),
        ("AsyncMemory: methods, code lines", f"{methods}, {lines}"),
        ("names that are a bare participle, preposition or pronoun", f"{len(find_bare_names(sources))}"),
        ("class names used more than once", f"{len(find_duplicate_classes(sources))}"),
        ("lines with idioms", f"{sum(map(len, find_idiom_lines(sources).values()))}"),
        ("one ask: files, functions", f"{len(ask.files)}, {len(ask.functions)}"),
        ("one add: files, functions", f"{len(add.files)}, {len(add.functions)}"),
        ("one ask: value types", f"{len(ask.values)}"),
        ("functions with a parameter asked_at", f"{count_functions_with_parameter(sources, 'asked_at')}"),
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
