"""Records of every kind are read as earlier versions wrote them.

`golden/kinds-N.json` holds a body of each kind with every field filled. Where a kind or a field is added, the
files stay as they are, and `python -m tests.ledger.test_golden_kinds` writes the next one.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from tiermem.ledger.entries import decode_body, encode
from tiermem.ledger.kinds import KINDS

FILES = sorted(
    (Path(__file__).parent / "golden").glob("kinds-*.json"), key=lambda file: int(file.stem.split("-")[1])
)
PAGE = "p1:" + "0" * 64


def make_value(hint: Any, name: str = "", within: tuple[Any, ...] = ()) -> Any:
    """A value of a type, in which every field has a value that is not its default.

    A type within itself is left out there.
    """
    arguments = [one for one in get_args(hint) if one not in (NoneType, Ellipsis)]
    origin = get_origin(hint)
    if isinstance(hint, type) and is_dataclass(hint):
        return _make_instance(hint, (*within, hint))
    if origin is Literal:
        return arguments[0]
    if origin in (tuple, frozenset):
        return origin(make_value(one, name, within) for one in arguments if one not in within)
    if origin is Mapping:
        return {make_value(arguments[0], name, within): make_value(arguments[1], name, within)}
    if arguments:  # a union, or `Annotated`
        return None if arguments[0] in within else make_value(arguments[0], name, within)
    if hint is datetime:
        return datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
    plain = getattr(hint, "__supertype__", hint)
    if plain is str:
        return PAGE if name.startswith("page") else f"a {name} with “é”"
    return {bool: True, int: 7, float: 0.5}[plain]


def _make_instance(made: Any, within: tuple[Any, ...]) -> Any:
    hints, values = get_type_hints(made, include_extras=True), {}
    for one in fields(made):
        value = make_value(hints[one.name], one.name, within)
        if value is not None and value == one.default:
            others = [choice for choice in get_args(hints[one.name]) if choice != value]
            value = others[0] if get_origin(hints[one.name]) is Literal else not value
        values[one.name] = value
    return made(**values)


def bodies() -> dict[str, Any]:
    """A body of each kind with every field filled, as it is written now."""
    return {name: encode(make_value(kind.entry)) for name, kind in KINDS.items()}


def _select_fields(value: Any, like: Any) -> Any:
    """The fields of a value that another one has, at every depth: fields that are newer are left out."""
    if isinstance(value, dict) and isinstance(like, dict):
        return {key: _select_fields(value[key], like[key]) for key in like}
    if isinstance(value, list) and isinstance(like, list) and len(value) == len(like):
        return [_select_fields(one, other) for one, other in zip(value, like, strict=True)]
    return value


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_record_of_every_kind_reads_as_it_was_written(file: Path) -> None:
    written = json.loads(file.read_text())
    assert written.keys() <= KINDS.keys()
    for name, body in written.items():
        entry = decode_body(name, body, seq=1)
        assert entry is not None
        again = encode(entry)
        assert decode_body(name, again, seq=1) == entry
        assert _select_fields(again, body) == body


def test_the_newest_file_has_every_kind_and_field_that_is_written_now() -> None:
    assert json.loads(FILES[-1].read_text()) == bodies()


def test_the_page_of_the_format_lists_every_kind() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "format.md").read_text()
    table = page.partition("| `n` |")[2].partition("\n\n")[0]
    named = [name for row in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
    assert sorted(named) == sorted(KINDS)


if __name__ == "__main__":
    new = Path(__file__).parent / "golden" / f"kinds-{len(FILES) + 1}.json"
    new.write_text(json.dumps(bodies(), indent=1, sort_keys=True) + "\n")
