"""Grade an answer or a statement against the turns it cites: what code checked, and nothing more.

The label says how the wording relates to the cited sentences: `quoted`, `computed` or `worded`. It does not
say that the answer is true. The right words of the right sentence can answer another question, and words of
different sentences can be combined to a statement that none of them makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tiermem.model import Caution, CitedSentence, Derivation
from tiermem.proof.cautions import find_cautions
from tiermem.proof.match import AnswerMatch, SupportLabel, find_items
from tiermem.proof.sentences import Sentence, read_sentences
from tiermem.text.literals import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """What code checked of an answer.

    `sentences` are the cited sentences to display: those that hold its words. There are none if nothing was
    checked, because the answer is empty or too long, or cites nothing. `is_combined` says that one item has
    words of several turns, none of which may say what it says.
    """

    support: SupportLabel
    unsupported: tuple[str, ...] = ()
    cautions: tuple[Caution, ...] = ()
    computations: tuple[Derivation, ...] = ()
    sentences: tuple[CitedSentence, ...] = ()
    is_combined: bool = False

    @property
    def is_unmarked(self) -> bool:
        """Whether sentences with its words were found, no word is unsupported, and there is no caution but
        `topic`. It may be false all the same: of 40 false answers written by an outsider 26 are unmarked.
        """
        has_caution = any(caution.code != "topic" for caution in self.cautions)
        return bool(self.sentences) and not self.unsupported and not has_caution


def grade(answer: str, cited: Sequence[Source], question: str = "") -> Grade:
    """Grade an answer to a question, or without one a statement.

    Where turns of pages are cited, other texts (of units, whose words are a model's) are no evidence.
    """
    turns = [source for source in cited if source.spans] or cited
    match = find_items(answer, read_sentences(turns), question)
    return Grade(
        support=match.support,
        unsupported=match.unsupported,
        cautions=find_cautions(answer, match, question),
        computations=match.computations,
        sentences=_cited_sentences(match),
        is_combined=_is_combined(match),
    )


def _is_combined(match: AnswerMatch) -> bool:
    """Whether one item has words of several turns."""
    turn_of: dict[int, Source] = {}
    return any(
        turn_of.setdefault(id(each.item), each.sentence.source) != each.sentence.source
        for each in match.matches
    )


def _cited_sentences(match: AnswerMatch) -> tuple[CitedSentence, ...]:
    """The sentences of all matches, each once, with the matched words marked."""
    places: dict[Sentence, list[tuple[int, int]]] = {}
    for each in match.matches:
        places.setdefault(each.sentence, []).extend(each.places)
    return tuple(
        CitedSentence(
            text=sentence.text,
            speaker=sentence.source.speaker,
            said_at=sentence.source.said_at,
            span=next(iter(sentence.as_source.spans), None),
            marks=_merge_places(found, sentence.text),
        )
        for sentence, found in places.items()
    )


def _merge_places(places: Iterable[tuple[int, int]], text: str) -> tuple[tuple[int, int], ...]:
    """The places in order; those with no word between them are one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(set(places)):
        if merged and not any(char.isalnum() for char in text[merged[-1][1] : start]):
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
