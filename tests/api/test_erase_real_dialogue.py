"""Erasing a session of a real conversation: nothing of it stays, everything else does."""

from pathlib import Path

import tiermem
from tests.engines import quoting_engine
from tests.reading.world import ListIndex
from tiermem.dialogue import read_dialogue
from tiermem.embedding.hashed import HashEmbedder


def test_a_session_of_a_locomo_conversation_leaves_no_trace(shared: Path, address: Path | str) -> None:
    conversation = read_dialogue(shared / "data" / "locomo" / "locomo_dev7.json", "locomo")[0]
    index, embedder = ListIndex(), HashEmbedder()
    with tiermem.open(
        address,
        engine=quoting_engine(),
        index=index,
        embedder=embedder,
        distil="deferred",
        write_back="inline",
    ) as memory:
        for session in conversation.sessions[:8]:
            memory.add(session.turns, session=session.session)
        memory.flush()
        gone, *stay = (session for session in conversation.sessions[:8])
        questions = [turn.text for turn in gone.turns[::6]] + [turn.text for turn in stay[0].turns[::6]]
        answers = [memory.ask(question, mode="raw") for question in questions]
        before = {unit.id: unit for unit in memory.units()}
        checkpoint = memory.checkpoint()
        receipt = memory.erase(session=gone.session, reason="asked to")
        assert receipt.leftovers.clean
        assert receipt.leftovers.phrases > 100
        assert len(receipt.erasure.turns) >= len(gone.turns)
        of_session = {unit_id for unit_id, unit in before.items() if unit.session == gone.session}
        assert of_session <= set(receipt.erasure.units)
        left = {unit.id: unit for unit in memory.units()}
        assert not memory.units(gone.session)
        others = before.keys() - of_session - set(receipt.erasure.units)
        assert others <= left.keys()
        assert len(others) > 50
        kept = [answer for answer in answers if answer.id not in receipt.erasure.answers]
        assert all(memory.audit(answer.id).intact for answer in kept)
        assert memory.verify(checkpoint).ok
        assert memory.verify(checkpoint).erased == len(gone.turns)
    with tiermem.open(address, engine="local", index=index, embedder=embedder) as memory:
        assert {unit.id: unit for unit in memory.units()} == left
        memory.add(gone.turns, session=gone.session)
        assert not any(line.turn for page in memory.open_pages(gone.session) for line in page.lines)
