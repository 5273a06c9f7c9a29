from typing import get_args

import pytest

from tiermem.embedding.minilm import Precision
from tiermem.embedding.tensors import WORDS, read_safetensors
from tiermem.embedding.weights import WEIGHTS, find_weights
from tiermem.errors import EmbedderUnavailable

pytest.importorskip("onnx", reason="the graphs are made with `onnx`, which is no need of the package")

from tests.embedding.minilm_graph import built, shapes, shipped


@pytest.mark.parametrize("precision", get_args(Precision))
def test_the_graph_that_is_shipped_is_made_again_byte_for_byte(precision: Precision) -> None:
    assert built(precision) == shipped(precision).read_bytes()


@pytest.mark.parametrize("precision", get_args(Precision))
def test_a_graph_is_small(precision: Precision) -> None:
    assert shipped(precision).stat().st_size < 16_000


def test_the_shapes_are_those_of_the_weights() -> None:
    try:
        weights = read_safetensors(find_weights() / WEIGHTS)
    except EmbedderUnavailable as error:
        pytest.skip(str(error))
    assert dict(shapes()).items() <= {name: array.shape for name, array in weights.items()}.items()
    assert WORDS in dict(shapes())
