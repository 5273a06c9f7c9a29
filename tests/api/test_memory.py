"""What a user of a memory is promised."""

import inspect
import json
import math
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console

import tiermem
from pagestore import LogOptions, SessionId, SpaceId, Turn
from pagestore.errors import Conflict, NotAStore, PageStoreError
from tests.api.conftest import DIALOGUE, OpenMemory, tell
from tests.llm.server import ModelServer, Request
from tests.stores import store_at
from tiermem.apps.cli.stats import stats_view
from tiermem.errors import InvalidInput, MemoryClosed, RemoteError, UnknownId
from tiermem.reading import LONGEST_QUESTION


def test_a_question_is_answered_with_the_words_it_rests_on(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory)
    memory.flush()
    answer = memory.ask("How much did Melanie pay for the new roof of the pottery studio?")
    assert "1,450" in answer.text
    assert not answer.abstained
    audit = memory.audit(answer.id)
    shown = audit.citations[0].words_on_page[0]
    page = memory.page(shown.page_id)
    assert "1,450 dollars" in page.text[shown.start : shown.end] == shown.words
    assert (shown.speaker, str(shown.said_at)) == ("Melanie", "2023-06-01 09:00:00")


def test_what_was_said_a_moment_ago_is_known_before_its_page_seals(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add("My locker code is 7731.", speaker="Ann")
    answer = memory.ask("What is Ann's locker code?")
    assert "7731" in answer.text
    memory.flush()
    span = answer.citations[0].spans[0]
    sealed = memory.page(span.page_id)
    assert sealed.sealed_at is not None
    assert "7731" in sealed.text[span.start : span.end]


def test_a_question_memory_does_not_hold_is_abstained_from(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory)
    memory.flush()
    answer = memory.ask("Which telescope did Gustav buy in Patagonia?")
    assert answer.abstained
    assert answer.citations == ()


def test_the_same_turn_told_twice_is_stored_once(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory)
    before = memory.stats()
    tell(memory)
    assert memory.stats().turns == before.turns == len(DIALOGUE)
    with pytest.raises(Conflict, match="give the new words another id"):
        memory.add({"speaker": "Caroline", "text": "Something else.", "id": "t0"}, session="s1")


def test_memory_is_the_same_after_reopening(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory)
    memory.flush()
    answer = memory.ask("What is Biscuit allergic to?")
    units, pages = memory.units(), memory.pages()
    memory.close()
    again = open_memory()
    assert (again.units(), list(again.pages())) == (units, list(pages))
    assert again.audit(answer.id).answer == answer


@pytest.mark.local_only("the files of the index are deleted")
def test_deleting_the_index_and_reindexing_gives_the_same_search(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    import shutil

    memory = open_memory()
    tell(memory)
    memory.flush()
    queries = ["support group", "roof of the studio", "Oslo", "allergic dog"]
    before = [(memory.search(q), memory.search(q, kind="pages")) for q in queries]
    memory.close()
    shutil.rmtree(tmp_path / "store" / "index")
    memory = open_memory()
    assert memory.reindex().units == len(memory.units())
    assert [(memory.search(q), memory.search(q, kind="pages")) for q in queries] == before


def test_another_embedder_is_refused_until_the_index_is_rebuilt(open_memory: OpenMemory) -> None:
    from tiermem.embedding.hashed import HashEmbedder
    from tiermem.errors import IndexMismatch

    memory = open_memory()
    tell(memory)
    memory.flush()
    memory.close()
    other = HashEmbedder(dimensions=48)
    with pytest.raises(IndexMismatch, match="reindex"):
        open_memory(embedder=other)
    rebuilt = open_memory(embedder=other, reindex=True)
    assert rebuilt.search("support group", kind="units")[0].unit_id is not None


def test_deferred_findings_wait_and_make_the_next_ask_cheaper(open_memory: OpenMemory) -> None:
    memory = open_memory(write_back="deferred")
    tell(memory)
    memory.flush()
    first = memory.ask("Where did Ingrid move to?", mode="raw")
    assert first.route == "ESCALATE"
    pending = memory.stats().findings_pending
    assert pending > 0
    decisions = memory.apply_findings()
    assert len(decisions) == pending
    assert memory.stats().findings_pending == 0


def test_of_a_turn_too_long_for_a_page_stats_count_each_part_and_say_so(open_memory: OpenMemory) -> None:
    memory = open_memory(distil="deferred")
    assert memory.add("one long talk. " * 2000, speaker="Ann").turns == 1
    stats = memory.stats()
    parts = [line for info in memory.pages() for line in memory.page(info.id).lines]
    parts += [line for page in memory.open_pages() for line in page.lines]
    assert stats.turns == len(parts) > 1
    console = Console(width=200)
    with console.capture() as printed:
        console.print(stats_view(stats))
    assert f"{stats.turns} turns in 1 session; of a turn too long for a page each part" in printed.get()


def test_a_clock_that_was_set_back_is_told_in_the_stats(open_memory: OpenMemory, address: Path | str) -> None:
    moments = iter([*[datetime(2024, 5, 8, tzinfo=UTC)] * 3, datetime(2012, 5, 8, tzinfo=UTC)])
    store = store_at(address, options=LogOptions(clock=lambda: next(moments)))
    log = store.open_space(SpaceId("default"))
    for text in ("I live in Oslo.", "I moved to Bergen."):
        log.append(SessionId("s1"), [Turn(speaker="Ann", text=text)])
    log.close()
    store.close()
    (problem,) = open_memory().stats().problems
    assert "set back from 2024-05-08 00:00 UTC to 2012-05-08 00:00 UTC before record 3" in problem


def test_a_past_moment_is_answered_as_memory_stood_then(open_memory: OpenMemory) -> None:
    memory = open_memory(idle_seal=math.inf)
    tell(memory)
    before = datetime.now(UTC)
    memory.flush()
    assert memory.units(as_of=before) == memory.units(as_of=before.astimezone().replace(tzinfo=None)) == ()
    assert memory.units(as_of=datetime.now(UTC) + timedelta(seconds=1)) == memory.units()
    answer = memory.ask("Where did Ingrid move to?", as_of=before)
    assert answer.text == "My sister Ingrid moved from Lisbon to Oslo in March."
    assert {found.source for found in answer.trace.candidates} == {"turn"}


def test_context_fits_its_limit_and_numbers_its_sources(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory)
    memory.flush()
    context = memory.context("What is Biscuit allergic to?", max_tokens=120)
    assert context.tokens <= 120
    assert "chicken" in context.text
    assert len(context.sources) >= 1


@pytest.mark.parametrize("question", ["", "   ", "\n"])
def test_an_empty_question_is_refused(open_memory: OpenMemory, question: str) -> None:
    memory = open_memory()
    for call in (memory.ask, memory.search, memory.context):
        with pytest.raises(InvalidInput, match=r"(question|query) must be a text with words in it"):
            call(question)


def test_unknown_ids_are_named(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    with pytest.raises(UnknownId, match="a1:nowhere"):
        memory.audit("a1:nowhere")
    with pytest.raises(UnknownId, match="has no page 'p1:nowhere'; list them with `pages`"):
        memory.page("p1:nowhere")
    memory.close()
    with pytest.raises(UnknownId, match="'elsewhere'"):
        open_memory(space="elsewhere", create=False)


def test_a_store_that_is_not_to_be_made_is_not_made(tmp_path: Path) -> None:
    with pytest.raises((UnknownId, PageStoreError)):
        tiermem.open(tmp_path / "store", engine="local", embedder="hashed", create=False)
    assert not (tmp_path / "store").exists()


def test_a_directory_of_other_things_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("Dear Ann")
    with pytest.raises(NotAStore):
        tiermem.open(tmp_path / "letters", engine="local")
    assert (tmp_path / "letters" / "dear.txt").exists()


def test_a_space_can_be_read_while_another_writes_it(open_memory: OpenMemory) -> None:
    writer = open_memory()
    tell(writer)
    writer.flush()
    answer = writer.ask("What is Biscuit allergic to?")
    reader = open_memory(read_only=True)
    assert reader.units() == writer.units()
    assert reader.audit(answer.id).answer == answer
    assert reader.search("Biscuit chicken")
    with pytest.raises(PageStoreError, match="read"):
        reader.add("No.", speaker="Ann")
    assert not reader.ask("What is Biscuit allergic to?").recorded


def test_a_closed_memory_says_so_and_closes_twice(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.close()
    memory.close()
    with pytest.raises(MemoryClosed):
        memory.ask("Anything?")


def test_settings_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="page_tokens"):
        tiermem.open(tmp_path, page_tokens=3)
    with pytest.raises(InvalidInput, match="colour"):
        tiermem.open(tmp_path, colour="blue")  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="TIERMEM_MODEL"):
        tiermem.open(tmp_path, engine="model")
    with pytest.raises(RemoteError, match="index=URL"):
        tiermem.open("http://localhost:9")


def test_a_key_alone_does_not_turn_models_on(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    assert open_memory(engine="auto").engine.startswith("local")


def test_two_spaces_share_one_index_directory(open_memory: OpenMemory) -> None:
    one, two = open_memory(space="one"), open_memory(space="two")
    tell(one)
    one.flush()
    assert two.search("Biscuit") == ()
    one.close()
    two.add("Biscuit eats fish.", speaker="Dan")
    two.flush()
    assert len(two.search("Biscuit")) == 1


@pytest.mark.local_only("a memory without a store")
def test_memory_in_memory_leaves_nothing_behind(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory(path=":memory:")
    tell(memory)
    memory.flush()
    assert memory.search("Biscuit")
    assert list(tmp_path.iterdir()) == []


def test_many_threads_may_use_one_memory(open_memory: OpenMemory) -> None:
    memory = open_memory()

    def talk(name: str) -> None:
        for number in range(10):
            memory.add(f"{name} counted {number} birds.", speaker=name, session=name)

    threads = [threading.Thread(target=talk, args=(f"Speaker{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memory.flush()
    assert memory.stats().turns == 60


def test_blocking_and_awaited_doors_have_the_same_signatures() -> None:
    def promised(api: type) -> dict[str, inspect.Signature]:
        found = {}
        for name, member in inspect.getmembers(api):
            if name.startswith("_"):
                continue
            if isinstance(member, property):
                found[name] = inspect.signature(member.fget)  # type: ignore[arg-type]  # every property has one
            elif callable(member):
                found[name] = inspect.signature(member)
        return found

    blocking, awaited = promised(tiermem.Memory), promised(tiermem.AsyncMemory)
    assert blocking.keys() == awaited.keys()
    for name, signature in blocking.items():
        assert signature.parameters == awaited[name].parameters, name
        if name not in ("open", "workspace", "as_agent"):
            assert signature.return_annotation == awaited[name].return_annotation, name
    opened = inspect.signature(tiermem.open).parameters
    assert opened == blocking["open"].parameters


@pytest.mark.anyio
async def test_what_one_api_writes_the_other_reads(address: Path | str) -> None:
    from tiermem.embedding.hashed import HashEmbedder

    async with await tiermem.AsyncMemory.open(address, engine="local", embedder=HashEmbedder()) as memory:
        await memory.add("The ferry leaves at 9.40.", speaker="Ann")
        await memory.flush()
        answer = await memory.ask("When does the ferry leave?")

    def look() -> tuple[tiermem.Answer, int]:
        with tiermem.open(address, engine="local", embedder=HashEmbedder()) as blocking:
            return blocking.audit(answer.id).answer, len(blocking.pages())

    import anyio

    seen, pages = await anyio.to_thread.run_sync(look)
    assert seen == answer
    assert pages == 1


def test_a_word_that_only_the_scene_of_a_unit_holds_finds_it(open_memory: OpenMemory) -> None:
    def told(request: Request) -> str:
        said = "It fell into the water."
        return json.dumps({"facts": [{"fact": f"Ann: {said}", "evidence_quote": said, "scene": "a regatta"}]})

    with ModelServer(answer=told) as server:
        memory = open_memory(model="test-model", base_url=server.url, engine="auto")
        memory.add("It fell into the water.", speaker="Ann", session="s")
        memory.flush()
        (unit,) = memory.units()
        assert unit.scene == "a regatta"
        assert "regatta" not in memory.page(memory.pages()[0].id).text
        (found, *_) = memory.search("regatta")
        assert found.unit_id == unit.id


def test_a_question_of_any_length_is_refused_at_once_and_told_how_long_it_may_be(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory()
    tell(memory)
    ask = memory.ask
    assert ask("How much did Melanie pay?".ljust(LONGEST_QUESTION, "?")).id
    with pytest.raises(
        InvalidInput, match=r"may be 4,000 characters long, and this one is 40,000"
    ) as refused:
        ask(" " * 40_000)
    assert len(str(refused.value)) < 200
