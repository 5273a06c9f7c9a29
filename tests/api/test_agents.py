"""Several agents in one space: each sees its own, what is nobody's, and what was shared or granted."""

from __future__ import annotations

import io
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import tiermem
from pagestore import PageId, Span, Turn
from pagestore.bundle import encode, verify_bundle
from tests.engines import quoting_engine
from tests.reading.world import ListIndex
from tiermem import AsyncMemory
from tiermem.dialogue import read_dialogue
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import InvalidInput, MemoryClosed, TierMemError, UnknownId
from tiermem.model import Evidence

pytestmark = pytest.mark.anyio

TOLD = "The vault of the blue house opens with zebracanary."
PUBLIC = "The blue house stands at the lake."
MINE = "The green boat lies in the harbour."


@asynccontextmanager
async def opened(**settings: Any) -> AsyncIterator[AsyncMemory]:
    given = {"embedder": HashEmbedder(), "distil": "inline", "write_back": "inline", **settings}
    async with await AsyncMemory.open(":memory:", engine=quoting_engine(), **given) as memory:
        yield memory


@asynccontextmanager
async def two_agents(**settings: Any) -> AsyncIterator[tuple[AsyncMemory, AsyncMemory, AsyncMemory]]:
    """The owner, and agents `planner`, who knows a secret, and `boss`; all of it is summarised."""
    async with opened(**settings) as memory:
        planner, boss = memory.as_agent("planner"), memory.as_agent("boss")
        await memory.add(PUBLIC, speaker="Ann")
        await planner.add(TOLD, speaker="Zora")
        await boss.add(MINE, speaker="Ben")
        await memory.flush()
        yield memory, planner, boss


def written(where: Path) -> list[Path]:
    return sorted(file for file in where.rglob("*") if file.is_file())


def said_by(found: Any) -> str:
    return repr(found)


async def test_what_an_agent_adds_is_its_own_and_what_nobody_owns_is_everybodys() -> None:
    async with two_agents() as (memory, planner, boss):
        for kind in ("units", "turns", "pages"):
            everything = said_by(await memory.search("blue house vault boat", kind=kind))
            assert all(word in everything for word in ("zebracanary", "lake", "harbour"))
            planners = said_by(await planner.search("blue house vault boat", kind=kind))
            assert ("zebracanary" in planners, "lake" in planners, "harbour" in planners) == (
                True,
                True,
                False,
            )
            bosses = said_by(await boss.search("blue house vault boat", kind=kind))
            assert ("zebracanary" in bosses, "lake" in bosses, "harbour" in bosses) == (False, True, True)


async def test_a_page_is_of_one_agent_and_its_units_are_too() -> None:
    async with two_agents() as (memory, planner, boss):
        assert {info.agent for info in await memory.pages("main")} == {None, "planner", "boss"}
        assert {unit.agents for unit in await memory.units()} == {(), ("planner",), ("boss",)}
        assert {info.agent for info in await planner.pages()} == {None, "planner"}
        assert {unit.agents for unit in await boss.units()} == {(), ("boss",)}


async def test_an_agent_answers_from_what_it_sees_and_no_other_agent_reads_its_answers() -> None:
    async with two_agents() as (memory, planner, boss):
        answer = await planner.ask("What does the vault of the blue house open with?")
        assert "zebracanary" in answer.text
        assert [one.id for one in await planner.answers()] == [answer.id]
        assert await boss.answers() == ()
        with pytest.raises(UnknownId) as hidden:
            await boss.audit(answer.id)
        unknown = "a1:" + "0" * 32
        with pytest.raises(UnknownId) as absent:
            await boss.audit(unknown)
        assert str(hidden.value).replace(answer.id, "") == str(absent.value).replace(unknown, "")
        assert (await memory.audit(answer.id)).intact
        own = await boss.ask("What does the vault of the blue house open with?")
        assert "zebracanary" not in repr(own)
        asked_by_owner = await memory.ask("Where does the blue house stand?")
        assert asked_by_owner.id not in {one.id for one in await planner.answers()}


