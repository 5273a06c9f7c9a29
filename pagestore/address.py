"""The address of a turn: `t1:<its number in the log>-<the first characters of the hash of its line>`.

It is the same before and after its page is sealed, and after the turn is erased. The characters of the hash
keep a mistyped number, or the address of a turn of another log, from naming a turn by accident.
"""

from __future__ import annotations

import re

from pagestore.errors import InvalidInput
from pagestore.values import TurnAddress

PREFIX = "t1:"
"""What every address begins with, and nothing else that is called a turn."""
_CHECK = 4
"""Characters of the hash in an address."""
_ADDRESS = re.compile(rf"{PREFIX}(0|[1-9]\d{{0,18}})-([0-9a-f]{{{_CHECK}}})", re.ASCII)


def turn_address(seq: int, digest: bytes) -> TurnAddress:
    """Return the address of the turn with this number and this hash of its line."""
    return TurnAddress(f"{PREFIX}{seq}-{digest.hex()[:_CHECK]}")


def is_address(text: str) -> bool:
    """Whether a text names a turn by its address; it may be malformed."""
    return text.startswith(PREFIX)


def seq_in(address: str) -> int:
    """Return the number of the turn that an address names; raises `InvalidInput` for a malformed one."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise InvalidInput(
            f"{address!r} is not an address of a turn, which looks like t1:17-9ae0: copy one that `search`, "
            "`page` or `audit` displays"
        )
    return int(found[1])
