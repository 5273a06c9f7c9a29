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
SCALE: Final = ":scale"
"""What is added to the name of a matrix for the name of its scales."""
_PARTS: Final = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "mix": "attention.output.dense",
    "up": "intermediate.dense",
    "out": "output.dense",
}
_NORMS: Final = {"mixed": "attention.output.LayerNorm", "done": "output.LayerNorm"}
HEADS: Final = {"span": 2, "suffices": 1, "bears": 1, "grade": 3}
"""The heads of a reader, and how many numbers each gives."""
SHIPPED: Final = Path(__file__).with_name("reader.safetensors")
"""The reader that comes with the package."""
SHIPPED_SHA256: Final = "4459b294b8002dd9e54df60d6c50b9b183d947e5bfeee653a3e4dc2053b871d5"
_LONGEST_HEAD: Final = 1 << 20
"""Bytes of the head of a file at most."""


def read_header(raw: bytes) -> tuple[dict[str, Any], bytes]:
    """What the head of the file says, and the numbers behind it."""
    length = int.from_bytes(raw[:8], "little")
    if not 2 <= length <= min(len(raw) - 8, _LONGEST_HEAD):
        raise ValueError("no file of a reader's factors")
    try:
        described = json.loads(raw[8 : 8 + length])
    except RecursionError as error:
        raise ValueError("its head is nested too deep") from error
    if not isinstance(described, dict) or not _are_texts(described.get("__metadata__", {})):
        raise ValueError("its head names no tensors")
    return described, raw[8 + length :]


def _are_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _tensor(name: str, entry: object, numbers: bytes) -> NDArray[Any]:
    """One tensor as it is stored; `ValueError` names it where its description does not fit the numbers."""
    import numpy as np

    try:
        start, end = entry["data_offsets"]  # type: ignore[index]
        kind = {"I8": np.int8, "F32": np.float32}[entry["dtype"]]  # type: ignore[index]
        shape = tuple(entry["shape"])  # type: ignore[index]
        is_inside = 0 <= start <= end <= len(numbers) and min(shape, default=0) > 0
        return np.frombuffer(memoryview(numbers)[start:end] if is_inside else b"", kind).reshape(shape)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"its tensor {name!r} cannot be read: {error}") from error


def read_head(path: Path) -> bytes:
    """The head of such a file, without the numbers behind it: `texts_of` takes it like the whole."""
    with path.open("rb") as file:
        length = file.read(8)
        return length + file.read(min(int.from_bytes(length, "little"), _LONGEST_HEAD))


def texts_of(raw: bytes) -> dict[str, str]:
    """The texts kept with the numbers; `ValueError` where it is no such file."""
    texts: dict[str, str] = read_header(raw)[0].get("__metadata__", {})
    return texts


def unpack(raw: bytes) -> tuple[Weights, dict[str, str]]:
    """The tensors in 32 bits, and the texts kept with them; `ValueError` where it is no such file."""
    described, numbers = read_header(raw)
    header: dict[str, str] = described.pop("__metadata__", {})
    read = {name: _tensor(name, entry, numbers) for name, entry in described.items()}
    if sum(array.nbytes for array in read.values()) > len(numbers):
        raise ValueError("its tensors overlap")
    tensors = {name: _scale_tensor(name, read) for name in read if not name.endswith(SCALE)}
    return tensors, header


def _scale_tensor(name: str, read: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
    """One tensor in 32 bits; `ValueError` where it holds a number that is not finite."""
    import numpy as np

    array = read[name]
    if array.dtype == np.int8:
        scale = read.get(name + SCALE)
        if scale is None or array.ndim != 2 or scale.shape != array.shape[:1]:
            raise ValueError(f"its tensor {name!r} has no scale for every row")
        with np.errstate(over="ignore", invalid="ignore"):
            array = array.astype(np.float32) * scale[:, None]
    if not np.isfinite(array).all():
        raise ValueError(f"its tensor {name!r} holds a number that is not finite")
    return array


def merge_weights(installed: Weights, learned: Weights) -> Weights:
    """The installed weights with what was learned: whole matrices where those were learned, else factors."""
    whole = dict(installed)
    width = len(installed["embeddings.LayerNorm.bias"])
    for head, count in HEADS.items():
        for of, shape in (("weight", (count, width)), ("bias", (count,))):
            _check_shape(f"heads.{head}.{of}", learned[f"heads.{head}.{of}"], shape)
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
    for name, array in whole.items():
        _check_shape(name, array, installed[name].shape)
    return whole


def _check_shape(name: str, array: NDArray[np.float32], shape: tuple[int, ...]) -> None:
    """Raise `ValueError` for an array of another shape."""
    if array.shape != shape:
        raise ValueError(f"{name!r} has the shape {list(array.shape)} in place of {list(shape)}")


def _matrix(installed: NDArray[np.float32], learned: Weights, name: str) -> NDArray[np.float32]:
    if f"{name}.weight" in learned:
        return learned[f"{name}.weight"]
    up, down = learned[f"{name}.up"], learned[f"{name}.down"]
    _check_shape(f"{name}.down", down, (up.shape[-1], installed.shape[1]))
    _check_shape(f"{name}.up", up, (len(installed), len(down)))
    return installed + FACTOR * (up @ down)
