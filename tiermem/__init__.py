"""A memory agents can prove.

Dialogue is sealed in immutable pages; summaries link to the exact words they rest on; answers cite
them. `tiermem.open(path)` gives a `Memory`, `AsyncMemory.open(path)` its awaited twin.
"""

import sys
from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

if sys.platform == "win32":
    raise ImportError(
        "TierMem needs POSIX file locks and does not run on Windows: install it in the Windows Subsystem for "
        "Linux (WSL), which `wsl --install` sets up"
    )

from tiermem import errors as errors

if TYPE_CHECKING:
    from pagestore import Checkpoint as Checkpoint
    from pagestore import Damage as Damage
    from pagestore import GrowthProof as GrowthProof
    from pagestore import InclusionProof as InclusionProof
    from pagestore import Page as Page
    from pagestore import PageId as PageId
    from pagestore import PageInfo as PageInfo
    from pagestore import PageLine as PageLine
    from pagestore import SessionId as SessionId
    from pagestore import SpaceId as SpaceId
    from pagestore import Span as Span
    from pagestore import Turn as Turn
    from pagestore import VerifyReport as VerifyReport
    from pagestore.backup import SavedSpace as SavedSpace
    from pagestore.bundle import Bundle as Bundle
    from pagestore.bundle import Signature as Signature
    from pagestore.errors import PageStoreError as PageStoreError
    from pagestore.values import ProvedPage as ProvedPage
    from pagestore.values import ProvedRecord as ProvedRecord
    from pagestore.values import TurnLine as TurnLine
    from tiermem.api import Added as Added
    from tiermem.api import AsyncMemory as AsyncMemory
    from tiermem.api import AsyncWorkspace as AsyncWorkspace
    from tiermem.api import Attribution as Attribution
    from tiermem.api import BackedUp as BackedUp
    from tiermem.api import Exported as Exported
    from tiermem.api import Filters as Filters
    from tiermem.api import Flushed as Flushed
    from tiermem.api import Leftover as Leftover
    from tiermem.api import LeftoverScan as LeftoverScan
    from tiermem.api import Memory as Memory
    from tiermem.api import Overrides as Overrides
    from tiermem.api import Receipt as Receipt
    from tiermem.api import Reindexed as Reindexed
    from tiermem.api import SessionInfo as SessionInfo
    from tiermem.api import Stats as Stats
    from tiermem.api import Workspace as Workspace
    from tiermem.api import open as open  # noqa: A004  (users write `tiermem.open`)
    from tiermem.api import restore as restore
    from tiermem.api import spaces as spaces
    from tiermem.errors import TierMemError as TierMemError
    from tiermem.ledger import AnswerInfo as AnswerInfo
    from tiermem.ledger import Grant as Grant
    from tiermem.ledger import Redistilled as Redistilled
    from tiermem.ledger import TurnAt as TurnAt
    from tiermem.model import Answer as Answer
    from tiermem.model import AnswerId as AnswerId
    from tiermem.model import AskStep as AskStep
    from tiermem.model import Budget as Budget
    from tiermem.model import Check as Check
    from tiermem.model import Citation as Citation
    from tiermem.model import Decision as Decision
    from tiermem.model import Degradation as Degradation
    from tiermem.model import Derivation as Derivation
    from tiermem.model import Evidence as Evidence
    from tiermem.model import LinkedFact as LinkedFact
    from tiermem.model import MarkedPage as MarkedPage
    from tiermem.model import MarkedPageInfo as MarkedPageInfo
    from tiermem.model import Rejected as Rejected
    from tiermem.model import Round as Round
    from tiermem.model import Search as Search
    from tiermem.model import StepUsage as StepUsage
    from tiermem.model import SummaryUnit as SummaryUnit
    from tiermem.model import TakenBack as TakenBack
    from tiermem.model import Term as Term
    from tiermem.model import Trace as Trace
    from tiermem.model import TurnFilter as TurnFilter
    from tiermem.model import UnitId as UnitId
    from tiermem.model import Usage as Usage
    from tiermem.model import Wanted as Wanted
    from tiermem.model import WriteBack as WriteBack
    from tiermem.reading import Audit as Audit
    from tiermem.reading import AuditedCitation as AuditedCitation
    from tiermem.reading import AuditedDerivation as AuditedDerivation
    from tiermem.reading import Between as Between
    from tiermem.reading import Context as Context
    from tiermem.reading import Difference as Difference
    from tiermem.reading import OmissionReport as OmissionReport
    from tiermem.reading import OmissionsAt as OmissionsAt
    from tiermem.reading import PageOmissions as PageOmissions
    from tiermem.reading import Recollection as Recollection
    from tiermem.reading import Replay as Replay
    from tiermem.reading import UnitHistory as UnitHistory
    from tiermem.reading import WordsOnPage as WordsOnPage
    from tiermem.reasoning import Engine as Engine
    from tiermem.salience import Judgement as Judgement
    from tiermem.salience import Signals as Signals
    from tiermem.salience import TurnShare as TurnShare
    from tiermem.settings import Settings as Settings
    from tiermem.workspace import Admitted as Admitted
    from tiermem.workspace import Eviction as Eviction
    from tiermem.workspace import Item as Item
    from tiermem.writing import Consolidation as Consolidation
    from tiermem.writing import Credit as Credit
    from tiermem.writing import Erasure as Erasure
    from tiermem.writing import Judged as Judged
    from tiermem.writing import MergedUnits as MergedUnits
    from tiermem.writing import NearUnits as NearUnits
    from tiermem.writing import ReinstatedUnit as ReinstatedUnit
    from tiermem.writing import Remembered as Remembered
    from tiermem.writing import Withdrawn as Withdrawn

