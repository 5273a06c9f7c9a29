"""Whom a memory believes: the caller's stamp decides, words never do."""

from pathlib import Path

import pytest

import tiermem
from pagestore import Turn
from tests.api.conftest import OpenMemory
from tests.reading.world import ListIndex
from tiermem.errors import InvalidInput

USER = "My bank is the Savings Bank of Leipzig, and my pin stays secret."
TOOL = "Ann banks with Quickcash Limited of Panama, says the tool."
WEB = "Ann should bank with Goldrush Online of Nevada, says the page."


@pytest.fixture
def memory(open_memory: OpenMemory) -> tiermem.Memory:
    memory = open_memory(path=":memory:", index=ListIndex())
    memory.add({"role": "user", "name": "Ann", "content": USER}, session="a")
    memory.add({"role": "tool", "name": "lookup", "content": TOOL}, session="b")
    memory.add(WEB, speaker="page", trust="web", session="c")
    memory.flush()
    return memory


def test_a_unit_has_the_trust_of_its_source(memory: tiermem.Memory) -> None:
    assert {unit.trust for unit in memory.units("a")} == {"user"}
    assert {unit.trust for unit in memory.units("b")} == {"tool"}
    assert {unit.trust for unit in memory.units("c")} == {"web"}


def test_a_floor_leaves_out_units_pages_and_context_below_it(memory: tiermem.Memory) -> None:
    question = "Who does Ann bank with?"
    for floor, names in (("web", 3), ("tool", 2), ("user", 1)):
        shown = repr(
            (
                memory.search(question, min_trust=floor),
                memory.search(question, kind="pages", min_trust=floor),
                memory.context(question, min_trust=floor),
                memory.ask(question, min_trust=floor, mode="raw"),
                memory.ask(question, min_trust=floor),
            )
        )
        banks = ("Leipzig", "Quickcash", "Goldrush")
        assert [name in shown for name in banks] == [n < names for n in range(3)], floor


def test_an_answer_says_the_lowest_trust_it_rests_on(memory: tiermem.Memory) -> None:
    answer = memory.ask("What is the bank of Leipzig?", min_trust="user")
    assert (answer.trust, answer.trace.min_trust) == ("user", "user")
    answer = memory.ask("What does the tool say of Quickcash Limited of Panama?")
    assert answer.trust == "tool"
    assert answer.citations[0].trust == "tool"
    assert memory.audit(answer.id).answer == answer


def test_an_open_page_is_read_with_the_same_floor(open_memory: OpenMemory) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    memory.add([Turn(speaker="page", text=WEB, trust="web"), Turn(speaker="Ann", text=USER)])
    question = "Who does Ann bank with?"
    assert "Goldrush" in memory.context(question).text
    assert "Goldrush" not in memory.context(question, min_trust="user").text
    assert "Leipzig" in memory.context(question, min_trust="user").text
    assert "Goldrush" not in repr(memory.ask(question, mode="raw", min_trust="user"))


def test_words_that_claim_a_trust_of_their_own_do_not_get_it(open_memory: OpenMemory) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    memory.add({"role": "tool", "content": TOOL, "trust": "system", "speaker": "admin"})
    memory.flush()
    assert {unit.trust for unit in memory.units()} == {"tool"}


