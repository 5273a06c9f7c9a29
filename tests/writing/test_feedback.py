"""An outcome moves the units behind an answer; the newest of an answer counts; it goes with its words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import anyio
import pytest

from pagestore import LogOptions, PageLog
from tests.ledger.building import wrote_back
from tests.logs import new_log
from tests.writing import judging
from tests.writing.parts import GARDEN, S1, SPACE, DictIndex, Rules, turn
from tiermem.errors import UnknownId
from tiermem.ledger import AnsweredEntry, Ledger, Tier1
from tiermem.model import AnswerId, SummaryUnit, UnitId
from tiermem.salience import Outcome
from tiermem.writing import Judged, Selection, Writer

pytestmark = pytest.mark.usefixtures("logs")

START = datetime(2024, 3, 1, 12, tzinfo=UTC)


@dataclass
class Garden:
    """Four units of Ann's, answers that cite some of them, and a clock that the test moves."""

    ledger: Ledger
    writer: Writer
    log: PageLog
    now: datetime = START

    @classmethod
    async def new(cls) -> Garden:
        times: list[Garden] = []
        log = new_log(SPACE, options=LogOptions(clock=lambda: times[0].now if times else START))
        ledger = await Ledger.open(log)
        writer = Writer(ledger, DictIndex(), Rules().engine)
        times.append(cls(ledger, writer, log))
        for one in GARDEN:
            await writer.observe(S1, [one])
            await writer.seal()
        await writer.distil_pending()
        return times[0]

    @property
    def tier1(self) -> Tier1:
        return self.ledger.tier1

    def unit(self, number: int) -> SummaryUnit:
        return self.tier1.all_units()[number]

    def weights(self) -> list[float]:
        return [self.tier1.weight(unit.id) for unit in self.tier1.all_units()]

    async def answer(self, name: str, *cited: int, shown: tuple[int, ...] = ()) -> AnswerId:
        units = [self.unit(number) for number in cited]
        given = judging.citing(name, units, shown=[*units, *map(self.unit, shown)])
        await self.ledger.write(AnsweredEntry(answer=given))
        return given.id

    async def judge(self, answer: AnswerId, outcome: Outcome, output: str | None = None) -> Judged:
        return await self.writer.feedback(answer, outcome=outcome, output=output, by="user")


@pytest.mark.anyio
async def test_what_an_answer_cites_is_credited_and_what_it_only_saw_by_its_words() -> None:
    garden = await Garden.new()
    first = await garden.answer("a1:1", 0)
    done = await garden.judge(first, "success")
    assert [(one.unit_id, one.share, one.before, one.after) for one in done.credits] == [
        (garden.unit(0).id, 1.0, 0.0, 0.1)
    ]
    second = await garden.answer("a1:2", 0, shown=(1, 2))
    done = await garden.judge(second, "success", output="Ann bought a bicycle.")
    cited, seen, other = (one.share for one in done.credits)
    assert cited > seen > other > 0
    assert abs(cited + seen + other - 1) < 1e-9


@pytest.mark.anyio
async def test_the_newest_outcome_of_an_answer_takes_the_place_of_the_earlier_one() -> None:
    garden = await Garden.new()
    answer = await garden.answer("a1:1", 0)
    for outcome, weight in (("success", 0.1), ("success", 0.1), ("failure", -0.05), ("neutral", 0.0)):
        await garden.judge(answer, outcome)  # type: ignore[arg-type]
        assert garden.weights() == [weight, 0, 0, 0]
    assert [one.outcome for one in garden.tier1.judgements(garden.unit(0).id)] == ["neutral"]
    assert (await Ledger.open(garden.log)).tier1.judgements(garden.unit(0).id)[0].outcome == "neutral"


@pytest.mark.anyio
async def test_an_outcome_that_credits_others_takes_back_what_the_earlier_one_gave() -> None:
    garden = await Garden.new()
    given = judging.citing("a1:1", [], shown=[garden.unit(0), garden.unit(1)])
    await garden.ledger.write(AnsweredEntry(answer=given))
    await garden.judge(given.id, "success", output="tomatoes")
    assert garden.weights() == [0.1, 0, 0, 0]
    await garden.judge(given.id, "success", output="bicycle")
    assert garden.weights() == [0, 0.1, 0, 0]


@pytest.mark.anyio
async def test_a_unit_that_is_merged_keeps_its_weight() -> None:
    garden = await Garden.new()
    await garden.judge(await garden.answer("a1:1", 0), "success")
    merged = replace(garden.unit(0), text="Ann planted 12 tomatoes.", revision=2)
    await garden.ledger.write(wrote_back("f1:1", "UPDATE", merged))
    assert (garden.unit(0).revision, garden.weights()[0]) == (2, 0.1)
    await garden.judge(await garden.answer("a1:2", 0), "success")
    assert garden.weights()[0] == 0.2


