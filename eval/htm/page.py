"""What the printed cases of HTM come to, as tables and claim by claim."""

from __future__ import annotations

from typing import Final

from eval.htm.cases import CASES, EXAMPLE, SCORES, Case, balanced, evicted
from eval.report.values import Table, share
from eval.reproduction import Claim, Reproduction, Verdict

_OPENING: Final = (
    "HTM keeps a working memory of so many tokens and evicts the least important first, among equals the "
    "oldest. Its decision record ADR-007 and its description print cases beside the algorithm; here each "
    "case is run through that algorithm, as printed. Nothing here is the library's own."
)


def found() -> Reproduction:
    """Every case and every score, with verdicts."""
    return Reproduction(
        title="HTM: the printed cases",
        opening=_OPENING,
        command="python -m eval htm",
        data={},
        tables=(_cases_table(), _scores_table()),
        claims=(*(_case(case) for case in CASES), *_scores()),
        numbers={
            "evicted": {case.title: case.gone for case in CASES},
            "scores": [balanced(one.importance, one.hours) for one in SCORES],
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
