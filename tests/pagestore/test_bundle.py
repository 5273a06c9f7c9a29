"""What an audit bundle proves, and that a damaged or forged one never passes."""

import json
import random
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import MemoryLog, SpaceId
from pagestore.__main__ import main
from pagestore.bundle import Bundle, decode, encode, make_bundle, verify_bundle, verify_growth
from pagestore.errors import Corrupt, PageNotFound, RecordNotFound
from tests.pagestore.bundles import (
    answer,
    bundle,
    flipped,
    forgeries,
    line_of,
    mangled,
    world,
)
from tests.pagestore.faults.flips import store_misses

GOLDEN = Path(__file__).parent / "golden" / "bundle-2.json"
"""A bundle with whole pages, as the first version that was kept wrote it."""
DATA = {whole: encode(bundle(whole_pages=whole)) for whole in (False, True)}


def test_a_bundle_proves_answer_page_and_words() -> None:
    report = verify_bundle(DATA[False])
    assert report.ok
    told = "\n".join(report.proved)
    assert "'No chicken.' was recorded" in told
    assert "page 1 of session 's1'" in told
    assert "My dog Pixel cannot have chicken." in told
    assert "words of Bob" in told


def test_a_bundle_says_what_it_does_not_prove() -> None:
    unproved = "\n".join(verify_bundle(DATA[False]).unproved)
    assert "the one others were shown" in unproved
    assert "1 turns before them are not shown" in unproved
    assert "that the answer is right" in unproved
    assert "not shown" not in "\n".join(verify_bundle(DATA[True]).unproved)


def test_only_the_cited_turns_are_in_words() -> None:
    assert b"roof" not in DATA[False]
    assert b"Lisbon" not in DATA[False]
    assert b"roof" in DATA[True]


def test_a_bundle_reads_back_as_it_was_written() -> None:
    for data in DATA.values():
        assert encode(decode(data)) == data
        assert json.loads(data)["answer"]["text"] == "No chicken."


def test_a_bundle_of_an_earlier_version_holds_and_is_written_the_same_way_today() -> None:
    data = GOLDEN.read_bytes()
    assert verify_bundle(data).ok
    assert encode(decode(data)) == data


def test_every_answer_of_a_log_has_a_bundle_that_holds() -> None:
    w = world()
    for seq in w.answers:
        for whole in (False, True):
            data = encode(make_bundle(w.log, seq, whole_pages=whole))
            assert verify_bundle(data, w.log.current_checkpoint()).ok


def test_a_bundle_is_bound_to_a_checkpoint_that_was_kept() -> None:
    w = world()
    same = encode(make_bundle(w.log, w.answers[0], checkpoint=w.kept))
    assert "bound to the checkpoint kept elsewhere" in verify_bundle(same, w.kept).proved[0]
    grown = encode(make_bundle(w.log, w.answers[1], checkpoint=w.kept))
    report = verify_bundle(grown, w.kept)
    assert report.ok
    assert "no record or sealed page before it was changed" in report.proved[0]
    assert not verify_bundle(encode(make_bundle(w.log, w.answers[1])), w.kept).ok


def test_a_history_made_up_for_the_occasion_fails_against_a_checkpoint_kept_elsewhere() -> None:
    true, made_up = world(), world(code="9999")
    data = encode(make_bundle(made_up.log, made_up.answers[1]))
    assert verify_bundle(data).ok
    assert not verify_bundle(data, true.kept).ok
    assert not verify_bundle(data, true.log.current_checkpoint()).ok
    with pytest.raises(Corrupt, match="does not begin"):
        make_bundle(made_up.log, made_up.answers[1], checkpoint=true.kept)


def test_a_root_alone_does_not_bind_the_size_so_a_kept_checkpoint_does() -> None:
    made = bundle()
    point = made.checkpoint
    smaller = encode(replace(made, checkpoint=replace(point, size=point.size - 1)))
    assert any("is the one others were shown" in line for line in verify_bundle(smaller).unproved)
    assert not verify_bundle(smaller, point).ok


@pytest.mark.parametrize("forgery", forgeries())
def test_a_forged_bundle_never_holds(forgery: str) -> None:
    forged = encode(forgeries()[forgery](bundle()))
    assert forged != DATA[False]
    report = verify_bundle(forged)
    assert not report.ok
    assert all(damage.where and damage.what for damage in report.failed)


@pytest.mark.parametrize("whole", [False, True])
def test_a_truncated_bundle_never_holds(whole: bool) -> None:
    data = DATA[whole]
    for end in range(0, len(data), 7):
        assert not verify_bundle(data[:end]).ok
    lines = data.splitlines(keepends=True)
    for gone in range(len(lines)):
        assert not verify_bundle(b"".join(lines[:gone] + lines[gone + 1 :])).ok