async def test_a_grant_lets_an_agent_see_and_a_revoke_ends_that() -> None:
    async with two_agents() as (memory, _, boss):
        (grant,) = await memory.grant("boss", to_see="planner")
        assert (grant.agent, grant.to_see) == ("boss", "planner")
        records = (await memory.verify()).records
        assert await memory.grant("boss", to_see="planner") == (grant,) == await boss.grants()
        assert (await memory.verify()).records == records
        assert "zebracanary" in said_by(await boss.search("vault"))
        answer = await boss.ask("What does the vault of the blue house open with?")
        assert "zebracanary" in answer.text
        assert [one.id for one in await boss.answers()] == [answer.id]
        assert await memory.revoke("boss", to_see="planner") == ()
        assert await boss.answers() == ()
        assert (await boss.stats()).answers == 0
        assert "zebracanary" not in said_by(await boss.search("vault"))
        with pytest.raises(UnknownId):
            await boss.audit(answer.id)
        assert await memory.grant("boss", to_see="*")
        assert "zebracanary" in said_by(await boss.search("vault"))
        assert (await boss.audit(answer.id)).intact


@pytest.mark.parametrize(
    "granted",
    [
        (("boss", "planner"), ("clerk", "planner"), ("clerk", "*")),
        (("clerk", "planner"),),
        (("boss", "*"), ("clerk", "*")),
        (("planner", "boss"), ("boss", "planner")),
        (("Büro 2", "planner"), ("秘書", "planner"), ("Büro 2", "秘書")),
        (("boss", "planner"), ("planner", "*")),
    ],
)
async def test_an_agent_is_not_shown_who_may_see_it(granted: tuple[tuple[str, str], ...]) -> None:
    async with two_agents() as (memory, planner, boss):
        for name, to_see in granted:
            await memory.grant(name, to_see=to_see)
        for name in {"planner", "boss", *(one for one, _ in granted)}:
            shown = [(one.agent, one.to_see) for one in await memory.as_agent(name).grants()]
            assert sorted(shown) == sorted(one for one in granted if one[0] == name)
        assert len(await memory.grants()) == len(granted)
        for name, to_see in granted:
            await memory.revoke(name, to_see=to_see)
        assert await planner.grants() == await boss.grants() == ()


async def test_a_grant_is_of_one_agents_own_things_and_not_of_what_that_one_was_granted() -> None:
    async with two_agents() as (memory, _, boss):
        await memory.as_agent("clerk").add("The clerk counts 512 pens.", speaker="Cleo")
        await memory.grant("planner", to_see="clerk")
        await memory.grant("boss", to_see="planner")
        assert "512 pens" not in said_by(await boss.search("pens", kind="turns"))


@pytest.mark.parametrize("name", ["grant", "revoke"])
async def test_no_agent_grants_itself_anything(name: str) -> None:
    async with two_agents() as (memory, _, boss):
        with pytest.raises(InvalidInput, match="owner"):
            await getattr(boss, name)("boss", to_see="planner")
        with pytest.raises(InvalidInput, match="agent 'boss'"):
            boss.as_agent("planner")
        assert await memory.grants() == ()


async def test_what_is_for_the_owner_is_refused_to_an_agent() -> None:
    async with two_agents() as (memory, _, boss):
        checkpoint = await memory.checkpoint()
        for refused in (
            boss.apply_findings(), boss.consolidate(), boss.reindex(), boss.checkpoint(), boss.verify(),
            boss.backup("x.tar"), boss.prove_growth(checkpoint), boss.leftover_scan(["zebracanary"]),
            boss.erase(space=True, reason="asked"),
        ):  # fmt: skip
            with pytest.raises(InvalidInput, match="owner"):
                await refused


