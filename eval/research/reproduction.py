"""What repeating the figures of a paper found: tables, claim by claim, and the page that says so.

A verdict is computed from the figures wherever there are figures to compare. What was not measured is
listed too, so that a page cannot be read as a confirmation of what nobody tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import typer

from eval.report.values import Report, Table, share

Verdict = Literal["agrees", "differs", "does not hold", "not measured"]
_HEADINGS: Final[Mapping[Verdict, str]] = {
    "agrees": "What agrees",
    "differs": "What comes out otherwise",
    "does not hold": "What does not hold",
    "not measured": "What was not measured",
}
_WIDE: Final = 160
"""Columns where there is no terminal that knows its width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One thing a paper says or prints, what was found here, and what follows for it."""

    says: str
    found: str
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """Everything one command found. `data` has the digest of each file that was read, by its name."""

    title: str
    opening: str
    command: str
    data: Mapping[str, str]
    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]
    numbers: Mapping[str, Any]
    """The same figures unrounded, for programs."""


def compared(says: str, theirs: float, ours: float, *, within: float, found: str = "") -> Claim:
    """A printed figure beside ours: it agrees where they are no further apart than `within`."""
    agrees = abs(theirs - ours) <= within + 1e-9
    told = f"{share(ours)}{'; ' if found else ''}{found}"
    return Claim(says=f"{says}: {share(theirs)}", found=told, verdict="agrees" if agrees else "differs")


def wilson(hits: int, of: int, *, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; (0, 1) of nothing."""
    if not of:
        return 0.0, 1.0
    rate, spread = hits / of, z * z / of
    middle = (rate + spread / 2) / (1 + spread)
    half = z / (1 + spread) * (rate * (1 - rate) / of + spread / (4 * of)) ** 0.5
    return max(0.0, min(rate, middle - half)), min(1.0, max(rate, middle + half))


def page(found: Reproduction, *, machine: str, commit: str) -> str:
    """The page as Markdown: what it is, how to run it again, the tables, and each claim with its verdict."""
    told = [f"{name} ({digest[:8]}…{digest[-6:]})" for name, digest in found.data.items()]
    data = f"Data (SHA-256 of the content): {'; '.join(told)}. " if told else "Data: none. "
    parts = [
        f"# {found.title}",
        found.opening,
        f"    {found.command}",
        f"{data}Code: {commit}. Machine: {machine}.",
        *(_markdown(table) for table in found.tables),
        *(_claims(found.claims, verdict) for verdict in _HEADINGS),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown(table: Table) -> str:
    head = f"| {' | '.join(table.columns)} |"
    rule = f"|{'|'.join(['---'] * len(table.columns))}|"
    rows = [f"| {' | '.join(row)} |" for row in table.rows]
    notes = [f"\n{note}" for note in table.notes]
    return "\n".join((f"## {table.title}\n", head, rule, *rows, *notes))


def _claims(claims: Sequence[Claim], verdict: Verdict) -> str:
    told = [f"| {claim.says} | {claim.found} |" for claim in claims if claim.verdict == verdict]
    if not told:
        return ""
    return "\n".join((f"## {_HEADINGS[verdict]}\n", "| the source | here |", "|---|---|", *told))


def present(found: Reproduction, *, page_to: Path | None, as_json: bool) -> None:
    """Print what was found, as tables or as JSON, and write its page where one is asked for."""
    if page_to is not None:
        from eval.folder import commit, machine

        page_to.parent.mkdir(parents=True, exist_ok=True)
        page_to.write_text(page(found, machine=machine(), commit=commit()), encoding="utf-8")
    if as_json:
        from tiermem.apps.present.as_json import print_json

        print_json({"title": found.title, "data": found.data, "numbers": found.numbers})
        return
    _print(found)
    if page_to is not None:
        typer.echo(f"written: {page_to}")


def _print(found: Reproduction) -> None:
    from eval.report import terminal
    from tiermem.apps.present.terminal import out

    console = out()
    if not console.is_terminal:
        console.width = _WIDE
    verdicts = tuple((claim.verdict, claim.says, claim.found) for claim in found.claims)
    claims = Table(title="Claim by claim", columns=("verdict", "the source", "here"), rows=verdicts)
    shown = Report(
        title=found.title,
        facts={},
        tables=(*found.tables, claims),
        charts=(),
        questions=(),
        numbers=found.numbers,
    )
    console.rule(found.title)
    for part in terminal(shown, full=True):
        console.print(part)
