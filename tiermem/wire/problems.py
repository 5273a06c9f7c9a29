"""Errors as `application/problem+json` (RFC 9457) and back: one table of which error has which status.

The rule: a status of 500 and above is never a caller's mistake. What such an error says is of the server's
own machine, its paths, its model, and goes to the server's log alone: the caller reads what to do next.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pagestore import errors as page_store
from tiermem import errors

MEDIA_TYPE = "application/problem+json"
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is said of an error: its name, a status of HTTP, what happened, what to do next."""

    error: str
    status: int
    detail: str
    next: str
    retry_after: float | None = None
    """Seconds after which to try again, where that is known."""

    @property
    def body(self) -> dict[str, Any]:
        """The problem as JSON."""
        words = _CAPITAL.sub(" ", self.error.rpartition(".")[2])
        return {
            "type": f"urn:tiermem:{words.replace(' ', '-').lower()}",
            "title": words.capitalize(),
            "status": self.status,
            "detail": self.detail,
            "next": self.next,
            "error": self.error,
        }


_LOOK = "look at what there is, by `pages`, `units` or `answers`, and name one of these"
_MEND = "change what the detail names, and send it again"
_LATER = "try again in a little while"
_ASK = "ask the operator of the server: its log says more"

_TABLE: tuple[tuple[type[Exception], int, str], ...] = (
    (errors.NoTurns, 400, _MEND),
    (errors.NotDialogue, 400, _MEND),
    (errors.InvalidInput, 400, _MEND),
    (errors.UnknownId, 404, _LOOK),
    (errors.ModelUnavailable, 503, "try again later; `search`, `recall` and `context` need no model"),
    (errors.ModelRefused, 502, _ASK),
    (errors.MalformedReply, 502, "try again; `search`, `recall` and `context` need no model"),
    (errors.ModelError, 502, _ASK),
    (errors.BudgetExceeded, 429, "wait for the day (UTC) to end, or have the limit raised"),
    (errors.ErasedMeanwhile, 503, "ask again: what was erased is not answered from any more"),
    (errors.SigningUnavailable, 501, _ASK),
    (errors.BadSignature, 400, "send the checkpoint as it was signed"),
    (errors.EmbedderUnavailable, 503, _ASK),
    (errors.IndexFull, 507, _ASK),
    (errors.IndexUnavailable, 503, _LATER),
    (errors.IndexLocked, 503, _LATER),
    (errors.IndexMismatch, 503, _ASK),
    (errors.SummaryIndexError, 503, _ASK),
    (errors.PageSetAside, 500, _ASK),
    (errors.Unexpected, 500, _ASK),
    (errors.CallbackFailed, 500, _ASK),
    (errors.Unauthorized, 401, "send the key as `Authorization: Bearer …`; `tiermem keys make` makes one"),
    (errors.Forbidden, 403, "use a key that may do this in this space; `tiermem keys make` makes one"),
    (errors.TooManyRequests, 429, "wait as long as Retry-After says, and try again"),
    (errors.TooLarge, 413, "send fewer turns at once"),
    (errors.ServerUnavailable, 503, _LATER),
    (errors.RemoteError, 502, _ASK),
    (errors.MemoryClosed, 503, _LATER),
    (errors.TierMemError, 500, _ASK),
    (page_store.InvalidInput, 400, _MEND),
    (page_store.SpaceNotFound, 404, "name a space that is there; the first thing stored in one makes it"),
    (page_store.PageNotFound, 404, _LOOK),
    (page_store.RecordNotFound, 404, _LOOK),
    (page_store.Conflict, 409, "give the turn another id, or leave its words as they were"),
    (page_store.ReadOnly, 403, "this server only reads: write where it is served for writing"),
    (page_store.Locked, 503, "try again when the other process that writes this space has ended"),
    (page_store.Full, 507, _ASK),
    (page_store.NotAStore, 503, _ASK),
    (page_store.NewerFormat, 503, _ASK),
    (page_store.OlderFormat, 503, _ASK),
    (page_store.Inaccessible, 503, _ASK),
    (page_store.Closed, 503, _LATER),
    (page_store.Corrupt, 500, _ASK),
    (page_store.Poisoned, 500, _ASK),
    (page_store.PageStoreError, 500, _ASK),
)
"""Every error that a memory raises: its status, and what to do next."""

_NAMED = {kind: (status, advice) for kind, status, advice in _TABLE}


def _name(kind: type[Exception]) -> str:
    return f"pagestore.{kind.__name__}" if kind.__module__.startswith("pagestore") else kind.__name__


_BY_NAME = {_name(kind): kind for kind, _, _ in _TABLE}


def problem_of(error: Exception, *, status: int | None = None, retry_after: float | None = None) -> Problem:
    """What is said of an error, with another status where one is given."""
    kind = next((one for one in type(error).__mro__ if one in _NAMED), errors.Unexpected)
    known, advice = _NAMED[kind]
    own = known < 500 or issubclass(kind, errors.RemoteError) or kind is errors.MemoryClosed
    said = str(error) if own else (kind.__doc__ or "").partition("\n\n")[0]
    chosen = status if status is not None else int(getattr(error, "status", known))
    return Problem(
        error=_name(kind),
        status=chosen,
        detail=" ".join(said.split()),
        next=advice,
        retry_after=retry_after,
    )


def error_of(body: object, status: int) -> Exception:
    """The error that a problem tells of; `RemoteError` where it is none of ours."""
    kind = _BY_NAME.get(str(body.get("error"))) if isinstance(body, Mapping) else None
    if kind is None or not isinstance(body, Mapping):
        return errors.RemoteError(f"what answered is no memory of ours: status {status}")
    return kind(str(body.get("detail", "")))
