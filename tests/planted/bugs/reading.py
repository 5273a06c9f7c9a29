"""Bugs of `tiermem/reading`: the way of a question."""

from tests.planted.bug import Bug

_ALL = ("tests/reading", "tests/api")

BUGS = (
    Bug(
        name="words that wait for the index are counted for every owner",
        file="tiermem/reading/keywords.py",
        function="Keywords.rank",
        before="texts = sum(part.texts for part in seen) + len(also)",
        after="texts = len(self)",
        found_by=("tests/reading/test_backlog.py", "tests/api/test_private_words.py"),
    ),
    Bug(
        name="units of another session are seen",
        file="tiermem/reading/view.py",
        function="View._shows",
        before="self.scope.session not in (None, unit.session) or not self._happened(unit)",
        after="not self._happened(unit)",
        found_by=_ALL,
    ),
    Bug(
        name="pages of another session are seen",
        file="tiermem/reading/view.py",
        function="View.holds",
        before="""
            if self.scope.session not in (None, page.session):
                return False
        """,
        after="",
        found_by=_ALL,
    ),
    Bug(
        name="a unit that is superseded is still seen",
        file="tiermem/reading/view.py",
        function="View.unit",
        before="unit is None or not self.tier1.is_active(unit.id)",
        after="unit is None",
        found_by=_ALL,
    ),
    Bug(
        name="words that were taken back are read from their page",
        file="tiermem/reading/view.py",
        function="View.seen",
        before="page = without(page, self.taken_back(page))",
        after="",
        found_by=("tests/api/test_taken_back.py",),
    ),
    Bug(
        name="the floor of trust leaves out its own level",
        file="tiermem/reading/view.py",
        function="View._trusts",
        before="self.trust.rank(unit.trust) >= self.trust.rank(floor)",
        after="self.trust.rank(unit.trust) > self.trust.rank(floor)",
        found_by=_ALL,
    ),
    Bug(
        name="units have no floor of trust",
        file="tiermem/reading/view.py",
        function="View._trusts",
        before="floor is None or self.trust.rank(unit.trust) >= self.trust.rank(floor)",
        after="True",
        found_by=_ALL,
    ),
    Bug(
        name="units that rest on turns nobody asked for are seen",
        file="tiermem/reading/view.py",
        function="View._shows",
        before="not hidden and self._sees(unit)",
        after="not hidden",
        found_by=("tests/api/test_filters.py", "tests/reading/test_view.py"),
    ),
    Bug(
        name="turns nobody asked for are read from their page",
        file="tiermem/reading/view.py",
        function="View.seen",
        before="turns is not None",
        after="turns is None",
        found_by=("tests/api/test_filters.py", "tests/reading/test_view.py"),
    ),
    Bug(
        name="pages without a turn that is asked for take a place",
        file="tiermem/reading/view.py",
        function="View.holds",
        before="self.scope.min_trust is not None or self.scope.turns is not None",
        after="self.scope.min_trust is not None",
        found_by=("tests/api/test_filters.py", "tests/reading/test_view.py"),
    ),
    Bug(
        name="a rare speaker's turns are looked for once",
        file="tiermem/reading/search.py",
        function="LookUp._turns",
        before="enough or len(found.hits) <= before",
        after="True",
        found_by=("tests/api/test_filters.py", "tests/reading/test_view.py"),
    ),
    Bug(
        name="pages with a turn that is asked for are left out before they are read",
        file="tiermem/reading/search.py",
        function="LookUp.pages",
        before="limit = max(limit, len(await ledger.pages()) + len(await ledger.open_pages()))",
        after="",
        found_by=("tests/api/test_filters.py", "tests/reading/test_view.py"),
    ),
    Bug(
        name="units that may be seen are looked for once",
        file="tiermem/reading/search.py",
        function="LookUp.units",
        before="self.view.scope.filters and len(found.units) < limit and looked > before",
        after="False",
        found_by=("tests/api/test_filters.py", "tests/reading/test_view.py"),
    ),
    Bug(
        name="what was said at that very moment is not in its period",
        file="tiermem/model.py",
        function="_in_order",
        before="first.replace(tzinfo=first.tzinfo or then.tzinfo) <= then.replace(tzinfo=then.tzinfo or first.tzinfo)",
        after="first.replace(tzinfo=first.tzinfo or then.tzinfo) < then.replace(tzinfo=then.tzinfo or first.tzinfo)",
        found_by=("tests/api/test_filters.py", "tests/reading/test_view.py"),
    ),
    Bug(
        name="what was recorded at that very moment is not seen",
        file="tiermem/reading/view.py",
        function="View._said_by_then",
        before="self._around.since <= line.recorded_at <= self.scope.as_of",
        after="self._around.since <= line.recorded_at < self.scope.as_of",
        found_by=_ALL,
    ),
    Bug(
        name="a time without a zone is local",
        file="tiermem/reading/view.py",
        function="_past",
        before="moment.replace(tzinfo=UTC)",
        after="moment.astimezone()",
        found_by=_ALL,
    ),
    Bug(
        name="pages are read again with every step",
        file="tiermem/reading/view.py",
        function="View.fetch",
        before="[page_id for page_id in wanted if page_id not in self._read]",
        after="list(wanted)",
        found_by=_ALL,
    ),
    Bug(
        name="damage reads as a page that never was",
        file="tiermem/reading/search.py",
        function="LookUp.read",
        before="""
            if isinstance(error, PageNotFound):
                dropped += 1
            else:
                degradations.append(_degraded(error, f"without page {page_id}"))
        """,
        after="""
            dropped += 1
            if error is None:
                degradations.append(_degraded(error, f"without page {page_id}"))
        """,
        found_by=_ALL,
    ),
    Bug(
        name="nobody is told that the index is out of use",
        file="tiermem/reading/search.py",
        function="LookUp._without_index",
        before='_Hits(hits=(), degradations=(_degraded(error, "keywords in the log"),))',
        after="_Hits(hits=())",
        found_by=_ALL,
    ),
    Bug(
        name="the turns a lagging index lacks begin one too late",
        file="tiermem/reading/backlog.py",
        function="Waiting.take_in_page",
        before="self.mark",
        after="self.mark + 1",
        found_by=_ALL,
    ),
    Bug(
        name="units the index lacks are not looked at",
        file="tiermem/reading/backlog.py",
        function="Backlog.after",
        before="changes.units",
        after="()",
        found_by=_ALL,
    ),
    Bug(
        name="an open page's id is not that of the sealed one",
        file="tiermem/reading/search.py",
        function="_as_sealed",
        before="sealed.get(page_id, page_id)",
        after="page_id",
        found_by=_ALL,
    ),
    Bug(
        name="the worst turns come first",
        file="tiermem/reading/turns.py",
        function="ranked_turns",
        before="-turn.score",
        after="turn.score",
        found_by=_ALL,
    ),
    Bug(
        name="a span that ends where a turn begins touches it",
        file="pagestore/values.py",
        function="PageLine.touches",
        before="self.start < span.end and span.start < self.end",
        after="self.start <= span.end and span.start <= self.end",
        found_by=_ALL,
    ),
    Bug(
        name="what was said beside comes from another session",
        file="tiermem/reading/turns.py",
        function="_beside",
        before="(said[i][0].session, said[i][0].agent) == (page.session, page.agent)",
        after="said[i][0].agent == page.agent",
        found_by=_ALL,
    ),
    Bug(
        name="recall goes over its budget of tokens by one item",
        file="tiermem/reading/recall.py",
        function="within",
        before="tokens <= left",
        after="left > 0",
        found_by=_ALL,
    ),
    Bug(
        name="a unit whose words stand in a turn is told twice",
        file="tiermem/reading/recall.py",
        function="interleaved",
        before="unit is not None and not any(repeats(unit, other) for other in turns)",
        after="unit is not None",
        found_by=_ALL,
    ),
    Bug(
        name="an abstention that may be mended by reading suffices",
        file="tiermem/reading/compose.py",
        function="Composer.word",
        before="draft.abstained and draft.complete",
        after="draft.abstained",
        found_by=_ALL,
    ),
    Bug(
        name="a refused answer is given",
        file="tiermem/reading/compose.py",
        function="Composed.holds",
        before="not self.abstained and not self.declined",
        after="not self.abstained",
        found_by=_ALL,
    ),
    Bug(
        name="a citation is off by one",
        file="tiermem/reading/compose.py",
        function="Composer.word",
        before="0 <= i < len(items)",
        after="0 < i < len(items)",
        found_by=_ALL,
    ),
    Bug(
        name="unproved answers are given where they should be kept back",
        file="tiermem/reading/compose.py",
        function="_declined",
        before='"worded"',
        after='"contradicted"',
        found_by=_ALL,
    ),
    Bug(
        name="a citation has the trust of its unit alone",
        file="tiermem/reading/compose.py",
        function="_trust",
        before="levels.append(item.evidence.trust or trust.names[0])",
        after="levels = [item.evidence.trust or trust.names[0]]",
        found_by=_ALL,
    ),
    Bug(
        name="what was only worded is written back",
        file="tiermem/reading/ask.py",
        function="_confirmed",
        before="tuple(fact for fact in (*facts, *stated) if is_proved(fact.support))",
        after="*facts, *stated",
        found_by=_ALL,
    ),
    Bug(
        name="a question asked of the summaries alone reads pages",
        file="tiermem/reading/ask.py",
        function="_Reading.ways_on",
        before="""
            if self._asking.mode == "summary":
                return ()
        """,
        after="",
        found_by=_ALL,
    ),
    Bug(
        name="an answer that suffices is researched all the same",
        file="tiermem/reading/ask.py",
        function="ask",
        before="""
            if steps and steps[-1].composed.suffices:
                break
        """,
        after="",
        found_by=_ALL,
    ),
    Bug(
        name="a worse wording takes the place of a good one",
        file="tiermem/reading/compose.py",
        function="better",
        before="""
            if new.holds and not new.by_rules:
                return new
            return next((one for one in before if one.holds), new)
        """,
        after="return new or next((one for one in before if one.holds), new)",
        found_by=_ALL,
    ),
    Bug(
        name="words from memory can end the block of a context",
        file="tiermem/reading/context.py",
        function="_block",
        before="[row for text in (item.text, item.quote) for row in text.splitlines()]",
        after="[text for text in (item.text, item.quote) if text]",
        found_by=_ALL,
    ),
    Bug(
        name="a context is longer than it may be",
        file="tiermem/reading/context.py",
        function="assemble",
        before="blocks and count(_text(blocks)) > max_tokens",
        after="False",
        found_by=_ALL,
    ),
)
