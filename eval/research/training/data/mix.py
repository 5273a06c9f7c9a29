"""All lessons of a training: read, split by group, then drawn, cut and put together; checked for leaks."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from eval.datasets import Beam, LoCoMo, LongMemEval, RealTalk, Written
from eval.recorded import read_facts
from eval.research.training.data.articles import clapnq, friendsqa, natural_questions, qamr, squad, squad_test
from eval.research.training.data.company import among_rivals, of_a_scene, side_by_side
from eval.research.training.data.conversations import groups_of, ranking, reading, without_evidence
from eval.research.training.data.derived import ablated, claims, draw, sentence_ranks, swapped
from eval.research.training.data.examples import Example, Part
from eval.research.training.data.facts import supporting
from eval.research.training.data.found import Found
from eval.research.training.data.sources import SOURCES
from eval.research.training.data.splits import check, parts_of, runs_of, same_question
from eval.types import Case, Dataset, QuestionId
from tiermem.errors import InvalidInput

DATASETS: Final[Mapping[str, Callable[[Path], Dataset]]] = {
    "longmemeval": LongMemEval,
    "locomo": LoCoMo,
    "realtalk": RealTalk,
    "beam": Beam,
    "written": Written,
    "changes": Written,
}
"""Sources that are conversations with questions: what is read of them is what the product finds."""
_LOOKED_AT: Final = 0.08
"""The share of articles that is looked at while learning."""
_SEARCHED: Final = 0.5
"""The share of SQuAD's lessons that is read as a search would show it, and not as its paragraph."""
_STITCHED: Final = 6000
"""Lessons on single sentences that are put in company."""

Parts = dict[Part, list[Example]]


@dataclass(frozen=True, kw_only=True)
class Lessons:
    """What there is to learn from and to measure on, and what was set aside because it was in both.

    `checksums` are of the files it was made of, by source.
    """

    parts: Mapping[Part, Sequence[Example]]
    set_aside: Mapping[str, int] = field(default_factory=dict)
    checksums: Mapping[str, str] = field(default_factory=dict)

    @property
    def trained_on(self) -> tuple[str, ...]:
        """The sources that anything is learned or chosen by."""
        seen = {one.source for part in ("train", "dev") for one in self.parts[part]}
        return tuple(name for name in SOURCES if name in seen)


def lessons(
    data: Path,
    sources: Sequence[str],
    *,
    found: Mapping[str, Mapping[QuestionId, Found]],
) -> Lessons:
    """The lessons of these sources below the folder `data`; the test of every source that has one is there
    whether it is learned from or not. `found` is, by source, what the product finds in its conversations.

    `Leak` where something of what is measured on could be learned from; `InvalidInput` for a source there is
    not, or one that is there to measure with alone.
    """
    for name in sources:
        if name not in SOURCES or SOURCES[name].test_only:
            known = ", ".join(one for one, of in SOURCES.items() if not of.test_only)
            raise InvalidInput(f"nothing is learned from {name!r}; there are: {known}")
    parts: Parts = {"train": [], "dev": [], "test": []}
    _add_articles(parts, data, sources)
    for name in DATASETS:
        if name in found:
            _add_conversations(parts, data, name, found[name], learned=name in sources)
    if "locomo-facts" in sources:
        _add_facts(parts, data)
    parts, set_aside = without_leaks(parts)
    check(parts)
    used = (*sources, "squad2", *found)
    return Lessons(
        parts=parts,
        set_aside=set_aside,
        checksums={name: checksum(data, name) for name in SOURCES if name in used},
    )


