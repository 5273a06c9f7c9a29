"""The report of answers: correctness and cost side by side, routing, and what summaries lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from eval.metrics.intervals import estimate
from eval.metrics.routing import Cell, Counterfactual, counterfactual, escalation, omissions
from eval.records import Record
from eval.report.charts import scatter, stacked
from eval.report.values import UNKNOWN, Chart, Table, interval, mean, number, percent, quantile, share
from eval.types import QuestionId, Result
from tiermem.model import Usage

ESCALATED: Final = "ESCALATE"
_ROUTERS: Final = ("tiermem", "tiermem:gate", "tiermem:no-links", "tiermem:no-recall")
_SUMMARY: Final = "tiermem:summary"
_RAW: Final = "tiermem:raw"

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
    def total(self) -> int:
        """Everything."""
        return self.read + self.written + self.router_read + self.router_written


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


def styles(results: Iterable[Result]) -> tuple[str, ...]:
    """The styles of judging, where several graded these answers; the first decides the other tables."""
    found = dict.fromkeys(style for one in results for style in one.grade.verdicts)
    return tuple(found) if len(found) > 1 else ()


def accuracy_by(style: str, results: Sequence[Result]) -> float | None:
    """The share of right answers by one style, among those it decided on."""
    verdicts = [one.grade.verdicts.get(style) for one in results]
    return mean([float(verdict) for verdict in verdicts if verdict is not None])


def tables(records: Sequence[Record]) -> tuple[Table, ...]:
    """In the layout of the paper's Tables 1 and 2, 3, 4, 12 and 13, where the systems for them took part."""
    systems = by_system(records)
    main = {name: in_the_main(results) for name, results in systems.items()}
    found = [_quality(main), _cost(main), _apart(systems)]
    if {_SUMMARY, _RAW} <= main.keys():
        found += [_routing(main), *(_matrix(main, name) for name in _ROUTERS if name in main)]
    if any(name in main for name in _ROUTERS):
        found += [_links(main), _by_route(main)]
    return tuple(table for table in found if table is not None)


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


def _quality(systems: Systems) -> Table:
    categories = list(dict.fromkeys(one.category for results in systems.values() for one in results))
    raw = verdicts(systems.get(_RAW, ()))
    judged_by = styles(chain.from_iterable(systems.values()))
    rows = []
    for name, results in systems.items():
        within = [accuracy([one for one in results if one.category == c]) for c in categories]
        judged = [one for one in results if one.grade.correct is not None]
        overall = (
            interval(
                estimate([float(bool(one.grade.correct)) for one in judged], [one.case for one in judged])
            )
            if judged
            else UNKNOWN
        )
        lost = None if not raw or name == _RAW else omissions(verdicts(results), raw).rate
        rows.append(
            (
                name,
                *map(share, within),
                overall,
                *(share(accuracy_by(style, results)) for style in judged_by),
                percent(lost),
                share(mean([one.grade.f1 for one in results])),
                share(mean([float(one.grade.exact) for one in results])),
                share(mean([float(one.grade.soft) for one in results])),
                percent(mean([float(one.reply.abstained) for one in results])),
                str(len(results) - len(judged)),
            )
        )
    columns = (*categories, "Overall", *judged_by, "UOR %", "F1", "EM", "Soft", "abstained %", "undecided")
    return Table(
        title="Answers: accuracy by category (layout of Tables 1 and 2)",
        columns=("System", *columns),
        rows=tuple(rows),
        notes=(
            judge_note(systems),
            "UOR: wrong here and right with the raw pages, as a share of all questions.",
            "Undecided verdicts are in no accuracy.",
            *style_note(judged_by),
        ),
    )


def _cost(systems: Systems) -> Table:
    rows = []
    for name, results in systems.items():
        costs = [spent(one) for one in results]
        seconds = [one.seconds for one in results]
        prices = [one.reply.usage.cost for one in results if one.reply.usage.calls]
        known = [price for price in prices if price is not None]
        rows.append(
            (
                name,
                share(accuracy(results)),
                number(mean([float(one.read) for one in costs])),
                number(mean([float(one.router_read) for one in costs])),
                number(mean([float(one.read + one.router_read) for one in costs])),
                number(mean([float(one.written) for one in costs]), 1),
                number(mean([float(one.router_written) for one in costs]), 1),
                number(mean([float(one.reply.usage.calls) for one in results]), 1),
                number(quantile(seconds, 0.5), 2),
                number(quantile(seconds, 0.95), 2),
                f"{sum(known) / len(results):.5f}" if known and len(known) == len(prices) else UNKNOWN,
            )
        )
    return Table(
        title="What an answer costs, a question on average",
        columns=(
            "System", "Acc.", "Tok in (QA)", "Tok in (router)", "Tok in", "Tok out (QA)",
            "Tok out (router)", "calls", "lat. p50 s", "lat. p95 s", "cost",
        ),
        rows=tuple(rows),
        notes=(token_note(systems), "cost: in the price table's currency; a dash where no price is known."),
    )  # fmt: skip


