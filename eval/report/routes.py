"""The report of routing: what routers decide, which way answers come, and what that repairs and costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, get_args

from eval.metrics.routing import Cell, Counterfactual, counterfactual, escalation, router_errors
from eval.report.figures import (
    ESCALATED,
    RAW,
    SUMMARY,
    Systems,
    accuracy,
    decided,
    escalated,
    spent,
    token_note,
    verdicts,
    way,
)
from eval.report.values import Table, mean, number, percent, quantile, share
from eval.types import Result
from tiermem.model import Support

ROUTERS: Final = (
    "tiermem",
    "tiermem:llm",
    "tiermem:fused",
    "tiermem:gate",
    "tiermem:nearest",
    "tiermem:always",
    "tiermem:no-links",
    "tiermem:no-recall",
)


def tables(systems: Systems) -> list[Table]:
    """In the layout of the paper's Tables 3, 4, 8, 12 and 13, where the systems for them took part."""
    routers = [name for name in ROUTERS if name in systems]
    found: list[Table] = []
    if {SUMMARY, RAW} <= systems.keys():
        found += [_routing(systems), *(_matrix(systems, name) for name in routers)]
        found += [_errors(systems, routers)] if routers else []
    if routers:
        found += [_links(systems), _by_route(systems), _by_way(systems), _by_support(systems)]
        found += [_research(systems)]
    return found


def _routing(systems: Systems) -> Table:
    summary, raw = verdicts(systems[SUMMARY]), verdicts(systems[RAW])
    rows = []
    for name in (SUMMARY, RAW, *ROUTERS):
        if name not in systems:
            continue
        results = systems[name]
        found = escalation(escalated(results), summary, raw)
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
                f"{found.hard} of {found.questions}",
            )
        )
    return Table(
        title="Routing: mechanism and outcome (layout of Table 3)",
        columns=(
            "System", "R-rate %", "Recall (hard) %", "F1 %", "Overall acc.", "Router tokens",
            "Router lat. s", "Lat. s", "hard questions",
        ),
        rows=tuple(rows),
        notes=(
            "Escalated as decided. Hard: wrong from summaries, right from the raw pages, in this run.",
            token_note(systems),
        ),
    )  # fmt: skip


def _links(systems: Systems) -> Table:
    names = {RAW: "Raw-only", "tiermem:no-links": "No-Linked", "tiermem": "Linked (ours)"}
    rows = []
    for name, called in names.items():
        if name not in systems:
            continue
        results = systems[name]
        sent = [one for one in results if decided(one) == ESCALATED]
        rows.append(
            (
                f"{called}: {name}",
                percent(accuracy(results)),
                percent(len(sent) / len(results)),
                percent(accuracy(sent)),
                number(mean([float(spent(one).taken_in) for one in results])),
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
    return _parted(
        systems,
        parts={
            "ANSWER": lambda one: decided(one) == "ANSWER",
            ESCALATED: lambda one: decided(one) == ESCALATED,
        },
        title="By route as decided (layout of Table 12)",
        column="Route",
    )


def _by_way(systems: Systems) -> Table:
    return _parted(
        systems,
        parts={
            "recall": lambda one: way(one) == "recall",
            "widened": lambda one: way(one) == "widened",
            "researched": lambda one: way(one) == "researched",
        },
        title="By the way the answer came",
        column="Way",
    )


def _by_support(systems: Systems) -> Table:
    return _parted(
        systems,
        parts={
            **{name: partial(_has_support, name) for name in get_args(Support)},
            "no answer": lambda one: one.reply.abstained,
        },
        title="By how far the cited words bear the answer out",
        column="Support",
    )


def _has_support(support: Support, one: Result) -> bool:
    return one.reply.support == support


def _parted(
    systems: Systems, *, parts: Mapping[str, Callable[[Result], bool]], title: str, column: str
) -> Table:
    """Every router's questions in parts, with what each part was worth and cost."""
    rows = [
        _part(name, part, taken)
        for name in ROUTERS
        for part, belongs in parts.items()
        if (taken := [one for one in systems.get(name, ()) if belongs(one)])
    ]
    return Table(
        title=title,
        columns=(
            "System", column, "questions", "Acc.", "Tok in / Q", "Tok out / Q", "calls / Q",
            "lat. p50 s", "lat. p95 s",
        ),
        rows=tuple(rows),
        notes=(token_note(systems),),
        brief=False,
    )  # fmt: skip


def _part(name: str, part: str, taken: Sequence[Result]) -> tuple[str, ...]:
    costs = [spent(one) for one in taken]
    return (
        name,
        part,
        str(len(taken)),
        share(accuracy(taken)),
        number(mean([float(one.taken_in) for one in costs]), 1),
        number(mean([float(one.written + one.router_written) for one in costs]), 1),
        number(mean([float(one.reply.usage.calls) for one in taken]), 1),
        number(quantile([one.seconds for one in taken], 0.5), 2),
        number(quantile([one.seconds for one in taken], 0.95), 2),
    )


_SOURCES: Final = ("unit", "turn", "linked page", "search")


def _research(systems: Systems) -> Table:
    rows = []
    for name in ROUTERS:
        results = systems.get(name, ())
        if not results:
            continue
        depths = [one.reply.depth for one in results if way(one) == "researched"]
        hits = [mean([float(one.reply.hits.get(source, 0)) for one in results]) for source in _SOURCES]
        rows.append(
            (
                name,
                str(len(depths)),
                number(mean([float(depth) for depth in depths]), 2),
                str(max(depths, default=0)),
                *(number(one, 2) for one in hits),
                number(mean([float(one.reply.usage.calls) for one in results]), 1),
            )
        )
    return Table(
        title="Research: depth and hits by source (appendices A.8 and C.3)",
        columns=(
            "System", "researched", "depth", "deepest", "units / Q", "turns / Q", "linked pages / Q",
            "pages searched / Q", "calls / Q",
        ),
        rows=tuple(rows),
        notes=(
            "Depth: rounds that searched, a researched question on average (published: 1.38, at most 3); "
            "reading the linked pages is none.",
        ),
    )  # fmt: skip


def _errors(systems: Systems, routers: Sequence[str]) -> Table:
    rows = []
    for name in routers:
        found = router_errors(
            escalated(systems[name]),
            verdicts(systems[SUMMARY]),
            verdicts(systems[RAW]),
            verdicts(systems[name]),
        )
        counts = (found.still_wrong, found.false_hits, found.beyond)
        cells = (f"{count} ({percent(found.share(count))} %)" for count in counts)
        rows.append((name, str(found.errors), *cells, str(found.repaired), str(found.undecided)))
    return Table(
        title="Routers on what summaries alone get wrong (layout of Table 8)",
        columns=(
            "System", "errors", "escalated, still wrong", "false cache hit", "answered, pages no better",
            "repaired", "undecided",
        ),
        rows=tuple(rows),
        notes=("False cache hit: answered from summaries, right from the raw pages.",),
        brief=False,
    )  # fmt: skip


def _matrix(systems: Systems, name: str) -> Table:
    results = systems[name]
    found = counterfactual(
        escalated(results),
        verdicts(systems[SUMMARY]),
        verdicts(systems[RAW]),
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
