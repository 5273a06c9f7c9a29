"""Where a store is kept: a directory, memory of this process, or a database. No password is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode

from tiermem.errors import InvalidInput

IN_MEMORY = ":memory:"

_DATABASE = re.compile("postgres(ql)?:/", re.IGNORECASE)
_OTHER_URL = re.compile("[a-z][a-z0-9+.-]{1,40}:/", re.IGNORECASE)
_PARAMETER = re.compile(
    r"(?<!\S)(?:host|hostaddr|port|dbname|user|password|passfile|service|sslpassword)\s{0,9}=", re.IGNORECASE
)
"""A parameter of a connection string of libpq, like `host=… password=…`."""
_FORM = (
    "a database is given as postgresql://USER:PASSWORD@HOST:PORT/DATABASE, and a directory whose name looks "
    "like one with ./ in front"
)
_URL = re.compile(
    r"(?P<scheme>postgres(?:ql)?)://(?:(?P<user>[^:@/?#]*)(?::[^/?#]*)?@)?(?P<hosts>[^@/?#]*)"
    r"(?P<path>[^@?#]*)(?:\?(?P<query>[^@#]*))?"
)
_HOSTS = re.compile(r"[^:]*(:[0-9]*)?|\[[0-9a-fA-F:.]*\](:[0-9]*)?")
_SHOWN_PARAMETERS = ("host", "hostaddr", "port", "dbname", "user")


@dataclass(frozen=True, slots=True, kw_only=True)
class StorePlace:
    """A place that can be shown in messages: no part of it but `url` holds a password."""

    shown: str
    """The directory, `:memory:`, or the URL of the database without password."""
    url: str | None = field(default=None, repr=False)
    """The whole URL of a database; `None` for any other place."""

    def __str__(self) -> str:
        return self.shown

    @property
    def address(self) -> str:
        """What `tiermem.open` takes; it may hold a password, so it belongs in no message."""
        return self.shown if self.url is None else self.url

    @property
    def directory(self) -> Path | None:
        """The directory; `None` for any other place."""
        return None if self.url is not None or self.shown == IN_MEMORY else Path(self.shown)

    def require_directory(self, what: str, *, instead: str) -> Path:
        """Return the directory; raises `InvalidInput` for any other place.

        The error names `what` needs one, and for a database what to do `instead`.
        """
        if self.directory is None:
            advice = instead if self.url is not None else "name a directory"
            raise InvalidInput(
                f"{what} needs a store in a directory, and this one is {self.shown!r}: {advice}"
            )
        return self.directory


def parse_place(written: str) -> StorePlace:
    """Read a path or the URL of a database.

    Raises `InvalidInput`, which does not quote it, for a broken URL, for a URL of anything else, and for
    parameters of a connection (`host=… password=…`).
    """
    if not _DATABASE.match(written):
        if _OTHER_URL.match(written):
            raise InvalidInput(
                f"no store is kept at such a URL: {_FORM}; a Qdrant server is given as index=URL"
            )
        if not written.startswith((".", "/", "~")) and _PARAMETER.search(written):
            raise InvalidInput(f"parameters of a connection are not read: {_FORM}")
        return StorePlace(shown=written)
    if "://" not in written:
        raise InvalidInput("give the URL of a database as text: a path has turned its // into /")
    return StorePlace(shown=shown_url(written), url=written)


def shown_url(url: str) -> str:
    """Return the URL of a database with its user, hosts and name, and without everything else.

    Where a password may have been cut off in a wrong place, only the scheme is left.
    """
    found = _URL.fullmatch(url)
    if found is None or not all(map(_HOSTS.fullmatch, found["hosts"].split(","))):
        return "postgresql://…"
    user = f"{found['user']}@" if found["user"] else ""
    shown = [pair for pair in parse_qsl(found["query"] or "") if pair[0] in _SHOWN_PARAMETERS]
    query = f"?{urlencode(shown, safe='/', quote_via=quote)}" if shown else ""
    return f"{found['scheme']}://{user}{found['hosts']}{found['path']}{query}"
