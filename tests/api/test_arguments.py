"""Whatever is given to a public method, it works, or an error of ours names the argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import tiermem
from pagestore import Checkpoint, Turn
from pagestore.bundle import encode, verify_bundle
from tests.api.conftest import OpenMemory, tell
from tiermem import Budget, Memory
from tiermem.api.arguments import place
from tiermem.apps.cli.app import app
from tiermem.dialogue import as_turns, parse_time, read_dialogue
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import InvalidInput, TierMemError
from tiermem.settings import Settings

DAY = datetime(2023, 5, 3)  # noqa: DTZ001 - as a text that names no zone
QUESTION = "How much did Melanie pay for the new roof of the pottery studio?"


class Untold:
    """An object that cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no words for it")


FAR = timezone(timedelta(hours=23))
MOMENTS = (
    datetime.min,  # noqa: DTZ901 - odd on purpose, as are those below
    datetime.max,  # noqa: DTZ901
    datetime(2024, 2, 29, 12),  # noqa: DTZ001
    datetime.min.replace(tzinfo=FAR),
    datetime.max.replace(tzinfo=timezone(-timedelta(hours=23))),
    date.min,
    date.max,
    "2024-01-01",
    "0001-01-01",
    "9999-12-31",
)
OBJECTS = (
    Untold(),
    Untold,
    object,
    lambda *_: None,
    2 + 3j,
    range(3),
    frozenset({1}),
    Decimal("NaN"),
    Path("nowhere"),
    b"\xff",
    float("nan"),
    float("inf"),
    10**400,
    10**5000,
    -(10**5000),
    Turn(speaker="Ann", text=None),  # type: ignore[arg-type]
    Turn(speaker=5, text="Hello", said_at="today"),  # type: ignore[arg-type]
    Budget(calls="5"),  # type: ignore[arg-type]
    Checkpoint(space=None, size="1", root=5),  # type: ignore[arg-type]
    Checkpoint(space="default", size=10**9, root="not hexadecimal"),  # type: ignore[arg-type]
    {"role": "user", "content": [{"type": "data", "data": Untold()}]},
    {"role": "user", "content": [{("a", "tuple"): 1, "type": 5}]},
    {"role": "user", "content": "", "timestamp": 10**30},
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2**70),
    st.floats(),
    st.binary(max_size=4),
    st.text(st.sampled_from("a5 \0\ud800\U0001f4a1\n:T"), max_size=12),
    st.sampled_from(MOMENTS),
    st.sampled_from(OBJECTS),
)
KEYS = st.one_of(st.sampled_from(["calls", "role", "content", "text"]), st.integers(), st.text(max_size=3))
VALUES = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=2),
    st.tuples(SCALARS),
    st.dictionaries(KEYS, SCALARS, max_size=2),
)
"""Values of every kind; which of them is a wrong one depends on who is given it."""


def small(**given: Any) -> Memory:
    """A memory of a few turns, in this process, that finds by words and by hashes."""
    options = {"embedder": HashEmbedder(), "engine": "local", "distil": "inline", "write_back": "inline"}
    memory = tiermem.open(":memory:", **{**options, **given})
    tell(memory)
    memory.flush()
    memory.ask(QUESTION)
    return memory


def right(memory: Memory) -> dict[str, Any]:
    """For each parameter that must be given, a value that is right."""
    return {
        "question": QUESTION,
        "query": "roof",
        "turns": "Hello.",
        "reason": "because",
        "words": ["a run of words"],
        "old": memory.checkpoint(),
        "answer_id": memory.answers()[0].id,
        "page_id": memory.pages()[0].id,
        "unit_id": memory.units()[0].id,
    }


def parameters(method: Callable[..., Any]) -> list[inspect.Parameter]:
    """What a method takes, without `self` and what it hands on."""
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    taken = inspect.signature(method).parameters.values()
    return [one for one in taken if one.name != "self" and one.kind not in kinds]


METHODS = {
    name: method
    for name, method in inspect.getmembers(Memory, inspect.isfunction)
    if not name.startswith("_") and parameters(method)
}


