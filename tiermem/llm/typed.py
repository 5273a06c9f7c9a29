"""Typed questions: a prompt and a reply type go in, a validated value comes out.

A reply that is right but for its punctuation, or for the form of its numbers and flags, is repaired here
and counted. One that does not fit is shown back to the model once, with what is wrong. What still does not
fit is `MalformedReply`, never a guess.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from tiermem.errors import BudgetExceeded, MalformedReply
from tiermem.llm.interface import Call, LanguageModel, Message, Role
from tiermem.llm.json_reply import JsonInReply, json_or_nearly
from tiermem.llm.meter import pay, tokens_left
from tiermem.llm.prompts import Prompt, load
from tiermem.llm.reply_shape import fit_to_schema
from tiermem.llm.tokens import token_counter
from tiermem.model import Usage
from tiermem.observing import Done, Observer, enter_observers

T = TypeVar("T", bound=BaseModel)

LEAST_REPLY = 100
"""Tokens of a reply below which there is no use in asking."""
_SHOWN_BACK = 8_000
"""Characters of a malformed reply that the model is shown when it is asked again."""
_CHARACTERS_QUOTED = 200
"""Characters of a malformed reply that the error quotes."""
_ERRORS_SHOWN = 5
"""Errors of a malformed reply that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """A reply that cannot be used: its words, and what is wrong with them."""

    text: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _TypedReply(Generic[T]):
    """The value of a reply, and whether the reply had to be repaired."""

    value: T
    is_repaired: bool


async def ask_typed(
    model: LanguageModel,
    prompt: Prompt,
    values: Mapping[str, str],
    reply_type: type[T],
    *,
    role: Role,
    max_tokens: int = 2048,
    temperature: float = 0.0,
) -> T:
    """The model's answer as a `reply_type`; raises `MalformedReply` when one repair did not help.

    Raises `TypeError` when the prompt describes another reply type: that is a mistake in the code.
    """
    if prompt.output != reply_type.__name__:
        raise TypeError(f"prompt {prompt.id!r} describes {prompt.output!r}, not {reply_type.__name__!r}")
    call = Call(
        prompt=prompt.id,
        role=role,
        messages=(Message(role="user", content=prompt.render(**values)),),
        schema=reply_schema(reply_type),
        max_tokens=max_tokens,
        temperature=temperature,
    )
    first = await _ask_once(model, call, reply_type)
    if not isinstance(first, Unusable):
        return first
    second = await _ask_once(model, repair_call(call, first), reply_type)
    if not isinstance(second, Unusable):
        return second
    raise MalformedReply(
        f"{model.model_for(role)!r} did not answer {prompt.id!r} in form, also when asked again: "
        f"{second.problem}{_excerpt(second.text or first.text)}; check that the model can "
        "reply in JSON and that base_url, if one is named, is right (it usually ends in '/v1')"
    )


def _excerpt(text: str) -> str:
    """The start of a reply, to be put into an error."""
    words = text.strip()
    return f"; it replied {words[:_CHARACTERS_QUOTED]!r}" if words else ""


async def _ask_once(model: LanguageModel, call: Call, reply_type: type[T]) -> T | Unusable:
    allowed = within_budget(call)
    try:
        with enter_observers(partial(_around, allowed, model.model_for(call.role))) as done:
            reply = await model.complete(allowed)
            done(reply)
    except MalformedReply as error:
        return Unusable(text="", problem=str(error))
    parsed = _parse_reply(reply.text, reply_type)
    if isinstance(parsed, Unusable):
        return parsed
    if parsed.is_repaired:
        pay(Usage(repairs=1))
    return parsed.value


def _around(call: Call, model: str, observer: Observer) -> AbstractContextManager[Done]:
    return observer.model_called(call.role, model, max_tokens=call.max_tokens, temperature=call.temperature)


