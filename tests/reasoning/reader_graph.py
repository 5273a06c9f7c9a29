"""Makes the ONNX graphs of the reader: two texts as word pieces in, the numbers of its heads out.

`python -m tests.reasoning.reader_graph` writes them into the package again; it needs `onnx`, and no weights.
The layers are those of the embedder's graph.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper

from tests.embedding.minilm_graph import (
    _MICROSOFT,
    _layer,
    _layer_of_integers,
    _outside,
    shapes,
)
from tests.embedding.plain_minilm import EPSILON
from tiermem.embedding.minilm import DIMENSIONS
from tiermem.embedding.tensors import LAYERS, quantize
from tiermem.reasoning.learned import graph as beside
from tiermem.reasoning.learned.graph import Precision, reader_initializers

if TYPE_CHECKING:
    from tiermem.embedding.tensors import Tensors

_OUTPUTS = {"span": 2, "suffices": 1, "bears": 1, "grade": 3}


def shipped(precision: Precision) -> Path:
    """The file of the package that holds the graph."""
    return Path(beside.__file__).with_name(f"reader_{precision}.onnx")


def built(precision: Precision) -> bytes:
    """The graph, made anew; ones stand for the weights."""
    whole = {name: np.ones(shape, np.float32) for name, shape in shapes()}
    heads = {
        f"heads.{name}.{of}": np.ones(shape, np.float32)
        for name, count in _OUTPUTS.items()
        for of, shape in (("weight", (count, DIMENSIONS)), ("bias", (count,)))
    }
    values = reader_initializers(whole, heads)
    return build_graph(quantize(values) if precision == "int8" else values)


def build_graph(tensors: Tensors) -> bytes:
    """The serialised model for these initializers, whose values come with the session."""
    layer = _layer_of_integers if "0.qkv.scale" in tensors else _layer
    nodes = [*_embed(), *(node for number in range(LAYERS) for node in layer(number)), *_heads()]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT32, ["texts", "pieces"])
        for name in ("ids", "segments", "mask")
    ]
    outputs = [
        helper.make_tensor_value_info("span", TensorProto.FLOAT, ["texts", "pieces", 2]),
        helper.make_tensor_value_info("whole", TensorProto.FLOAT, ["texts", 5]),
    ]
    first = helper.make_tensor("first", TensorProto.INT64, [], [0])
    outside = [_outside(name, array) for name, array in tensors.items()]
    made = helper.make_graph(nodes, "reader", inputs, outputs, [first, *outside])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(_MICROSOFT, 1)]
    model: bytes = helper.make_model(made, opset_imports=opsets, ir_version=8).SerializeToString()
    return model


def _embed() -> list[Any]:
    inputs = ["ids", "segments", "words", "positions", "types", "norm.gamma", "norm.beta", "mask"]
    return [
        helper.make_node(
            "EmbedLayerNormalization", inputs, ["0.in", "lengths"], domain=_MICROSOFT, epsilon=EPSILON
        )
    ]


def _heads() -> list[Any]:
    done = f"{LAYERS}.in"
    return [
        helper.make_node("MatMul", [done, "span.head"], ["span.sum"]),
        helper.make_node("Add", ["span.sum", "span.bias"], ["span"]),
        helper.make_node("Gather", [done, "first"], ["opening"], axis=1),
        helper.make_node("MatMul", ["opening", "whole.head"], ["whole.sum"]),
        helper.make_node("Add", ["whole.sum", "whole.bias"], ["whole"]),
    ]


if __name__ == "__main__":
    for name in ("fp32", "int8"):
        shipped(name).write_bytes(built(name))
