"""The local embedder: all-MiniLM-L6-v2 on ONNX Runtime, 384 dimensions, no network, no PyTorch.

A text's vector does not depend on the texts embedded with it beyond the last float32 digits (the
mask gives padding a weight of exactly zero; only the order of sums may differ). Every load embeds
two sentences and compares them with reference vectors, so damaged weights are never used.

With 8-bit integers it is two to four times as fast, and its vectors are others (cosine .99 with those of
`fp32`): an index is made with one or the other.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal
from weakref import WeakValueDictionary

from anyio import to_thread

from tiermem.embedding.interface import EmbedderRequest, Lexicon
from tiermem.embedding.onnx import session, tokenizer
from tiermem.embedding.tensors import WORDS, initializers, quantize, read_safetensors
from tiermem.embedding.weights import TOKENIZER, WEIGHTS, find_weights
from tiermem.embedding.words import WordPieces
from tiermem.errors import EmbedderUnavailable
from tiermem.llm.meter import pay
from tiermem.model import Usage
from tiermem.text.unicode import join_surrogates

DIMENSIONS = 384
WORD_PIECES = 256
"""What the model was trained to read at once; words beyond it do not move the vector."""

Precision = Literal["fp32", "int8"]

_BATCH = 16
"""Texts in one run of the model, of about the same length."""
_CHARACTERS = 8_000
"""Characters of a text that are cut into word pieces: of any prose more than the model reads."""
_CLOSE_ENOUGH: dict[Precision, float] = {"fp32": 0.9999, "int8": 0.98}
"""Cosine with the published vector of a known text from which weights are the right ones."""


class MiniLMEmbedder:
    """Embeds on this machine; the weights are looked for and loaded at the first text.

    `weights` is a directory with `model.safetensors` and `tokenizer.json`; without it they are
    found as `weights` says. `precision` is that of the matrices. Safe from many threads and
    event loops.
    """

    dimensions = DIMENSIONS

    def __init__(
        self,
        weights: str | Path | None = None,
        *,
        precision: Precision = "fp32",
        threads: int = 2,
    ) -> None:
        self._weights = weights
        self._precision = precision
        self._threads = threads
        self._loading = threading.Lock()
        self._loaded: _Session | None = None

    @property
    def name(self) -> str:
        """Part of every index made with it."""
        return "all-MiniLM-L6-v2" if self._precision == "fp32" else f"all-MiniLM-L6-v2-{self._precision}"

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Unit-length vectors in order; `EmbedderUnavailable` when there are no usable weights."""
        if not texts:
            return []
        started = time.monotonic()
        loaded = await to_thread.run_sync(self._load)
        encoded = await to_thread.run_sync(loaded.encode, texts)
        vectors: dict[int, list[float]] = {}
        for batch in _batches(encoded):
            rows = await to_thread.run_sync(loaded.vectors, [encoded[at] for at in batch])
            vectors.update(zip(batch, rows, strict=True))
        tokens = sum(len(ids) for ids in encoded)
        pay(Usage(embedding_tokens=tokens, seconds=time.monotonic() - started, cost=0.0))
        return [vectors[at] for at in range(len(texts))]

    async def lexicon(self) -> Lexicon:
        """Its word pieces; `EmbedderUnavailable` when there are no usable weights."""
        loaded = await to_thread.run_sync(self._load)
        return await to_thread.run_sync(loaded.lexicon)

    def check(self) -> None:
        """Find the weights, which may download them; `EmbedderUnavailable` when there are none."""
        with self._loading:
            find_weights(self._weights)

    def _load(self) -> _Session:
        with self._loading:
            if self._loaded is None:
                self._loaded = _Session(find_weights(self._weights), self._precision, self._threads)
            return self._loaded


_in_use: WeakValueDictionary[tuple[Path | None, Precision], MiniLMEmbedder] = WeakValueDictionary()
_opening = threading.Lock()