def checksum(data: Path, source: str) -> str:
    """SHA-256 over a source's files as they lie in the folder, packed as they are."""
    found = hashlib.sha256()
    for name, path in zip(SOURCES[source].files, SOURCES[source].paths(data), strict=True):
        folder = path.parents[len(Path(name).parts) - 1]
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            found.update(f"{file.relative_to(folder).as_posix()}\n".encode())
            found.update(hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()


def _files(data: Path, source: str) -> list[Path]:
    return SOURCES[source].paths(data)


def _add_articles(parts: Parts, data: Path, sources: Sequence[str]) -> None:
    test = list(squad_test(*_files(data, "squad2")))
    tested = {one.group for one in test}
    parts["test"] += test
    if "squad" in sources:
        _add_squad(parts, list(squad(*_files(data, "squad"))), tested)
    if "friendsqa" in sources:
        scenes = [one for file in _files(data, "friendsqa") for one in friendsqa(file)]
        for part, of in _split(scenes, tested).items():
            parts[part] += [*of, *_cut(of, every=3)]
            parts[part] += of_a_scene(of)
    if "qamr" in sources:
        *rows, texts = _files(data, "qamr")
        for part, of in _split(list(qamr(texts, rows)), tested).items():
            drawn = list(side_by_side(of, _STITCHED if part == "train" else _STITCHED // 20))
            parts[part] += [*drawn, *(one for at, one in enumerate(swapped(drawn)) if at % 4 == 0)]
    if "nq" in sources:
        for part, of in _split(list(natural_questions(*_files(data, "nq"))), tested).items():
            parts[part] += [*of, *(one for at, one in enumerate(swapped(of)) if at % 4 == 0)]
    if "clapnq" in sources:
        for part, of in _split(list(clapnq(*_files(data, "clapnq"))), tested).items():
            parts[part] += of


def _add_squad(parts: Parts, read: Sequence[Example], tested: set[str]) -> None:
    for part, of in _split(read, tested).items():
        answered = [one for one in of if one.spans]
        wrong = [one.answers[0] for one in answered[1:]]
        searched = {one.id: one for one in among_rivals(of)}
        found = [
            searched.get(f"{one.id}:turns") if draw(one, "layout").random() < _SEARCHED else one for one in of
        ]
        parts[part] += [*(one for one in found if one is not None), *_cut(answered, every=4)]
        for at, (one, other) in enumerate(zip(answered, [*wrong, ""], strict=False)):
            parts[part] += sentence_ranks(one) if at % 6 == 0 else ()
            parts[part] += claims(one, other) if at % 6 == 1 else ()


def _cut(of: Iterable[Example], *, every: int) -> list[Example]:
    """Some of the lessons without their answers."""
    drawn = (one for one in of if draw(one, "cut").randrange(every) == 0)
    return [left for one in drawn if (left := ablated(one)) is not None]


def _split(read: Sequence[Example], tested: set[str]) -> dict[Part, list[Example]]:
    """The lessons of every part; what is of a group that another source tests is learned by nobody."""
    left = [one for one in read if one.group not in tested]
    part_of = parts_of((one.group for one in left), dev=_LOOKED_AT)
    parts: dict[Part, list[Example]] = {"train": [], "dev": []}
    for one in left:
        parts[part_of[one.group]].append(one)
    return parts


def halves(dataset: str, cases: Sequence[Case]) -> tuple[dict[str, str], dict[str, Part]]:
    """The group of every case, and the part of every group: half A is learned from, half B measured on (of
    what was written for learning a tenth).
    """
    groups = groups_of(dataset, cases)
    return groups, parts_of(groups.values(), test=SOURCES[dataset].measured)


def _add_conversations(
    parts: Parts, data: Path, name: str, found: Mapping[QuestionId, Found], *, learned: bool
) -> None:
    cases = list(DATASETS[name](*_files(data, name)).cases())
    groups, part_of = halves(name, cases)
    for case in cases:
        part = part_of[groups[case.id]]
        if part == "test" or learned:
            parts[part] += [
                *reading(name, [case], found, groups),
                *(without_evidence(name, [case], found, groups) if part == "train" else ()),
                *ranking(name, [case], found, groups),
            ]


def _add_facts(parts: Parts, data: Path) -> None:
    locomo = LoCoMo(*_files(data, "locomo"))
    cases = list(locomo.cases())
    groups, part_of = halves("locomo", cases)
    (folder,) = _files(data, "locomo-facts")
    for case in cases:
        file = folder / f"{case.id}.jsonl"
        if file.exists():
            facts = read_facts(file, case, locomo.places(case.id))
            parts[part_of[groups[case.id]]] += supporting(case, facts, groups[case.id])


def without_leaks(parts: Parts) -> tuple[Parts, dict[str, int]]:
    """The parts without what is learned from and stands among what is measured on under another name: the
    same words copied, the same question asked. Counted by source.
    """
    rest = [*parts["dev"], *parts["test"]]
    asked = {same_question(one.first) for one in rest} - {""}
    known = {run for one in rest for run in runs_of(one.second)}
    kept: list[Example] = []
    aside: Counter[str] = Counter()
    for one in parts["train"]:
        if same_question(one.first) in asked or not known.isdisjoint(runs_of(one.second)):
            aside[one.source] += 1
        else:
            kept.append(one)
    return {**parts, "train": kept}, dict(aside)