class Kept:
    """One memory for all examples of a test, made anew when an example erased what it held."""

    def __init__(self) -> None:
        self.memory = small()
        self.right = right(self.memory)
        self.bundle = encode(self.memory.bundle(self.right["answer_id"]))

    def call(self, name: str, given: dict[str, Any]) -> None:
        """Call a method; what comes out beside what it gives is an error of ours."""
        needed = (one.name for one in parameters(METHODS[name]) if one.default is one.empty)
        filled = {parameter: self.right.get(parameter, "something") for parameter in needed}
        with suppress(TierMemError):
            getattr(self.memory, name)(**{**filled, **given})
        if not self.memory.units():
            self.memory.close()
            self.memory = small()
            self.right = right(self.memory)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A directory of its own, for values that are taken for a path."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("here"))
        yield


@pytest.fixture(scope="module")
def kept(here: None) -> Iterator[Kept]:
    kept = Kept()
    yield kept
    kept.memory.close()


@pytest.mark.parametrize(
    ("name", "parameter"),
    [(name, one.name) for name, method in METHODS.items() for one in parameters(method)],
)
def test_whatever_a_method_is_given_it_works_or_an_error_of_ours_comes_out(
    kept: Kept, name: str, parameter: str
) -> None:
    @settings(max_examples=15)
    @given(VALUES)
    def calls(value: object) -> None:
        kept.call(name, {parameter: value})

    calls()
    assert kept.memory.verify().ok
    assert "1,450" in kept.memory.ask(QUESTION).text


OPENING = [one.name for one in parameters(tiermem.open)] + list(Settings.model_fields)


@settings(max_examples=200)
@given(st.sampled_from(OPENING), VALUES)
def test_whatever_opening_is_given_it_opens_or_an_error_of_ours_comes_out(
    here: None, parameter: str, value: object
) -> None:
    options: dict[str, Any] = {"path": ":memory:", "embedder": HashEmbedder(), "index": "memory"}
    with suppress(TierMemError):
        tiermem.open(**options | {parameter: value}).close()


@given(VALUES, VALUES)
def test_whatever_a_function_beside_is_given_it_works_or_an_error_of_ours_comes_out(
    here: None, kept: Kept, one: Any, other: Any
) -> None:
    calls: tuple[Callable[[], object], ...] = (
        lambda: tiermem.spaces(one),
        lambda: parse_time(one),
        lambda: as_turns(one, speaker=other),
        lambda: as_turns("Hello", said_at=one),
        lambda: read_dialogue(one, session=other),
        lambda: read_dialogue("chat.txt", one),
        lambda: verify_bundle(one, other),
        lambda: verify_bundle(kept.bundle, other),
        lambda: Settings(model=one, page_tokens=other),
    )
    for call in calls:
        with suppress(TierMemError):
            call()


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    memory = open_memory(index="memory")
    tell(memory)
    memory.flush()
    return memory


