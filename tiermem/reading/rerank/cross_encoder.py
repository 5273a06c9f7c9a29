"""A cross-encoder on ONNX Runtime: a model that reads question and passage together. None comes with TierMem.

Its directory holds `model.onnx` (token ids in, one number a pair out, as cross-encoders are exported)
and `tokenizer.json`. A page longer than the model reads at once is read in windows, and as good as its best.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from anyio import to_thread

from tiermem.embedding.onnx import session, tokenizer
from tiermem.embedding.weights import check_installed
from tiermem.errors import EmbedderUnavailable, InvalidInput, ModelUnavailable
from tiermem.reading.rerank.interface import FoundPage, RerankerRequest
from tiermem.text.question import Question
from tiermem.text.unicode import join_surrogates

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
WORD_PIECES = 512
"""What is read at once, question and passage together."""
_OVERLAP = 64
"""Word pieces that two windows of a long passage share."""
_QUESTION = 400
"""Characters of the question that are read."""
_BATCH = 16


class CrossEncoder:
    """Judges pairs of question and passage with the model in a directory; it is loaded for the first of them.

    Raises `InvalidInput` where the directory does not hold the two files, or packages are not installed.
    """

    def __init__(self, directory: str | Path, *, threads: int = 2) -> None:
        self._directory = Path(directory).expanduser()
        self._threads = threads
        self._loading = threading.Lock()
        self._loaded: _Pairs | None = None
        missing = [name for name in (MODEL, TOKENIZER) if not (self._directory / name).is_file()]
        if missing:
            raise InvalidInput(
                f"reranker: {str(directory)!r} does not hold {' and '.join(missing)}; name a directory with "
                "an exported cross-encoder and its tokenizer"
            )
        try:
            check_installed()
        except EmbedderUnavailable as error:
            raise InvalidInput(f"reranker: {error}") from error

    async def score(self, question: Question, found: Sequence[FoundPage]) -> Sequence[float]:
        """See `Reranker.score`; `ModelUnavailable` where the model cannot be loaded or run."""
        try:
            return await to_thread.run_sync(self._score, question.text, [one.page.text for one in found])
        except Exception as error:
            raise ModelUnavailable(
                f"the cross-encoder in {str(self._directory)!r}: {type(error).__name__}: {error}"
            ) from error

    def _score(self, question: str, passages: Sequence[str]) -> list[float]:
        with self._loading:
            if self._loaded is None:
                self._loaded = _Pairs(self._directory, self._threads)
        return self._loaded.score_passages(question[:_QUESTION], passages)


class _Pairs:
    """Tokenizer and session of one directory."""

    def __init__(self, directory: Path, threads: int) -> None:
        self._tokenizer = tokenizer(directory / TOKENIZER)
        self._tokenizer.enable_truncation(WORD_PIECES, stride=_OVERLAP, strategy="only_second")
        self._tokenizer.no_padding()
        self._session = session(str(directory / MODEL), threads=threads)
        self._inputs = {one.name: one.type for one in self._session.get_inputs()}

    def score_passages(self, question: str, passages: Sequence[str]) -> list[float]:
        """The model's number for each passage: that of its best window."""
        windows = [(at, one) for at, text in enumerate(passages) for one in self._windows(question, text)]
        best: dict[int, float] = {}
        for start in range(0, len(windows), _BATCH):
            batch = windows[start : start + _BATCH]
            for (at, _), number in zip(batch, self._run([one for _, one in batch]), strict=True):
                best[at] = max(number, best.get(at, number))
        return [best[at] for at in range(len(passages))]

    def _windows(self, question: str, text: str) -> Iterator[Any]:
        encoded = self._tokenizer.encode(join_surrogates(question), join_surrogates(text))
        yield encoded
        yield from encoded.overflowing

    def _run(self, windows: Sequence[Any]) -> list[float]:
        import numpy as np

        shape = (len(windows), max(len(one.ids) for one in windows))
        given = {
            "input_ids": np.zeros(shape, np.int64),
            "attention_mask": np.zeros(shape, np.int64),
            "token_type_ids": np.zeros(shape, np.int64),
        }
        for row, one in enumerate(windows):
            given["input_ids"][row, : len(one.ids)] = one.ids
            given["attention_mask"][row, : len(one.ids)] = 1
            given["token_type_ids"][row, : len(one.ids)] = one.type_ids
        unknown = self._inputs.keys() - given.keys()
        if unknown:
            raise ValueError(f"the model wants {', '.join(sorted(unknown))}, which a cross-encoder does not")
        types = {"tensor(int32)": np.int32}
        fed = {name: given[name].astype(types.get(kind, np.int64)) for name, kind in self._inputs.items()}
        numbers: list[list[float]] = self._session.run(None, fed)[0].reshape(len(windows), -1).tolist()
        if any(len(row) != 1 for row in numbers):
            raise ValueError("the model gives several numbers a pair: it is a classifier of several classes")
        return [row[0] for row in numbers]


async def open_cross_encoder(request: RerankerRequest) -> CrossEncoder:
    """`cross-encoder:` and the directory."""
    return CrossEncoder(request.detail)
