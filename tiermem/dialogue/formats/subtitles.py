"""Subtitles and transcripts of meetings, WebVTT and SRT: who speaks by `<v Ann>` or `Ann: …`.

Cues tell how far into a recording something was said, which is no moment: turns have none. Cues in a row by
one speaker are one turn; one without a name goes on with the speaker before it. In a file with `<v Ann>`, a
cue without it that opens with `Bob:` is said by Bob.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from pagestore import Turn
from tiermem.dialogue.formats.source import DialogueSource, FormatReader, alone
from tiermem.dialogue.identity import identify_turns
from tiermem.dialogue.interface import Conversation
from tiermem.errors import InvalidInput

_TIMES = re.compile(r"[\d:.,]{5,16}\s-->\s[\d:.,]{5,16}(?:\s.*)?")
_VOICE = re.compile(r"<v(?:\.[^\s>]{1,40})?\s(?P<speaker>[^>]{1,80})>(?P<text>.*)")
_NAMED = re.compile(r"(?P<speaker>[^\W\d_][^:<>]{0,59}?):\s(?P<text>.*)")
_CAPITALIZED = re.compile(
    r"(?P<speaker>[^\W\d_a-z][\w.'-]{0,30}(?: [^\W\d_a-z][\w.'-]{0,30}){0,2}):\s(?P<text>.*)"
)
_TAG = re.compile(r"</?[a-zA-Z\d][^<>]{0,80}>|</?>")
_NEXT_VOICE = re.compile(r"(?=<v[ .])")
_LONGEST_NAME = 5
"""Words of a name; a longer run before a colon is a sentence."""


def _knows(source: DialogueSource) -> bool:
    return source.text.startswith("WEBVTT") or (source.ending in (".vtt", ".srt") and "-->" in source.text)


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    return alone([identify_turns(source.session, list(_turns(source.text)), is_file_name=True)])


def _turns(text: str) -> Iterator[Turn]:
    speaker, said = "", list[str]()
    voiced = "<v" in text
    for line, is_first in _spoken(text):
        named = _VOICE.fullmatch(line) if voiced else _name(line)
        if voiced and named is None and is_first:
            named = _CAPITALIZED.fullmatch(line)
        who = unescape(named["speaker"]).strip() if named is not None else speaker
        words = unescape(_TAG.sub("", named["text"] if named is not None else line)).strip()
        if not who:
            raise InvalidInput("the first cue does not say who speaks (`<v Ann>` or `Ann: …`)")
        if who != speaker and said:
            yield Turn(speaker=speaker, text="\n".join(said))
            said = []
        speaker = who
        said += [words] if words else []
    if said:
        yield Turn(speaker=speaker, text="\n".join(said))


def _name(line: str) -> re.Match[str] | None:
    found = _NAMED.fullmatch(line)
    return found if found is not None and len(found["speaker"].split()) <= _LONGEST_NAME else None


def _spoken(text: str) -> Iterator[tuple[str, bool]]:
    """The lines of cues, and whether each is the first; without numbers, times, notes and styles."""
    in_cue, is_first = False, True
    for line in text.splitlines():
        if _TIMES.fullmatch(line.strip()):
            in_cue, is_first = True, True
        elif not line.strip():
            in_cue = False
        elif in_cue:
            for part in filter(None, map(str.strip, _NEXT_VOICE.split(line.strip()))):
                yield part, is_first
                is_first = False


READER = FormatReader(name="subtitles", knows=_knows, read=_read)