@settings(max_examples=300)
@given(whole=st.booleans(), share=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_any_flipped_bit_is_found_and_located(whole: bool, share: float, bit: int) -> None:
    data = DATA[whole]
    at = int(share * len(data))
    report = verify_bundle(flipped(data, at, bit))
    assert not report.ok
    assert report.proved == ()
    line = line_of(data, at)
    named = int(report.failed[0].where.removeprefix("line ").split()[0])
    assert named == line or (data[at : at + 1] == b"\n" and named in (line, line + 1))


@settings(max_examples=300)
@given(whole=st.booleans(), seed=st.integers(0, 10**9))
def test_values_of_the_wrong_kind_are_told_and_never_raise(whole: bool, seed: int) -> None:
    data = mangled(DATA[whole], random.Random(seed))
    report = verify_bundle(data)
    assert not report.ok or data == DATA[whole]


@settings(max_examples=200)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_what_is_no_bundle_is_told_so(data: bytes) -> None:
    assert not verify_bundle(data).ok


def test_an_erased_turn_is_said_to_be_erased_and_older_bundles_still_hold() -> None:
    w = world()
    before = encode(make_bundle(w.log, w.answers[0]))
    page = w.log.page(w.log.pages()[0].id)
    w.log.erase(page.id, page.lines[1].seq, "asked for")
    assert verify_bundle(before).ok
    after = verify_bundle(encode(make_bundle(w.log, w.answers[0], checkpoint=w.kept)), w.kept)
    assert after.ok
    assert any("words were erased" in line for line in after.unproved)
    assert not any("Pixel" in line for line in after.proved)


def test_a_bundle_of_a_page_that_is_still_open_is_refused() -> None:
    log = MemoryLog(SpaceId("ann"))
    w = world()
    open_body = answer(w.log, 0, 1, "No chicken.")
    span = open_body["answer"]["citations"][0]["spans"][0]
    from pagestore import SessionId, Turn

    log.append(SessionId("s1"), [Turn(speaker="Ann", text="Hello there")])
    page = log.open_page(SessionId("s1"))
    assert page is not None
    span["page_id"] = page.id
    open_body["answer"]["space"] = "ann"
    written = log.record("answered", open_body)
    with pytest.raises(PageNotFound, match="still filling"):
        make_bundle(log, written.seq)


def test_growth_is_proved_between_any_two_checkpoints() -> None:
    log = MemoryLog()
    points = [log.checkpoint() for _ in range(20)]
    for old in range(20):
        for new in range(old, 20):
            proof = log.prove_growth(points[old], points[new])
            assert verify_growth(proof)
            assert not verify_growth(replace(proof, new=replace(proof.new, root="00" * 32)))
            if old != new:
                assert not verify_growth(replace(proof, old=replace(proof.old, root="00" * 32)))
    with pytest.raises(Corrupt, match="only grows"):
        log.prove_growth(points[5], points[2])
    other = MemoryLog(SpaceId("other")).checkpoint()
    with pytest.raises(Corrupt):
        log.prove_growth(other, points[2])


def test_records_are_proved_only_in_trees_that_hold_them() -> None:
    w = world()
    with pytest.raises(RecordNotFound):
        w.log.prove_record(w.answers[1], w.kept)
    with pytest.raises(PageNotFound):
        w.log.prove_page(w.log.pages()[1].id, w.kept)
    with pytest.raises(RecordNotFound):
        w.log.prove_record(w.log.page(w.log.pages()[0].id).lines[0].seq, w.kept)


def test_nothing_is_written_to_make_a_bundle() -> None:
    w = world()
    head = w.log.head
    make_bundle(w.log, w.answers[0])
    assert w.log.head == head


def test_any_flipped_bit_of_a_store_is_found_and_located() -> None:
    assert store_misses(40, seed=1) == []


# how far the words bear an answer out


def made_with(**fact: Any) -> Bundle:
    """A bundle of an answer whose one fact says this."""
    log = world().log
    body = answer(log, 0, 1, "No chicken.")
    body["answer"]["facts"][0] |= fact
    return make_bundle(log, log.record("answered", body).seq)


def test_a_bundle_shows_how_far_the_words_bear_the_answer_out() -> None:
    made = bundle()
    assert (made.answer["support"], made.answer["complete"], made.answer["missing"]) == ("quoted", True, "")
    assert "it was recorded as 'quoted' by the words it cites" in verify_bundle(encode(made)).proved
    raised = replace(made, answer={**made.answer, "support": "computed"})
    assert "not the one that was recorded" in verify_bundle(encode(raised)).failed[0].what


def test_a_worded_answer_is_said_not_to_be_confirmed() -> None:
    log = world().log
    body = answer(log, 0, 1, "No chicken.")
    body["answer"]["support"] = "worded"
    report = verify_bundle(encode(make_bundle(log, log.record("answered", body).seq)))
    assert report.ok
    assert any("say what the answer says: its wording was not confirmed" in line for line in report.unproved)


@pytest.mark.parametrize("support", ["quoted", "computed"])
def test_a_fact_of_several_quotes_holds_when_all_of_them_stand_there(support: str) -> None:
    log = world().log
    page = log.page(log.pages()[0].id)
    spans: list[dict[str, Any]] = [
        {"page_id": page.id, "start": page.lines[n].body, "end": page.lines[n].body + length}
        for n, length in ((0, 20), (1, 12))
    ]
    quotes = [page.text[span["start"] : span["end"]] for span in spans]
    body = answer(log, 0, 1, "No chicken.")
    fact = {
        "claim": "Ann paid, and Bob's dog is Pixel.",
        "quotes": quotes,
        "spans": spans,
        "support": support,
    }
    body["answer"]["facts"] = [fact]
    report = verify_bundle(encode(make_bundle(log, log.record("answered", body).seq)))
    assert report.ok
    assert any("Bob's dog is Pixel" in line and "quotes words of Ann" in line for line in report.proved)
    fact["quotes"] = [quotes[0], "My dog Rover"]
    (failed,) = verify_bundle(encode(make_bundle(log, log.record("answered", body).seq))).failed
    assert (failed.where, "My dog Rover" in failed.what) == ("fact 1", True)


def test_words_that_two_quotes_share_stand_in_one_place_and_every_place_is_quoted() -> None:
    whole = "My dog Pixel cannot have chicken. Never give him any."
    assert verify_bundle(encode(made_with(quotes=[whole, whole.upper()]))).ok
    assert not verify_bundle(encode(made_with(quotes=[whole, "Never give him"]))).ok
    assert not verify_bundle(encode(made_with(quotes=["My dog Pixel"]))).ok
    assert not verify_bundle(encode(made_with(quotes=[]))).ok


def test_a_quote_that_was_copied_with_the_head_of_its_line_is_the_words_of_the_line() -> None:
    copied = "[undated] Bob: My dog Pixel cannot have chicken. Never give him any."
    assert verify_bundle(encode(made_with(quotes=[copied]))).ok
    assert not verify_bundle(encode(made_with(quotes=[copied.replace("cannot", "can")]))).ok


def test_the_wording_of_a_worded_fact_is_unproved_and_its_words_are_exact() -> None:
    report = verify_bundle(encode(made_with(support="worded", claim="Pixel is a vegetarian.")))
    assert report.ok
    (told,) = [line for line in report.unproved if "Pixel is a vegetarian." in line]
    assert "My dog Pixel cannot have chicken" in told
    assert "its wording was not confirmed" in told
    assert not any("vegetarian" in line for line in report.proved)
    altered = made_with(support="worded", quotes=["My dog Pixel can have chicken."])
    assert not verify_bundle(encode(altered)).ok


# the command


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, Path, Bundle]:
    w = world()
    made = make_bundle(w.log, w.answers[0], checkpoint=w.kept)
    (tmp_path / "b.json").write_bytes(encode(made))
    point = asdict(w.kept)
    (tmp_path / "c.json").write_text(json.dumps([point]))
    return tmp_path / "b.json", tmp_path / "c.json", made


