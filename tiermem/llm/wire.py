"""Reads what an endpoint sent back: untrusted JSON becomes a reply's text, vectors and token counts.

Read by us rather than by the vendor's client, which builds its values without checking them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

from tiermem.errors import MalformedReply
from tiermem.llm.interface import Call
from tiermem.llm.redaction import Redaction
from tiermem.model import Usage
from tiermem.text.unicode import join_surrogates

_START = 2_000
"""Bytes of a body that is not JSON which are kept, to be quoted in an error without keys."""
_CHARACTERS_QUOTED = 200
_BYTES_A_TOKEN = 4
"""Bytes of UTF-8 counted as a token where an endpoint tells no count."""
_TEXT_PARTS = {"text": "text", "output_text": "text"}
"""Types of the parts of a message that are words, and under which key."""
_REFUSAL_PARTS = {"refusal": "refusal"}
_PARTS_A_VECTOR = 8
_PARTS_BESIDE = 100
"""Lists and objects that a body of embeddings may have, for each vector and besides them."""


class _Read(BaseModel):
    """What is read of a body. Errors say where it does not fit, and repeat nothing of it."""

    model_config = ConfigDict(hide_input_in_errors=True)


class _Message(_Read):
    content: str | list[Any] | None = None
    """The words, or parts of them, which are taken as they are: a model of each would take much memory."""
    refusal: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None


class _Choice(_Read):
    message: _Message
    finish_reason: str | None = None


class _Completion(_Read):
    # Of a million wrong choices one error is enough: each takes hundreds of bytes.
    choices: Annotated[list[_Choice], FailFast()] = Field(min_length=1)


class _CachedDetails(_Read):
    cached_tokens: int | None = Field(default=None, ge=0)


class _Tokens(_Read):
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)
    prompt_tokens_details: _CachedDetails | None = None


class _Vector(_Read):
    index: int
    embedding: Annotated[list[float], FailFast()]


class _Vectors(_Read):
    data: Annotated[list[_Vector], FailFast()]


@dataclass(frozen=True, slots=True)
class NotJson:
    """The start of a body that is not JSON."""

    start: str


def decode_json(body: bytes) -> Any:
    """The JSON of a body, or `NotJson`."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return NotJson(body.lstrip()[:_START].decode(errors="replace"))


def decoded_vectors(body: bytes, count: int) -> Any:
    """The JSON of a body of so many embeddings; `None` when it is none, or is made of many more parts.

    Embeddings are long and made of few lists; three bytes of an empty one would take sixty and more.
    """
    parts = body.count(b"{") + body.count(b"[")
    return decode_json(body) if parts <= _PARTS_A_VECTOR * count + _PARTS_BESIDE else None


def answer_in(body: Any, redaction: Redaction) -> str:
    """The words of a completion without keys. `MalformedReply` when there are none, or not all."""
    try:
        choice = _Completion.model_validate(body).choices[0]
    except ValidationError as error:
        raise MalformedReply(f"this is no chat completion{_excerpt(body, redaction.in_error)}") from error
    refusal = choice.message.refusal or _text_of_parts(choice.message.content, _REFUSAL_PARTS)
    if refusal:
        raise MalformedReply(f"the model declined: {redaction.in_error(join_surrogates(refusal))[:200]!r}")
    if choice.finish_reason == "content_filter":
        raise MalformedReply("the endpoint's content filter withheld the reply")
    if choice.finish_reason == "length":
        raise MalformedReply("the reply was cut off at its token limit; answer more briefly")
    text = _text_of(choice.message)
    if not text.strip():
        raise MalformedReply("the reply is empty")
    return redaction.in_reply(join_surrogates(text))


def _text_of(message: _Message) -> str:
    """The words of a message; its reasoning where it has no others: some servers put the reply there."""
    content = message.content
    text = content if isinstance(content, str) else _text_of_parts(content, _TEXT_PARTS)
    if text.strip():
        return text
    reasons = (message.reasoning_content, message.reasoning)
    return next((one for one in reasons if isinstance(one, str) and one.strip()), "")


