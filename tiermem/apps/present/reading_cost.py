"""What an answer took to read: pages of the research rounds, and the evidence it was worded from."""

from __future__ import annotations

from dataclasses import dataclass

import tiermem
from tiermem.model import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingCost:
    """`evidence` tokens worded the answer; `pages` of `page_tokens` were read to find them.

    `linked_tokens` is what the pages behind the recalled summaries hold; `None` of lines without a model,
    which are in place of nothing.
    """

    evidence: int
    pages: int
    page_tokens: int
    linked_tokens: int | None

    @property
    def read(self) -> int:
        """Tokens read in all; evidence of an escalation is part of its pages."""
        return max(self.evidence, self.page_tokens)


def reading_cost(memory: tiermem.Memory, answer: Answer) -> ReadingCost:
    """Look up the pages the rounds of `answer` read; pages erased since count nothing."""
    trace = answer.trace
    known = {page.id: page.tokens for page in memory.pages()}
    known |= {page.id: page.tokens for page in memory.open_pages()}
    rounds = trace.rounds if trace.way == "researched" else ()  # of others no model read anything
    read = {page_id for round_ in rounds for page_id in round_.pages}
    return ReadingCost(
        evidence=trace.read_tokens,
        pages=len(read),
        page_tokens=sum(known.get(page_id, 0) for page_id in read),
        linked_tokens=None if trace.decision.router == "said" else trace.raw_tokens,
    )
