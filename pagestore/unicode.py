"""Characters that UTF-8 cannot carry, and such as are none to be seen."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def replace_surrogates(text: str) -> str:
    """`text` with every surrogate replaced by U+FFFD, one for one, so that offsets into it stay true."""
    return _SURROGATE.sub("\ufffd", text)


def replace_unprintable(text: str) -> str:
    """`text` for a terminal: what is neither printable nor the end of a line becomes U+FFFD, one for one."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
