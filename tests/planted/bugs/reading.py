"""Bugs of `tiermem/reading`: the way of a question."""

from tests.planted.bug import Bug

_ALL = ("tests/reading", "tests/api")

BUGS = (
    Bug(
        name="words that wait for the index are counted for every owner",
        file="tiermem/reading/backlog.py",
        function="Waiting.candidates",
        before="""
            return await self._index.turns(
                self._space, question, limit=limit, session=session, periods=periods, owners=sees.owners
            )
        """,
        after="""
            return await self._index.turns(
                self._space, question, limit=limit, session=session, periods=periods, owners=None
            )
        """,
        found_by=("tests/reading/test_backlog.py", "tests/api/test_private_words.py"),
    ),
    Bug(
        name="units of another session are seen",
        file="tiermem/reading/view.py",
        function="View._shows",
        before="self.scope.session not in (None, unit.session) or not self._may_have_happened(unit)",
        after="not self._may_have_happened(unit)",
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
        found_by=("tests/reading/test_view.py", "tests/api/test_filters.py"),
    ),
    Bug(
        name="a rare speaker's turns are looked for once",
        file="tiermem/reading/search.py",
        function="LookUp._rank",
        before="len(seen.candidates) >= wanted or found.count < limit or found.count <= before",
        after="True",
        found_by=("tests/reading/test_view.py", "tests/api/test_filters.py"),
    ),
    Bug(
        name="a larger limit ranks other turns",
        file="tiermem/reading/search.py",
        function="LookUp._rank",
        before="limit = self._options.ranking.candidates",
        after="limit = max(self._options.ranking.candidates, self._at_least)",
        found_by=("tests/reading/test_exact.py",),
    ),
    Bug(
        name="pages with a turn that is asked for are left out before they are read",
        file="tiermem/reading/search.py",
        function="LookUp.pages",
        before="limit = max(limit, len(await ledger.pages()) + len(await ledger.open_pages()))",
        after="",
        found_by=("tests/reading/test_view.py", "tests/api/test_filters.py"),
    ),
    Bug(
        name="units that may be seen are looked for once",
        file="tiermem/reading/search.py",
        function="LookUp.units",
        before="self.view.scope.filters and len(found.units) < limit and looked > before",
        after="False",
        found_by=("tests/reading/test_view.py", "tests/api/test_filters.py"),
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
        before="self.around.since <= line.recorded_at <= self.scope.as_of",
        after="self.around.since <= line.recorded_at < self.scope.as_of",
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
                degradations.append(_degradation(error, f"without page {page_id}"))
        """,
        after="""
            dropped += 1
            if error is None:
                degradations.append(_degradation(error, f"without page {page_id}"))
        """,
        found_by=_ALL,
    ),
    Bug(
        name="nobody is told that the index is out of use",
        file="tiermem/reading/search.py",
        function="LookUp._without_index",
        before='_Hits(hits=(), degradations=(_degradation(error, "keywords in the log"),))',
        after="_Hits(hits=())",
        found_by=_ALL,
    ),
    Bug(
        name="the turns a lagging index lacks begin one too late",
        file="tiermem/reading/backlog.py",
        function="Waiting._rows_of_page",
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
        name="the worst turns come first",
        file="tiermem/reading/search.py",
        function="LookUp._reorder",
        before="sorted(raised, key=lambda turn: -turn.score)",
        after="sorted(raised, key=lambda turn: turn.score)",
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
        function="_are_adjacent",
        before="(page.session, page.agent) == (beside.session, beside.agent)",
        after="page.agent == beside.agent",
        found_by=_ALL,
    ),
    Bug(
        name="recall goes over its budget of tokens by one item",
        file="tiermem/reading/recall.py",
        function="fit_to_budget",
        before="tokens <= left",
        after="left > 0",
        found_by=_ALL,
    ),
    Bug(
        name="a unit whose words stand in a turn is told twice",
        file="tiermem/reading/recall.py",
        function="interleave",
        before="not any(repeats(unit, other) for other in near)",
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
        function="ComposedAnswer.holds",
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
        function="_reason_to_decline",
        before='unproved == "mark"',
        after="not verdict.reason",
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
        function="_confirmed_facts",
        before="tuple(fact for fact in (*facts, *stated) if fact.is_supported)",
        after="*facts, *stated",
        found_by=_ALL,
    ),
    Bug(
        name="a question asked of the summaries alone reads pages",
        file="tiermem/reading/ask.py",
        function="_QuestionRun.next_steps",
        before="""
            if self._asking.mode == "summary" or not self._asking.engine.looks_further:
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
            if new.holds:
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
        before="[row for text in texts for row in text.splitlines()]",
        after="[text for text in texts if text]",
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
    Bug(
        name="two turns of a unit are given its date",
        file="tiermem/reading/context.py",
        function="without_repeats",
        before="len(turns) == 1 and first.event_at is None",
        after="first.event_at is None",
        found_by=("tests/reading/test_context.py",),
    ),
    Bug(
        name="the number of pages of others is shown to an agent",
        file="tiermem/reading/search.py",
        function="LookUp.read",
        before="dropped = dropped if self.view.scope.sees.all else 0",
        after="",
        found_by=("tests/reading/test_view.py",),
    ),
    Bug(
        name="a unit has to happen within one of the days whole",
        file="tiermem/reading/view.py",
        function="View._may_have_happened",
        before="event_days[0] <= last and first <= event_days[1]",
        after="first <= event_days[0] and event_days[1] <= last",
        found_by=("tests/reading/test_view.py",),
    ),
    Bug(
        name="the end of today is told by the clock of UTC",
        file="tiermem/reading/past.py",
        function="future_notes",
        before="now.astimezone(moment.tzinfo).date()",
        after="now.date()",
        found_by=("tests/reading/test_past.py",),
    ),
    Bug(
        name="a look at a page is counted twice",
        file="tiermem/reading/looking_back/omissions.py",
        function="over_time",
        before="newest[loss.page_id] = loss",
        after="newest.setdefault(loss.page_id, loss)",
        found_by=("tests/reading/test_omissions.py",),
    ),
    Bug(
        name="the pages that an answer read are not looked at",
        file="tiermem/reading/reader.py",
        function="Reader._sees_all_of",
        before="dict.fromkeys((*(span.page_id for span in spans), *rounds))",
        after="dict.fromkeys(span.page_id for span in spans)",
        found_by=("tests/reading/test_answering.py",),
    ),
    Bug(
        name="the heading takes no room",
        file="tiermem/reading/context.py",
        function="fits",
        before="count(f'{HEADING}\\n') + count(f'{block}\\n')",
        after="count(f'{block}\\n')",
        found_by=("tests/reading/test_context.py",),
    ),
    Bug(
        name="words of an assistant are cited before those of a person",
        file="tiermem/reading/check.py",
        function="_grade_by_own_words",
        before="alone if alone.is_unmarked else found",
        after="found",
        found_by=("tests/reading/test_check.py", *_ALL),
    ),
    Bug(
        name="what is concluded has no caution",
        file="tiermem/reading/check.py",
        function="check",
        before='(*found.cautions, Caution(code="inferred"))',
        after="found.cautions",
        found_by=("tests/reading/test_compose.py", *_ALL),
    ),
    Bug(
        name="a question requires its phrases",
        file="tiermem/reading/search.py",
        function="LookUp._read_exact",
        before='query.rstrip().endswith("?")',
        after="not query",
        found_by=("tests/reading/test_exact.py", *_ALL),
    ),
    Bug(
        name="a caution shows words of another sentence",
        file="tiermem/model.py",
        function="CitedSentence.words",
        before="self.text[span.start - here.start : span.end - here.start]",
        after="self.text[span.start : span.end]",
        found_by=("tests/proof/test_in_words.py", *_ALL),
    ),
    Bug(
        name="undated units are counted by the owners of turns",
        file="tiermem/reading/search.py",
        function="LookUp.undated",
        before='scope.sees.owners if about == "said" else scope.sees.owners_of_units',
        after="scope.sees.owners",
        found_by=(
            "tests/api/test_agents.py::test_an_agent_is_given_the_number_of_undated_units_that_it_sees",
        ),
    ),
    Bug(
        name="exact words are not looked for in cold units",
        file="tiermem/reading/search.py",
        function="LookUp._unindexed_units",
        before="await words.find('units', query, limit=limit, session=scope.session, sees=scope.sees)",
        after="await waiting.find('units', query, limit=limit, session=scope.session, sees=scope.sees)",
        found_by=(
            "tests/reading/test_cold_units.py::test_a_cold_unit_that_contains_the_phrase_of_a_query_is_first",
        ),
    ),
)
