"""A kind of record is one file and one line, and mypy refuses one that forgets what erasing needs."""

import pkgutil
import re
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given

import tiermem.ledger.kinds
from pagestore import PageId, Record
from pagestore.errors import Corrupt
from tests.ledger import noted
from tests.ledger.building import MOMENT, distilled, entries
from tests.ledger.noted import Noted
from tests.writing.parts import S1, DictIndex, Rules, opened, turn
from tiermem.ledger import Ledger, LedgerEntry, Spent, Tier1, entry_texts
from tiermem.ledger.entries import encode
from tiermem.ledger.entry_texts import fields_of, paid_for
from tiermem.ledger.kind import stays
from tiermem.ledger.kinds import KINDS, kind_of
from tiermem.writing import Selection, Writer

NOTED = Path(noted.__file__).read_text(encoding="utf-8")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def with_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line."""
    monkeypatch.setitem(KINDS, "noted", noted.KIND)


@pytest.mark.anyio
@pytest.mark.usefixtures("logs", "with_notes")
async def test_a_kind_in_a_file_of_its_own_is_written_read_folded_and_erased() -> None:
    ledger = await opened()
    writer = Writer(ledger, DictIndex(), Rules().engine)
    for said in ("Ann moved to Lisbon.", "Ann bought a bicycle."):
        await writer.observe(S1, [turn(said)])
        await writer.seal()
    moved, bought = await ledger.pages()
    notes = [Noted(page_id=moved.id, text="about her move"), Noted(page_id=bought.id, text="about wheels")]
    for note in notes:
        await ledger.write(note)
    assert ledger.tier1.aside_at("noted") == {moved.id: "about her move", bought.id: "about wheels"}
    assert (await Ledger.open(ledger._log)).tier1.pages_set_aside == ledger.tier1.pages_set_aside
    assert list(entry_texts(notes[0])) == ["about her move"]
    erasure, _ = await writer.eraser.erase(Selection(page=moved.id), "asked to")
    assert (erasure.records, erasure.stripped) == (1, 0)
    assert ledger.tier1.aside_at("noted") == {bought.id: "about wheels"}
    assert "about her move" not in str(list(ledger._log.records()))


@pytest.mark.anyio
@pytest.mark.usefixtures("logs")
async def test_an_entry_of_no_kind_is_not_written_and_a_record_of_one_is_skipped() -> None:
    ledger = await opened()
    with pytest.raises(TypeError, match="Noted is of no kind"):
        await ledger.write(Noted(page_id=PageId("p1"), text="-"))
    ledger._log.record("noted", {"page_id": "p1", "text": "-"})
    assert Tier1.from_records(ledger._log.records()).pages_set_aside == ()


@pytest.mark.anyio
@pytest.mark.usefixtures("logs")
async def test_a_record_of_another_form_is_refused_with_its_fields_and_what_to_do() -> None:
    ledger = await opened()
    body = encode(distilled("p1"))
    del body["beside"], body["open_id"]
    ledger._log.record("distilled", body)
    told = r"record \d does not read as 'distilled' \(beside, open_id\): .* make a new store of the files"
    with pytest.raises(Corrupt, match=told):
        Tier1.from_records(ledger._log.records())


def without(part: str) -> str:
    changed = re.sub(rf"^ *{part}=\w+,\n", "", NOTED, flags=re.MULTILINE)
    assert changed != NOTED
    return changed


def test_a_kind_without_a_rule_for_erasing_does_not_type_check(tmp_path: Path) -> None:
    """Nor one that does not say how it folds, nor one with the rule of another kind."""
    other = "from tiermem.ledger.kinds.spent import Spent\n"
    kinds = {
        "whole": NOTED,
        "no_rule": without("may_stay"),
        "no_fold": without("fold"),
        "other_rule": NOTED.replace("def _may_stay(entry: Noted", "def _may_stay(entry: Spent").replace(
            "from pagestore", f"{other}from pagestore"
        ),
    }
    for name, code in kinds.items():
        (tmp_path / f"{name}.py").write_text(code)
    checked = "\n".join(
        f"[mypy-{module}]\nfollow_imports = silent"
        for module in ("tiermem.ledger.kind", "tiermem.ledger.kinds.spent")
    )
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nstrict = true\nfollow_imports = skip\n{checked}\n")
    files = [f"{name}.py" for name in kinds]
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=mypy.ini", "--cache-dir=cache", *files],
        cwd=tmp_path,
        env={"MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    found = dict(re.findall(r"^(\w+)\.py:\d+: error: (.*)$", ran.stdout, re.MULTILINE))
    assert found.keys() == kinds.keys() - {"whole"}, ran.stdout + ran.stderr
    assert 'Missing named argument "may_stay" for "Kind"' in found["no_rule"]
    assert 'Missing named argument "fold" for "Kind"' in found["no_fold"]
    assert '"may_stay"' in found["other_rule"]


def test_every_file_of_a_kind_is_listed_once_with_an_entry_and_a_name_of_its_own() -> None:
    files = [info.name for info in pkgutil.iter_modules(tiermem.ledger.kinds.__path__)]
    found = [import_module(f"tiermem.ledger.kinds.{name}").KIND for name in files]
    assert len(found) == len(KINDS) == len({kind.entry for kind in found})
    assert {kind.name: kind for kind in found} == KINDS


def test_a_kind_that_stays_whatever_is_erased_holds_no_words() -> None:
    kept: list[type] = [kind.entry for kind in KINDS.values() if kind.may_stay is stays]
    assert Spent in kept
    for entry in kept:
        shape = fields_of(entry)
        assert (shape.words, {*shape.values} - {"usage"}) == ((), set())


@given(entry=entries)
def test_what_is_paid_for_an_entry_is_what_tier1_counts(entry: LedgerEntry) -> None:
    record = Record(seq=0, kind=kind_of(entry).name, at=MOMENT, body={})
    tier1 = Tier1.from_records([replace(record, kind="distilled", body=encode(distilled("p1")))])
    before = tier1.spent_on(MOMENT.date()).calls
    tier1.fold(record, entry)
    assert tier1.spent_on(MOMENT.date()).calls - before == paid_for(entry).calls
