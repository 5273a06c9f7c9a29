"""Keys in what a server sends back: endpoints repeat the headers they were sent, and what they say is kept.

The rule: no run of `RUN` or more characters of a key that this process sends is left in an error, as it is,
URL-encoded, in base64 or in hex; so a key that was cut off or masked in its middle is covered too. Replies
quote dialogue word for word: there runs of half a key are looked for, and nothing that only looks like one.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from tiermem.llm.json_texts import change_texts

MARK = "[redacted]"
RUN = 8
"""Characters of a key in a row that tell something of it; a shorter key is a word and looked for nowhere."""
_LEAST_IN_REPLIES = 12
"""Characters: no shorter run of a key is looked for in a reply, where it may be a word of anybody."""
NO_KEY = "no-key-needed"
"""What is sent to a server that asks for no key."""
_NO_KEYS = {NO_KEY, "sk-no-key-required"}

_QUERY = re.compile(r"[?#]")
_ESCAPED = re.compile("%[0-9A-F]{2}")
_LIKE_KEYS = re.compile(
    r"\b(?P<scheme>bearer|basic)(?P<gap>[ \t:]{1,4})(?=(?-i:[^\s\"'<>]{0,200}[0-9A-Z]))[^\s\"'<>,;]{8,}"
    r"|\bsk-[\w-]{8,}",
    re.IGNORECASE,
)


class Redaction:
    """Takes the given secrets out of texts. Its `repr` tells none of them."""

    def __init__(self, secrets: Iterable[str | None]) -> None:
        known = {one for one in secrets if one is not None and len(one) >= RUN} - _NO_KEYS
        self._in_errors = _Runs((form, RUN) for secret in known for form in _forms(secret))
        self._in_replies = _Runs(
            (form, max(len(secret) // 2, _LEAST_IN_REPLIES))
            for secret in known
            if len(secret) >= _LEAST_IN_REPLIES
            for form in _forms(secret)
        )

    def in_error(self, text: str) -> str:
        """The words of an error without keys, and without what looks like one of anybody else."""
        return _LIKE_KEYS.sub(_mask, self._in_errors.without(text))

    def in_error_json(self, value: Any) -> Any:
        """JSON of an error with every text as `in_error` leaves it."""
        return change_texts(value, self.in_error)

    def in_reply(self, text: str) -> str:
        """The words of a reply without the keys of this process."""
        return self._in_replies.without(text)

    def tells(self, error: BaseException) -> bool:
        """Whether a traceback of `error` would repeat a key: its words, or those of what it came from."""
        return any(self.in_error(str(one)) != str(one) for one in _chain(error))


def secrets_of(url: str | None) -> tuple[str, ...]:
    """What of a URL is no address: its password, and user with password, as written and as meant."""
    try:
        written, at, _ = urlsplit(url or "").netloc.rpartition("@")
    except ValueError:
        return ()
    both = (written, unquote(written)) if at else ()
    return (*both, *(one.partition(":")[2] for one in both))


def shown_url(url: str) -> str:
    """A URL as it may be shown: without user, password, query and fragment."""
    scheme, mark, rest = url.rpartition("://")
    rest = _QUERY.split(rest, maxsplit=1)[0]
    authority, slash, path = rest.partition("/")
    return f"{scheme}{mark}{authority.rpartition('@')[2]}{slash}{path}"


class _Runs:
    """Runs of characters from the given texts, each at least as long as the length given with the text."""

    def __init__(self, forms: Iterable[tuple[str, int]]) -> None:
        self._grams: dict[int, set[str]] = {}
        self._blocks: set[str] = set()
        for form, least in forms:
            starts = range(len(form) - least + 1)
            self._grams.setdefault(least, set()).update(form[start : start + least] for start in starts)
            # Cut into blocks of half a run, every run holds one of them whole.
            half = -(-least // 2)
            self._blocks |= {form[start : start + half] for start in range(0, len(form) - half + 1, half)}

    def without(self, text: str) -> str:
        """`text` with every such run replaced by the mark."""
        if any(block in text for block in self._blocks):
            for length, grams in self._grams.items():
                text = _without(text, length, grams)
        return text


def _without(text: str, length: int, grams: set[str]) -> str:
    kept: list[str] = []
    done = position = 0
    while position + length <= len(text):
        if text[position : position + length] not in grams:
            position += 1
            continue
        end = position + length
        while end < len(text) and text[end + 1 - length : end + 1] in grams:
            end += 1
        kept += text[done:position], MARK
        done = position = end
    return "".join(kept) + text[done:]


def _forms(secret: str) -> Iterator[str]:
    """The secret as servers write it: as it is, URL-encoded, in hex, in base64 at any alignment."""
    raw = secret.encode(errors="replace")
    yield secret
    encoded = quote(secret, safe="")
    with_lower_escapes = _ESCAPED.sub(lambda found: found[0].lower(), encoded)
    yield from {encoded, with_lower_escapes, secret.replace("/", "\\/")} - {secret}
    yield raw.hex()
    for shift in range(3):
        # Three bytes are four characters: those that neighbours have a share in are left off.
        whole = base64.b64encode(bytes(shift) + raw).decode().rstrip("=")
        first, last = (0, 2, 3)[shift], len(whole) - ((shift + len(raw)) % 3 > 0)
        yield from {whole[first:last], whole[first:last].translate(_URL_SAFE)}


_URL_SAFE = str.maketrans("+/", "-_")


def _mask(found: re.Match[str]) -> str:
    return f"{found['scheme']}{found['gap']}{MARK}" if found["scheme"] else MARK


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and everything that a traceback of it prints."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
