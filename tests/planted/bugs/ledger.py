"""Bugs of `tiermem/ledger`: what the log's records come to."""

from tests.planted.bug import Bug

_TIER1 = ("tests/ledger", "tests/writing", "tests/api")

BUGS = (
    Bug(
        name="a retired unit is still recalled",
        file="tiermem/ledger/folds/units.py",
        before="if unit_id not in self._units or unit_id in self._retired:",
        after="if unit_id not in self._units:",
        found_by=_TIER1,
    ),
    Bug(
        name="an older unit does not come back when the newer is retired",
        file="tiermem/ledger/folds/units.py",
        before="return all(newer in self._retired for newer in self._superseded_by.get(unit_id, ()))",
        after="return not self._superseded_by.get(unit_id)",
        found_by=_TIER1,
    ),
    Bug(
        name="one retired successor of two brings the older unit back",
        file="tiermem/ledger/folds/units.py",
        before="return all(newer in self._retired",
        after="return any(newer in self._retired",
        found_by=_TIER1,
    ),
    Bug(
        name="the unit changed by the mark's own record is told again",
        file="tiermem/ledger/folds/units.py",
        before="if self._changed[unit_id] <= seq:",
        after="if self._changed[unit_id] < seq:",
        found_by=_TIER1,
    ),
    Bug(
        name="a page distilled twice counts twice",
        file="tiermem/ledger/kinds/distilled.py",
        before="    if folds.is_distilled(entry.page_id):\n        return\n",
        after="",
        found_by=_TIER1,
    ),
    Bug(
        name="an answer recorded twice is paid twice",
        file="tiermem/ledger/kinds/answered.py",
        before="    if answer.id in folds.answers:\n        return\n    folds.pay(record.at, answer.usage)",
        after="    folds.pay(record.at, answer.usage)\n    if answer.id in folds.answers:\n        return",
        found_by=_TIER1,
    ),
    Bug(
        name="a decided finding waits again",
        file="tiermem/ledger/folds/findings.py",
        before="            if finding.id not in self._decisions:\n                self._pending",
        after="            if finding.id:\n                self._pending",
        found_by=_TIER1,
    ),
    Bug(
        name="the second decision about a finding counts",
        file="tiermem/ledger/kinds/wrote_back.py",
        before="    if entry.write_back.finding_id in folds.decisions:\n        return\n",
        after="",
        found_by=_TIER1,
    ),
    Bug(
        name="a merged unit stays on the pages it left",
        file="tiermem/ledger/folds/units.py",
        before="            self._by_page[page_id].pop(unit.id, None)",
        after="            self._by_page[page_id].get(unit.id, None)",
        found_by=_TIER1,
    ),
    Bug(
        name="what a retired unit superseded is not indexed again",
        file="tiermem/ledger/folds/units.py",
        before="for changed in (unit_id, *(unit.supersedes if unit is not None else ())):",
        after="for changed in (unit_id,):",
        found_by=_TIER1,
    ),
    Bug(
        name="calls of unknown price make the whole day's price unknown",
        file="tiermem/ledger/folds/spending.py",
        before="known = replace(usage, cost=usage.cost or 0.0)",
        after="known = usage",
        found_by=_TIER1,
    ),
    Bug(
        name="an erasure that is done is begun again at every opening",
        file="tiermem/ledger/folds/erasures.py",
        before="        self._erasing.pop(seq, None)\n",
        after="",
        found_by=_TIER1,
    ),
    Bug(
        name="words that a unit which holds rests on are taken back with another",
        file="tiermem/ledger/folds/units.py",
        before="kept = [span for unit in units if self.is_active(unit.id) for span in unit.spans]",
        after="kept: list[Span] = []",
        found_by=("tests/api/test_taken_back.py", "tests/api/test_remember.py"),
    ),
    Bug(
        name="the head is read after what it covers",
        file="tiermem/ledger/ledger.py",
        before="newer = tuple(takewhile(lambda page: page.seq > after, reversed(pages)))[::-1]",
        after="newer = tuple(takewhile(lambda page: page.seq > after + 1, reversed(pages)))[::-1]",
        found_by=_TIER1,
    ),
    Bug(
        name="open pages with a newer turn are not among the changes",
        file="tiermem/ledger/ledger.py",
        before="filling=tuple(page for page in filling if page.seq > after or page.id in besides),",
        after="filling=tuple(page for page in filling if page.id in besides),",
        found_by=_TIER1,
    ),
    Bug(
        name="looking back to a moment leaves out what was recorded in it",
        file="tiermem/ledger/moments.py",
        before="        if at <= moment or moment >= now:",
        after="        if at < moment or moment >= now:",
        found_by=_TIER1,
    ),
    Bug(
        name="an answer that read a page whole stays when a turn of it goes",
        file="tiermem/ledger/kinds/answered.py",
        before="any(page_id in read or any(page_id in text for text in reasons) for",
        after="any(any(page_id in text for text in reasons) for",
        found_by=("tests/writing/test_erase.py",),
    ),
    Bug(
        name="a decision keeps a reason that was weighed against what goes",
        file="tiermem/ledger/kinds/wrote_back.py",
        before="if astray or weighed or named or",
        after="if astray or named or",
        found_by=("tests/writing/test_erase.py",),
    ),
)
