"""Bugs of `tiermem/salience`: what units are worth."""

from tests.planted.bug import Bug

BUGS = (
    Bug(
        name="a small tier lets nothing leave",
        file="tiermem/salience/tiers.py",
        function="Tier._lowest",
        before="max(1, int(LEAVE_TOGETHER * self.capacity))",
        after="int(LEAVE_TOGETHER * self.capacity)",
        found_by=("tests/salience/test_tiers.py",),
    ),
)
