"""Reads the files and folders that `tiermem ingest` is given, and those of a coding agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiermem.dialogue import Conversation, read_dialogue
from tiermem.dialogue.agent_folders import CodingAgent, transcript_folders, transcripts_in
from tiermem.errors import InvalidInput, NotDialogue, NoTurns

_WITHOUT_TURNS = "session without turns"
_PACKED = "file packed with zstd"
_PACKED_FILES = "*.jsonl.zst"
_OTHER_KIND = "file of another kind (name it to have it read)"
_OF_DATABASES = ("opencode.db-wal", "opencode.db-shm")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesRead:
    """What files hold, the records and files that were skipped, and what of transcripts is no turn."""

    conversations: tuple[Conversation, ...]
    skipped: tuple[str, ...]
    left_out: Mapping[str, int]


class ChangedFiles:
    """Knows which files changed since they were asked about, by their times and sizes."""

    def __init__(self) -> None:
        self._states: dict[Path, tuple[tuple[int, int], ...]] = {}

    def take(self, path: Path) -> bool:
        """Whether a file, or the `-wal` file of a database, is new or changed since the last call."""
        files = [file for file in (path, Path(f"{path}-wal")) if file.is_file()]
        state = tuple((info.st_mtime_ns, info.st_size) for info in map(Path.stat, files))
        is_changed = self._states.get(path) != state
        self._states[path] = state
        return is_changed

    def forget(self) -> None:
        """Take every file for changed again."""
        self._states.clear()


def read_files(
    files: Sequence[str],
    agent: CodingAgent | None,
    options: Mapping[str, Any],
    *,
    strict: bool,
    is_wanted: Callable[[Path], bool] = lambda _: True,
) -> FilesRead:
    """Read files, of folders the transcripts of coding agents below them, and the folders of `agent`.

    A file of a folder that is no transcript is skipped, with `strict` too; a file that is not wanted is not
    read. `options` are those of `read_dialogue`. Raises `InvalidInput` without files and agent, and for a
    folder that is named and has no file that may be a transcript.
    """
    if not files and agent is None:
        raise InvalidInput("name files, or read the sessions of an agent with --from claude-code")
    named_folders = _named_folders(files)
    folders = [*named_folders, *(() if agent is None else transcript_folders(agent))]
    single = [file for file in files if file == "-" or not Path(file).is_dir()]
    single = [file for file in single if file == "-" or is_wanted(Path(file))]
    skipped: list[str] = []
    left_out: Counter[str] = Counter()
    given = {**options, "strict": strict, "on_skipped": skipped.append}
    conversations = [one for file in single for one in read_dialogue(file, **given)]
    for folder in folders:
        for path in filter(is_wanted, transcripts_in(folder)):
            conversations += _read_transcript(path, given, skipped, left_out)
        if packed := sum(1 for _ in folder.rglob(_PACKED_FILES)):
            left_out[_PACKED] += packed
    if passed_over := _files_of_another_kind(named_folders, files):
        left_out[_OTHER_KIND] = len(passed_over)
    for one in conversations:
        left_out.update(one.left_out)
    return FilesRead(conversations=tuple(conversations), skipped=tuple(skipped), left_out=dict(left_out))


def _named_folders(files: Sequence[str]) -> list[Path]:
    """The folders among named files; `InvalidInput` for one in which no file may be a transcript."""
    folders = [path for file in files if file != "-" and (path := Path(file)).is_dir()]
    for folder in folders:
        if not any((*transcripts_in(folder), *folder.rglob(_PACKED_FILES))):
            raise InvalidInput(
                f"no transcript of a coding agent is below {str(folder)!r}: of other chats name the files"
            )
    return folders


def _files_of_another_kind(folders: Sequence[Path], files: Sequence[str]) -> set[Path]:
    """The files below folders that are neither transcripts by their names nor named themselves."""
    below = {path.resolve() for folder in folders for path in folder.rglob("*") if path.is_file()}
    read = {path.resolve() for folder in folders for path in transcripts_in(folder)}
    packed = {path.resolve() for folder in folders for path in folder.rglob(_PACKED_FILES)}
    named = {Path(file).resolve() for file in files}
    return {path for path in below - read - packed - named if path.name not in _OF_DATABASES}


def _read_transcript(
    path: Path, options: Mapping[str, Any], skipped: list[str], left_out: Counter[str]
) -> Iterator[Conversation]:
    """The conversations of one file of a folder; of one that is no transcript why it was skipped."""
    try:
        conversations = read_dialogue(path, **options)
    except NoTurns:
        left_out[_WITHOUT_TURNS] += 1
        return
    except NotDialogue as error:
        skipped.append(str(error))
        return
    if all(session.has_records for one in conversations for session in one.sessions):
        yield from conversations
    else:
        skipped.append(f"{str(path)!r} is no transcript of a coding agent: name the file to read it")


def describe_left_out(left_out: Mapping[str, int]) -> str:
    """What of transcripts was not stored, the most first: "not stored: 31 × hidden reasoning"."""
    kinds = sorted(left_out.items(), key=lambda one: (-one[1], one[0]))
    return "not stored: " + ", ".join(f"{number:,} × {kind}" for kind, number in kinds)