def _apart(systems: Systems) -> Table | None:
    """Abstention and flagged questions."""
    rows = []
    flags = sorted({flag for results in systems.values() for one in results for flag in one.flags})
    for name, results in systems.items():
        silent = [one for one in results if not one.answerable]
        cells = [f"{share(accuracy(silent))} ({len(silent)})"]
        for flag in flags:
            flagged = [one for one in results if flag in one.flags]
            rest = [one for one in in_the_main(results) if flag not in one.flags]
            cells += [f"{share(accuracy(flagged))} ({len(flagged)})", share(accuracy(rest))]
        rows.append((name, *cells))
    if not any(not one.answerable or one.flags for results in systems.values() for one in results):
        return None
    headings = [heading for flag in flags for heading in (flag, f"all but {flag}")]
    return Table(
        title="Set apart: questions without an answer, and flagged ones",
        columns=("System", "unanswerable: right to abstain (n)", *headings),
        rows=tuple(rows),
        notes=("Categories with no answerable question are only here.",),
    )


def _routing(systems: Systems) -> Table:
    summary, raw = verdicts(systems[_SUMMARY]), verdicts(systems[_RAW])
    rows = []
    for name in (_SUMMARY, _RAW, *_ROUTERS):
        if name not in systems:
            continue
        results = systems[name]
        found = escalation({one.question for one in results if one.reply.route == ESCALATED}, summary, raw)
        costs = [spent(one) for one in results]
        rows.append(
            (
                name,
                percent(found.rate),
                percent(found.recall),
                percent(found.f1),
                share(accuracy(results)),
                number(mean([float(one.router_read + one.router_written) for one in costs])),
                number(mean([one.router_seconds for one in costs]), 3),
                number(mean([one.seconds for one in results]), 2),
                f"{found.hard} of {found.asked}",
            )
        )
    return Table(
        title="Routing: mechanism and outcome (layout of Table 3)",
        columns=(
            "System", "R-rate %", "Recall (hard) %", "F1 %", "Overall acc.", "Router tokens",
            "Router lat. s", "Lat. s", "hard questions",
        ),
        rows=tuple(rows),
        notes=("Hard: wrong from summaries, right from the raw pages, in this run.", token_note(systems)),
    )  # fmt: skip


def _links(systems: Systems) -> Table:
    names = {_RAW: "Raw-only", "tiermem:no-links": "No-Linked", "tiermem": "Linked (ours)"}
    rows = []
    for name, called in names.items():
        if name not in systems:
            continue
        results = systems[name]
        escalated = [one for one in results if one.reply.route == ESCALATED]
        rows.append(
            (
                f"{called}: {name}",
                percent(accuracy(results)),
                percent(len(escalated) / len(results)),
                percent(accuracy(escalated)),
                number(mean([float(spent(one).read + spent(one).router_read) for one in results])),
                number(mean([one.seconds for one in results]), 2),
            )
        )
    return Table(
        title="Provenance links (layout of Table 4)",
        columns=("Method", "Acc. %", "R-rate %", "Acc.@R %", "Tok in / Q", "Lat. s"),
        rows=tuple(rows),
        notes=(token_note(systems),),
    )


def _by_route(systems: Systems) -> Table:
    rows = []
    for name in _ROUTERS:
        for route in ("ANSWER", ESCALATED):
            taken = [one for one in systems.get(name, ()) if one.reply.route == route]
            if taken:
                rows.append(
                    (
                        name,
                        route,
                        str(len(taken)),
                        share(accuracy(taken)),
                        number(mean([float(spent(one).total) for one in taken])),
                        number(quantile([one.seconds for one in taken], 0.5), 2),
                        number(quantile([one.seconds for one in taken], 0.95), 2),
                    )
                )
    return Table(
        title="By route (layout of Table 12)",
        columns=("System", "Route", "questions", "Acc.", "tokens / Q", "lat. p50 s", "lat. p95 s"),
        rows=tuple(rows),
        brief=False,
    )


def _matrix(systems: Systems, name: str) -> Table:
    results = systems[name]
    found = counterfactual(
        {one.question for one in results if one.reply.route == ESCALATED},
        verdicts(systems[_SUMMARY]),
        verdicts(systems[_RAW]),
        verdicts(results),
    )
    return Table(
        title=f"{name}: S/R counterfactual on the questions it escalated (layout of Table 13)",
        columns=("Category", "Count", "Decomposition (actual)"),
        rows=_matrix_rows(found),
        notes=(
            f"RepairRate {percent(found.repair_rate)} %, RegressRate {percent(found.regress_rate)} %"
            + (f"; {found.undecided} undecided left out" if found.undecided else ""),
        ),
    )