async def test_a_shared_unit_is_seen_and_its_words_are_not() -> None:
    async with two_agents() as (_, planner, boss):
        (unit,) = [one for one in await planner.units() if one.agents == ("planner",)]
        with pytest.raises(UnknownId):
            await boss.share(unit.id, reason="let me")
        assert await planner.share(unit.id, reason="the house is sold") == (unit,)
        assert await planner.share(unit.id, reason="again") == ()
        assert unit in await boss.units()
        found = [one for one in await boss.search("vault of the blue house") if one.unit_id == unit.id]
        assert [one.text for one in found] == [unit.text]
        with pytest.raises(UnknownId):
            await boss.page(unit.spans[0].page_id)
        assert "zebracanary" not in said_by(await boss.search("vault", kind="pages"))
        answer = await boss.ask("What does the vault of the blue house open with?")
        cited = [one for one in answer.citations if one.unit_id == unit.id]
        assert [(one.quote, one.speaker) for one in cited] == [("", "Zora")]
        audit = await boss.audit(answer.id)
        assert audit.intact
        (place,) = next(one.withheld for one in audit.citations if one.citation.unit_id == unit.id)
        assert (place.words, place.before, place.after, place.speaker) == ("", "", "", "Zora")
        assert place.page_id == unit.spans[0].page_id
        bundle = await boss.bundle(answer.id, whole_pages=True)
        (page,) = [page for page in bundle.pages if page.id == place.page_id]
        assert [turn.line for turn in page.turns] == [None]
        assert not verify_bundle(encode(bundle)).failed
        assert [one.id for one in await boss.answers()] == [answer.id]
        assert await planner.unshare(unit.id, reason="no more") == (unit,)
        assert unit not in await boss.units()
        assert await boss.answers() == ()
        with pytest.raises(UnknownId):
            await boss.audit(answer.id)


async def test_units_of_a_space_that_shares_them_are_everybodys_and_their_words_are_not() -> None:
    async with two_agents(share="semantic") as (_, planner, boss):
        (unit,) = [one for one in await planner.units() if one.agents == ("planner",)]
        assert unit in await boss.units()
        assert unit.id in {one.unit_id for one in await boss.search("vault of the blue house")}
        assert "zebracanary" not in said_by(await boss.search("vault", kind="turns"))
        with pytest.raises(UnknownId):
            await boss.page(unit.spans[0].page_id)


@pytest.mark.parametrize(
    ("share", "about", "undated"),
    [("semantic", "event", 3), ("private", "event", 2), ("semantic", "said", 0), ("private", "said", 0)],
)
@pytest.mark.parametrize(
    "timeframe", ["2024-05", "since 2023", "before June 2024", "2019-01-01/2019-12-31", "3 May 2024"]
)
async def test_an_agent_is_given_the_number_of_undated_units_that_it_sees(
    timeframe: str, share: Any, about: Any, undated: int
) -> None:
    async with two_agents(share=share) as (memory, planner, boss):
        for agent in (planner, boss):
            found = await agent.recall("the blue house", timeframe=timeframe, about=about)
            assert found.undated == undated
        assert [unit.event_at for unit in await memory.units()] == [None] * 3
        everything = await memory.recall("the blue house", timeframe=timeframe, about=about)
        assert everything.undated == (3 if about == "event" else 0)


async def test_an_agent_changes_its_own_alone_and_learns_nothing_of_the_others() -> None:
    async with two_agents() as (memory, planner, boss):
        (secret,) = [one for one in await planner.units() if one.agents == ("planner",)]
        (public,) = [one for one in await memory.units() if not one.agents]
        page = await memory.page(secret.spans[0].page_id)
        for unit_id in (secret.id, public.id, "u1:" + "0" * 32):
            for refused in (
                boss.withdraw(unit_id, reason="no"), boss.reinstate(unit_id, reason="no"),
                boss.correct(unit_id, "The vault is open to all."), boss.share(unit_id, reason="no"),
            ):  # fmt: skip
                refusal = "is not its own" if unit_id == public.id else "has no unit"
                with pytest.raises(UnknownId, match=refusal):
                    await refused
        for what in (
            {"page": page.id},
            {"turn": page.lines[0].address},
            {"turn": "t1:99-9ae0"},
            {"page": "p1:0"},
        ):
            with pytest.raises(UnknownId, match="agent 'boss' added nothing of"):
                await boss.erase(**what, reason="no")
        for line in page.lines:
            with pytest.raises(UnknownId, match="has no turn") as error:
                await boss.page(str(line.address))
            assert page.id not in str(error.value)
        assert await memory.page(page.id) == await planner.page(str(page.lines[0].address)) == page
        await memory.grant("boss", to_see="planner")
        with pytest.raises(UnknownId, match="may be seen by agent 'boss', and is not its own"):
            await boss.withdraw(secret.id, reason="seen, and not its own")
        for line in page.lines:
            with pytest.raises(InvalidInput, match="units are shared, not turns"):
                await planner.share(str(line.address), reason="all may know")


