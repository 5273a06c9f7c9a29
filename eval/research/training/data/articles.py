"""Lessons from articles and from scenes of television, by their published files.

Every reader gives examples with the group they are from, in the order of its file, and draws nothing.
Answers are spans of the text as it stands; a question whose answer does not stand there is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from eval.datasets.files import read_json
from eval.research.training.data.examples import Example
from eval.research.training.data.rows import json_lines, lines
from eval.research.training.data.splits import article
from tiermem.errors import InvalidInput

_BRACKETS: Final = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "``": '"', "''": '"'}
_APART: Final = re.compile(
    r" (?=[,.!?;:%)\]]|['’](?:s|m|re|ve|ll|d|t)\b|n['’]t\b)|(?<=[(\[$]) |(?<=\b[GgWw][oa]n) (?=na\b)"
)
"""Spaces that only tokenizing put there."""
_AROUND: Final = 4
"""Utterances on each side of the one that answers, as a rule."""


def squad(file: Path) -> Iterator[Example]:
    """SQuAD 1.1 and 2.0 from their articles' pages; a question of both stands here once."""
    seen: set[str] = set()
    content, _ = read_json(file)
    for edition in ("2.0", "1.1"):
        for title, paragraphs in _object(content, edition, file).items():
            for paragraph in paragraphs:
                for qa in paragraph["qas"]:
                    if qa["id"] not in seen:
                        seen.add(qa["id"])
                        spans = _every(paragraph["context"], qa["answers"])
                        yield from _read("squad", article(title), paragraph["context"], qa, spans)


def squad_test(file: Path) -> Iterator[Example]:
    """The half of SQuAD 2.0's dev set that is the test."""
    content, _ = read_json(file)
    for entry in _object(content, "data", file):
        for paragraph in entry["paragraphs"]:
            for qa in paragraph["qas"]:
                spans = tuple(
                    (one["answer_start"], one["answer_start"] + len(one["text"])) for one in qa["answers"]
                )
                yield from _read("squad2", article(entry["title"]), paragraph["context"], qa, spans)


def _object(content: Any, key: str, file: Path) -> Any:
    if not isinstance(content, dict) or key not in content:
        raise InvalidInput(f"{str(file)!r} holds no {key!r}")
    return content[key]


def _read(
    source: str, group: str, text: str, qa: Mapping[str, Any], spans: Sequence[tuple[int, int]]
) -> Iterator[Example]:
    impossible = bool(qa["is_impossible"])
    if impossible or spans:
        kept = () if impossible else tuple(dict.fromkeys(spans))
        yield Example(
            id=f"{source}:{qa['id']}",
            source=source,
            group=group,
            task="read",
            first=qa["question"].strip(),
            second=text,
            label=int(not impossible),
            spans=kept,
            answers=tuple(dict.fromkeys(text[start:end] for start, end in kept)),
        )


