"""Opens a file or stream of dialogue, finds out which format it has, and reads all of it or none.

Files compressed with gzip or xz are read as they are, and of a zip archive the chats in it, up to a size
(`packed.MOST`). What is not dialogue raises `NotDialogue`, which names the file, the place in it and the
reason.
"""

from __future__ import annotations

import codecs
import io
import logging
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, get_args

from tiermem.dialogue.archive import is_archive, read_archive
from tiermem.dialogue.database import as_json, choose_tables, is_database, with_log
from tiermem.dialogue.date_order import DateOrder
from tiermem.dialogue.error_location import record, skip_unreadable
from tiermem.dialogue.formats import READERS, DialogueSource, mem0, opencode
from tiermem.dialogue.formats.source import PACKED
from tiermem.dialogue.formats.transcripts import OTHER_FORMAT
from tiermem.dialogue.interface import Conversation, Format
from tiermem.dialogue.messages import LONGEST_SPEAKER
from tiermem.dialogue.packed import unpack
from tiermem.errors import InvalidInput, NotDialogue, NoTurns, name_in, not_one_of, shown
from tiermem.text.secrets import SecretFilter

STDIN = "-"

log = logging.getLogger("tiermem")


def read_dialogue(
    source: str | Path | IO[bytes] | IO[str],
    format: Format = "auto",  # noqa: A002 - the user's word for it
    *,
    session: str | None = None,
    stamps: bool = False,
    keep_thinking: bool = False,
    date_order: DateOrder | None = None,
    strict: bool = False,
    on_skipped: Callable[[str], None] | None = None,
    redact: Iterable[str] = (),
    skip_paths: Iterable[str] = (),
) -> tuple[Conversation, ...]:
    """Every conversation of a file, a stream, or standard input (`-`).

    `session` names the session of turns that name none themselves; by default that is the file's name
    without its endings. Turns in JSON have the level of trust they name under `trust` where it is below that
    of their role; one that is not known is the lowest. With `stamps` they have any level they name, and are
    of the agent they name under `of_agent`: that is for files of your own, since a file can name any level
    and any agent. Without, a turn of an agent cannot be read. The whole source is read first: `NotDialogue`
    means nothing of it came through.

    `date_order` says in which order dates in numbers are (`dmy`, `mdy` or `ymd`); by default all dates of the
    file decide, and `Conversation.notes` say how they were read.

    Of transcripts of coding agents secrets are replaced by what they are, before anything is given: tokens of
    documented formats, and what the regular expressions `redact` match. Calls of tools about files that git
    ignores or a pattern of `skip_paths` matches (`*.pem`) are left out with their results.
    `Conversation.left_out` counts both.

    What a model thought is not among its words; with `keep_thinking` it is in the metadata, under `thinking`.

    Records that cannot be read are skipped, and a warning says how many; more of these than turns refuse the
    file, and with `strict` one does. In place of the warning `on_skipped` is called for each record, with its
    place and the reason.
    """
    if format not in get_args(Format):
        raise InvalidInput(f"format {not_one_of(format, get_args(Format))}")
    if date_order is not None and date_order not in get_args(DateOrder):
        raise InvalidInput(f"date_order {not_one_of(date_order, get_args(DateOrder))}")
    if session is not None:
        name_in(session, "session")
    for name, patterns in (("redact", redact), ("skip_paths", skip_paths)):
        if isinstance(patterns, str):
            raise InvalidInput(f"{name} must be a list of patterns, not {shown(patterns)}")
    secrets = SecretFilter(redact)
    name, data = _fetch(source)
    skipped: list[str] = []
    try:
        with skip_unreadable(None if strict else skipped):
            opened = DialogueSource(
                name=name,
                text="",
                session=session or _stem(name),
                own_session=session,
                stamps=stamps,
                keep_thinking=keep_thinking,
                date_order=date_order,
                secrets=secrets,
                skip_paths=tuple(skip_paths),
            )
            conversations = _read(unpack(data), format, opened)
            conversations = tuple(map(_with_short_names, conversations))
            conversations = conversations if session is None else tuple(map(_with_own_names, conversations))
            conversations = tuple(
                replace(one, notes=tuple(f"{name!r}: {note}" for note in one.notes)) for one in conversations
            )
    except InvalidInput as error:
        raise NotDialogue(f"{name!r} is not dialogue: {error}") from error
    _require_turns(name, conversations, skipped)
    if on_skipped is not None:
        for reason in skipped:
            on_skipped(f"{name!r}, {reason}")
    elif skipped:
        log.warning(
            "%r: %s skipped as unreadable, the first at %s; strict=True refuses such a file",
            name,
            "1 record was" if len(skipped) == 1 else f"{len(skipped):,} records were",
            skipped[0],
        )
    return conversations