@pytest.mark.anyio
async def test_a_unit_that_is_superseded_is_moved_no_more() -> None:
    """Nor is what moved it taken back, when its answer is judged again."""
    garden = await Garden.new()
    answer, old = await garden.answer("a1:1", 0), garden.unit(0)
    await garden.judge(answer, "success")
    newer, _ = await garden.writer.correct(old.id, turn("Ann planted 13 tomatoes in the garden."))
    done = await garden.judge(answer, "failure")
    assert [(one.before, one.after) for one in done.credits] == [(0.1, 0.1)]
    assert garden.tier1.weight(newer.unit.id) == 0.0
    await garden.writer.withdraw(newer.unit.id, "mistaken")
    await garden.judge(answer, "failure")
    assert garden.tier1.weight(old.id) == -0.05


@pytest.mark.anyio
async def test_a_unit_that_is_withdrawn_weighs_nothing_until_it_is_back() -> None:
    garden = await Garden.new()
    answer, unit = await garden.answer("a1:1", 0), garden.unit(0)
    await garden.judge(answer, "success")
    await garden.writer.withdraw(unit.id, "a joke")
    await garden.judge(answer, "failure")
    assert garden.tier1.signals(unit).weight == 0.0
    await garden.writer.reinstate(unit.id, "it was none")
    assert garden.tier1.signals(unit).weight == 0.1


@pytest.mark.anyio
async def test_an_outcome_goes_with_its_answer_and_the_weights_are_as_if_it_had_never_been() -> None:
    garden = await Garden.new()
    await garden.judge(await garden.answer("a1:1", 0, shown=(1,)), "success", output="Ann bought a bicycle.")
    await garden.judge(await garden.answer("a1:2", 2), "success")
    assert garden.weights()[2] == 0.1
    before = garden.weights()
    await garden.writer.eraser.erase(Selection(turn=GARDEN[1].turn_id, session=S1), "asked to")
    assert [unit.text for unit in garden.tier1.all_units()] == [GARDEN[at].text for at in (0, 2, 3)]
    assert before[0] > 0
    assert garden.weights() == [0, 0.1, 0]
    assert len(list(garden.log.records(kinds=frozenset({"feedback"})))) == 1
    assert (await Ledger.open(garden.log)).tier1.weight(garden.unit(0).id) == 0.0


@pytest.mark.anyio
async def test_an_outcome_of_sources_goes_with_any_of_them() -> None:
    garden = await Garden.new()
    sources = (garden.unit(0).id, garden.unit(1).id)
    await garden.writer.feedback(sources, outcome="success", output=None, by="user")
    assert garden.weights() == [0.05, 0.05, 0, 0]
    await garden.writer.eraser.erase(Selection(turn=GARDEN[1].turn_id, session=S1), "asked to")
    assert garden.weights() == [0, 0, 0]


@pytest.mark.anyio
async def test_every_outcome_of_sources_counts_by_itself_up_to_the_bound_of_the_day() -> None:
    garden = await Garden.new()
    for weight in (0.1, 0.2, 0.3, 0.3):
        await garden.writer.feedback((garden.unit(0).id,), outcome="success", output=None, by="user")
        assert garden.weights()[0] == weight
    garden.now += timedelta(days=1)
    await garden.writer.feedback((garden.unit(0).id,), outcome="success", output=None, by="user")
    assert garden.weights()[0] == 0.4


@pytest.mark.anyio
async def test_signals_of_a_past_moment_are_those_of_then() -> None:
    garden = await Garden.new()
    answer = await garden.answer("a1:1", 0)
    garden.now += timedelta(days=1)
    await garden.judge(answer, "success")
    garden.now += timedelta(days=1)
    await garden.judge(answer, "failure")
    then = [(await garden.ledger.as_of(START + timedelta(days=days, hours=1)))[0] for days in range(3)]
    unit = garden.unit(0)
    assert [tier1.weight(unit.id) for tier1 in then] == [0.0, 0.1, -0.05]
    assert [tier1.signals(unit).uses for tier1 in then] == [1, 1, 1]
    assert then[0].signals(unit).last_used == START


@pytest.mark.anyio
async def test_uses_are_the_answers_that_cite_a_unit_each_once() -> None:
    garden = await Garden.new()
    await garden.answer("a1:1", 0, 0, 1)
    garden.now += timedelta(hours=1)
    await garden.answer("a1:2", 0, shown=(2,))
    told = [garden.tier1.signals(unit) for unit in garden.tier1.all_units()]
    assert [one.uses for one in told] == [2, 1, 0, 0]
    assert [one.last_used for one in told] == [START + timedelta(hours=1), START, None, None]
    await garden.writer.eraser.erase(Selection(turn=GARDEN[1].turn_id, session=S1), "asked to")
    assert garden.tier1.signals(garden.unit(0)).uses == 1


