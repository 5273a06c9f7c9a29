"""Opens a file or stream of dialogue, finds out which format it has, and reads all of it or none.

Files compressed with gzip or xz are read as they are, up to a size (`packed.MOST`). What is not dialogue
raises `NotDialogue`, which names the file, the place in it and the reason.
"""

from __future__ import annotations

import codecs
import sys
from pathlib import Path
from typing import IO

from tiermem.dialogue.interface import Conversation, DialogueSession, Format
from tiermem.dialogue.locomo import is_locomo, parse_locomo
from tiermem.dialogue.longmemeval import is_longmemeval, parse_longmemeval
from tiermem.dialogue.packed import unpacked
from tiermem.dialogue.transcript import parse_transcript
from tiermem.dialogue.turns_file import load_json, parse_array, parse_lines
from tiermem.errors import InvalidInput, NotDialogue

STDIN = "-"
_PACKED = (".gz", ".xz")
_JSON_LINES = (".jsonl", ".ndjson")


def read_dialogue(
    source: str | Path | IO[bytes] | IO[str],
    format: Format = "auto",  # noqa: A002 - the user's word for it
    *,
    session: str | None = None,
) -> tuple[Conversation, ...]:
    """Every conversation of a file, a stream, or standard input (`-`).

    `session` names the session of turns that name none themselves; by default that is the file's name
    without its endings. The whole source is read first: `NotDialogue` means nothing of it came through.
    """
    name, data = _fetch(source)
    session = session or _stem(name)
    try:
        text = _decoded(data)
        conversations = _parse(text, format, name, session)
    except InvalidInput as error:
        raise NotDialogue(f"{name!r} is not dialogue: {error}") from error
    if not any(conversation.sessions for conversation in conversations):
        raise NotDialogue(f"{name!r} is not dialogue: it holds no turn")
    return conversations


def _fetch(source: str | Path | IO[bytes] | IO[str]) -> tuple[str, bytes]:
    if isinstance(source, str | Path):
        if str(source) == STDIN:
            return "stdin", _unpacked(sys.stdin.buffer.read(), "stdin")
        try:
            return str(source), _unpacked(Path(source).read_bytes(), str(source))
        except OSError as error:
            raise InvalidInput(f"cannot read {str(source)!r}: {error.strerror or error}") from error
    given = source.read()
    name = str(getattr(source, "name", "") or "dialogue")
    data = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else given
    return name, _unpacked(data, name)


def _unpacked(data: bytes, name: str) -> bytes:
    try:
        return unpacked(data)
    except InvalidInput as error:
        raise NotDialogue(f"{name!r} is not dialogue: {error}") from error


def _decoded(data: bytes) -> str:
    """UTF-8, with lone surrogates let through: they occur in exports and pages keep them."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput(f"line {line}: not UTF-8 text (byte {data[error.start]:#04x})") from error


def _stem(name: str) -> str:
    path = Path(name)
    return Path(path.stem).stem if path.suffix in _PACKED else path.stem


def _parse(text: str, form: Format, name: str, session: str) -> tuple[Conversation, ...]:
    if form in ("auto", "turns") and (_says_json_lines(name) or _opens_with_a_turn(text)):
        return _alone(parse_lines(text, session))
    if form == "transcript" or (form == "auto" and not _looks_like_json(text)):
        return _alone(parse_transcript(text, session))
    document = load_json(text)
    first = document[0] if isinstance(document, list) and document else document
    if form == "locomo" or (form == "auto" and is_locomo(first)):
        return tuple(sample.conversation() for sample in parse_locomo(document))
    if form == "longmemeval" or (form == "auto" and is_longmemeval(first)):
        return tuple(question.conversation() for question in parse_longmemeval(document))
    return _alone(parse_array(document, session))


def _alone(sessions: tuple[DialogueSession, ...]) -> tuple[Conversation, ...]:
    return (Conversation(space_hint=None, sessions=sessions),)


def _says_json_lines(name: str) -> bool:
    path = Path(name)
    return (Path(path.stem).suffix if path.suffix in _PACKED else path.suffix) in _JSON_LINES


def _opens_with_a_turn(text: str) -> bool:
    """Whether the first line alone is a JSON object, and not a whole document written on one line."""
    start = len(text) - len(text.lstrip())
    first = text[start:].partition("\n")[0] if text.startswith("{", start) else ""
    try:
        value = load_json(first)
    except InvalidInput:
        return False
    return isinstance(value, dict) and not (is_locomo(value) or is_longmemeval(value) or "messages" in value)


def _looks_like_json(text: str) -> bool:
    """A transcript may open with `[` too, as `[2024-05-08] Ann: …`."""
    opening = text.lstrip()
    return opening.startswith("{") or (opening.startswith("[") and opening[1:].lstrip()[:1] in ("{", "]"))
