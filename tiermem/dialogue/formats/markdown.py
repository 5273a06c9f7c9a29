"""Transcripts in Markdown: `**Ann:** text`, or headings that name who speaks (`## User`).

A heading opens a turn if it names a speaker of a chat (user, assistant, you, …); any other heading is text.
Text above the first turn, such as front matter, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pagestore import Turn
from tiermem.dialogue.formats.source import DialogueSource, FormatReader, alone
from tiermem.dialogue.formats.transcripts import ABOUT, without_front_matter
from tiermem.dialogue.identity import identify_turns
from tiermem.dialogue.interface import Conversation
from tiermem.dialogue.transcript import opened_by
from tiermem.text.words import word_list

_BOLD = re.compile(
    r"(?P<mark>\*\*|__)(?P<speaker>[^*_:\s][^*_:]{0,59}?)(?::(?P=mark)|(?P=mark):)[ \t]*(?P<text>.*)"
)
_HEADING = re.compile(r"#{1,6}[ \t]+(?P<speaker>[^#].{0,59}?):?[ \t]*")
_SPEAKERS = frozenset(word_list("user human you me assistant ai bot system tool chatgpt claude gemini model"))
_FEWEST = 2
"""Turns that make a file one of these."""


def _knows(source: DialogueSource) -> bool:
    if source.looks_like_json:
        return False
    lines = without_front_matter(source.text).split("\n")
    openings = list(_openings(lines))
    if len(openings) < _FEWEST:
        return False
    # A transcript whose turns hold bold words is one of plain lines: somebody speaks above the first of them.
    return not any(name not in ABOUT for line in lines[: openings[0][0]] if (name := opened_by(line)))


def _openings(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Where turns open: the line, who speaks, and the words on that line.

    All open as the first one does: where headings name who speaks, bold words in a turn are words.
    """
    fenced, kind = False, ""
    for number, line in enumerate(lines):
        if line.lstrip().startswith("```") and "```" not in line.lstrip()[3:]:
            fenced = not fenced
        if fenced:
            continue
        bold = _BOLD.fullmatch(line.rstrip())
        heading = _HEADING.fullmatch(line.rstrip())
        if bold is not None and kind != "heading":
            kind = "bold"
            yield number, bold["speaker"].strip(), bold["text"]
        elif heading is not None and heading["speaker"].strip().lower() in _SPEAKERS and kind != "bold":
            kind = "heading"
            yield number, heading["speaker"].strip(), ""


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    lines = without_front_matter(source.text).split("\n")
    openings = list(_openings(lines))
    ends = [*(number for number, *_ in openings), len(lines)][1:]
    turns = [
        Turn(speaker=speaker, text="\n".join([words, *lines[number + 1 : end]]).strip("\n").rstrip())
        for (number, speaker, words), end in zip(openings, ends, strict=True)
    ]
    return alone([identify_turns(source.session, (turn for turn in turns if turn.text), is_file_name=True)])


READER = FormatReader(name="markdown", knows=_knows, read=_read)
