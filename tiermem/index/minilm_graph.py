"""The ONNX graph of all-MiniLM-L6-v2: token ids in, unit-length sentence vectors out.

The graph is a few kilobytes of structure; the weights stay in the mapped safetensors file and are
handed to the session beside it. So nothing is converted or cached, nothing can be half written, and
two processes share the pages of one file. Contributed ONNX Runtime operators (`com.microsoft`) do
one transformer layer in seven nodes, or in eight where the matrices are 8-bit integers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Weights = dict[str, NDArray[np.float32]]
    Tensors = Mapping[str, NDArray[np.float32] | NDArray[np.int8]]

WORDS = "embeddings.word_embeddings.weight"
LAYERS = 6
HEADS = 12
EPSILON = 1e-12
_MICROSOFT = "com.microsoft"
_STEPS = 64
"""Of an 8-bit weight, each way. 127 would overflow the 16-bit sums of processors without VNNI: one matrix
would then give different vectors on different machines."""


def read_safetensors(path: Path) -> Weights:
    """The float32 tensors of a safetensors file, mapped, not copied; `ValueError` when it is none."""
    import numpy as np

    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= size - 8:
            raise ValueError(f"{str(path)!r} is no safetensors file")
        header: dict[str, Any] = json.loads(file.read(length))
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + length)
    tensors: Weights = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            start, end = entry["data_offsets"]
            tensors[name] = np.asarray(data[start:end]).view(np.float32).reshape(entry["shape"])
    return tensors


def initializers(tensors: Weights) -> Weights:
    """The tensors as the graph wants them: matrices transposed, query, key and value side by side."""
    import numpy as np

    embeddings = "embeddings."
    ready = {
        "words": tensors[WORDS],
        # Every text is one segment, so its embedding is a constant that belongs to the positions.
        "positions": tensors[embeddings + "position_embeddings.weight"]
        + tensors[embeddings + "token_type_embeddings.weight"][0],
        "norm.gamma": tensors[embeddings + "LayerNorm.weight"],
        "norm.beta": tensors[embeddings + "LayerNorm.bias"],
    }
    for layer in range(LAYERS):
        source = f"encoder.layer.{layer}."
        parts = [source + f"attention.self.{part}." for part in ("query", "key", "value")]
        ready[f"{layer}.qkv.w"] = np.concatenate([tensors[part + "weight"].T for part in parts], axis=1)
        ready[f"{layer}.qkv.b"] = np.concatenate([tensors[part + "bias"] for part in parts])
        for name, part in (("mix", "attention.output"), ("out", "output")):
            ready[f"{layer}.{name}.w"] = tensors[f"{source}{part}.dense.weight"].T
            ready[f"{layer}.{name}.b"] = tensors[f"{source}{part}.dense.bias"]
            ready[f"{layer}.{name}.gamma"] = tensors[f"{source}{part}.LayerNorm.weight"]
            ready[f"{layer}.{name}.beta"] = tensors[f"{source}{part}.LayerNorm.bias"]
        ready[f"{layer}.up.w"] = tensors[source + "intermediate.dense.weight"].T
        ready[f"{layer}.up.b"] = tensors[source + "intermediate.dense.bias"]
    return {name: np.ascontiguousarray(array) for name, array in ready.items()}


def quantized(tensors: Weights) -> Tensors:
    """The same with the matrices of the layers as 8-bit integers, a scale for every column beside them."""
    import numpy as np

    ready: dict[str, NDArray[np.float32] | NDArray[np.int8]] = {}
    for name, array in tensors.items():
        if not name.endswith(".w"):
            ready[name] = array
            continue
        scale = np.abs(array).max(axis=0) / _STEPS
        ready[name] = np.round(array / scale).astype(np.int8)
        ready[name[:-1] + "scale"] = scale.astype(np.float32)
    return ready


def build_graph(tensors: Tensors) -> bytes:
    """The serialised model for these initializers, whose values come with the session."""
    from onnx import TensorProto, helper

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
    from onnx import TensorProto, helper

    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    tensor = TensorProto(name=name, data_type=kind, dims=array.shape)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="handed over with the session")
    return tensor


def _embed() -> list[Any]:
    from onnx import helper

    inputs = ["ids", "", "words", "positions", "", "norm.gamma", "norm.beta", "mask"]
    return [
        helper.make_node(
            "EmbedLayerNormalization", inputs, ["0.in", "lengths"], domain=_MICROSOFT, epsilon=EPSILON
        )
    ]


def _layer(n: int) -> list[Any]:
    from onnx import helper

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
    from onnx import helper

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
    from onnx import helper

    inputs = [f"{n}.{name}", skip, f"{n}.{name}.gamma", f"{n}.{name}.beta", f"{n}.{name}.b"]
    return helper.make_node("SkipLayerNormalization", inputs, [output], domain=_MICROSOFT, epsilon=EPSILON)


def _pool() -> list[Any]:
    """Mean over the real tokens, then unit length."""
    from onnx import TensorProto, helper

    return [
        helper.make_node("Cast", ["mask"], ["weights"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["weights", "last_axis"], ["column"]),
        helper.make_node("Mul", [f"{LAYERS}.in", "column"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "token_axis"], ["sum"], keepdims=0),
        helper.make_node("LpNormalization", ["sum"], ["vectors"], axis=-1, p=2),
    ]
