"""Who asks, and whether they may: by a key, or on this machine alone by being there.

Where no file of keys is, the server listens on this machine alone and is open to all its users. A page in
that person's browser is there too, and not they: so such a request must name this machine as its host (a
name of somebody else's that leads here, DNS rebinding, does not), and come from no page of another host.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from tiermem.apps.http.keys import Key, Keys
from tiermem.errors import Forbidden, InvalidInput, Unauthorized, agent_in
from tiermem.wire import Right


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the holder of a key, or somebody on this machine where no key is needed."""

    key: Key | None

    @property
    def name(self) -> str:
        """What the log calls them: the id of the key, which is no secret."""
        return "local" if self.key is None else self.key.id

    def has(self, right: Right) -> bool:
        """Whether they have the right, wherever it is."""
        return self.key is None or self.key.may(right)

    def agent(self, named: str | None) -> str | None:
        """As which agent they ask: as that of the key, where it has one, else as they say.

        Raises `Forbidden` for an agent that the key is not for, whether there is such a one or not, and
        `InvalidInput` for what is no name.
        """
        own = None if self.key is None else self.key.agent
        if own is not None and named not in (None, own):
            raise Forbidden(f"this key is for agent {own!r} alone")
        return own if named is None else agent_in(named)

    def may(self, right: Right, space: str | None = None) -> None:
        """Raise `Forbidden` for what the key does not allow, in the space or, without one, anywhere."""
        if not self.has(right):
            raise Forbidden(f"this key has not the right {right!r}")
        if space is not None:
            self.reaches(space)

    def reaches(self, space: str) -> None:
        """Raise `Forbidden` where the key is not for the space, whether there is such a space or not."""
        if self.key is not None and not self.key.reaches(space):
            raise Forbidden(f"this key is not for space {space!r}")


class AccessControl:
    """Lets callers in."""

    def __init__(self, keys: Keys, *, host: str) -> None:
        """`host` is where the server listens. `InvalidInput`: that takes a key, and there is none."""
        self._keys = keys
        self._alone = is_loopback(host)
        if not self._alone and not keys.usable():
            raise InvalidInput(
                f"to listen at {host!r}, where others are, somebody must have a key: "
                "make one with `tiermem keys make` first"
            )

    @property
    def open(self) -> bool:
        """Whether users of this machine need no key."""
        return self._alone and not self._keys.there()

    def caller(self, *, authorization: str | None, host: str | None, origin: str | None) -> Caller:
        """Who sent these headers; raises `Unauthorized`, `Forbidden`."""
        if self.open:
            _from_here(host, origin)
            return Caller(None)
        scheme, _, token = (authorization or "").partition(" ")
        key = self._keys.known_by(token.strip())
        if scheme.lower() != "bearer" or key is None:
            raise Unauthorized("this memory needs a key, and what was sent is none that it knows")
        return Caller(key)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, seen from itself alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _from_here(host: str | None, origin: str | None) -> None:
    named = _split(f"//{host}")
    if named is None or not is_loopback(named.hostname or ""):
        raise Forbidden("without keys this memory answers to the names of this machine alone (127.0.0.1)")
    page = named if origin is None else _split(origin)
    if page is None or page.netloc.lower() != named.netloc.lower() or page.scheme not in ("", "http"):
        raise Forbidden("without keys this memory answers no page of another host")


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None