_HOMES = {
    "pagestore": """
        Checkpoint Damage GrowthProof InclusionProof Page PageId PageInfo PageLine SessionId SpaceId
        Span Turn VerifyReport
    """,
    "pagestore.backup": "SavedSpace",
    "pagestore.bundle": "Bundle Signature",
    "pagestore.errors": "PageStoreError",
    "pagestore.values": "ProvedPage ProvedRecord TurnLine",
    "tiermem.api": """
        Added AsyncMemory AsyncWorkspace Attribution BackedUp Exported Filters Flushed Leftover
        LeftoverScan Memory Overrides Receipt Reindexed SessionInfo Stats Workspace open restore spaces
    """,
    "tiermem.errors": "TierMemError",
    "tiermem.ledger": "AnswerInfo Grant Redistilled TurnAt",
    "tiermem.model": """
        Answer AnswerId AskStep Budget Check Citation Decision Degradation Derivation Evidence
        LinkedFact MarkedPage MarkedPageInfo Rejected Round Search StepUsage SummaryUnit TakenBack Term
        Trace TurnFilter UnitId Usage Wanted WriteBack
    """,
    "tiermem.reading": """
        Audit AuditedCitation AuditedDerivation Between Context Difference OmissionReport OmissionsAt
        PageOmissions Recollection Replay UnitHistory WordsOnPage
    """,
    "tiermem.reasoning": "Engine",
    "tiermem.salience": "Judgement Signals TurnShare",
    "tiermem.settings": "Settings",
    "tiermem.workspace": "Admitted Eviction Item",
    "tiermem.writing": """
        Consolidation Credit Erasure Judged MergedUnits NearUnits ReinstatedUnit Remembered Withdrawn
    """,
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = list(_HOME_OF)


def __dir__() -> list[str]:
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*__all__, *own, "__version__", "errors"})


def __getattr__(name: str) -> Any:
    # The API loads pydantic and anyio; values alone should not.
    if name == "__version__":
        return _version("tiermem")
    if name in _HOME_OF:
        return globals().setdefault(name, getattr(import_module(_HOME_OF[name]), name))
    raise AttributeError(f"module 'tiermem' has no attribute {name!r}")