async def open_minilm(request: EmbedderRequest) -> MiniLMEmbedder:
    """`minilm` or `minilm:int8`: memories of one process share one, for it is dear to load."""
    precision: Precision = "int8" if request.detail else "fp32"
    key = (request.weights, precision)
    with _opening:
        embedder = _in_use.get(key) or MiniLMEmbedder(request.weights, precision=precision)
        _in_use[key] = embedder
    return embedder


def _batches(encoded: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Positions in groups of similar length, so that little of a batch is padding."""
    by_length = sorted(range(len(encoded)), key=lambda at: len(encoded[at]))
    return (by_length[start : start + _BATCH] for start in range(0, len(by_length), _BATCH))


class _Session:
    """Tokenizer and session of one directory of weights, checked against the reference vectors."""

    def __init__(self, directory: Path, precision: Precision, threads: int) -> None:
        self._directory = directory
        self._precision = precision
        self._lexicon: WordPieces | None = None
        self._making = threading.Lock()
        try:
            self._tokenizer = tokenizer(directory / TOKENIZER)
            self._tokenizer.enable_truncation(WORD_PIECES)
            self._tokenizer.no_padding()
            self._session = _session(directory / WEIGHTS, precision, threads)
            likeness = self._likeness()
        except Exception as error:
            raise EmbedderUnavailable(
                f"the weights in {str(directory)!r} cannot be loaded: {error}"
            ) from error
        if not likeness >= _CLOSE_ENOUGH[precision]:
            raise EmbedderUnavailable(
                f"the weights in {str(directory)!r} are not those of all-MiniLM-L6-v2: they embed a "
                f"reference sentence with cosine {likeness:.5f}; delete them, or name another directory"
            )

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        # One by one: `encode_batch` starts threads of its own and complains in forked processes.
        return [self._tokenizer.encode(join_surrogates(text[:_CHARACTERS])).ids for text in texts]

    def vectors(self, encoded: Sequence[Sequence[int]]) -> list[list[float]]:
        if self._precision == "fp32":
            return self._embed_batch(encoded)
        # The scale of 8-bit numbers is that of everything embedded at once: alone, a text has its own.
        return [vector for ids in encoded for vector in self._embed_batch([ids])]

    def _embed_batch(self, encoded: Sequence[Sequence[int]]) -> list[list[float]]:
        import numpy as np

        width = max(len(ids) for ids in encoded)
        ids = np.zeros((len(encoded), width), np.int32)
        mask = np.zeros_like(ids)
        for row, pieces in enumerate(encoded):
            ids[row, : len(pieces)] = pieces
            mask[row, : len(pieces)] = 1
        found: list[list[float]] = self._session.run(None, {"ids": ids, "mask": mask})[0].tolist()
        return found

    def lexicon(self) -> WordPieces:
        with self._making:
            if self._lexicon is None:
                whole = tokenizer(self._directory / TOKENIZER)
                whole.no_truncation()
                whole.no_padding()
                rows = read_safetensors(self._directory / WEIGHTS)[WORDS]
                self._lexicon = WordPieces(
                    lambda text: whole.encode(join_surrogates(text), add_special_tokens=False).ids, rows
                )
            return self._lexicon

    def _likeness(self) -> float:
        """The smallest cosine between a reference vector and what this session makes of its sentence."""
        reference = json.loads(Path(__file__).with_name("minilm_reference.json").read_text())
        vectors = self.vectors(self.encode(list(reference)))
        return min(
            math.fsum(a * b for a, b in zip(vector, expected, strict=True))
            for vector, expected in zip(vectors, reference.values(), strict=True)
        )


def _session(weights: Path, precision: Precision, threads: int) -> Any:
    whole = initializers(read_safetensors(weights))
    graph = Path(__file__).with_name(f"minilm_{precision}.onnx").read_bytes()
    arrays = quantize(whole) if precision == "int8" else whole
    return session(graph, threads=threads, initializers=arrays)
