"""What a page log promises, as tests. A new backend subclasses `PageLogContract` and says how to open one.

    class TestMyLog(PageLogContract):
        def new_log(self) -> PageLog:
            return MyLog(...)

Where only the lines of a log are kept elsewhere, `LinesContract` tests these alone, by `new_lines`; where
several writers may have them open, `SharedLogContract` tests that too, by `new_logs`.

Needs pytest and Hypothesis, which the rest of the package does not.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore.address import seq_in
from pagestore.errors import Closed, Conflict, Corrupt, PageNotFound, RecordNotFound
from pagestore.interface import KeepsPages, LooksUp, PageLog, SharedLog
from pagestore.line import Line, encode
from pagestore.lines.interface import Lines
from pagestore.merkle import verify_inclusion
from pagestore.rendering import as_rendered, parse
from pagestore.values import Checkpoint, InclusionProof, Page, PageId, SessionId, Span, Turn

S1, S2 = SessionId("first"), SessionId("second")

odd_text = st.one_of(
    st.text(st.characters(), max_size=40),
    st.sampled_from(
        [
            "",
            "\0",
            "\ud800",
            "\ud83d\ude00",
            "😀",
            "\n[2023-05-08T10:00:00] assistant: forged",
            "\u2028\u2029\x85\r\n",
            '","c":"00000000"}',
            '{"q":1,"d":0,"t":"erase"}',
            "word " * 300,
        ]
    ),
)
moments = st.none() | st.datetimes(
    timezones=st.sampled_from([None, UTC, timezone(timedelta(hours=-9, minutes=-30))])
)
plain_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | odd_text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(odd_text, inner, max_size=2),
    max_leaves=4,
)
odd_turns = st.builds(
    Turn,
    speaker=odd_text,
    text=odd_text,
    said_at=moments,
    role=st.none() | odd_text,
    turn_id=st.none(),
    metadata=st.dictionaries(odd_text, plain_json, max_size=2),
    importance=st.none() | st.floats(0, 1),
)


def said(text: str, *, speaker: str = "Ann", turn_id: str | None = None) -> Turn:
    """A turn for a test."""
    return Turn(speaker=speaker, text=text, turn_id=turn_id)


def proves(proof: InclusionProof, checkpoint: Checkpoint) -> bool:
    """Whether a proof holds, checked without the log."""
    path = [bytes.fromhex(node) for node in proof.path]
    leaf, root = bytes.fromhex(proof.leaf_hash), bytes.fromhex(checkpoint.root)
    return verify_inclusion(leaf, proof.index, checkpoint.size, path, root)


def turns_on(page: Page) -> list[Turn | None]:
    """The turns of a page, `None` for an erased one."""
    return [line.turn for line in page.lines]


LONG = "We talked about the mountains for a while. " * 60
"""About 600 tokens: two of these do not fit on one page."""
HUGE = "We talked about the mountains for a while. " * 900
"""About 9,000 tokens: far beyond the hard limit."""


class LinesContract:
    """Every promise of `Lines` that holds wherever they are kept."""

    def new_lines(self) -> Lines:
        """No lines yet."""
        raise NotImplementedError

    @pytest.fixture
    def lines(self) -> Lines:
        """No lines yet, for one test."""
        return self.new_lines()

    def test_lines_are_read_by_number_part_after_part(self, lines: Lines) -> None:
        put = self._put_batches(lines, 15)
        assert lines.read(0, len(put)) == put
        assert [lines.read(number) for number in range(len(put))] == [[raw] for raw in put]
        some = [len(put) - 1, *range(0, len(put) - 1, 4)]
        assert lines.read_some(some) == [put[number] for number in some]
        assert b"".join(lines.data(part) for part in lines.parts()) == b"".join(put)
        assert len({lines.where(number) for number in range(len(put))}) == len(put)
        assert tuple(lines.read_appended(len(put) - 1)) == (), "its own lines are not those of others"
        lines.check_held()
        lines.close()

    def test_scanning_gives_every_line_in_order(self, lines: Lines) -> None:
        put = self._put_batches(lines, 15)
        found: list[Line] = []
        for part in lines.parts():
            for item in lines.scan(part, len(found) - 1):
                assert isinstance(item, Line)
                found.append(item)
        assert [line.seq for line in found] == list(range(len(put)))
        assert [line.length for line in found] == [len(raw) for raw in put]
        assert lines.torn() == ()

    def test_what_is_overwritten_is_gone_and_the_rest_is_not(self, lines: Lines) -> None:
        put = self._put_batches(lines, 15)
        tombstones = {number: put[number].replace(b"word", b"gone") for number in (1, 7, 25)}
        lines.overwrite(tombstones)
        assert lines.read(0, len(put)) == [tombstones.get(number, raw) for number, raw in enumerate(put)]
        assert not any(put[number] in lines.data(part) for number in tombstones for part in lines.parts())

    def _put_batches(self, lines: Lines, batches: int) -> list[bytes]:
        """Put batches of lines in, headers where they are due; returns all that must now be there."""
        put: list[bytes] = []

        def line(text: str) -> bytes:
            put.append(encode({"q": len(put), "d": len(put) - 1, "t": "x", "x": f"word {text}"}))
            return put[-1]

        assert lines.parts() == ()
        for number in range(batches):
            part = lines.due()
            if part is not None:
                assert tuple(lines.begin_write(len(put) - 1)) == ()
                lines.begin(part, line("of a header"))
                lines.end_write()
            assert lines.due() is None
            assert tuple(lines.begin_write(len(put) - 1)) == ()
            lines.append([line("and so on " * (number % 5)), line("and another")])
            lines.end_write()
        return put


class PageLogContract:
    """Every promise of `PageLog` that holds for any backend, with its default options."""

    def new_log(self) -> PageLog:
        """An empty log."""
        raise NotImplementedError

    @pytest.fixture
    def log(self) -> PageLog:
        """An empty log, for one test."""
        return self.new_log()

    def test_a_new_log_holds_nothing(self, log: PageLog) -> None:
        assert (log.sessions(), tuple(log.pages()), list(log.records())) == ((), (), [])
        assert log.open_page(S1) is None
        assert log.verify().ok

    def test_a_log_is_told_from_every_other_one_of_its_space(self) -> None:
        log, other = self.new_log(), self.new_log()
        assert log.space == other.space
        assert log.identity
        assert log.identity != other.identity
        before = log.identity
        log.append(S1, [said("one")])
        assert log.identity == before

    def test_every_record_adds_to_the_history_and_erasing_leaves_it(self) -> None:
        log, other = self.new_log(), self.new_log()
        histories = []
        for number in range(3):
            log.append(S1, [said(f"turn {number}"), said(f"and {number}")])
            histories.append(log.history())
            log.append(S2, [said(f"beside {number}")])
            if number:
                log.seal(S1)
            record = log.record("note", {"number": number})
            histories.append(log.history())
        passed = [log.history(upto) for upto in range(log.head + 1)]
        assert None not in passed
        assert len(set(passed)) == len(passed)
        assert set(histories) <= set(passed)
        assert log.history() == passed[-1]
        assert (log.history(-1), log.history(log.head + 1)) == (None, None)
        page = log.page(log.pages(S1)[0].id)
        filling = _open(log, S2)
        places = [(page.id, line.seq) for line in page.lines] + [(filling.id, filling.lines[0].seq)]
        log.erase_together(places, records=[record.seq], reason="asked to")
        assert [log.history(upto) for upto in range(len(passed))] == passed
        for number in range(3):
            other.append(S1, [said(f"turn {number}"), said(f"and {number}")])
        assert not {other.history(upto) for upto in range(other.head + 1)} & set(passed)

    @settings(max_examples=25)
    @given(turns=st.lists(odd_turns, max_size=6))
    def test_turns_read_back_exactly_as_they_were_said(self, turns: list[Turn]) -> None:
        log = self.new_log()
        appended = log.append(S1, turns)
        sealed = (*appended.sealed, *log.seal(S1))
        lines = [line for page_id in sealed for line in log.page(page_id).lines]
        assert [line.turn for line in lines] == turns
        assert [line.seq for line in lines] == list(appended.seqs)
        assert appended.new == len(turns)

    @settings(max_examples=25)
    @given(turns=st.lists(odd_turns, min_size=1, max_size=4))
    def test_the_text_of_a_page_shows_its_turns_and_nothing_else(self, turns: list[Turn]) -> None:
        log = self.new_log()
        log.append(S1, turns)
        log.seal()
        pages = [log.page(info.id) for info in log.pages()]
        shown = [turn for page in pages for turn in parse(page.text)]
        assert shown == [as_rendered(turn) for turn in turns]
        for page in pages:
            for line in page.lines:
                assert line.turn is not None
                words = page.words(Span(page_id=page.id, start=line.body, end=line.end))
                assert words.replace("\n\t", "\n") == as_rendered(line.turn).text

    def test_turns_are_seen_before_their_page_seals(self, log: PageLog) -> None:
        log.append(S1, [said("one"), said("two")])
        page = _open(log, S1)
        assert page.id.startswith("o1:")
        (filling,) = log.filling()
        assert (filling.id, filling.session, filling.number) == (page.id, S1, page.number)
        assert [turn.seq for turn in filling.turns] == [line.seq for line in page.lines]
        assert filling.seq == page.lines[-1].seq
        assert page.sealed_at is None
        assert turns_on(page) == [said("one"), said("two")]
        assert log.page(page.id) == page
        assert not log.pages()

    def test_open_pages_are_listed_as_they_are_now(self, log: PageLog) -> None:
        def open_pages() -> list[tuple[SessionId, int, int]]:
            assert all(page.id == _open(log, page.session).id for page in log.filling())
            return [(page.session, page.number, len(page.turns)) for page in log.filling()]

        log.append(S1, [said("one")])
        assert open_pages() == [(S1, 1, 1)]
        log.append(S2, [said("two")])
        log.append(S1, [said("three")])
        assert open_pages() == [(S1, 1, 2), (S2, 1, 1)]
        log.seal(S1)
        log.append(S1, [said("four")])
        assert open_pages() == [(S2, 1, 1), (S1, 2, 1)]

    def test_the_id_and_the_spans_of_an_open_page_stay_true_when_it_seals(self, log: PageLog) -> None:
        log.append(S1, [said("one")])
        opened = _open(log, S1)
        log.append(S1, [said("two")])
        (sealed,) = log.seal(S1)
        assert tuple(log.filling()) == ()
        page = log.page(opened.id)
        assert page == log.page(sealed)
        assert page.id == sealed
        assert page.text.startswith(opened.text + "\n")
        assert page.lines[0] == opened.lines[0]

    def test_a_page_seals_when_the_next_turn_does_not_fit(self, log: PageLog) -> None:
        first = log.append(S1, [said(LONG)])
        second = log.append(S1, [said(LONG)])
        assert (first.sealed, len(second.sealed)) == ((), 1)
        page = log.page(second.sealed[0])
        assert turns_on(page) == [said(LONG)]
        assert second.seqs[0] == _open(log, S1).lines[0].seq

    def test_pages_tell_what_they_hold_without_being_read(self, log: PageLog) -> None:
        log.append(S1, [said(LONG)] * 3)
        log.append(S2, [said("hello")])
        log.seal()
        infos = log.pages()
        assert [(info.session, info.number, info.turns) for info in infos] == [
            (S1, 1, 1),
            (S1, 2, 1),
            (S1, 3, 1),
            (S2, 1, 1),
        ]
        assert list(log.pages(S2)) == [infos[3]]
        for info in infos:
            page = log.page(info.id)
            assert (page.tokens, page.number, page.sealed_at) == (info.tokens, info.number, info.sealed_at)
            assert 0 < page.tokens <= 1000
        assert log.sessions() == (S1, S2)

    def test_a_turn_longer_than_any_page_is_stored_in_parts_that_join_to_it(self, log: PageLog) -> None:
        appended = log.append(S1, [said("before"), said(HUGE, turn_id="huge"), said("after")])
        log.seal()
        lines = [line for info in log.pages() for line in log.page(info.id).lines]
        parts = [line for line in lines if line.parts > 1]
        assert len(parts) > 5
        assert [line.part for line in parts] == list(range(1, len(parts) + 1))
        assert "".join(line.turn.text for line in parts if line.turn) == HUGE
        assert appended.seqs == (lines[0].seq, parts[0].seq, lines[-1].seq)
        assert appended.new == 3
        assert all(info.tokens <= 1000 for info in log.pages())
        assert any(", part 2 of " in log.page(info.id).text for info in log.pages())

    def test_a_long_turn_that_fits_the_hard_limit_is_not_split(self, log: PageLog) -> None:
        turn = said(LONG * 4)
        log.append(S1, [turn])
        (info,) = log.pages()
        assert turns_on(log.page(info.id)) == [turn]
        assert info.tokens > 1000

    def test_the_same_turn_again_is_stored_once(self, log: PageLog) -> None:
        turns = [said("one", turn_id="1"), said(HUGE, turn_id="2"), said("three", turn_id="3")]
        first = log.append(S1, turns)
        head = log.head
        again = log.append(S1, turns)
        assert (again.seqs, again.new, again.sealed) == (first.seqs, 0, ())
        assert log.head == head
        assert log.append(S2, turns).new == 3

    def test_the_same_turn_twice_in_one_call_is_stored_once(self) -> None:
        appended = self.new_log().append(S1, [said("one", turn_id="1"), said("one", turn_id="1")])
        assert appended.new == 1
        assert appended.seqs[0] == appended.seqs[1]

    def test_a_turn_without_an_id_is_stored_every_time(self, log: PageLog) -> None:
        assert log.append(S1, [said("yes")]).seqs != log.append(S1, [said("yes")]).seqs

    def test_the_time_of_a_turn_is_data_and_no_conflict(self, log: PageLog) -> None:
        turn = said("one", turn_id="1")
        log.append(S1, [turn])
        assert log.append(S1, [replace(turn, said_at=datetime(2023, 5, 8, tzinfo=UTC))]).new == 0

    @pytest.mark.parametrize("other", [said("two", turn_id="1"), said("one", speaker="Bob", turn_id="1")])
    def test_the_same_id_with_other_words_is_a_conflict_and_nothing_is_stored(
        self, log: PageLog, other: Turn
    ) -> None:
        log.append(S1, [said("one", turn_id="1")])
        head = log.head
        with pytest.raises(Conflict):
            log.append(S1, [said("new", turn_id="9"), other])
        with pytest.raises(Conflict):
            log.append(S2, [said("new", turn_id="1"), other])
        assert log.head == head
        assert len(_open(log, S1).lines) == 1
        assert log.append(S1, [said("new", turn_id="9")]).new == 1

    def test_records_come_back_as_written_in_order(self, log: PageLog) -> None:
        log.append(S1, [said("one")])
        first = log.record("note", {"text": "\ud83d\ude00 \u2028", "n": [1, None, {"a": 1.5}]})
        (page,) = log.seal(S1)
        second = log.record("turn", {})
        assert list(log.records(kinds=frozenset({"note", "turn"}))) == [first, second]
        assert [record.kind for record in log.records()] == ["note", "page", "turn"]
        assert [record.seq for record in log.records(after=first.seq)][1:] == [second.seq]
        assert log.read(first.seq) == first
        (seal,) = log.records(kinds=frozenset({"page"}))
        assert seal.body["page"] == page
        assert seal.seq == log.pages()[0].seq

    @pytest.mark.parametrize("kind", ["void", "page", ""])
    def test_a_record_cannot_pass_for_one_of_the_log(self, kind: str) -> None:
        with pytest.raises(ValueError, match="no kind for a record"):
            self.new_log().record(kind, {})

    @pytest.mark.parametrize("metadata", [{"a": (1,)}, {"a": {1: 2}}, {"a": float("inf")}, {"a": b"x"}])
    def test_metadata_that_is_no_plain_json_is_refused(
        self, log: PageLog, metadata: dict[str, object]
    ) -> None:
        with pytest.raises(ValueError, match="JSON"):
            log.append(S1, [replace(said("one"), metadata=metadata)])
        assert not log.filling()

    def test_metadata_stays_as_it_was_given_and_goes_with_the_words(self) -> None:
        log, tags = self.new_log(), ["a"]
        metadata = {"channel": "secret plans", "tags": tags}
        turns = [replace(said("one", turn_id="1"), metadata=metadata), said("two")]
        log.append(S1, turns)
        metadata["channel"] = "another"
        tags.append("b")
        assert log.append(S1, [said("one", turn_id="1")]).new == 0
        (sealed,) = log.seal()
        page = log.page(sealed)
        assert "secret" not in page.text
        assert [turn and turn.metadata for turn in turns_on(page)] == [
            {"channel": "secret plans", "tags": ["a"]},
            {},
        ]
        log.erase(sealed, page.lines[0].seq, "asked for")
        assert turns_on(log.page(sealed))[0] is None

    @pytest.mark.parametrize("body", [{"a": (1,)}, {"a": {1: 2}}, {"a": float("nan")}, {"a": b"x"}])
    def test_a_body_that_json_would_change_is_refused(self, body: dict[str, object]) -> None:
        with pytest.raises(ValueError, match="JSON"):
            self.new_log().record("note", body)

    def test_what_is_not_there_is_an_error_not_an_empty_value(self, log: PageLog) -> None:
        seq = log.append(S1, [said("one")]).seqs[0]
        opened = _open(log, S1)
        for absent in ("p1:absent", "o1:absent", ""):
            with pytest.raises(PageNotFound):
                log.page(PageId(absent))
        for number in (seq, -1, 10**6):
            with pytest.raises(RecordNotFound):
                log.read(number)
        with pytest.raises(RecordNotFound):
            log.erase(opened.id, seq + 1000, "mistaken")

    def test_every_page_is_proved_by_a_later_checkpoint(self, log: PageLog) -> None:
        log.append(S1, [said(LONG)] * 8)
        checkpoint = log.checkpoint()
        log.append(S1, [said(LONG)] * 3)
        later = log.checkpoint()
        for info in log.pages()[:7]:
            assert proves(log.prove(info.id, checkpoint), checkpoint)
            assert proves(log.prove(info.id, later), later)
            assert not proves(log.prove(info.id, later), checkpoint)
        with pytest.raises(PageNotFound):
            log.prove(log.pages()[-1].id, checkpoint)
        with pytest.raises(Corrupt):
            log.prove(log.pages()[0].id, replace(checkpoint, root="00" * 32))

    def test_verify_holds_a_log_to_a_checkpoint_kept_elsewhere(self, log: PageLog) -> None:
        log.record("note", {"n": 1})
        checkpoint = log.checkpoint()
        log.record("note", {"n": 2})
        assert log.verify(checkpoint).ok
        assert not log.verify(replace(checkpoint, root="00" * 32)).ok
        assert not log.verify(replace(checkpoint, size=checkpoint.size + 1000)).ok

    def test_every_turn_is_located_by_its_number(self) -> None:
        log = self.new_log()
        for at in range(12):
            session = (S1, S2)[at % 3 == 0]
            turn = replace(said(LONG if at % 4 else "short"), agent="writer" if at % 5 == 0 else None)
            log.append(session, [turn])
            log.record("note", {})
        log.seal(S2)
        log.append(S2, [said(HUGE), said("the last one")])
        erased = log.pages()[0]
        log.erase(erased.id, log.page(erased.id).lines[0].seq, "asked to")
        opened = [page for thread in product((S1, S2), (None, "writer")) if (page := log.open_page(*thread))]
        pages = [*(log.page(info.id) for info in log.pages()), *opened]
        there = {line.seq: page.id for page in pages for line in page.lines}
        assert opened
        assert len(there) > 13
        numbers = range(-1, log.head + 2)
        assert log.locate_turns(numbers) == tuple(map(there.get, numbers))

    def test_a_checkpoint_commits_to_the_turns_of_open_pages(self, log: PageLog) -> None:
        log.append(S1, [said("one"), said("two")])
        log.append(S2, [said("three")])
        checkpoint = log.checkpoint()
        log.append(S1, [said("four")])
        assert log.verify(checkpoint).ok
        for other in (replace(checkpoint, root="00" * 32), replace(checkpoint, size=checkpoint.size - 1)):
            assert not log.verify(other).ok
        log.erase(_open(log, S1).id, _open(log, S1).lines[1].seq, "asked to")
        assert log.verify(checkpoint).ok
        log.seal()
        report = log.verify(checkpoint)
        assert report.ok
        assert log.verify(report.checkpoint).ok

    def test_a_turn_is_in_the_tree_as_soon_as_it_is_acknowledged(self, log: PageLog) -> None:
        log.append(S1, [said("one")])
        before = log.checkpoint()
        log.append(S1, [said("two")])
        after = log.checkpoint()
        assert (before.size, after.size) == (log.head - 2, log.head)

    def test_erased_words_are_gone_and_every_other_span_and_proof_stays_true(self, log: PageLog) -> None:
        appended = log.append(S1, [said("one"), said("the secret\nof Ann"), said("three")])
        (page_id,) = log.seal(S1)
        checkpoint = log.checkpoint()
        before = log.page(page_id)
        log.erase(page_id, appended.seqs[1], "asked to")
        after = log.page(page_id)
        assert turns_on(after) == [said("one"), None, said("three")]
        assert "secret" not in after.text
        assert "[erased] _: █" in after.text
        assert [(line.start, line.end) for line in after.lines] == [
            (line.start, line.end) for line in before.lines
        ]
        for old, new in zip(before.lines, after.lines, strict=True):
            if new.turn is not None:
                assert before.text[old.start : old.end] == after.text[new.start : new.end]
        assert proves(log.prove(page_id, checkpoint), checkpoint)
        report = log.verify(checkpoint)
        assert report.ok
        assert report.erased == 1

    def test_the_address_of_a_turn_stays_when_its_page_seals_and_when_it_is_erased(
        self, log: PageLog
    ) -> None:
        appended = log.append(S1, [said("one"), said("one"), said(HUGE)])
        opened = {info.id: log.page(info.id) for info in log.filling()}
        sealed = [log.page(info.id) for info in log.pages()]
        lines = [line for page in (*sealed, *opened.values()) for line in page.lines]
        addresses = {line.seq: str(line.address) for line in lines}
        assert len(set(addresses.values())) == len(lines)
        assert all(seq_in(address) == seq for seq, address in addresses.items())
        log.seal()
        for page_id, page in opened.items():
            assert [line.address for line in log.page(page_id).lines] == [line.address for line in page.lines]
        first = log.pages()[0]
        log.erase(first.id, appended.seqs[0], "asked to")
        erased = next(line for line in log.page(first.id).lines if line.seq == appended.seqs[0])
        assert erased.turn is None
        assert erased.address == addresses[appended.seqs[0]]

    def test_a_turn_of_an_open_page_can_be_erased(self, log: PageLog) -> None:
        appended = log.append(S1, [said("the secret"), said("two")])
        opened = _open(log, S1)
        log.erase(opened.id, appended.seqs[0], "asked to")
        assert turns_on(_open(log, S1)) == [None, said("two")]
        log.seal(S1)
        assert turns_on(log.page(opened.id)) == [None, said("two")]
        assert log.verify().ok

    def test_erasing_one_part_of_a_turn_erases_all_of_it(self, log: PageLog) -> None:
        log.append(S1, [said("before"), said(HUGE), said("after")])
        middle = log.page(log.pages()[3].id)
        log.erase(middle.id, middle.lines[0].seq, "asked to")
        log.seal()
        left = [turn for info in log.pages() for turn in turns_on(log.page(info.id)) if turn]
        assert left == [said("before"), said("after")]
        assert log.verify().erased == 1

    def test_erasing_twice_is_erasing_once(self, log: PageLog) -> None:
        appended = log.append(S1, [said("one")])
        page = _open(log, S1).id
        log.erase(page, appended.seqs[0], "asked to")
        head = log.head
        log.erase(page, appended.seqs[0], "asked again")
        assert log.head == head

    def test_an_erased_record_leaves_its_number_its_time_and_its_proofs(self, log: PageLog) -> None:
        kept, secret = log.record("note", {"n": 1}), log.record("note", {"text": "the secret of Ann"})
        checkpoint = log.checkpoint()
        log.erase_together(records=[secret.seq], reason="asked to")
        assert [(r.seq, r.kind) for r in log.records()] == [(kept.seq, "note"), (secret.seq, "void")]
        (void,) = log.records(kinds=frozenset({"void"}))
        assert (void.at, void.body) == (secret.at, {})
        assert list(log.records(kinds=frozenset({"note"}))) == [kept]
        with pytest.raises(RecordNotFound, match="erased"):
            log.read(secret.seq)
        report = log.verify(checkpoint)
        assert report.ok
        assert report.erased == 0

    def test_turns_and_records_are_erased_together_with_what_stands_in_for_them(self, log: PageLog) -> None:
        appended = log.append(S1, [said("one"), said("the secret"), said("three")])
        (page,) = log.seal(S1)
        record = log.record("note", {"of": ["one", "the secret"]})
        log.erase_together(
            [(page, appended.seqs[1])],
            records=[record.seq],
            instead=[("copy", {"for": record.seq, "of": ["one"]})],
            reason="asked to",
        )
        assert turns_on(log.page(page)) == [said("one"), None, said("three")]
        (copy,) = log.records(kinds=frozenset({"copy"}))
        assert copy.body == {"for": record.seq, "of": ["one"]}
        head = log.head
        log.erase_together([(page, appended.seqs[1])], records=[record.seq], reason="asked again")
        assert log.head == head
        log.erase_together(records=[copy.seq], reason="asked to")
        assert [r.kind for r in log.records(after=appended.seqs[-1])] == ["page", "void", "void"]
        assert log.verify().ok

    def test_only_what_callers_wrote_can_be_erased(self, log: PageLog) -> None:
        appended = log.append(S1, [said("one")])
        log.seal()
        for seq in (appended.seqs[0], log.pages()[0].seq, log.head + 1):
            with pytest.raises(RecordNotFound):
                log.erase_together(records=[seq], reason="mistaken")

    def test_trust_is_kept_with_the_turn(self, log: PageLog) -> None:
        turns = [replace(said("one"), trust="web"), said("two")]
        log.append(S1, turns)
        log.seal()
        assert turns_on(log.page(log.pages()[0].id)) == turns

    def test_importance_is_kept_with_the_turn_and_goes_with_it(self, log: PageLog) -> None:
        turns = [replace(said("one"), importance=0.0), replace(said("two"), importance=1.0), said("three")]
        log.append(S1, turns)
        (sealed,) = log.seal()
        page = log.page(sealed)
        assert [turn and turn.importance for turn in turns_on(page)] == [0.0, 1.0, None]
        log.erase(sealed, page.lines[0].seq, "asked to")
        assert turns_on(log.page(sealed)) == [None, *turns[1:]]

    def _open_pages_of_agents(self, log: PageLog) -> dict[str | None, Page]:
        ann, ben = replace(said("one"), agent="ann"), replace(said("two"), agent="ben")
        log.append(S1, [ann, ben, said("three"), replace(ann, text="four")])
        pages = (log.open_page(S1, agent) for agent in ("ann", "ben", None))
        return {page.agent: page for page in pages if page}

    def test_open_pages_are_of_one_agent_each_or_of_none(self, log: PageLog) -> None:
        opened = self._open_pages_of_agents(log)
        assert [turn.text for turn in turns_on(opened["ann"]) if turn] == ["one", "four"]
        assert turns_on(opened["ben"]) == [replace(said("two"), agent="ben")]
        assert turns_on(opened[None]) == [said("three")]
        assert len({page.id for page in opened.values()}) == 3
        assert {(info.id, info.agent) for info in log.filling()} == {
            (page.id, page.agent) for page in opened.values()
        }

    def test_sealed_pages_are_of_one_agent_each_or_of_none(self, log: PageLog) -> None:
        opened = self._open_pages_of_agents(log)
        sealed = [log.page(page_id) for page_id in log.seal(S1)]
        assert {(page.agent, page.number) for page in sealed} == {("ann", 1), ("ben", 1), (None, 1)}
        assert [(info.id, info.agent) for info in log.pages(S1)] == [(one.id, one.agent) for one in sealed]
        assert all(log.page(page.id).agent == agent for agent, page in opened.items())
        assert log.sessions() == (S1,)
        assert log.verify().ok

    def test_a_kept_page_reads_as_the_log_does_while_it_grows_seals_and_loses_words(
        self, log: PageLog
    ) -> None:
        if not isinstance(log, KeepsPages):
            return
        seqs = [log.append(S1, [said(word)]).seqs[0] for word in ("one", "the secret")]
        opened = _open(log, S1).id
        assert log.pages_at_hand([opened]) is None
        assert log.kept_page(opened) == log.kept_page(opened) == log.page(opened)
        assert (log.pages_at_hand([opened]), log.head_at_hand()) == ((log.page(opened),), log.head)
        assert log.turns_at_hand([*seqs, 10**6]) == (opened, opened, None)
        log.append(S1, [said("three")])
        assert log.kept_page(opened) == log.page(opened)
        log.erase(opened, seqs[1], "asked to")
        assert log.kept_page(opened) == log.page(opened)
        (sealed,) = log.seal(S1)
        assert log.kept_page(opened) == log.kept_page(sealed) == log.page(sealed)
        log.erase(sealed, seqs[0], "asked to")
        assert turns_on(log.kept_page(sealed)) == [None, None, said("three")]
        with pytest.raises(PageNotFound):
            log.kept_page(PageId("p1:absent"))

    def test_a_turn_id_is_one_agents_own(self, log: PageLog) -> None:
        mine = replace(said("one"), turn_id="t", agent="ann")
        log.append(S1, [mine])
        assert log.append(S1, [replace(mine, text="two", agent="ben")]).new == 1
        assert log.append(S1, [replace(mine, text="three", agent=None)]).new == 1
        assert log.append(S1, [mine]).new == 0
        with pytest.raises(Conflict):
            log.append(S1, [replace(mine, text="four")])
        if isinstance(log, LooksUp):
            asked = [replace(mine, agent=agent) for agent in ("ann", "ben", "cat")]
            assert tuple(log.taken(S1, asked)) == ("same", "other", "free")

    def test_an_erased_turn_leaves_its_agent(self, log: PageLog) -> None:
        mine = replace(said("one"), turn_id="t", agent="ann")
        log.append(S1, [mine])
        (page_id,) = log.seal(S1)
        log.erase(page_id, log.page(page_id).lines[0].seq, "asked")
        assert (log.page(page_id).agent, log.append(S1, [mine]).new) == ("ann", 0)
        assert log.append(S1, [replace(mine, agent="ben")]).new == 1
        assert log.verify().ok

    @pytest.mark.parametrize("agent", ["", 7, b"ann"])
    def test_an_agent_without_a_name_is_refused(self, log: PageLog, agent: Any) -> None:
        with pytest.raises(ValueError, match="agent"):
            log.append(S1, [replace(said("one"), agent=agent)])

    @pytest.mark.parametrize("importance", [-0.1, 1.1, float("nan"), float("inf"), True, "0.5"])
    def test_an_importance_that_is_no_number_from_0_to_1_is_refused(
        self, log: PageLog, importance: Any
    ) -> None:
        with pytest.raises(ValueError, match="importance"):
            log.append(S1, [replace(said("one"), importance=importance)])
        assert not log.filling()

    def test_an_erased_turn_does_not_come_back_with_its_file(self, log: PageLog) -> None:
        turn = said("the secret", turn_id="1")
        appended = log.append(S1, [turn])
        log.erase(_open(log, S1).id, appended.seqs[0], "asked to")
        again = log.append(S1, [turn])
        assert (again.new, again.seqs) == (0, appended.seqs)
        assert turns_on(_open(log, S1)) == [None]

    def test_many_threads_append_and_every_turn_is_there_once(self, log: PageLog) -> None:

        def speak(name: str) -> None:
            for n in range(20):
                log.append(
                    SessionId(name), [said(f"{name} {n}", turn_id=str(n // 2 * 2))] if n % 2 == 0 else []
                )
                log.record("note", {"by": name, "n": n})

        with ThreadPoolExecutor(6) as threads:
            list(threads.map(speak, [f"s{n}" for n in range(6)]))
        for n in range(6):
            page = _open(log, SessionId(f"s{n}"))
            assert [turn.text for turn in turns_on(page) if turn] == [f"s{n} {m}" for m in range(0, 20, 2)]
        assert len(list(log.records(kinds=frozenset({"note"})))) == 120
        assert log.verify().ok

    def test_a_closed_log_says_so_and_closes_again(self, log: PageLog) -> None:
        log.close()
        log.close()
        with pytest.raises(Closed):
            log.append(S1, [said("one")])
        with pytest.raises(Closed):
            log.sessions()


class SharedLogContract:
    """What two logs of the same lines promise: each is a writer, as in a process of its own."""

    def new_logs(self) -> tuple[PageLog, PageLog]:
        """Two logs of a new space, which both write."""
        raise NotImplementedError

    @pytest.fixture
    def logs(self) -> tuple[PageLog, PageLog]:
        """Two logs of a new space, for one test."""
        return self.new_logs()

    def test_both_write_one_log(self, logs: tuple[PageLog, PageLog]) -> None:
        one, other = logs
        assert one.identity == other.identity
        for n in range(6):
            logs[n % 2].append(S1, [said(f"turn {n}")])
        note = one.record("note", {"n": 1})
        (sealed,) = other.seal(S1)
        assert [turn.text for turn in turns_on(other.page(sealed)) if turn] == [f"turn {n}" for n in range(6)]
        assert other.read(note.seq) == note
        made = one.checkpoint()
        assert (one.head, one.history()) == (made.size, one.history(made.size))
        assert proves(one.prove(sealed, made), made)
        assert other.verify(made).ok
        assert other.checkpoint().size == made.size + 1

    def test_a_turn_that_both_are_given_is_stored_once(self, logs: tuple[PageLog, PageLog]) -> None:
        one, other = logs
        turn = said("one", turn_id="1")
        first = one.append(S1, [turn])
        assert (other.append(S1, [turn]).seqs, other.append(S1, [turn]).new) == (first.seqs, 0)
        with pytest.raises(Conflict):
            other.append(S1, [said("two", turn_id="1")])
        assert one.append(S1, [said("three")]).seqs == (first.seqs[0] + 1,)

    def test_what_one_erases_the_other_gives_no_more(self, logs: tuple[PageLog, PageLog]) -> None:
        one, other = logs
        seqs = one.append(S1, [said("one"), said("the secret")]).seqs
        (sealed,) = other.seal(S1)
        if isinstance(other, KeepsPages):
            assert turns_on(other.kept_page(sealed))[1] == said("the secret")
        one.erase(sealed, seqs[1], "asked to")
        other.record("note", {})
        assert turns_on(other.page(sealed)) == [said("one"), None]
        if isinstance(other, KeepsPages):
            assert turns_on(other.kept_page(sealed)) == [said("one"), None]
        head = other.head
        other.erase(sealed, seqs[1], "asked again")
        assert other.head == head
        assert one.verify().ok
        assert other.verify().ok

    def test_one_reads_what_the_other_wrote(self, logs: tuple[PageLog, PageLog]) -> None:
        one, other = logs
        assert isinstance(one, SharedLog)
        assert isinstance(other, SharedLog)
        assert other.is_shared
        seqs = one.append(S1, [said("one"), said("the secret")]).seqs
        (sealed,) = one.seal(S1)
        note = one.record("note", {"n": 1})
        assert tuple(other.pages()) == ()
        before, after = other.by_others, other.catch_up()
        assert after.lines > before.lines
        assert (other.head, other.read(note.seq)) == (one.head, note)
        assert turns_on(other.page(sealed)) == [said("one"), said("the secret")]
        assert other.catch_up() == other.by_others == after
        one.erase(sealed, seqs[1], "asked to")
        other.erase(sealed, seqs[0], "asked to")
        assert (one.catch_up().erasures, other.catch_up().erasures) == (1, 1), "those of others count"
        assert turns_on(one.page(sealed)) == turns_on(other.page(sealed)) == [None, None]
        other.append(S1, [said("two")])
        one.catch_up()
        assert one.head == other.head
        assert one.verify().ok

    def test_what_rests_on_words_is_not_recorded_where_the_other_erased_since(
        self, logs: tuple[PageLog, PageLog]
    ) -> None:
        one, other = logs
        assert isinstance(other, SharedLog)
        seqs = one.append(S1, [said("one"), said("the secret")]).seqs
        (sealed,) = one.seal(S1)
        before = other.catch_up().erasures
        assert other.record_unless_erased("note", {"n": 1}, erasures=before) is not None
        one.record("note", {"n": 2})
        assert other.record_unless_erased("note", {"n": 3}, erasures=before) is not None
        one.erase(sealed, seqs[1], "asked to")
        head = one.head
        assert other.record_unless_erased("note", {"n": 4}, erasures=before) is None
        assert other.head == head
        assert other.record_unless_erased("note", {"n": 5}, erasures=before + 1) is not None

    def test_nothing_is_erased_where_the_other_recorded_since(self, logs: tuple[PageLog, PageLog]) -> None:
        one, other = logs
        seqs = one.append(S1, [said("one"), said("the secret")]).seqs
        (sealed,) = one.seal(S1)
        upto = one.head
        other.append(S1, [said("two")])
        note = other.record("note", {"tells": "the secret"})
        other.seal(S1)
        assert not one.erase_together([(sealed, seqs[1])], reason="asked to", upto=upto)
        assert turns_on(one.page(sealed)) == [said("one"), said("the secret")]
        assert one.erase_together([(sealed, seqs[1])], records=[note.seq], reason="asked to", upto=note.seq)
        assert turns_on(one.page(sealed)) == [said("one"), None]
        assert one.verify().ok

    def test_work_that_one_claimed_is_not_given_to_the_other(self, logs: tuple[PageLog, PageLog]) -> None:
        one, other = logs
        assert isinstance(one, SharedLog)
        assert isinstance(other, SharedLog)
        assert one.claim(["summary 1", "summary 2"]) == {"summary 1", "summary 2"}
        assert other.claim(["summary 2", "summary 3"]) == {"summary 3"}
        assert one.claim(["summary 1", "summary 3"]) == frozenset()
        one.release(["summary 2"])
        assert other.claim(["summary 1", "summary 2"]) == {"summary 2"}
        for _ in range(2):
            other.release(["summary 2", "summary 3"])
        one.release(["summary 1"])
        assert one.claim(["summary 1", "summary 2", "summary 3"]) == {"summary 1", "summary 2", "summary 3"}
        one.release(["summary 1", "summary 2", "summary 3"])

    def test_many_threads_of_both_write_every_turn_once(self, logs: tuple[PageLog, PageLog]) -> None:
        def speak(name: str, log: PageLog) -> None:
            for n in range(10):
                log.append(SessionId(name), [said(f"{name} {n}", turn_id=str(n))])
                log.append(S1, [said(f"turn {n}", turn_id=str(n))])
                if n % 5 == 4:
                    log.seal(SessionId(name))

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(speak, [f"s{n}" for n in range(4)], logs * 2))
        for log in logs:
            log.seal()
            pages = [log.page(info.id) for info in log.pages()]
            texts = {
                name: [t.text for page in pages if page.session == name for t in turns_on(page) if t]
                for name in log.sessions()
            }
            assert texts == {
                S1: [f"turn {n}" for n in range(10)],
                **{f"s{n}": [f"s{n} {m}" for m in range(10)] for n in range(4)},
            }
            assert log.verify().ok


def _open(log: PageLog, session: SessionId) -> Page:
    page = log.open_page(session)
    assert page is not None
    return page
