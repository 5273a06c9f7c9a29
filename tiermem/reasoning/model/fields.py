"""What the fields of replies may hold: the border where untrusted text enters.

What a reply asserts (facts, actions, numbers) is validated strictly. Ornaments of a fact (scene, date,
importance) that do not fit count as unknown: a fact is not lost because its importance was "high".
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from tiermem.llm.reply_shape import read_number

_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?(?:T.*)?")


def _date_or_unknown(value: Any) -> str | None:
    found = _DATE.fullmatch(value) if isinstance(value, str) and value.isascii() else None
    if found is None:
        return None
    parts = [part for part in found.groups() if part is not None]
    try:
        date(*(int(part) for part in (*parts, "1", "1")[:3]))
    except ValueError:
        return None
    return "-".join(parts)


def _share_or_unknown(value: Any) -> float | None:
    value = read_number(value)
    is_share = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if is_share else None


def _words_or_unknown(value: Any) -> str | None:
    return (value.strip() or None) if isinstance(value, str) else None


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _texts_or_none(value: Any) -> list[str]:
    texts = value if isinstance(value, list) else []
    return [text.strip() for text in texts if isinstance(text, str) and text.strip()]


Date = Annotated[str | None, BeforeValidator(_date_or_unknown)]
"""An ISO date of the precision given; `None` for what is none."""
Share = Annotated[float | None, BeforeValidator(_share_or_unknown)]
"""A number from 0 to 1; `None` for what is none."""
Words = Annotated[str | None, BeforeValidator(_words_or_unknown)]
"""Some text; `None` where there is none."""
Texts = Annotated[list[str], BeforeValidator(_texts_or_none)]
"""Texts that are not empty; whatever else is given is left out."""
KnownTexts = Annotated[
    list[str] | None,
    BeforeValidator(lambda value: _texts_or_none(_as_list(value)) if isinstance(value, list | str) else None),
]
"""The same, and a bare text is one of them; `None` where neither is given."""
Quotes = Annotated[
    list[str],
    BeforeValidator(_as_list),
    Field(validation_alias=AliasChoices("evidence_quotes", "evidence_quote")),
]
"""The words something rests on; a bare text is one of them, and the singular name is understood."""


class CheckedReply(BaseModel):
    """What every reply is: checked strictly, never changed, with more fields than asked for ignored."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


def quotes_of(quotes: list[str]) -> tuple[str, ...]:
    """The quotes that hold words, without the space around them."""
    return tuple(quote.strip() for quote in quotes if quote.strip())
