"""WhatsApp's exported chats, as Android and iOS write them: a session a day.

`08/05/2024, 13:56 - Ann: text` and `[08/05/2024, 13:56:12] Ann: text`, and as `STAMPS` lists for other
languages. Lines without a stamp go on with the message before them. Notices of the app ("Ann added Bob") are
said by "WhatsApp" with the role `system`; iOS writes them under the name of the group or of a person, behind
a mark (U+200E). Which number is the
day depends on the phone that exported: `date_order` decides it from all dates of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Literal

from pagestore import Turn
from tiermem.dialogue.date_order import DateOrder, NumericDate, decide_order
from tiermem.dialogue.error_location import record
from tiermem.dialogue.formats.source import DialogueSource, FormatReader, alone, by_day
from tiermem.dialogue.identity import chat_id
from tiermem.dialogue.interface import Conversation
from tiermem.errors import InvalidInput
from tiermem.text.placeholders import WHATSAPP, is_media_placeholder

STAMPS = (
    "DATE, CLOCK - ",  # Android: English, German, Spanish, French, Italian, Hindi
    "DATE CLOCK - ",  # Android: Portuguese, Dutch, Swedish, older Spanish
    "DATE à CLOCK - ",  # Android: French
    "DATE um CLOCK - ",  # Android: German, older
    "DATE klo CLOCK - ",  # Android: Finnish
    "DATE، CLOCK - ",  # Android: Arabic
    "DATE HALFCLOCK - ",  # Android: Chinese and Japanese
    "DATE HALF CLOCK - ",
    "DATE, HALF CLOCK - ",  # Android: Hindi and Korean, newer
    "DATE HALF CLOCK, ",  # Android: Korean
    "[DATE, CLOCK] ",  # iOS
    "[DATE CLOCK] ",  # iOS: Portuguese, Chinese
    "[DATE à CLOCK] ",  # iOS: French
    "[DATE klo CLOCK] ",  # iOS: Finnish
    "[DATE، CLOCK] ",  # iOS: Arabic
    "[DATE HALFCLOCK] ",  # iOS: Chinese and Japanese
    "[DATE HALF CLOCK] ",  # iOS: Korean
    "[DATE, HALF CLOCK] ",  # iOS: Korean and Hindi, newer
)
"""How a message begins. A blank is any white space."""
HALVES = {
    "am": ("am", "上午", "凌晨", "早上", "清晨", "午前", "오전", "ص", "पूर्वाह्न"),
    "pm": ("pm", "下午", "中午", "晚上", "傍晚", "午後", "오후", "م", "अपराह्न"),
}
"""What the halves of a day are called; `am` and `pm` also with points and blanks between."""
_HALF_WORDS = "|".join(word for words in HALVES.values() for word in words[1:])
_PARTS = {
    "DATE": r"(?P<date>\d{1,4}\u200f?[./-]\u200f?\s?\d{1,2}\u200f?[./-]\u200f?\s?\d{1,4}\.?)",
    "HALF": rf"(?P<half>{_HALF_WORDS}|[ap]\.?\s?m\.?)",
    "CLOCK": r"(?P<clock>\d{1,2}[:.]\d{2}(?:[:.]\d{2})?)",
    "AFTER": rf"(?:\s?(?P<after>{_HALF_WORDS}|[ap]\.?\s?m\.?))?",
}


def _stamp_pattern(form: str) -> str:
    pattern = form.replace("[", r"\[").replace("]", r"\]").replace(" ", r"\s")
    after = "" if "HALF" in form else _PARTS["AFTER"]
    parts = {**_PARTS, "CLOCK": _PARTS["CLOCK"] + after}
    for name in ("CLOCK", "DATE", "HALF"):
        pattern = pattern.replace(name, parts[name])
    return pattern


_STAMPS = tuple(re.compile(_stamp_pattern(form), re.IGNORECASE) for form in STAMPS)
_DELETED = (
    "deleted this message",
    "this message was deleted",
    "diese nachricht wurde gelöscht",
    "du hast diese nachricht gelöscht",
    "se eliminó este mensaje",
    "eliminaste este mensaje",
    "ce message a été supprimé",
    "vous avez supprimé ce message",
    "mensagem apagada",
    "você apagou esta mensagem",
    "questo messaggio è stato eliminato",
    "hai eliminato questo messaggio",
    "यह मैसेज हटा दिया गया",
    "आपने यह मैसेज हटा दिया",
)
"""What is in the place of a message that was deleted, in small letters."""
_LONGEST_DELETED = 80
_YEAR = 4
"""Digits of a year written in full: a date that opens with so many has the year first."""
_MINUTES_AND_SECONDS = 2
"""Parts of a clock behind its hour, where it tells seconds."""
_PART = re.compile(r"[:.]\d{2}")
_BETWEEN = re.compile(r"\u200f?[./-]\u200f?\s?")
_POINT = re.compile(r"[.\s]")
_CLOCK_MARK = re.compile("[:.]")
_MARKS = "\u200e\u200f\ufeff"
_BLANKS = str.maketrans({"\u202f": " ", "\xa0": " "})
_QUOTES = frozenset('"“”„«')
_LONGEST_STAMP = 60
"""Characters of a stamp at most."""
_LONGEST_NAME = 80
"""Characters of a name at most; a longer text before a colon belongs to a notice of the app."""


_MOST_WORDS = 6
"""Words of a name at most, where no blank follows its colon."""


@dataclass(slots=True)
class _Message:
    line: int
    date: NumericDate
    clock: str
    half: Literal["am", "pm"] | None
    rest: list[str] = field(default_factory=list)


def _knows(source: DialogueSource) -> bool:
    first = next((line for line in source.text.split("\n") if line.strip()), "")
    stamp = _stamp(first)
    if stamp is None or not stamp[0].startswith("["):
        return stamp is not None and ("," in stamp[0] or stamp[0].endswith("- "))
    # Brackets of iOS tell seconds; a plain transcript may open with the year in brackets too.
    if len(_BETWEEN.split(stamp["date"])[0]) != _YEAR or _half(stamp) is not None:
        return True
    seconds = len(_PART.findall(stamp["clock"])) == _MINUTES_AND_SECONDS
    return seconds and ("," in stamp[0] or any(map(_has_no_blank, source.text.split("\n"))))


def _stamp(line: str) -> re.Match[str] | None:
    head = line.lstrip(_MARKS).translate(_BLANKS)[:_LONGEST_STAMP]
    if not head.removeprefix("[")[:1].isdecimal():
        return None
    return next((found for form in _STAMPS if (found := form.match(head)) is not None), None)


def _has_no_blank(line: str) -> bool:
    """Whether a message has its words right behind the colon: `Name:text`."""
    stamp = _stamp(line)
    return stamp is not None and ": " not in line[stamp.end() :] and ":" in line[stamp.end() :]


def _half(stamp: re.Match[str]) -> Literal["am", "pm"] | None:
    found = stamp.groupdict()
    written = _POINT.sub("", found.get("half") or found.get("after") or "").lower()
    if not written:
        return None
    return "am" if written in HALVES["am"] else "pm"


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    messages = list(_messages(source.text))
    decided = decide_order([message.date for message in messages], source.date_order)
    order = decided.order if decided is not None else "dmy"
    turns = [turn for message in messages for turn in _turn(message, order)]
    notes = () if decided is None or decided.is_evident else (str(decided),)
    return alone(by_day(chat_id("whatsapp", source.own_session, turns), turns, source.session), notes)


def _messages(text: str) -> Iterator[_Message]:
    message: _Message | None = None
    for number, row in enumerate(text.rstrip("\r\n").split("\n"), start=1):
        line = row.removesuffix("\r")
        stamp = _stamp(line)
        if stamp is None:
            if message is not None:
                message.rest.append(line)
            elif line.strip():
                with record(f"line {number}"):
                    raise InvalidInput("no message of WhatsApp begins here")
            continue
        if message is not None:
            yield message
        parts = _BETWEEN.split(stamp["date"].rstrip("."))
        first, second, third = map(int, parts)
        written = NumericDate(
            numbers=(first, second, third),
            mark=_BETWEEN.findall(stamp["date"])[0].strip("\u200f \xa0"),
            is_padded=any(part.startswith("0") for part in parts[:2]),
            has_half=_half(stamp) is not None,
            has_padded_hour=stamp["clock"].startswith("0"),
        )
        words = line.lstrip(_MARKS)[stamp.end() :]
        message = _Message(number, written, stamp["clock"], _half(stamp), [words])
    if message is not None:
        yield message


def _split_name(opening: str) -> tuple[str, str]:
    """The name before the colon and the words after it; an empty name for a notice of the app."""
    speaker, colon, words = opening.partition(": ")
    if not colon and opening.endswith(":"):
        speaker, colon, words = opening[:-1], ":", ""
    # "Ann changed the name to “Trip: Rome”" is a notice of the app.
    is_name = colon and len(speaker) <= _LONGEST_NAME and not _QUOTES & set(speaker)
    name = speaker.strip(_MARKS).strip() if is_name else ""
    return (name, words) if name else _split_name_without_blank(opening)


def _split_name_without_blank(opening: str) -> tuple[str, str]:
    """As `_split_name`, for `Name:text`; a name does not end with a digit, as a time of day does."""
    speaker, colon, words = opening.partition(":")
    is_name = colon and len(speaker) <= _LONGEST_NAME and not _QUOTES & set(speaker) and words[:2] != "//"
    name = speaker.strip(_MARKS).strip() if is_name and words.strip() else ""
    is_short = 0 < len(name.split()) <= _MOST_WORDS
    return (name, words) if is_short and not name[-1].isdecimal() else ("", opening)


def _turn(message: _Message, order: DateOrder) -> Iterator[Turn]:
    with record(f"line {message.line}"):
        said_at = _moment(message, order)
        opening, *more = message.rest
        name, words = _split_name(opening)
        text = "\n".join([words if name else opening, *more])
        plain = text.strip(_MARKS)
        if not name:
            yield Turn(speaker=WHATSAPP, text=text, said_at=said_at, role="system")
        elif not _is_notice(words, plain):
            yield Turn(speaker=name, text=plain if is_media_placeholder(plain) else text, said_at=said_at)
        else:
            speaker = name if _is_deleted(plain) else WHATSAPP
            yield Turn(speaker=speaker, text=plain, said_at=said_at, role="system")


_NOTICE = "\u200e"
"""The mark before what iOS itself says."""
_CONTENT = re.compile(r"<[^<>:]{1,40}: ?[^<>]{1,200}>|\A\w{2,20}: ?(?:\n|https?://|\Z)")
"""What a person sent, in words of iOS: `<attached: 00000012-PHOTO.jpg>`, a place, a poll."""


def _is_notice(words: str, plain: str) -> bool:
    """Whether the app says these words under the name of a person or a group."""
    if is_media_placeholder(plain):
        return False
    return _is_deleted(plain) or (words.startswith(_NOTICE) and _CONTENT.search(plain) is None)


def _is_deleted(plain: str) -> bool:
    return len(plain) <= _LONGEST_DELETED and any(one in plain.lower() for one in _DELETED)


def _moment(message: _Message, order: DateOrder) -> datetime:
    hour, minute, second = map(int, [*_CLOCK_MARK.split(message.clock), "0"][:3])
    if message.half is not None and hour <= _NOON:
        hour = hour % _NOON + (_NOON if message.half == "pm" else 0)
    try:
        clock = time(hour, minute, second)
    except ValueError as error:
        raise InvalidInput(f"{message.clock!r} is no time of day") from error
    try:
        return datetime.combine(date(*message.date.year_month_day(order)), clock)
    except ValueError as error:
        raise InvalidInput(f"not a date: {error}") from error


_NOON = 12


READER = FormatReader(name="whatsapp", knows=_knows, read=_read)