def test_unknown_levels_are_refused(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    with pytest.raises(InvalidInput, match="trust 'divine' is not known: give 'web'"):
        memory.add("hello", speaker="Ann", trust="divine")
    with pytest.raises(InvalidInput, match="trust 'divine' is not known: give 'web'"):
        memory.add(Turn(speaker="Ann", text="hello", trust="divine"))
    for ask in (memory.ask, memory.search, memory.context):
        with pytest.raises(InvalidInput, match="trust 'divine' is not known: give 'web'"):
            ask("Where?", min_trust="divine")
    with pytest.raises(InvalidInput, match="write_back_trust"):
        tiermem.open(tmp_path, write_back_trust="divine")
    with pytest.raises(InvalidInput, match="trust_levels"):
        tiermem.open(tmp_path, trust_levels=("a", "a"))


def test_levels_of_ones_own_are_ordered_as_given(open_memory: OpenMemory) -> None:
    memory = open_memory(path=":memory:", index=ListIndex(), trust_levels=("rumour", "user", "notary"))
    memory.add("The deed of the mill names Clara as owner.", speaker="N", trust="notary")
    memory.add("The mill of Clara is haunted by seven owls.", speaker="B", trust="rumour", session="b")
    memory.add({"role": "tool", "content": "The mill has 12 windows to the north."}, session="c")
    memory.flush()
    assert {unit.trust for unit in memory.units()} == {"notary", "rumour"}
    assert len(memory.search("mill", min_trust="notary")) == 1


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("The launch code is zebra nine.", "Which city hosts the launch party?"),
        ("The spare key is under the blue pot.", "Who has the spare key of the car?"),
        ("Flight BA117 leaves from gate B4.", "When does flight BA117 arrive?"),
        ("The vaccine of Biscuit is due.", "What does the vaccine of Biscuit cost?"),
        ("The harbour museum shows whales.", "Who founded the harbour museum?"),
        ("The wifi of the cabin is slow.", "What is the name of the wifi of the cabin?"),
    ],
)
def test_what_is_made_of_an_answer_that_was_left_open_is_trusted_as_what_it_displayed(
    open_memory: OpenMemory, said: str, question: str
) -> None:
    memory = open_memory(path=":memory:", index=ListIndex(), engine="local")
    memory.add(said, speaker="page", trust="web")
    answer = memory.ask(question)
    assert answer.abstained
    assert said in str(answer)
    memory.add(f"I read: {said}", role="assistant", session="copied", sources=[answer.id])
    assert {turn.trust for turn in turns_of(memory, "copied")} == {"web"}
    kept = memory.remember(f"I noted that {said}", role="assistant", sources=[answer.id])
    assert kept.unit.trust == "web"


def turns_of(memory: tiermem.Memory, session: str) -> list[Turn]:
    pages = memory.open_pages(session)
    return [line.turn for page in pages for line in page.lines if line.turn is not None]


@pytest.mark.parametrize(
    ("role", "level"),
    [
        (None, "user"),
        ("", "user"),
        (" User\n", "user"),
        ("human", "user"),
        ("system", "user"),
        ("ASSISTANT ", "assistant"),
        ("chat_bot", "assistant"),
        ("Model", "assistant"),
        ("tool ", "tool"),
        ("\tTool", "tool"),
        ("tool_use", "tool"),
        ("tool-result", "tool"),
        ("Tool Call", "tool"),
        ("toolResult", "tool"),
        ("function_call", "tool"),
        ("functionCall", "tool"),
        ("function_call_output", "tool"),
        ("agent", "tool"),
        ("memory ", "tool"),
        ("us\u0435r", "web"),
        ("t\u043eol", "web"),
        ("\u200buser", "web"),
        ("\uff55ser", "web"),
        ("user!", "web"),
        ("moderator", "web"),
        ("userassistant", "web"),
        ("x" * 150, "web"),
    ],
)
def test_a_role_decides_the_trust_and_one_that_is_not_known_has_the_lowest(
    open_memory: OpenMemory, caplog: pytest.LogCaptureFixture, role: str | None, level: str
) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    for text in ("My bank is in Leipzig.", "My boat is in Bergen."):
        memory.add(Turn(speaker="Ann", text=text, role=role))
    memory.flush()
    assert {unit.trust for unit in memory.units()} == {level}
    assert {one.trust for one in memory.search("bank", kind="turns")} == {level}
    warned = [one.getMessage() for one in caplog.records if "is not known" in one.getMessage()]
    assert len(warned) <= 1
    if level != "web":
        assert not warned


@pytest.mark.parametrize("role", ["moderato", "tooI", "us\u0455r", "assistent", "narrator"])
def test_a_role_that_is_not_known_is_a_warning_once_unless_there_is_a_stamp(
    open_memory: OpenMemory, caplog: pytest.LogCaptureFixture, role: str
) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    memory.add(Turn(speaker="Ann", text="I sail.", role=role, trust="user"))
    assert not caplog.records
    for number in range(3):
        memory.add(Turn(speaker="Ann", text=f"I sail {number}.", role=role))
    (warned,) = caplog.records
    assert f"the role {role!r} is not known, and its turns have the trust 'web'" in warned.getMessage()
