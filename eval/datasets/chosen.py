"""Part of a dataset: some conversations, some categories, or a sample in proportion to the categories."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from eval.datasets.view import DatasetView
from eval.types import Case, Dataset, LabelledQuestion, QuestionId
from tiermem.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which questions are asked. `None` is no restriction; `limit` counts the conversations chosen so far.

    A sample of `questions` has every category in proportion, and is the same for the same `seed`.
    """

    conversations: tuple[str, ...] | None = None
    limit: int | None = None
    categories: tuple[str, ...] | None = None
    questions: int | None = None
    seed: int = 0


class Chosen(DatasetView):
    """The chosen questions of `dataset` with their conversations; checksum and flaws are those of the whole.

    `InvalidInput`, once the cases are read, names a conversation or a category that there is not.
    """

    def __init__(self, dataset: Dataset, choice: Choice) -> None:
        super().__init__(dataset)
        self._choice = choice

    def cases(self) -> Iterator[Case]:
        """The conversations that have chosen questions, in the order of the whole."""
        chosen = self._questions
        for case in self._conversations():
            asked = tuple(question for question in case.questions if question.id in chosen)
            if asked:
                yield replace(case, questions=asked)

    def _conversations(self) -> Iterator[Case]:
        wanted = self._choice.conversations
        found = (case for case in self._dataset.cases() if wanted is None or case.id in wanted)
        return islice(found, self._choice.limit)

    @cached_property
    def _questions(self) -> frozenset[QuestionId]:
        self._check_conversations()
        there = [question for case in self._conversations() for question in case.questions]
        categories = self._choice.categories
        _all_known("category", categories, sorted({question.category for question in there}))
        left = [one for one in there if categories is None or one.category in categories]
        count = self._choice.questions
        chosen = left if count is None else sample(left, count, seed=self._choice.seed)
        return frozenset(question.id for question in chosen)

    def _check_conversations(self) -> None:
        if self._choice.conversations is not None:
            ids = [case.id for case in self._dataset.cases()]
            _all_known("conversation", self._choice.conversations, ids)


def sample(questions: Sequence[LabelledQuestion], count: int, *, seed: int) -> list[LabelledQuestion]:
    """So many questions, or all there are: each category by its share, the largest remainders rounded up.

    Within a category the seed and a question's id decide, not its place in the file.
    """
    by_category: dict[str, list[LabelledQuestion]] = {}
    for question in questions:
        by_category.setdefault(question.category, []).append(question)
    shares = _shares({name: len(of) for name, of in by_category.items()}, min(count, len(questions)))
    return [
        question
        for name, of in by_category.items()
        for question in sorted(of, key=lambda one: _order(one.id, seed))[: shares[name]]
    ]


def _shares(sizes: Mapping[str, int], count: int) -> dict[str, int]:
    total = sum(sizes.values()) or 1
    shares = {name: count * size // total for name, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda name: (-(count * sizes[name] % total), name))
    for name in by_remainder[: count - sum(shares.values())]:
        shares[name] += 1
    return shares


def _order(question: QuestionId, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{question}".encode()).digest()


def _all_known(what: str, wanted: Sequence[str] | None, there: Sequence[str]) -> None:
    unknown = [name for name in wanted or () if name not in there]
    if unknown:
        raise InvalidInput(f"no {what} {', '.join(map(repr, unknown))}; there are: {', '.join(there)}")
