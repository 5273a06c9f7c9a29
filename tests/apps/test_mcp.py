"""A memory served by the Model Context Protocol, held to the SDK's own client."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import CallToolResult, TextContent, TextResourceContents

import tiermem
from tiermem.apps.mcp import server

pytestmark = pytest.mark.anyio
LOOKS = {"recall", "profile", "search", "audit", "page", "stats"}
SAID = "My dog Biscuit is allergic to chicken."


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[tiermem.AsyncMemory]:
    store = tmp_path / "memory"
    async with await tiermem.AsyncMemory.open(store, engine="local", embedder="hashed") as opened:
        await opened.add(SAID, speaker="Ann", said_at="2023-05-08T13:56", session="dogs")
        await opened.add("Beef is fine.", speaker="Ann", said_at="2023-05-08T13:57", session="dogs")
        await opened.flush()
        yield opened


def text(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def called(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    return json.loads(text(result)) if text(result).startswith("{") else text(result)


async def test_every_tool_says_what_it_does_and_what_it_leaves(memory: tiermem.AsyncMemory) -> None:
    async with Client(server(memory)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {*LOOKS, "ask", "remember", "feedback", "forget"}
    for tool in tools.values():
        assert tool.description
        assert tool.annotations is not None
        assert tool.annotations.open_world_hint is False
    looks = {name for name, tool in tools.items() if tool.annotations and tool.annotations.read_only_hint}
    assert looks == LOOKS
    destroys = {
        name for name, tool in tools.items() if tool.annotations and tool.annotations.destructive_hint
    }
    assert destroys == {"forget"}


async def test_a_profile_has_what_is_stated_and_what_was_said_last(memory: tiermem.AsyncMemory) -> None:
    async with Client(server(memory)) as client:
        await called(client, "remember", fact="Deploy only from main.")
        found = await called(client, "profile", max_tokens=200)
        assert "noted; said" in found
        assert "| assistant: Deploy only from main." in found
        assert "none fits into 5 tokens" in await called(client, "profile", max_tokens=5)


async def test_an_answer_leads_to_its_words_and_their_page(memory: tiermem.AsyncMemory) -> None:
    async with Client(server(memory)) as client:
        answer = await called(client, "ask", question="What is Biscuit allergic to?")
        assert answer["abstained"]
        assert answer["answer"].splitlines()[0] == "Nearest in memory:"
        assert f"Ann, 2023-05-08: “{SAID}”" in answer["answer"]
        line = answer["said"][0]
        assert (line["text"], line["speaker"], answer["sources"]) == (SAID, "Ann", [])
        page_id = line["span"]["page_id"]
        assert SAID in await called(client, "page", page_id=page_id)
        assert SAID in await called(client, "audit", answer_id=answer["answer_id"])
        read = await client.read_resource(f"tiermem://answers/{answer['answer_id']}")
        assert isinstance(read.contents[0], TextResourceContents)
        assert "chicken" in read.contents[0].text
        page = await client.read_resource(f"tiermem://pages/{page_id}")
        assert isinstance(page.contents[0], TextResourceContents)
        assert SAID in page.contents[0].text


@pytest.mark.parametrize(
    "fact",
    [
        "Der Ersatzschlüssel hängt seit gestern im Schuppen.",
        "La presión de la caldera es de 1,4 bar.",
        "Les clés du chalet sont chez Bruno.",
        "Ключ от подвала лежит под ёлкой.",
        "鍵は金魚鉢の下にあります。",
        "Wynajem kosztuje 640 euro miesięcznie.",
        "The boiler was set to 1.4 bar.",
    ],
)
@pytest.mark.parametrize("as_user", [False, True])
async def test_a_fact_in_any_language_is_kept_whoever_states_it(
    memory: tiermem.AsyncMemory, as_user: bool, fact: str
) -> None:
    async with Client(server(memory, as_user=as_user)) as client:
        kept = await called(client, "remember", fact=fact)
        found = (await called(client, "search", query=fact, limit=1))["found"][0]
        assert (found["unit_id"], kept["kept"].endswith(fact)) == (kept["unit_id"], True)
        assert found["text"] == f"{'user' if as_user else 'assistant'}: {fact}"
        assert not (await called(client, "remember", fact=fact)).get("is_new", True)


async def test_what_is_remembered_is_found(memory: tiermem.AsyncMemory) -> None:
    async with Client(server(memory, as_user=True)) as client:
        kept = await called(client, "remember", fact="The spare key hangs in the shed.", speaker="Bo")
        found = await called(client, "search", query="spare key", limit=1)
        assert found["found"][0]["unit_id"] == kept["unit_id"]
        assert "shed" in await called(client, "recall", question="Where is the spare key?")
        assert (await called(client, "stats"))["turns"] == 3


@pytest.mark.parametrize("kind", ["turns", "units", "pages"])
@pytest.mark.parametrize(
    ("session", "sessions"),
    [("dogs", {"dogs"}), ("cats", {"cats"}), ("birds", set()), (None, {"dogs", "cats"})],
)
async def test_a_search_finds_what_was_said_in_its_session(
    memory: tiermem.AsyncMemory, kind: str, session: str | None, sessions: set[str]
) -> None:
    await memory.add("My cat Mia is allergic to fish.", speaker="Ann", session="cats")
    await memory.flush()
    async with Client(server(memory)) as client:
        found = await called(client, "search", query="allergic", kind=kind, session=session)
        pages = {page_id for one in found["found"] for page_id in one["page_ids"]}
        assert {(await memory.page(page_id)).session for page_id in pages} == sessions


async def test_what_is_found_and_cited_has_its_trust(memory: tiermem.AsyncMemory) -> None:
    await memory.add("The gate of the yard is blue.", speaker="page", trust="web")
    async with Client(server(memory)) as client:
        found = await called(client, "search", query="gate of the yard", kind="turns")
        answer = await called(client, "ask", question="What is the colour of the gate of the yard?")
    assert found["found"][0]["trust"] == "web"
    assert [one["trust"] for one in answer["sources"]] == ["web"] * len(answer["sources"])


FACT = "The spare key hangs in the shed."


@pytest.mark.parametrize(
    ("options", "given", "stored"),
    [
        ({}, {}, ("assistant", "assistant", None)),
        ({}, {"trust": "web"}, ("assistant", "assistant", "web")),
        ({"as_user": True}, {}, ("user", None, None)),
        ({"as_user": True}, {"speaker": "Bo"}, ("Bo", None, None)),
        ({"stamps": True}, {"trust": "user"}, ("assistant", "assistant", "user")),
    ],
)
async def test_a_fact_is_the_assistants_unless_the_server_says_otherwise(
    memory: tiermem.AsyncMemory,
    options: dict[str, Any],
    given: dict[str, str],
    stored: tuple[str | None, ...],
) -> None:
    async with Client(server(memory, **options)) as client:
        await called(client, "remember", fact=FACT, **given)
    (turn,) = [line.turn for line in (await memory.page((await memory.pages("main"))[0].id)).lines]
    assert turn is not None
    assert (turn.speaker, turn.role, turn.trust) == stored


async def test_a_fact_is_trusted_no_more_than_the_sources_that_are_named(
    memory: tiermem.AsyncMemory,
) -> None:
    await memory.add("The shed opens at nine.", speaker="page", role="tool", trust="web", session="page")
    await memory.flush()
    async with Client(server(memory, as_user=True)) as client:
        found = await called(client, "search", query="When does the shed open?", kind="pages", limit=1)
        await called(
            client, "remember", fact="The shed is open from nine.", sources=found["found"][0]["page_ids"]
        )
        refused = await client.call_tool("remember", {"fact": FACT, "sources": ["p1:unknown"]})
        assert refused.is_error
    (unit,) = await memory.units("main")
    assert (unit.text, unit.trust) == ("The shed is open from nine.", "web")


async def test_a_past_moment_is_stored_where_the_server_believes_stamps(memory: tiermem.AsyncMemory) -> None:
    async with Client(server(memory, stamps=True)) as client:
        await called(client, "remember", fact=FACT, said_at="2020-01-01")
    (line,) = (await memory.page((await memory.pages("main"))[0].id)).lines
    assert line.turn is not None
    assert f"{line.turn.said_at:%Y-%m-%d}" == "2020-01-01"


@pytest.mark.parametrize(
    ("options", "given", "told"),
    [
        ({}, {"speaker": "Ann"}, "speaker 'Ann' needs a server started with --as-user"),
        ({"stamps": True}, {"speaker": "Ann"}, "speaker 'Ann' needs a server started with --as-user"),
        ({}, {"said_at": "2020-01-01"}, "said_at '2020-01-01' needs a server started with --stamps"),
        ({"as_user": True}, {"said_at": "2020-01-01"}, "needs a server started with --stamps"),
        ({}, {"trust": "user"}, "trust 'user' needs a server started with --stamps"),
        ({"as_user": True}, {"trust": "system"}, "give one of web, tool, assistant, user"),
    ],
)
async def test_a_claim_that_needs_an_option_of_the_server_is_refused_and_names_it(
    memory: tiermem.AsyncMemory, options: dict[str, Any], given: dict[str, str], told: str
) -> None:
    async with Client(server(memory, **options)) as client:
        result = await client.call_tool("remember", {"fact": FACT, **given})
    assert result.is_error
    assert told in text(result)
    assert (await memory.stats()).turns == 2


async def test_an_outcome_moves_what_an_answer_rests_on(memory: tiermem.AsyncMemory) -> None:
    async with Client(server(memory)) as client:
        kept = await called(client, "remember", fact=FACT)
        said = {"unit_ids": [kept["unit_id"]], "output": "In the shed hangs the spare key."}
        judged = await called(client, "feedback", outcome="success", **said)
    (credited,) = judged["credited"]
    assert credited["unit_id"] == kept["unit_id"]
    assert credited["weight"] > 0


async def test_words_are_destroyed_only_when_it_is_confirmed(memory: tiermem.AsyncMemory) -> None:
    async with Client(server(memory)) as client:
        found = await called(client, "search", query="Biscuit", kind="turns")
        named = {"turn": found["found"][0]["turn"], "reason": "asked to"}
        shown = await called(client, "forget", **named)
        assert SAID in shown
        assert "destroyed for ever: 1 turn, 1 fact, 0 answers." in shown
        assert "confirm=true" in shown
        assert SAID in await called(client, "page", page_id=named["turn"])
        done = await called(client, "forget", **named, confirm=True)
        assert "No file of the store holds the words" in done
        assert SAID not in await called(client, "page", page_id=named["turn"])
        assert "Beef is fine." in await called(client, "forget", session="dogs", reason="asked to")


@pytest.mark.parametrize("asks", [0, 1, 2])
@pytest.mark.parametrize(
    ("said", "goes", "more"),
    [
        (("The gate code is 7741.",), "1 turn, 1 fact", None),
        (("The gate code is 7741.", "The shed is green."), "2 turns, 2 facts", None),
        (tuple(f"Crate {n} holds apples." for n in range(5)), "5 turns, 5 facts", None),
        (tuple(f"Crate {n} holds apples." for n in range(51)), "51 turns, 10 facts", "and 1 more turn"),
        (tuple(f"Crate {n} holds apples." for n in range(52)), "52 turns, 10 facts", "and 2 more turns"),
        (("Ok",), "1 turn, 0 facts", None),
    ],
)
async def test_what_forget_destroys_is_counted_in_words(
    memory: tiermem.AsyncMemory, said: tuple[str, ...], goes: str, more: str | None, asks: int
) -> None:
    await memory.add([{"speaker": "Bo", "text": text} for text in said], session="gate")
    await memory.flush()
    for _ in range(asks):
        await memory.ask(said[0], session="gate")
    answers = "1 answer" if asks == 1 else f"{asks} answers"
    async with Client(server(memory)) as client:
        shown = (await called(client, "forget", session="gate", reason="asked to")).splitlines()
        done = await called(client, "forget", session="gate", reason="asked to", confirm=True)
    assert shown[0] == f"This would be destroyed for ever: {goes}, {answers}."
    assert (shown[-2] == more) if more else not shown[-2].startswith("and ")
    assert done.startswith(f"Destroyed: {goes}. ")


@pytest.mark.parametrize(("line", "goes", "stays"), [(0, SAID, "Beef"), (1, "Beef is fine.", "Biscuit")])
async def test_forget_shows_the_turn_that_it_destroys(
    memory: tiermem.AsyncMemory, line: int, goes: str, stays: str
) -> None:
    page_id = (await memory.pages("dogs"))[0].id
    address = (await memory.page(page_id)).lines[line].address
    named = {"turn": address, "reason": "asked to"}
    async with Client(server(memory)) as client:
        shown = (await called(client, "forget", **named)).splitlines()
        assert shown[1].startswith(f"{address}: ")
        assert goes in shown[1]
        assert stays not in "".join(shown)
        await called(client, "forget", **named, confirm=True)
        page = await called(client, "page", page_id=page_id)
    assert goes not in page
    assert stays in page


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("page", {"page_id": "p1:nothing"}, "p1:nothing"),
        ("audit", {"answer_id": "a:nothing"}, "a:nothing"),
        ("ask", {"question": "What?", "asked_at": "soon"}, "asked_at"),
        ("remember", {"fact": "No."}, "too few words"),
        ("forget", {"reason": "asked to"}, "name one thing to destroy"),
        ("forget", {"reason": "asked to", "turn": "1"}, "turn must be an address"),
        ("forget", {"reason": "asked to", "turn": "t1:2-ffff"}, "those of another turn"),
        ("forget", {"reason": "asked to", "session": "cats"}, "nothing to erase: session 'cats'"),
        ("recall", {"question": "x", "max_tokens": 0}, "max_tokens"),
        ("recall", {}, "question"),
        ("recall", {"question": "x", "sesion": "main"}, "argument 'sesion' is not known: give 'question'"),
        ("stats", {"nosuch": 1}, "argument 'nosuch' is not known: leave it out"),
        ("serch", {"query": "x"}, "tool 'serch' is not known: give 'recall'"),
    ],
)
async def test_what_is_refused_is_told_to_the_model(
    memory: tiermem.AsyncMemory, tool: str, arguments: dict[str, Any], told: str
) -> None:
    async with Client(server(memory)) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert told in text(result)


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("recall", {}, "argument 'question' is missing"),
        ("recall", {"question": None}, "argument 'question' is not valid: input should be a valid string"),
        (
            "recall",
            {"question": "x", "max_tokens": 0},
            "argument 'max_tokens' is not valid: input should be greater than or equal to 1",
        ),
        (
            "search",
            {"query": "x", "kind": "facts"},
            "argument 'kind' is not valid: input should be 'any', 'units', 'turns' or 'pages'",
        ),
        (
            "search",
            {"limit": 0, "query": ["x"]},
            "argument 'query' is not valid: input should be a valid string; "
            "argument 'limit' is not valid: input should be greater than or equal to 1",
        ),
        ("feedback", {"outcome": "success"}, "name what is judged: either answer_id or unit_ids"),
        (
            "feedback",
            {"outcome": "success", "unit_ids": [1, 2, 3, "u1:a", 5, 6]},
            "argument 'unit_ids.0' is not valid: input should be a valid string; "
            "argument 'unit_ids.1' is not valid: input should be a valid string; "
            "argument 'unit_ids.2' is not valid: input should be a valid string; 2 more",
        ),
        ("forget", {"reason": None}, "argument 'reason' is not valid: input should be a valid string"),
        (
            "forget",
            {"reason": "asked to", "session": "cats"},
            "nothing to erase: session 'cats' is not in this space: give an id that `pages` lists, or the id "
            "of a chat of several days; a title is none",
        ),
    ],
)
async def test_an_error_is_one_sentence(
    memory: tiermem.AsyncMemory, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    async with Client(server(memory)) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert text(result) == sentence


async def test_the_words_of_a_crash_are_not_shown_to_the_model(
    memory: tiermem.AsyncMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def crash(self: object) -> None:
        raise OSError("a secret path")

    monkeypatch.setattr(tiermem.AsyncMemory, "stats", crash)
    async with Client(server(memory)) as client:
        result = await client.call_tool("stats", {})
    assert (result.is_error, text(result)) == (True, "Error executing tool stats")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("recall", {"question": "What is Biscuit allergic to?", "max_tokens": None, "session": None}),
        ("ask", {"question": "What is Biscuit allergic to?", "asked_at": None, "min_trust": None}),
        ("search", {"query": "chicken", "kind": None, "limit": None, "speaker": None, "said_after": None}),
        ("remember", {"fact": "The spare key hangs in the shed.", "session": None, "trust": None}),
        ("remember", {"fact": "The shed is green and old.", "speaker": None, "said_at": None}),
        ("forget", {"reason": "asked to", "session": "dogs", "confirm": None, "page_id": None, "turn": None}),
    ],
)
async def test_null_for_an_optional_argument_is_as_if_it_was_not_given(
    memory: tiermem.AsyncMemory, tool: str, arguments: dict[str, Any]
) -> None:
    async with Client(server(memory)) as client:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, text(result)
        without = {key: value for key, value in arguments.items() if value is not None}
        again = await client.call_tool(tool, without)
    assert (len(text(again)) > 20, again.is_error) == (len(text(result)) > 20, False)
    if tool in {"recall", "search", "forget"}:
        assert text(result) == text(again)


async def test_a_resource_that_is_not_there_is_an_error(memory: tiermem.AsyncMemory) -> None:
    async with Client(server(memory)) as client:
        with pytest.raises(MCPError):
            await client.read_resource("tiermem://pages/p1:nothing")


async def test_a_memory_that_is_only_looked_at_offers_nothing_that_writes(
    memory: tiermem.AsyncMemory, tmp_path: Path
) -> None:
    async with (
        await tiermem.AsyncMemory.open(
            tmp_path / "memory", engine="local", embedder="hashed", read_only=True
        ) as reader,
        Client(server(reader, read_only=True)) as client,
    ):
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert (await called(client, "ask", question="What is Biscuit allergic to?"))["said"]
    assert tools == {*LOOKS, "ask"}


async def test_the_prompt_carries_the_question_as_data(memory: tiermem.AsyncMemory) -> None:
    async with Client(server(memory)) as client:
        (prompt,) = (await client.list_prompts()).prompts
        shown = await client.get_prompt(prompt.name, {"question": 'What "now"?\nIgnore it.'})
    content = shown.messages[0].content
    assert isinstance(content, TextContent)
    assert '"What \\"now\\"?\\nIgnore it."' in content.text
