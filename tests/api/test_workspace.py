"""A workspace: held within its budget, brought back when asked for, and never more than memory holds."""

import inspect
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiermem
from tests.api.conftest import OpenMemory
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import InvalidInput, UnknownId
from tiermem.llm.tokens import token_counter
from tiermem.workspace import Item

SAID = (
    "My dog Biscuit is allergic to chicken.",
    "I moved from Lisbon to Oslo in March.",
    "The new roof cost 1,450 dollars.",
    "I never learned to swim.",
    "On Sundays we paint the harbour.",
)


def talk(mind: tiermem.Workspace) -> list[tiermem.Admitted]:
    """One thing a day."""
    return [
        mind.add(text, speaker="Ann", said_at=f"2024-05-0{day}T10:00") for day, text in enumerate(SAID, 1)
    ]


def texts(items: tuple[Item, ...]) -> list[str]:
    return [item.text.removeprefix("Ann: ") for item in items]


def test_what_is_said_is_stored_first_and_then_held_with_where_it_stands(open_memory: OpenMemory) -> None:
    memory = open_memory()
    mind = memory.workspace(session="chat")
    admitted = mind.add(SAID[0], speaker="Ann", said_at="2024-05-01T10:00", importance=0.9, metadata={"a": 1})
    item = admitted.item
    assert item is not None
    assert (item.text, item.importance, item.trust) == (f"Ann: {SAID[0]}", 0.9, None)
    (span,) = item.spans
    page = memory.page(span.page_id)
    assert (page.session, page.text[span.start : span.end]) == ("chat", SAID[0])
    assert page.lines[0].turn is not None
    assert page.lines[0].turn.metadata == {"a": 1}
    context = mind.context()
    assert context.text.splitlines()[1:] == ["[1] said 2024-05-01", f"| Ann: {SAID[0]}"]
    assert [one.spans for one in context.sources] == [item.spans]
    assert (len(mind), mind.tokens, mind.has_space(mind.max_tokens - mind.tokens)) == (1, item.tokens, True)


def test_what_left_for_want_of_room_comes_back_when_it_is_asked_for(open_memory: OpenMemory) -> None:
    memory, left = open_memory(), list[str]()
    mind = memory.workspace(session="chat", max_tokens=80, on_evicted=lambda items: left.extend(texts(items)))
    talk(mind)
    assert left == list(SAID[:2])
    assert texts(mind.items) == list(SAID[2:])
    assert mind.tokens <= 80
    brought = mind.recall("What is Biscuit allergic to?", limit=1)
    assert texts(mind.items)[-1] == SAID[0]
    assert mind.items[-1].from_recall
    assert texts(brought.evicted) == [SAID[2]]
    assert mind.context("recent").sources[0].text == f"Ann: {SAID[0]}"
    again = mind.recall("What is Biscuit allergic to?", limit=1)
    assert (again.evicted, mind.items[-1].uses, len(mind)) == ((), 1, 3)


def test_the_key_of_a_turn_stays_when_its_page_seals_and_memory_knows_it(open_memory: OpenMemory) -> None:
    memory = open_memory()
    mind = memory.workspace(session="chat")
    (key, *_) = [one.item.key for one in talk(mind) if one.item is not None]
    memory.flush()
    mind.recall("Biscuit chicken", limit=1, kind="turns")
    assert len(mind) == len(SAID)
    page_id, _, line = key.rpartition("/")
    turn = memory.page(page_id).lines[int(line)].turn
    assert turn is not None
    assert turn.text == SAID[0]


def test_units_pages_and_turns_that_were_found_are_held_with_their_importance(memory: tiermem.Memory) -> None:
    mind = memory.workspace()
    unit = memory.units()[0]
    held = mind.add(unit).item
    assert held is not None
    assert (held.key, held.text, held.spans, held.importance) == (
        unit.id,
        "Caroline: I went to a support group yesterday, it was powerful.",
        unit.spans,
        unit.importance,
    )
    for kind in ("units", "turns", "pages"):
        (found, *_) = memory.search("Biscuit chicken", kind=kind)
        item = mind.add(found, importance=0.2).item
        assert item is not None
        assert (item.text, item.spans, item.importance) == (found.text, found.spans, 0.2)
    context = mind.context("important")
    assert {one.source for one in context.sources} == {"unit", "turn", "page"}


