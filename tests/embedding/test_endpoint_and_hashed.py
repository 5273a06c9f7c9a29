import math
from collections.abc import Sequence

import pytest

from tiermem.embedding.endpoint import EndpointEmbedder
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import MalformedReply
from tiermem.llm.meter import Meter, paid_by

pytestmark = pytest.mark.anyio


async def scaled(texts: Sequence[str]) -> list[list[float]]:
    for text in texts:
        text.encode()
    return [[3.0, 4.0] for _ in texts]


async def test_an_endpoint_embeds_clean_texts_to_unit_length() -> None:
    embedder = EndpointEmbedder(scaled, name="two", dimensions=2)
    assert (embedder.name, embedder.dimensions) == ("two", 2)
    assert await embedder.embed(["a", "\ud800"]) == [[0.6, 0.8], [0.6, 0.8]]
    assert await embedder.embed([]) == []


async def test_the_length_of_an_unknown_model_is_found_out() -> None:
    assert (await EndpointEmbedder.open("two", scaled)).dimensions == 2
    assert (await EndpointEmbedder.open("text-embedding-3-small", scaled)).dimensions == 1536


@pytest.mark.parametrize(
    "vectors", [[], [[1.0, 0.0]] * 2, [[1.0]], [[0.0, 0.0]], [[math.nan, 1.0]], [[math.inf, 1.0]]]
)
async def test_wrong_vectors_are_malformed(vectors: list[list[float]]) -> None:
    async def wrong(texts: Sequence[str]) -> list[list[float]]:
        return vectors

    with pytest.raises(MalformedReply, match="'two' sent"):
        await EndpointEmbedder(wrong, name="two", dimensions=2).embed(["text"])


async def test_hashed_vectors_are_unit_length_and_near_where_words_are_shared() -> None:
    embedder = HashEmbedder(256)
    with paid_by(Meter()) as meter:
        a, b, c, blank = await embedder.embed(["red bicycle", "bicycles, red!", "old piano", "?"])
    assert a == b
    for vector in (a, c, blank):
        assert math.hypot(*vector) == pytest.approx(1)
    assert abs(sum(x * y for x, y in zip(a, c, strict=True))) < 0.5
    assert meter.total().embedding_tokens == 6
    assert (await HashEmbedder(256).embed(["old piano"])) == [c]
    assert (await HashEmbedder(256, seed=1).embed(["old piano"])) != [c]
