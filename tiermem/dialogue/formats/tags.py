"""What is between tags that coding agents put around parts of a text, as in `<bash-input>ls</bash-input>`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedPart:
    """Where a tag begins and its end ends in a text, and the text in it, without blanks around it."""

    start: int
    end: int
    text: str


def tagged_parts(text: str, opening: re.Pattern[str]) -> Iterator[TaggedPart]:
    """The parts of a text in tags whose first tag matches, in order; a tag is closed by its next end.

    A tag without an end is passed over, and so is one within another.
    """
    behind, unclosed = 0, set[str]()
    for tag in opening.finditer(text):
        if tag.start() < behind or tag[0] in unclosed:
            continue
        closing = f"</{tag[0][1:]}"
        end = text.find(closing, tag.end())
        if end < 0:
            unclosed.add(tag[0])
        else:
            behind = end + len(closing)
            yield TaggedPart(start=tag.start(), end=behind, text=text[tag.end() : end].strip())


def text_in_tag(text: str, tag: str) -> str | None:
    """The text in the first such tag, without blanks around it; `None` where there is none."""
    return next(texts_in_tags(text, tag), None)


def texts_in_tags(text: str, tag: str) -> Iterator[str]:
    """The texts in all such tags, in order, without blanks around them; a tag is closed by the next end."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            return
        yield text[start + len(opening) : end].strip()
        start = text.find(opening, end + len(closing))


def without_tag(text: str, tag: str) -> str:
    """A text without the first such tag and what is in it."""
    start = text.find(f"<{tag}>")
    end = text.find(f"</{tag}>", start)
    return text if min(start, end) < 0 else text[:start] + text[end + len(tag) + 3 :]


def is_one_tag(text: str) -> bool:
    """Whether a text is one tag with what is in it: it begins with `<name>` and ends with `</name>`."""
    plain = text.strip()
    name = plain[1 : plain.find(">")] if plain.startswith("<") else ""
    return bool(name) and name.replace("_", "").isalpha() and name.islower() and plain.endswith(f"</{name}>")
