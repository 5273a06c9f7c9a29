"""How text is measured in tokens: tiktoken where its ranks lie on this machine, else an estimate.

tiktoken fetches its ranks at first use, without a time-out, and deletes a cached file whose hash
differs. So its own cache is looked at first, and tiktoken is only asked when that file is whole.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from pagestore import EstimateCounter, TokenCounter

_URL = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"


class TiktokenCounter:
    """Counts with tiktoken's cl100k_base, the encoding of the OpenAI embedding models."""

    def __init__(self, encoding: Any) -> None:
        self._encoding = encoding

    @property
    def name(self) -> str:
        """The encoding's name."""
        return "cl100k_base"

    def count(self, text: str) -> int:
        """Tokens of `text`; special tokens in it are counted as ordinary words."""
        return len(self._encoding.encode(text.encode(errors="replace").decode(), disallowed_special=()))


@cache
def token_counter() -> TokenCounter:
    """The best counter that needs no network."""
    if not _ranks_are_here():
        return EstimateCounter()
    import tiktoken

    return TiktokenCounter(tiktoken.get_encoding("cl100k_base"))


def _ranks_are_here() -> bool:
    named = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    folder = Path(named) if named is not None else Path(tempfile.gettempdir()) / "data-gym-cache"
    # The file is named by the SHA-1 of its address: a name, not a guard.
    file = folder / hashlib.sha1(_URL.encode(), usedforsecurity=False).hexdigest()
    return bool(named != "" and file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == _SHA256)
