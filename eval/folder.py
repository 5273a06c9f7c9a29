"""A run is a folder: `manifest.json` says what was measured, `results.jsonl` what came out.

Results are only ever appended, and a line counts once its newline is on disk: a run that was killed
goes on from the last whole line. A folder belongs to one run; opening it for another is refused.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from eval.records import Record, from_line, to_line
from tiermem.errors import InvalidInput

Kind = Literal["retrieval", "qa", "replay"]
_MANIFEST: Final = "manifest.json"
_RESULTS: Final = "results.jsonl"
_MAY_DIFFER: Final = frozenset({"commit", "machine", "started_at", "concurrency"})
"""What a resumed run may have that the first part had not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What was measured, on which data, with which code, models and settings, and where."""

    kind: Kind
    dataset: str
    checksum: str
    defects: Mapping[str, int]
    systems: tuple[str, ...]
    judge: str
    engine: str
    models: Mapping[str, str]
    embedder: str
    token_counter: str
    settings: Mapping[str, Any]
    prompts: tuple[str, ...]
    seed: int
    limit: int | None
    epochs: int
    questions: int
    concurrency: int
    commit: str
    machine: str
    started_at: str
    sample: Mapping[str, Any] = field(default_factory=dict)
    """Which questions were asked, and whether under other names; what is not restricted is not in it."""
    profile: str | None = None
    reader: str = ""
    """The small reader that ordered lines, by its SHA-256, and its risk; "" where none did."""


class RunFolder:
    """One run on disk. Made by `create`, gone on with by `resume`, read by `open`."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    @classmethod
    def create(cls, path: Path, manifest: Manifest) -> RunFolder:
        """A new folder; `InvalidInput` when a run is there already."""
        if (path / _MANIFEST).exists():
            raise InvalidInput(f"{str(path)!r} holds a run already; add --resume, or name another --out")
        path.mkdir(parents=True, exist_ok=True)
        text = json.dumps(
            TypeAdapter(Manifest).dump_python(manifest, mode="json"), indent=2, ensure_ascii=False
        )
        partial = path / f"{_MANIFEST}.partial"
        partial.write_text(text + "\n", encoding="utf-8")
        partial.replace(path / _MANIFEST)
        return cls(path, manifest)

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """The run in a folder; `InvalidInput` when there is none."""
        try:
            text = (path / _MANIFEST).read_bytes()
        except OSError as error:
            raise InvalidInput(f"no run in {str(path)!r}: {error}") from error
        try:
            return cls(path, TypeAdapter(Manifest).validate_json(text))
        except ValueError as error:
            raise InvalidInput(f"the manifest in {str(path)!r} cannot be read: {error}") from error

    @classmethod
    def resume(cls, path: Path, manifest: Manifest) -> RunFolder:
        """The run in a folder, or a new one; `InvalidInput` names what differs when it is another run."""
        if not (path / _MANIFEST).exists():
            return cls.create(path, manifest)
        folder = cls.open(path)
        wanted, there = _comparable(manifest), _comparable(folder.manifest)
        differing = [name for name in wanted if wanted[name] != there[name]]
        if differing:
            differences = ", ".join(
                f"{name} ({there[name]!r} there, {wanted[name]!r} here)" for name in differing
            )
            raise InvalidInput(f"{str(path)!r} holds another run: {differences}")
        _mend(path / _RESULTS)
        return folder

    def records(self) -> Iterator[Record]:
        """Every record, in the order written; a last line without its end is not one."""
        results = self.path / _RESULTS
        if not results.exists():
            return
        with results.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.endswith(b"\n"):
                    return
                try:
                    yield from_line(line)
                except ValueError as error:
                    raise InvalidInput(
                        f"line {number} of {str(results)!r} cannot be read: {error}"
                    ) from error

    def append(self, records: Sequence[Record]) -> None:
        """Write records; what was written survives the death of this process.

        A power cut may cost the newest lines: their questions are asked again.
        """
        with (self.path / _RESULTS).open("ab") as stream:
            stream.write(b"".join(map(to_line, records)))

    @property
    def scratch(self) -> Path:
        """Where systems keep their memories while the run goes on, and after it if it is asked to."""
        return self.path / "memories"

    def memory(self, case: str, home: str) -> Path:
        """Where the systems of one home keep what they know of a case."""
        return self.scratch / case / home.replace(":", "-")


def _mend(results: Path) -> None:
    """Cut off a torn last line."""
    if results.exists():
        with results.open("rb+") as stream:
            stream.truncate(stream.read().rfind(b"\n") + 1)


def _comparable(manifest: Manifest) -> dict[str, Any]:
    names = [one.name for one in fields(Manifest) if one.name not in _MAY_DIFFER]
    plain = TypeAdapter(Manifest).dump_python(manifest, mode="json")
    return {name: plain[name] for name in names}


def commit() -> str:
    """The commit this code is at, and whether it was changed since; "unknown" outside a checkout."""
    here = Path(__file__).parent
    try:
        head = _git(here, "rev-parse", "HEAD")
        changed = _git(here, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head} with changes" if changed else head


def _git(where: Path, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603  (fixed arguments)
        ["git", "-C", str(where), *arguments],  # noqa: S607  (whichever git the user has)
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def machine() -> str:
    """The machine in words: cores, memory, system, Python."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GiB, "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    )
