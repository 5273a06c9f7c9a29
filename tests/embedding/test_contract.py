"""The embedders that come with TierMem keep the contract that is shipped for all."""

from functools import cache

import pytest

from tiermem.embedding import Embedder
from tiermem.embedding.endpoint import EndpointEmbedder
from tiermem.embedding.hashed import HashEmbedder
from tiermem.embedding.minilm import MiniLMEmbedder, Precision
from tiermem.embedding.testing import EmbedderContract
from tiermem.embedding.weights import find_weights
from tiermem.errors import EmbedderUnavailable


class TestHashed(EmbedderContract):
    def new_embedder(self) -> Embedder:
        return HashEmbedder()


class TestEndpoint(EmbedderContract):
    def new_embedder(self) -> Embedder:
        return EndpointEmbedder(HashEmbedder(16).embed, name="hashes", dimensions=16)


@cache
def minilm(precision: Precision) -> MiniLMEmbedder:
    try:
        find_weights()
    except EmbedderUnavailable as error:
        pytest.skip(str(error))
    return MiniLMEmbedder(precision=precision)


class TestMiniLM(EmbedderContract):
    def new_embedder(self) -> Embedder:
        return minilm("fp32")


class TestMiniLMOfEightBits(EmbedderContract):
    def new_embedder(self) -> Embedder:
        return minilm("int8")
