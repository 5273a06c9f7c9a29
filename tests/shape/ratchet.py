"""The values that must not get worse, as `tests/shape/values.json` keeps them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.shape.code import (
    Source,
    find_bare_names,
    find_duplicate_classes,
    find_idiom_lines,
    find_most_complex,
)

FILE = Path(__file__).parent / "values.json"


@dataclass(frozen=True)
class Values:
    """What must not get worse: names, sentences and the most complex function."""

    bare_names: list[str]
    duplicate_classes: list[str]
    idiom_lines: dict[str, int]
    complexity: int


def measure(sources: Iterable[Source]) -> Values:
    """Measure what must not get worse."""
    sources = list(sources)
    return Values(
        bare_names=find_bare_names(sources),
        duplicate_classes=find_duplicate_classes(sources),
        idiom_lines={path: len(lines) for path, lines in find_idiom_lines(sources).items()},
        complexity=find_most_complex(sources)[0][0],
    )


def read_values(path: Path = FILE) -> Values:
    """Read the last values."""
    return Values(**json.loads(path.read_text(encoding="utf-8")))


def write_values(values: Values, path: Path = FILE) -> None:
    """Write the last values."""
    path.write_text(json.dumps(asdict(values), indent=1) + "\n", encoding="utf-8")


def find_worse(last: Values, now: Values, sources: Iterable[Source]) -> list[str]:
    """Find what got worse: a line for each value, with what is new."""
    sources = list(sources)
    worse = []
    for label, before, after in (
        ("names that are a bare participle, preposition or pronoun", last.bare_names, now.bare_names),
        ("class names used more than once", last.duplicate_classes, now.duplicate_classes),
    ):
        if len(after) > len(before):
            new = sorted((Counter(after) - Counter(before)).elements())
            worse.append(f"{label}: {len(after)}, were {len(before)}; new: {', '.join(new)}")
    before_lines, after_lines = sum(last.idiom_lines.values()), sum(now.idiom_lines.values())
    if after_lines > before_lines:
        found = find_idiom_lines(sources)
        grown = [path for path, count in now.idiom_lines.items() if count > last.idiom_lines.get(path, 0)]
        lines = [f"{path}:{line}" for path in grown for line in found[path]]
        worse.append(
            f"lines with idioms: {after_lines}, were {before_lines}; among:\n  " + "\n  ".join(lines)
        )
    if now.complexity > last.complexity:
        new = [f"{name} {value}" for value, name in find_most_complex(sources) if value > last.complexity]
        worse.append(f"complexity: {now.complexity}, was {last.complexity}; new: {', '.join(new)}")
    return worse
