"""Bugs of `tiermem/adapters` that tests find without a framework."""

from tests.planted.bug import Bug

BUGS = (
    Bug(
        name="of a long question the beginning is looked for",
        file="tiermem/adapters/finding.py",
        function="looked_for",
        before="said.strip()[-LONGEST_QUESTION:]",
        after="said.strip()[:LONGEST_QUESTION]",
        found_by=("tests/adapters/test_finding.py",),
    ),
    Bug(
        name="a score of zero is not in the metadata",
        file="tiermem/adapters/finding.py",
        function="known_of",
        before='name != "text" and value not in (None, "")',
        after='name != "text" and value',
        found_by=("tests/adapters/test_finding.py",),
    ),
)
