"""What a training found, as a page: marks head by head, answers by words, what it was made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from eval.metrics.intervals import estimate
from eval.report.values import Table, share
from eval.research.reproduction import Reproduction
from eval.research.training.data.sources import SOURCES
from eval.research.training.reader.export import Exported
from eval.research.training.reader.measure import ReaderAnswer, shares

_OPENING: Final = (
    "A reader on the weights that are installed for embedding: adapters of low rank in every matrix of "
    "all-MiniLM-L6-v2, and heads for the span of an answer, whether a passage suffices, whether a turn bears "
    "on a question, and whether words state a claim. Articles, scenes and conversations were split before "
    "anything was drawn from them; what is measured on was not learned from. All figures are of the 8-bit "
    "reader on one thread, the mean of what its seeds learned. The digests of the data are over each "
    "source's files as they lie, packed, with their names."
)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Everything a training gave: marks on the lessons of the test, answers by conversation source."""

    command: str
    recipe: Mapping[str, Any]
    seconds: float
    lessons: Mapping[str, int]
    checksums: Mapping[str, str]
    digests: Mapping[str, str]
    set_aside: Mapping[str, int]
    exported: Exported
    marks: Mapping[str, Mapping[str, float]]
    said: Mapping[str, Sequence[ReaderAnswer]]
    by_seed: Mapping[int, Mapping[str, Sequence[ReaderAnswer]]] = field(default_factory=dict)
    """What the reader of every seed answers by itself, where there is more than one."""


def found(measured: Measured) -> Reproduction:
    """The page."""
    tables = [_marks(measured), *(_answers(name, of) for name, of in measured.said.items() if of)]
    return Reproduction(
        title="The reader",
        opening=_OPENING,
        command=measured.command,
        data=measured.checksums,
        tables=(*tables, *_each_seed(measured), _agreement(measured), _made_of(measured)),
        claims=(),
        numbers={
            "marks": measured.marks,
            "recipe": measured.recipe,
            "agreement": measured.exported.agreement,
            "sha256": measured.exported.sha256,
        },
    )


def _marks(measured: Measured) -> Table:
    rows = [(name, mark, share(value)) for name, of in measured.marks.items() for mark, value in of.items()]
    return Table(
        title="Marks on what was not learned from", columns=("lessons", "mark", ""), rows=tuple(rows)
    )


def _answers(name: str, said: Sequence[ReaderAnswer]) -> Table:
    rows = [
        _row("never silent", said, float("-inf")),
        _row("silent at margins up to 0", said, 0.0),
    ]
    categories = dict.fromkeys(one.category for one in said if one.answerable)
    for category in categories:
        of = [one for one in said if one.category == category]
        rows.append(_row(f"– {category}, never silent", of, float("-inf")))
    cases = ", ".join(dict.fromkeys(one.case for one in said))
    return Table(
        title=f"Answers by words, {name}",
        columns=("reader", "right", "95 %", "unanswered", "abstains where there is no answer", "questions"),
        rows=tuple(rows),
        notes=(
            f"Half B, of it {cases}. An answer is the likeliest words of the five best turns. Right: "
            "holds the gold words, or token F1 ≥ .5; dates are compared as dates. "
            f"Reading took {_milliseconds(said):.0f} ms of processor time a question (mean).",
        ),
    )


def _each_seed(measured: Measured) -> list[Table]:
    rows = []
    for source, mean in measured.said.items():
        readers = {f"seed {seed}": of[source] for seed, of in measured.by_seed.items()}
        for name, said in ({**readers, "their mean": mean} if readers else {}).items():
            always, sure = (shares(said, at) for at in (float("-inf"), 0.0))
            rows.append((source, name, share(always.right), share(sure.right)))
    if not rows:
        return []
    columns = ("source", "reader", "right, never silent", "right, silent at margins up to 0")
    return [Table(title="Each seed by itself, halves B", columns=columns, rows=tuple(rows))]


def _milliseconds(said: Sequence[ReaderAnswer]) -> float:
    return 1000 * sum(one.seconds for one in said) / max(1, len(said))


def _row(name: str, said: Sequence[ReaderAnswer], threshold: float) -> tuple[str, ...]:
    of = shares(said, threshold)
    rights = [float(one.right and one.margin > threshold) for one in said if one.answerable]
    spread = estimate(rights, [one.question for one in said if one.answerable])
    return (
        name,
        share(of.right),
        f"{share(spread.low)} to {share(spread.high)}",
        share(of.unanswered),
        share(of.abstained) if of.without else "–",
        f"{of.with_answer} + {of.without}",
    )


def _agreement(measured: Measured) -> Table:
    return Table(
        title="8 bits beside 32",
        columns=("head", "says the same"),
        rows=tuple((name, share(value)) for name, value in measured.exported.agreement.items()),
        notes=(
            f"The file of what was learned: {measured.exported.bytes:,} bytes, "
            f"SHA-256 `{measured.exported.sha256}`. "
            + ("It may be given away." if measured.exported.may_ship else "It may not be given away."),
        ),
    )


def _made_of(measured: Measured) -> Table:
    rows = [
        (name, SOURCES[name].licence, "yes" if SOURCES[name].may_ship else "no", f"{count:,}")
        for name, count in measured.lessons.items()
    ]
    aside = ", ".join(f"{count} of {name}" for name, count in measured.set_aside.items()) or "none"
    recipe = ", ".join(f"{name} {value}" for name, value in measured.recipe.items())
    return Table(
        title="What it was made of",
        columns=("learned from", "licence", "weights may be given away", "lessons"),
        rows=tuple(rows),
        notes=(
            f"Set aside because they stand in what is measured on as well: {aside}. Recipe: {recipe}. "
            f"Training took {measured.seconds / 60:.0f} minutes of processor time. SHA-256 of the lessons: "
            + "; ".join(f"{part} {value[:16]}…" for part, value in measured.digests.items())
            + ".",
        ),
    )
