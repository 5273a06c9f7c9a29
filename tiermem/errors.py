"""Everything that can go wrong, as one tree.

TierMemError
├─ PageStoreError         an error of the page store (`Locked`, `Corrupt`, `Full`, …): see `pagestore.errors`
├─ InvalidInput           an argument or file that cannot be used; says which and why
│  └─ NotDialogue         a file that is not dialogue; names the line
│     └─ NoTurns          a file of a format that is known, without a turn
├─ UnknownId              no such space, answer, unit or finding
├─ ModelError             the language model could not be used
│  ├─ ModelUnavailable    no answer in time; retrying may help
│  ├─ ModelRefused        the endpoint rejected the call (key, model name, request)
│  └─ MalformedReply      the reply did not match its schema, also after one repair
├─ BudgetExceeded         a limit of this ask, or of the space and day, was reached
├─ ErasedMeanwhile        another process erased words meanwhile: nothing of this was recorded
├─ SigningUnavailable     signatures need a package that is not installed
├─ BadSignature           a checkpoint is not signed by the key that was named
├─ EmbedderUnavailable    no embedding weights; names the ways out
├─ SummaryIndexError      the index could not be used; it can always be rebuilt
│  ├─ IndexUnavailable    the index could not be reached
│  │  └─ IndexFull        the disk has too little room left to use the embedded index
│  ├─ IndexLocked         somebody else has the embedded index open
│  └─ IndexMismatch       built with another embedder or schema; offers `reindex`
├─ PageSetAside           a step raised something unexpected on this page; says what and where
├─ Unexpected             a step raised something unexpected, and no page is to blame; says what and where
├─ CallbackFailed         a callback of yours raised; what was asked for is done, and is its `result`
├─ RemoteError            a memory over HTTP could not be used
│  ├─ Unauthorized        no key, or one that is not known
│  ├─ Forbidden           the key does not allow it
│  ├─ TooManyRequests     more than the key may ask for in that time; says when to go on
│  ├─ TooLarge            more was sent at once than the server takes
│  └─ ServerUnavailable   not reached, stopping, busy, or too slow; retrying may help
└─ MemoryClosed           used after `close`, or closed while it was used
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from inspect import BoundArguments, Signature
from pathlib import Path
from reprlib import Repr
from traceback import FrameSummary, extract_tb

import pagestore
import pagestore.errors

_LONGEST = 200
"""Characters of an unexpected error's message that are kept."""
_PACKAGES = (Path(__file__).parent, Path(pagestore.__file__).parent)

log = logging.getLogger("tiermem")

_SHOWN = Repr()
_SHOWN.maxstring = _SHOWN.maxother = _SHOWN.maxlong = 80


TierMemError = pagestore.errors.TierMemError
"""Base of every error that TierMem and its page store raise."""


class InvalidInput(TierMemError, ValueError):
    """An argument or file that cannot be used; the message says which and why."""


class NotDialogue(InvalidInput):
    """A file that is not dialogue; the message names file, line and reason."""


class NoTurns(NotDialogue):
    """A file of a format that is known, which holds no turn."""


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


class ErasedMeanwhile(TierMemError):
    """Another process erased words that this may rest on, so nothing of it was recorded; try again."""


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
    """The disk has too little room left for the embedded index."""


class IndexLocked(SummaryIndexError):
    """Somebody else has the embedded index open: the file that is to be replaced."""


class IndexMismatch(SummaryIndexError):
    """The index was built with another embedder or schema; `reindex` rebuilds it without model calls."""


class PageSetAside(TierMemError):
    """A step raised something unexpected on this page and goes on without it; it says what and where."""


class Unexpected(TierMemError):
    """A step raised an unexpected error, and no page is to blame: a fault, which is the cause."""


class CallbackFailed(TierMemError):
    """A callback of the caller's raised, which is the cause; `result` is what the call gives without it."""

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class RemoteError(TierMemError):
    """A memory over HTTP could not be used, or answered what this version does not understand."""


class Unauthorized(RemoteError):
    """The server wants a key, and none was given, or one that it does not know."""


class Forbidden(RemoteError):
    """The key does not allow this, or not in this space."""


class TooManyRequests(RemoteError):
    """The key has asked for more than it may in that time; the message says when to go on."""


class TooLarge(RemoteError):
    """More was sent at once than the server takes."""


class ServerUnavailable(RemoteError):
    """The server was not reached, is stopping, is busy, or took too long; retrying may help."""


class MemoryClosed(TierMemError):
    """The memory was used after `close`, or closed while it was used."""


def shown(value: object) -> str:
    """A value as a message shows it, cut short where it is long; its type alone where it has no text."""
    try:
        return _SHOWN.repr(value)
    except Exception:  # noqa: BLE001  # whatever the `repr` of a caller's object raises
        return f"a value of type {type(value).__name__}"


def text_in(value: object, name: str) -> str:
    """A text that says something; `InvalidInput` names what has none."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{name} must be a text with words in it, not {shown(value)}")
    return value


def name_in(value: object, name: str) -> str:
    """A text that names something, whatever is in it; `InvalidInput` for what is no text."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a text, not {shown(value)}")
    return value