def _text_of_parts(content: str | list[Any] | None, keys: Mapping[str, str]) -> str:
    """The words of the parts of some types, joined; other parts (thinking, images) have none."""
    parts = content if isinstance(content, list) else ()
    return "".join(filter(None, (_text_of_part(part, keys) for part in parts)))


def _text_of_part(part: Any, keys: Mapping[str, str]) -> str | None:
    if isinstance(part, str):
        return part if keys is _TEXT_PARTS else None
    key = keys.get(str(part.get("type", "text"))) if isinstance(part, dict) else None
    text = part.get(key) if key is not None else None
    text = text.get("value") if isinstance(text, dict) else text
    return text if isinstance(text, str) else None


def _excerpt(body: Any, redact: Callable[[str], str]) -> str:
    """The start of what an endpoint sent in place of a completion, to be put into an error."""
    if not isinstance(body, NotJson):
        return ""
    return f": {redact(body.start).strip()[:_CHARACTERS_QUOTED]!r}"


def model_in(body: Any, redact: Callable[[str], str]) -> str | None:
    """The name of the model that answered, where the reply states it."""
    name = body.get("model") if isinstance(body, dict) else None
    return redact(join_surrogates(name)) if isinstance(name, str) and name else None


def usage_of_call(body: Any, call: Call) -> tuple[Usage, bool]:
    """Tokens of a completion, and whether the endpoint reported them; if not, four bytes are a token."""
    tokens = _tokens(body)
    if tokens is not None:
        cached = (tokens.prompt_tokens_details or _CachedDetails()).cached_tokens or 0
        usage = Usage(
            calls=1,
            input_tokens=tokens.prompt_tokens,
            output_tokens=tokens.completion_tokens or 0,
            cached_tokens=min(cached, tokens.prompt_tokens),
        )
        return usage, True
    asked = estimated_tokens([message.content for message in call.messages])
    return Usage(calls=1, input_tokens=asked, output_tokens=_estimated_answer(body)), False


def usage_of_embedding(body: Any, texts: Sequence[str]) -> tuple[Usage, bool]:
    """Tokens of an embedding request, and whether the endpoint reported them."""
    tokens = _tokens(body)
    count = estimated_tokens(texts) if tokens is None else tokens.prompt_tokens
    return Usage(calls=1, embedding_tokens=count), tokens is not None


def estimated_tokens(texts: Sequence[str]) -> int:
    """A rough count for endpoints that report none."""
    return sum(-(-len(text.encode(errors="replace")) // _BYTES_A_TOKEN) for text in texts)


def _estimated_answer(body: Any) -> int:
    try:
        completion = _Completion.model_validate(body)
    except ValidationError:
        return 0
    return estimated_tokens([_text_of(completion.choices[0].message)])


def _tokens(body: Any) -> _Tokens | None:
    try:
        return _Tokens.model_validate(body.get("usage") if isinstance(body, dict) else None)
    except ValidationError:
        return None


def vectors_in(body: Any, count: int) -> list[list[float]]:
    """One vector a text, in order; `MalformedReply` when any is missing, not finite or of another length."""
    try:
        data = sorted(_Vectors.model_validate(body).data, key=lambda vector: vector.index)
    except ValidationError as error:
        raise MalformedReply("these are no embeddings; is base_url right?") from error
    vectors = [vector.embedding for vector in data]
    if [vector.index for vector in data] != list(range(count)):
        raise MalformedReply(f"asked for {count} embeddings, got {len(data)} or wrong numbers")
    if len({len(vector) for vector in vectors}) > 1 or not all(map(_is_usable, vectors)):
        raise MalformedReply("the embeddings are empty, not finite or of different lengths")
    return vectors


def _is_usable(vector: Sequence[float]) -> bool:
    return bool(vector) and all(map(math.isfinite, vector))
