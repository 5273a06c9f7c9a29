"""A memory for Haystack: a retriever, which is a component of pipelines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tiermem
from tiermem.adapters.finding import Kind, as_filters, id_of, in_thread, known_of
from tiermem.errors import InvalidInput, install_command

try:
    from haystack import Document, component
except ImportError as error:
    raise InvalidInput(f"Haystack needs an extra: {install_command('haystack')} ({error})") from error

__all__ = ["TierMemRetriever"]


@component
class TierMemRetriever:
    """The units and turns of a memory that fit a query best, as documents with their scores.

    `top_k` is how many at most (1 to 10,000). `kind` is `any`, `units`, `turns` or `pages`; `only` are
    filters of `Memory.recall`, to which those of `run` are added. A document's id is the unit's, or where its
    words are; its meta says what is known of it. A memory is open, so a pipeline with one is not written to
    YAML.
    """

    def __init__(
        self,
        memory: tiermem.Memory,
        top_k: int = 10,
        kind: Kind = "any",
        only: Mapping[str, Any] | None = None,
    ) -> None:
        self.memory = memory
        self.top_k = top_k
        self.kind = kind
        self.only = dict(only or {})

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, top_k: int | None = None, only: dict[str, Any] | None = None
    ) -> dict[str, list[Document]]:
        """What is found; raises what `Memory.recall` raises."""
        most = self.top_k if top_k is None else top_k
        confines = as_filters(self.only | (only or {}))
        found = self.memory.recall(query, limit=most, kind=self.kind, **confines)
        return {"documents": [_document(one) for one in found.items]}

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, top_k: int | None = None, only: dict[str, Any] | None = None
    ) -> dict[str, list[Document]]:
        """The same, awaited."""
        found: dict[str, list[Document]] = await in_thread(self.run, query, top_k, only)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Raises `InvalidInput`: an open memory is no text."""
        raise InvalidInput(
            "a memory that is open cannot be written into a pipeline's file: "
            "open it, make the TierMemRetriever, and add it to the pipeline where that is made"
        )


def _document(found: tiermem.Evidence) -> Document:
    return Document(id=id_of(found), content=found.text, meta=known_of(found), score=found.score)
