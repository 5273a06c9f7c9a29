"""Bugs of `tiermem/workspace`: what is held in mind."""

from tests.planted.bug import Bug

BUGS = (
    Bug(
        name="what is pinned takes its room twice when it is replaced",
        file="tiermem/workspace/active.py",
        function="ActiveSet.add",
        before="self._pinned - (before.tokens if before is not None and before.pinned else 0)",
        after="self._pinned",
        found_by=("tests/workspace/test_active.py",),
    ),
    Bug(
        name="the quote of an item is not shown",
        file="tiermem/workspace/items.py",
        function="Item.evidence",
        before="self.quote",
        after='""',
        found_by=("tests/workspace/test_assemble.py",),
    ),
)
