"""Characters that cannot go everywhere: half a pair of UTF-16, and what a terminal would obey.

Which function, says where the text goes: to a model or an index (`join_surrogates`), into an answer, where
offsets into a page must stay true (`replace_surrogates`), to a terminal (`show_controls`).
"""

from __future__ import annotations

from pagestore.unicode import replace_surrogates

__all__ = ["join_surrogates", "replace_surrogates", "show_controls"]

_CONTROLS = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
}


def join_surrogates(text: str) -> str:
    """`text` with lone surrogates replaced by U+FFFD and surrogate pairs joined; other text unchanged."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def show_controls(text: str) -> str:
    """`text` with every control, direction-override and surrogate character made visible, same length."""
    return text.translate(_CONTROLS)
