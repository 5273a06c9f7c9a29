"""Words that may turn the meaning of a sentence, as data: one file for each language."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files

from tiermem.model import CautionCode
from tiermem.text.words import phrase_list


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageCues:
    """The cues of one language, and the words by which its sentences are read. The file says what each is."""

    cues: dict[CautionCode, tuple[str, ...]]
    speech: tuple[str, ...]
    own_view: tuple[str, ...]
    clause_ends: tuple[str, ...]
    first_person: tuple[str, ...]
    possessives: tuple[str, ...]
    second_person: tuple[str, ...]
    third_person: tuple[str, ...]
    other_languages: tuple[str, ...]


def _read(language: str) -> LanguageCues:
    document = tomllib.loads(files(__name__).joinpath(f"{language}.toml").read_text(encoding="utf-8"))
    cues = {code: phrase_list(text) for code, text in document.pop("cues").items()}
    return LanguageCues(cues=cues, **{name: phrase_list(text) for name, text in document.items()})


ENGLISH = _read("english")