def space_in(value: object) -> str:
    """The name of a space; `InvalidInput` for what is no text or blank."""
    given = name_in(value, "space")
    if not given.strip():
        raise InvalidInput(f"space must be a name, not {shown(value)}: users without an id would share it")
    return given


def agent_in(value: object, name: str = "agent") -> str:
    """The name of one agent; `InvalidInput` for what is no text, blank, or means every agent (`*`)."""
    given = name_in(value, name)
    if not given.strip():
        raise InvalidInput(f"{name} must be a name, and this is blank")
    if given == "*":
        raise InvalidInput(f"{name} must be one agent's name, and '*' means all of them")
    return given


def not_one_of(given: object, names: Iterable[str], *, or_: str = "") -> str:
    """What to say of a name that is none of these: what it may be, and which one it is spelt like."""
    known = list(names)
    may_be = [*map(repr, known), *([or_] if or_ else [])]
    near = get_close_matches(given.strip().lower(), known, n=1) if isinstance(given, str) else []
    meant = f"; did you mean {near[0]!r}?" if near else ""
    choice = " or ".join(filter(None, (", ".join(may_be[:-1]), may_be[-1])))
    return f"{shown(given)} is not known: give {choice}{meant}"


_NAMES_ELSEWHERE = {
    **dict.fromkeys(("k", "n", "top_k", "topk", "n_results", "num_results", "max_results", "size"), "limit"),
    **dict.fromkeys(("filter", "filters", "metadata", "metadata_filter", "meta"), "where"),
    **dict.fromkeys(("max_token", "token_limit", "tokens", "token_budget"), "max_tokens"),
    **dict.fromkeys(("after", "since", "start"), "said_after"),
    **dict.fromkeys(("before", "end"), "said_before"),
    **dict.fromkeys(("timestamp", "time", "date", "created_at"), "said_at"),
    **dict.fromkeys(("run_id", "session_id", "thread_id", "conversation_id"), "session"),
    **dict.fromkeys(("name", "author", "user"), "speaker"),
}
"""What users of other libraries call an argument."""
_SPACES = ("user_id", "user", "tenant", "namespace", "collection")


def unknown_keyword(method: str, given: str, known: Iterable[str]) -> TypeError:
    """The error for a keyword that a method does not take: all that it takes, the likely one first."""
    names = list(known)
    near = get_close_matches(given.lower(), names, n=1)
    meant = next((one for one in (_NAMES_ELSEWHERE.get(given), *near) if one in names), None)
    ordered = sorted(names, key=lambda name: name != meant)
    what = f"it takes {', '.join(ordered)}" if names else "it takes none"
    if meant is not None:
        what = f"did you mean {meant!r}? {what.capitalize()}"
    elif given in _SPACES:
        what = f"users have spaces of their own, open(…, space='ann'); {what}"
    return TypeError(f"{method}() has no argument {given!r}: {what}")


def bind_arguments(
    method: str, signature: Signature, args: Sequence[object], keywords: Mapping[str, object]
) -> BoundArguments:
    """Arguments by name as a method without `self` takes them; `TypeError` names the method alone."""
    for name in keywords.keys() - signature.parameters.keys():
        raise unknown_keyword(method, name, signature.parameters)
    try:
        return signature.bind(*args, **keywords)
    except TypeError as error:
        raise TypeError(f"{method}(): {error}") from None


def install_command(extra: str) -> str:
    """Return the command that installs what an extra of this package needs; it works without a release."""
    from importlib import metadata  # which takes time to load

    try:
        declared = metadata.requires("tiermem") or []
    except metadata.PackageNotFoundError:
        declared = []
    parts = (one.partition(";") for one in declared)
    needed = [
        package.strip() for package, _, marker in parts if f"extra == '{extra}'" in marker.replace('"', "'")
    ]
    return shlex.join(("pip", "install", *(needed or [f"tiermem[{extra}]"])))


def unexpected(error: Exception, what: str) -> str:
    """An unexpected error, in one line: its type, the lines it went through, and its message.

    It is a fault of the program or of a part it was given, so it is logged as an error, with the traceback
    at level DEBUG.
    """
    reason = describe_error(error)
    log.error("%s raised something unexpected: %s", what, reason)
    log.debug("%s raised something unexpected", what, exc_info=error)
    return reason


def describe_error(error: Exception) -> str:
    """An error in one line: its type, the lines it went through, and its message."""
    reason = f"{type(error).__name__} at {_place(error)}"
    message = " ".join(str(error).split())
    if message:
        reason += f": {message[:_LONGEST]}{'…' if len(message) > _LONGEST else ''}"
    return reason


def _place(error: Exception) -> str:
    """The innermost line of these packages that it went through, behind the one of others that this called,
    as of a judge that was given; else the line that raised it.
    """
    frames = extract_tb(error.__traceback__)
    called: FrameSummary | None = None
    for frame in reversed(frames):
        file = Path(frame.filename)
        for package in _PACKAGES:
            if file.is_relative_to(package):
                own = f"{file.relative_to(package.parent)}:{frame.lineno} in {frame.name}"
                return own if called is None else f"{_line_of(called)}, called at {own}"
        if "anyio" not in file.parts:  # a function in a worker thread is called by anyio
            called = frame
    return _line_of(frames[-1]) if frames else "an unknown place"


def _line_of(frame: FrameSummary) -> str:
    return f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}"
