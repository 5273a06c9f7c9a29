"""Files of lessons as they are published: JSON, JSON lines and tab-separated rows, packed or not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tiermem.dialogue.packed import unpack
from tiermem.errors import InvalidInput


def lines(file: Path) -> list[str]:
    """The lines of a text, unpacked; `InvalidInput` where it cannot be read."""
    try:
        return unpack(file.read_bytes()).decode("utf-8").split("\n")
    except (OSError, ValueError, InvalidInput) as error:
        raise InvalidInput(f"cannot read {str(file)!r}: {error}") from error


def json_lines(file: Path) -> Iterator[Any]:
    """One value a line; `InvalidInput` names the first line that is none."""
    for number, line in enumerate(lines(file), start=1):
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError as error:
                raise InvalidInput(f"line {number} of {str(file)!r} is not JSON: {error}") from error
