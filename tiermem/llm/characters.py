"""Text on its way to and from models and indexes: characters that UTF-8 cannot carry are replaced."""

from __future__ import annotations


def sendable(text: str) -> str:
    """`text` with lone surrogates replaced by U+FFFD and surrogate pairs joined; other text unchanged."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
