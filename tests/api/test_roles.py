"""Words of an assistant are stored as an assistant's, bear out nothing by themselves, and gain no trust."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

import tiermem
from tests.api.conftest import OpenMemory
from tiermem.errors import InvalidInput, UnknownId
from tiermem.model import Evidence
from tiermem.reasoning import Draft, Engine
from tiermem.text.question import Question


class Quoting:
    """A model that answers with some words, and cites an assistant for them where it can."""

    def __init__(self) -> None:
        self.words = ""

    async def __call__(self, question: Question, evidence: Sequence[Evidence]) -> Draft:
        found = [n for n, item in enumerate(evidence) if self.words in item.text]
        by_assistant = [n for n in found if "assistant" in evidence[n].text]
        if not found:
            return Draft(text="", cited=(), abstained=True)
        return Draft(text=self.words, cited=((by_assistant or found)[0],), abstained=False)


@pytest.fixture
def model() -> Quoting:
    return Quoting()


@pytest.fixture
def memory(open_memory: OpenMemory, model: Quoting) -> tiermem.Memory:
    return open_memory(engine=Engine(name="test", free=True, compose=model))


def chat(memory: tiermem.Memory, said: str, reply: str) -> None:
    """One exchange as `examples/chat.py` has it: the model replies, and both sides are kept."""
    known = memory.context(said)
    memory.add(said, role="user")
    memory.add(reply, role="assistant", sources=known)


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_words_are_added_in_a_role(memory: tiermem.Memory, role: str) -> None:
    memory.add("The ferry leaves at nine.", role=role)
    memory.add([{"text": "The bus leaves at ten."}, {"role": "user", "content": "Thanks."}], role=role)
    (page,) = memory.open_pages()
    turns = [line.turn for line in page.lines if line.turn is not None]
    assert [(turn.speaker, turn.role) for turn in turns] == [(role, role), (role, role), ("user", "user")]
    assert memory.search("ferry", role=role)


@dataclass(frozen=True, slots=True, kw_only=True)
class Invention:
    """What a user asks for, what the model makes up, and how the user states it later."""

    said: str
    reply: str
    question: str
    words: str
    confirmed: str


INVENTIONS = (
    Invention(
        said="I am looking for a present for my sister.",
        reply="Your sister Nora moved to Bergen last year.",
        question="Where does Nora live?",
        words="Bergen",
        confirmed="Nora lives in Bergen now.",
    ),
    Invention(
        said="Help me plan the week.",
        reply="The appointment with Dr Osei is at 14:30.",
        question="When is the appointment with Dr Osei?",
        words="14:30",
        confirmed="The appointment with Dr Osei is at 14:30.",
    ),
    Invention(
        said="Which vet should I call?",
        reply="Pixel is allergic to penicillin.",
        question="What is Pixel allergic to?",
        words="penicillin",
        confirmed="Pixel is allergic to penicillin.",
    ),
)


@pytest.mark.parametrize("invention", INVENTIONS, ids=lambda one: one.words)
def test_a_fact_that_the_model_invents_in_a_chat_is_not_borne_out_until_the_user_says_it(
    memory: tiermem.Memory, model: Quoting, invention: Invention
) -> None:
    chat(memory, "Good morning.", "Good morning. What can I do?")
    chat(memory, invention.said, invention.reply)
    memory.flush()
    model.words = invention.words
    answer = memory.ask(invention.question)
    assert (answer.text, answer.trust) == (invention.words, "assistant")
    assert "assistant" in [caution.code for caution in answer.cautions]
    assert memory.ask(invention.question, min_trust="user").abstained
    assert invention.words not in memory.context(invention.question, min_trust="user").text

    chat(memory, invention.confirmed, "Noted.")
    memory.flush()
    answer = memory.ask(invention.question)
    assert (answer.text, answer.support, answer.trust) == (invention.words, "quoted", "user")
    assert "assistant" not in [caution.code for caution in answer.cautions]
    assert {one.speaker for one in answer.citations} == {"user"}


def test_an_assistant_is_a_witness_of_what_it_said_itself(memory: tiermem.Memory, model: Quoting) -> None:
    chat(memory, "Where should we eat on Friday?", "I recommend the Blue Lantern on Mill Street.")
    memory.flush()
    model.words = "the Blue Lantern"
    answer = memory.ask("Which restaurant did you recommend?")
    assert (answer.support, answer.unsupported, answer.cautions) == ("quoted", (), ())


PAGE = "The Harbour Museum closes at 18:30 on Sundays."


@pytest.fixture
def web(memory: tiermem.Memory) -> tiermem.Memory:
    """A memory into which a page of the web was read."""
    memory.add(PAGE, speaker="page", role="tool", trust="web", session="page")
    memory.flush()
    return memory


def assert_no_trust_was_gained(memory: tiermem.Memory, model: Quoting, words: str = "18:30") -> None:
    """The answer rests on the web, whoever else says it, and a floor above it leaves it out."""
    model.words, question = words, "When does the Harbour Museum close on Sundays?"
    assert memory.ask(question).trust == "web"
    assert {unit.trust for unit in memory.units()} <= {"web"}
    for floor in ("tool", "assistant", "user"):
        assert memory.ask(question, min_trust=floor).abstained
        assert words not in memory.context(question, min_trust=floor).text
        assert not any(words in one.text for one in memory.search(question, min_trust=floor))


def test_a_summary_of_a_web_page_is_trusted_no_more_than_the_page(
    web: tiermem.Memory, model: Quoting
) -> None:
    known = web.context("When does the Harbour Museum close?")
    web.add("In short: on Sundays the Harbour Museum closes at 18:30.", role="assistant", sources=known)
    web.flush()
    assert_no_trust_was_gained(web, model)


def test_a_tool_that_echoes_a_web_page_is_trusted_no_more_than_the_page(
    web: tiermem.Memory, model: Quoting
) -> None:
    found = web.search("When does the Harbour Museum close?", kind="turns")
    web.add(f"lookup: {PAGE}", role="tool", sources=found, session="tools")
    web.add(
        "Both say that the Harbour Museum closes at 18:30.", role="assistant", sources=web.search("lookup")
    )
    web.flush()
    assert_no_trust_was_gained(web, model)


def test_two_sources_that_repeat_each_other_are_trusted_no_more_than_each(
    web: tiermem.Memory, model: Quoting
) -> None:
    web.add(PAGE, speaker="other page", role="tool", trust="web", session="page")
    web.flush()
    web.consolidate()
    model.words = "18:30"
    answer = web.ask("When does the Harbour Museum close on Sundays?")
    web.add(f"Two sources agree: {PAGE}", role="assistant", sources=[answer.id])
    web.flush()
    web.consolidate()
    assert_no_trust_was_gained(web, model)


def test_sources_lower_trust_and_never_raise_it(web: tiermem.Memory) -> None:
    web.add("My shift ends at 18:30.", speaker="Ann", session="a")
    web.add(
        "Your shift ends at 18:30.", role="assistant", sources=web.search("shift", speaker="Ann"), session="b"
    )
    web.add("A page says so.", role="assistant", trust="user", sources=web.search("museum"), session="c")
    web.add("I heard nothing.", role="assistant", sources=(), session="d")
    (page,) = web.pages("page")
    web.add("A page again.", role="assistant", sources=[page.id], session="e")
    stamps = {page.session: page.lines[0].turn for page in web.open_pages()}
    assert {name: turn and turn.trust for name, turn in stamps.items()} == {
        "a": None,
        "b": None,
        "c": "web",
        "d": None,
        "e": "web",
    }


def test_a_workspace_stores_a_reply_in_its_role_and_with_its_sources(web: tiermem.Memory) -> None:
    mind = web.workspace(session="chat", max_tokens=500)
    mind.add("When does the museum close?", role="user")
    mind.recall("museum", limit=3)
    mind.add("At 18:30 on Sundays.", role="assistant", sources=mind.context("recent"))
    (page,) = web.open_pages("chat")
    turns = [line.turn for line in page.lines if line.turn is not None]
    assert [(turn.role, turn.trust) for turn in turns] == [("user", None), ("assistant", "web")]
    with pytest.raises(InvalidInput, match="give no attribution"):
        mind.add(web.search("museum")[0], sources=())


def test_a_fact_that_is_remembered_has_sources_too(web: tiermem.Memory) -> None:
    done = web.remember("The museum closes early on Sundays.", sources=web.context("museum on Sundays"))
    assert done.unit.trust == "web"


def test_sources_that_memory_does_not_know_are_refused(memory: tiermem.Memory) -> None:
    with pytest.raises(UnknownId):
        memory.add("So they say.", role="assistant", sources=["u1:unknown"])
    with pytest.raises(InvalidInput, match="sources must be a Context"):
        memory.add("So they say.", role="assistant", sources="u1:unknown")
    assert memory.stats().turns == 0


def test_sources_that_are_gone_count_as_least_trusted(memory: tiermem.Memory) -> None:
    memory.add("The code of the gate is 4711.", speaker="Ann", session="a")
    found = memory.search("gate code", kind="turns")
    memory.erase(session="a", reason="asked to")
    memory.add("There is a code.", role="assistant", sources=found, session="b")
    (page,) = memory.open_pages("b")
    assert page.lines[0].turn is not None
    assert page.lines[0].turn.trust == "web"
