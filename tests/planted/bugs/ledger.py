"""Bugs of `tiermem/ledger`: what the log's records come to."""

from tests.planted.bug import Bug

_TIER1 = ("tests/ledger", "tests/writing", "tests/api")

BUGS = (
    Bug(
        name="an agent sees what belongs to others",
        file="tiermem/ledger/visibility.py",
        function="Visibility.includes",
        before="self.agents is None or all(one is None or one in self.agents for one in agents)",
        after="True",
        found_by=("tests/api/test_agents.py",),
    ),
    Bug(
        name="an agent sees what belongs to it and another together",
        file="tiermem/ledger/visibility.py",
        function="Visibility.includes",
        before="self.agents is None or all(one is None or one in self.agents for one in agents)",
        after="self.agents is None or not agents or any(one is None or one in self.agents for one in agents)",
        found_by=("tests/ledger/test_sees.py",),
    ),
    Bug(
        name="an agent changes what is nobody's",
        file="tiermem/ledger/visibility.py",
        function="Visibility.owns",
        before="set(agents) == {self.agent}",
        after="self.includes(agents)",
        found_by=("tests/api/test_agents.py",),
    ),
    Bug(
        name="a retired unit is still recalled",
        file="tiermem/ledger/folds/units.py",
        function="UnitsFold.is_active",
        before="unit_id not in self._units or unit_id in self._retired or self.is_in_parts(unit_id)",
        after="unit_id not in self._units or self.is_in_parts(unit_id)",
        found_by=_TIER1,
    ),
    Bug(
        name="an older unit does not come back when the newer is retired",
        file="tiermem/ledger/folds/units.py",
        function="UnitsFold.is_active",
        before="all(newer in self._retired for newer in self._superseded_by.get(unit_id, ()))",
        after="not self._superseded_by.get(unit_id)",
        found_by=_TIER1,
    ),
    Bug(
        name="one retired successor of two brings the older unit back",
        file="tiermem/ledger/folds/units.py",
        function="UnitsFold.is_active",
        before="all(newer in self._retired for newer in self._superseded_by.get(unit_id, ()))",
        after="any(newer in self._retired for newer in self._superseded_by.get(unit_id, ()))",
        found_by=_TIER1,
    ),
    Bug(
        name="the unit changed by the mark's own record is told again",
        file="tiermem/ledger/folds/units.py",
        function="newer_than",
        before="changes[unit_id] > seq",
        after="changes[unit_id] >= seq",
        found_by=_TIER1,
    ),
    Bug(
        name="a page distilled twice counts twice",
        file="tiermem/ledger/kinds/distilled.py",
        function="_fold",
        before="""
            if folds.is_distilled(entry.page_id):
                return
        """,
        after="",
        found_by=_TIER1,
    ),
    Bug(
        name="an answer recorded twice is paid twice",
        file="tiermem/ledger/kinds/answered.py",
        function="_fold",
        before="""
            if answer.id in folds.answers:
                return
            folds.pay(record.at, answer.usage)
        """,
        after="""
            folds.pay(record.at, answer.usage)
            if answer.id in folds.answers:
                return
        """,
        found_by=_TIER1,
    ),
    Bug(
        name="a decided finding waits again",
        file="tiermem/ledger/folds/findings.py",
        function="FindingsFold.put_findings",
        before="finding.id not in self._decisions",
        after="finding.id",
        found_by=_TIER1,
    ),
    Bug(
        name="the second decision about a finding counts",
        file="tiermem/ledger/kinds/wrote_back.py",
        function="_fold",
        before="""
            if entry.write_back.finding_id in folds.decisions:
                return
        """,
        after="",
        found_by=_TIER1,
    ),
    Bug(
        name="a merged unit stays on the pages it left",
        file="tiermem/ledger/folds/units.py",
        function="UnitsFold._unlink",
        before="self._by_page[page_id].pop",
        after="self._by_page[page_id].get",
        found_by=_TIER1,
    ),
    Bug(
        name="what a retired unit superseded is not indexed again",
        file="tiermem/ledger/folds/units.py",
        function="UnitsFold._touch_with_older",
        before="unit_id, *(unit.supersedes if unit is not None else ())",
        after="(unit_id,)",
        found_by=_TIER1,
    ),
    Bug(
        name="calls of unknown price make the whole day's price unknown",
        file="tiermem/ledger/folds/spending.py",
        function="SpendingFold.pay",
        before="replace(usage, cost=usage.cost or 0.0)",
        after="usage",
        found_by=_TIER1,
    ),
    Bug(
        name="an erasure that is done is begun again at every opening",
        file="tiermem/ledger/folds/erasures.py",
        function="ErasuresFold.finish_erasing",
        before="self._erasing.pop(seq, None)",
        after="",
        found_by=_TIER1,
    ),
    Bug(
        name="words that a unit which holds rests on are taken back with another",
        file="tiermem/ledger/folds/units.py",
        function="UnitsFold.taken_back",
        before="kept = [span for unit in units if self.is_active(unit.id) for span in unit.spans]",
        after="kept: list[Span] = []",
        found_by=("tests/api/test_remember.py", "tests/api/test_taken_back.py"),
    ),
    Bug(
        name="the head is read after what it covers",
        file="tiermem/ledger/ledger.py",
        function="Ledger.changes",
        before="lambda page: page.seq > after",
        after="lambda page: page.seq > after + 1",
        found_by=_TIER1,
    ),
    Bug(
        name="open pages with a newer turn are not among the changes",
        file="tiermem/ledger/ledger.py",
        function="Ledger.changes",
        before="page.seq > after or page.id in besides",
        after="page.id in besides",
        found_by=_TIER1,
    ),
    Bug(
        name="looking back to a moment leaves out what was recorded in it",
        file="tiermem/ledger/moments.py",
        function="around_moment",
        before="at <= moment",
        after="at < moment",
        found_by=_TIER1,
    ),
    Bug(
        name="an answer that read a page whole stays when a turn of it goes",
        file="tiermem/ledger/kinds/answered.py",
        function="_tells_of_pages",
        before="page_id in read or any(page_id in text for text in reasons)",
        after="any(page_id in text for text in reasons)",
        found_by=("tests/writing/test_erase.py",),
    ),
    Bug(
        name="a decision keeps a reason that was weighed against what goes",
        file="tiermem/ledger/kinds/wrote_back.py",
        function="_may_stay",
        before="astray or weighed or named or goes.repeated_in([decision.reason])",
        after="astray or named or goes.repeated_in([decision.reason])",
        found_by=("tests/ledger/test_wrote_back.py",),
    ),
    Bug(
        name="turns right after the clock was set back are lost to the past",
        file="tiermem/ledger/moments.py",
        function="around_moment",
        before="at - _SLACK",
        after="at",
        found_by=("tests/reading/test_recall.py::test_a_turn_right_after_the_clock_was_set_back_is_seen",),
    ),
    Bug(
        name="a title stays when the last turn of its chat is erased",
        file="tiermem/ledger/kinds/chat_title.py",
        function="_may_stay",
        before="goes.everything or not goes.has_turns_left(entry.chat, entry.agent)",
        after="goes.everything",
        found_by=("tests/api/test_titles.py",),
    ),
    Bug(
        name="an agent gets titles of chats of other agents",
        file="tiermem/ledger/folds/titles.py",
        function="TitlesFold.title",
        before="title and sees.includes((agent,))",
        after="title",
        found_by=("tests/api/test_titles.py",),
    ),
    Bug(
        name="a title that repeats erased words comes back with the next import",
        file="tiermem/ledger/folds/titles.py",
        function="TitlesFold.needs_title",
        before="title != known and (chat, agent) not in self._erased_titles",
        after="title != known",
        found_by=("tests/api/test_titles.py",),
    ),
)