async def test_an_agent_erases_its_own_words_and_the_session_of_others_stays() -> None:
    async with two_agents() as (memory, planner, boss):
        answer = await boss.ask("Where does the green boat lie?")
        receipt = await boss.erase(session="main", reason="asked to")
        assert len(receipt.erasure.turns) == 1
        assert answer.id in receipt.erasure.answers
        assert "harbour" not in said_by((await memory.search("boat", kind="turns"), await memory.units()))
        assert "zebracanary" in said_by(await planner.search("vault"))
        assert "lake" in said_by(await boss.search("lake"))


async def test_erasing_an_agents_words_takes_answers_of_others_and_what_was_shared() -> None:
    async with two_agents() as (memory, planner, boss):
        (unit,) = [one for one in await planner.units() if one.agents == ("planner",)]
        await planner.share(unit.id, reason="the house is sold")
        answer = await boss.ask("What does the vault of the blue house open with?")
        receipt = await planner.erase(page=unit.spans[0].page_id, reason="asked to")
        assert unit.id in receipt.erasure.units
        assert receipt.erasure.answers == (), "whose answers went, is theirs to know"
        assert answer.id not in {one.id for one in await memory.answers()}
        assert unit.id not in memory._caller.components.ledger.tier1.shared
        assert "zebracanary" not in repr((await memory.units(), await boss.search("vault")))


async def test_what_the_owner_makes_of_an_agents_words_stays_with_the_agent() -> None:
    async with two_agents() as (memory, planner, boss):
        (secret,) = [one for one in await planner.units() if one.agents == ("planner",)]
        done = await memory.correct(secret.id, "The vault opens with ibexcanary.", speaker="Ann")
        assert done.unit.agents == ("planner",)
        assert "ibexcanary" in said_by(await planner.search("vault"))
        assert "ibexcanary" not in said_by(await boss.search("vault", kind="turns"))


async def test_what_an_agent_concludes_from_anothers_pages_is_the_other_ones() -> None:
    async with two_agents() as (memory, planner, boss):
        await memory.grant("boss", to_see="planner")
        for mode in ("raw", "router"):
            await boss.ask("What does the vault of the blue house open with?", mode=mode)
        (public,) = [one for one in await memory.units() if not one.agents]
        await memory.apply_findings()
        told = [one for one in await memory.units() if "zebracanary" in one.text]
        assert {one.agents for one in told} == {("planner",)}
        assert {one.id for one in told} <= {one.id for one in await planner.units()}
        await memory.revoke("boss", to_see="planner")
        assert "zebracanary" not in repr(await boss.units())
        assert public in await boss.units()


async def test_turn_ids_are_an_agents_own() -> None:
    async with opened() as memory:
        one, other = memory.as_agent("one"), memory.as_agent("other")
        turn = Turn(speaker="Ann", text="The pen is 17.", turn_id="t")
        assert (await one.add(turn)).new == 1
        assert (await other.add(replace(turn, text="The pen is 18."))).new == 1
        assert (await memory.add(replace(turn, text="The pen is 19."))).new == 1
        with pytest.raises(InvalidInput, match="its own turns"):
            await one.add(replace(turn, agent="other"))


async def test_the_owner_may_add_for_an_agent() -> None:
    async with opened() as memory:
        await memory.add(Turn(speaker="Ann", text="The pen is 17.", agent="one"))
        assert "pen is 17" in said_by(await memory.as_agent("one").search("pen"))
        assert "pen is 17" not in said_by(await memory.as_agent("other").search("pen"))


