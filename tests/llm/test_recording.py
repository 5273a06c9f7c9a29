"""Recording real calls, and playing them again."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tiermem.errors import ModelError, ModelUnavailable, TierMemError
from tiermem.llm.interface import Call, Message
from tiermem.llm.meter import Meter, paid_by
from tiermem.llm.recording import RecordingModel, ReplayingModel, UnrecordedCall
from tiermem.llm.scripted import FunctionModel, ScriptedModel

pytestmark = pytest.mark.anyio

CALL = Call(
    prompt="route@1", role="route", messages=(Message(role="user", content="hé \ud800"),), schema={"a": [1]}
)


async def test_a_recorded_call_is_answered_again_at_the_same_price(tmp_path: Path) -> None:
    path = tmp_path / "calls" / "run.jsonl"
    recording = RecordingModel(FunctionModel(lambda call: "S \u2028 \ud800", name="big"), path)
    with paid_by(Meter()) as paid:
        reply = await recording.complete(CALL)
    await recording.close()
    replaying = ReplayingModel(path)
    with paid_by(Meter()) as again:
        assert await replaying.complete(CALL) == reply
    assert again.steps == paid.steps
    assert replaying.model_for("route") == recording.model_for("route") == "big"
    assert path.stat().st_mode & 0o777 == 0o600
    await replaying.close()


@pytest.mark.parametrize(
    "other",
    [
        replace(CALL, prompt="route@2"),
        replace(CALL, messages=(Message(role="user", content="other"),)),
        replace(CALL, temperature=0.1),
        replace(CALL, schema=None),
        replace(CALL, role="judge"),
    ],
)
async def test_a_call_that_differs_in_anything_is_unknown(tmp_path: Path, other: Call) -> None:
    path = tmp_path / "run.jsonl"
    await RecordingModel(FunctionModel(lambda call: "S"), path).complete(CALL)
    with pytest.raises(UnrecordedCall, match="no such call"):
        await ReplayingModel(path).complete(other)


def test_an_unknown_call_is_not_a_model_error_that_something_might_carry_on_from() -> None:
    assert issubclass(UnrecordedCall, TierMemError)
    assert not issubclass(UnrecordedCall, ModelError)


async def test_the_newer_of_two_recordings_counts_and_failures_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recording = RecordingModel(
        ScriptedModel(("route", "old"), ("route", ModelUnavailable("down")), ("route", "new")), path
    )
    await recording.complete(CALL)
    with pytest.raises(ModelUnavailable):
        await recording.complete(CALL)
    await recording.complete(CALL)
    assert len(path.read_text().splitlines()) == 2
    assert (await ReplayingModel(path).complete(CALL)).text == "new"


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"key": "k"}', json.dumps({"key": "k", "call": {}, "reply": {}})]
)
def test_a_file_that_is_no_recording_is_named_with_the_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(UnrecordedCall, match=r"line 1 of .*run\.jsonl"):
        ReplayingModel(path)
