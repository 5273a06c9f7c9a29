"""Repairs one value of nearly-JSON: trailing commas, comments, Python's literals, other quotation marks.

A repair changes punctuation only. The repair library completes and guesses, so its value is compared with
the text, piece by piece: a value that was cut off, or that lacks or adds a word, is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from tiermem.text.unicode import join_surrogates

_LONGEST = 200_000
"""Characters of a value at most; a longer one is not repaired."""

_TOKEN = re.compile(
    r"""(?P<gap>[\s,:]++)
      | (?P<comment>//[^\n]*+ | \#[^\n]*+ | /\*.*?(?:\*/|\Z))
      | (?P<bracket>[{}\[\]])
      | (?P<text>"(?:[^"\\]|\\.)*+" | '(?:[^'\\]|\\.)*+' | “[^”]*+”)
      | (?P<word>[^\s,:{}\[\]"'“]++)""",
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,300})(?:\.\d+)?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_LITERALS = {"true": "true", "false": "false", "null": "null", "none": "null"}
_CLOSING = {"{": "}", "[": "]"}
_ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<letter>.))", re.DOTALL)
_CHARACTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", **{c: c for c in "\"'\\/"}}


def find_end(text: str, start: int) -> int | None:
    """Return where the object or array at `start` ends; `None` if it was cut off or is too long."""
    open_brackets: list[str] = []
    for token in _tokens(text, start, min(len(text), start + _LONGEST)):
        bracket = token["bracket"]
        if bracket in _CLOSING:
            open_brackets.append(bracket)
        elif bracket and (not open_brackets or _CLOSING[open_brackets.pop()] != bracket):
            return None
        if not open_brackets:
            return token.end()
    return None


def repair_json(text: str) -> Any:
    """Return the value of a whole object or array; `None` if its words would change."""
    import json_repair

    tokens = list(_tokens(text, 0, len(text)))
    plain_text = "".join(map(_without_comment, tokens))
    try:
        pieces = list(_pieces_of([token for token in tokens if token["comment"] is None]))
        value = json_repair.loads(plain_text, skip_json_loads=True, strict=True)
        return value if list(_pieces_in(value)) == pieces else None
    except (ValueError, RecursionError):
        return None


def _tokens(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Yield tokens up to the end, or up to a string that does not close."""
    position = start
    while position < end and (token := _TOKEN.match(text, position, end)):
        yield token
        position = token.end()


def _without_comment(token: re.Match[str]) -> str:
    """Return what the library is given: it ends a comment at a bracket, and may read `None` as a text."""
    return " " if token["comment"] is not None else _LITERALS.get(token[0].lower(), token[0])


def _pieces_of(tokens: Sequence[re.Match[str]]) -> Iterator[str]:
    """Yield what each token must be in the value; raise `ValueError` for words outside quotation marks."""
    for token, following in zip_longest(tokens, tokens[1:]):
        if token["bracket"] is not None:
            yield token["bracket"]
        elif token["text"] is not None:
            yield _json_text(_ESCAPE.sub(_character_of, token["text"][1:-1]))
        elif token["word"] is not None:
            is_key = following is not None and ":" in (following["gap"] or "")
            yield _json_text(token["word"]) if is_key else _scalar(token["word"])


def _scalar(word: str) -> str:
    if word.lower() in _LITERALS:
        return _LITERALS[word.lower()]
    if _NUMBER.fullmatch(word):
        return repr(json.loads(word))
    raise ValueError("a word outside quotation marks is no value")


def _pieces_in(value: Any) -> Iterator[str]:
    match value:
        case dict():
            yield "{"
            for key, item in value.items():
                yield _json_text(key)
                yield from _pieces_in(item)
            yield "}"
        case list():
            yield "["
            for item in value:
                yield from _pieces_in(item)
            yield "]"
        case str():
            yield _json_text(value)
        case bool() | None:
            yield json.dumps(value)
        case _:
            yield repr(value)


def _json_text(text: str) -> str:
    return json.dumps(join_surrogates(text))


def _character_of(escape: re.Match[str]) -> str:
    if escape["code"] is not None:
        return chr(int(escape["code"], 16))
    if escape["letter"] in _CHARACTERS:
        return _CHARACTERS[escape["letter"]]
    raise ValueError("the escape is no JSON")
