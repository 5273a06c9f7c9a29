"""Erasing: the words go, and everything that rests on them; the rest stays true and proved."""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

import tiermem
from pagestore import DiskLog, Page, SpaceId
from tests.api.conftest import DIALOGUE, OpenMemory, tell
from tests.ledger import building
from tests.reading.world import ListIndex
from tests.stores import stored_bytes
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import InvalidInput, UnknownId
from tiermem.index.features import hash_name
from tiermem.ledger import Ledger, RetiredEntry
from tiermem.ledger.entries import encode
from tiermem.ledger.kinds import kind_of
from tiermem.model import Claim, LinkedFact
from tiermem.proof import link
from tiermem.text.fingerprints import fingerprints_of

BISCUIT = "What is Biscuit allergic to?"
ROOF = "How much did Melanie pay for the new roof of the pottery studio?"


@pytest.fixture
def memory(open_memory: OpenMemory) -> tiermem.Memory:
    memory = open_memory(index=ListIndex())
    tell(memory)
    memory.flush()
    return memory


def test_a_turn_goes_with_its_units_and_answers_and_no_file_holds_a_word_of_it(
    memory: tiermem.Memory, address: Path | str
) -> None:
    answers = [memory.ask(BISCUIT), memory.ask(BISCUIT, mode="raw"), memory.ask(ROOF)]
    before = memory.units()
    assert b"Biscuit" in stored_bytes(address)
    receipt = memory.erase(turn="t2", session="s1", reason="Caroline asked for it")
    assert b"Biscuit" not in stored_bytes(address)
    assert b"allergic" not in stored_bytes(address)
    assert receipt.leftovers.clean
    assert receipt.leftovers.phrases > 5
    assert receipt.leftovers.files >= 3
    gone = {unit.id for unit in before if "Biscuit" in unit.text}
    assert gone
    assert set(receipt.erasure.units) == gone
    assert {unit.id for unit in memory.units()} == {unit.id for unit in before} - gone
    assert set(receipt.erasure.answers) >= {answers[0].id, answers[1].id}
    assert answers[2].id not in receipt.erasure.answers
    assert memory.audit(answers[2].id).intact
    with pytest.raises(UnknownId, match="was erased"):
        memory.audit(answers[0].id)
    assert memory.ask(BISCUIT).abstained
    assert "1,450" in memory.ask(ROOF).text


THINGS = ("canoe", "piano", "kettle", "lantern", "violin", "sledge", "bicycle", "telescope")
LONG = "".join(
    f"On day {n} my {thing} went from the attic to the barn. " for n, thing in enumerate(THINGS * 3)
)
"""A turn that fills six pages of 60 tokens."""


@pytest.mark.parametrize("part", range(6))
def test_a_page_that_is_erased_takes_the_earlier_parts_of_its_turns(
    open_memory: OpenMemory, part: int
) -> None:
    memory = open_memory(page_tokens=60)
    memory.add("The weather is fine.", speaker="Bob", session="s1")
    memory.add(LONG, speaker="Ann", session="s1")
    memory.add("The evening was fine too.", speaker="Bob", session="s1")
    memory.flush()
    pages = [memory.page(info.id) for info in memory.pages()]
    of_turn = [page for page in pages if page.lines[0].parts == 6]
    assert [page.lines[0].part for page in of_turn] == [1, 2, 3, 4, 5, 6]
    receipt = memory.erase(page=of_turn[part].id, reason="asked to")
    assert [turn.page_id for turn in receipt.erasure.turns] == [page.id for page in of_turn]
    assert receipt.leftovers.clean
    assert not [unit for unit in memory.units() if any(thing in unit.text for thing in THINGS)]
    words = [line.turn.text for page in of_turn for line in page.lines if line.turn is not None]
    assert memory.leftover_scan(words).clean


