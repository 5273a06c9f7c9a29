"""Bugs planted in every room: the tests must find them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.planted.bugs import BUGS
from tests.planted.planting import copy, verdict
from tests.torture.harness import Outcome, Row, Share


def planted_bugs(share: Share) -> Outcome:
    """Plant each of the share's bugs in a copy of the code and run the tests that should find it."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as folder:
        tree = copy(Path(folder) / "tree")
        for number in share.cases:
            bug = BUGS[number]
            became = verdict(bug, tree)
            outcome.count += 1
            outcome.seen["found" if became.found_by else "argued harmless" if bug.excuse else "survived"] += 1
            outcome.demand(bool(became.found_by or bug.excuse), f"{bug.name}: {became.survived}")
    return outcome


ROWS = (
    Row(
        name="mutants",
        failure="tests without teeth",
        done="bugs of the kinds people ship, planted one at a time in every room of the code; "
        "the default tests of the room must find each",
        unit="planted bugs",
        count=len(BUGS),
        share=1,
        work=planted_bugs,
        fixed=True,
        minutes=90,
    ),
)
