"""What tables of answers are computed from: which answers count, what they cost, which way they went."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eval.metrics.intervals import Estimate, estimate
from eval.records import Record
from eval.report.values import mean
from eval.types import QuestionId, Result, Way
from tiermem.model import Usage

ESCALATED: Final = "ESCALATE"
SUMMARY: Final = "tiermem:summary"
RAW: Final = "tiermem:raw"

Systems = Mapping[str, Sequence[Result]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Tokens of one answer, split in what the router read and wrote and everything else.

    With a model they are what it counted. Without one they are the tokens of evidence read, and
    nothing is written.
    """

    read: int
    written: int
    router_read: int
    router_written: int
    router_seconds: float

    @property
    def taken_in(self) -> int:
        """What was read, by the router too: the paper's input tokens."""
        return self.read + self.router_read

    @property
    def total(self) -> int:
        """Everything."""
        return self.taken_in + self.written + self.router_written


def spent(result: Result) -> Spent:
    """What one answer cost in tokens."""
    steps = {one.step: one.usage for one in result.reply.steps}
    route = steps.get("route", Usage())
    if result.reply.usage.calls:
        return Spent(
            read=result.reply.usage.input_tokens - route.input_tokens,
            written=result.reply.usage.output_tokens - route.output_tokens,
            router_read=route.input_tokens,
            router_written=route.output_tokens,
            router_seconds=route.seconds,
        )
    reads = result.reply.reads
    return Spent(
        read=sum(tokens for step, tokens in reads.items() if step != "route"),
        written=0,
        router_read=reads.get("route", 0),
        router_written=0,
        router_seconds=route.seconds,
    )


def input_tokens(results: Sequence[Result]) -> float | None:
    """Tokens that models counted as input, a question on average; `None` where no model was called."""
    asked = [one.reply.usage for one in results]
    return mean([float(one.input_tokens) for one in asked]) if any(one.calls for one in asked) else None


def evidence_tokens(results: Sequence[Result]) -> float | None:
    """Tokens of evidence read, a question on average: the same measure with and without a model."""
    return mean([float(sum(one.reply.reads.values())) for one in results])


def by_system(records: Iterable[Record]) -> dict[str, list[Result]]:
    """The answers that count, by system: of a replayed case only the last attempt."""
    results = [record for record in records if isinstance(record, Result)]
    newest: dict[tuple[str, QuestionId, int], Result] = {}
    for result in results:
        newest[result.system, result.question, result.epoch] = result
    systems: dict[str, list[Result]] = {}
    for result in newest.values():
        systems.setdefault(result.system, []).append(result)
    return systems


def shows_lines(results: Sequence[Result]) -> bool:
    """Whether a system displays lines as they were said and words no answer."""
    worded = any(
        one.reply.usage.calls or not (one.reply.abstained or one.reply.support == "said") for one in results
    )
    return not worded and any(one.reply.said for one in results)


def select_worded(systems: Systems) -> dict[str, Sequence[Result]]:
    """The systems that word answers."""
    return {name: results for name, results in systems.items() if not shows_lines(results)}


def in_the_main(results: Sequence[Result]) -> list[Result]:
    """The answers of the main tables: categories in which no question can be answered stand apart."""
    answerable = {result.category for result in results if result.answerable}
    return [result for result in results if result.category in answerable]


def verdicts(results: Iterable[Result]) -> dict[QuestionId, bool | None]:
    """By question, whether the answer was right; `None` where the judge could not say."""
    return {result.question: result.grade.correct for result in results}


def accuracy(results: Sequence[Result]) -> float | None:
    """The share of right answers among those the judge decided on."""
    return mean([float(one.grade.correct) for one in results if one.grade.correct is not None])


def estimated(results: Sequence[Result], value: Callable[[Result], float | None]) -> Estimate | None:
    """The mean of a value that answers have, with its interval; `None` where none has it."""
    found = [(one, known) for one in results if (known := value(one)) is not None]
    return estimate([known for _, known in found], [one.case for one, _ in found]) if found else None


def is_right(result: Result) -> float | None:
    """1 or 0 as the judge decided; `None` where it could not."""
    return None if result.grade.correct is None else float(result.grade.correct)


def styles(results: Iterable[Result]) -> tuple[str, ...]:
    """The styles of judging, where several graded these answers; the first decides the other tables."""
    found = dict.fromkeys(style for one in results for style in one.grade.verdicts)
    return tuple(found) if len(found) > 1 else ()


def accuracy_by(style: str, results: Sequence[Result]) -> float | None:
    """The share of right answers by one style, among those it decided on."""
    verdicts = [one.grade.verdicts.get(style) for one in results]
    return mean([float(verdict) for verdict in verdicts if verdict is not None])


def decided(result: Result) -> str | None:
    """The router's decision; of a record from before it was kept apart, the route."""
    return result.reply.decided or result.reply.route


def way(result: Result) -> Way | None:
    """The way the answer came; of a record from before it was kept apart, what its route says."""
    if result.reply.way is not None or result.reply.route is None:
        return result.reply.way
    return "researched" if result.reply.route == ESCALATED else "recall"


def escalated(results: Iterable[Result]) -> set[QuestionId]:
    """The questions that the router decided to escalate."""
    return {one.question for one in results if decided(one) == ESCALATED}


def judge_note(systems: Systems) -> str:
    """Who decided what is right."""
    judges = dict.fromkeys(one.grade.judge or "nobody" for results in systems.values() for one in results)
    return "Judged by: " + "; ".join(judges)


def style_note(judged_by: Sequence[str]) -> tuple[str, ...]:
    """Which style the figures without a style are by, where several graded the run."""
    return (
        (f"Judged {' and '.join(judged_by)}; all other figures are by {judged_by[0]}.",) if judged_by else ()
    )


def token_note(systems: Systems) -> str:
    """What a token in these tables is."""
    if any(one.reply.usage.calls for results in systems.values() for one in results):
        return "Tokens are what the models counted."
    return "No model was called: tokens are those of the evidence read."
