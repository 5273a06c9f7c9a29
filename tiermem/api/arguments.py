"""What callers give, checked in one place: every argument of every public method passes through here.

Each function takes what was given, whatever it is, and returns what the steps below take. What cannot be
used is `InvalidInput`, which names the argument, the value, and what it may be. Nothing is guessed: a number
is not read out of a text, nor a choice out of what is merely true.
"""

from __future__ import annotations

import inspect
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields, replace
from datetime import date, datetime, timedelta
from functools import partial
from operator import index
from typing import Any, TypeVar, get_args

from pagestore import Checkpoint, PageId, SessionId, SpaceId, TurnAddress
from pagestore.address import is_address, seq_in
from tiermem.api.requests import Filters
from tiermem.dialogue import AgentTurnKind
from tiermem.dialogue.interface import Conversation, DialogueSession
from tiermem.dialogue.metadata import metadata_in
from tiermem.dialogue.times import parse_time, until
from tiermem.errors import CallbackFailed, InvalidInput, name_in, not_one_of, shown, space_in, text_in
from tiermem.index.values import About
from tiermem.llm.redaction import shown_url
from tiermem.llm.scripted import CallerModel
from tiermem.model import Answer, AnswerId, AskMode, AskStep, Budget, Evidence, TurnFilter, UnitId, Wanted
from tiermem.reading import (
    LONGEST_QUESTION,
    Between,
    Context,
    Kind,
    Packing,
    SaidThen,
    Scope,
    Strategy,
    extract_timeframe,
    times_named,
    whole_days,
)
from tiermem.reasoning import Engine
from tiermem.runtime.components import EngineName, Opening, Parts
from tiermem.salience import Outcome
from tiermem.settings import EMBEDDED, IN_PROCESS, IN_STORE, Settings
from tiermem.storage import parse_place
from tiermem.trust import TrustLevels
from tiermem.workspace import POLICIES, Eviction, Order

MOST_RESULTS = 10_000
"""Results of one search at most."""
LONGEST_TIMEFRAME = 200
"""Characters of the words that name a timeframe."""
MOST_TOKENS = 10_000_000
"""Tokens of one context at most, more than any model takes."""

_AGE = re.compile(r"(?P<number>\d{1,4})(?P<unit>[hdw])", re.ASCII)
_AGE_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}

_T = TypeVar("_T")


def question(value: object) -> str:
    """A question that can be answered; one that is too long is refused, since part of it is another one."""
    if isinstance(value, str) and len(value) > LONGEST_QUESTION:
        raise InvalidInput(
            f"question may be {LONGEST_QUESTION:,} characters long, and this one is {len(value):,}: "
            "ask less at once, or add what it says as a turn"
        )
    return query(value, "question")


def query(value: object, name: str = "query") -> str:
    """Words that can be searched for: of a text longer than `LONGEST_QUESTION` characters the end."""
    words = text_in(value, name).strip()[-LONGEST_QUESTION:].strip()
    if any("\ud800" <= character <= "\udfff" for character in words):
        raise InvalidInput(f"{name} holds lone surrogates, which no index or model can carry")
    return words


def reason(value: object) -> str:
    """A reason that says something."""
    if isinstance(value, str) and not value.strip():
        raise InvalidInput("give a reason: it stays on record")
    return text_in(value, "reason").strip()


def reason_unless(dry_run: bool, value: object) -> str:
    """A reason that says something; none is needed where nothing is done."""
    return "" if dry_run and value == "" else reason(value)


def session_to_write(value: object) -> SessionId:
    """The name of a session that words are stored in; `InvalidInput` for a blank one."""
    return SessionId(_unblank(value, "session"))


def any_session(value: object) -> SessionId | None:
    """The name of a session, or `None` for all of them."""
    return None if value is None else SessionId(name_in(value, "session"))


def page(value: object, name: str = "page_id") -> PageId:
    """The id of a page."""
    return PageId(name_in(value, name))


def any_page(value: object) -> PageId | None:
    """The id of a page, or `None`."""
    return None if value is None else page(value, "page")


def answer(value: object) -> AnswerId:
    """The id of an answer."""
    return AnswerId(name_in(value, "answer_id"))


