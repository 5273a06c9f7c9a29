"""What the printed cases of HTM come to, and what making room costs, as tables and claim by claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from eval.report.values import Table, share
from eval.research.htm.cases import CASES, EXAMPLE, SCORES, Case, balanced, evicted
from eval.research.htm.cost import SIZES, Cost, costs
from eval.research.reproduction import Claim, Reproduction, Verdict

_OPENING: Final = (
    "HTM keeps a working memory of so many tokens and evicts the least important first, among equals the "
    "oldest. Its decision record ADR-007 and its description print cases beside the algorithm; here each "
    "case is run through that algorithm, as printed. What making room costs is measured of the library's own "
    "workspace, by policy and by how many items it holds."
)


_LIMIT: Final = 10


def found(sizes: Sequence[int] = SIZES) -> Reproduction:
    """Every case, every score and every cost, with verdicts."""
    measured = costs(sizes)
    return Reproduction(
        title="HTM: the printed cases",
        opening=_OPENING,
        command="python -m eval.research htm",
        data={},
        tables=(_cases_table(), _scores_table(), _costs_table(measured)),
        claims=(*(_case(case) for case in CASES), *_scores(), _within_limits(measured)),
        numbers={
            "evicted": {case.title: case.gone for case in CASES},
            "scores": [balanced(one.importance, one.hours) for one in SCORES],
            "milliseconds": {
                name: {str(size): cost.median for size, cost in of.items()} for name, of in measured.items()
            },
        },
    )


def _cases_table() -> Table:
    return Table(
        title="Evicted",
        columns=("case", "printed", "by the algorithm", "tokens freed, of those needed"),
        rows=tuple(
            (
                case.title,
                "; ".join(case.printed),
                "; ".join(case.gone),
                f"{sum(one.tokens for one in evicted(case.items, case.needed)):,} of {case.needed:,}",
            )
            for case in CASES
        ),
    )


def _scores_table() -> Table:
    return Table(
        title="Scores of a balanced context",
        columns=("importance", "hours", "printed", "importance / (1 + hours)"),
        rows=tuple(
            (
                f"{one.importance:g}",
                f"{one.hours:.3g}",
                f"{one.printed:g}",
                f"{balanced(one.importance, one.hours):.3g}",
            )
            for one in SCORES
        ),
    )


def _costs_table(measured: Mapping[str, Mapping[int, Cost]]) -> Table:
    sizes = sorted({size for of in measured.values() for size in of})
    return Table(
        title="What making room costs",
        columns=("policy", *(f"{size:,} items" for size in sizes)),
        rows=tuple((name, *(_cell(of.get(size)) for size in sizes)) for name, of in measured.items()),
        notes=(
            "Milliseconds for an item to come, another to go for it, and one to be looked up: median, and "
            "the slowest in brackets. Where importance ages, every eviction looks at all items.",
        ),
    )


def _cell(cost: Cost | None) -> str:
    return "" if cost is None else f"{cost.median:.3f} ({cost.slowest:.2f})"


def _within_limits(measured: Mapping[str, Mapping[int, Cost]]) -> Claim:
    fewest = min(min(of) for of in measured.values())
    slowest = max(of[fewest].median for of in measured.values())
    return Claim(
        says=f"an eviction takes less than {_LIMIT} ms at {fewest:,} items",
        found=f"{slowest:.3f} ms by the slowest policy, in the median",
        verdict="agrees" if slowest < _LIMIT else "does not hold",
    )


def _case(case: Case) -> Claim:
    return Claim(
        says=f"{case.title}: {'; '.join(case.printed)}",
        found="; ".join(case.gone) + (f" ({case.remark})" if case.remark else ""),
        verdict=_if(case.holds),
    )


def _if(holds: bool) -> Verdict:
    return "agrees" if holds else "does not hold"


def _scores() -> list[Claim]:
    claims = []
    for one in SCORES:
        ours = balanced(one.importance, one.hours)
        claims.append(
            Claim(
                says=f"score of importance {one.importance:g} at {one.hours:.3g} h: {one.printed:g}",
                found=f"{ours:.3g}",
                verdict=_if(abs(ours - one.printed) <= 0.005),
            )
        )
    best_first = sorted(EXAMPLE, key=lambda one: -balanced(one.importance, one.hours))
    claims.append(
        Claim(
            says="the example of a balanced context lists 42.0, 0.14, 3.0",
            found="best first it is "
            + ", ".join(share(balanced(one.importance, one.hours), 2) for one in best_first),
            verdict=_if(best_first == list(EXAMPLE)),
        )
    )
    return claims
