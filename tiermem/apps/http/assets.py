"""The page to look at a memory with: files that are shipped as they are, and the headers that confine them.

The page comes from here alone and asks nothing of anywhere else: its policy lets no other script run and no
text become HTML. It holds no words of a memory, so all who reach the server may read it; what it shows, it
asks the operations for, with the reader's key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
INDEX = "index.html"
HEADERS: Mapping[str, str] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}
"""Sent with each file of the page."""


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page: its bytes, what they are, and a tag that names them."""

    content: bytes
    media_type: str
    tag: str


@cache
def assets() -> Mapping[str, Asset]:
    """Every file of the page, by name."""
    folder = files(__package__).joinpath("page")
    return {one.name: _asset(one.name, one.read_bytes()) for one in folder.iterdir() if one.is_file()}


def _asset(name: str, content: bytes) -> Asset:
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    return Asset(content, _TYPES[name.rpartition(".")[2]], tag)
