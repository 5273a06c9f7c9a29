"""Knows the repository of a directory: worktrees and clones of one repository have the same id.

Nothing is run and nothing is written: `.git`, `commondir` and `config` are read.
"""

from __future__ import annotations

import configparser
import hashlib
from functools import lru_cache
from itertools import chain
from pathlib import Path

_NETWORK = ("//", "\\\\")
"""How paths of a network begin: they are not looked at."""


@lru_cache(maxsize=4096)
def repository_of(directory: str | None, remote: str | None = None) -> str | None:
    """Return the id of the repository of a directory; `None` where none is known.

    It is a hash of the address of the remote `origin`: of `remote` if given, else as the repository on this
    machine has it. A repository without a remote is known by its git directory, which its worktrees share.
    """
    if remote:
        return _hash(_without_protocol(remote))
    common = _git_directory(directory) if directory else None
    if common is None:
        return None
    address = _origin(common)
    return _hash(str(common) if address is None else _without_protocol(address))


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _without_protocol(address: str) -> str:
    """`github.com/ann/loom` of every way to write its address; a path as it is."""
    plain = address.strip()
    scheme, mark, rest = plain.partition("://")
    user, at, after = (rest if mark else scheme).partition("@")
    named = after if at and "/" not in user else f"{user}{at}{after}"
    end = min((place for place in map(named.find, (":", "/")) if place >= 0), default=0)
    host, path = named[:end], named[end:]
    port, slash, below = path[1:].partition("/")
    if path.startswith(":") and slash and port.isdigit():
        path = below
    path = path.lstrip(":/").rstrip("/").removesuffix(".git")
    is_address = host and path and not any(map(str.isspace, named))
    return f"{host.lower()}/{path}" if is_address else plain


def repository_root(path: str) -> Path | None:
    """Return the nearest folder above a local path that is a repository or a worktree; `None` without one."""
    start = Path(path)
    if path.startswith(_NETWORK) or not start.is_absolute():
        return None
    try:
        return next((place for place in chain([start], start.parents) if (place / ".git").exists()), None)
    except (OSError, ValueError):
        return None  # a folder that may not be read is of no known repository


def _git_directory(directory: str) -> Path | None:
    """The git directory that all worktrees of the repository share; `None` outside of one."""
    root = repository_root(directory)
    if root is None:
        return None
    try:
        git = (root / ".git").resolve()
        return git if git.is_dir() else _shared_directory(git)
    except (OSError, ValueError):
        return None  # as above


def _shared_directory(git: Path) -> Path:
    """The shared git directory that the file `.git` of a worktree or a submodule names."""
    own = (git.parent / git.read_text("utf-8").removeprefix("gitdir:").strip()).resolve()
    common = own / "commondir"
    return (own / common.read_text("utf-8").strip()).resolve() if common.is_file() else own


def _origin(git: Path) -> str | None:
    config = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        config.read_string((git / "config").read_text("utf-8"))
    except (OSError, ValueError, configparser.Error):
        return None  # without a config that can be read it has no remote that is known
    return config.get('remote "origin"', "url", fallback=None)
