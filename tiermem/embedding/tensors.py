"""The weights of all-MiniLM-L6-v2 as the graph beside this file wants them.

The graph, `minilm_fp32.onnx` or `minilm_int8.onnx`, is a few kilobytes of structure without values; the
weights stay in the mapped safetensors file and are handed to the session. So nothing is converted or
cached, nothing can be half written, and two processes share the pages of one file. How the graphs are made:
`tests/embedding/minilm_graph.py`.
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


def quantize(tensors: Weights) -> Tensors:
    """The same with the matrices of the layers as 8-bit integers, with a scale for every column."""
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
