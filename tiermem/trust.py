"""How far a source is believed: ordered levels, stamped on turns by the caller, else by their role.

The rule: doubt lowers, nothing raises. An unknown level counts as the lowest; words alone, whatever
they claim of themselves, never change the level of the turn they stand in.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from pagestore import Turn
from tiermem.errors import InvalidInput, not_one_of, shown

log = logging.getLogger("tiermem")

DEFAULT_LEVELS = ("web", "tool", "assistant", "user", "system")
"""From the least to the most trusted. `web` and `system` are only ever given by a caller's stamp."""

RoleKind = Literal["user", "assistant", "tool", "memory"]
"""Who speaks in a turn: `memory` is what another memory concluded of words that it does not show."""

_KINDS: Mapping[RoleKind, str] = {
    "user": "user human customer system developer norole",
    "assistant": "assistant ai model bot chatbot",
    "tool": "tool tooluse toolcall toolcalls toolresult tooloutput toolresponse toolmessage function "
    "functioncall functionresult functionoutput functionresponse functioncalloutput observation agent "
    "ipython",
    "memory": "memory",
}
"""What formats call them, without blanks, hyphens and underscores."""
_BY_ROLE: Mapping[str, RoleKind] = {role: kind for kind, roles in _KINDS.items() for role in roles.split()}
_SEPARATORS = re.compile(r"[\s_-]+")
_LEVELS: Mapping[RoleKind, str] = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "memory": "tool",
}


def kind_of_role(role: str | None) -> RoleKind | None:
    """Who speaks in a role; case and blanks do not count. `user` without a role, `None` if not known."""
    plain = _SEPARATORS.sub("", role or "").lower()
    return _BY_ROLE.get(plain) if plain else "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustLevels:
    """Names of levels in rising order. Ranks are their positions."""

    names: tuple[str, ...] = DEFAULT_LEVELS

    def of(self, turn: Turn) -> str:
        """The level of a turn: its stamp, else by its role `tool` (a memory's too), `assistant` or `user`.

        A role that is not known has the lowest level.
        """
        if turn.trust:
            return turn.trust
        kind = kind_of_role(turn.role)
        return self.names[0] if kind is None else _LEVELS[kind]

    def rank(self, level: str | None) -> int:
        """The rank of a level; an unknown one ranks lowest."""
        return self.names.index(level) if level in self.names else 0

    def rank_of(self, turn: Turn) -> int:
        """The rank of a turn's level."""
        return self.rank(self.of(turn))

    def lowest(self, levels: Iterable[str | None]) -> str | None:
        """The name of the lowest of some levels; `None` when there are none."""
        ranks = [self.rank(level) for level in levels]
        return self.names[min(ranks)] if ranks else None

    def may_judge(self, level: str) -> bool:
        """Whether somebody of this level may say how an answer turned out: an assistant, or who is above it.

        Of names without `assistant` all may but the lowest.
        """
        least = self.names.index("assistant") if "assistant" in self.names else 1
        return self.rank(level) >= min(least, len(self.names) - 1)

    def require_level(self, level: str) -> str:
        """`level` itself; raises `InvalidInput` when it is none of the names."""
        if level not in self.names:
            raise InvalidInput(f"trust {not_one_of(level, self.names)}")
        return level


DEFAULT_TRUST = TrustLevels()


def stamp_turns(turns: Iterable[Turn], trust: str | None, levels: TrustLevels) -> tuple[Turn, ...]:
    """The turns with `trust` on those that bring no stamp; `InvalidInput` for a stamp that is no level.

    Each role that is not known, of turns without a stamp, is a warning in the log of the process, once.
    """
    given = tuple(turn if turn.trust is not None else replace(turn, trust=trust) for turn in turns)
    for turn in given:
        if turn.trust is not None:
            levels.require_level(turn.trust)
        elif turn.role is not None and kind_of_role(turn.role) is None:
            _warn_of_role(turn.role, levels.names[0])
    return given


@lru_cache(maxsize=1024)
def _warn_of_role(role: str, level: str) -> None:
    log.warning(
        "the role %s is not known, and its turns have the trust %r: give 'user', 'assistant' or 'tool', or a "
        "trust",
        shown(role),
        level,
    )


def lower_turns(turns: Iterable[Turn], level: str | None, levels: TrustLevels) -> tuple[Turn, ...]:
    """The turns, stamped with `level` where they would be trusted more; `None` lowers nothing."""
    return tuple(
        turn if level is None or levels.rank_of(turn) <= levels.rank(level) else replace(turn, trust=level)
        for turn in turns
    )


def lower_stamps(
    turns: Iterable[Turn], trust: str | None, levels: TrustLevels, *, role: str | None = None
) -> tuple[Turn, ...]:
    """Turns of a file with the stamps it gave them where these lower, and without where they would raise.

    A stamp raises above `trust`, which the turns are to have, else above the level of their roles, or of
    `role` for turns without one. A stamp that is no level becomes the lowest, with a warning in the log of
    the process, once for each.
    """
    return tuple(_lower_stamp(turn, trust, levels, role) for turn in turns)


def _lower_stamp(turn: Turn, trust: str | None, levels: TrustLevels, role: str | None) -> Turn:
    if turn.trust is not None and turn.trust not in levels.names:
        _warn_of_level(turn.trust, levels.names[0])
        return replace(turn, trust=levels.names[0])
    unstamped = replace(turn, trust=trust, role=turn.role or role)
    return turn if levels.rank_of(turn) <= levels.rank_of(unstamped) else replace(turn, trust=None)


@lru_cache(maxsize=1024)
def _warn_of_level(level: str, lowest: str) -> None:
    log.warning("the trust %s is not known, and turns of a file that name it have %r", shown(level), lowest)
