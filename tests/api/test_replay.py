"""A past answer shows what it showed, and a second run says what is otherwise now."""

from dataclasses import replace

import pytest

from pagestore.errors import PageStoreError
from tests.api.conftest import DIALOGUE, OpenMemory, tell
from tests.api.test_by_model import QUESTION, at, play
from tests.llm.server import ModelServer, Request
from tiermem.errors import UnknownId
from tiermem.model import Answer, AskMode

QUESTIONS = [
    "How much did Melanie pay for the new roof of the pottery studio?",
    "Where did Ingrid move to?",
    "What is Biscuit allergic to?",
    "Which telescope did Gustav buy in Patagonia?",
]
LATER = [
    ("Melanie", "The roof of the pottery studio leaks again, and Ingrid paid the plumber 90 dollars."),
    ("Caroline", "Biscuit is allergic to wheat as well, and Ingrid moved to Bergen in June."),
]


def without_run(answer: Answer) -> Answer:
    """What of an answer a second run must give again: all but its name, what time and money it took, and that
    it was recorded.
    """
    trace = replace(answer.trace, usage=(), head=0)
    return replace(
        answer, id=type(answer.id)("a1:again"), usage=type(answer.usage)(), trace=trace, recorded=True
    )


@pytest.mark.parametrize("mode", ["router", "summary", "raw"])
def test_replaying_shows_the_same_candidates_scores_and_route_whatever_came_later(
    open_memory: OpenMemory, mode: AskMode
) -> None:
    memory = open_memory()
    tell(memory)
    memory.flush("s1")
    answers = [memory.ask(question, mode=mode) for question in QUESTIONS]
    for speaker, text in LATER:
        memory.add(text, speaker=speaker, session="s3")
    memory.flush()
    memory.ask(QUESTIONS[0])
    for answer in answers:
        past = memory.replay(answer.id)
        assert past.answer == answer
        assert past.candidates == answer.trace.candidates
        assert [c.score for c in past.candidates] == [c.score for c in answer.trace.candidates]
        assert (past.route, past.checks, past.prompts) == (answer.route, answer.trace.checks, ())
        assert past.differences == ()
        assert past.rerun is None


@pytest.mark.parametrize("mode", ["router", "summary", "raw"])
def test_a_second_run_over_the_memory_of_then_gives_the_same_answer(
    open_memory: OpenMemory, mode: AskMode
) -> None:
    memory = open_memory()
    tell(memory)
    memory.flush("s1")
    answers = [memory.ask(question, mode=mode, session=s) for question in QUESTIONS for s in (None, "s1")]
    for speaker, text in LATER:
        memory.add(text, speaker=speaker, session="s2")
    memory.flush()
    given = memory.answers()
    for answer in answers:
        again = memory.replay(answer.id, rerun=True)
        assert again.differences == ()
        assert again.rerun is not None
        assert without_run(again.rerun) == without_run(answer)
    assert memory.answers() == given


def test_a_second_run_after_another_process_opened_the_memory_is_the_same(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(idle_seal=float("inf"))
    tell(memory)
    answer = memory.ask(QUESTIONS[0])
    assert answer.trace.candidates[0].source == "turn"
    memory.flush()
    memory.close()
    again = open_memory().replay(answer.id, rerun=True)
    assert again.differences == ()


def test_another_embedder_is_seen_in_the_scores(open_memory: OpenMemory) -> None:
    from tiermem.embedding.hashed import HashEmbedder

    memory = open_memory()
    tell(memory)
    memory.flush()
    answer = memory.ask(QUESTIONS[0])
    memory.close()
    other = open_memory(embedder=HashEmbedder(dimensions=48), reindex=True)
    told = other.replay(answer.id, rerun=True).differences
    assert any("candidate" in difference.what for difference in told)


def test_another_model_reply_is_seen_in_the_answer(open_memory: OpenMemory) -> None:
    text = "1,450 dollars"

    def playing(request: Request) -> str:
        composing = request.body["response_format"]["json_schema"]["name"] == "ComposeReply"
        return play(request).replace("1,450 dollars", text) if composing else play(request)

    with ModelServer(answer=playing) as server:
        memory = open_memory(**at(server))
        tell(memory)
        memory.flush()
        answer = memory.ask(QUESTION)
        assert memory.replay(answer.id, rerun=True).differences == ()
        text = "1,450 dollars for the roof"
        calls = memory.stats().spent_today.calls
        told = memory.replay(answer.id, rerun=True).differences
        assert {(d.what, d.then, d.now) for d in told} == {
            ("answer", "1,450 dollars", text),
            ("support", "quoted", "worded"),
            ("checks", "quoted", "worded"),
        }
        assert memory.stats().spent_today.calls > calls
        assert any(prompt.startswith("compose@") for prompt in memory.replay(answer.id).prompts)


def test_a_prompt_that_was_reworded_is_named(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tiermem.llm import prompts

    with ModelServer(answer=play) as server:
        memory = open_memory(**at(server))
        tell(memory)
        answer = memory.ask(QUESTION)

    def reworded(name: str) -> prompts.Prompt:
        prompt = prompts.load(name)
        return replace(prompt, digest="0" * 12) if name == "compose" else prompt

    monkeypatch.setattr("tiermem.reading.looking_back.replay.load", reworded)
    (told,) = memory.replay(answer.id).differences
    assert told.what == "prompt compose"
    assert told.now == "compose@000000000000"


def test_looking_needs_no_writing_and_running_again_does(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory)
    memory.flush()
    answer = memory.ask(QUESTIONS[0])
    reader = open_memory(read_only=True)
    assert reader.replay(answer.id).answer == answer
    with pytest.raises(PageStoreError, match="read-only"):
        reader.replay(answer.id, rerun=True)
    with pytest.raises(UnknownId, match="a1:nowhere"):
        memory.replay("a1:nowhere")


def test_the_trace_keeps_what_was_asked_with(open_memory: OpenMemory) -> None:
    from tiermem.model import Budget

    memory = open_memory()
    tell(memory)
    memory.flush()
    trace = memory.ask(QUESTIONS[0], session="s2", mode="raw", budget=Budget(calls=7)).trace
    assert (trace.session, trace.mode, trace.budget) == ("s2", "raw", Budget(calls=7))
    assert trace.summary_tokens > 0
    assert len(DIALOGUE) == 6