def test_what_was_committed_to_before_still_verifies(memory: tiermem.Memory) -> None:
    memory.ask(BISCUIT)
    checkpoint = memory.checkpoint()
    memory.erase(session="s1", reason="asked to")
    report = memory.verify(checkpoint)
    assert report.ok
    assert report.erased == 3
    assert memory.prove_growth(checkpoint).new.size > checkpoint.size


def test_the_rest_of_a_page_keeps_its_offsets(memory: tiermem.Memory) -> None:
    page = memory.page(memory.pages("s1")[0].id)
    memory.erase(turn=page.lines[1].address, reason="asked to")
    after = memory.page(page.id)
    assert [(line.start, line.end) for line in after.lines] == [(line.start, line.end) for line in page.lines]
    assert after.lines[1].turn is None
    for number in (0, 2):
        line = page.lines[number]
        assert after.text[line.start : line.end] == page.text[line.start : line.end]
    for unit in memory.units("s1"):
        for span in unit.spans:
            assert after.words(span) == page.words(span)


@pytest.mark.parametrize("what", [{"turn": "t2", "session": "s1"}, {"session": "s2"}, {"space": True}])
def test_a_dry_run_lists_what_goes_writes_nothing_and_needs_no_right_to(
    memory: tiermem.Memory, open_memory: OpenMemory, address: Path | str, what: dict[str, Any]
) -> None:
    for question in (BISCUIT, ROOF):
        memory.ask(question)
    (roof,) = (unit for unit in memory.units() if "roof" in unit.text)
    memory.correct(roof.id, "We paid 1,500 dollars for the new roof.", speaker="Melanie")
    memory.close()
    stored = stored_bytes(address)
    reader = open_memory(read_only=True)
    tried = reader.erase(**what, dry_run=True)
    assert (tried.proposed, tried.leftovers.clean, tried.leftovers.files) == (True, False, 0)
    with pytest.raises(InvalidInput, match="repeats words"):
        reader.erase(turn="t2", session="s1", reason="of Biscuit", dry_run=True)
    with pytest.raises(tiermem.PageStoreError):
        reader.erase(**what, reason="asked to")
    reader.close()
    assert stored_bytes(address) == stored
    memory = open_memory()
    with pytest.raises(InvalidInput, match="give a reason"):
        memory.erase(**what)
    done = memory.erase(**what, reason="asked to")
    assert replace(tried.erasure, index=done.erasure.index) == done.erasure
    assert tried.recorded_calls == done.recorded_calls
    assert tried.leftovers.phrases == done.leftovers.phrases


@pytest.mark.parametrize("what", ["page", "session", "space"])
def test_more_than_a_turn_can_go(memory: tiermem.Memory, address: Path | str, what: str) -> None:
    for question in (BISCUIT, ROOF, "Does anybody like opera?"):
        memory.ask(question)
    ways: dict[str, dict[str, Any]] = {
        "page": {"page": memory.pages("s2")[0].id},
        "session": {"session": "s2"},
        "space": {"space": True},
    }
    named = ways[what]
    receipt = memory.erase(**named, reason="asked to")
    assert receipt.leftovers.clean
    left = stored_bytes(address).decode("utf-8", "replace")
    assert "pottery" not in left
    assert ("Biscuit" in left) == (what != "space")
    assert len(receipt.erasure.turns) == (6 if what == "space" else 3)
    assert memory.units("s2") == ()
    if what == "space":
        assert not memory.answers()
        assert not memory.units()
        assert memory.stats().units == 0
    assert memory.verify().ok


def test_it_is_the_same_after_reopening_and_reindexing(open_memory: OpenMemory) -> None:
    memory = open_memory(space="other", index=ListIndex())
    tell(memory)
    memory.flush()
    memory.ask(BISCUIT)
    memory.erase(turn="t2", reason="asked to")
    units, answers, stats = memory.units(), memory.answers(), memory.stats()
    memory.close()
    memory = open_memory(space="other", index=ListIndex())
    assert (memory.units(), memory.answers()) == (units, answers)
    assert memory.stats().units == stats.units
    memory.reindex()
    assert memory.units() == units
    assert "allergic" not in repr(memory.search("allergic dog chicken"))
    tell(memory)
    memory.flush()
    assert "Biscuit" not in repr((memory.units(), memory.open_pages()))
    assert memory.erase(turn=_address_of(memory, "s1", 2), reason="again").erasure.units == ()