def read_opencode_session(path: Path, session: str) -> tuple[Conversation, ...]:
    """A session in a database of OpenCode, with those that it started, as `read_dialogue` reads all of them.

    The database may be of any size. Raises `NotDialogue`, and `NoTurns` where the session has none.
    """
    try:
        rows = io.StringIO(opencode.session_as_json(path, session))
    except InvalidInput as error:
        raise NotDialogue(f"{str(path)!r} is not dialogue: {error}") from error
    rows.name = str(path)
    return read_dialogue(rows, "opencode")


def _require_turns(name: str, conversations: Sequence[Conversation], skipped: list[str]) -> None:
    """Raise `NotDialogue` where no turn was read, or fewer turns than records were skipped.

    What a transcript of records holds is certain, however many of its lines are damaged.
    """
    turns = sum(conversation.turns for conversation in conversations)
    has_records = any(session.has_records for one in conversations for session in one.sessions)
    if skipped and not turns:
        raise NotDialogue(f"{name!r} is not dialogue: {skipped[0]}. {OTHER_FORMAT}")
    if len(skipped) > turns and not has_records:
        raise NotDialogue(
            f"{name!r} is not dialogue: {len(skipped):,} of {len(skipped) + turns:,} records cannot be read, "
            f"the first of them {skipped[0]}. {OTHER_FORMAT}"
        )
    if not turns:
        raise NoTurns(f"{name!r} is not dialogue: it holds no turn")


def _with_own_names(conversation: Conversation) -> Conversation:
    """The conversation, no session of which has the name of its file."""
    sessions = tuple(replace(session, is_file_name=False) for session in conversation.sessions)
    return replace(conversation, sessions=sessions)


def _with_short_names(conversation: Conversation) -> Conversation:
    """The conversation without turns whose speaker has too long a name; raises outside of skipping."""
    sessions = []
    for session in conversation.sessions:
        turns = []
        for turn in session.turns:
            with record(f"session {session.session!r}"):
                if len(turn.speaker) > LONGEST_SPEAKER:
                    raise InvalidInput(
                        f"it names a speaker in {len(turn.speaker):,} characters, and {LONGEST_SPEAKER} "
                        "is the most: shorten the name"
                    )
                turns.append(turn)
        sessions.append(session if len(turns) == len(session.turns) else replace(session, turns=tuple(turns)))
    kept = tuple(session for session in sessions if session.turns)
    return replace(conversation, sessions=kept)


def _fetch(source: str | Path | IO[bytes] | IO[str]) -> tuple[str, bytes]:
    if isinstance(source, str | Path):
        if str(source) == STDIN:
            return "stdin", sys.stdin.buffer.read()
        try:
            data = Path(source).read_bytes()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise InvalidInput(f"cannot read {str(source)!r}: {why}") from error
        return str(source), data
    try:
        given = source.read()
    except (AttributeError, TypeError, ValueError, OSError) as error:
        raise InvalidInput(f"cannot read {shown(source)}: {error}") from error
    if not isinstance(given, str | bytes):
        raise InvalidInput(f"{shown(source)} gives neither text nor bytes: it cannot be read")
    name = str(getattr(source, "name", "") or "dialogue")
    data = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else given
    return name, data


def _decode(data: bytes) -> str:
    """UTF-8, with lone surrogates let through: they occur in exports and pages keep them."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput(f"line {line}: not UTF-8 text (byte {data[error.start]:#04x})") from error


def _stem(name: str) -> str:
    path = Path(name)
    return Path(path.stem).stem if path.suffix in PACKED else path.stem


def _read(data: bytes, form: Format, source: DialogueSource) -> tuple[Conversation, ...]:
    """Read bytes; `source` says all of their source but its text."""
    if is_archive(data):
        return read_archive(data, lambda name, text: _parse(form, replace(source, name=name, text=text)))
    if not is_database(data):
        return _parse(form, replace(source, text=_decode(data)))
    data = with_log(data, Path(source.name))
    tables = choose_tables(data, (mem0.TABLES, opencode.TABLES, opencode.OLDER_TABLES))
    return _parse(form, replace(source, text=as_json(data, tables)))


def _parse(form: Format, source: DialogueSource) -> tuple[Conversation, ...]:
    readers = [reader for reader in READERS if form in ("auto", reader.name)]
    with skip_unreadable(None):
        reader = next((reader for reader in readers if reader.knows(source)), readers[-1])
    return reader.read(source)