def unit_or_turn(value: object) -> UnitId | TurnAddress:
    """The id of a unit, or the address of a turn."""
    name = name_in(value, "unit_id")
    return _address_in(name) or UnitId(name)


def unit_to_share(value: object) -> UnitId:
    """The id of a unit; `InvalidInput` for the address of a turn, whose words are not shared."""
    name = name_in(value, "unit_id")
    if is_address(name):
        raise InvalidInput(
            f"{name!r} is a turn, and units are shared, not turns: give the id of one that rests on it, as "
            "`search(kind='units')` and `units()` list them (`tiermem search --kind units`)"
        )
    return UnitId(name)


def turn(value: object, session: object) -> str | None:
    """The address of a turn, the id that it was given in an export or by the caller, or `None`.

    Digits alone are such an id only where a session is named: anything else that has a number is counted
    differently in every place.
    """
    if value is None:
        return None
    if not isinstance(value, str) or not value or (value.isdecimal() and session is None):
        raise InvalidInput(
            f"turn must be an address such as 't1:17-9ae0', which `search`, `page` and `audit` give, or the "
            f"id that the turn was stored with and its session; not {shown(value)}"
        )
    return _address_in(value) or value


def _address_in(name: str) -> TurnAddress | None:
    """The address of a turn that a name is; `InvalidInput` for one that is not written as it should be."""
    if not is_address(name):
        return None
    try:
        seq_in(name)
    except ValueError as error:
        raise InvalidInput(str(error)) from error
    return TurnAddress(name)


def page_or_turn(value: object) -> PageId | TurnAddress:
    """The id of a page, or the address of a turn."""
    name = name_in(value, "page_id")
    return _address_in(name) or PageId(name)


def moment(value: object, name: str) -> datetime | None:
    """A moment, or `None`; a day without a time is its beginning."""
    return _moment(value, name, parse_time)


def past(value: object) -> datetime | None:
    """A moment that is looked back to, or `None` for now; a day without a time is its end.

    One without a zone is meant in the machine's own, as Python takes it.
    """
    found = _moment(value, "as_of", until)
    if found is None or found.utcoffset() is not None:
        return found
    try:
        return found.astimezone()
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"as_of: {shown(value)} lies outside the calendar") from error


def _moment(value: object, name: str, read: Callable[[object], datetime | None]) -> datetime | None:
    if isinstance(value, str) and not value.strip():
        raise InvalidInput(f"{name} must be a moment, like '2024-05-08T13:56', not {shown(value)}")
    try:
        return read(value)
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from error


def whole(value: object, name: str, *, least: int = 0, most: int | None = None) -> int:
    """A whole number within bounds. Texts, fractions and truth values are none."""
    try:
        number = None if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None:
        raise InvalidInput(f"{name} must be a whole number, not {shown(value)}")
    if number < least:
        raise InvalidInput(f"{name} must be at least {least}, not {shown(value)}")
    if most is not None and number > most:
        raise InvalidInput(f"{name} may be {most:,} at most, not {shown(value)}")
    return number


def limit(value: object) -> int:
    """How many results at most."""
    return whole(value, "limit", least=1, most=MOST_RESULTS)


def max_tokens(value: object) -> int:
    """How many tokens at most; none are allowed, and hold nothing."""
    return whole(value, "max_tokens", most=MOST_TOKENS)


def strategy(value: Strategy) -> Strategy:
    """How things are looked for."""
    return _one_of("strategy", value, get_args(Strategy))


def kind(value: Kind) -> Kind:
    """What a search looks for: any kind, or one."""
    return _one_of("kind", value, get_args(Kind))


def about(value: About, kind: Kind) -> About:
    """What a timeframe is of; only units tell when something happened."""
    found = _one_of("about", value, get_args(About))
    if found == "event" and kind not in ("any", "units"):
        raise InvalidInput(f"about may be 'event' of units only: {kind} tell when they were said")
    return found


def agent_turn_kind(value: AgentTurnKind) -> AgentTurnKind:
    """What a turn of a coding agent is."""
    return _one_of("kind", value, get_args(AgentTurnKind))