def _address_of(memory: tiermem.Memory, session: str, line: int) -> str | None:
    return memory.page(memory.pages(session)[0].id).lines[line].address


def test_turns_of_an_open_page_can_go(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory(index=ListIndex())
    tell(memory)
    answer = memory.ask(BISCUIT)
    assert not answer.abstained
    receipt = memory.erase(turn="t2", reason="asked to")
    assert receipt.leftovers.clean
    assert answer.id in receipt.erasure.answers
    assert "Biscuit" not in repr(memory.open_pages())
    memory.flush()
    assert "Biscuit" not in repr(memory.units())
    assert memory.verify().ok


def test_a_name_that_only_the_erased_turn_holds_erases_the_unit_with_it(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check that is too weak confirmed a claim with a name of an earlier turn."""
    monkeypatch.setattr("tiermem.writing.distil.link", _confirm)
    model = _speaking({"page 1": [("Rosalind moved to the mill.", "she moved to the mill last spring")]})
    memory = open_memory(index=ListIndex(), engine="model", model=model)
    memory.add({"speaker": "Ann", "text": "My aunt is called Rosalind.", "id": "a"})
    memory.add({"speaker": "Ann", "text": "And she moved to the mill last spring.", "id": "b"})
    memory.flush()
    (unit,) = memory.units()
    assert "Rosalind" in unit.text
    monkeypatch.undo()
    receipt = memory.erase(turn="a", reason="asked to")
    assert receipt.erasure.units == (unit.id,)
    assert receipt.leftovers.clean


def _confirm(claim: Claim, pages: Sequence[Page]) -> LinkedFact:
    linked = link(claim, pages)
    assert isinstance(linked, LinkedFact)
    return replace(linked, support="quoted", reason="")


def _speaking(facts: dict[str, list[tuple[str, str]]]) -> Any:
    from tiermem.llm.interface import Call
    from tiermem.llm.scripted import FunctionModel

    told = [{"fact": fact, "evidence_quote": quote} for pairs in facts.values() for fact, quote in pairs]

    def answer(call: Call) -> dict[str, Any]:
        return {"facts": told}

    return FunctionModel(answer)


@pytest.mark.parametrize(
    "named",
    [{}, {"turn": "t1:1-9ae0", "page": "p"}, {"page": "p", "session": "s"}, {"session": "s", "space": True}],
)
def test_exactly_one_thing_is_named(memory: tiermem.Memory, named: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="one thing"):
        memory.erase(**named, reason="asked to")


def test_what_is_not_there_and_what_is_unclear_is_refused(memory: tiermem.Memory) -> None:
    memory.add({"speaker": "Ann", "text": "A second turn of this id.", "id": "t2"}, session="s3")
    head = memory.stats().turns
    unknown: list[dict[str, Any]] = [
        {"turn": "no"},
        {"turn": "t1:10000-9ae0"},
        {"page": "p1:no"},
        {"session": "no"},
    ]
    for named in unknown:
        with pytest.raises(UnknownId, match="nothing to erase"):
            memory.erase(**named, reason="asked to")
    with pytest.raises(InvalidInput, match="several sessions"):
        memory.erase(turn="t2", reason="asked to")
    with pytest.raises(InvalidInput, match="repeats words"):
        memory.erase(turn="t2", session="s1", reason="Biscuit is dead")
    with pytest.raises(InvalidInput, match="reason"):
        memory.erase(turn="t2", session="s1", reason=" ")
    assert memory.stats().turns == head
    assert memory.leftover_scan(["Biscuit"]).found


def test_recorded_model_calls_with_the_words_go(open_memory: OpenMemory, tmp_path: Path) -> None:
    from tiermem.llm.recording import RecordingModel

    recording = tmp_path / "calls.jsonl"
    model = RecordingModel(_speaking({}), recording)
    memory = open_memory(index=ListIndex(), engine="model", model=model)
    tell(memory)
    memory.flush()
    assert "Biscuit" in recording.read_text()
    kept = recording.read_text().count("\n")
    tried = memory.erase(turn="t2", dry_run=True)
    receipt = memory.erase(turn="t2", reason="asked to")
    assert (tried.recorded_calls, receipt.recorded_calls) == (1, 1)
    assert "Biscuit" not in recording.read_text()
    assert recording.read_text().count("\n") == kept - 1


@pytest.mark.local_only("the file of the index is read")
def test_the_embedded_index_keeps_nothing_either(tmp_path: Path) -> None:
    store = tmp_path / "store"
    embedder = HashEmbedder()
    with (
        tiermem.open(store, engine="local", embedder=embedder) as memory,
        tiermem.open(store, space="beside", engine="local", embedder=embedder) as beside,
    ):
        tell(memory)
        memory.flush()
        beside.add("Biscuit of another space eats fish.", speaker="Dan")
        beside.flush()
        found = memory.search("Biscuit allergic chicken", kind="units")[0]
        receipt = memory.erase(session="s1", reason="asked to")
        assert receipt.erasure.index == "rewritten"
        assert receipt.leftovers.clean
        index = b"".join(f.read_bytes() for f in (store / "index").rglob("*") if f.is_file())
        assert found.unit_id is not None
        assert found.unit_id.encode() not in index
        assert len(beside.search("Biscuit")) == 1
        assert [unit.session for unit in memory.units()] == ["s2"] * len(memory.units())
        assert memory.search("roof of the studio")
        found_beside = beside.leftover_scan(["Biscuit of another space"])
        assert [leftover.file for leftover in found_beside.found] == ["spaces/beside/00000001.jsonl"]


@pytest.mark.local_only("the file of the index is read")
@pytest.mark.parametrize("is_sealed", [True, False])
@pytest.mark.parametrize("part", ["session", "page", "turn"])
def test_the_index_drops_the_hash_of_a_session_of_which_no_turn_is_left(
    tmp_path: Path, part: str, is_sealed: bool
) -> None:
    name, store = "appointment of Ann Example", tmp_path / "store"
    options: dict[str, Any] = {"engine": "local", "embedder": HashEmbedder()}

    def files_with_the_name() -> list[str]:
        held = {file.name: file.read_bytes() for file in (store / "index").rglob("*") if file.is_file()}
        assert not any(name.encode() in one for one in held.values())
        return [file for file, one in held.items() if hash_name(name).to_bytes(8, "little") in one]

    with tiermem.open(store, **options) as memory:
        memory.add("My dog Biscuit is allergic to chicken.", session=name, speaker="Ann")
        memory.add("The roof cost 1,450 dollars.", session="other", speaker="Bo")
        memory.flush() if is_sealed else memory.index_pending()
        page = (memory.pages(name) or memory.open_pages(name))[0].id
        assert memory.search("Biscuit", kind="turns")
        assert files_with_the_name()
        named: dict[str, Any] = {"session": name, "page": page, "turn": memory.page(page).lines[0].address}
        receipt = memory.erase(**{part: named[part]}, reason="asked to")
        assert "names of sessions" in receipt.remains
        assert files_with_the_name() == []
        memory.add("The garden has tomatoes.", session="other", speaker="Bo")
        memory.flush()
        assert files_with_the_name() == []
    with tiermem.open(store, **options) as memory:
        assert memory.search("tomatoes", kind="turns")
        memory.reindex()
        assert memory.search("tomatoes", kind="pages")
    assert files_with_the_name() == []


FORMS = {
    "plain": b"The vault code is 4417.",
    "other case": b"THE VAULT,\nCODE\tIS: 4417",
    "json": json.dumps("Thé vault code\nis “4417”").encode(),
    "utf-16": "The vault code is 4417".encode("utf-16"),
    "utf-16-be": "The vault code is 4417".encode("utf-16-be"),
    "utf-16 at an odd place": b"x" + "The vault code is 4417".encode("utf-16-le"),
    "among zeros": b"\0" * 5000 + b"the vault code is 4417" + b"\0" * 5000,
}


@pytest.mark.local_only("words are put into files of the store")
@pytest.mark.parametrize("form", FORMS)
def test_the_scan_reads_every_form(memory: tiermem.Memory, tmp_path: Path, form: str) -> None:
    (tmp_path / "store" / "left.bin").write_bytes(FORMS[form])
    wanted = "thé vault code is 4417" if form == "json" else "the vault code is 4417"
    scan = memory.leftover_scan([wanted])
    assert [leftover.file for leftover in scan.found] == ["left.bin"]
    assert memory.leftover_scan(["the vault code is 4418"]).clean


def test_an_erasing_that_was_cut_short_is_finished_at_the_next_opening(
    open_memory: OpenMemory, address: Path | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory(index=ListIndex())
    tell(memory)
    memory.flush()
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "erase", _ends)
        with pytest.raises(OSError, match="the process ends here"):
            memory.erase(turn="t2", session="s1", reason="asked to")
    memory.close()
    assert b"Biscuit" in stored_bytes(address)
    memory = open_memory(index=ListIndex())
    assert b"Biscuit" not in stored_bytes(address)
    assert "Biscuit" not in repr((memory.units(), memory.search("Biscuit")))


async def _ends(*_: Any, **__: Any) -> None:
    raise OSError("the process ends here")


@pytest.mark.local_only("numbers are read from files of the log")
def test_the_numbers_of_the_log_are_nobodys_words(open_memory: OpenMemory, tmp_path: Path) -> None:
    """Times, hashes, the process in a lock, names of fields and kinds."""
    memory = open_memory(index=ListIndex())
    tell(memory)
    for number in range(40):
        memory.add(f"We counted {number} boats at the lake before noon.", speaker="Ann", session="s9")
    memory.flush()
    memory.ask(BISCUIT)
    log = (tmp_path / "store" / "spaces" / "default" / "00000001.jsonl").read_text()
    minute, second = re.findall(r"T\d\d:(\d\d):(\d\d)\.", log)[-1]
    moment = re.findall(r"\.(\d{6})\+00:00", log)[0]
    for number, said in enumerate(
        (
            f"It costs {minute}.{second} euros.",
            f"The code of the gate is {moment}.",
            f"The door code is {os.getpid()}.",
            "She calls her cats Spans, Cosine, Summary and Distilled.",
        )
    ):
        memory.add({"speaker": "Ann", "text": said, "id": f"n{number}"}, session="numbers")
        memory.flush()
        receipt = memory.erase(turn=f"n{number}", session="numbers", reason="asked to")
        assert receipt.leftovers.phrases, said
        assert receipt.leftovers.clean, (said, receipt.leftovers)
    assert BISCUIT in [info.question for info in memory.answers()]


@pytest.mark.local_only("words are put into files of the store")
@pytest.mark.parametrize("word", ["1234", "12.50", "Rosalind"])
@pytest.mark.parametrize(
    "place", ["a turn", "a unit", "a reason", "a record of tomorrow", "a file", "a line"]
)
def test_what_is_left_where_words_stand_is_found_however_short(
    memory: tiermem.Memory, tmp_path: Path, word: str, place: str
) -> None:
    assert memory.leftover_scan([word]).clean
    store = tmp_path / "store"
    if place == "a turn":
        memory.add(f"It was {word}, I think.", speaker="Ann")
    elif place in ("a file", "a line"):
        (store / ("left.bin" if place == "a file" else "left.jsonl")).write_text(f"it was {word}\n")
    else:
        memory.close()
        with DiskLog(str(store), SpaceId("default")) as log:
            log.record(*_left(place, word))
        memory = tiermem.open(store, engine="local", index=ListIndex(), embedder=HashEmbedder())
    assert len(memory.leftover_scan([word]).found) == 1
    memory.close()


def _left(place: str, word: str) -> tuple[str, dict[str, Any]]:
    if place == "a unit":
        entry: Any = building.distilled("p1:x", building.unit("u1", text=f"Ann keeps {word}."))
    elif place == "a reason":
        entry = RetiredEntry(unit_ids=(), reason=f"not {word}")
    else:
        return "of-tomorrow", {"about": [{"text": f"not {word}", "at": 1}]}
    return kind_of(entry).name, encode(entry)


def test_words_that_others_also_said_are_theirs_and_the_receipt_says_where(memory: tiermem.Memory) -> None:
    memory.add({"speaker": "Ann", "text": "The code is 4417, says Rosalind.", "id": "a"}, session="s4")
    memory.add({"speaker": "Bob", "text": "Rosalind has 4417 stamps.", "id": "b"}, session="s4")
    memory.add({"speaker": "Ann", "text": "4417", "id": "c"}, session="s4")
    memory.flush()
    receipt = memory.erase(turn="a", session="s4", reason="asked to")
    assert receipt.leftovers.clean
    assert receipt.leftovers.silent == 0
    page = memory.page(memory.pages("s4")[0].id)
    said = {line.turn.turn_id: line.address for line in page.lines if line.turn is not None}
    assert set(receipt.erasure.also_said) == {said["b"], said["c"]}
    receipt = memory.erase(turn="c", session="s4", reason="asked to")
    assert (receipt.leftovers.phrases, receipt.leftovers.silent) == (0, 1)
    assert list(receipt.erasure.also_said) == [said["b"]]
    assert memory.erase(turn="b", session="s4", reason="asked to").erasure.also_said == ()


def test_a_reason_that_repeats_what_is_erased_later_goes_with_it(
    memory: tiermem.Memory, address: Path | str
) -> None:
    memory.erase(turn="t0", session="s1", reason="Biscuit is allergic to chicken")
    receipt = memory.erase(turn="t2", session="s1", reason="asked to")
    assert receipt.leftovers.clean
    assert b"Biscuit" not in stored_bytes(address)


def test_nobody_concludes_anything_while_words_go(address: Path | str) -> None:
    async def main() -> None:
        async with await tiermem.AsyncMemory.open(
            address, engine="local", embedder=HashEmbedder(), index=ListIndex()
        ) as memory:
            for number, (session, said_at, speaker, text) in enumerate(DIALOGUE):
                turn = {"speaker": speaker, "text": text, "timestamp": said_at, "id": f"t{number}"}
                await memory.add(turn, session=session)
            await memory.flush()
            async with anyio.create_task_group() as group:
                for _ in range(4):
                    group.start_soon(memory.ask, BISCUIT)
                group.start_soon(lambda: memory.erase(turn="t2", reason="asked to"))
                for _ in range(4):
                    group.start_soon(memory.ask, BISCUIT)
        assert b"allergic to chicken" not in stored_bytes(address)
        assert fingerprints_of(["allergic to chicken"])

    anyio.run(main)


def test_the_receipt_says_that_short_names_and_numbers_are_not_looked_for(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add("The code of the shed is b7, and Bo paid 4711 for it.", speaker="Ann", session="s")
    memory.add("Bo wrote b7 on a wall.", speaker="Cy", session="t")
    memory.add("It was 4711.", speaker="Cy", session="t")
    same = memory.open_pages("t")[0].lines[-1].address
    for receipt in (memory.erase(session="s", dry_run=True), memory.erase(session="s", reason="asked for")):
        assert receipt.erasure.also_said == (same,)
        assert '("Bo", "b7")' in receipt.not_looked_for