@pytest.mark.anyio
async def test_what_there_is_not_cannot_be_judged() -> None:
    garden = await Garden.new()
    with pytest.raises(UnknownId, match="a1:9"):
        await garden.judge(AnswerId("a1:9"), "success")
    with pytest.raises(UnknownId, match="u1:9"):
        await garden.writer.feedback((UnitId("u1:9"),), outcome="success", output=None, by="user")
    answer = await garden.answer("a1:1", 0)
    await garden.writer.eraser.erase(Selection(turn=GARDEN[0].turn_id, session=S1), "asked to")
    with pytest.raises(UnknownId, match="erased"):
        await garden.judge(answer, "success")


def test_whatever_happens_a_weight_is_what_its_definition_says() -> None:
    seen = sum((anyio.run(judging.life, seed) for seed in range(4)), Counter[str]())
    assert seen["wrong"] == 0
    assert min(seen[step] for step in ("judge", "change", "erase", "answer")) > 5
    assert seen["merged"] > 1
    assert seen["weights"] > 50


def test_lives_find_a_fold_that_adds_up_what_an_answer_was_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    from tiermem.ledger.folds.signals import SignalsFold

    judge = SignalsFold.judge
    monkeypatch.setattr(
        SignalsFold, "judge", lambda self, seq, answer_id, *rest: judge(self, seq, None, *rest)
    )
    assert sum(anyio.run(judging.life, seed)["wrong"] for seed in range(2))


def test_lives_find_a_fold_that_forgets_whom_a_merged_unit_stands_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tiermem.ledger.folds.signals import SignalsFold

    monkeypatch.setattr(SignalsFold, "merged_units", lambda self, unit_id: ())
    assert sum(anyio.run(judging.life, seed)["wrong"] for seed in range(4))


async def proved(garden: Garden, number: int, *, days: int = 2) -> list[AnswerId]:
    """Answers that cite one unit and turn out well, three a day."""
    given: list[AnswerId] = []
    for at in range(3 * days):
        garden.now = START + timedelta(days=at // 3)
        given.append(await garden.answer(f"a1:{at}", number))
        await garden.judge(given[-1], "success")
    return given


@pytest.mark.anyio
async def test_a_unit_that_proved_itself_matters_more_and_the_reason_is_known() -> None:
    garden = await Garden.new()
    unit = garden.unit(0)
    await proved(garden, 0)
    tier1 = garden.tier1
    assert (tier1.uses(unit.id), tier1.weight(unit.id)) == (6, 0.6)
    assert tier1.signals(unit).importance == tier1.importance(unit) == (1 + unit.importance) / 2
    assert tier1.promotion(unit.id) == "6 answers cited it, and what came of them gives it the weight 0.6"
    assert tier1.signals(garden.unit(1)).importance == garden.unit(1).importance
    assert (await Ledger.open(garden.log)).tier1.importance(unit) == tier1.importance(unit)


@pytest.mark.anyio
async def test_a_weight_of_a_half_or_two_answers_promote_nothing() -> None:
    garden = await Garden.new()
    answers = await proved(garden, 0)
    await garden.judge(answers[-1], "neutral")
    assert garden.tier1.weight(garden.unit(0).id) == 0.5
    assert garden.tier1.promotion(garden.unit(0).id) is None
    for day in range(3):
        garden.now = START + timedelta(days=10 + day)
        for _ in range(3):
            await garden.writer.feedback((garden.unit(1).id,), outcome="success", output=None, by="user")
    assert garden.tier1.weight(garden.unit(1).id) == 0.9
    assert garden.tier1.promotion(garden.unit(1).id) is None, "nobody cited it"


@pytest.mark.anyio
@pytest.mark.parametrize("how", ["judged again", "erased", "withdrawn"])
async def test_a_promotion_goes_with_what_it_rests_on(how: str) -> None:
    garden = await Garden.new()
    unit, other = garden.unit(0), garden.unit(1)
    answers = await proved(garden, 0)
    assert garden.tier1.importance(unit) > unit.importance
    if how == "judged again":
        await garden.judge(answers[0], "failure")
    elif how == "withdrawn":
        await garden.writer.withdraw(unit.id, "no more")
    else:
        garden.now = START + timedelta(days=5)
        shown = await garden.answer("a1:both", 0, shown=(1,))
        await garden.judge(answers[0], "neutral")
        await garden.judge(shown, "success")
        assert garden.tier1.importance(unit) > unit.importance
        await garden.writer.eraser.erase(Selection(page=other.spans[0].page_id), "asked to")
    assert garden.tier1.importance(unit) == unit.importance
    if how == "withdrawn":
        await garden.writer.reinstate(unit.id, "after all")
        assert garden.tier1.importance(unit) > unit.importance
