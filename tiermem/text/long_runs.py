r"""Finds long runs without blanks that hold no words: base64, hex and percent encoding, numbers, rulers.

They stay whole on the page. What is indexed and shown to a model has their beginning; units and omissions are
made of the text without them.
"""

from __future__ import annotations

import re

LONGEST_RUN = 200
"""Characters from which on such a run is shortened; hashes, keys and ids are shorter."""
_HEAD = 40
"""Characters of a run that are kept, so that it is found by its beginning."""
_LINE = 60
"""Characters of a line of base64, at least; 64 and 76 are usual."""
_ENCODED = r"[A-Za-z0-9+/=]"
_BREAK = r"(?:\r?\n[ \t]{0,16}|(?:\\r)?\\n)"
"""Between lines of base64: a line break, also as it is written in JSON."""
_RUNS = re.compile(
    rf"(?<![\w+/=%-])(?:[A-Za-z0-9+/=_%~-]|\\/){{{LONGEST_RUN},}}+"
    rf"|(?<!{_ENCODED})(?![0-9A-Fa-f]{{{_LINE},}}+(?!{_ENCODED}))"
    rf"{_ENCODED}{{{_LINE},}}+(?:{_BREAK}{_ENCODED}{{{_LINE},}}+){{3,}}+(?:{_BREAK}(?:{_ENCODED}{{20,}}+|[A-Za-z0-9+/]++={{1,2}}))?"
    rf"|(?<![-+0-9.,eE:;|\[\]])[-+0-9.,eE:;|\[\]]{{{LONGEST_RUN},}}+"
    rf"|(\S)(?<!\1\1)\1{{{LONGEST_RUN - 1},}}+"
)
"""Runs of an encoding; lines of base64, but no list of hashes; numbers; one character repeated."""


def shorten_runs(text: str) -> str:
    """The text with the beginning of each long run, and `…` in place of its rest."""
    return _RUNS.sub(lambda run: f"{run[0][:_HEAD]}…", text) if len(text) >= LONGEST_RUN else text


def blank_runs(text: str) -> str:
    """The text with blanks in place of each long run, of the same length, so that places stay true."""
    return _RUNS.sub(lambda run: " " * len(run[0]), text) if len(text) >= LONGEST_RUN else text
