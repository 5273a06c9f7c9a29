"""Zip archives as chat programs export them: which of the files in one are dialogue."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable

from tiermem.dialogue.formats import slack
from tiermem.dialogue.interface import Conversation
from tiermem.dialogue.packed import read_unpacked
from tiermem.errors import InvalidInput

_DAMAGE = (zlib.error, struct.error)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How files may be packed. Of other methods `zipfile` unpacks each piece whole, whatever it unpacks to."""
_CHATS = re.compile(r"conversations(?:[-_ ]?\(?\d{1,9}\)?)?\.json")
_READ = (".txt", ".json", ".jsonl", ".md", ".csv", ".tsv", ".vtt", ".srt")


def is_archive(data: bytes) -> bool:
    """Whether it is a zip archive with something in it."""
    return data.startswith(b"PK\x03\x04")


def read_archive(
    data: bytes, read: Callable[[str, str], tuple[Conversation, ...]]
) -> tuple[Conversation, ...]:
    """The dialogue of an archive; `read` takes the name and the text of a file in it.

    Slack's has a folder a channel, those of ChatGPT and Claude a `conversations.json` or several
    with numbers, WhatsApp's one text.
    `NotDialogue` and `InvalidInput` name what is not so.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            found = [one for one in archive.infolist() if _may_be_read(one.filename)]
            texts = _texts(archive, _dialogue(found))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, *_DAMAGE) as error:
        raise InvalidInput(f"the zip archive cannot be read: {error}") from error
    if any(name.endswith(slack.USERS) for name in texts):
        return slack.read_archive(texts)
    return tuple(one for name, text in texts.items() for one in read(name, text))


def _may_be_read(name: str) -> bool:
    """Whether a file may be dialogue; the files that macOS adds for each file are none."""
    is_of_macos = name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith("._")
    return name.lower().endswith(_READ) and not is_of_macos


def _dialogue(found: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    named = [one.filename.rpartition("/")[2] for one in found]
    chats = [one for one, name in zip(found, named, strict=True) if _CHATS.fullmatch(name)]
    if chats:
        return sorted(chats, key=lambda one: (len(one.filename), one.filename))
    if slack.USERS in named:
        return found
    if len(found) != 1:
        names = ", ".join(sorted(one.filename for one in found)[:8]) or "none"
        raise InvalidInput(
            f"the archive holds {len(found)} files that may be dialogue ({names}): unpack it and name one"
        )
    return found


def _texts(archive: zipfile.ZipFile, files: list[zipfile.ZipInfo]) -> dict[str, str]:
    """The files as texts, unpacked up to the limit for all together, whatever sizes the archive names."""
    texts: dict[str, str] = {}
    size = 0
    for one in files:
        if one.compress_type not in _METHODS:
            raise InvalidInput(f"{one.filename!r} is packed otherwise than by deflate: unpack it first")
        with archive.open(one) as packed:
            data = read_unpacked(packed, size)
        size += len(data)
        try:
            texts[one.filename] = data.decode("utf-8-sig", "surrogatepass")
        except UnicodeDecodeError as error:
            raise InvalidInput(f"a file of the archive is not UTF-8 text: {error}") from error
    return texts
