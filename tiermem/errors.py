"""Everything that can go wrong above the page store, as one tree.

TierMemError
├─ InvalidInput           an argument or file that cannot be used; says which and why
│  └─ NotDialogue         a file that is not dialogue; names the line
├─ UnknownId              no such space, answer, unit or finding
├─ ModelError             the language model could not be used
│  ├─ ModelUnavailable    no answer in time; retrying may help
│  ├─ ModelRefused        the endpoint rejected the call (key, model name, request)
│  └─ MalformedReply      the reply did not match its schema, also after one repair
├─ BudgetExceeded         a limit of this ask, or of the space and day, was reached
├─ SigningUnavailable     signatures need a package that is not installed
├─ BadSignature           a checkpoint is not signed by the key that was named
├─ EmbedderUnavailable    no embedding weights; names the ways out
├─ SummaryIndexError      the index could not be used; it can always be rebuilt
│  ├─ IndexUnavailable    the index could not be reached
│  │  └─ IndexFull        the disk has too little room left to use the embedded index
│  ├─ IndexLocked         another process owns the embedded index
│  └─ IndexMismatch       built with another embedder or schema; offers `reindex`
└─ MemoryClosed           used after `close`

Storage errors (`Locked`, `Corrupt`, `Full`, …) are `pagestore.errors`, below `PageStoreError`.
"""

from __future__ import annotations


class TierMemError(Exception):
    """Base of every error TierMem raises above the page store."""


class InvalidInput(TierMemError, ValueError):
    """An argument or file that cannot be used; the message says which and why."""


class NotDialogue(InvalidInput):
    """A file that is not dialogue; the message names file, line and reason."""


class UnknownId(TierMemError, KeyError):
    """No such space, answer, unit or finding."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class ModelError(TierMemError):
    """The language model could not be used."""


class ModelUnavailable(ModelError):
    """The endpoint did not answer in time, or asked to be left alone; retrying may help."""


class ModelRefused(ModelError):
    """The endpoint rejected the call: key, model name or request."""


class MalformedReply(ModelError):
    """The reply did not match its schema, also after one repair."""


class BudgetExceeded(TierMemError):
    """A limit of this ask, or of the space and day, was reached; the message says which."""


class SigningUnavailable(TierMemError):
    """Signatures need a package that is not installed; the message names it."""


class BadSignature(TierMemError):
    """A checkpoint is not signed by the key that was named, or was altered after it was."""


class EmbedderUnavailable(TierMemError):
    """No embedding weights on this machine; the message names the ways out."""


class SummaryIndexError(TierMemError):
    """The index could not be used. Pages and ledger are untouched: the index is only a projection."""


class IndexUnavailable(SummaryIndexError):
    """The index could not be reached."""


class IndexFull(IndexUnavailable):
    """The disk has too little room left to use the embedded index; the message says how much it takes."""


class IndexLocked(SummaryIndexError):
    """Another process owns the embedded index directory."""


class IndexMismatch(SummaryIndexError):
    """The index was built with another embedder or schema; `reindex` rebuilds it without model calls."""


class MemoryClosed(TierMemError):
    """The memory was used after `close`."""
