"""The report of a replay: what consolidating findings does to traffic, correctness and cost, by epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from eval.records import Begun, Epoch, Record
from eval.report.charts import Mark, lines
from eval.report.figures import (
    ESCALATED,
    accuracy,
    accuracy_by,
    by_system,
    decided,
    estimated,
    evidence_tokens,
    in_the_main,
    input_tokens,
    is_right,
    judge_note,
    spent,
    style_note,
    styles,
    way,
)
from eval.report.values import INTERVALS, Chart, Table, mark, mean, number, percent, share
from eval.types import Consolidated, Result

_Value = Callable[[float, Sequence[Result]], Mark | None]
_WAYS: Final = ("recall", "widened", "researched")
_VARIANTS: Final = {"tiermem": "retrieve-and-edit", "tiermem:no-recall": "no-recall"}


def newest_attempts(records: Sequence[Record]) -> list[Record]:
    """Without what an attempt left that was begun again: its later epochs rest on another Tier 1."""
    newest = {(one.system, one.case): one.attempt for one in records if isinstance(one, Begun)}
    return [
        one
        for one in records
        if not isinstance(one, (Result, Epoch)) or one.attempt == newest.get((one.system, one.case))
    ]


def written(records: Sequence[Record]) -> dict[tuple[str, int], list[Epoch]]:
    """What was written back, by system and epoch; of a case only its last attempt."""
    newest: dict[tuple[str, str, int], Epoch] = {}
    for record in records:
        if isinstance(record, Epoch):
            newest[record.system, record.case, record.epoch] = record
    found: dict[tuple[str, int], list[Epoch]] = {}
    for record in newest.values():
        found.setdefault((record.system, record.epoch), []).append(record)
    return found


def _by_epoch(records: Sequence[Record]) -> dict[str, dict[int, list[Result]]]:
    found: dict[str, dict[int, list[Result]]] = {}
    for name, results in by_system(records).items():
        for result in in_the_main(results):
            found.setdefault(name, {}).setdefault(result.epoch, []).append(result)
    return found


def tables(records: Sequence[Record]) -> tuple[Table, ...]:
    """In the layout of the paper's Table 5."""
    rows = []
    writes = written(records)
    judged_by = styles(one for one in records if isinstance(one, Result))
    for name, epochs in _by_epoch(records).items():
        before: int | None = None
        for epoch, results in sorted(epochs.items()):
            traffic = [one for one in results if decided(one) != ESCALATED]
            right = sum(one.grade.correct is True for one in traffic)
            gained = "" if before is None else f" ({right - before:+d})"
            before = right
            done = [one.consolidated for one in writes.get((name, epoch), ())]
            rows.append(
                (
                    f"{name} ({_VARIANTS.get(name, 'as opened')})",
                    f"E{epoch}",
                    share(accuracy(results)),
                    *(share(accuracy_by(style, results)) for style in judged_by),
                    str(len(traffic)),
                    percent(accuracy(traffic)),
                    f"{right}{gained}",
                    number(input_tokens(results)),
                    number(evidence_tokens(results)),
                    number(mean([float(one.reply.usage.calls) for one in results]), 1),
                    number(mean([one.seconds for one in results]), 2),
                    " / ".join(str(sum(way(one) == which for one in results)) for which in _WAYS),
                    str(sum(one.added for one in done)),
                    str(sum(one.updated for one in done)),
                    str(sum(one.skipped for one in done)),
                    number(_written_back(done) / len(results), 2),
                    str(sum(one.units for one in done)),
                )
            )
    systems = by_system(records)
    return (
        Table(
            title=f"Consolidation over replay epochs (layout of Table 5, n={_asked(records)})",
            columns=(
                "Variant", "Epoch", "Overall acc.", *judged_by,
                "S-Traffic", "S-Acc. %", "S-Correct", "Tok in", "evidence tok",
                "calls / Q", "Lat. s", "recall / widened / researched", "ADD", "UPDATE", "SKIP",
                "write-backs / Q", "units after",
            ),
            rows=tuple(rows),
            notes=(
                "Tier 1 is frozen within an epoch; findings are written back in one batch after it.",
                judge_note(systems),
                "S-Traffic is as the router decided; recall / widened / researched is the way answers came.",
                "Tok in: input tokens that models counted, the router's too; a dash without a model. "
                "evidence tok: tokens of evidence read.",
                "write-backs / Q: units added or updated, over the questions asked.",
                *style_note(judged_by),
            ),
        ),
    )  # fmt: skip


def _written_back(done: Sequence[Consolidated]) -> int:
    return sum(one.added + one.updated for one in done)


def _asked(records: Sequence[Record]) -> int:
    epochs = next(iter(_by_epoch(records).values()), {})
    return len(epochs.get(1, ()))


def charts(records: Sequence[Record]) -> tuple[Chart, ...]:
    """Cheap answers and tokens by epoch."""
    epochs = _by_epoch(records)
    ticks = sorted({float(epoch) for one in epochs.values() for epoch in one})

    def drawn(title: str, y: str, value: _Value, note: str = "") -> Chart:
        series = {
            name: [
                one
                for epoch, results in sorted(by_epoch.items())
                if (one := value(float(epoch), results)) is not None
            ]
            for name, by_epoch in epochs.items()
        }
        return Chart(title=title, svg=lines(series, x="epoch", y=y, ticks=ticks), note=note)

    def averaged(
        epoch: float, results: Sequence[Result], value: Callable[[Result], float | None]
    ) -> Mark | None:
        found = estimated(results, value)
        return None if found is None else mark(epoch, found)

    tokens = partial(averaged, value=lambda one: float(spent(one).total))
    return (
        drawn("Questions answered from summaries", "S-Traffic", lambda at, rs: Mark(at, _traffic(rs))),
        drawn("Answered right from summaries", "S-Correct", lambda at, rs: Mark(at, _right(rs))),
        drawn("Tokens per question", "tokens", tokens, INTERVALS),
        drawn("Accuracy", "accuracy", partial(averaged, value=is_right), INTERVALS),
    )


def _traffic(results: Sequence[Result]) -> int:
    return sum(decided(one) != ESCALATED for one in results)


def _right(results: Sequence[Result]) -> int:
    return sum(decided(one) != ESCALATED and one.grade.correct is True for one in results)


def numbers(records: Sequence[Record]) -> dict[str, Any]:
    """The same unrounded, by system and epoch."""
    writes = written(records)
    return {
        name: {
            str(epoch): {
                "accuracy": accuracy(results),
                "s_traffic": _traffic(results),
                "s_correct": _right(results),
                "input_tokens": input_tokens(results),
                "evidence_tokens": evidence_tokens(results),
                "calls": mean([float(one.reply.usage.calls) for one in results]),
                "write_backs": _written_back([one.consolidated for one in writes.get((name, epoch), ())])
                / len(results),
                "tokens": mean([float(spent(one).total) for one in results]),
                "seconds": mean([one.seconds for one in results]),
                "add": sum(one.consolidated.added for one in writes.get((name, epoch), ())),
                "update": sum(one.consolidated.updated for one in writes.get((name, epoch), ())),
                "skip": sum(one.consolidated.skipped for one in writes.get((name, epoch), ())),
            }
            for epoch, results in sorted(epochs.items())
        }
        for name, epochs in _by_epoch(records).items()
    }