def _every(text: str, answers: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """The first place of every answer."""
    found = ((text.find(one), one) for one in answers if one)
    return tuple((at, at + len(one)) for at, one in found if at >= 0)


def friendsqa(file: Path) -> Iterator[Example]:
    """Questions on scenes of dialogue: the utterances around the one that answers, in turns' layout."""
    content, _ = read_json(file)
    for scene in _object(content, "data", file):
        for paragraph in scene["paragraphs"]:
            said = paragraph["utterances:"]
            for qa in paragraph["qas"]:
                yield from _of_scene(scene["title"], said, qa)


def _of_scene(title: str, said: Sequence[Mapping[str, Any]], qa: Mapping[str, Any]) -> Iterator[Example]:
    answers = [one for one in qa["answers"] if not one["is_speaker"]]
    if not answers:
        return
    places = {one["utterance_id"] for one in answers}
    middle = answers[0]["utterance_id"]
    shown = range(max(0, middle - _AROUND), min(len(said), middle + _AROUND + 1))
    text, starts = _as_turns([said[at] for at in shown])
    spans = [
        (place, place + len(one["answer_text"]))
        for one in answers
        if one["utterance_id"] in shown
        for start in (starts[shown.index(one["utterance_id"])],)
        if (place := text.find(one["answer_text"], start)) >= 0
    ]
    if spans and places:
        yield joined(
            Example(
                id=f"friendsqa:{qa['id']}",
                source="friendsqa",
                group=f"friends:{title}",
                task="read",
                first=qa["question"].strip(),
                second=text,
                label=1,
                spans=tuple(dict.fromkeys(spans)),
                answers=tuple(dict.fromkeys(text[start:end] for start, end in spans)),
            )
        )


def joined(lesson: Example) -> Example:
    """The lesson as people write: without the spaces that tokenizing put around points and before endings."""
    places = [match.start() for match in _APART.finditer(lesson.second)]

    def moved(at: int) -> int:
        return at - sum(place < at for place in places)

    second = _APART.sub("", lesson.second)
    spans = tuple((moved(start), moved(end)) for start, end in lesson.spans)
    return replace(
        lesson,
        first=_APART.sub("", lesson.first),
        second=second,
        spans=spans,
        answers=tuple(dict.fromkeys(second[start:end] for start, end in spans)),
    )


def _as_turns(said: Sequence[Mapping[str, Any]]) -> tuple[str, list[int]]:
    """Utterances a line each, and where the words of each begin."""
    text, starts = "", []
    for one in said:
        text += f"{' and '.join(one['speakers'])}: "
        starts.append(len(text))
        text += f"{one['utterance']}\n"
    return text, starts


def qamr(sentences: Path, questions: Sequence[Path]) -> Iterator[Example]:
    """Short questions on single sentences, each sentence a text of its own."""
    words = {key: text.split(" ") for line in lines(sentences) if (key := line.partition("\t")[0])
             for text in (line.partition("\t")[2],)}  # fmt: skip
    for file in questions:
        for number, line in enumerate(lines(file)):
            row = line.split("\t")
            if len(row) > 6 and row[0] in words:
                yield from _of_sentence(f"{file.name}:{number}", row, words[row[0]])


def _of_sentence(name: str, row: Sequence[str], words: Sequence[str]) -> Iterator[Example]:
    text, starts = "", []
    for word in words:
        starts.append(len(text))
        text += f"{_BRACKETS.get(word, word)} "
    named = (row[6], *(one.partition(":")[2] for one in row[7:]))
    spans = []
    for indices in named:
        at = [int(one) for one in indices.split() if one.isdigit()]
        if at and at == list(range(at[0], at[-1] + 1)) and at[-1] < len(words):
            last = words[at[-1]]
            spans.append((starts[at[0]], starts[at[-1]] + len(_BRACKETS.get(last, last))))
    if spans:
        yield joined(
            Example(
                id=f"qamr:{name}",
                source="qamr",
                group="qamr:" + ":".join(row[0].split(":")[1:3]),
                task="read",
                first=row[5].strip(),
                second=text.rstrip(),
                label=1,
                spans=tuple(dict.fromkeys(spans)),
                answers=tuple(dict.fromkeys(text[start:end] for start, end in spans)),
            )
        )


def natural_questions(file: Path) -> Iterator[Example]:
    """Questions people typed into a search engine, each with the passage that answers."""
    for number, row in enumerate(json_lines(file)):
        passage = row["ctxs"][0]
        low = passage["text"].lower()
        spans = tuple(
            (at, at + len(answer)) for answer in row["answers"] if (at := low.find(answer.lower())) >= 0
        )
        if spans and len(low) == len(passage["text"]):
            yield Example(
                id=f"nq:{number}",
                source="nq",
                group=article(passage["title"]),
                task="read",
                first=row["question"].strip(),
                second=passage["text"],
                label=1,
                spans=spans,
                answers=tuple(row["answers"]),
            )


def clapnq(answerable: Path, unanswerable: Path) -> Iterator[Example]:
    """The same with a passage that answers or does not; answers are long, and no spans."""
    for file, label in ((answerable, 1), (unanswerable, 0)):
        for row in json_lines(file):
            passage = row["passages"][0]
            yield Example(
                id=f"clapnq:{row['id']}",
                source="clapnq",
                group=article(passage["title"]),
                task="read",
                first=row["input"].strip(),
                second=passage["text"],
                label=label,
            )
