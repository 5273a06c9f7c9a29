"""What less trusted words can do to memory: be kept as what they are, and nothing else."""

from dataclasses import replace

import pytest

from pagestore import Span, Turn
from tests.ledger.building import answer
from tests.writing.parts import GARDEN, S1, DictIndex, Rules, finding_on, opened, turn
from tiermem.model import Claim, SummaryUnit
from tiermem.reasoning.interface import Operation
from tiermem.trust import DEFAULT_LEVELS, DEFAULT_TRUST
from tiermem.writing import Writer, WriterOptions
from tiermem.writing.edit import grounds_of

ANN = turn("Ann bought a red bicycle from Marco.")
LATER = "Ann sold the red bicycle to Marco."


def said(level: str) -> Turn:
    return replace(turn(LATER, day=9), trust=level)


def superseding(fact: object, neighbours: object) -> Operation:
    """Lets the newest win over everything."""
    assert isinstance(neighbours, list)
    return Operation(op="ADD", reason="newer", supersedes=tuple(unit.id for unit in neighbours))


def merging(fact: object, neighbours: object) -> Operation:
    """Merges into whatever is nearest."""
    assert isinstance(neighbours, list)
    if not neighbours:
        return Operation(op="ADD", reason="new")
    text = "Ann bought a red bicycle from Marco and sold the red bicycle to Marco."
    return Operation(op="UPDATE", reason="same", target=neighbours[0].id, text=text)


def skipping(fact: object, neighbours: object) -> Operation:
    """Takes the fact for known wherever a unit is near."""
    return Operation(op="SKIP" if neighbours else "ADD", reason="known")


def skipping_for_a_unit(fact: object, neighbours: object) -> Operation:
    """The same, and names the unit that says the fact."""
    assert isinstance(neighbours, list)
    return replace(skipping(fact, neighbours), target=neighbours[0].id if neighbours else None)


async def after(
    level: str, reconciles: object, first: str = "user"
) -> tuple[SummaryUnit | None, list[SummaryUnit]]:
    """What is left of the unit of a user, and what else there is, once somebody of `level` said otherwise.

    The unit is that of somebody trusted as `first`.
    """
    ledger, index, rules = await opened(), DictIndex(), Rules(reconciles=reconciles)  # type: ignore[arg-type]  # both take what is shown
    writer = Writer(ledger, index, rules.engine)
    await writer.observe(S1, [replace(ANN, trust=first)])
    await writer.seal()
    await writer.distil_pending()
    (mine,) = ledger.tier1.units()
    await writer.observe(S1, [said(level)])
    await writer.seal()
    await writer.record_answer(answer("a1"), [await finding_on(ledger, LATER)])
    await writer.apply_pending()
    kept = ledger.tier1.unit(mine.id) if ledger.tier1.is_active(mine.id) else None
    return kept, [unit for unit in ledger.tier1.units() if unit.id != mine.id]


@pytest.mark.anyio
@pytest.mark.parametrize("level", DEFAULT_LEVELS)
@pytest.mark.usefixtures("logs")
async def test_only_who_is_trusted_as_much_supersedes(level: str) -> None:
    kept, (new,) = await after(level, superseding)
    assert (kept is None) == (DEFAULT_TRUST.rank(level) >= DEFAULT_TRUST.rank("user"))
    assert new.trust == level


@pytest.mark.anyio
@pytest.mark.parametrize("level", DEFAULT_LEVELS)
@pytest.mark.usefixtures("logs")
async def test_units_of_different_trust_are_never_merged(level: str) -> None:
    kept, others = await after(level, merging)
    assert kept is not None
    assert kept.trust == "user"
    assert (kept.revision == 2) == (level == "user")
    assert [unit.trust for unit in others] == ([] if level == "user" else [level])


@pytest.mark.anyio
@pytest.mark.parametrize("reconciles", [skipping, skipping_for_a_unit])
@pytest.mark.parametrize("first", DEFAULT_LEVELS)
@pytest.mark.usefixtures("logs")
async def test_what_less_trusted_units_say_is_not_known(first: str, reconciles: object) -> None:
    kept, others = await after("user", reconciles, first)
    assert kept is not None
    is_known = DEFAULT_TRUST.rank(first) >= DEFAULT_TRUST.rank("user")
    assert [unit.trust for unit in others] == ([] if is_known else ["user"])


@pytest.mark.anyio
@pytest.mark.usefixtures("logs")
async def test_findings_below_the_floor_are_skipped_and_say_why() -> None:
    ledger = await opened()
    writer = Writer(ledger, DictIndex(), Rules().engine, WriterOptions(write_back_trust="user"))
    await writer.observe(S1, [replace(GARDEN[0], role="tool"), GARDEN[1]])
    await writer.seal()
    found = [await finding_on(ledger, said.text) for said in GARDEN[:2]]
    await writer.record_answer(answer("a1"), found)
    first, second = (await writer.apply_pending()).decisions
    assert (first.op, second.op) == ("SKIP", "ADD")
    assert first.reason == "its source is trusted as 'tool', and 'user' is asked for"
    assert [unit.trust for unit in ledger.tier1.units()] == ["user"]


