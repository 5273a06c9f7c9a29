"""Bugs of `tiermem/text`: how words and dates are read."""

from tests.planted.bug import Bug

BUGS = (
    Bug(
        name="a weekday of the day itself is dated",
        file="tiermem/text/dates.py",
        function="_weekday",
        before="tense is None or ahead == 0",
        after="tense is None",
        found_by=("tests/text/test_tense.py",),
    ),
    Bug(
        name="what is reported to lie ahead is dated back",
        file="tiermem/text/tense.py",
        function="_tense_of_past",
        before="is_reported or is_named or is_open or is_intended",
        after="is_named or is_open or is_intended",
        found_by=("tests/text/test_tense.py",),
    ),
)
