"""Any of our values as JSON: field names are the keys, times are ISO 8601, nothing is left out.

Lone surrogates, which pages keep, are written as JSON escapes, so that the output is always UTF-8.
"""

from __future__ import annotations

import json
import re
import sys

from tiermem.wire import plain

__all__ = ["plain", "print_json"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def print_json(value: object) -> None:
    """Write `value` to stdout as indented JSON."""
    text = json.dumps(plain(value), ensure_ascii=False, indent=2)
    escaped = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        escaped = json.dumps(plain(value), indent=2)
    sys.stdout.write(f"{escaped}\n")