@pytest.mark.parametrize("name", ["", "*", 7, None, " "])
async def test_an_agent_has_a_name(name: Any) -> None:
    async with opened() as memory:
        with pytest.raises(InvalidInput):
            memory.as_agent(name)


async def test_stats_of_an_agent_count_what_it_sees() -> None:
    async with two_agents() as (memory, planner, boss):
        await planner.ask("What does the vault of the blue house open with?")
        everything, seen = await memory.stats(), await boss.stats()
        assert (everything.turns, everything.pages, everything.units, everything.answers) == (3, 3, 3, 1)
        assert (seen.turns, seen.pages, seen.units, seen.answers) == (2, 2, 2, 0)


async def test_a_workspace_lets_go_of_what_its_agent_may_see_no_more() -> None:
    async with two_agents() as (memory, _, boss):
        await memory.grant("boss", to_see="planner")
        workspace = boss.workspace()
        await workspace.recall("vault of the blue house")
        assert "zebracanary" in (await workspace.context()).text
        await memory.revoke("boss", to_see="planner")
        assert "zebracanary" not in repr(workspace.items)


async def test_units_of_different_agents_are_never_merged() -> None:
    async with opened() as memory:
        for name in ("one", "other"):
            await memory.as_agent(name).add("The tram to the lake costs 4 euros.", speaker="Ann")
        await memory.flush()
        report = await memory.consolidate()
        assert report.merged == ()
        assert {unit.agents for unit in await memory.units()} == {("one",), ("other",)}


async def test_a_view_ends_with_the_memory_it_was_made_of() -> None:
    async with opened() as memory:
        view, closed = memory.as_agent("one"), memory.as_agent("two")
        await closed.close()
        with pytest.raises(MemoryClosed):
            await closed.units()
        await view.units()
    with pytest.raises(MemoryClosed):
        await view.units()


def test_two_agents_and_an_orchestrator_end_to_end(address: Path | str) -> None:
    settings: Any = {"embedder": HashEmbedder(), "distil": "inline", "engine": "local"}
    with tiermem.open(address, **settings) as memory:
        memory.as_agent("planner").add(TOLD, speaker="Zora")
        memory.grant("boss", to_see="*")
        memory.flush()
    with tiermem.open(address, **settings) as memory:
        planner, writer, boss = (memory.as_agent(name) for name in ("planner", "writer", "boss"))
        assert repr(boss).startswith("<Memory of space 'default'")
        assert "zebracanary" in planner.ask("What does the vault of the blue house open with?").text
        assert "zebracanary" not in writer.ask("What does the vault of the blue house open with?").text
        assert "zebracanary" in boss.ask("What does the vault of the blue house open with?").text
        assert memory.verify().ok
        with writer:
            writer.add("The writer likes fig jam.", speaker="Wim")
        with pytest.raises(MemoryClosed):
            writer.units()
        assert "fig jam" in repr(memory.search("jam"))


async def test_turns_of_unsearched_roles_are_stored_and_no_search_finds_them() -> None:
    async with opened(unsearched_roles=("system",)) as memory:
        await memory.add(Turn(speaker="setup", text="The password is zebracanary.", role="system"))
        await memory.add("The password is written on the gate post.", speaker="Ann")
        for _ in range(2):
            for kind in ("units", "turns", "pages"):
                found = said_by(await memory.search("zebracanary password", kind=kind))
                assert "zebracanary" not in found
                assert "gate post" in found
            assert "zebracanary" not in repr(await memory.ask("What is the password?"))
            assert "zebracanary" not in (await memory.context("password")).text
            await memory.flush()
        assert "zebracanary" not in said_by(await memory.units())
        (page,) = await memory.pages()
        assert "zebracanary" in (await memory.page(page.id)).text


