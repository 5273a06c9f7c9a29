"""What chats are called."""

from __future__ import annotations

from collections.abc import Set

from tiermem.ledger.visibility import Visibility


class TitlesFold:
    """The newest title of each chat, by the agent whose import brought it."""

    def __init__(self) -> None:
        super().__init__()
        self._titles: dict[str, dict[str | None, str]] = {}
        self._erased_titles: set[tuple[str, str | None]] = set()

    @property
    def titled_chats(self) -> Set[tuple[str, str | None]]:
        """The chats that have or had a title, each with the agent whose import brought it."""
        return {(chat, agent) for chat, titles in self._titles.items() for agent in titles}

    def title(self, chat: str, sees: Visibility) -> str | None:
        """The newest title of a chat among those that may be seen."""
        titles = reversed(self._titles.get(chat, {}).items())
        return next((title for agent, title in titles if title and sees.includes((agent,))), None)

    def needs_title(self, chat: str, agent: str | None, title: str, *, default: str) -> bool:
        """Whether a title is new to a chat of the agent, by default `default`, of which none was erased."""
        known = self._titles.get(chat, {}).get(agent, default)
        return title != known and (chat, agent) not in self._erased_titles

    def set_title(self, chat: str, agent: str | None, title: str) -> None:
        """The chat is called so; an empty title was erased."""
        titles = self._titles.setdefault(chat, {})
        if title or agent not in titles:
            titles.pop(agent, None)  # the newest is last
            titles[agent] = title
        if not title:
            self._erased_titles.add((chat, agent))
