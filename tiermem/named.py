"""Parts chosen by name: those that come with TierMem, and those that other installed packages bring.

A package brings a part by an entry point of its distribution, in the group of that sort of part:

    [project.entry-points."tiermem.indexes"]
    lance = "tiermem_lance:open_index"

It is then chosen as `index="lance"`, or as `index="lance:…"` with what the part reads itself after the colon.
What comes with TierMem keeps its name: no package can take its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from tiermem.errors import InvalidInput, not_one_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry(Generic[T]):
    """Parts of one sort by the names that settings use.

    `own` has a line for each that comes with TierMem; `imported` for those that are imported when they are
    chosen, as `module:name`. Where a name ends in `<…>`, any text may be there.
    """

    sort: str
    group: str
    own: Mapping[str, T] = field(default_factory=dict)
    imported: Mapping[str, str] = field(default_factory=dict)

    def names(self) -> tuple[str, ...]:
        """What there is, as settings name it."""
        return (*self.own, *self.imported, *sorted({point.name for point in self._brought()}))

    def check(self, given: str) -> None:
        """Raise `InvalidInput`, which lists what there is, where nothing is called that. Loads nothing."""
        self._find(given)

    def load(self, given: str) -> T:
        """The part of this name; `InvalidInput` where there is none, or its package cannot be used."""
        found = self._find(given)
        if isinstance(found, str):
            own: T = EntryPoint(given, found, self.group).load()
            return own
        if not isinstance(found, EntryPoint):
            return found
        try:
            part: T = found.load()
        except Exception as error:
            raise InvalidInput(
                f"the {self.sort} {found.name!r} of the package {_package(found)} cannot be loaded: "
                f"{type(error).__name__}: {error}"
            ) from error
        return part

    def _find(self, given: str) -> T | str | EntryPoint:
        ours: Mapping[str, T | str] = {**self.own, **self.imported}
        for name, part in ours.items():
            if _fits(given, name):
                return part
        points = [point for point in self._brought() if point.name == _first(given)]
        if not points:
            may_hold_password = "@" in given or "=" in given
            raise InvalidInput(not_one_of("…" if may_hold_password else given, self.names()))
        if len(points) > 1:
            packages = ", ".join(sorted(map(_package, points)))
            raise InvalidInput(
                f"several packages bring the {self.sort} {points[0].name!r}, keep one: {packages}"
            )
        return points[0]

    def _brought(self) -> list[EntryPoint]:
        """What installed packages bring under names that are not ours."""
        ours = {_first(name) for name in (*self.own, *self.imported)}
        return [point for point in entry_points(group=self.group) if point.name not in ours]


def _fits(given: str, name: str) -> bool:
    start, anything, _ = name.partition("<")
    if not anything:
        return given == name
    return given.startswith(start) and not given.removeprefix(start).isspace() and given != start


def _first(name: str) -> str:
    return name.partition(":")[0]


def _package(point: EntryPoint) -> str:
    return repr(point.dist.name) if point.dist is not None else "of an unknown name"