def age(value: object, now: datetime) -> datetime:
    """The moment that is an age ago: hours, days or weeks, as in '12h', '30d', '4w'."""
    found = _AGE.fullmatch(value) if isinstance(value, str) else None
    number = 0 if found is None else int(found["number"])
    if found is None or number == 0:
        raise InvalidInput(
            f"older must be a number of hours, days or weeks from 1 to 9999, such as '12h', '30d' or '4w', "
            f"not {shown(value)}"
        )
    return now - number * _AGE_UNITS[found["unit"]]


def timeframe(
    value: object, topic: str, asked_at: datetime, about: About
) -> tuple[str, tuple[Between, ...] | None]:
    """The topic, and the times to which it is confined: `None` for no such limit.

    With `"auto"` the topic is left without the times that it names. What was said is not to come, so a month
    without a year is the last one; what happens may be.
    """
    past = about == "said"
    if value is None:
        return topic, None
    if isinstance(value, str) and value == "auto":
        return extract_timeframe(topic, asked_at, past=past)
    if not isinstance(value, list):
        return topic, _times(value, asked_at, past=past)
    if not value:
        raise InvalidInput("timeframe must name a time, and this list is empty; None confines nothing")
    parts = (one for part in value for one in _times(part, asked_at, past=past))
    return topic, tuple(dict.fromkeys(parts))


def _times(value: object, asked_at: datetime, *, past: bool) -> tuple[Between, ...]:
    if isinstance(value, str):
        found = _find_times(value, asked_at, past=past)
        if not found:
            raise InvalidInput(
                f"timeframe: {shown(value)} names no time that can be read as a whole; write a day "
                "(2024-05-08), a month (2024-05), days from … to (2024-05-01/2024-05-08), words (last week, "
                "since May 2024), or 'auto'"
            )
    elif isinstance(value, date):
        day = value.date() if isinstance(value, datetime) else value
        found = (whole_days(day, day),)
    elif isinstance(value, tuple) and len(value) == 2:
        found = (_between(*value, asked_at, past=past),)
    else:
        raise InvalidInput(
            f"timeframe must be words, a day, a pair (from, to) or a list of these, not {shown(value)}"
        )
    for one in found:
        if one.since is not None and one.until is not None and _later(one.since, one.until):
            raise InvalidInput(f"timeframe: {shown(value)} ends before it begins")
    return found


def _find_times(value: str, asked_at: datetime, *, past: bool) -> tuple[Between, ...]:
    return times_named(value, asked_at, past=past) if len(value) <= LONGEST_TIMEFRAME else ()


def _between(since: object, until_: object, asked_at: datetime, *, past: bool) -> Between:
    """From the beginning of the first to the end of the second, each a moment or what names one time."""
    if since is None and until_ is None:
        raise InvalidInput("timeframe: one end of (from, to) may be None, not both; None confines nothing")

    def end(value: object, name: str, read: Callable[[object], datetime | None]) -> datetime | None:
        try:
            return _moment(value, f"timeframe: the {name}", read)
        except InvalidInput:
            named = _find_times(value, asked_at, past=past) if isinstance(value, str) else ()
            found = [one.since if name == "beginning" else one.until for one in named]
            if len(found) != 1 or found[0] is None:
                raise
            return found[0]

    return Between(since=end(since, "beginning", parse_time), until=end(until_, "end", until))


def _later(one: datetime, other: datetime) -> bool:
    """Whether it lies after the other; where only one has a zone, the other is read in it."""
    return one.replace(tzinfo=one.tzinfo or other.tzinfo) > other.replace(tzinfo=other.tzinfo or one.tzinfo)


def policy(value: object) -> Eviction:
    """Who gives way in a workspace: a policy by its name, or an object that is one."""
    if isinstance(value, str):
        return POLICIES.load(value)()
    if isinstance(value, type) or not isinstance(value, Eviction):
        names = ", ".join(POLICIES.names())
        raise InvalidInput(
            f"policy must be one of {names}, or an object with `name`, `ages` and `rank`, not {shown(value)}"
        )
    return value


def order(value: Order) -> Order:
    """In which order what is held is shown."""
    return _one_of("order", value, get_args(Order))