def within_budget(call: Call) -> Call:
    """The call with no more room for its reply than its budget of tokens leaves.

    Raises `BudgetExceeded` before anything is sent when a useful reply would not fit: what the call takes
    is estimated, so that a limit is kept and not found out afterwards.
    """
    left = tokens_left()
    if left is None:
        return call
    count = token_counter().count
    asked = sum(count(message.content) for message in call.messages) + count(json.dumps(call.schema))
    if left - asked < LEAST_REPLY:
        raise BudgetExceeded(
            f"about {asked} tokens for {call.role!r} and a reply would pass the {max(left, 0)} that are left"
        )
    return replace(call, max_tokens=min(call.max_tokens, left - asked))


def read_reply(text: str, reply_type: type[T]) -> T | Unusable:
    """The one value of `reply_type` in a reply. Two different ones are no answer: which was meant?"""
    parsed = _parse_reply(text, reply_type)
    return parsed if isinstance(parsed, Unusable) else parsed.value


def _parse_reply(text: str, reply_type: type[T]) -> _TypedReply[T] | Unusable:
    """Values that fit as they are count before values that had to be repaired."""
    as_written: list[T] = []
    repaired: list[T] = []
    problem = "there is no JSON object in it"
    for item in json_or_nearly(text):
        try:
            candidate, is_fitted = _validate(item, reply_type)
        except ValidationError as error:
            problem = _in_words(error)
            continue
        candidates = repaired if item.is_repaired or is_fitted else as_written
        if candidate not in candidates:
            candidates.append(candidate)
    fitting = as_written or repaired
    if len(fitting) == 1:
        return _TypedReply(value=fitting[0], is_repaired=not as_written)
    if fitting:
        problem = f"it holds {len(fitting)} different answers; give one"
    return Unusable(text=text, problem=problem)


def _validate(item: JsonInReply, reply_type: type[T]) -> tuple[T, bool]:
    """The reply, and whether its value was fitted to the schema; `ValidationError` tells of the value given.

    A part of a broken reply is not fitted: it would be taken for the whole.
    """
    try:
        return reply_type.model_validate(item.value), False
    except ValidationError:
        if item.is_inner:
            raise
        fitted_value = fit_to_schema(item.value, reply_schema(reply_type))
        try:
            return reply_type.model_validate(fitted_value), True
        except ValidationError:
            pass
        raise


def _in_words(error: ValidationError) -> str:
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    complaints = [
        f"{'.'.join(str(part) for part in e['loc']) or 'reply'}: {e['msg']}" for e in errors[:_ERRORS_SHOWN]
    ]
    more = len(errors) - len(complaints)
    return "; ".join(complaints) + (f"; and {more} more" if more else "")


def repair_call(call: Call, unusable: Unusable) -> Call:
    """The same call, with the reply and what is wrong with it; with room for a longer reply."""
    schema = json.dumps(call.schema)
    note = load("repair").render(problem=unusable.problem, schema=schema)
    return replace(
        call, messages=_with_note(call.messages, unusable.text, note), max_tokens=2 * call.max_tokens
    )


def _with_note(messages: tuple[Message, ...], text: str, note: str) -> tuple[Message, ...]:
    if text.strip():
        shown = Message(role="assistant", content=text[:_SHOWN_BACK])
        return (*messages, shown, Message(role="user", content=note))
    # Without words of its own there is no assistant turn; many chat templates insist on alternation.
    *before, last = messages
    return (*before, replace(last, content=f"{last.content}\n\n{note}"))


@lru_cache(maxsize=64)
def reply_schema(reply_type: type[BaseModel]) -> Mapping[str, Any]:
    """The JSON schema of a reply type in the strict form endpoints ask for.

    Every property is required and none may be added; a field that may be left out is one that may
    be null. Only the outermost title is kept, as the name of the schema.
    """
    schema = _strict(reply_type.model_json_schema())
    return {"title": reply_type.__name__, **schema}


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    strict: dict[str, Any] = {}
    for key, value in schema.items():
        match key:
            case "title" | "default":
                continue
            case "properties" | "$defs":
                strict[key] = {name: _strict(part) for name, part in value.items()}
            case "items":
                strict[key] = _strict(value)
            case "anyOf":
                strict[key] = [_strict(part) for part in value]
            case _:
                strict[key] = value
    if "properties" in strict:
        strict |= {"additionalProperties": False, "required": list(strict["properties"])}
    return strict