UNTYPED: Any = tiermem
READ: Any = read_dialogue
"""For calls that a type checker refuses too."""


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda m: m.ask("Roof?", mode="fast"),
            "mode 'fast' is not known: give 'router', 'summary' or 'raw'",
        ),
        (lambda m: m.ask("Roof?", mode="sumary"), "did you mean 'summary'?"),
        (
            lambda m: m.search("roof", kind="facts"),
            "kind 'facts' is not known: give 'any', 'units', 'pages' or",
        ),
        (lambda m: m.search("roof", limit="5"), "limit must be a whole number, not '5'"),
        (lambda m: m.search("roof", limit=0), "limit must be at least 1, not 0"),
        (lambda m: m.search("roof", limit=True), "limit must be a whole number, not True"),
        (lambda m: m.search("roof", limit=10**9), "limit may be 10,000 at most"),
        (lambda m: m.context("roof", max_tokens=-1), "max_tokens must be at least 0, not -1"),
        (lambda m: m.search("roof", min_trust="usr"), "min_trust 'usr' is not known: give 'web', "),
        (lambda m: m.ask("Roof?", speaker=""), "speaker must be a name, not ''"),
        (lambda m: m.ask("Roof?", said_before="soon"), "said_before: 'soon' is not a timestamp"),
        (lambda m: m.ask("Roof?", budget={"call": 5}), "did you mean 'calls'?"),
        (lambda m: m.ask("Roof?", budget={"calls": -1}), "budget: calls must be at least 0, not -1"),
        (lambda m: m.ask("Roof?", budget={"calls": "5"}), "budget: calls must be a whole number, not '5'"),
        (
            lambda m: m.ask("Roof?", budget=Budget(seconds=-1.0)),
            "budget: seconds must be a number that is not",
        ),
        (
            lambda m: m.ask("Roof?", budget=5),
            "budget must be a Budget, or a mapping like {'calls': 5}, not 5",
        ),
        (
            lambda m: m.ask("Roof?", asked_at="soon"),
            "asked_at: 'soon' is not a timestamp (write it like 2024-",
        ),
        (lambda m: m.ask("Roof?", as_of=""), "as_of must be a moment, like '2024-05-08T13:56', not ''"),
        (lambda m: m.ask("Roof?", session=7), "session must be a text, not 7"),
        (lambda m: m.add("Hello", session=None), "session must be a text, not None"),
        (lambda m: m.add("Hello", speaker=5), "speaker must be a text, not 5"),
        (lambda m: m.workspace().add("Hello", key=""), "key must be a name, not ''"),
        (lambda m: m.workspace().remove(" "), "key must be a name, not ' '"),
        (lambda m: m.add("Hello", said_at=""), "said_at must be a moment"),
        (lambda m: m.add([UNTYPED.Turn(speaker="Ann", text=5)]), "turn 1: text must be a text, not 5"),
        (lambda m: m.erase(space="s1", reason="why"), "space must be True or False, not 's1'"),
        (lambda m: m.erase(turn=True, reason="why"), "turn must be an address such as 't1:17-9ae0'"),
        (lambda m: m.erase(turn=4, reason="why"), "turn must be an address such as 't1:17-9ae0'"),
        (lambda m: m.erase(turn="4", reason="why"), "turn must be an address such as 't1:17-9ae0'"),
        (lambda m: m.erase(turn="", session="s1", reason="why"), "turn must be an address such as"),
        (lambda m: m.erase(turn="t1:4", reason="why"), "'t1:4' is not an address of a turn"),
        (lambda m: m.page("t1:4-"), "'t1:4-' is not an address of a turn"),
        (lambda m: m.withdraw("u1:0", reason=None), "reason must be a text with words in it, not None"),
        (lambda m: m.verify("abc"), "checkpoint must be a Checkpoint, not 'abc'"),
        (lambda m: m.flush(progress=5), "progress must be called with two numbers, and 5 cannot be"),
        (
            lambda m: UNTYPED.open(":memory:", engine="gpt"),
            "engine 'gpt' is not known: give 'auto', 'local' or",
        ),
        (lambda m: UNTYPED.open(":memory:", index="faiss"), "index: 'faiss' is not known: give 'embedded'"),
        (lambda m: UNTYPED.open(""), "path must be a text with words in it, not ''"),
        (lambda m: UNTYPED.open(":memory:", read_only="no"), "read_only must be True or False, not 'no'"),
        (lambda m: UNTYPED.open(":memory:", settings={}), "settings must be Settings, not dict"),
        (
            lambda m: UNTYPED.open(":memory:", embedder=5),
            "embedder must be a name, or an object that can `embed`",
        ),
        (lambda m: UNTYPED.Settings(indx="memory"), "no setting is called 'indx'; did you mean 'index'?"),
        (lambda m: m.ingest("chat.txt"), "must be what read_dialogue gives, not 'chat.txt'"),
        (lambda m: READ("chat.txt", "jsonl"), "format 'jsonl' is not known: give 'auto', 'turns'"),
    ],
)
def test_what_cannot_be_used_is_named_with_what_it_may_be(
    memory: Memory, call: Callable[[Memory], object], told: str
) -> None:
    turns = memory.stats().turns
    with pytest.raises(InvalidInput) as raised:
        call(memory)
    assert told in str(raised.value)
    assert memory.stats().turns == turns


