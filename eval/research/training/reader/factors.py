"""Writing the file of what a reader learned, which `tiermem.reasoning.learned.factors` reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tiermem.reasoning.learned.factors import SCALE, read_header

_SMALL: Final = 4096
"""Numbers up to which a tensor is kept as it is."""
_STEPS: Final = 127


def pack(learned: Mapping[str, NDArray[np.float32]], header: Mapping[str, str]) -> bytes:
    """The tensors as the bytes of a file; `header` are texts kept with them."""
    ready: dict[str, NDArray[Any]] = {}
    for name, array in sorted(learned.items()):
        if array.ndim < 2 or array.size <= _SMALL:
            ready[name] = array.astype(np.float32)
            continue
        scale = np.maximum(np.abs(array).max(axis=1), 1e-12) / _STEPS
        ready[name] = np.round(array / scale[:, None]).astype(np.int8)
        ready[name + SCALE] = scale.astype(np.float32)
    described: dict[str, Any] = {"__metadata__": dict(header)}
    place = 0
    for name, array in ready.items():
        kind = "I8" if array.dtype == np.int8 else "F32"
        end = place + array.nbytes
        described[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [place, end]}
        place = end
    return _with_header(described, b"".join(one.tobytes() for one in ready.values()))


def with_texts(raw: bytes, texts: Mapping[str, str]) -> bytes:
    """The file with these texts beside those that are kept with it; `ValueError` where it is no such file."""
    described, numbers = read_header(raw)
    described["__metadata__"] = {**described.get("__metadata__", {}), **texts}
    return _with_header(described, numbers)


def _with_header(described: Mapping[str, Any], numbers: bytes) -> bytes:
    text = json.dumps(described, sort_keys=True).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + numbers
