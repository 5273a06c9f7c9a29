"""How much reading a question may cause. The defaults are the published ones, so that results compare."""

from __future__ import annotations

from dataclasses import dataclass, field

from tiermem.dialogue.trust import DEFAULT_TRUST, TrustLevels
from tiermem.reading.ranking import RankingOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """Limits and switches of recall and research."""

    units: int = 5
    """Units recalled for a question."""
    max_rounds: int = 3
    """Searches the research loop may make after reading the linked pages."""
    pages_per_round: int = 5
    """New pages read in one round at most."""
    searches_per_round: int = 5
    """Look-ups followed of one plan at most; a planner that asks for more is cut short."""
    tail_tokens: int = 500
    """How much of what was said last, and is not summarised yet, recall quotes verbatim."""
    as_of_pool: int = 50
    """Hits looked through for a question about a past moment or with a floor of trust, to find the units
    that may be seen."""
    ranking: RankingOptions = field(default_factory=RankingOptions)
    links: bool = True
    """Read the pages that recalled units link to first; off for the No-Linked ablation."""
    rerank_pool: int = 20
    """Pages a reranker is shown in a round, where one is given."""
    protected_similarity: float = 0.6
    """A page found with at least this cosine is never pushed back by a reranker."""
    trust: TrustLevels = DEFAULT_TRUST
    context_chars: int = 160
    """Characters an audit shows before and after cited words."""