@pytest.mark.anyio
@pytest.mark.parametrize("floor", DEFAULT_LEVELS)
@pytest.mark.parametrize("level", DEFAULT_LEVELS)
@pytest.mark.usefixtures("logs")
async def test_a_finding_one_level_below_the_floor_is_skipped_and_one_at_it_is_kept(
    level: str, floor: str
) -> None:
    ledger = await opened()
    writer = Writer(ledger, DictIndex(), Rules().engine, WriterOptions(write_back_trust=floor))
    await writer.observe(S1, [replace(GARDEN[0], trust=level)])
    await writer.seal()
    await writer.record_answer(answer("a1"), [await finding_on(ledger, GARDEN[0].text)])
    (decision,) = (await writer.apply_pending()).decisions
    below = DEFAULT_LEVELS.index(level) < DEFAULT_LEVELS.index(floor)
    assert decision.op == ("SKIP" if below else "ADD")


@pytest.mark.anyio
@pytest.mark.parametrize("levels", [("user", "tool"), ("tool", "user"), ("system", "web"), ("web", "system")])
@pytest.mark.usefixtures("logs")
async def test_what_rests_on_several_turns_is_trusted_as_the_least_of_them(levels: tuple[str, str]) -> None:
    ledger = await opened()
    writer = Writer(ledger, DictIndex(), Rules().engine)
    said = [replace(turn, trust=level) for turn, level in zip(GARDEN, levels, strict=False)]
    await writer.observe(S1, said)
    await writer.seal()
    (info,) = await ledger.pages()
    page = await ledger.page(info.id)
    spans = [Span(page_id=page.id, start=line.body, end=line.end) for line in page.lines]
    grounds = grounds_of(spans, [page])
    assert grounds.level == min(levels, key=DEFAULT_LEVELS.index)
    assert grounds_of(spans, [page], at_most=DEFAULT_TRUST.rank("web")).level == "web"
    highest = max(levels, key=DEFAULT_LEVELS.index)
    assert [grounds_of([span], [page]).level for span in spans] == list(levels)
    assert grounds_of(spans, [page], at_most=DEFAULT_TRUST.rank(highest)).level == grounds.level


@pytest.mark.anyio
@pytest.mark.usefixtures("logs")
async def test_a_merged_unit_is_trusted_as_the_least_of_its_turns() -> None:
    ledger, index, rules = await opened(), DictIndex(), Rules(reconciles=merging)
    writer = Writer(ledger, index, rules.engine)
    both = Claim(text=GARDEN[1].text, quotes=(GARDEN[1].text, GARDEN[0].text))
    rules.distils = lambda page: [both] if GARDEN[0].text in page.text else []
    await writer.observe(S1, [replace(GARDEN[0], trust="tool"), replace(GARDEN[1], trust="user")])
    await writer.seal()
    await writer.distil_pending()
    (mine,) = ledger.tier1.units()
    assert (len(mine.spans), mine.trust) == (2, "tool")
    await writer.observe(S1, [said("tool")])
    await writer.seal()
    await writer.record_answer(answer("a1"), [await finding_on(ledger, LATER)])
    (decision,) = (await writer.apply_pending()).decisions
    merged = ledger.tier1.unit(mine.id)
    assert merged is not None
    assert (decision.op, merged.revision, merged.trust) == ("UPDATE", 2, "tool")


@pytest.mark.anyio
@pytest.mark.usefixtures("logs")
async def test_a_name_of_a_tool_is_in_no_unit_of_the_trust_of_a_user() -> None:
    ledger = await opened()
    claims = [
        Claim(text="Rosalind moved to the old mill.", quotes=("she moved to the old mill last spring",)),
        Claim(
            text="Rosalind, aged 40, moved to the old mill.",
            quotes=("The register says: Rosalind, aged 40.", "she moved to the old mill last spring"),
        ),
        Claim(text="Ann keeps seven bees.", quotes=("I keep seven bees",)),
    ]
    writer = Writer(ledger, DictIndex(), Rules(distils=lambda page: claims).engine)
    await writer.observe(
        S1,
        [
            replace(turn("The register says: Rosalind, aged 40."), speaker="register", role="tool"),
            turn("And she moved to the old mill last spring. I keep seven bees."),
        ],
    )
    await writer.seal()
    await writer.distil_pending()
    assert sorted((unit.text, unit.trust) for unit in ledger.tier1.units()) == [
        ("Ann keeps seven bees.", "user"),
        ("Ann: And she moved to the old mill last spring.", "user"),
        ("register: The register says: Rosalind, aged 40.", "tool"),
    ]


@pytest.mark.parametrize(
    ("turn", "level"),
    [
        (Turn(speaker="a", text=""), "user"),
        (Turn(speaker="a", text="", role="user"), "user"),
        (Turn(speaker="a", text="", role="Tool"), "tool"),
        (Turn(speaker="a", text="", role="assistant"), "assistant"),
        (Turn(speaker="a", text="", role="system"), "user"),
        (Turn(speaker="system", text="", role="tool", trust="web"), "web"),
        (Turn(speaker="a", text="", role="tool", trust="user"), "user"),
    ],
)
def test_the_stamp_decides_then_the_role(turn: Turn, level: str) -> None:
    assert DEFAULT_TRUST.of(turn) == level


def test_a_level_nobody_knows_is_the_lowest() -> None:
    assert DEFAULT_TRUST.rank("divine") == DEFAULT_TRUST.rank(None) == DEFAULT_TRUST.rank("web") == 0
    assert DEFAULT_TRUST.lowest(["user", "divine"]) == "web"


def test_words_that_nobody_can_read_any_more_are_trusted_least() -> None:
    top = len(DEFAULT_LEVELS) - 1
    assert grounds_of((), (), at_most=top).trust == 0