_REFUSED = {
    "apply_findings", "backup", "checkpoint", "consolidate", "grant", "leftover_scan", "prove_growth",
    "reindex", "revoke", "verify",
}  # fmt: skip
_WORDLESS = {"agent", "as_agent", "close", "engine", "open", "space"}


@pytest.mark.parametrize("index", ["memory", "one that does not filter"])
async def test_no_public_method_tells_one_agent_of_another(index: str, tmp_path: Path) -> None:
    async with opened(**({} if index == "memory" else {"index": Undated()})) as memory:
        planner, boss, looked = memory.as_agent("planner"), memory.as_agent("boss"), Everything()
        await looked.live(memory, planner)
        await boss.add(MINE, speaker="Ben")
        await boss.remember("The boss sleeps in the harbour.")
        await memory.flush()
        stats = await boss.stats()
        assert (stats.answers, stats.turns, stats.units) == (0, 2, len(await boss.units()))
        held = await memory.units(), await memory.pages(), await planner.open_pages()
        await looked.look(boss)
        for id_ in (*looked.ids.values(), "u1:none", "p1:none", "a1:none"):
            await looked.pry(boss, id_)
        assert await memory.units() == held[0], "and nothing of it was changed"
        assert (set(held[1]) <= set(await memory.pages())) is True
        await looked.change(boss, tmp_path)
        public = {name for name in dir(AsyncMemory) if not name.startswith("_")}
        assert public - looked.done - _REFUSED - _WORDLESS == set()
        assert [what for what, shown in looked.results if CANARY.search(shown)] == []
        ids = set(looked.ids.values())
        assert [what for what, shown in looked.results if any(id_ in shown for id_ in ids)] == []
        assert "The canary lists the vault." in str(await planner.search("canary lists", kind="turns"))
        turns = (await boss.stats()).turns
        await planner.erase(session="main", reason="asked to")
        assert (await boss.stats()).turns == turns


ABOUT = "vault of the blue house that the bird sings in"
CANARY = re.compile("canary", re.IGNORECASE)


class Undated(ListIndex):
    """An index that finds whatever there is for anybody."""

    async def undated(self, *_: object, **__: object) -> int:
        return 0


