"""Bugs of `tiermem/proof`: checking claims and answers by code."""

from tests.planted.bug import Bug

_ALL = ("tests/proof",)

BUGS = (
    Bug(
        name="words of several turns may be one statement",
        file="tiermem/proof/link.py",
        function="_grade_claim",
        before='["its words are in different turns"] * found.is_combined',
        after="[]",
        found_by=("tests/proof/test_link.py", *_ALL),
    ),
    Bug(
        name="a fact with cautions keeps its wording",
        file="tiermem/proof/link.py",
        function="_grade_claim",
        before='[str(each) for each in found.cautions if each.code != "topic"]',
        after="[]",
        found_by=("tests/proof/test_link.py", *_ALL),
    ),
    Bug(
        name="whoever is told may think what is said",
        file="tiermem/proof/cautions.py",
        function="_is_claimed_of_another",
        before="""
            if subject.teller and subject.teller not in (reading.speaker, reading.teller):
                return True
        """,
        after="",
        found_by=("tests/proof/test_link.py", *_ALL),
    ),
    Bug(
        name="a year ago is any day of that year",
        file="tiermem/proof/derive.py",
        function="_same_month",
        before="date.fromordinal(last.toordinal() - 1)",
        after="mention.last",
        found_by=("tests/proof/test_derive.py", *_ALL),
    ),
    Bug(
        name="a recorded date is believed, whatever the words give",
        file="tiermem/reading/looking_back/recomputing.py",
        function="recompute",
        before="derivation.value in values",
        after="values",
        found_by=("tests/reading/test_answering.py", *_ALL),
    ),
    Bug(
        name="a date is computed from a part of its expression",
        file="tiermem/proof/date_parts.py",
        function="without_parts",
        before="one in parts or _has_more_before(text, one, ends) or _has_more_after(text, one)",
        after="one in parts or _has_more_after(text, one)",
        found_by=("tests/proof/test_date_parts.py",),
    ),
    Bug(
        name="any caution is taken for the topic",
        file="tiermem/proof/grade.py",
        function="Grade.is_unmarked",
        before='caution.code != "topic"',
        after='caution.code == "topic"',
        found_by=("tests/proof/test_grade.py", *_ALL),
    ),
    Bug(
        name="words between two marked ones are marked",
        file="tiermem/proof/grade.py",
        function="_merge_places",
        before="not any(char.isalnum() for char in text[merged[-1][1] : start])",
        after="merged[-1][1] < start",
        found_by=("tests/proof/test_grade.py", *_ALL),
    ),
)