def test_the_command_ends_with_zero_for_a_good_bundle_and_three_for_a_bad_one(
    kept: tuple[Path, Path, Bundle], capsys: pytest.CaptureFixture[str]
) -> None:
    file, checkpoint, made = kept
    assert main(["verify-bundle", str(file), "--checkpoint", str(checkpoint)]) == 0
    assert "The bundle holds." in capsys.readouterr().out
    file.write_bytes(encode(forgeries()["the answer shown is altered"](made)))
    assert main(["verify-bundle", str(file)]) == 3
    assert "FAILED" in capsys.readouterr().out
    assert main(["verify-bundle", str(file.with_name("absent"))]) == 1
    assert "error: " in capsys.readouterr().err


def test_a_checkpoint_of_another_space_holds_no_bundle(
    kept: tuple[Path, Path, Bundle], capsys: pytest.CaptureFixture[str]
) -> None:
    file, checkpoint, _ = kept
    checkpoint.write_text('{"space": "other", "size": 1, "root": "00", "format": 2}')
    assert main(["verify-bundle", str(file), "--checkpoint", str(checkpoint)]) == 3
    assert "holds no checkpoint of space 'ann'" in capsys.readouterr().err


def test_pagestore_alone_checks_a_bundle(kept: tuple[Path, Path, Bundle]) -> None:
    """In a process that has the standard library and this one package, and nothing else."""
    file, checkpoint, _ = kept
    root = Path(__file__).parents[2]
    script = (
        "import sys, runpy; sys.path[:0] = [sys.argv.pop(1)]\n"
        "sys.argv[0] = 'pagestore'; runpy.run_module('pagestore', run_name='__main__')"
    )
    arguments = [str(root), "verify-bundle", str(file), "--checkpoint", str(checkpoint)]
    command = [sys.executable, "-I", "-S", "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "The bundle holds." in done.stdout