class Everything:
    """What an agent makes of a space with canaries in every word, and what another gets to see of it."""

    def __init__(self) -> None:
        self.results: list[tuple[str, str]] = []
        self.done = {"workspace"}
        self.ids: dict[str, str] = {}

    async def live(self, memory: AsyncMemory, planner: AsyncMemory) -> None:
        """Words, pages open and sealed, units, answers, outcomes; the ids of all."""
        turn = Turn(speaker="Canary", text=TOLD, turn_id="canary-1", metadata={"canary": "canary"})
        await planner.add(replace(turn, role="canary"))
        await planner.flush()
        kept = await planner.remember("The vault of the blue house is a canarycage.")
        answer = await planner.ask("What does the vault of the blue house open with, canary?", mode="raw")
        await planner.feedback(answer, outcome="success")
        fixed = await planner.correct(kept.unit.id, "The vault of the blue house is a canarybox.")
        gone = await planner.remember("The vault of the red house is a canarybed.")
        await planner.withdraw(gone.unit.id, reason="a canary said so")
        asked = await memory.ask("What does the vault of the blue house open with?")
        await planner.add("The canary sings again in the vault.", speaker="Canary", session="canary session")
        old = Turn(
            speaker="Canary",
            text="The canary lists the vault.",
            said_at=datetime(2024, 1, 5, tzinfo=UTC),
            metadata={"author": "program", "kind": "tool_result"},
        )
        await planner.add(old, session="claude-code:canary")
        filling = (await planner.open_pages())[-1]
        self.ids = {
            "unit": fixed.unit.id, "old": kept.unit.id, "gone": gone.unit.id, "page": kept.page_id,
            "open": filling.id, "answer": answer.id, "asked": asked.id, "turn": "canary-1",
            "address": str(filling.lines[0].address),
        }  # fmt: skip

    async def ask(self, boss: AsyncMemory, name: str, *args: Any, **kwargs: Any) -> None:
        """Note what a method gives, or raises, without the ids and words that it was given."""
        self.done.add(name)
        try:
            shown = repr(await getattr(boss, name)(*args, **kwargs))
        except TierMemError as error:
            shown = f"{type(error).__name__}: {error}"
        given = [one for value in (*args, *kwargs.values()) for one in _each(value)]
        for one in sorted(given, key=len, reverse=True):
            shown = shown.replace(one, "")
        self.results.append((f"{name}{args}{kwargs}", shown))

    async def look(self, boss: AsyncMemory) -> None:
        """Whatever finds and lists."""
        for kind, strategy in product(("units", "turns", "pages"), ("hybrid", "vector", "fulltext")):
            await self.ask(boss, "search", ABOUT, kind=kind, limit=50)
            await self.ask(boss, "search", ABOUT, kind=kind, session="canary session")
            await self.ask(boss, "recall", ABOUT, kind=kind, strategy=strategy, timeframe="2020/2099")
        for mode in ("router", "summary", "raw"):
            steps: list[Any] = []
            asked = f"What does the {ABOUT} open with?"
            await self.ask(boss, "ask", asked, mode=mode, on_step=steps.append)
            assert steps
            self.results.append(("steps", repr(steps).replace(asked, "")))
        await self.ask(boss, "context", ABOUT, max_tokens=5000)
        await self.ask(boss, "profile", max_tokens=5000)
        for name in ("units", "pages", "open_pages", "sessions", "answers", "stats", "grants", "omissions"):
            await self.ask(boss, name)
        for name in ("flush", "index_pending"):
            await self.ask(boss, name)
        await self.ask(boss, "units", as_of=datetime.now(UTC))
        await self.ask(boss, "pages", "canary session")
        await self.hold(boss)

    async def hold(self, boss: AsyncMemory) -> None:
        """What is held in mind."""
        workspace = boss.workspace(max_tokens=5000)
        await workspace.recall(ABOUT)
        self.results.append(("workspace", repr((workspace.items, await workspace.context()))))

    async def pry(self, boss: AsyncMemory, id_: str) -> None:
        """Whatever takes the id of something."""
        for name in ("get", "page", "signals", "trail", "history", "audit", "bundle", "replay"):
            await self.ask(boss, name, id_)
        for name in ("omissions", "redistil"):
            await self.ask(boss, name, id_)
        for name in ("withdraw", "reinstate", "share", "unshare"):
            await self.ask(boss, name, id_, reason="no")
        await self.ask(boss, "correct", id_, "The vault of the blue house is open.")
        await self.ask(boss, "replay", id_, rerun=True)
        await self.ask(boss, "feedback", id_, outcome="success")
        await self.ask(boss, "feedback", sources=[id_], outcome="success")
        for what in ("page", "turn"):
            await self.ask(boss, "erase", reason="no", **{what: id_})

    async def change(self, boss: AsyncMemory, where: Path) -> None:
        """Whatever writes."""
        await self.ask(boss, "erase", session="canary session", reason="no")
        await self.ask(boss, "expire", kind="tool_result", older="1h")
        span = Span(page_id=PageId(self.ids["page"]), start=0, end=10**6)
        evidence = Evidence(text="x", spans=(span,), score=1.0, source="turn")
        await self.ask(boss, "feedback", sources=[evidence], outcome="failure")
        await self.ask(boss, "add", "The green boat is for sale.", speaker="Ben", session="canary session")
        await self.ask(boss, "ingest", read_dialogue(io.StringIO("Ben: The green boat is sold.\n")))
        (chat,) = read_dialogue(io.StringIO("14/05/2024, 09:00 - Canary: The vault is open\n" * 3))
        await self.ask(boss, "continue_chats", chat.sessions)
        await self.ask(boss, "remember", "The boss likes the green boat.")
        await self.ask(boss, "export", where / "dialogue.jsonl")
        text = "".join(file.read_text() for file in written(where))
        self.results.append(("export", text.replace("canary session", "")))


def _each(value: object) -> list[str]:
    return [*map(str, value)] if isinstance(value, list) else [str(value)]
