"""How much reading a question may cause. The defaults are the published ones, so that results compare."""

from __future__ import annotations

from dataclasses import dataclass, field

from tiermem.model import Unproved
from tiermem.reading.ranking import RankingOptions
from tiermem.trust import DEFAULT_TRUST, TrustLevels


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """Limits and switches of the way of a question."""

    units: int = 5
    """Units recalled for a question (TierMem paper, A.2: 5)."""
    recall_turns: int = 15
    """Single turns recalled with them; 0 recalls units alone, as published."""
    recall_tokens: int = 1000
    """Tokens that units and turns together may take."""
    widen_turns: int = 40
    """Turns that are read where what was recalled is not enough, each with those beside it."""
    widen_tokens: int = 2500
    """Tokens of those turns at most."""
    looks: int = 2
    """Times that a planner may send for more turns."""
    look_turns: int = 12
    """New turns one look-up brings."""
    max_rounds: int = 3
    """Searches the research loop may make after reading the linked pages (TierMem paper, §4.1.2: 3)."""
    pages_per_round: int = 5
    """New pages read in one round at most (TierMem paper, A.2: 5)."""
    searches_per_round: int = 5
    """Look-ups followed of one plan at most; a planner that asks for more is cut short."""
    unproved: Unproved = "mark"
    """What becomes of an answer that is no more than worded."""
    as_of_pool: int = 50
    """Hits looked through for a question about a past moment, with a floor of trust or of some turns alone,
    to find what may be seen; of some turns alone, more where that is not enough."""
    ranking: RankingOptions = field(default_factory=RankingOptions)
    links: bool = True
    """Read the pages that recalled units link to first; off for the No-Linked ablation."""
    rerank_pool: int = 20
    """Pages a reranker is shown in a round, where one is given."""
    rerank_turns: int = 10
    """Turns shown to a reranker that judges turns."""
    sure_lead: float = 4.0
    """A first turn that leads the second by this score is not reranked, nor what comes after it."""
    protected_similarity: float = 0.6
    """A page or turn found with at least this cosine is never pushed back by a reranker. How near is sure
    depends on the embedder: `PROTECTED` has what was measured."""
    unsearched_roles: tuple[str, ...] = ()
    """Roles of turns that are stored, and found by no search."""
    trust: TrustLevels = DEFAULT_TRUST
    context_chars: int = 160
    """Characters an audit shows before and after cited words."""
