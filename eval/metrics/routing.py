"""What routing and summaries cost in correctness: UOR, escalation quality, the S/R counterfactual matrix.

All take verdicts by question: `True`, `False`, or `None` for undecided. A question that one of the
verdicts needed is undecided on is left out of that score and counted in `undecided`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass

from eval.types import QuestionId

Verdicts = Mapping[QuestionId, bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Omissions:
    """Questions a system got wrong although the raw pages hold the answer: they were lost in summaries."""

    omitted: int
    judged: int
    undecided: int

    @property
    def rate(self) -> float | None:
        """UOR; `None` when nothing was judged."""
        return self.omitted / self.judged if self.judged else None


def omissions(system: Verdicts, raw: Verdicts) -> Omissions:
    """UOR of `system`: wrong there, right with the raw pages, as a share of all questions."""
    pairs, undecided = _decided(system, raw)
    return Omissions(
        omitted=sum(mine is False and other is True for mine, other in pairs),
        judged=len(pairs),
        undecided=undecided,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """How well a router tells hard questions: those summaries get wrong and pages get right."""

    questions: int
    escalated: int
    hard: int
    caught: int
    undecided: int

    @property
    def rate(self) -> float | None:
        """R-rate: the share of questions escalated."""
        return self.escalated / self.questions if self.questions else None

    @property
    def recall(self) -> float | None:
        """The share of hard questions that were escalated."""
        return self.caught / self.hard if self.hard else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of recall and of the share of escalations that were needed."""
        if not self.hard and not self.escalated:
            return None
        return 2 * self.caught / (self.hard + self.escalated)


def escalation(escalated: Set[QuestionId], summary: Verdicts, raw: Verdicts) -> Escalation:
    """Escalations against the oracle that has seen both paths answer; over questions decided on both."""
    shared = [question for question in summary if question in raw]
    decided = [q for q in shared if summary[q] is not None and raw[q] is not None]
    hard = {q for q in decided if summary[q] is False and raw[q] is True}
    return Escalation(
        questions=len(decided),
        escalated=sum(q in escalated for q in decided),
        hard=len(hard),
        caught=len(hard & escalated),
        undecided=len(shared) - len(decided),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of the matrix: how many questions, and how many of them were answered right in the end."""

    count: int = 0
    right: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterfactual:
    """Of the escalated questions: would the summaries have answered right, do the pages?"""

    both: Cell
    only_summary: Cell
    only_raw: Cell
    neither: Cell
    undecided: int

    @property
    def total(self) -> Cell:
        """All cells together."""
        cells = (self.both, self.only_summary, self.only_raw, self.neither)
        return Cell(count=sum(cell.count for cell in cells), right=sum(cell.right for cell in cells))

    @property
    def repair_rate(self) -> float | None:
        """Pr(pages right | summaries wrong)."""
        wrong = self.only_raw.count + self.neither.count
        return self.only_raw.count / wrong if wrong else None

    @property
    def regress_rate(self) -> float | None:
        """Pr(pages wrong | summaries right)."""
        right = self.only_summary.count + self.both.count
        return self.only_summary.count / right if right else None


def counterfactual(
    escalated: Set[QuestionId], summary: Verdicts, raw: Verdicts, actual: Verdicts
) -> Counterfactual:
    """The 2x2 matrix on escalated questions, each cell split by how the routed answer was judged."""
    cells: dict[tuple[bool, bool], list[bool]] = {}
    undecided = 0
    for question in escalated & summary.keys() & raw.keys() & actual.keys():
        s, r, a = summary[question], raw[question], actual[question]
        if s is None or r is None or a is None:
            undecided += 1
        else:
            cells.setdefault((s, r), []).append(a)

    def cell(s: bool, r: bool) -> Cell:
        actuals = cells.get((s, r), [])
        return Cell(count=len(actuals), right=sum(actuals))

    return Counterfactual(
        both=cell(True, True),
        only_summary=cell(True, False),
        only_raw=cell(False, True),
        neither=cell(False, False),
        undecided=undecided,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterErrors:
    """Questions that summaries alone get wrong, and what a router made of them; the paper's Table 8.

    `repaired` came out right and is no error. Of the errors, `still_wrong` were escalated in vain,
    `false_hits` were answered from summaries though the pages hold the answer, `beyond` were answered
    from summaries and the pages would not have helped.
    """

    repaired: int
    still_wrong: int
    false_hits: int
    beyond: int
    undecided: int

    @property
    def errors(self) -> int:
        """How many came out wrong."""
        return self.still_wrong + self.false_hits + self.beyond

    def share(self, count: int) -> float | None:
        """A count as a share of the errors; `None` when there is none."""
        return count / self.errors if self.errors else None


def router_errors(
    escalated: Set[QuestionId], summary: Verdicts, raw: Verdicts, actual: Verdicts
) -> RouterErrors:
    """What became of the questions that summaries get wrong."""
    counts: Counter[str] = Counter()
    for question, from_summaries in summary.items():
        if from_summaries is False and question in actual and question in raw:
            counts[_outcome(question in escalated, raw[question], actual[question])] += 1
    return RouterErrors(
        repaired=counts["repaired"],
        still_wrong=counts["still wrong"],
        false_hits=counts["false hit"],
        beyond=counts["beyond"],
        undecided=counts["undecided"],
    )


def _outcome(escalated: bool, raw: bool | None, actual: bool | None) -> str:
    if actual is None or (raw is None and not escalated):
        return "undecided"
    if actual:
        return "repaired"
    if escalated:
        return "still wrong"
    return "false hit" if raw else "beyond"


def _decided(system: Verdicts, raw: Verdicts) -> tuple[list[tuple[bool, bool]], int]:
    pairs = [(mine, raw[question]) for question, mine in system.items() if question in raw]
    decided = [(mine, other) for mine, other in pairs if mine is not None and other is not None]
    return decided, len(pairs) - len(decided)
