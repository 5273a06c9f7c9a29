"""Makes the ONNX graphs of all-MiniLM-L6-v2: token ids in, unit-length sentence vectors out.

`python -m tests.embedding.minilm_graph` writes them into the package again; it needs `onnx`, which nobody who
uses the package does, and no weights: of those only names and shapes are in a graph. Contributed ONNX Runtime
operators (`com.microsoft`) do one transformer layer in seven nodes, or in eight where the matrices are 8-bit
integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

from tests.embedding.plain_minilm import EPSILON, HEADS
from tiermem.embedding import tensors as beside
from tiermem.embedding.minilm import DIMENSIONS, Precision
from tiermem.embedding.tensors import LAYERS, initializers, quantize

if TYPE_CHECKING:
    from tiermem.embedding.tensors import Tensors

WORDS = 30_522
POSITIONS = 512
SEGMENTS = 2
WIDE = 4 * DIMENSIONS
_MICROSOFT = "com.microsoft"


def shipped(precision: Precision) -> Path:
    """The file of the package that holds the graph."""
    return Path(beside.__file__).with_name(f"minilm_{precision}.onnx")


def built(precision: Precision) -> bytes:
    """The graph, made anew; ones stand for the weights."""
    whole = initializers({name: np.ones(shape, np.float32) for name, shape in shapes()})
    return build_graph(quantize(whole) if precision == "int8" else whole)


def shapes() -> Iterator[tuple[str, tuple[int, ...]]]:
    """The tensors of the model as its file of weights names them, those that the graph uses."""
    tables = {"word": WORDS, "position": POSITIONS, "token_type": SEGMENTS}
    for name, rows in tables.items():
        yield f"embeddings.{name}_embeddings.weight", (rows, DIMENSIONS)
    yield from _both("embeddings.LayerNorm", (DIMENSIONS,))
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        for part in ("query", "key", "value"):
            yield from _both(f"{at}attention.self.{part}", (DIMENSIONS, DIMENSIONS))
        yield from _both(f"{at}attention.output.dense", (DIMENSIONS, DIMENSIONS))
        yield from _both(f"{at}attention.output.LayerNorm", (DIMENSIONS,))
        yield from _both(f"{at}intermediate.dense", (WIDE, DIMENSIONS))
        yield from _both(f"{at}output.dense", (DIMENSIONS, WIDE))
        yield from _both(f"{at}output.LayerNorm", (DIMENSIONS,))


def _both(name: str, shape: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """A weight and its bias, which is as long as the weight has rows."""
    yield f"{name}.weight", shape
    yield f"{name}.bias", shape[:1]


def build_graph(tensors: Tensors) -> bytes:
    """The serialised model for these initializers, whose values come with the session."""
    layer = _layer_of_integers if "0.qkv.scale" in tensors else _layer
    nodes = [*_embed(), *(node for number in range(LAYERS) for node in layer(number)), *_pool()]
    small = [
        helper.make_tensor("last_axis", TensorProto.INT64, [1], [2]),
        helper.make_tensor("token_axis", TensorProto.INT64, [1], [1]),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT32, ["texts", "tokens"])
        for name in ("ids", "mask")
    ]
    width = tensors["norm.beta"].shape[0]
    output = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", width])
    outside = [_outside(name, array) for name, array in tensors.items()]
    graph = helper.make_graph(nodes, "all-MiniLM-L6-v2", inputs, [output], [*small, *outside])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(_MICROSOFT, 1)]
    model: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    return model


def _outside(name: str, array: NDArray[Any]) -> Any:
    """A tensor whose values are handed over at run time."""
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    tensor = TensorProto(name=name, data_type=kind, dims=array.shape)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="handed over with the session")
    return tensor


def _embed() -> list[Any]:
    inputs = ["ids", "", "words", "positions", "", "norm.gamma", "norm.beta", "mask"]
    return [
        helper.make_node(
            "EmbedLayerNormalization", inputs, ["0.in", "lengths"], domain=_MICROSOFT, epsilon=EPSILON
        )
    ]


def _layer(n: int) -> list[Any]:
    return [
        helper.make_node(
            "Attention",
            [f"{n}.in", f"{n}.qkv.w", f"{n}.qkv.b", "mask"],
            [f"{n}.heads"],
            domain=_MICROSOFT,
            num_heads=HEADS,
        ),
        helper.make_node("MatMul", [f"{n}.heads", f"{n}.mix.w"], [f"{n}.mix"]),
        _norm(n, "mix", f"{n}.in", f"{n}.mixed"),
        helper.make_node("MatMul", [f"{n}.mixed", f"{n}.up.w"], [f"{n}.up"]),
        helper.make_node("BiasGelu", [f"{n}.up", f"{n}.up.b"], [f"{n}.gelu"], domain=_MICROSOFT),
        helper.make_node("MatMul", [f"{n}.gelu", f"{n}.out.w"], [f"{n}.out"]),
        _norm(n, "out", f"{n}.mixed", f"{n + 1}.in"),
    ]


def _layer_of_integers(n: int) -> list[Any]:
    def multiplied(source: str, name: str) -> Any:
        matrix = [f"{n}.{name}.w", f"{n}.{name}.scale"]
        return helper.make_node(
            "DynamicQuantizeMatMul", [source, *matrix], [f"{n}.{name}"], domain=_MICROSOFT
        )

    integers, scale, zero = f"{n}.in.8", f"{n}.in.scale", f"{n}.in.zero"
    return [
        helper.make_node("DynamicQuantizeLinear", [f"{n}.in"], [integers, scale, zero]),
        helper.make_node(
            "QAttention",
            [integers, f"{n}.qkv.w", f"{n}.qkv.b", scale, f"{n}.qkv.scale", "mask", zero],
            [f"{n}.heads"],
            domain=_MICROSOFT,
            num_heads=HEADS,
        ),
        multiplied(f"{n}.heads", "mix"),
        _norm(n, "mix", f"{n}.in", f"{n}.mixed"),
        multiplied(f"{n}.mixed", "up"),
        helper.make_node("BiasGelu", [f"{n}.up", f"{n}.up.b"], [f"{n}.gelu"], domain=_MICROSOFT),
        multiplied(f"{n}.gelu", "out"),
        _norm(n, "out", f"{n}.mixed", f"{n + 1}.in"),
    ]


def _norm(n: int, name: str, skip: str, output: str) -> Any:
    """Layer `n`: what `name` gives, its bias and what skipped it, added and normalised."""
    inputs = [f"{n}.{name}", skip, f"{n}.{name}.gamma", f"{n}.{name}.beta", f"{n}.{name}.b"]
    return helper.make_node("SkipLayerNormalization", inputs, [output], domain=_MICROSOFT, epsilon=EPSILON)


def _pool() -> list[Any]:
    """Mean over the real tokens, then unit length."""
    return [
        helper.make_node("Cast", ["mask"], ["weights"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["weights", "last_axis"], ["column"]),
        helper.make_node("Mul", [f"{LAYERS}.in", "column"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "token_axis"], ["sum"], keepdims=0),
        helper.make_node("LpNormalization", ["sum"], ["vectors"], axis=-1, p=2),
    ]


if __name__ == "__main__":
    for name in ("fp32", "int8"):
        shipped(name).write_bytes(built(name))