def test_times_are_given_as_texts_everywhere(memory: Memory) -> None:
    memory.add("I went to a concert.", speaker="Ann", session="c", said_at="3 May 2023")
    (line,) = memory.open_pages("c")[0].lines
    assert line.turn is not None
    assert line.turn.said_at == DAY
    answer = memory.ask(QUESTION, asked_at="2023-05-03", budget={"calls": 5, "seconds": 20})
    assert answer.trace.asked_at == DAY
    assert answer.trace.budget == Budget(calls=5, seconds=20)
    for asked_at in (DAY, DAY.date(), "3 May 2023", "2023-05-03T10:00:00+02:00"):
        assert memory.search("roof", asked_at=asked_at)
        assert memory.context("roof", asked_at=asked_at).sources


def test_a_day_looked_back_to_is_meant_to_its_end(memory: Memory) -> None:
    today = datetime.now().astimezone().date()
    assert memory.units(as_of=str(today)) == memory.units(as_of=today) == memory.units() != ()
    assert memory.units(as_of=f"{today}T00:00") == memory.units(as_of=str(today - timedelta(days=1))) == ()


def test_a_moment_without_a_zone_is_meant_in_that_of_the_machine(
    memory: Memory, another_day_here: None
) -> None:
    now = datetime.now(UTC)
    here = now.astimezone().replace(tzinfo=None)
    assert memory.units(as_of=here.isoformat()) == memory.units(as_of=now.isoformat()) == memory.units()
    assert memory.units(as_of=(here - timedelta(hours=1)).isoformat()) == ()


def test_a_tilde_is_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A configuration of MCP or a variable of the environment reaches no shell that would expand it."""
    home, here = tmp_path / "home", tmp_path / "here"
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    with tiermem.open("~/memory", engine="local", embedder=HashEmbedder()) as memory:
        memory.add("I like tea.", speaker="Ann")
        memory.backup("~/copy.tar.gz")
    tiermem.restore("~/copy.tar.gz", Path("~/restored"))
    assert tiermem.spaces("~/restored") == ("default",)
    told = CliRunner().invoke(app, ["stats", "--json"], env={"TIERMEM_STORE": "~/memory"})
    assert told.exit_code == 0, told.output
    assert sorted(one.name for one in home.iterdir()) == ["copy.tar.gz", "memory", "restored"]
    assert not list(here.iterdir())


@pytest.mark.parametrize("path", ["~nobody-of-this-name/memory", "a~b", "./~"])
def test_other_tildes_are_kept(path: str) -> None:
    assert place(path, "path") == path


def test_a_missing_argument_names_the_method_and_no_other_class(memory: Any) -> None:
    with pytest.raises(TypeError, match=r"^leftover_scan\(\): missing a required argument: 'words'$"):
        memory.leftover_scan()
    with pytest.raises(TypeError, match=r"^search\(\): too many positional arguments$"):
        memory.search("roof", 3)


@pytest.mark.parametrize(
    ("method", "given", "expected"),
    [
        (
            "search",
            {"k": 3},
            r"search\(\) has no argument 'k': did you mean 'limit'\? It takes limit, ",
        ),
        ("search", {"filters": {}}, r"did you mean 'where'\? It takes where, query, limit, kind, "),
        ("search", {"user_id": "ann"}, r"users have spaces of their own, open\(…, space='ann'\); it takes"),
        ("context", {"max_token": 9}, r"did you mean 'max_tokens'\? It takes max_tokens, question, "),
        ("add", {"timestamp": "2024"}, r"add\(\) has no argument 'timestamp': did you mean 'said_at'\?"),
        ("add", {"metadatas": {}}, r"did you mean 'metadata'\? It takes metadata, turns, session, "),
        ("remember", {"author": "Ann"}, r"did you mean 'speaker'\? It takes speaker, fact, session, "),
        ("ask", {"k": 3}, r"ask\(\) has no argument 'k': it takes question, as_of, budget, mode, "),
    ],
)
def test_an_unknown_keyword_names_all_arguments_and_the_likely_one_first(
    memory: Any, method: str, given: dict[str, Any], expected: str
) -> None:
    with pytest.raises(TypeError, match=expected):
        getattr(memory, method)("roof", **given)
