"""Plain transcripts: `Name: text`, one turn after the other."""

from __future__ import annotations

import re

from tiermem.dialogue.formats.source import DialogueSource, FormatReader, alone
from tiermem.dialogue.interface import Conversation
from tiermem.dialogue.transcript import parse_transcript
from tiermem.errors import InvalidInput

OTHER_FORMAT = (
    'Where its format is none that is known, write one JSON object a line: {"speaker": "Ann", "text": "…", '
    '"timestamp": "2024-05-08T13:56", "session": "…"}; or lines like "[2024-05-08 13:56] Ann: …"'
)
"""What to do with a file that is not read."""


ABOUT = frozenset(
    ("title", "date", "exported", "created", "updated", "model", "source", "link", "participants", "tags")
)
"""Names that may come before a colon above a chat and are not speakers."""
_USUAL = "|".join(sorted(ABOUT))
_FIELD = re.compile(
    rf"""["']?[a-z][\w-]{{0,60}}["']?[ \t]{{0,4}}:|(?i:{_USUAL}|author|speakers):|[\s#-]|\Z"""
)
"""How a line of YAML begins: a name in lower case, a usual name, or what continues an entry. Speakers have a
capital.
"""


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    try:
        text = without_front_matter(source.text)
        return alone(*parse_transcript(text, source.session, source.date_order))
    except InvalidInput as error:
        raise InvalidInput(f"{error}. {OTHER_FORMAT}") from error


def without_front_matter(text: str) -> str:
    """The text with a YAML front matter (`---` … `---`, nothing above it) as blank lines."""
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if lines[start].rstrip() != "---":
        return text
    below = enumerate(lines[start + 1 :], start=start + 1)
    end = next((at for at, line in below if line.rstrip() in ("---", "...")), None)
    if end is None or not all(_FIELD.match(line) for line in lines[start + 1 : end]):
        return text
    return "\n".join([*[""] * (end + 1), *lines[end + 1 :]])


READER = FormatReader(name="transcript", knows=lambda source: not source.looks_like_json, read=_read)