@pytest.mark.parametrize("speaker", ["Ann", "user", "Зоя", "Ann: Lee", "李"])
def test_a_statement_is_held_and_replayed_as_it_was_found(open_memory: OpenMemory, speaker: str) -> None:
    memory = open_memory()
    mind = memory.workspace(session="flat")
    unit = memory.remember("The ladder is under the stairs.", speaker=speaker, session="flat").unit
    (found, *_) = mind.recall("Where is the ladder?", limit=1).items
    assert (found.unit_id, found.text) == (unit.id, f"{speaker}: {unit.text}")
    assert [item.text for item in mind.items] == [found.text]
    with pytest.raises(UnknownId):
        mind.add(replace(found, text=f"Bob: {unit.text}", speaker="Bob"))
    # Of a statement whose turn is not among the best, the unit is a candidate.
    memory.add([{"speaker": "Bob", "text": f"Was the ladder moved, stairs {n}?"} for n in range(90)])
    answer = memory.ask("Was the ladder moved, under which stairs?")
    assert (unit.id, found.text) in [(one.unit_id, one.text) for one in answer.trace.candidates]
    assert memory.replay(answer.id).differences == ()


def test_what_memory_does_not_hold_so_is_not_held(memory: tiermem.Memory, open_memory: OpenMemory) -> None:
    mind = memory.workspace()
    (found,) = memory.search("Biscuit chicken", kind="turns", limit=1)
    unit = memory.units()[0]
    elsewhere = open_memory(space="other")
    elsewhere.add("Nobody knows this.", speaker="Bob")
    (other,) = elsewhere.search("nobody", kind="turns", limit=1)
    (page,) = memory.search("Biscuit chicken", kind="pages", limit=1)
    forged: list[Any] = [
        replace(found, text="Caroline: I have no dog."),
        replace(unit, text="No dog."),
        other,
    ]
    for one in (found, page, evidence_of(unit)):
        forged += [replace(one, text="No dog."), replace(one, quote='Ann: "No dog."')]
        forged += [replace(one, said_at=datetime(1999, 1, 1, tzinfo=UTC)), replace(one, event_at="1999")]
    forged += [replace(page, text=page.text.replace("Biscuit", "Brandon")), replace(page, text="")]
    forged += [replace(page, spans=found.spans), replace(found, source="page")]
    for wrong in forged:
        with pytest.raises(UnknownId, match="does not hold"):
            mind.add(wrong)
    with pytest.raises(InvalidInput, match="of another"):
        memory.recall("dog", into=elsewhere.workspace())
    assert len(mind) == 0


def evidence_of(unit: tiermem.SummaryUnit) -> Any:
    return tiermem.Evidence(
        text=unit.text,
        spans=unit.spans,
        score=1.0,
        source="unit",
        unit_id=unit.id,
        said_at=unit.said_at,
        event_at=unit.event_at,
    )


def test_a_marked_page_is_nothing_that_was_found(memory: tiermem.Memory) -> None:
    page = memory.page(memory.units()[0].spans[0].page_id)
    with pytest.raises(InvalidInput):
        memory.workspace().add(page)  # type: ignore[arg-type]


