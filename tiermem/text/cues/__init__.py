"""Words that say whether a sentence speaks of what was or of what will be, as data: a file per language."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from importlib.resources import files

from tiermem.text.words import phrase_list


@dataclass(frozen=True, slots=True, kw_only=True)
class TenseCues:
    """The tense cues of one language. The file says what each list is."""

    subjects: tuple[str, ...]
    adverbs: tuple[str, ...]
    past: tuple[str, ...]
    past_or_present: tuple[str, ...]
    participles: tuple[str, ...]
    no_past: tuple[str, ...]
    reporting: tuple[str, ...]
    arranging: tuple[str, ...]
    controlling: tuple[str, ...]
    modals: tuple[str, ...]
    future: tuple[str, ...]
    scheduled: tuple[str, ...]
    openings: tuple[str, ...]
    events_ahead: tuple[str, ...]
    states: tuple[str, ...]
    habits: tuple[str, ...]
    indefinite: tuple[str, ...]
    names: tuple[str, ...]
    parts_of_day: tuple[str, ...]
    clause_ends: tuple[str, ...]
    for_later: tuple[str, ...]
    committing: tuple[str, ...]
    intended: tuple[str, ...]
    thanked: tuple[str, ...]
    common: tuple[str, ...]
    asking: tuple[str, ...]
    regrets: tuple[str, ...]
    completed: tuple[str, ...]


def _read(language: str) -> TenseCues:
    document = tomllib.loads(files(__name__).joinpath(f"{language}.toml").read_text(encoding="utf-8"))
    return TenseCues(**{field.name: phrase_list(document[field.name]) for field in fields(TenseCues)})


ENGLISH = _read("english")
