"""Items and clocks for tests."""

from datetime import UTC, datetime, timedelta

from tiermem.workspace import Item

NOW = datetime(2025, 10, 28, 12, 0, tzinfo=UTC)


def item(
    key: str,
    importance: float = 0.5,
    tokens: int = 1,
    *,
    ago: timedelta | None = None,
    uses: int = 0,
    used: timedelta | None = None,
    pinned: bool = False,
) -> Item:
    """An item that came some time ago."""
    return Item(
        key=key,
        text=key,
        tokens=tokens,
        importance=importance,
        added_at=None if ago is None else NOW - ago,
        last_used=None if used is None else NOW - used,
        uses=uses,
        pinned=pinned,
    )


def keys(items: tuple[Item, ...]) -> list[str]:
    return [one.key for one in items]


class Clock:
    """Goes where it is told."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def on(self, **by: float) -> None:
        self.now += timedelta(**by)
