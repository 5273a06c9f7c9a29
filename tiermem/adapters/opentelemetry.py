"""Spans of OpenTelemetry around what a memory does, with the attributes of its conventions for GenAI.

Each public call is a span, and so is each request to a model inside of it. No span holds words of anybody:
neither questions nor answers, nor what an error says. `gen_ai.memory.store.id` is the space, and what is
counted are units, turns and pages that were found, turns that were given, and citations of an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import tiermem
from tiermem.errors import InvalidInput, install_command
from tiermem.llm.interface import Reply
from tiermem.observing import Done, observe

try:
    from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider, get_tracer
except ImportError as error:
    raise InvalidInput(
        f"spans need OpenTelemetry's API: {install_command('opentelemetry')} ({error})"
    ) from error

__all__ = ["instrument"]

_Attributes = dict[str, str | int | float]

_OPERATIONS = {
    "add": "create_memory",
    "ask": "search_memory",
    "context": "search_memory",
    "correct": "update_memory",
    "erase": "delete_memory",
    "expire": "delete_memory",
    "recall": "search_memory",
    "remember": "create_memory",
    "reinstate": "update_memory",
    "search": "search_memory",
    "withdraw": "update_memory",
}
"""What calls are in the conventions, which is their span's name; others go by their own."""


def instrument(
    tracer_provider: TracerProvider | None = None, *, provider: str = "openai"
) -> Callable[[], None]:
    """Have every memory of this process make spans from now on; what is returned ends that.

    `tracer_provider` is the global one where none is given. `provider` is what `gen_ai.provider.name` says of
    models: the conventions' name of their provider ("openai" also for servers that speak its API).
    """
    return observe(_Spans(tracer_provider, provider))


class _Spans:
    def __init__(self, tracer_provider: TracerProvider | None, provider: str) -> None:
        self._tracer = get_tracer("tiermem", tracer_provider=tracer_provider)
        self._provider = provider

    @contextmanager
    def memory_called(self, name: str, space: str | None) -> Iterator[Done]:
        attributes: _Attributes = {"tiermem.method": name}
        if (operation := _OPERATIONS.get(name)) is not None:
            attributes["gen_ai.operation.name"] = operation
        if space is not None:
            attributes["gen_ai.memory.store.id"] = space
        with self._span(operation or f"tiermem {name}", SpanKind.INTERNAL, attributes) as span:
            yield lambda result: _tell_of_result(span, result)

    @contextmanager
    def model_called(self, role: str, model: str, *, max_tokens: int, temperature: float) -> Iterator[Done]:
        attributes: _Attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self._provider,
            "gen_ai.request.model": model,
            "gen_ai.request.max_tokens": max_tokens,
            "gen_ai.request.temperature": temperature,
            "gen_ai.output.type": "json",
            "tiermem.step": role,
        }
        with self._span(f"chat {model}", SpanKind.CLIENT, attributes) as span:
            yield lambda reply: _tell_of_reply(span, reply)

    @contextmanager
    def _span(self, name: str, kind: SpanKind, attributes: _Attributes) -> Iterator[Span]:
        """A span that says of an error what it is, and not what it says."""
        with self._tracer.start_as_current_span(
            name, kind=kind, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_attribute("error.type", type(error).__qualname__)
                span.set_status(Status(StatusCode.ERROR))
                raise


def _tell_of_result(span: Span, result: object) -> None:
    """How many records there were, and of an answer how far it is borne out."""
    if isinstance(result, tiermem.Answer):
        span.set_attribute("tiermem.answer.id", result.id)
        span.set_attribute("tiermem.answer.route", result.route)
        span.set_attribute("tiermem.answer.support", result.support or "none")
    if (count := _count(result)) is not None:
        span.set_attribute("gen_ai.memory.record.count", count)


def _count(result: object) -> int | None:
    match result:
        case tiermem.Answer():
            return len(result.citations)
        case tiermem.Recollection():
            return len(result.items)
        case tiermem.Context():
            return len(result.sources)
        case tiermem.Added():
            return result.turns
        case tuple() if all(isinstance(one, tiermem.Evidence) for one in result):
            return len(result)
    return None


def _tell_of_reply(span: Span, reply: object) -> None:
    if isinstance(reply, Reply):
        span.set_attribute("gen_ai.response.model", reply.model)
        span.set_attribute("gen_ai.usage.input_tokens", reply.usage.input_tokens)
        span.set_attribute("gen_ai.usage.output_tokens", reply.usage.output_tokens)
        span.set_attribute("gen_ai.usage.cache_read.input_tokens", reply.usage.cached_tokens)
