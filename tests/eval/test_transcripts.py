"""The count of turns of the person in transcripts: what was found, missed and invented, by written files."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.cli import app
from eval.transcripts import compare_readings
from tests.dialogue.transcripts import ClaudeCode
from tiermem.errors import InvalidInput


def write_sample(folder: Path, name: str, text: str, turns: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    (folder / f"{name}.expected.json").write_text(json.dumps({"kind": "written", "turns": turns}))


def expected(text: str, time: str | None, role: str = "user") -> dict[str, object]:
    return {"role": role, "text60": text, "time": time}


def test_what_is_missed_invented_and_not_read_is_counted(tmp_path: Path) -> None:
    log = ClaudeCode()
    log.user("Use   pnpm\nhere.")
    log.user("Then lint.")
    log.reply("Done.")
    log.user([{"type": "image", "source": {"type": "base64", "data": "eA=="}}])
    first, third = "2026-03-01T10:00:01.000Z", "2026-03-01T10:00:04.000Z"
    turns = [expected("Use pnpm here.", first), expected("Lost.", first), expected("", third)]
    turns.append(expected("Done.", None, "assistant"))
    write_sample(tmp_path / "claude-code", "a.jsonl", log.text(), turns)
    write_sample(tmp_path / "claude-code", "b.jsonl", "no transcript", [expected("Hello.", first)])
    write_sample(
        tmp_path / "other",
        "c.jsonl",
        '{"role": "user", "text": "x"}',
        [expected("x", "2026-03-01T10:00:01 (local)")],
    )
    write_sample(tmp_path / "other", "d.jsonl", "", None)
    a, b, c = compare_readings(tmp_path)
    assert (a.expected, a.found, a.missed) == (3, 2, (("Lost.", "2026-03-01T10:00:01+00:00"),))
    assert a.invented == (("Then lint.", "2026-03-01T10:00:02+00:00"),)
    assert b.error is not None
    assert c.error == "read as another format"
    printed = CliRunner().invoke(app, ["transcripts", str(tmp_path)]).stdout
    assert "| claude-code | 2 | 1 | 3 | 2 | 1 | 1 |" in printed
    as_json = json.loads(CliRunner().invoke(app, ["transcripts", str(tmp_path), "--json"]).stdout)
    assert [one["expected"] for one in as_json] == [3, 1, 1]


def test_a_folder_without_samples_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no sample"):
        compare_readings(tmp_path)