def packing(value: Packing) -> Packing:
    """What becomes of what does not fit."""
    return _one_of("packing", value, get_args(Packing))


def key(value: object) -> str:
    """What an item is called."""
    return _unblank(value, "key")


def any_key(value: object) -> str | None:
    """What an item is called, or `None`."""
    return None if value is None else key(value)


def callback(value: _T) -> _T:
    """What is called with items that left, or `None`."""
    return _callable(value, "on_evicted", "items")


def switch(value: object, name: str) -> bool:
    """True or false, and nothing that merely counts as one of them."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be True or False, not {shown(value)}")
    return value


def mode(value: AskMode) -> AskMode:
    """A way that an answer may take."""
    return _one_of("mode", value, get_args(AskMode))


def _one_of(name: str, value: _T, names: Iterable[str]) -> _T:
    if not isinstance(value, str) or value not in names:
        raise InvalidInput(f"{name} {not_one_of(value, names)}")
    return value


def trust(value: object, levels: TrustLevels, name: str = "trust") -> str | None:
    """A level of trust, or `None`."""
    if value is not None and (not isinstance(value, str) or value not in levels.names):
        raise InvalidInput(f"{name} {not_one_of(value, levels.names)}")
    return value


def feedback_target(
    answer: object, sources: object
) -> AnswerId | tuple[Evidence | UnitId | TurnAddress, ...]:
    """What an outcome is of: the id of an answer, or sources. One of the two."""
    if (answer is None) == (sources is None):
        raise InvalidInput("name what is judged: answer (an Answer or its id), or sources")
    if isinstance(answer, Answer):
        return answer.id
    if answer is not None:
        return AnswerId(name_in(answer, "answer"))
    given = sources_in(sources, "ids of units and addresses of turns")
    return tuple(one if isinstance(one, Evidence) else unit_or_turn(one) for one in given)


def sources_in(sources: object, ids: str) -> tuple[Evidence | str, ...]:
    """The sources of a context, or a list of evidence and of `ids`."""
    given = sources.sources if isinstance(sources, Context) else sources
    if isinstance(given, str | Evidence) or not isinstance(given, Iterable):
        raise InvalidInput(
            f"sources must be a Context, or a list of evidence or of {ids}, not {shown(sources)}"
        )
    return tuple(one if isinstance(one, Evidence) else name_in(one, "sources: each") for one in given)


def outcome(value: Outcome) -> Outcome:
    """How an answer turned out."""
    return _one_of("outcome", value, get_args(Outcome))


def output(value: object) -> str | None:
    """What was made of sources, or `None`."""
    return None if value is None else text_in(value, "output")


def judge(value: object, levels: TrustLevels) -> str:
    """How far somebody is trusted who says how an answer turned out."""
    by = trust(value, levels, "by")
    if by is None or not levels.may_judge(by):
        may = ", ".join(repr(name) for name in levels.names if levels.may_judge(name))
        raise InvalidInput(f"by must be trusted enough to judge ({may}), not {shown(value)}")
    return by


def scope(only: Filters, levels: TrustLevels, *, as_of: object = None) -> Scope:
    """What a question is confined to."""
    return Scope(
        session=any_session(only.get("session")),
        as_of=past(as_of),
        min_trust=trust(only.get("min_trust"), levels, "min_trust"),
        turns=_turns(only),
    )


def confined_to(scope: Scope, times: tuple[Between, ...] | None, about: About) -> Scope:
    """The scope, where only what was said, or happened, in one of these times is seen."""
    if times is None:
        return scope
    if about == "event":
        return replace(scope, happened=tuple(one.own_days for one in times))
    asked = scope.turns or TurnFilter()
    known = {field.name: getattr(asked, field.name) for field in fields(asked)}
    return replace(scope, turns=SaidThen(**known, times=times))


def _turns(only: Filters) -> TurnFilter | None:
    """Which turns alone may be seen; `None` where nothing is asked of them. A day is the whole day."""
    asked = TurnFilter(
        speaker=_optional_name(only.get("speaker"), "speaker"),
        role=_optional_name(only.get("role"), "role"),
        said_after=moment(only.get("said_after"), "said_after"),
        said_before=_moment(only.get("said_before"), "said_before", until),
        where=_where(only.get("where")),
    )
    return None if asked == TurnFilter() else asked


def _where(value: object) -> tuple[Wanted, ...]:
    """What metadata must tell: a mapping of texts, numbers and truths."""
    if value is None:
        return ()
    if not isinstance(value, Mapping):
        raise InvalidInput(f'where must be a mapping such as {{"channel": "general"}}, not {shown(value)}')
    for key, wanted in value.items():
        text_in(key, "a key of where")
        if not isinstance(wanted, str | int | float):
            raise InvalidInput(f"where[{key!r}] must be a text, a number or a truth, not {shown(wanted)}")
    return tuple(Wanted(key=key, value=wanted) for key, wanted in metadata_in(value, "where").items())


def _optional_name(value: object, name: str) -> str | None:
    """A name, or `None` where it is blank."""
    return None if value is None else _unblank(value, name)


def _unblank(value: object, name: str) -> str:
    if isinstance(value, str) and not value.strip():
        raise InvalidInput(f"{name} must be a name, not {shown(value)}")
    return name_in(value, name)


def budget(value: object) -> Budget:
    """The limits of one ask: a `Budget`, a mapping of its fields, or `None` for no limit."""
    if value is None:
        return Budget()
    given = asdict(value) if isinstance(value, Budget) else value
    if not isinstance(given, Mapping):
        raise InvalidInput(f"budget must be a Budget, or a mapping like {{'calls': 5}}, not {shown(value)}")
    limits: dict[str, Any] = {}
    for name, most in given.items():
        check = _LIMITS[_one_of("budget: the limit", name, _LIMITS)]
        limits[name] = None if most is None else check(most, f"budget: {name}")
    return Budget(**limits)


def require_model(engine: Engine, mode: AskMode, limits: Budget) -> None:
    """Raise `InvalidInput` where a question is asked in a way for which no model is named."""
    limited = "budget 'calls'" if limits.calls else "budget 'cost'" if limits.cost is not None else ""
    given = "mode='raw'" if mode == "raw" else limited
    if mode == "raw" and engine.compose is not None and not engine.looks_further:
        raise InvalidInput(
            f"mode='raw' reads pages, and the engine {engine.name!r} has no `integrate` and `plan` for that: "
            "give it both, or leave the mode out"
        )
    if given and engine.compose is None:
        raise InvalidInput(
            f"{given} is for a language model, and none is named: pass model='…' when the memory is opened, "
            "or leave it out"
        )


def _amount(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise InvalidInput(f"{name} must be a number that is not negative, not {shown(value)}")
    return value


_LIMITS: Mapping[str, Callable[[object, str], float]] = {
    "calls": whole,
    "tokens": whole,
    "seconds": _amount,
    "cost": _amount,
}
"""What checks each limit of a budget."""


def checkpoint(value: object, name: str = "checkpoint") -> Checkpoint:
    """A checkpoint, all of whose fields are of their kinds."""
    if not isinstance(value, Checkpoint):
        raise InvalidInput(f"{name} must be a Checkpoint, not {shown(value)}")
    name_in(value.space, f"{name}.space")
    whole(value.size, f"{name}.size")
    text_in(value.root, f"{name}.root")
    whole(value.format, f"{name}.format")
    return value


def any_checkpoint(value: object, name: str = "checkpoint") -> Checkpoint | None:
    """A checkpoint, or `None`."""
    return None if value is None else checkpoint(value, name)


def runs(value: object) -> tuple[str, ...]:
    """Runs of words that are looked for: one text, or several."""
    given = (value,) if isinstance(value, str) else value
    if not isinstance(given, Iterable) or isinstance(given, bytes | bytearray | Mapping):
        raise InvalidInput(f"words must be texts in a list, not {shown(value)}")
    return tuple(text_in(run, "words: each") for run in given)


def conversations_in(value: object) -> tuple[Conversation, ...]:
    """The conversations that a caller gives, one or several."""
    given = (value,) if isinstance(value, Conversation) else value
    return _each_of(Conversation, given, "conversations must be what read_dialogue gives")


def sessions_in(value: Iterable[DialogueSession]) -> tuple[DialogueSession, ...]:
    """The sessions of files that a caller gives."""
    return _each_of(DialogueSession, value, "sessions must be those of a conversation")


def _each_of(kind: type[_T], value: object, must: str) -> tuple[_T, ...]:
    """What a caller gives several of; `InvalidInput` begins with what they must be."""
    given = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    for one in given:
        if not isinstance(one, kind):
            raise InvalidInput(f"{must}, not {shown(one)}")
    return given


def progress(value: _T) -> _T:
    """What is called with how far a run is, or `None`."""
    return _callable(value, "progress", "two numbers")


def on_step(value: Callable[[AskStep], None] | None) -> Callable[[AskStep], None] | None:
    """What is called with the steps of a question, or `None`; what it raises is `CallbackFailed`."""
    if value is None:
        return None
    _callable(value, "on_step", "a step")

    def call(step: AskStep) -> None:
        try:
            value(step)
        except Exception as error:
            raise CallbackFailed(f"on_step raised {error!r}; the question is not answered") from error

    return call


def _callable(value: _T, name: str, given: str) -> _T:
    if value is not None and not callable(value):
        raise InvalidInput(f"{name} must be called with {given}, and {shown(value)} cannot be")
    return value


def place(value: object, name: str) -> str:
    """Return the path of a file or a directory; `~` is the home directory."""
    if isinstance(value, os.PathLike):
        value = value.__fspath__()
    return os.path.expanduser(text_in(value, name))  # noqa: PTH111  (keeps "~" of an unknown user)


def opening(
    path: object,
    *,
    space: object,
    engine: EngineName | Engine,
    read_only: object,
    create: object,
    reindex: object,
    settings: object,
    overrides: Mapping[str, Any],
) -> Opening:
    """How a memory is to be opened. What is chosen by name is a setting, a ready object a part."""
    if not isinstance(engine, Engine):
        engine = _one_of("engine", engine, get_args(EngineName))
    if settings is not None and not isinstance(settings, Settings):
        raise InvalidInput(
            f"settings must be Settings, not {type(settings).__name__}: its fields can be given one by one"
        )
    ready = {
        name: _ready(name, overrides[name])
        for name in _CAN
        if overrides.get(name) is not None and not isinstance(overrides[name], str)
    }
    chosen = {name: value for name, value in overrides.items() if name not in ready}
    before = {} if settings is None else settings.model_dump()
    where, options = parse_place(place(path, "path")), Settings(**{**before, **chosen})
    if where.url is not None:
        _check_index_for_a_database(options)
    return Opening(
        place=where,
        space=SpaceId(space_in(space)),
        engine=engine,
        read_only=switch(read_only, "read_only"),
        create=switch(create, "create"),
        reindex=switch(reindex, "reindex"),
        settings=options,
        parts=Parts(**ready),
    )


def _check_index_for_a_database(settings: Settings) -> None:
    """Raise `InvalidInput` unless several processes may use the index: in the same database, or in each."""
    if settings.index not in (EMBEDDED, IN_PROCESS, IN_STORE):
        raise InvalidInput(
            f"index={shown_url(settings.index)!r} cannot be used with a store in a database: leave it out, "
            f"and it is kept there too, as it is with {IN_STORE!r}"
        )


_CAN = {"model": "complete", "embedder": "embed", "index": "search", "reranker": "score"}
"""What parts that a caller brings along must be able to do."""


def _ready(name: str, part: Any) -> Any:
    """A part that a caller brings along, or `InvalidInput`; a function in place of a model becomes one."""
    if name == "model" and callable(part) and not isinstance(part, type) and not hasattr(part, _CAN[name]):
        function = part.func if isinstance(part, partial) else part
        is_awaited = inspect.iscoroutinefunction(part) or inspect.iscoroutinefunction(type(part).__call__)
        return CallerModel(
            part, name=getattr(function, "__name__", type(function).__name__), in_thread=not is_awaited
        )
    if isinstance(part, type) or not callable(getattr(part, _CAN[name], None)):
        function = "a function, " if name == "model" else ""
        raise InvalidInput(
            f"{name} must be a name, {function}or an object that can `{_CAN[name]}`, not {shown(part)}"
        )
    return part
