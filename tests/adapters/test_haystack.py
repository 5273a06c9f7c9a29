"""A memory in Haystack: a component by itself, and in pipelines."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("haystack", reason="Haystack is not installed: `make test-adapters` brings it")

from haystack import Document, Pipeline
from haystack.components.builders import PromptBuilder

import tiermem
from tiermem.adapters.haystack import TierMemRetriever
from tiermem.errors import InvalidInput

pytestmark = pytest.mark.anyio
QUERY = "What is Biscuit allergic to?"


def test_documents_say_where_their_words_stand(dogs: tiermem.Memory) -> None:
    retriever = TierMemRetriever(dogs, top_k=2, kind="turns")
    first, second = retriever.run(QUERY)["documents"]
    assert isinstance(first, Document)
    assert first.content == "Ann: My dog Biscuit is allergic to chicken."
    assert first.score is not None
    assert second.score is not None
    assert first.score >= second.score
    (span,) = first.meta["spans"]
    assert "Biscuit" in dogs.page(span["page_id"]).text[span["start"] : span["end"]]
    assert Document.from_dict(first.to_dict()) == first


def test_filters_of_the_component_and_of_a_run_both_hold(dogs: tiermem.Memory) -> None:
    dogs.add("Biscuit is allergic to rain.", speaker="Bo", session="nights")
    retriever = TierMemRetriever(dogs, kind="turns", only={"speaker": "Bo"})
    assert [one.content for one in retriever.run(QUERY)["documents"]] == ["Bo: Biscuit is allergic to rain."]
    assert retriever.run(QUERY, only={"session": "dogs"})["documents"] == []
    assert len(retriever.run(QUERY, top_k=1, only={"speaker": "Ann"})["documents"]) == 1
    with pytest.raises(InvalidInput, match="open it"):
        retriever.to_dict()


async def test_a_pipeline_awaits_it(dogs: tiermem.Memory) -> None:
    pipeline = Pipeline()
    pipeline.add_component("memory", TierMemRetriever(dogs, top_k=1))
    pipeline.add_component("prompt", PromptBuilder("{{ documents[0].content }}", required_variables="*"))
    pipeline.connect("memory.documents", "prompt.documents")
    reply = await pipeline.run_async({"memory": {"query": QUERY}})
    assert "allergic to chicken" in reply["prompt"]["prompt"]


def test_the_same_component_in_a_pipeline_that_does_not_await(dogs: tiermem.Memory) -> None:
    pipeline = Pipeline()
    pipeline.add_component("memory", TierMemRetriever(dogs, top_k=1))
    found = pipeline.run({"memory": {"query": QUERY}})
    assert "allergic to chicken" in found["memory"]["documents"][0].content


def test_the_example_runs(example: Callable[[str], Any]) -> None:
    assert "user: My dog Biscuit is allergic to chicken." in example("with_haystack.py")
