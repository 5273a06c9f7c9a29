"""The file that holds what a reader learned: factors and heads, to be merged onto the installed weights.

A safetensors file. Matrices are 8-bit integers with a scale for every row; what is small is 32-bit floats.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tiermem.embedding.tensors import LAYERS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tiermem.embedding.tensors import Weights

FACTOR: Final = 2.0
"""What the product of two factors is multiplied with, in training as here."""
_SMALL: Final = 4096
"""Numbers up to which a tensor is kept as it is."""
_STEPS: Final = 127
_SCALE: Final = ":scale"
_PARTS: Final = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "mix": "attention.output.dense",
    "up": "intermediate.dense",
    "out": "output.dense",
}
_NORMS: Final = {"mixed": "attention.output.LayerNorm", "done": "output.LayerNorm"}
HEADS: Final = ("span", "suffices", "bears", "grade")


def pack(learned: Mapping[str, NDArray[np.float32]], header: Mapping[str, str]) -> bytes:
    """The tensors as the bytes of a file; `header` are texts kept with them."""
    import numpy as np

    ready: dict[str, NDArray[Any]] = {}
    for name, array in sorted(learned.items()):
        if array.ndim < 2 or array.size <= _SMALL:
            ready[name] = array.astype(np.float32)
            continue
        scale = np.maximum(np.abs(array).max(axis=1), 1e-12) / _STEPS
        ready[name] = np.round(array / scale[:, None]).astype(np.int8)
        ready[name + _SCALE] = scale.astype(np.float32)
    described: dict[str, Any] = {"__metadata__": dict(header)}
    place = 0
    for name, array in ready.items():
        kind = "I8" if array.dtype == np.int8 else "F32"
        end = place + array.nbytes
        described[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [place, end]}
        place = end
    return _headed(described, b"".join(one.tobytes() for one in ready.values()))


def _described(raw: bytes) -> tuple[dict[str, Any], bytes]:
    """What the head of the file says, and the numbers behind it."""
    length = int.from_bytes(raw[:8], "little")
    if not 2 <= length <= len(raw) - 8:
        raise ValueError("no file of a reader's factors")
    described: dict[str, Any] = json.loads(raw[8 : 8 + length])
    return described, raw[8 + length :]


def _headed(described: Mapping[str, Any], numbers: bytes) -> bytes:
    text = json.dumps(described, sort_keys=True).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + numbers


def read_head(path: Path) -> bytes:
    """The head of such a file, without the numbers behind it: `texts_of` takes it like the whole."""
    with path.open("rb") as file:
        length = file.read(8)
        return length + file.read(int.from_bytes(length, "little"))


def texts_of(raw: bytes) -> dict[str, str]:
    """The texts kept with the numbers; `ValueError` where it is no such file."""
    texts: dict[str, str] = _described(raw)[0].get("__metadata__", {})
    return texts


def with_texts(raw: bytes, texts: Mapping[str, str]) -> bytes:
    """The file with these texts beside those that are kept with it; `ValueError` where it is no such file."""
    described, numbers = _described(raw)
    described["__metadata__"] = {**described.get("__metadata__", {}), **texts}
    return _headed(described, numbers)


def unpack(raw: bytes) -> tuple[Weights, dict[str, str]]:
    """The tensors in 32 bits, and the texts kept with them; `ValueError` where it is no such file."""
    import numpy as np

    described, numbers = _described(raw)
    header: dict[str, str] = described.pop("__metadata__", {})
    read: dict[str, NDArray[Any]] = {}
    for name, entry in described.items():
        start, end = entry["data_offsets"]
        kind = np.int8 if entry["dtype"] == "I8" else np.float32
        read[name] = np.frombuffer(numbers[start:end], kind).reshape(entry["shape"])
    tensors = {
        name: array.astype(np.float32) * read[name + _SCALE][:, None] if array.dtype == np.int8 else array
        for name, array in read.items()
        if not name.endswith(_SCALE)
    }
    return tensors, header


def merged(installed: Weights, learned: Weights) -> Weights:
    """The installed weights with what was learned: whole matrices where those were learned, else factors."""
    whole = dict(installed)
    whole["embeddings.token_type_embeddings.weight"] = learned["types"]
    whole["embeddings.LayerNorm.weight"] = learned["norm.weight"]
    whole["embeddings.LayerNorm.bias"] = learned["norm.bias"]
    for layer in range(LAYERS):
        at, mine = f"encoder.layer.{layer}.", f"layers.{layer}."
        for part, name in _PARTS.items():
            whole[f"{at}{name}.weight"] = _matrix(installed[f"{at}{name}.weight"], learned, mine + part)
            whole[f"{at}{name}.bias"] = learned[f"{mine}{part}.bias"]
        for part, name in _NORMS.items():
            for of in ("weight", "bias"):
                whole[f"{at}{name}.{of}"] = learned[f"{mine}{part}.{of}"]
    return whole


def _matrix(installed: NDArray[np.float32], learned: Weights, name: str) -> NDArray[np.float32]:
    if f"{name}.weight" in learned:
        return learned[f"{name}.weight"]
    return installed + FACTOR * (learned[f"{name}.up"] @ learned[f"{name}.down"])
