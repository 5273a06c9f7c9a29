"""Bugs of `tiermem/proof`: checking claims and answers by code."""

from tests.planted.bug import Bug

_ALL = ("tests/proof",)

BUGS = (
    Bug(
        name="an answer that cites nothing may be stated",
        file="tiermem/proof/check.py",
        function="graded",
        before="not cited",
        after="cited is None",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="a denial needs no denying words",
        file="tiermem/proof/check.py",
        function="_unconfirmed",
        before="negated(case.answer) and not any(negated(source.text) for source in case.cited)",
        after="not case.answer",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="yes is confirmed by code",
        file="tiermem/proof/check.py",
        function="_unconfirmed",
        before="""
            if _YES_OR_NO.match(case.answer.strip()):
                return "code cannot confirm a yes or no"
        """,
        after="",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="any words will do where the literals fit",
        file="tiermem/proof/check.py",
        function="_unconfirmed",
        before="2 * len(content & cited_stems) < len(content) or (content and not content & cited_stems)",
        after="not cited_stems",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="a number may count anything",
        file="tiermem/proof/check.py",
        function="_amounts_given",
        before="[*found.values()] or [None]",
        after="[None]",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="an older number of the same is not outdated",
        file="tiermem/proof/check.py",
        function="_stated_number",
        before="bool(holding) and not _outdated(amount, units, holding, case)",
        after="bool(holding)",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="a code need not be a word of its own",
        file="tiermem/proof/check.py",
        function="_in_words",
        before=r'rf"(?<!\w){re.escape(code)}(?!\w)"',
        after='rf"{re.escape(code)}"',
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="a date is stated by the day a turn was said, whatever the turn dates itself",
        file="tiermem/proof/check.py",
        function="_date_stated",
        before="said_then and (not own or bool(_ANCHORED.search(before)))",
        after="said_then",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="names need not be cited",
        file="tiermem/proof/check.py",
        function="graded",
        before="_check_names(case, found)",
        after="",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="a count need not be as long as its list",
        file="tiermem/proof/check.py",
        function="_against",
        before="_miscounted(case, found) or _too_many(case, found) or _other_number(case, found) or _denied(case)",
        after="_too_many(case, found) or _other_number(case, found) or _denied(case)",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="more may be counted than the words can tell of",
        file="tiermem/proof/check.py",
        function="_against",
        before="_miscounted(case, found) or _too_many(case, found) or _other_number(case, found) or _denied(case)",
        after="_miscounted(case, found) or _other_number(case, found) or _denied(case)",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="the opposite in the same words is no contradiction",
        file="tiermem/proof/check.py",
        function="_against",
        before="_miscounted(case, found) or _too_many(case, found) or _other_number(case, found) or _denied(case)",
        after="_miscounted(case, found) or _too_many(case, found) or _other_number(case, found)",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="things listed twice count twice",
        file="tiermem/proof/check.py",
        function="_items",
        before='list({" ".join(words(text)): text for text in counted if words(text)}.values())',
        after="[text for text in counted if words(text)]",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="a derivation holds although its words changed",
        file="tiermem/proof/derive.py",
        function="holds",
        before="""
            if words(shown) != words(item.text):
                return False
        """,
        after="",
        found_by=("tests/proof/test_derive.py", "tests/proof", "tests/api"),
    ),
    Bug(
        name="a derivation holds although its turn was said at another time",
        file="tiermem/proof/derive.py",
        function="_said_so",
        before="turn is not None and turn.said_at == item.said_at",
        after="turn is not None",
        found_by=("tests/proof/test_derive.py", "tests/proof", "tests/api"),
    ),
    Bug(
        name="a derivation is not worked out again",
        file="tiermem/proof/derive.py",
        function="holds",
        before="recomputed(derivation) == derivation.value",
        after="recomputed(derivation) is not None",
        found_by=("tests/proof/test_derive.py", "tests/proof", "tests/api"),
    ),
    Bug(
        name="one thing told twice counts as two",
        file="tiermem/proof/derive.py",
        function="recomputed",
        before="{(item.spans, item.text) for item in terms}",
        after="terms",
        found_by=("tests/proof/test_derive.py", "tests/proof", "tests/api"),
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
        name="a number counts what stands beyond the end of its sentence",
        file="tiermem/proof/derive.py",
        function="_unit",
        before='".;:!?"',
        after='";:"',
        found_by=("tests/proof/test_derive.py", *_ALL),
    ),
)
