"""Attributes of a person with one value at a time, and the phrases that state them: a file per language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, Literal

from tiermem.text.words import phrase_list

Kind = Literal[
    "person",
    "name",
    "place",
    "plan",
    "address",
    "amount",
    "number",
    "dose",
    "phone",
    "email",
    "phrase",
    "day",
    "clock",
    "weight",
    "code",
    "level",
    "word",
]
"""What a value is. A `word` is one of a list."""


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """One attribute with its phrases, which the file explains. Of a `topical` one each thing has a value."""

    name: str
    kind: Kind
    nouns: tuple[str, ...]
    asked: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    ended: tuple[str, ...]
    values: tuple[str, ...] = ()
    topical: bool = False

    @cached_property
    def question(self) -> re.Pattern[str]:
        """An expression for questions that ask for it."""
        return re.compile(rf"(?i:{any_of((*self.nouns, *self.asked))})")

    @cached_property
    def mention(self) -> re.Pattern[str]:
        """An expression for sentences that name it."""
        return re.compile(rf"(?i:{self.noun})")

    @cached_property
    def noun(self) -> str:
        """An expression for what it is called."""
        return any_of(self.nouns)


@dataclass(frozen=True, kw_only=True)
class AttributeCues:
    """The attributes of one language, and the phrases that all of them share."""

    attributes: tuple[Attribute, ...]
    relations: tuple[frozenset[str], ...]
    not_stated: tuple[str, ...]
    past: tuple[str, ...]
    adjectives: tuple[str, ...]
    no_names: tuple[str, ...]
    changed_before: tuple[str, ...]
    changed_after: tuple[str, ...]
    taken_over: tuple[str, ...]
    ended: tuple[str, ...]
    left_after: tuple[str, ...]
    closed_after: tuple[str, ...]
    changed: tuple[str, ...]
    corrected: tuple[str, ...]


def any_of(phrases: Iterable[str]) -> str:
    """An expression for any of some phrases, the longest first, as whole words; one that nothing matches if
    there are none.
    """
    ordered = sorted(filter(None, phrases), key=len, reverse=True)
    parts = [
        rf"(?<!\w){_expression(phrase)}" if phrase[0].isalnum() else _expression(phrase) for phrase in ordered
    ]
    return rf"(?:{'|'.join(parts)})(?!\w)" if parts else r"(?!)"


def _expression(phrase: str) -> str:
    """A phrase as an expression: "*" before a space is up to five words, elsewhere the rest of a word."""
    text = re.escape(phrase).replace("'", "['’]")
    return text.replace(r"\*\ ", r"(?:[\w'’]+ ){0,5}?").replace(r"\*", r"\w*")


def _attribute(name: str, table: dict[str, Any]) -> Attribute:
    lists = {key: phrase_list(table[key]) for key in ("nouns", "asked", "before", "after", "ended")}
    return Attribute(
        name=name,
        kind=table["kind"],
        values=phrase_list(table.get("values", "")),
        topical=table.get("topical", False),
        **lists,
    )


def _read(language: str) -> AttributeCues:
    document = tomllib.loads(files(__name__).joinpath(f"{language}.toml").read_text(encoding="utf-8"))
    tables = {key: value for key, value in document.items() if isinstance(value, dict)}
    shared = {key: phrase_list(document[key]) for key in document.keys() - tables.keys()}
    relations = tuple(frozenset(phrase.split()) for phrase in shared.pop("relations"))
    attributes = tuple(_attribute(name, table) for name, table in tables.items())
    return AttributeCues(attributes=attributes, relations=relations, **shared)


ENGLISH = _read("english")
