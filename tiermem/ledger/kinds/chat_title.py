"""What a chat is called, as an import says. The title goes with the last turn of its chat.

A title that repeats erased words goes as well. That it had one stays, so that no import brings it again.
"""

from dataclasses import dataclass, replace

from pagestore import Record
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Kind, LedgerEntry, Past, WhatGoes
from tiermem.model import Named


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTitle(LedgerEntry):
    """From here on a chat is called `title`, "" once it was erased. `agent` is that of the imported turns."""

    chat: Named
    title: str
    agent: Named | None = None


def _fold(entry: ChatTitle, record: Record, folds: Folds) -> None:
    folds.set_title(entry.chat, entry.agent, entry.title)


def _may_stay(entry: ChatTitle, goes: WhatGoes, past: Past) -> ChatTitle | None:
    if goes.everything or not goes.has_turns_left(entry.chat, entry.agent):
        return None
    return replace(entry, title="") if goes.repeated_in([entry.title]) else entry


KIND = Kind(name="chat_title", entry=ChatTitle, fold=_fold, may_stay=_may_stay)
