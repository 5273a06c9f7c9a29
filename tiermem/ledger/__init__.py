"""What was concluded, when, and from what: typed entries in the log, and Tier 1 as their fold."""

from tiermem.ledger.claims import Claims
from tiermem.ledger.entry_texts import entry_texts
from tiermem.ledger.folds import ALL, AnswerInfo, Grant, Loss, PageSummary
from tiermem.ledger.ids import NOT_RECORDED, finding_id, finding_unit_id, merged_unit_id, summary_unit_id
from tiermem.ledger.kind import LedgerEntry
from tiermem.ledger.kinds.answered import AnsweredEntry
from tiermem.ledger.kinds.bounded import BoundedEntry
from tiermem.ledger.kinds.chat_title import ChatTitle
from tiermem.ledger.kinds.consolidated import ConsolidatedEntry
from tiermem.ledger.kinds.distilled import DistilledEntry
from tiermem.ledger.kinds.erased import ErasedEntry
from tiermem.ledger.kinds.erasing import Erasing, TurnAt
from tiermem.ledger.kinds.feedback import Feedback
from tiermem.ledger.kinds.granted import GrantedEntry
from tiermem.ledger.kinds.redistilled import Redistilled
from tiermem.ledger.kinds.reinstated import ReinstatedEntry
from tiermem.ledger.kinds.retired import RetiredEntry
from tiermem.ledger.kinds.set_aside import SetAside
from tiermem.ledger.kinds.shared import Shared
from tiermem.ledger.kinds.spent import Spent
from tiermem.ledger.kinds.stated import StatedEntry
from tiermem.ledger.kinds.wrote_back import WroteBack
from tiermem.ledger.ledger import Changes, Ledger, Unread, indexed_as
from tiermem.ledger.moments import Around
from tiermem.ledger.replacements import LoggedEntry, records_left
from tiermem.ledger.tier1 import Tier1
from tiermem.ledger.visibility import EVERYTHING_SEEN, Visibility, owner_of
