"""Tokenizers and ONNX Runtime: what runs a model on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiermem.embedding.tensors import Tensors


def tokenizer(file: Path) -> Any:
    """The tokenizer of a `tokenizer.json`, as it is written there."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(file))


def session(model: bytes | str, *, threads: int, initializers: Tensors | None = None) -> Any:
    """A session on the processor for a serialised model or its file, with tensors that are not in it."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Threads that spin while they wait take the cores other work needs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if initializers:
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in initializers.values()]
        options.add_external_initializers(list(initializers), values)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
