"""What can be done where nothing is installed but this package.

python -m pagestore verify-bundle FILE    check an audit bundle

Exit codes: 0 done, and nothing contradicts the proofs, 1 something cannot be read or was refused, 2 wrong
usage, 3 a proof failed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TextIO

from pagestore.bundle import BundleReport, verify_bundle
from pagestore.unicode import replace_unprintable
from pagestore.values import Checkpoint, checkpoint_of

_FAILED = 3


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m pagestore")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    check = commands.add_parser("verify-bundle", help="check an audit bundle, offline")
    check.add_argument("file", type=Path, help="the bundle")
    check.add_argument(
        "--checkpoint", type=Path, help="checkpoints kept elsewhere (JSON), to hold it against"
    )
    return _verify_bundle(parser.parse_args(arguments))


def _verify_bundle(given: argparse.Namespace) -> int:
    try:
        data = given.file.read_bytes()
        kept = _checkpoints(given.checkpoint) if given.checkpoint is not None else None
    except (OSError, ValueError, TypeError, KeyError) as error:
        _say(f"error: {error}", to=sys.stderr)
        return 1
    report = verify_bundle(data)
    if kept is not None and report.space:
        if report.space not in kept:
            _say(f"error: {given.checkpoint} holds no checkpoint of space {report.space!r}", to=sys.stderr)
            return _FAILED
        report = verify_bundle(data, kept[report.space])
    _say(in_words(report), to=sys.stdout)
    return 0 if report.ok else _FAILED


def in_words(report: BundleReport) -> str:
    """A report in plain text."""
    rows = [f"proved      {line}" for line in report.proved]
    rows += [f"not proved  {line}" for line in report.unproved]
    rows += [f"FAILED      {damage.where}: {damage.what}" for damage in report.failed]
    rows.append("The bundle holds." if report.ok else "THE BUNDLE DOES NOT HOLD.")
    return "\n".join(rows)


def _checkpoints(path: Path) -> dict[str, Checkpoint]:
    """Checkpoints by space, from one or a list of them in JSON."""
    found = json.loads(path.read_text(encoding="utf-8"))
    listed = found if isinstance(found, list) else [found]
    return {one["space"]: checkpoint_of(one) for one in listed}


def _say(text: str, *, to: TextIO) -> None:
    """Print what may hold words of strangers: nothing in it reaches the terminal as a command."""
    shown = replace_unprintable(text)
    encoding = to.encoding or "utf-8"
    print(shown.encode(encoding, "backslashreplace").decode(encoding), file=to)


if __name__ == "__main__":
    sys.exit(main())
