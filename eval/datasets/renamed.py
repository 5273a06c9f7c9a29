"""A conversation under other names, so that a model that has read the public data gains nothing by it.

Speakers always get another first name of the same kind, their short forms with them (Mel is short for
Melanie as Bet is for Bethany); so do the people and lands that are named most often. The new names stand
nowhere in the conversation and no two are alike, so the change can be undone word by word. Names that
might be common words, and those that are part of a longer name ("Harry Potter"), are left alone; months,
weekdays and brands are in no list. Sessions, order, times and evidence stay what they are.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from eval.datasets.names import FEMALE, LANDS, MALE, Land
from eval.datasets.view import DatasetView
from eval.types import Case, Dataset, LabelledQuestion, Session
from tiermem.errors import InvalidInput
from tiermem.text.literals import names
from tiermem.text.words import word_list

_MOST: Final = 40
"""Other people renamed in one conversation at most, those named most often."""
_PART_OF_OTHERS: Final = 1 / 3
"""A name that stands in longer names this often means something else than a person or a place."""
_ROLES: Final = frozenset({"user", "assistant", "system", "tool"})
_KINDS: Final = {name: kind for kind in (FEMALE, MALE) for name in kind}
_LAND_NAMES: Final = frozenset(name for land in LANDS for name in land.names if name)
_ALSO_WORDS: Final = frozenset(
    word_list("""
    april art august bill chase chip daisy dawn drew faith frank gene grace grant guy hope ivy jack joy june
    lance lily mark max may miles nick pat pearl ray rich rob rose ruby sky summer sue victor violet will
""")
)
"""First names that mean something else where they are written small."""
_ENDINGS: Final = ("", "y", "ie", "ey", "i", "o", "s")
_WORD: Final = re.compile(r"[^\W\d_]+")
_CAPITALISED: Final = re.compile(r"\b[A-Z][^\W\d_]+")


@dataclass(frozen=True)
class Renaming:
    """New names by old, as written inside a sentence; no new one is an old one, and no two are alike."""

    names: Mapping[str, str]

    def __post_init__(self) -> None:
        new = list(self.names.values())
        if len(set(new)) < len(new) or set(new) & self.names.keys():
            raise InvalidInput(f"names would be confused: {dict(self.names)!r}")

    def __call__(self, text: str) -> str:
        """The text under the new names, whether they are written Ann, ANN or ann."""
        if not self.names:
            return text
        return self._pattern.sub(lambda found: self._spellings[found.group()], text)

    @property
    def undone(self) -> Renaming:
        """The way back."""
        return Renaming({new: old for old, new in self.names.items()})

    @cached_property
    def _spellings(self) -> dict[str, str]:
        pairs = self.names.items()
        small = {old.lower(): new.lower() for old, new in pairs if old.lower() not in _ALSO_WORDS}
        large = {old.upper(): new.upper() for old, new in pairs}
        titles = {old.capitalize(): new.capitalize() for old, new in pairs if old.islower()}
        return {**small, **large, **titles, **self.names}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self._spellings, key=lambda name: (-len(name), name))
        return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, longest_first))})(?![^\W_])")


class Renamed(DatasetView):
    """A dataset whose conversations go under other names; the same ones for the same `seed`."""

    def __init__(self, dataset: Dataset, *, seed: int) -> None:
        super().__init__(dataset)
        self._seed = seed

    def cases(self) -> Iterator[Case]:
        """The cases of the original, each under names of its own."""
        return (renamed(case, renaming(case, seed=self._seed)) for case in self._dataset.cases())


def renamed(case: Case, to: Renaming) -> Case:
    """The case with every speaker, turn, question and gold answer renamed; ids, times and evidence stay."""
    return replace(
        case,
        sessions=tuple(_session(session, to) for session in case.sessions),
        questions=tuple(_question(question, to) for question in case.questions),
    )


def _session(session: Session, to: Renaming) -> Session:
    turns = (replace(turn, speaker=to(turn.speaker), text=to(turn.text)) for turn in session.turns)
    return replace(session, turns=tuple(turns))


def _question(question: LabelledQuestion, to: Renaming) -> LabelledQuestion:
    return replace(question, text=to(question.text), gold=tuple(map(to, question.gold)))


def renaming(case: Case, *, seed: int) -> Renaming:
    """Which names of a case become which; the same for the same case and seed, in any process."""
    seen = _Seen(tuple(_texts(case)))
    chosen = _Choosing(seen, f"{seed}:{case.id}")
    words = {word for speaker in _speakers(case) for word in _WORD.findall(speaker)}
    speakers = sorted(word for word in words if len(word) > 1)
    for speaker in speakers:
        chosen.person(speaker)
    for person in seen.people(besides=speakers):
        chosen.person(person)
    for land in LANDS:
        if seen.land(land):
            chosen.land(land)
    for speaker in speakers:
        for short in seen.short_forms(speaker, besides=chosen.names):
            chosen.short(short, speaker)
    return Renaming(chosen.names)


def _texts(case: Case) -> Iterator[str]:
    for session in case.sessions:
        for turn in session.turns:
            yield from (turn.speaker, turn.text)
    for question in case.questions:
        yield from (question.text, *question.gold)


def _speakers(case: Case) -> set[str]:
    return {
        turn.speaker
        for session in case.sessions
        for turn in session.turns
        if turn.speaker.lower() not in _ROLES
    }


class _Seen:
    """What names stand in a conversation, and what could be a common word there."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self.words = Counter(word for text in texts for word in _WORD.findall(text))
        self.any_case = {word.lower() for word in self.words}
        self._alone: Counter[str] = Counter()
        self._within: Counter[str] = Counter()
        listed = _KINDS.keys() | {word for name in _LAND_NAMES for word in name.split()}
        for text in texts:
            if not listed.isdisjoint(_CAPITALISED.findall(text)):
                self._count(text)

    def _count(self, text: str) -> None:
        for name in names(text):
            parts = name.split()
            if name in _LAND_NAMES or all(part in _KINDS for part in parts):
                self._alone.update({name, *parts})
            else:
                self._within.update(parts)
                self._within.update(land for land in _LAND_NAMES if f" {land} " in f" {name} ")

    def people(self, *, besides: Collection[str]) -> list[str]:
        """The first names that are nobody's who speaks, the most frequent ones, those first."""
        found = [
            name for name in self._alone if name in _KINDS and name not in besides and self._means_it(name)
        ]
        return sorted(found, key=lambda name: (-self._alone[name], name))[:_MOST]

    def land(self, land: Land) -> bool:
        """Whether a land is named, and every name of it that occurs can be nothing else."""
        there = [name for name in land.names if name and (self._alone[name] or self._within[name])]
        return bool(there) and all(map(self._means_it, there))

    def _means_it(self, name: str) -> bool:
        """Not a common word here, and not mostly a part of longer names."""
        common = any(self.words[word.lower()] for word in name.split())
        return not common and self._within[name] <= _PART_OF_OTHERS * (self._within[name] + self._alone[name])

    def short_forms(self, name: str, *, besides: Collection[str]) -> list[str]:
        """Capitalised words that open like `name` and are no common word here: Mel, Caro, Timmy."""
        return sorted(
            word
            for word in self.words
            if word not in besides and _shortens(word, name) and not self.words[word.lower()]
        )


