"""A log that two ledgers write, as from two processes: each folds what the other one recorded."""

import anyio
import pytest

from pagestore import DiskLog, LogOptions, MemoryLog, PageLog, SessionId, Turn
from pagestore.log import Log
from tests.ledger.building import SPACE, distilled, state, unit
from tests.logs import new_shared_lines
from tiermem.ledger import Ledger, RetiredEntry, Tier1, records_left
from tiermem.ledger.kinds.erasing import TurnAt
from tiermem.model import UnitId

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]
S1 = SessionId("s1")


async def open_two() -> tuple[Ledger, Ledger]:
    """Two ledgers of one log."""
    one, other = [await Ledger.open(Log(lines, SPACE)) for lines in new_shared_lines()]
    return one, other


async def fold_all(ledger: Ledger) -> Tier1:
    """The fold of the whole log, as a ledger that is opened now has it."""
    return Tier1.from_records(records_left(await ledger.logged_entries()))


async def test_what_one_recorded_is_folded_by_the_other_when_it_catches_up() -> None:
    one, other = await open_two()
    await one.write(distilled("p1", unit("u1")))
    assert other.tier1.units() == ()
    assert await other.catch_up()
    assert [u.id for u in other.tier1.units()] == ["u1"]
    assert not await other.catch_up(), "nothing new"
    await other.write(RetiredEntry(unit_ids=(UnitId("u1"),), reason="wrong"))
    assert not await other.catch_up(), "its own entries are not news"
    assert await one.catch_up()
    assert not one.tier1.is_active(UnitId("u1"))
    assert state(one.tier1) == state(other.tier1) == state(await fold_all(one))


async def test_entries_are_folded_in_the_order_of_the_log_whoever_wrote_them() -> None:
    one, other = await open_two()
    await one.write(distilled("p1", unit("u1", text="Ann likes tea.")))
    await other.write(distilled("p1", unit("u1", text="Ann likes coffee.")))
    await one.catch_up()
    assert [u.text for u in other.tier1.units()] == ["Ann likes tea."], "the first record of a page counts"
    assert state(one.tier1) == state(other.tier1)


async def test_both_may_write_at_once() -> None:
    one, other = await open_two()
    async with anyio.create_task_group() as tasks:
        for number in range(20):
            ledger = (one, other)[number % 2]
            tasks.start_soon(ledger.write, distilled(f"p{number}", unit(f"u{number}")))
            tasks.start_soon((other, one)[number % 2].catch_up)
    await one.catch_up()
    await other.catch_up()
    assert len(one.tier1.units()) == 20
    assert state(one.tier1) == state(other.tier1) == state(await fold_all(other))


async def test_what_is_said_to_reflect_a_record_holds_the_entries_of_others_before_it() -> None:
    one, other = await open_two()
    await one.write(distilled("p1", unit("u1")))
    await other.append(S1, [Turn(speaker="Ann", text="hello")])  # which reads what the other one appended
    changes = await other.changes(-1)
    assert [u.id for u in changes.units] == ["u1"]
    assert changes.head > other.tier1.head > -1
    assert (await other.changes(changes.head)).units == ()


async def test_where_another_one_erased_the_log_is_folded_from_its_start() -> None:
    one, other = await open_two()
    kept = await one.write(distilled("p1", unit("u1")))
    gone = await one.write(distilled("p2", unit("u2", text="a secret")))
    await one.append(S1, [Turn(speaker="Ann", text="a secret")])
    (page_id,) = await one.seal(S1)
    (line,) = (await one.page(page_id)).lines
    await other.catch_up()
    before = other.tier1
    await one.erase(
        [TurnAt(page_id=page_id, seq=line.seq)],
        entries=await one.logged_entries(),
        records=[gone.seq],
        instead=(),
        reason="asked to",
    )
    assert await other.catch_up()
    assert other.tier1 is not before
    assert (other.erasures_by_others, one.erasures_by_others) == (1, 0)
    assert [u.id for u in other.tier1.units()] == ["u1"]
    assert other.tier1.head == kept.seq
    assert state(one.tier1) == state(other.tier1)


async def test_an_erasure_that_is_read_while_writing_is_folded_too() -> None:
    one, other = await open_two()
    gone = await one.write(distilled("p1", unit("u1", text="a secret")))
    await other.catch_up()
    await one.erase([], entries=await one.logged_entries(), records=[gone.seq], instead=(), reason="asked to")
    await other.write(distilled("p2", unit("u2")))
    assert [u.id for u in other.tier1.units()] == ["u2"]
    assert other.erasures_by_others == 1
    again = await one.write(distilled("p3", unit("u3")))
    entries = await other.logged_entries()
    await other.erase([], entries=entries, records=[again.seq], instead=(), reason="asked to")
    assert [u.id for u in other.tier1.units()] == ["u2"]
    assert (await one.catch_up(), [u.id for u in one.tier1.units()]) == (True, ["u2"])


@pytest.mark.local_only("only one process writes the log")
async def test_a_log_that_nobody_shares_is_not_read_again(tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = str(tmp_path_factory.mktemp("logs"))
    logs: list[PageLog] = [MemoryLog(SPACE), DiskLog(directory, SPACE)]
    with DiskLog(directory, SPACE, read_only=True, options=LogOptions()) as reader:
        for log in (*logs, reader):
            ledger = await Ledger.open(log)
            assert not await ledger.catch_up()
            assert ledger.erasures_by_others == 0
    for log in logs:
        log.close()
