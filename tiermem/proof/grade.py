"""Grade an answer or a statement against the turns it cites: what code checked, and nothing more.

The label says how the wording relates to the cited sentences: `quoted`, `computed` or `worded`. It does not
say that the answer is true. The right words of the right sentence can answer another question, and words of
different sentences can be combined to a statement that none of them makes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tiermem.model import Caution, Derivation
from tiermem.proof.cautions import find_cautions
from tiermem.proof.match import SupportLabel, find_items
from tiermem.proof.sentences import Sentence, read_sentences
from tiermem.text.literals import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """What code checked of an answer.

    `sentences` are the cited sentences to display: those that hold its words. There are none if nothing was
    checked, because the answer is empty or too long, or cites nothing.
    """

    support: SupportLabel
    unsupported: tuple[str, ...] = ()
    cautions: tuple[Caution, ...] = ()
    computations: tuple[Derivation, ...] = ()
    sentences: tuple[Sentence, ...] = ()

    @property
    def is_supported(self) -> bool:
        """Whether it was checked, no word is unsupported, and there is no caution but `topic`."""
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
        sentences=tuple(dict.fromkeys(each.sentence for each in match.matches)),
    )
