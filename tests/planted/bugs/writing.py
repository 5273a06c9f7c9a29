"""Bugs of `tiermem/writing`: what is distilled, written back, erased and kept findable."""

from tests.planted.bug import Bug

_ALL = ("tests/writing", "tests/api")

BUGS = (
    Bug(
        name="pages of different agents are summarised together",
        file="tiermem/writing/batches.py",
        function="batches",
        before="full or batch[-1].agent != page.agent",
        after="full",
        found_by=("tests/writing/test_batches.py",),
    ),
    Bug(
        name="a finding of before brings back what was withdrawn",
        file="tiermem/writing/write_back.py",
        function="WriteBacks._pages",
        before="without(page, tier1.taken_back(page.id))",
        after="page",
        found_by=("tests/api/test_taken_back.py",),
    ),
    Bug(
        name="a second look brings back what was withdrawn",
        file="tiermem/writing/writer.py",
        function="Writer._redistil",
        before="page = self.readable_page(page)",
        after="",
        found_by=("tests/api/test_taken_back.py",),
    ),
    Bug(
        name="a correction takes the place of what is trusted more",
        file="tiermem/writing/state.py",
        function="check_correction",
        before="trust.rank_of(turn) < trust.rank(unit.trust)",
        after="False",
        found_by=("tests/api/test_remember.py",),
    ),
    Bug(
        name="units are merged whoever said them",
        file="tiermem/writing/consolidate.py",
        function="Consolidator._why_not",
        before="one.told_by != two.told_by",
        after="not one.told_by",
        found_by=("tests/writing/test_consolidate.py",),
    ),
    Bug(
        name="a unit that changed meanwhile is merged as it was",
        file="tiermem/writing/consolidate.py",
        function="Consolidator._why_not",
        before="tier1.unit(unit.id) != unit or not tier1.is_active(unit.id)",
        after="tier1.unit(unit.id) is None",
        found_by=("tests/writing/test_consolidate.py",),
    ),
    Bug(
        name="what a merged unit had superseded comes back",
        file="tiermem/writing/consolidate.py",
        function="_standing_for",
        before="(one for unit in units for one in (unit.id, *unit.supersedes))",
        after="(unit.id for unit in units)",
        found_by=("tests/writing/test_consolidate.py",),
    ),
    Bug(
        name="what was taken apart is merged again",
        file="tiermem/ledger/folds/units.py",
        function="UnitsFold.were_parted",
        before="both.issubset(self.merged_units(retired))",
        after="not both",
        found_by=("tests/writing/test_consolidate.py",),
    ),
    Bug(
        name="near is the same",
        file="tiermem/salience/propose.py",
        function="difference",
        before='"" if telling(one.text) == telling(other.text) else "their wording differs"',
        after='""',
        found_by=("tests/salience/test_propose.py",),
    ),
    Bug(
        name="a pass begins a page while the memory closes",
        file="tiermem/runtime/background.py",
        function="Background.idle_window",
        before="self._opened.ending",
        after="False",
        found_by=("tests/api/test_consolidate.py",),
    ),
    Bug(
        name="what is merged is trusted as the higher side",
        file="tiermem/writing/edit.py",
        function="grounds_of",
        before="min(ranks)",
        after="max(ranks)",
        found_by=("tests/writing/test_trust.py", *_ALL),
    ),
    Bug(
        name="words nobody can read are fully trusted",
        file="tiermem/writing/edit.py",
        function="grounds_of",
        before="min(ranks) if sources else 0",
        after="min(ranks, default=len(trust.names) - 1)",
        found_by=("tests/writing/test_trust.py", *_ALL),
    ),
    Bug(
        name="whoever is trusted less supersedes",
        file="tiermem/writing/edit.py",
        function="_may_supersede",
        before="""
            if newer.trust < older.trust:
                return False
        """,
        after="",
        found_by=("tests/writing/test_trust.py", *_ALL),
    ),
    Bug(
        name="what was said earlier supersedes what was said later",
        file="tiermem/writing/edit.py",
        function="_may_supersede",
        before="latest([older.said_at, newer.said_at]) == newer.said_at",
        after="True",
        found_by=("tests/writing/test_write_back.py", *_ALL),
    ),
    Bug(
        name="units of different trust are merged",
        file="tiermem/writing/edit.py",
        function="why_not_one",
        before="grounds.trust > target.grounds.trust",
        after="False",
        found_by=("tests/writing/test_trust.py", *_ALL),
    ),
    Bug(
        name="a merged text may forget",
        file="tiermem/writing/edit.py",
        function="why_not_one",
        before='return f"it forgets {lost[0]!r}" if lost else None',
        after="return None",
        found_by=("tests/writing/test_write_back.py", *_ALL),
    ),
    Bug(
        name="a merged text may invent",
        file="tiermem/writing/edit.py",
        function="_why_not_verified",
        before="found.unsupported or not found.sentences",
        after="not found.sentences",
        found_by=("tests/writing/test_write_back.py", *_ALL),
    ),
    Bug(
        name="a merged text may lose a word of the unit",
        file="tiermem/writing/edit.py",
        function="_why_not_verified",
        before="""
            if forgotten:
                return f"it forgets {forgotten[0]!r}"
        """,
        after="",
        found_by=("tests/writing/test_write_back.py", *_ALL),
    ),
    Bug(
        name="a merged text may swap people",
        file="tiermem/writing/edit.py",
        function="_why_not_verified",
        before='"; ".join(cautions) or None',
        after="None",
        found_by=("tests/writing/test_write_back.py", *_ALL),
    ),
    Bug(
        name="a merged text may be an order",
        file="tiermem/writing/edit.py",
        function="why_not_one",
        before="""
            if instruction_like(text, speaker=ASSISTANT):
                return "it reads like an instruction"
        """,
        after="",
        found_by=("tests/writing/test_write_back.py", *_ALL),
    ),
    Bug(
        name="a denial is merged with an assertion",
        file="tiermem/writing/edit.py",
        function="why_not_one",
        before="not is_negated(known) == is_negated(new) == is_negated(text)",
        after="is_negated(known) != is_negated(text)",
        found_by=("tests/writing/test_write_back.py", *_ALL),
    ),
    Bug(
        name="a merged unit loses the words of the fact",
        file="tiermem/writing/edit.py",
        function="_merge_unit",
        before="tuple(dict.fromkeys((*unit.spans, *fact.spans)))",
        after="unit.spans",
        found_by=("tests/writing/test_write_back.py", *_ALL),
    ),
    Bug(
        name="what a superseded unit had superseded comes back",
        file="tiermem/writing/edit.py",
        function="_with_all_before",
        before="unit_id, *neighbours[unit_id].unit.supersedes",
        after="(unit_id,)",
        found_by=("tests/writing/test_write_back.py", *_ALL),
    ),
    Bug(
        name="units that were not shown may be superseded",
        file="tiermem/writing/edit.py",
        function="_malformation",
        before="unit_id not in neighbours",
        after="not unit_id",
        found_by=("tests/writing/test_write_back.py", *_ALL),
    ),
    Bug(
        name="a finding that was only worded is decided on",
        file="tiermem/writing/write_back.py",
        function="WriteBacks._candidate",
        before="not finding.fact.is_supported",
        after='finding.fact.support == "contradicted"',
        found_by=("tests/writing/test_write_back.py", *_ALL),
    ),
    Bug(
        name="a finding is not proved again",
        file="tiermem/writing/write_back.py",
        function="WriteBacks._candidate",
        before="fact = _proof(finding.fact, pages)",
        after="fact: LinkedFact | Rejected = finding.fact",
        found_by=("tests/writing/test_write_back.py", *_ALL),
    ),
    Bug(
        name="the floor of write-back is one too low",
        file="tiermem/writing/write_back.py",
        function="WriteBacks._candidate",
        before="trust.rank(floor)",
        after="trust.rank(floor) - 1",
        found_by=("tests/writing/test_trust.py", *_ALL),
    ),
    Bug(
        name="a finding decided on is decided again",
        file="tiermem/writing/write_back.py",
        function="WriteBacks._candidate",
        before="""
            if finding.id in self._ledger.tier1.decisions:
                return ()
        """,
        after="",
        found_by=("tests/writing/test_write_back.py", *_ALL),
    ),
    Bug(
        name="findings of open pages are written back",
        file="tiermem/writing/write_back.py",
        function="WriteBacks._candidate",
        before="(page.sealed_at is None for page in pages)",
        after="(page.sealed_at is None for page in ())",
        found_by=("tests/writing/test_write_back.py", *_ALL),
    ),
    Bug(
        name="inactive units are shown as neighbours",
        file="tiermem/writing/write_back.py",
        function="WriteBacks._neighbours",
        before="tier1.is_active(unit.id)",
        after="True",
        found_by=("tests/writing/test_write_back.py", *_ALL),
    ),
    Bug(
        name="what a page lost is what its first unit does not say",
        file="tiermem/writing/distil.py",
        function="distil.link_claims",
        before="[unit.text for unit in made.units_on(page.id)]",
        after="[unit.text for unit in made.units_on(page.id)[:1]]",
        found_by=("tests/writing/test_distil.py", *_ALL),
    ),
    Bug(
        name="a unit is of the page of its last words",
        file="tiermem/writing/distil.py",
        function="UnitsMade.units_on",
        before="unit.spans[0]",
        after="unit.spans[-1]",
        found_by=("tests/writing/test_distil.py", *_ALL),
    ),
    Bug(
        name="a rejected claim is not told",
        file="tiermem/writing/distil.py",
        function="prove_claims",
        before="made.rejected.append(fact)",
        after="continue",
        found_by=("tests/writing/test_distil.py", *_ALL),
    ),
    Bug(
        name="a worded claim leaves nothing",
        file="tiermem/writing/distil.py",
        function="prove_claims",
        before="quotations(fact, pages)",
        after="()",
        found_by=("tests/writing/test_distil.py", *_ALL),
    ),
    Bug(
        name="importance may be anything",
        file="tiermem/writing/importance.py",
        function="clamp",
        before="min(max(importance, 0.0), 1.0) if math.isfinite(importance) else UNKNOWN",
        after="importance",
        found_by=("tests/writing/test_distil.py", *_ALL),
    ),
    Bug(
        name="the mark is written before the index is durable",
        file="tiermem/writing/projection.py",
        function="Projection._project",
        before="""
            if not isinstance(self._index, Shows):
                await self._index.flush()
            await self._index.set_mark(self._ledger.indexed_as, upto)
        """,
        after="""
            if not isinstance(self._index, Shows):
                await self._index.set_mark(self._ledger.indexed_as, upto)
            await self._index.flush()
        """,
        found_by=("tests/writing/test_projection.py", *_ALL),
    ),
    Bug(
        name="the turns that new ones stand around are not put again",
        file="tiermem/writing/projection.py",
        function="Projection._put_new_turns",
        before="new + AROUND",
        after="new",
        found_by=("tests/writing/test_projection.py", *_ALL),
    ),
    Bug(
        name="a retired unit is put as active",
        file="tiermem/writing/projection.py",
        function="Projection._unit_entry",
        before="self._ledger.tier1.is_active(unit.id)",
        after="True",
        found_by=("tests/writing/test_projection.py", *_ALL),
    ),
    Bug(
        name="an erasure puts cold units into the index",
        file="tiermem/writing/projection.py",
        function="Projection._put_units_again",
        before="not tier1.is_cold(unit.id) and tier1.is_indexed(unit)",
        after="tier1.is_indexed(unit)",
        found_by=("tests/api/test_hot_units.py::test_erasing_puts_no_cold_unit_into_the_index",),
    ),
    Bug(
        name="a page set aside is recorded again each time",
        file="tiermem/writing/projection.py",
        function="Projection._set_aside",
        before="set_aside.get(page_id) != reason",
        after="True",
        found_by=(
            "tests/writing/test_set_aside.py::"
            "test_a_page_that_fails_again_for_the_same_reason_is_not_recorded_again",
        ),
    ),
    Bug(
        name="a finding is written into a shared unit",
        file="tiermem/writing/write_back.py",
        function="WriteBacks._neighbours",
        before="[unit for unit in theirs if unit.id not in tier1.shared]",
        after="list(theirs)",
        found_by=("tests/writing/test_write_back.py::test_no_finding_is_written_into_a_shared_unit",),
    ),
    Bug(
        name="a page that is erased leaves the earlier parts of its turns in units",
        file="tiermem/writing/erase.py",
        function="_pages_of_parts",
        before="range(page.number - reach + 1, page.number + reach)",
        after="range(page.number, page.number + reach)",
        found_by=(
            "tests/api/test_erase.py::test_a_page_that_is_erased_takes_the_earlier_parts_of_its_turns",
        ),
    ),
    Bug(
        name="the words of other parts of an erased turn are not looked for",
        file="tiermem/writing/erase.py",
        function="Eraser._erased_turns",
        before="whole = _all_parts(line for page in affected for line in page.lines if line.seq in seqs)",
        after="whole = seqs",
        found_by=(
            "tests/writing/test_erase.py::"
            "test_the_words_of_all_parts_are_looked_for_where_one_part_is_announced",
        ),
    ),
    Bug(
        name="an erased line returns when it and its neighbours are edited",
        file="tiermem/writing/turn_ids.py",
        function="_erased_before",
        before="stays_away if empty and not missing else stays_away | set(erased)",
        after="stays_away",
        found_by=(
            "tests/api/test_files_again.py::"
            "test_an_erased_turn_stays_away_where_it_and_its_neighbours_were_edited",
        ),
    ),
    Bug(
        name="what was erased of a dated file comes back under another name",
        file="tiermem/writing/chats.py",
        function="_count_erased",
        before="len(found) if len(found) - placed >= _FEWEST else placed",
        after="0",
        found_by=(
            "tests/api/test_renamed_files.py::test_what_was_erased_stays_away_under_another_file_name",
        ),
    ),
    Bug(
        name="another file with the ids and lengths of an erased one is dropped",
        file="tiermem/writing/chats.py",
        function="_count_erased",
        before="min(_RUN, len(ours), len(theirs))",
        after="1",
        found_by=(
            "tests/api/test_renamed_files.py::"
            "test_ids_and_lengths_of_an_erased_file_do_not_keep_another_file_away",
        ),
    ),
    Bug(
        name="an erased line returns where one of its length was put in before it",
        file="tiermem/writing/turn_ids.py",
        function="_erased_in_gap",
        before="not is_last or _has_clock(turn) or count[size] < sizes[size]",
        after="count[size] < sizes[size]",
        found_by=(
            "tests/api/test_files_again.py::"
            "test_an_erased_turn_stays_away_where_a_line_of_its_length_was_put_into_the_file",
        ),
    ),
    Bug(
        name="an erased line returns where it was moved",
        file="tiermem/writing/turn_ids.py",
        function="_erased_before",
        before="stays_away |= moved.keys()",
        after="",
        found_by=(
            "tests/api/test_files_again.py::"
            "test_an_erased_turn_stays_away_where_its_line_or_others_were_moved",
        ),
    ),
    Bug(
        name="new lines of the length of an erased one are dropped",
        file="tiermem/writing/turn_ids.py",
        function="_erased_in_gap",
        before="not is_last or _has_clock(turn) or count[size] < sizes[size]",
        after="True",
        found_by=(
            "tests/api/test_files_again.py::test_what_repeats_the_length_of_an_erased_last_turn_is_stored",
        ),
    ),
    Bug(
        name="an erased last line returns where one of its length and minute was put in before it",
        file="tiermem/writing/turn_ids.py",
        function="_erased_in_gap",
        before="not is_last or _has_clock(turn) or count[size] < sizes[size]",
        after="not is_last or count[size] < sizes[size]",
        found_by=("tests/api/test_files_again.py::test_nine_kinds_of_edits_bring_no_erased_turn_back",),
    ),
    Bug(
        name="an erased last line returns when a file with a new line before it is read twice",
        file="tiermem/writing/turn_ids.py",
        function="_erased_before",
        before="near if is_last else missing",
        after="Counter() if is_last else missing",
        found_by=("tests/api/test_files_again.py::test_nine_kinds_of_edits_bring_no_erased_turn_back",),
    ),
    Bug(
        name="ids of chats of other agents show in what an agent imports",
        file="tiermem/writing/chats.py",
        function="_sessions_of",
        before="name in own",
        after="True",
        found_by=("tests/apps/http/test_import.py",),
    ),
)
