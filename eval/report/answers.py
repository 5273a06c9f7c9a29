"""The report of answers: correctness and cost side by side, routing, and what summaries lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from eval.metrics.intervals import estimate
from eval.metrics.routing import omissions
from eval.records import Begun, Record
from eval.report import routes
from eval.report.charts import scatter, stacked
from eval.report.figures import (
    ESCALATED,
    RAW,
    Systems,
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
    select_worded,
    shows_lines,
    spent,
    style_note,
    styles,
    token_note,
    verdicts,
    way,
)
from eval.report.values import (
    INTERVALS,
    UNKNOWN,
    Chart,
    Table,
    interval,
    mark,
    mean,
    number,
    percent,
    quantile,
    share,
)
from eval.types import QuestionId, Result


def tables(records: Sequence[Record]) -> tuple[Table, ...]:
    """In the layout of the paper's Tables 1 and 2, and of those on routing; see `routes`.

    Of systems that word no answer: how often their lines show it, and what writing costs.
    """
    systems = by_system(records)
    answering = select_worded(systems)
    found = [_lines(systems), _writing(records)]
    if answering:
        main = {name: in_the_main(results) for name, results in answering.items()}
        found[1:1] = [_quality(main), _cost(main)]
        found += [_abstaining(answering), _apart(answering), *routes.tables(main)]
    return tuple(table for table in found if table is not None)


def describe_judge(records: Sequence[Record]) -> dict[str, str]:
    """What to say of the judge in place of its name: nothing, unless no system worded an answer."""
    systems = by_system(records)
    return {"Judge": "none: no answer was worded"} if systems and not select_worded(systems) else {}


def _lines(systems: Systems) -> Table | None:
    """How often lines show the answer, of systems that word none; `None` without such a system."""
    rows = []
    for name, results in systems.items():
        if not shows_lines(results):
            continue
        asked = [one for one in results if one.answerable]
        others = [one for one in results if not one.answerable]
        likely = [one for one in results if not one.reply.abstained]
        cases = [one.case for one in asked]
        rows.append(
            (
                name,
                number(len(asked)),
                interval(estimate([float(any(one.lines[:1])) for one in asked], cases)),
                interval(estimate([float(any(one.lines)) for one in asked], cases)),
                share(mean([float(not one.reply.abstained) for one in results])),
                share(mean([float(one.answerable and any(one.lines[:1])) for one in likely])),
                share(mean([float(not one.reply.abstained) for one in others])),
                *_latency(results),
            )
        )
    if not rows:
        return None
    return Table(
        title="Lines that show the answer",
        columns=(
            "System",
            "questions",
            "first",
            "one of three",
            "called likely",
            "of these first",
            "of those without an answer",
            *_LATENCY,
        ),
        rows=tuple(rows),
        notes=(
            "Without a model lines are displayed as they were said. One shows the answer if it holds a gold "
            "answer (dates by the calendar), or is of the evidence. Called likely: the share of all "
            "questions under “Said about this”; the first of their lines; the questions without an answer "
            "there.",
        ),
    )


_LATENCY: Final = ("lat. p50 s", "lat. p95 s")


def _latency(results: Sequence[Result]) -> tuple[str, str]:
    seconds = [one.seconds for one in results]
    return number(quantile(seconds, 0.5), 2), number(quantile(seconds, 0.95), 2)


def _quality(systems: Systems) -> Table:
    categories = list(dict.fromkeys(one.category for results in systems.values() for one in results))
    raw = verdicts(systems.get(RAW, ()))
    judged_by = styles(chain.from_iterable(systems.values()))
    rows = []
    for name, results in systems.items():
        within = [accuracy([one for one in results if one.category == c]) for c in categories]
        right = estimated(results, is_right)
        overall = UNKNOWN if right is None else interval(right)
        lost = None if not raw or name == RAW else omissions(verdicts(results), raw).rate
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
                str(len(results) - (0 if right is None else right.values)),
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
        prices = [one.reply.usage.cost for one in results if one.reply.usage.calls]
        known = [price for price in prices if price is not None]
        rows.append(
            (
                name,
                share(accuracy(results)),
                number(mean([float(one.read) for one in costs])),
                number(mean([float(one.router_read) for one in costs])),
                number(mean([float(one.taken_in) for one in costs])),
                number(evidence_tokens(results)),
                number(mean([float(one.written) for one in costs]), 1),
                number(mean([float(one.router_written) for one in costs]), 1),
                number(mean([float(one.reply.usage.calls) for one in results]), 1),
                *_latency(results),
                f"{sum(known) / len(results):.5f}" if known and len(known) == len(prices) else UNKNOWN,
            )
        )
    return Table(
        title="What an answer costs, a question on average",
        columns=(
            "System", "Acc.", "Tok in (QA)", "Tok in (router)", "Tok in", "evidence tok",
            "Tok out (QA)", "Tok out (router)", "calls", *_LATENCY, "cost",
        ),
        rows=tuple(rows),
        notes=(
            token_note(systems),
            "evidence tok: tokens of evidence read, by the router too; counted alike without a model.",
            "cost: in the price table's currency; a dash where no price is known.",
        ),
    )  # fmt: skip


def _writing(records: Sequence[Record]) -> Table | None:
    """What storing and summarising cost; `None` where no model was asked and nothing embedded."""
    begun = {(one.system, one.case): one for one in records if isinstance(one, Begun)}  # the newest of each
    by_name: dict[str, list[Begun]] = {}
    for (system, _), one in begun.items():
        by_name.setdefault(system, []).append(one)
    if not any(one.usage.calls or one.usage.embedding_tokens for one in begun.values()):
        return None
    rows = [
        (
            name,
            str(len(cases)),
            *(
                number(mean([float(getattr(one.usage, what)) for one in cases]))
                for what in ("input_tokens", "output_tokens", "embedding_tokens", "calls")
            ),
            number(mean([one.seconds for one in cases]), 1),
        )
        for name, cases in by_name.items()
    ]
    return Table(
        title="What writing costs, a conversation on average",
        columns=("System", "conversations", "Tok in", "Tok out", "Tok embedded", "calls", "s"),
        rows=tuple(rows),
        notes=("Storing, summarising and indexing, before the first question.",),
    )


def _abstaining(systems: Systems) -> Table:
    rows = []
    for name, results in systems.items():
        cells = [
            cell
            for answerable in (True, False)
            for cell in (
                percent(_abstention(results, answerable=answerable)),
                str(sum(one.answerable == answerable for one in results)),
            )
        ]
        rows.append((name, *cells))
    return Table(
        title="Abstaining: where there is an answer, and where there is none",
        columns=("System", "abstains where there is one %", "n", "abstains where there is none %", "n"),
        rows=tuple(rows),
    )


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


_PARTS: Final[Mapping[str, Callable[[Result], bool]]] = {
    "ANSWER right": lambda one: decided(one) != ESCALATED and one.grade.correct is True,
    "ANSWER wrong": lambda one: decided(one) != ESCALATED and one.grade.correct is False,
    "ESCALATE right": lambda one: decided(one) == ESCALATED and one.grade.correct is True,
    "ESCALATE wrong": lambda one: decided(one) == ESCALATED and one.grade.correct is False,
    "undecided": lambda one: one.grade.correct is None,
}


def charts(records: Sequence[Record]) -> tuple[Chart, ...]:
    """Accuracy against tokens, and which way answers went, of systems that word answers."""
    systems = {name: in_the_main(results) for name, results in select_worded(by_system(records)).items()}
    if not systems:
        return ()
    points = {
        name: mark(max(1.0, mean([float(spent(one).total) for one in results]) or 1.0), right)
        for name, results in systems.items()
        if (right := estimated(results, is_right)) is not None
    }
    routed = {name: results for name, results in systems.items() if any(one.reply.route for one in results)}
    found = [
        Chart(
            title="Accuracy against tokens per question",
            svg=scatter(points, x="tokens per question, router included (log)", y="accuracy"),
            note="Up and to the left is better; dashed: what nobody beats. "
            f"{INTERVALS} {token_note(systems)}",
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
    """Means unrounded, by system: abstaining and lines over all questions, the rest as in the main tables."""
    return {
        name: _line_numbers(results) if shows_lines(results) else _answer_numbers(results)
        for name, results in by_system(records).items()
    }


def _line_numbers(everything: Sequence[Result]) -> dict[str, Any]:
    asked = [one for one in everything if one.answerable]
    return {
        "questions": len(asked),
        "first_line": mean([float(any(one.lines[:1])) for one in asked]),
        "one_of_the_lines": mean([float(any(one.lines)) for one in asked]),
        "called_likely": mean([float(not one.reply.abstained) for one in everything]),
        **_latency_numbers(everything),
    }


def _answer_numbers(everything: Sequence[Result]) -> dict[str, Any]:
    results = in_the_main(everything)
    return {
        "questions": len(results),
        "accuracy": accuracy(results),
        "accuracy_by_style": {style: accuracy_by(style, results) for style in styles(results)},
        "abstains": {
            "answerable": _abstention(everything, answerable=True),
            "unanswerable": _abstention(everything, answerable=False),
        },
        "undecided": sum(one.grade.correct is None for one in results),
        "f1": mean([one.grade.f1 for one in results]),
        "exact": mean([float(one.grade.exact) for one in results]),
        "soft": mean([float(one.grade.soft) for one in results]),
        "r_rate": mean([float(decided(one) == ESCALATED) for one in results]),
        "depth": mean([float(one.reply.depth) for one in results if way(one) == "researched"]),
        "calls": mean([float(one.reply.usage.calls) for one in results]),
        "input_tokens": input_tokens(results),
        "evidence_tokens": evidence_tokens(results),
        "tokens_in": mean([float(spent(one).taken_in) for one in results]),
        "tokens_router": mean([float(spent(one).router_read) for one in results]),
        **_latency_numbers(results),
    }


def _latency_numbers(results: Sequence[Result]) -> dict[str, Any]:
    seconds = [one.seconds for one in results]
    return {"latency_p50": quantile(seconds, 0.5), "latency_p95": quantile(seconds, 0.95)}


def _abstention(results: Sequence[Result], *, answerable: bool) -> float | None:
    return mean([float(one.reply.abstained) for one in results if one.answerable == answerable])


def questions(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Every question with every system's answer, route and citations."""
    found: dict[QuestionId, dict[str, Any]] = {}
    for results in by_system(records).values():
        by_lines = shows_lines(results)
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
            entry["replies"].append(_reply(one, by_lines=by_lines))
    return list(found.values())


def _reply(one: Result, *, by_lines: bool) -> dict[str, Any]:
    """A reply; lines are right where one of them shows the answer."""
    return {
        "system": one.system + (f" (epoch {one.epoch})" if one.epoch > 1 else ""),
        "verdict": any(one.lines) if by_lines and one.answerable else one.grade.correct,
        "verdicts": dict(one.grade.verdicts),
        "answer": one.reply.text if not one.reply.abstained else None,
        "route": one.reply.route,
        "way": way(one),
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
