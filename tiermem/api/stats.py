"""Counts of a space, computed from the ledger's fold when asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pagestore import Page, PageInfo, SpaceId
from tiermem.ledger import EVERYTHING_SEEN, AnswerInfo, PageSummary, SetAside, Tier1, Visibility
from tiermem.model import Budget, StepUsage, Usage, merge_owners

_SHOWN = 20
"""Pages set aside whose reasons are given."""
_NOTHING_SAVED = "what was recalled was longer than the pages it links to, as it is in a small memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What a space holds, what waits, and what was left out.

    `turns` counts each part of a turn that is too long for one page: sealed pages are counted unread.
    `tokens_read` is the evidence all answers so far were worded from; what it would have been from what
    was recalled alone is `tokens_summary`, from the linked pages alone `tokens_raw`, by the same counter.
    `tokens_saved` is what the linked pages of answers given from what was recalled would have cost beyond
    what these read; where it is below zero, `tokens_saved_note` says why. It and `escalated`, the answers for
    which pages were read, are `None` where no model is named: nothing beyond what was recalled is read then.
    `units_cold` of the `units` are not in the index, which is to hold no more than `Settings.hot_units`: they
    are found by their words and by their turns.
    `claims_rejected` are claims whose quotes are not on the pages or plainly say otherwise, `claims_worded`
    claims that nothing confirms: of these the words are kept, and the wording is not.
    `omissions` are numbers, dates, names, negated statements and rare words of pages that no unit kept
    when they were summarised, `omissions_per_literal` their share (`None` if not counted). `usage` is
    what this opening paid for, by step; `spent_today` what the space paid today (UTC), `daily` its limits.
    `pages_aside` are set aside: a step raised something unexpected on them and goes on without, until `flush`
    tries again. `index_pending` counts the turns and units that the index has yet to take in, which are found
    by their words alone until then (`None` where this opening has no index to ask). `problems` are what went
    wrong with the clock the log was recorded by, the newest of the pages set aside with their reasons, and
    the newest failures of background work, which stays pending. `agents` are those whose turns are counted.
    """

    space: SpaceId
    engine: str
    embedder: str
    sessions: int
    turns: int
    pages: int
    pages_open: int
    pages_pending: int
    pages_aside: int
    index_pending: int | None
    units: int
    units_cold: int
    claims_rejected: int
    claims_worded: int
    omissions: int
    omissions_per_literal: float | None
    findings_pending: int
    answers: int
    answered_from_recall: int
    escalated: int | None
    abstained: int
    tokens_read: int
    tokens_raw: int
    tokens_summary: int
    tokens_saved: int | None
    tokens_saved_note: str
    usage: tuple[StepUsage, ...]
    spent_today: Usage
    daily: Budget
    problems: tuple[str, ...]
    agents: tuple[str, ...] = ()


def stats(
    tier1: Tier1,
    answers: Sequence[AnswerInfo],
    *,
    space: SpaceId,
    engine: str,
    embedder: str,
    sessions: int,
    sealed: Sequence[PageInfo],
    filling: Sequence[Page],
    index_pending: int | None,
    usage: tuple[StepUsage, ...],
    spent_today: Usage,
    daily: Budget,
    problems: tuple[str, ...],
    sees: Visibility = EVERYTHING_SEEN,
    reads_pages: bool = True,
) -> Stats:
    """The counts of one space, of what may be seen of it, `answers` among it; one pass over each.

    `reads_pages` says that questions may have pages read, which needs a model.
    """
    pages, set_aside = _visible_pages(tier1, sealed, sees)
    escalated, saved = _count_unread(answers) if reads_pages else (None, None)
    return Stats(
        space=space,
        engine=engine,
        embedder=embedder,
        sessions=sessions,
        turns=sum(info.turns for info in sealed) + sum(len(page.lines) for page in filling),
        pages=len(sealed),
        pages_open=len(filling),
        pages_pending=len(sealed) - len(pages),
        pages_aside=len({one.page_id for one in set_aside}),
        index_pending=index_pending,
        units=sum(map(sees.unit, tier1.units())),
        units_cold=_count_cold(tier1, sees),
        claims_rejected=sum(page.rejected for page in pages),
        claims_worded=sum(page.worded for page in pages),
        omissions=sum(len(page.omissions) for page in pages),
        omissions_per_literal=_rate(pages),
        findings_pending=_count_pending(tier1, answers, sees),
        answers=len(answers),
        answered_from_recall=sum(a.route == "ANSWER" and not a.abstained for a in answers),
        escalated=escalated,
        abstained=sum(a.abstained for a in answers),
        tokens_read=sum(a.read_tokens for a in answers),
        tokens_raw=sum(a.raw_tokens for a in answers),
        tokens_summary=sum(a.summary_tokens for a in answers),
        tokens_saved=saved,
        tokens_saved_note=_NOTHING_SAVED if saved is not None and saved < 0 else "",
        usage=usage,
        spent_today=spent_today,
        daily=daily,
        problems=(*map(str, set_aside[-_SHOWN:]), *problems),
        agents=merge_owners((one.agent for one in sealed), (one.agent for one in filling)),
    )


def _visible_pages(
    tier1: Tier1, sealed: Iterable[PageInfo], sees: Visibility
) -> tuple[list[PageSummary], list[SetAside]]:
    """The summaries of sealed pages and the steps that failed on them; of every page where all is seen."""
    ids = {info.id for info in sealed}
    pages = [page for page in tier1.pages.values() if sees.all or page.page_id in ids]
    return pages, [one for one in tier1.pages_set_aside if sees.all or one.page_id in ids]


def _count_cold(tier1: Tier1, sees: Visibility) -> int:
    """How many units that hold and are not in the index may be seen."""
    units = (tier1.unit(unit_id) for unit_id in tier1.cold if tier1.is_active(unit_id))
    return sum(unit is not None and sees.unit(unit) for unit in units)


def _count_pending(tier1: Tier1, answers: Iterable[AnswerInfo], sees: Visibility) -> int:
    """How many findings of these answers wait to be decided on; of every answer where all is seen."""
    ids = {answer.id for answer in answers}
    return sum(sees.all or one.answer_id in ids for one in tier1.pending.values())


def _count_unread(answers: Sequence[AnswerInfo]) -> tuple[int, int]:
    """How many answers had pages read, and the tokens of linked pages that the others did not read."""
    others = [one for one in answers if one.route == "ANSWER"]
    read = sum(one.route == "ESCALATE" for one in answers)
    return read, sum(one.raw_tokens - one.read_tokens for one in others)


def _rate(pages: Iterable[PageSummary]) -> float | None:
    """Omissions per literal, over the pages whose literals were counted."""
    counted = [page for page in pages if page.literals]
    literals = sum(page.literals or 0 for page in counted)
    return sum(len(page.omissions) for page in counted) / literals if literals else None
