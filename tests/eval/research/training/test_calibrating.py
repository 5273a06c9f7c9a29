"""From questions asked of the whole product to a reader's file with a probability in it."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

import tiermem
from eval.research.reproduction import page
from eval.research.training.data.sources import SOURCES
from eval.research.training.reader.calibrating import Calibrating, run
from eval.research.training.reader.factors import pack
from tests.reasoning.learned import learned
from tiermem.embedding.tensors import read_safetensors
from tiermem.embedding.weights import WEIGHTS, find_weights
from tiermem.errors import EmbedderUnavailable, InvalidInput
from tiermem.reasoning.learned.factors import unpack
from tiermem.reasoning.learned.first_line import read_first_line


def conversation(name: str, pet: str, price: int) -> dict[str, Any]:
    said = [f"I adopted a dog called {pet} yesterday.", f"The new roof cost {price} euros.", "It rained."]
    turns = [
        {"speaker": "Ann" if n != 1 else "Bo", "dia_id": f"D1:{n + 1}", "text": one}
        for n, one in enumerate(said)
    ]
    asked = [
        ("When did Ann adopt a dog?", "7 May 2023", 2, 1),
        ("What is Ann's dog called?", pet, 4, 1),
        ("What did the roof cost?", f"{price} euros", 4, 2),
        ("Where does Bo swim?", "", 5, 1),
    ]
    qa = [
        {
            "question": q,
            "evidence": [f"D1:{at}"],
            "category": kind,
            "answer" if a else "adversarial_answer": a,
        }
        for q, a, kind, at in asked
    ]
    later = [{"speaker": "Bo", "dia_id": "D2:1", "text": "The canoe leaks again."}]
    kept = {"speaker_a": "Ann", "speaker_b": "Bo", "session_1": turns, "session_2": later}
    dates = {f"session_{n}_date_time": f"1:56 pm on {7 + n} May, 2023" for n in (1, 2)}
    return {"sample_id": name, "conversation": {**kept, **dates}, "qa": qa}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    file = folder / SOURCES["locomo"].files[0]
    file.parent.mkdir(parents=True)
    pets = ("Biscuit", "Waldo", "Pickle", "Juno")
    file.write_text(json.dumps([conversation(f"conv-{n}", pet, 1000 + n) for n, pet in enumerate(pets)]))
    return folder


def test_lines_of_one_half_make_a_probability_that_is_reported_of_the_other(
    data: Path, tmp_path: Path
) -> None:
    try:
        weights = find_weights()
    except EmbedderUnavailable as error:
        pytest.skip(str(error))
    reader = tmp_path / "learned.safetensors"
    reader.write_bytes(pack(learned(read_safetensors(weights / WEIGHTS), up=0.02), {"trained_on": "[]"}))
    asked = Calibrating(
        data=data, reader=reader, out=tmp_path / "out", measure=("locomo",), cache=tmp_path / "cache"
    )
    found = anyio.run(run, asked)
    answers = (tmp_path / "out" / "locomo.jsonl").read_bytes()
    assert anyio.run(run, asked).numbers == found.numbers
    assert (tmp_path / "out" / "locomo.jsonl").read_bytes() == answers
    told = page(found, machine="here", commit="1a2b3c")
    assert "Lines that hold the answer, locomo, half B" in told
    assert "Lines that hold the answer, locomo in excerpts, half B" in told
    assert "| every question |" in told
    _, header = unpack((tmp_path / "out" / "reader.safetensors").read_bytes())
    calibration = read_first_line(header)
    assert calibration is not None
    assert calibration.fitted_on == (
        "half A of locomo (8 questions), half A of locomo in excerpts (14 questions)"
    )
    assert (calibration.embedder, header["trained_on"]) == ("all-MiniLM-L6-v2", "[]")
    assert (tmp_path / "out" / "risk.svg").read_text().startswith("<svg")
    calibrated = str(tmp_path / "out" / "reader.safetensors")
    with tiermem.open(":memory:", engine="local", reader=calibrated, risk=0.95, index="memory") as memory:
        memory.add("I adopted a dog yesterday.", speaker="Ann", said_at="2023-05-08T13:56")
        answer = memory.ask("When did Ann adopt a dog?")
        assert answer.probability is not None
        assert 0 < answer.probability < 1


def test_what_is_asked_of_another_reader_is_not_gone_on_with(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no conversations"):
        anyio.run(run, Calibrating(data=data, reader=tmp_path, out=tmp_path, measure=("letters",)))
