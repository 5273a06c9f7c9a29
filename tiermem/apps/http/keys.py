"""Keys: who may do what in which spaces. They are in one file next to the store, each as a hash.

A key is 256 random bits, so none is found by trying, and a hash made to be slow (as for passwords, which
people choose) would only cost time at every request: SHA-256 is right. A key is shown once, when it is made.

The file is strict: a field that this version does not know may confine a key in a way that it cannot hold
to, so a file with one is refused. What confines keys further is one more field of `Key`.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

from pagestore.files import new_file
from tiermem.errors import InvalidInput, UnknownId, agent_in, name_in, not_one_of
from tiermem.wire import Right

FORMAT = 1
ALL = "*"
"""In place of the name of a space: all of them."""

_NOBODY = hashlib.sha256(b"").hexdigest()


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What is kept of a key: whose it is, in which spaces, what it may do, and the hash of what is secret.

    Who shows a key with an `agent` is that agent, and no other: `admin` is for owners alone.
    """

    id: str
    name: str
    sha256: str
    spaces: tuple[str, ...]
    rights: tuple[Right, ...]
    made: str
    expires: str | None = None
    agent: str | None = None

    def __post_init__(self) -> None:
        if self.agent is not None and "admin" in self.rights:
            raise InvalidInput(
                "the right 'admin' is the owner's: the key of an agent has read, write or erase"
            )

    def may(self, right: Right) -> bool:
        """Whether it has the right."""
        return right in self.rights or "admin" in self.rights

    def reaches(self, space: str) -> bool:
        """Whether it is bound to the space."""
        return ALL in self.spaces or space in self.spaces

    def is_over(self, now: datetime) -> bool:
        """Whether its time has passed."""
        return self.expires is not None and datetime.fromisoformat(self.expires) <= now


class Keys:
    """The keys in a file, as it is now: what another process makes or revokes counts at once.

    Raises `InvalidInput` for a file that is not what it should be, or that others may read or write.
    """

    def __init__(self, file: Path, *, clock: Callable[[], datetime] = _now) -> None:
        self._file = file
        self._clock = clock
        self._seen: tuple[int, ...] = ()
        self._keys: dict[str, Key] = {}

    def all(self) -> tuple[Key, ...]:
        """Every key, in the order they were made."""
        self._look()
        return tuple(self._keys.values())

    def there(self) -> bool:
        """Whether there is a file of keys: then nothing is done without one, also when all were revoked."""
        return self._file.exists()

    def usable(self) -> bool:
        """Whether anybody has a key."""
        return any(not key.is_over(self._clock()) for key in self.all())

    def known_by(self, token: str) -> Key | None:
        """The key that somebody shows; as much is compared, and as long, for one that is not known."""
        self._look()
        key = self._keys.get(token.removeprefix("tm_").partition("_")[0])
        kept = _NOBODY if key is None else key.sha256
        same = hmac.compare_digest(_hash_token(token), kept)
        return key if same and key is not None and not key.is_over(self._clock()) else None

    def make(
        self,
        name: str,
        *,
        spaces: Sequence[str],
        rights: Sequence[Right],
        days: float | None = None,
        agent: str | None = None,
    ) -> tuple[str, Key]:
        """A new key, which is to be shown now and never again, and what is kept of it."""
        may = tuple(dict.fromkeys(_check_rights(rights)))
        if not spaces or not may:
            raise InvalidInput("a key needs a space and a right, at least one of each")
        ident, now = secrets.token_hex(4), self._clock()
        token = f"tm_{ident}_{secrets.token_urlsafe(32)}"
        key = Key(
            id=ident,
            name=name_in(name, "name"),
            sha256=_hash_token(token),
            spaces=tuple(dict.fromkeys(spaces)),
            rights=may,
            made=now.isoformat(timespec="seconds"),
            expires=None if days is None else (now + timedelta(days=days)).isoformat(timespec="seconds"),
            agent=None if agent is None else agent_in(agent),
        )
        with self._changing():
            self._write({**self._keys, ident: key})
        return token, key

    def revoke(self, ident: str) -> Key:
        """Take a key away, for good; raises `UnknownId`. The file stays, and with it the need for a key."""
        with self._changing():
            if ident not in self._keys:
                raise UnknownId(f"there is no key {ident!r}; `tiermem keys list` shows those that there are")
            key = self._keys.pop(ident)
            self._write(self._keys)
        return key

    def _look(self) -> None:
        """Read the file where it is another one than was read."""
        try:
            found = self._file.stat()
        except FileNotFoundError:
            self._seen, self._keys = (), {}
            return
        seen = (found.st_mtime_ns, found.st_ino, found.st_size, found.st_mode)
        if seen != self._seen:
            if stat.S_IMODE(found.st_mode) & 0o077:
                raise InvalidInput(
                    f"others may read or write {self._file}: chmod 600 it, and revoke its keys"
                )
            self._keys = {key.id: key for key in _read(self._file)}
            self._seen = seen

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Alone with the file, among the processes of this machine."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self._file.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            self._seen = ()
            self._look()
            yield
        finally:
            os.close(folder)

    def _write(self, keys: dict[str, Key]) -> None:
        content = {"format": FORMAT, "keys": [_key_fields(key) for key in keys.values()]}
        with new_file(self._file, replace=True) as out:
            out.write(json.dumps(content, indent=1).encode("ascii"))


def keys_beside(store: Path) -> Path:
    """Where the keys of a store are: next to it, so that neither a backup nor a restored store brings any."""
    whole = store.resolve()
    return whole.with_name(f"{whole.name}.keys.json")


def _key_fields(key: Key) -> dict[str, Any]:
    """A key as the file has it: an `agent` only where it has one, so that before any had one is as it was."""
    return {name: value for name, value in asdict(key).items() if name != "agent" or value is not None}


def _hash_token(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _check_rights(rights: Sequence[Right]) -> Iterator[Right]:
    for right in rights:
        if right not in get_args(Right):
            raise InvalidInput(f"the right {not_one_of(right, get_args(Right))}")
        yield right


def _read(file: Path) -> Iterator[Key]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        for one in _of_this_format(content):
            yield _key(one)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"{file} is no file of keys that this version can hold to: {error!r}") from error


def _of_this_format(content: dict[str, Any]) -> list[dict[str, Any]]:
    if content["format"] != FORMAT or content.keys() != {"format", "keys"}:
        raise ValueError(f"format {content['format']!r}, and this version reads {FORMAT}")
    keys: list[dict[str, Any]] = content["keys"]
    return keys


def _key(one: dict[str, Any]) -> Key:
    unknown = one.keys() - {field.name for field in fields(Key)}
    if unknown:
        raise ValueError(f"it confines a key by {', '.join(sorted(unknown))}")
    key = Key(**{**one, "spaces": tuple(one["spaces"]), "rights": tuple(_check_rights(one["rights"]))})
    if key.agent is not None:
        agent_in(key.agent)
    if key.expires is not None and datetime.fromisoformat(key.expires).tzinfo is None:
        raise ValueError("a key expires at a time without a zone")
    return key