def _matrix_rows(found: Counterfactual) -> tuple[tuple[str, ...], ...]:
    cells: tuple[tuple[str, Cell], ...] = (
        ("S_correct_R_correct", found.both),
        ("S_correct_R_wrong", found.only_summary),
        ("S_wrong_R_correct", found.only_raw),
        ("S_wrong_R_wrong", found.neither),
        ("Total matched (R set)", found.total),
    )
    return tuple(
        (name, str(cell.count), f"{cell.right} correct / {cell.count - cell.right} wrong")
        for name, cell in cells
    )


_PARTS: Final[Mapping[str, Callable[[Result], bool]]] = {
    "ANSWER right": lambda one: one.reply.route != ESCALATED and one.grade.correct is True,
    "ANSWER wrong": lambda one: one.reply.route != ESCALATED and one.grade.correct is False,
    "ESCALATE right": lambda one: one.reply.route == ESCALATED and one.grade.correct is True,
    "ESCALATE wrong": lambda one: one.reply.route == ESCALATED and one.grade.correct is False,
    "undecided": lambda one: one.grade.correct is None,
}


def charts(records: Sequence[Record]) -> tuple[Chart, ...]:
    """Accuracy against tokens, and which way answers went."""
    systems = {name: in_the_main(results) for name, results in by_system(records).items()}
    points = {
        name: (max(1.0, mean([float(spent(one).total) for one in results]) or 1.0), accuracy(results) or 0.0)
        for name, results in systems.items()
        if results
    }
    routed = {name: results for name, results in systems.items() if any(one.reply.route for one in results)}
    found = [
        Chart(
            title="Accuracy against tokens per question",
            svg=scatter(points, x="tokens per question, router included (log)", y="accuracy"),
            note=f"Up and to the left is better; dashed: what nobody beats. {token_note(systems)}",
        )
    ]
    if routed:
        happened = {
            part: test
            for part, test in _PARTS.items()
            if any(map(test, chain.from_iterable(routed.values())))
        }
        rows = {
            name: [float(sum(map(test, results))) for test in happened.values()]
            for name, results in routed.items()
        }
        bars = stacked(rows, list(happened), unit="questions")
        found.append(Chart(title="Which way answers went", svg=bars))
    return tuple(found)


def numbers(records: Sequence[Record]) -> dict[str, Any]:
    """Means unrounded, by system."""
    return {
        name: {
            "questions": len(results),
            "accuracy": accuracy(results),
            "accuracy_by_style": {style: accuracy_by(style, results) for style in styles(results)},
            "undecided": sum(one.grade.correct is None for one in results),
            "f1": mean([one.grade.f1 for one in results]),
            "exact": mean([float(one.grade.exact) for one in results]),
            "soft": mean([float(one.grade.soft) for one in results]),
            "r_rate": mean([float(one.reply.route == ESCALATED) for one in results]),
            "tokens_in": mean([float(spent(one).read + spent(one).router_read) for one in results]),
            "tokens_router": mean([float(spent(one).router_read) for one in results]),
            "latency_p50": quantile([one.seconds for one in results], 0.5),
            "latency_p95": quantile([one.seconds for one in results], 0.95),
        }
        for name, results in ((n, in_the_main(r)) for n, r in by_system(records).items())
    }


def questions(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Every question with every system's answer, route and citations."""
    found: dict[QuestionId, dict[str, Any]] = {}
    for results in by_system(records).values():
        for one in results:
            entry = found.setdefault(
                one.question,
                {
                    "id": one.question,
                    "text": one.text,
                    "category": one.category,
                    "gold": list(one.gold) or ["(not answerable)"],
                    "flags": list(one.flags),
                    "evidence": list(one.evidence),
                    "replies": [],
                },
            )
            entry["replies"].append(_reply(one))
    return list(found.values())


def _reply(one: Result) -> dict[str, Any]:
    return {
        "system": one.system + (f" (epoch {one.epoch})" if one.epoch > 1 else ""),
        "verdict": one.grade.correct,
        "verdicts": dict(one.grade.verdicts),
        "answer": one.reply.text if not one.reply.abstained else None,
        "route": one.reply.route,
        "reason": one.reply.reason,
        "f1": round(one.grade.f1, 3),
        "tokens": spent(one).total,
        "seconds": round(one.seconds, 3),
        "degraded": list(one.reply.degraded),
        "citations": [
            {
                "claim": cited.claim,
                "quote": cited.quote,
                "speaker": cited.speaker,
                "said": cited.said_at.strftime("%Y-%m-%d") if cited.said_at else "",
            }
            for cited in one.reply.citations
        ],
    }
