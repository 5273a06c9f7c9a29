"""That an agent may see another one's, or may no longer. It names agents and holds no words."""

from dataclasses import dataclass

from pagestore import Record
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Kind, LedgerEntry, stays
from tiermem.model import Named


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantedEntry(LedgerEntry):
    """From here on `agent` may see what is of agent `to_see` (`"*"`: of every agent); not so, with `not
    given`.
    """

    agent: Named
    to_see: Named
    given: bool = True


def _fold(entry: GrantedEntry, record: Record, folds: Folds) -> None:
    if entry.given:
        folds.grant(entry.agent, entry.to_see, record.at)
    else:
        folds.revoke(entry.agent, entry.to_see)


KIND = Kind(name="granted", entry=GrantedEntry, fold=_fold, may_stay=stays)
"""It stays when words are erased, as the names of agents do."""
