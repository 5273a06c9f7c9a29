"""Any of our values as JSON: field names are the keys, times are ISO 8601, nothing is left out.

Lone surrogates, which pages keep, are written as JSON escapes, so that the output is always UTF-8.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")


def print_json(value: object) -> None:
    """Write `value` to stdout as indented JSON."""
    text = json.dumps(plain(value), ensure_ascii=False, indent=2)
    escaped = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        escaped = json.dumps(plain(value), indent=2)
    sys.stdout.write(f"{escaped}\n")


def plain(value: object) -> Any:
    """`value` in dicts, lists, texts and numbers."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    return value
