"""Bugs of `tiermem/proof`: checking claims and answers by code."""

from tests.planted.bug import Bug

_ALL = ("tests/proof",)

BUGS = (
    Bug(
        name="an answer that cites nothing may be stated",
        file="tiermem/proof/check.py",
        before="    if not cited:\n        return Check(",
        after="    if cited is None:\n        return Check(",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="a denial needs no denying words",
        file="tiermem/proof/check.py",
        before="if negated(case.answer) and not any(negated(source.text) for source in case.cited):",
        after="if not case.answer:",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="yes is confirmed by code",
        file="tiermem/proof/check.py",
        before="    if _YES_OR_NO.match(case.answer.strip()):\n"
        '        return "code cannot confirm a yes or no"\n',
        after="",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="any words will do where the literals fit",
        file="tiermem/proof/check.py",
        before="if 2 * len(content & cited_stems) < len(content) or (content and not content & cited_stems):",
        after="if not cited_stems:",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="a number may count anything",
        file="tiermem/proof/check.py",
        before="    return [*found.values()] or [None]",
        after="    return [None]",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="an older number of the same is not outdated",
        file="tiermem/proof/check.py",
        before="return bool(holding) and not _outdated(amount, units, holding, case)",
        after="return bool(holding)",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="a code need not be a word of its own",
        file="tiermem/proof/check.py",
        before=r'rf"(?<!\w){re.escape(code)}(?!\w)"',
        after='rf"{re.escape(code)}"',
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="a date is stated by the day a turn was said, whatever the turn dates itself",
        file="tiermem/proof/check.py",
        before="return said_then and (not own or bool(_ANCHORED.search(before)))",
        after="return said_then",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="names need not be cited",
        file="tiermem/proof/check.py",
        before="    _check_names(case, found)\n    against",
        after="    against",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="a count need not be as long as its list",
        file="tiermem/proof/check.py",
        before="return _miscounted(case, found) or _too_many(case, found)",
        after="return _too_many(case, found)",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="more may be counted than the words can tell of",
        file="tiermem/proof/check.py",
        before="return _miscounted(case, found) or _too_many(case, found) or",
        after="return _miscounted(case, found) or",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="the opposite in the same words is no contradiction",
        file="tiermem/proof/check.py",
        before="or _other_number(case, found) or _denied(case)",
        after="or _other_number(case, found)",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="things listed twice count twice",
        file="tiermem/proof/check.py",
        before='return list({" ".join(words(text)): text for text in counted if words(text)}.values())',
        after="return [text for text in counted if words(text)]",
        found_by=("tests/proof/test_check.py", *_ALL),
    ),
    Bug(
        name="a derivation holds although its words changed",
        file="tiermem/proof/derive.py",
        before="            if words(shown) != words(item.text):\n                return False\n",
        after="",
        found_by=("tests/proof/test_derive.py", "tests/proof", "tests/api"),
    ),
    Bug(
        name="a derivation holds although its turn was said at another time",
        file="tiermem/proof/derive.py",
        before="all(turn is not None and turn.said_at == item.said_at for turn in turns)",
        after="all(turn is not None for turn in turns)",
        found_by=("tests/proof/test_derive.py", "tests/proof", "tests/api"),
    ),
    Bug(
        name="a derivation is not worked out again",
        file="tiermem/proof/derive.py",
        before="    return recomputed(derivation) == derivation.value",
        after="    return recomputed(derivation) is not None",
        found_by=("tests/proof/test_derive.py", "tests/proof", "tests/api"),
    ),
    Bug(
        name="one thing told twice counts as two",
        file="tiermem/proof/derive.py",
        before="return str(len({(item.spans, item.text) for item in terms})) if terms else None",
        after="return str(len(terms)) if terms else None",
        found_by=("tests/proof/test_derive.py", "tests/proof", "tests/api"),
    ),
    Bug(
        name="a year ago is any day of that year",
        file="tiermem/proof/derive.py",
        before='return replace(mention, first=month, last=date.fromordinal(last.toordinal() - 1), precision="month")',
        after='return replace(mention, first=month, last=mention.last, precision="month")',
        found_by=("tests/proof/test_derive.py", *_ALL),
    ),
    Bug(
        name="a number counts what stands beyond the end of its sentence",
        file="tiermem/proof/derive.py",
        before="""set(text[end : match.start()]) & set(".;:!?"):""",
        after="""set(text[end : match.start()]) & set(";:"):""",
        found_by=("tests/proof/test_derive.py", *_ALL),
    ),
)