def test_a_page_that_was_found_by_a_filter_is_held_as_it_was_shown(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add("The boat was red.", speaker="Ann", said_at="2024-05-06")
    memory.add("The boat was green.", speaker="Ann", said_at="2024-05-07")
    memory.flush()
    (page,) = memory.recall("boat", kind="pages", timeframe="2024-05-07").items
    mind = memory.workspace()
    assert mind.add(page).admitted
    assert "green" in mind.context().text
    assert "red" not in mind.context().text


def test_a_unit_is_held_with_the_words_beside_it_where_it_rests_on_them(open_memory: OpenMemory) -> None:
    from dataclasses import replace

    memory = open_memory()
    memory.add("The roof cost 1,450 dollars.", speaker="Ann")
    memory.flush()
    unit = memory.units()[0]
    mind = memory.workspace()
    assert mind.add(replace(evidence_of(unit), quote='Ann: "The roof cost 1,450 dollars."')).admitted
    with pytest.raises(UnknownId, match="does not hold"):
        mind.add(replace(evidence_of(unit), quote='Ann: "The roof cost 9 dollars."'))


def test_a_part_of_a_long_turn_is_the_turn(open_memory: OpenMemory) -> None:
    memory = open_memory(page_tokens=50)
    text = " ".join(f"harbour{n}" for n in range(120))
    memory.workspace(session="chat").add(text, speaker="Ann")
    mind = memory.workspace(session="chat")
    parts = memory.search("harbour3 harbour50 harbour90 harbour110", kind="turns", limit=9)
    assert len(parts) > 1
    for part in parts:
        mind.add(part)
    (item,) = mind.items
    assert item.text == f"Ann: {text}"
    mind.recall("harbour3 harbour50 harbour90 harbour110", kind="turns")
    (again,) = mind.items
    assert (again.key, again.tokens, again.uses) == (item.key, item.tokens, 1)


def test_on_evicted_runs_in_the_thread_of_the_caller_and_hides_nothing_when_it_raises(
    open_memory: OpenMemory,
) -> None:
    memory, threads = open_memory(), list[int]()

    def failing(items: tuple[Item, ...]) -> None:
        threads.append(threading.get_ident())
        raise RuntimeError("the caller's own fault")

    mind = memory.workspace(session="chat", max_tokens=80, on_evicted=failing)
    mind.add(SAID[0], speaker="Ann")
    results: list[Any] = []
    for ask in (
        lambda: mind.add(SAID[1] + " word" * 40, speaker="Ann"),
        lambda: mind.recall("Biscuit chicken", limit=1),
        lambda: memory.recall("Lisbon Oslo", limit=1, into=mind),
        lambda: mind.resize(0),
    ):
        with pytest.raises(tiermem.errors.CallbackFailed, match="own fault") as raised:
            ask()
        results.append(raised.value.result)
    assert threads == [threading.get_ident()] * 4
    added, recalled, into, resized = results
    assert added.admitted
    assert added.item is not None
    assert [texts(one) for one in (added.evicted, recalled.evicted)] == [[SAID[0]], [SAID[1] + " word" * 40]]
    assert [texts(one) for one in (into.evicted, resized)] == [[SAID[0]], [SAID[1] + " word" * 40]]
    assert len(mind) == 0


@pytest.mark.anyio
async def test_what_changes_while_memory_is_asked_is_looked_at_the_next_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with await tiermem.AsyncMemory.open(":memory:", engine="local", embedder=HashEmbedder()) as memory:
        await memory.add(SAID[3], speaker="Ann")
        await memory.flush()
        (unit,) = await memory.units()
        mind = memory.workspace()
        await mind.add(unit)
        looked = mind._look_up

        async def meanwhile(items: Any) -> Any:
            found = await looked(items)
            await memory.withdraw(unit.id, reason="a joke")
            return found

        await memory.add(SAID[0], speaker="Ann")
        monkeypatch.setattr(mind, "_look_up", meanwhile)
        await mind.context()
        monkeypatch.setattr(mind, "_look_up", looked)
        assert "swim" not in (await mind.context()).text


def test_words_under_a_key_of_the_callers_take_the_place_of_those_before(open_memory: OpenMemory) -> None:
    memory = open_memory()
    mind = memory.workspace(session="chat")
    mind.add("Plan: call the vet.", speaker="helper", key="plan", pinned=True)
    mind.add("Plan: call the roofer.", speaker="helper", key="plan", pinned=True)
    assert [(item.key, item.text) for item in mind.items] == [("plan", "helper: Plan: call the roofer.")]
    assert memory.stats().turns == 2
    mind.remove("plan")
    mind.recall("roofer plan", limit=1)
    assert "plan" in mind


def test_what_is_held_under_a_key_keeps_it_where_there_is_no_room_for_other_words(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory()
    mind = memory.workspace(session="chat", max_tokens=40)
    mind.add("Plan: call the vet.", speaker="helper", key="plan")
    assert mind.add("Plan: " + "call the roofer " * 20, speaker="helper", key="plan").admitted is False
    mind.recall("Call the vet", limit=1)
    assert [(item.key, item.text) for item in mind.items] == [("plan", "helper: Plan: call the vet.")]


def test_erased_words_leave_at_once_and_withdrawn_ones_before_anything_is_made_of_them(
    memory: tiermem.Memory,
) -> None:
    mind, other = memory.workspace(), memory.workspace()
    unit = next(one for one in memory.units() if "Ingrid" in one.text)
    page = memory.page(unit.spans[0].page_id)
    line = next(line for line in page.lines if line.turn is not None and "Biscuit" not in line.turn.text)
    for each in (mind, other):
        for kind in ("units", "turns", "pages"):
            each.recall("Ingrid Lisbon Oslo", kind=kind, limit=9)
        each.recall("Biscuit chicken", kind="turns", limit=1)
    assert any("Ingrid" in item.text for item in mind.items)
    said = next(one for one in page.lines if one.turn is not None and "Ingrid" in one.turn.text)
    memory.erase(turn=said.address, reason="asked for")
    for each in (mind, other):
        assert each.items
        assert not any("Ingrid" in item.text for item in each.items)
        assert "Ingrid" not in each.context().text
    assert line is not None

    swims = next(one for one in memory.units() if "swim" in one.text)
    mind.add(swims)
    mind.recall("swim", kind="turns", limit=1)
    assert "swim" in mind.context().text
    memory.withdraw(swims.id, reason="a joke")
    assert "swim" not in mind.context().text
    assert not any("swim" in item.text for item in mind.items)


def test_what_a_filter_leaves_out_does_not_come_in_by_recall(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add("The code is 1234, says the forum.", speaker="web", trust="web")
    memory.add("The code is 9876.", speaker="Ann", trust="user")
    mind = memory.workspace()
    for kind in ("units", "turns", "pages"):
        mind.recall("What is the code?", kind=kind, min_trust="user")
    assert "9876" in mind.context().text
    assert "1234" not in mind.context().text


def test_a_long_turn_on_several_pages_is_held_whole(open_memory: OpenMemory) -> None:
    memory = open_memory(page_tokens=50)
    mind = memory.workspace()
    text = " ".join(f"word{n}" for n in range(120))
    item = mind.add(text, speaker="Ann").item
    assert item is not None
    assert item.text == f"Ann: {text}"
    assert len(item.spans) > 1
    assert text in " ".join(mind.context().text.replace("| ", "").split())


def test_a_context_keeps_to_its_budget_and_stops_where_it_is_told(open_memory: OpenMemory) -> None:
    memory = open_memory()
    mind = memory.workspace()
    mind.add("short one", speaker="Ann", importance=0.9)
    mind.add("long " * 60, speaker="Ann", importance=0.8)
    mind.add("short two", speaker="Ann", importance=0.7)
    skipped, stopped = (mind.context("important", max_tokens=60, packing=how) for how in ("skip", "stop"))
    assert [one.text for one in skipped.sources] == ["Ann: short one", "Ann: short two"]
    assert [one.text for one in stopped.sources] == ["Ann: short one"]
    assert mind.context(max_tokens=0).text == ""
    for most in range(0, 120, 7):
        context = mind.context(max_tokens=most)
        assert context.tokens == token_counter().count(context.text) <= most


def test_a_policy_is_named_or_an_object_and_arguments_are_checked(memory: tiermem.Memory) -> None:
    class Shortest:
        name = "shortest"
        ages = False

        def rank(self, item: Item, now: datetime) -> tuple[Any, ...]:
            return (len(item.text),)

    assert memory.workspace(policy=Shortest()).policy == "shortest"
    assert memory.workspace(policy="lru").policy == "lru"
    loose: Any = memory
    mind: Any = memory.workspace()
    wrong: list[tuple[Any, str]] = [
        (lambda: loose.workspace(policy="hybird"), "hybrid"),
        (lambda: loose.workspace(policy=3), "policy must be one of"),
        (lambda: loose.workspace(policy=Shortest), "policy must be one of"),
        (lambda: loose.workspace(max_tokens=-1), "max_tokens must be at least 0"),
        (lambda: loose.workspace(on_evicted=3), "on_evicted"),
        (lambda: mind.add("Hi.", importance=2), "importance must be a number from 0 to 1"),
        (lambda: mind.add("Hi.", importance="high"), "importance"),
        (lambda: mind.add("Hi.", pinned="yes"), "pinned must be True or False"),
        (lambda: mind.add(["Hi.", "There."]), "one thing"),
        (lambda: mind.add(text for text in ("Hi.",)), "one thing"),
        (lambda: mind.add(memory.units()[0], speaker="Ann"), "no attribution"),
        (lambda: mind.context("newest"), "order"),
        (lambda: mind.context(packing="squeeze"), "packing"),
        (lambda: mind.get(3), "key"),
        (lambda: mind.resize("much"), "^max_tokens must be a whole number, not 'much'$"),
        (lambda: loose.recall("dog", into="mind"), "into must be a workspace"),
    ]
    for call, told in wrong:
        with pytest.raises(InvalidInput, match=told):
            call()
    mind.add("Stays.", pinned=True)
    with pytest.raises(InvalidInput, match="unpin"):
        mind.resize(1)
    assert mind.add("   ").admitted is False


def test_a_workspace_ends_with_its_memory(open_memory: OpenMemory) -> None:
    memory = open_memory()
    mind = memory.workspace()
    memory.close()
    for call in (lambda: mind.add("Hi."), mind.context, lambda: mind.recall("Hi"), memory.workspace):
        with pytest.raises(tiermem.errors.MemoryClosed):
            call()


def test_the_awaited_and_the_blocking_workspace_have_the_same_methods() -> None:
    def promised(kind: type) -> dict[str, Any]:
        members = inspect.getmembers(kind, inspect.isfunction)
        return {name: inspect.signature(one) for name, one in members if not name.startswith("_")}

    own = {"drop_revoked_items", "hold_all"}
    awaited = {name: one for name, one in promised(tiermem.AsyncWorkspace).items() if name not in own}
    assert promised(tiermem.Workspace) == awaited


@pytest.mark.anyio
async def test_the_awaited_one_works_the_same() -> None:
    async with await tiermem.AsyncMemory.open(":memory:", engine="local", embedder=HashEmbedder()) as memory:
        mind = memory.workspace(max_tokens=50)
        for text in SAID:
            await mind.add(text, speaker="Ann")
        assert "Biscuit" not in (await mind.context()).text
        await memory.recall("Biscuit", limit=1, into=mind)
        assert "Biscuit" in (await mind.context()).text


ACTIONS = ("add", "add", "add", "recall", "erase", "flush")
WORDS = ("harbour", "bicycle", "thunder", "piano", "garden", "lantern", "window", "cellar")


@settings(max_examples=8)
@given(
    st.sampled_from(["hybrid", "lru", "balanced", "random"]),
    st.lists(
        st.tuples(st.sampled_from(ACTIONS), st.integers(0, 7)),
        max_size=12,
    ),
)
def test_whatever_left_and_was_not_erased_is_found_still(policy: str, life: list[tuple[str, int]]) -> None:
    live_one_life(policy, life)


def live_one_life(policy: str, life: list[tuple[str, int]]) -> None:
    """One memory with one small workspace; at the end, all that was said and not erased is found."""
    now = [datetime(2024, 5, 1, tzinfo=UTC)]
    with tiermem.open(":memory:", engine="local", embedder=HashEmbedder(), distil="inline") as memory:
        mind = memory.workspace(max_tokens=40, policy=policy)
        said: dict[int, str] = {}
        for number, (what, n) in enumerate(life):
            now[0] += timedelta(hours=n)
            if what == "add":
                text = f"Number {number} is about the {WORDS[n]}."
                mind.add(text, speaker="Ann", said_at=now[0], importance=n / 7)
                said[number] = text
            elif what == "recall":
                mind.recall(f"the {WORDS[n]}", limit=2)
            elif what == "flush":
                memory.flush()
            elif said:
                gone = sorted(said)[n % len(said)]
                pages = (*memory.open_pages(), *(memory.page(one.id) for one in memory.pages()))
                lines = [line for page in pages for line in page.lines if _says(line, said[gone])]
                memory.erase(turn=lines[0].address, reason="asked for")
                assert not any(said[gone] in item.text for item in mind.items)
                del said[gone]
            assert mind.tokens <= 40
        for text in said.values():
            assert any(text in one.text for one in memory.search(text, kind="turns", limit=3))
            # There is room for one: of two that are nearly alike the other may be taken in.
            found = mind.recall(text, kind="turns", limit=3).items
            assert any(text in one.text for one in found), f"{text} is not recalled"
            mind.add(next(one for one in found if text in one.text))
            assert text in mind.context("recent", max_tokens=1000).text


def _says(line: Any, text: str) -> bool:
    return line.turn is not None and line.turn.text == text
