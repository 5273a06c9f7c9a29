"""Tells paths whose contents are not to be stored: those that git ignores, and those of patterns.

git itself is asked (`git check-ignore`), once for each repository. A path that is in no repository on this
machine is ignored by patterns alone.
"""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tiermem.dialogue.repository import repository_root

_SECONDS = 20
"""How long git may take to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredPaths:
    """The paths that are ignored, and for each repository that git could not tell of why."""

    paths: frozenset[str]
    problems: tuple[str, ...] = ()


def find_ignored_paths(paths: Collection[str], patterns: Iterable[str]) -> IgnoredPaths:
    """Find those of some absolute paths that git ignores or a pattern matches.

    A pattern (`*.pem`, `private/*`) is compared with a path and with its ends; `*` matches `/` too.
    """
    given = [form for pattern in patterns for form in (pattern, f"*/{pattern}")]
    found = {path for path in paths if any(fnmatchcase(path, form) for form in given)}
    by_root: dict[Path, list[str]] = {}
    for path in paths:
        if path not in found and (root := repository_root(path)) is not None:
            by_root.setdefault(root, []).append(path)
    problems: list[str] = []
    for root, ours in by_root.items():
        try:
            found |= _ask_git(root, ours)
        except (OSError, subprocess.SubprocessError) as error:
            problems.append(
                f"git did not say what it ignores in {str(root)!r}, and nothing is left out: {error}"
            )
    return IgnoredPaths(paths=frozenset(found), problems=tuple(problems))


def _ask_git(root: Path, paths: Collection[str]) -> set[str]:
    """The paths that git ignores; `--no-index` also names what a rule ignores and git tracks all the same."""
    command = ["git", "-C", str(root), "check-ignore", "--no-index", "--stdin", "-z"]
    answer = subprocess.run(  # noqa: S603  # a program of the user, without a shell
        command,
        input="".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape"),
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    if answer.returncode > 1:  # 1: none is ignored
        raise subprocess.SubprocessError(answer.stderr.decode("utf-8", "replace").strip())
    return {one for one in answer.stdout.decode("utf-8", "surrogateescape").split("\0") if one}