def _shortens(word: str, name: str) -> bool:
    if not word[0].isupper() or not word[1:].islower() or word.lower() == name.lower():
        return False
    kept = _opening(word, name)
    rest = word[kept:]
    doubled = rest[:1] == word[kept - 1 : kept]
    return kept >= 2 and kept < len(name) and (rest[1:] if doubled else rest) in _ENDINGS


def _opening(word: str, name: str) -> int:
    """How many letters `word` and `name` open with alike."""
    pairs = zip(word.lower(), name.lower(), strict=False)
    return next((at for at, (mine, other) in enumerate(pairs) if mine != other), min(len(word), len(name)))


class _Choosing:
    """Gives out new names: by the seed, none twice, and none that stands in the conversation."""

    def __init__(self, seen: _Seen, seed: str) -> None:
        self.names: dict[str, str] = {}
        self._seen = seen
        self._seed = seed
        self._taken = set(seen.any_case)

    def person(self, name: str) -> None:
        kind = _KINDS.get(name.capitalize(), (*FEMALE, *MALE))
        new = self._first_free(sorted(kind, key=lambda one: self._order(one, name)), name)
        self._give(name, new.lower() if name.islower() else new)

    def short(self, short: str, name: str) -> None:
        """As much of the new name as is left of the old, or more where that is taken."""
        new, kept = self.names[name].capitalize(), _opening(short, name)
        ending = "" if short[kept:] in ("", "s") else "y"
        shorter = [new[:length] + ending for length in range(min(kept, len(new) - 1), len(new) + 1)]
        self._give(short, self._first_free([*shorter, *(new + letter for letter in "ikost")], short))

    def land(self, land: Land) -> None:
        free = [other for other in LANDS if other.kind == land.kind and self._fits(land, other)]
        if free:
            new = min(free, key=lambda other: self._order(other.name, land.name))
            for ours, theirs in zip(land.names, new.names, strict=True):
                if ours and theirs:
                    self._give(ours, theirs)

    def _fits(self, land: Land, other: Land) -> bool:
        """Whether `other` is free, and has a word for everything of `land` that occurs."""
        taken = any(word.lower() in self._taken for name in other.names for word in name.split())
        pairs = zip(land.names, other.names, strict=True)
        return not taken and all(theirs or not self._there(ours) for ours, theirs in pairs)

    def _there(self, name: str) -> bool:
        return bool(name) and all(word in self._seen.words for word in name.split())

    def _first_free(self, candidates: Iterable[str], name: str) -> str:
        found = next((one for one in candidates if one.lower() not in self._taken), None)
        if found is None:
            raise InvalidInput(f"every name there is for {name!r} stands in the conversation already")
        return found

    def _order(self, candidate: str, name: str) -> bytes:
        return hashlib.sha256(f"{self._seed}:{name}:{candidate}".encode()).digest()

    def _give(self, old: str, new: str) -> None:
        self.names[old] = new
        self._taken |= {word.lower() for one in (old, new) for word in one.split()}
